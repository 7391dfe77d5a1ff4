package table

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var libsvm = LIBSVM{Features: 9, Bound: 2, Label: Column{Kind: Binary, Positive: []string{"+1", "1"}, Negative: []string{"-1"}}}

func TestReadLIBSVM(t *testing.T) {
	table, err := ReadLIBSVM(strings.NewReader("\ufeff+1 1:0.5 3:-2 # a comment\r\n\n-1\n1\t9:1e3"), libsvm)
	if err != nil {
		t.Fatal(err)
	}
	x := table.Sparse()
	if x.Rows != 3 || x.Cols != 9 || !slices.Equal(x.Indptr, []int{0, 2, 2, 3}) || !slices.Equal(x.Indices, []int{0, 2, 8}) ||
		!slices.Equal(x.Values, []float64{.5, -2, 1000}) || !slices.Equal(table.Labels(), []float64{1, 0, 1}) {
		t.Errorf("%+v, labels %v", *x, table.Labels())
	}
	if table.Bound() != 2 || !reflect.DeepEqual(table.Label(), Label{Column: "label", Kind: Binary, Class: "label = " + libsvm.Label.Positive[0]}) || table.Encoder() != nil || table.Dense() != nil {
		t.Error(table.Bound(), table.Label())
	}
	counts := LIBSVM{Features: 1, Bound: 1, Label: Column{Name: "visits", Kind: Count, Cap: 2}}
	if table, err = ReadLIBSVM(strings.NewReader("0\n5\n"), counts); err != nil || !slices.Equal(table.Labels(), []float64{0, 2}) || len(table.Warnings()) != 1 {
		t.Error(table, err)
	}
}

func TestReadLIBSVMRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		kind       error
		parts      []string
	}{
		{"empty", "\n# nothing\n", ErrFile, []string{"no row"}},
		{"gzip", "\x1f\x8b\x08", ErrFile, []string{"gzip"}},
		{"UTF-16", "\xff\xfe1\x00", ErrFile, []string{"UTF-16"}},
		{"carriage returns", "1 1:1\r1 1:1\r", ErrFile, []string{"carriage returns"}},
		{"unsorted", "1 1:1\n1 4:1 2:1\n", ErrFile, []string{"line 2", `"2:1" comes after the index 4`, "ascending"}},
		{"repeated", "1 2:1 2:1\n", ErrFile, []string{"line 1", `"2:1" repeats`}},
		{"index 0", "1 0:1\n", ErrFile, []string{`"0:1"`, "1 to 9"}},
		{"negative index", "1 -3:1\n", ErrFile, []string{`"-3:1"`, "1 to 9"}},
		{"beyond the features", "1 10:1\n", ErrFile, []string{`"10:1"`, "1 to 9"}},
		{"overflowing index", "1 99999999999999999999:1\n", ErrFile, []string{"whole number"}},
		{"query", "1 qid:3 1:1\n", ErrFile, []string{`"qid:3" is not index:value`}},
		{"hexadecimal", "1 3:0x1p1\n", ErrValue, []string{`"3:0x1p1" is not index:value with a finite number`}},
		{"underscore", "1 3:1_0\n", ErrValue, []string{`"3:1_0" is not index:value with a finite number`}},
		{"no colon", "1 3\n", ErrFile, []string{`"3" is not index:value`}},
		{"no value", "1 3:\n", ErrValue, []string{`"3:"`, "finite"}},
		{"NaN", "1 1:NaN\n", ErrValue, []string{`"1:NaN"`, "finite"}},
		{"infinity", "1 1:1 2:1e999\n", ErrValue, []string{`"2:1e999"`}},
		{"label", "1 1:1\n2 1:1\n", ErrValue, []string{`line 2, column "label": "2" is not among`}},
		{"missing label", "NaN 1:1\n", ErrValue, []string{`a label is missing: "NaN"`}},
	} {
		_, err := ReadLIBSVM(strings.NewReader(c.text), libsvm)
		says(t, c.name, err, c.kind, c.parts...)
	}
	if _, err := ReadLIBSVM(failing{fmt.Errorf("broken")}, libsvm); err == nil {
		t.Error("a broken reader is read")
	}
}

func TestLIBSVMValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*LIBSVM)
		want   string
	}{
		{func(l *LIBSVM) { l.Features = 0 }, `"features" is 0`},
		{func(l *LIBSVM) { l.Features = maxIndex + 1 }, `"features" is`},
		{func(l *LIBSVM) { l.Bound = math.NaN() }, `"bound" is NaN`},
		{func(l *LIBSVM) { l.Label = Column{} }, `"kind" is missing`},
		{func(l *LIBSVM) { l.Label.Kind = Date }, `"label": names "label" of kind date`},
		{func(l *LIBSVM) { l.Label.Negative = nil }, `"negative" is missing`},
	} {
		l := libsvm
		c.change(&l)
		_, err := ReadLIBSVM(strings.NewReader("1 1:1\n"), l)
		says(t, c.want, err, ErrSchema, c.want)
	}
}
