package dpglm_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/dpglm/dpglm"
)

// docs/PRIVACY.md has what a review must read as the command counts it, and docs/AUDIT.md in which order.
func TestReviewList(t *testing.T) {
	table := output(t, ".", "go", "run", "./internal/reviewlist")
	for _, held := range []string{"internal/release", "internal/curator", "internal/kernel", "internal/accounting", "losses", "mechanisms"} {
		if !strings.Contains(table, "\n| `"+held+"` |") {
			t.Errorf("the table lacks %s", held)
		}
	}
	if !strings.Contains(read(t, "docs/PRIVACY.md"), "\n"+table+"<!-- end -->\n") {
		t.Errorf("docs/PRIVACY.md is out of date; go run ./internal/reviewlist -write mends it. It should have\n%s", table)
	}
	days := output(t, ".", "go", "run", "./internal/reviewlist", "-days")
	if !strings.Contains(days, "\n| 4 |") || !strings.Contains(read(t, "docs/AUDIT.md"), "\n"+days+"<!-- end -->\n") {
		t.Errorf("docs/AUDIT.md is out of date; go run ./internal/reviewlist -write mends it. It should have\n%s", days)
	}
}

// The README fits a few screens.
func TestReadmeIsShort(t *testing.T) {
	if lines := strings.Count(read(t, "README.md"), "\n"); lines > 160 {
		t.Errorf("README.md has %d lines, and should have 160 at most", lines)
	}
}

// The README's program is a program, in a module of its own, and prints what it should.
func TestReadmeProgram(t *testing.T) {
	programs := fenced(read(t, "README.md"))
	if len(programs) != 1 {
		t.Fatalf("README.md has %d blocks of Go", len(programs))
	}
	source := []byte(programs[0])
	if formatted, err := format.Source(source); err != nil || !bytes.Equal(formatted, source) {
		t.Errorf("the program isn't formatted (%v)", err)
	}
	out := output(t, ".", built(t, programs[0]))
	if !regexp.MustCompile(`^\(ε = 1, δ = 1e-06\)-DP, .* n = 28,155\n.*standardised GD.*\nP\(wage > 600\) = 0\.[56]\d\n$`).MatchString(out) {
		t.Errorf("the program prints\n%s", out)
	}
}

// The guide's fragments compile, each in a function of its own, with what they take for given.
func TestGuideCompiles(t *testing.T) {
	fragments := fenced(read(t, "docs/GUIDE.md"))
	if len(fragments) < 5 {
		t.Fatalf("docs/GUIDE.md has %d blocks of Go", len(fragments))
	}
	source := `package main

import (
	"context"
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

var (
	ctx             context.Context
	x               mat.Matrix
	y, logExposures []float64
	persons         []int
	facts           dpglm.Facts
	data            *dpglm.Dataset
	record          map[string]string
	text            []byte
	err             error
)

func main() {}
`
	for _, fragment := range fragments {
		source += "\nfunc _() {\n" + fragment
		for _, declared := range regexp.MustCompile(`(?m)^(\w+(?:, \w+)*) :=`).FindAllStringSubmatch(fragment, -1) {
			for _, name := range strings.Split(declared[1], ", ") {
				source += "_ = " + name + "\n"
			}
		}
		source += "}\n"
	}
	built(t, source)
}

// built is a program's file, compiled in a module of its own.
func built(t *testing.T, source string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	module := strings.Replace(read(t, "go.mod"), "module github.com/dpglm/dpglm", "module outside", 1)
	module += "\nrequire github.com/dpglm/dpglm v" + dpglm.Version + "\n\nreplace github.com/dpglm/dpglm => " + here + "\n"
	write(t, filepath.Join(dir, "go.mod"), module)
	write(t, filepath.Join(dir, "go.sum"), read(t, "go.sum"))
	write(t, filepath.Join(dir, "main.go"), source)
	program := filepath.Join(dir, "outside.exe")
	output(t, dir, "go", "build", "-mod=mod", "-o", program, ".")
	return program
}

// The README's commands print what stands below them, but for the digits, which are the noise's.
func TestReadmeCommands(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"testdata", "examples"} {
		if err := os.Symlink(filepath.Join(here, name), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	csvfit := filepath.Join(dir, "csvfit")
	output(t, ".", "go", "build", "-o", csvfit, "./examples/csvfit")
	blocks := regexp.MustCompile(`(?m)^    \$ (.*)\n((?:(?:    .*)?\n)*?)\n*(?:^\S)`).FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(blocks) != 3 {
		t.Fatalf("README.md has %d commands with output", len(blocks))
	}
	for _, block := range blocks {
		command := strings.ReplaceAll(block[1], "go run ./examples/csvfit", csvfit)
		if got := output(t, dir, "sh", "-c", command); undigited(got) != undigited(block[2]) {
			t.Errorf("%s prints\n%swhere README.md has\n%s", block[1], got, block[2])
		}
	}
}

// undigited is a text without its numbers and blanks.
func undigited(text string) string {
	text = regexp.MustCompile(`-?[\d.,]*\d(e[-+]?\d+)?`).ReplaceAllString(text, "#")
	return strings.Join(strings.Fields(text), " ")
}

// What documents name is there: paths in code spans and commands, linked files and their chapters,
// and Go files that are named without a directory.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	var names []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		names = append(names, path.Base(filepath.ToSlash(p)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	made := read(t, ".gitignore")
	exists := func(from, name string) bool {
		if strings.Contains(made, "\n/"+name+"/\n") { // by a program
			return true
		}
		for _, dir := range []string{".", filepath.Dir(from)} {
			if found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(name))); err == nil && len(found) > 0 {
				return true
			}
		}
		return false
	}
	documents, _ := filepath.Glob("*.md")
	more, _ := filepath.Glob("*/*.md")
	pages, _ := filepath.Glob("docs/proofs/*.md")
	checked := 0
	for _, file := range slices.Concat(documents, more, pages) {
		text := read(t, file)
		prose := regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
		for _, span := range regexp.MustCompile("`([A-Za-z0-9_.*-]+(?:/[A-Za-z0-9_.*-]+)*/?)`").FindAllStringSubmatch(prose, -1) {
			name := span[1]
			first, _, below := strings.Cut(name, "/")
			switch {
			case isBinding(name):
				if checked++; !isDeclared(t, name) {
					t.Errorf("%s names %s, which isn't declared", file, name)
				}
			case below && !strings.Contains(strings.TrimLeft(first, "."), "."):
				if checked++; !exists(file, name) {
					t.Errorf("%s names %s, which isn't there", file, name)
				}
			case !below && strings.HasSuffix(name, ".go"):
				if checked++; !slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(name, n); return ok }) {
					t.Errorf("%s names %s, which isn't there", file, name)
				}
			}
		}
		for _, command := range regexp.MustCompile(`go (?:run|test|doc|-C) (?:-\S+ )*(\.?/?[a-z][A-Za-z0-9_/]*)`).FindAllStringSubmatch(text, -1) {
			if name := command[1]; strings.Contains(name, "/") {
				if checked++; !exists(file, name) {
					t.Errorf("%s has a command about %s, which isn't there", file, name)
				}
			}
		}
		for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(prose, -1) {
			target, chapter, _ := strings.Cut(link[1], "#")
			target = filepath.Join(filepath.Dir(file), filepath.FromSlash(target))
			if strings.HasPrefix(link[1], "#") {
				target = file
			}
			if checked++; !exists(".", target) {
				t.Errorf("%s links to %s, which isn't there", file, link[1])
			} else if chapter != "" && !slices.Contains(chapters(read(t, target)), chapter) {
				t.Errorf("%s links to %s, which has no such chapter", file, link[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d names were checked", checked)
	}
}

// isBinding reports whether a name is that of a declaration behind a package's path: dir.Name or dir.Type.Method.
func isBinding(name string) bool {
	dir, of := bindingOf(name)
	files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	return of != "" && of != "go" && dir != "." && len(files) > 0
}

// bindingOf splits a name into the package's path and what is declared there.
func bindingOf(name string) (dir, of string) {
	parent, last := path.Split(name)
	last, of, _ = strings.Cut(last, ".")
	return path.Join(parent, last), of
}

func isDeclared(t *testing.T, name string) bool {
	t.Helper()
	dir, of := bindingOf(name)
	for _, names := range declarations(t, dir, func(file string) bool { return !strings.HasSuffix(file, "_test.go") }) {
		if slices.Contains(names, of) {
			return true
		}
	}
	return false
}

// declarations are the functions, methods (as Type.Method) and types of a directory's files.
func declarations(t *testing.T, dir string, wanted func(file string) bool) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	eachDeclaration(t, dir, wanted, func(file, name string, _ ast.Decl) { found[file] = append(found[file], name) })
	return found
}

func eachDeclaration(t *testing.T, dir string, wanted func(file string) bool, tell func(file, name string, d ast.Decl)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !wanted(file) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						tell(filepath.ToSlash(file), s.Name.Name, d)
					}
				}
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = plainType(d.Recv.List[0].Type) + "." + name
				}
				tell(filepath.ToSlash(file), name, d)
			}
		}
	}
}

// Each page on a release has all parts; the functions that it binds and the tests that it names are there; and each answer about
// rows, and each plan of releases, is bound by some page.
func TestProofsBindCode(t *testing.T) {
	index, bound := read(t, "docs/proofs/README.md"), map[string]bool{}
	pages, err := filepath.Glob("docs/proofs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages (%v)", len(pages), err)
	}
	for _, page := range pages {
		if filepath.Base(page) == "README.md" {
			continue
		}
		text := read(t, page)
		if !strings.Contains(index, "]("+filepath.Base(page)+")") {
			t.Errorf("docs/proofs/README.md lacks %s", page)
		}
		rest := text
		for _, part := range []string{"Statement", "Neighbours", "Sensitivity", "Theorem", "Code", "Tried by"} {
			_, after, found := strings.Cut(rest, "\n**"+part+".** ")
			if !found && part == "Theorem" {
				_, after, found = strings.Cut(rest, "\n**"+part+"** ")
			}
			if !found {
				t.Errorf("%s lacks the part %q, or has it in another place", page, part)
				continue
			}
			rest = after
		}
		_, code, _ := strings.Cut(text, "\n**Code.** ")
		code, tried, _ := strings.Cut(code, "\n**Tried by.** ")
		names := 0
		for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(code, -1) {
			names++
			if bound[span[1]] = true; !isBinding(span[1]) || !isDeclared(t, span[1]) {
				t.Errorf("%s binds %s, which isn't declared", page, span[1])
			}
		}
		tests := 0
		for _, of := range regexp.MustCompile("`([^`]+_test\\.go)` \\(([^)]*)\\)").FindAllStringSubmatch(tried, -1) {
			there := declarations(t, path.Dir(of[1]), func(file string) bool { return filepath.ToSlash(file) == of[1] })[of[1]]
			for _, name := range regexp.MustCompile(`\w+`).FindAllString(strings.Split(of[2], ", which")[0], -1) {
				if tests++; !slices.Contains(there, name) {
					t.Errorf("%s was tried by %s in %s, which isn't there", page, name, of[1])
				}
			}
		}
		if names == 0 || tests == 0 || strings.Count(tried, "_test.go`") != strings.Count(tried, "_test.go` (") {
			t.Errorf("%s binds %d functions and names %d tests, or a file without its tests", page, names, tests)
		}
	}
	answers := 0
	for _, dir := range []string{"internal/curator", "internal/curator/internal/questions", "internal/release"} {
		eachDeclaration(t, dir, func(file string) bool { return !strings.HasSuffix(file, "_test.go") }, func(file, name string, d ast.Decl) {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Type.Results == nil {
				return
			}
			switch of := plainType(f.Type.Results.List[0].Type); {
			case dir == "internal/release":
				if f.Recv != nil || of != "Schedule" || name == "Sequential" {
					return
				}
			case of != "Answer" && of != "Minimand" && of != "Ranking":
				return
			}
			if answers++; !bound[dir+"."+name] {
				t.Errorf("no page of docs/proofs binds %s.%s", dir, name)
			}
		})
	}
	if answers < 40 {
		t.Errorf("only %d answers and plans were found", answers)
	}
}

// chapters are the anchors of a document's headings.
func chapters(text string) (anchors []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading[1]))
	}
	return anchors
}

// fenced are a document's blocks of Go.
func fenced(text string) (blocks []string) {
	for _, block := range regexp.MustCompile("(?ms)^```go\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// output is what a command prints.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	c := exec.Command(name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &complaints
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &complaints)
	}
	return out.String()
}

// What a release says of its version is the same everywhere.
func TestVersion(t *testing.T) {
	for file, want := range map[string]string{
		"CHANGELOG.md":          "\n## " + dpglm.Version + " ",
		"CITATION.cff":          "\nversion: " + dpglm.Version + "\n",
		"README.md":             "@v" + dpglm.Version,
		"docs/GUIDE.md":         "dpglm/beam@v" + dpglm.Version,
		"beam/go.mod":           "github.com/dpglm/dpglm v" + dpglm.Version + "\n",
		"table/columnar/go.mod": "github.com/dpglm/dpglm v" + dpglm.Version + "\n",
		"prio/go.mod":           "github.com/dpglm/dpglm v" + dpglm.Version + "\n",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q", file, want)
		}
	}
	// The newest version stands first.
	text, _ := os.ReadFile("CHANGELOG.md")
	if _, rest, _ := strings.Cut(string(text), "\n## "); !strings.HasPrefix(rest, dpglm.Version) {
		t.Errorf("CHANGELOG.md begins with %.10s", rest)
	}
}

// The guide links each learner, reader and loss, where it is declared: types with a Plan, functions whose
// first result is a table or a data set, and types with a Deriv.
func TestGuideLinksAll(t *testing.T) {
	guide := read(t, "docs/GUIDE.md")
	found := map[string]int{}
	linked := func(kind, dir, name, file string) {
		found[kind]++
		if link := "[`" + name + "`](../" + path.Join(dir, file) + ")"; !strings.Contains(guide, link) {
			t.Errorf("docs/GUIDE.md lacks the %s %s", kind, link)
		}
	}
	for _, dir := range []string{".", "losses", "table", "table/columnar", "beam", "prio"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		types := map[string]string{} // where each is
		var methods [][2]string      // types with a method that tells
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			base := filepath.Base(file)
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
							types[s.Name.Name] = base
						}
					}
				case *ast.FuncDecl:
					if d.Recv != nil {
						methods = append(methods, [2]string{plainType(d.Recv.List[0].Type), d.Name.Name})
					} else if r := d.Type.Results; d.Name.IsExported() && r != nil && slices.Contains([]string{"Table", "Dataset"}, plainType(r.List[0].Type)) {
						linked("reader", dir, d.Name.Name, base)
					}
				}
			}
		}
		for _, m := range methods {
			switch file := types[m[0]]; {
			case file == "":
			case m[1] == "Plan":
				linked("learner", dir, m[0], file)
			case m[1] == "Deriv" && dir == "losses":
				linked("loss", dir, m[0], file)
			}
		}
	}
	if found["learner"] < 10 || found["reader"] < 10 || found["loss"] < 10 {
		t.Errorf("the code has %v", found)
	}
}

// plainType is the name of a type, of a pointer what it points at, without its package.
func plainType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return plainType(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
