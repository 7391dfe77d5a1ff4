package table

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm/internal/check"
)

// maxIndex is the largest number of features that a LIBSVM file may have.
const maxIndex = 1 << 28

// LIBSVM says what is publicly known of a file in LIBSVM's format, which names no
// columns: lines "label index:value …", the indices ascending from 1. What follows a #
// is a comment.
type LIBSVM struct {
	// Features is how many features there are, the largest index: from 1 to 2^28.
	Features int `json:"features"`
	// Bound is on each row's L2 norm. It is not enforced here but by dpglm, which
	// scales down longer rows.
	Bound float64 `json:"bound"`
	// Label says how labels are written and read, as a Schema's label column does: of
	// kind Binary, such as Positive "+1" and "1" and Negative "-1", Numeric, Count or
	// Categorical.
	// It needs no name.
	Label Column `json:"label"`
}

// Validate reports all that is wrong or missing.
func (l LIBSVM) Validate() error {
	var problems []error
	if l.Features < 1 || l.Features > maxIndex {
		problems = append(problems, fmt.Errorf(`%w: "features" is %d; it must be the number of features, from 1 to %d`, ErrSchema, l.Features, maxIndex))
	}
	if !(l.Bound >= check.MinScale && l.Bound <= check.MaxScale) {
		problems = append(problems, fmt.Errorf(`%w: "bound" is %g; it must be a public positive number, to which the norms of rows are bounded`, ErrSchema, l.Bound))
	}
	label := l.label()
	v := validator{s: &Schema{Label: label.Name, Columns: []Column{label}}}
	v.column(&label, 0)
	v.roles()
	return errors.Join(append(problems, v.problems...)...)
}

// label is the label's column, which needs a name for messages.
func (l LIBSVM) label() Column {
	if l.Label.Name == "" {
		l.Label.Name = "label"
	}
	return l.Label
}

// ReadLIBSVMFile reads a LIBSVM file, gzipped if its name ends in .gz.
func ReadLIBSVMFile(path string, l LIBSVM) (*Table, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := ReadLIBSVM(f, l)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ReadLIBSVM reads a LIBSVM file. The values are kept as they are. It fails where l isn't
// valid, there is no row, or a line isn't what l says ([*Error]).
func ReadLIBSVM(r io.Reader, l LIBSVM) (*Table, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	column := l.label()
	label := newLabels(newLabelField(&Schema{}, &column), &column)
	lines, _, err := begin(r)
	if err != nil {
		return nil, err
	}
	x := &CSR{Cols: l.Features, Indptr: []int{0}}
	var all []float64
	for number, last := 1, false; !last; number++ {
		text, err := lines.ReadString('\n')
		if last = errors.Is(err, io.EOF); err != nil && !last {
			return nil, err
		}
		text, _, _ = strings.Cut(text, "#")
		first, rest := nextWord(text)
		if first == "" {
			continue
		}
		at := place{"line", number}
		y, err := label.take(first, at)
		if err == nil {
			err = x.addPairs(rest)
		}
		if err != nil {
			return nil, placed(err, at)
		}
		all = append(all, y)
	}
	if x.Rows == 0 {
		return nil, fileError(0, "it has no row")
	}
	return &Table{rows: x.Rows, features: x.Cols, sparse: x, label: label.facts, labels: all, bound: l.Bound, warnings: label.warnings(x.Rows)}, nil
}

// nextWord cuts a text after its first word.
func nextWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t\r\n\v\f")
	if i := strings.IndexAny(s, " \t\r\n\v\f"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// addPairs adds the row of the pairs "index:value".
func (c *CSR) addPairs(text string) error {
	last := 0
	for pair, rest := nextWord(text); pair != ""; pair, rest = nextWord(rest) {
		left, right, colon := strings.Cut(pair, ":")
		index, err := strconv.Atoi(left)
		switch {
		case !colon || err != nil:
			return fileError(0, "%s is not index:value, the index a whole number; write one such as 7:0.5", quote(pair))
		case index < 1 || index > c.Cols:
			return fileError(0, "%s has an index outside 1 to %d, the number of features; correct it, or the number", quote(pair), c.Cols)
		case index == last:
			return fileError(0, "%s repeats the index %d; write each once", quote(pair), index)
		case index < last:
			return fileError(0, "%s comes after the index %d; write the pairs in ascending order", quote(pair), last)
		}
		v, err := parseFloat(right)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return &Error{kind: ErrValue, message: fmt.Sprintf("%s is not index:value with a finite number as value; write one such as 7:0.5", quote(pair))}
		}
		c.Indices, c.Values, last = append(c.Indices, index-1), append(c.Values, v), index
	}
	c.Rows++
	c.Indptr = append(c.Indptr, len(c.Indices))
	return nil
}
