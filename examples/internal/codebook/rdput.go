package codebook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dpglm/dpglm/table"
)

// rValue is what R's dput writes of texts: one, several, named ones, or NULL.
type rValue struct {
	text  string
	names []string
	items []rValue // nil for a text
	null  bool
}

// rReader reads them.
type rReader struct {
	text string
	at   int
}

// deepest is how far calls may be inside of one another: a list of vectors is two.
const deepest = 8

func parseR(text string) (*Book, error) {
	r := &rReader{text: text}
	classes, err := r.value(deepest)
	if err != nil {
		return nil, err
	}
	var levels rValue
	if r.skip(); r.at < len(r.text) {
		if levels, err = r.value(deepest); err != nil {
			return nil, err
		}
		if r.skip(); r.at < len(r.text) {
			return nil, r.fail("something follows; there may be the classes, by dput(sapply(df, class)), and then the levels, by dput(lapply(df, levels))")
		}
	}
	b := new(Book)
	for i, name := range classes.names {
		v := Variable{Column: table.Column{Name: name}}
		class := classes.items[i].texts()
		for _, c := range class {
			if v.Kind == "" {
				v.Kind = typed(c)
			}
		}
		if v.Kind == "" {
			return nil, fmt.Errorf("variable %q has the class %q, which isn't known; is this what dput(sapply(df, class)) wrote?", name, strings.Join(class, " "))
		}
		if k := slices.Index(levels.names, name); k >= 0 {
			v.Levels = levels.items[k].texts()
		}
		if v.Kind == table.Binary {
			v.Positive, v.Negative = []string{"TRUE"}, []string{"FALSE"}
		}
		v.Ordered = len(class) > 0 && class[0] == "ordered"
		v.settle()
		b.Variables = append(b.Variables, v)
	}
	for _, name := range levels.names {
		if !slices.Contains(classes.names, name) {
			return nil, fmt.Errorf("variable %q has levels and no class", name)
		}
	}
	return b, nil
}

// texts are those of a vector, or the one.
func (v rValue) texts() (list []string) {
	if v.items == nil && !v.null {
		return []string{v.text}
	}
	for _, item := range v.items {
		list = append(list, item.texts()...)
	}
	return list
}

func (r *rReader) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", 1+strings.Count(r.text[:r.at], "\n"), fmt.Sprintf(format, args...))
}

// skip passes over blanks and comments.
func (r *rReader) skip() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '#':
			for r.at < len(r.text) && r.text[r.at] != '\n' {
				r.at++
			}
		case !unicode.IsSpace(rune(c)):
			return
		default:
			r.at++
		}
	}
}

// take passes over a text if it is next.
func (r *rReader) take(text string) bool {
	r.skip()
	if !strings.HasPrefix(r.text[r.at:], text) {
		return false
	}
	r.at += len(text)
	return true
}

// value reads a call of c, list or structure, a text in quotes, or NULL.
func (r *rReader) value(depth int) (v rValue, err error) {
	switch {
	case depth == 0:
		return v, r.fail("it nests too deeply")
	case r.take("NULL"), r.take("character(0)"):
		return rValue{null: true}, nil
	case r.take("structure("):
		if v, err = r.value(depth - 1); err == nil {
			err = r.attributes(&v, depth)
		}
		return v, err
	case r.take("c("), r.take("list("):
		return r.call(depth)
	}
	v.text, err = r.quoted(`"'`)
	return v, err
}

// call reads what follows the parenthesis: values with names or without.
func (r *rReader) call(depth int) (v rValue, err error) {
	v.items = []rValue{}
	for !r.take(")") {
		if len(v.items) > 0 && !r.take(",") {
			return v, r.fail("a comma or a parenthesis is missing")
		}
		name, err := r.name()
		if err != nil {
			return v, err
		}
		item, err := r.value(depth - 1)
		if err != nil {
			return v, err
		}
		if name != "" {
			v.names = append(v.names, name)
		}
		if v.items = append(v.items, item); len(v.names) != 0 && len(v.names) != len(v.items) {
			return v, r.fail("a value has no name, and others have")
		}
	}
	return v, nil
}

// attributes reads those of a structure, of which .Names or names count.
func (r *rReader) attributes(v *rValue, depth int) error {
	for r.take(",") {
		name, err := r.name()
		if err != nil {
			return err
		}
		of, err := r.value(depth - 1)
		if err != nil {
			return err
		}
		if names := of.texts(); name == "names" || name == ".Names" {
			if len(names) != len(v.items) {
				return r.fail("there are %d names of %d values", len(names), len(v.items))
			}
			v.names = names
		}
	}
	if !r.take(")") {
		return r.fail("a parenthesis is missing")
	}
	return nil
}

// name reads a name and its =, bare or in quotes, if one is next.
func (r *rReader) name() (name string, err error) {
	r.skip()
	begin := r.at
	if r.at < len(r.text) && strings.ContainsRune("`\"'", rune(r.text[r.at])) {
		if name, err = r.quoted("`\"'"); err != nil {
			return "", err
		}
	} else {
		rest := r.text[r.at:]
		end := strings.IndexFunc(rest, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.' && c != '_' })
		if end < 0 {
			end = len(rest)
		}
		name = rest[:end]
		r.at += end
	}
	if !r.take("=") {
		r.at = begin
		return "", nil
	}
	if name == "" {
		return "", r.fail("a name is missing before =")
	}
	return name, nil
}

// quoted reads a text between marks of one of these kinds.
func (r *rReader) quoted(marks string) (string, error) {
	r.skip()
	if r.at == len(r.text) {
		return "", r.fail("it ends too early")
	}
	mark := r.text[r.at]
	if strings.IndexByte(marks, mark) < 0 {
		return "", r.fail("a text in quotes was expected, such as \"numeric\"; dput(sapply(df, class)) writes c(age = \"numeric\")")
	}
	var b strings.Builder
	for i := r.at + 1; i < len(r.text); i++ {
		switch c := r.text[i]; c {
		case mark:
			r.at = i + 1
			return b.String(), nil
		case '\\':
			rest := r.text[i:]
			char, _, tail, err := strconv.UnquoteChar(rest, mark)
			if err != nil {
				r.at = i
				return "", r.fail("a backslash begins what is no character")
			}
			b.WriteRune(char)
			i += len(rest) - len(tail) - 1
		default:
			b.WriteByte(c)
		}
	}
	return "", r.fail("a quote isn't closed")
}
