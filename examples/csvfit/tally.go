package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm/table"
)

// tally counts what a column holds. It reads the column alone, by a schema of its own, so that what
// is wrong in one is no matter to others.
type tally struct {
	column  table.Column
	schema  table.Schema   // of the file, for what is missing
	at      []int          // the fields, of a one-hot group several
	binding *table.Binding // of the column alone
	record  []string
	encoded []float64
	names   []string // of the levels, first that which has no feature; nil for numbers and days

	missing, bad, outside int
	levels                []int          // rows by the level
	others                map[string]int // rows by texts that can't be read or aren't listed, the first of them
}

const (
	widest    = 1e60 // the ends of ranges
	mostTexts = 1000 // that are counted of a column
	mostShown = 8    // of them
	mostBytes = 40   // bytes of them that are shown
)

// newTally is nil where the header lacks the column.
func newTally(s table.Schema, c table.Column, header []string) (*tally, error) {
	label := "label beside " + c.Name
	alone := table.Schema{Version: table.Version, Label: label, Missing: s.Missing, Decimal: s.Decimal, Columns: []table.Column{
		{Name: label, Kind: table.Binary, Above: new(float64)}, asFeature(c)}}
	e, err := table.NewEncoder(alone)
	if err != nil {
		return nil, err
	}
	t := &tally{column: c, schema: s, others: map[string]int{}, encoded: make([]float64, len(e.Features()))}
	for _, name := range e.Inputs() {
		at := slices.Index(header, name)
		if at < 0 {
			return nil, nil
		}
		t.at = append(t.at, at)
	}
	t.record = make([]string, len(t.at))
	if t.binding, err = e.Bind(e.Inputs()); err != nil {
		return nil, err
	}
	switch c.Kind {
	case table.Binary:
		if c.Above == nil {
			t.names = []string{list(c.Negative), list(c.Positive)}
		}
	case table.Categorical, table.OneHot:
		t.names = []string{"none of them"}
		if alone.Columns[1].Reference != "" {
			t.names[0] = alone.Columns[1].Reference
		}
		for _, f := range e.Features() {
			t.names = append(t.names, f.Levels[0])
		}
	}
	t.levels = make([]int, len(t.names))
	return t, nil
}

// asFeature is a column as the only feature, without what it becomes: a label or an exposure, too.
func asFeature(c table.Column) table.Column {
	f := table.Column{Name: c.Name, Kind: c.Kind, Range: c.Range, Thousands: c.Thousands, Levels: c.Levels, Reference: c.Reference, Prefix: c.Prefix,
		FoldCase: c.FoldCase, Positive: c.Positive, Negative: c.Negative, Origin: c.Origin, From: c.From, To: c.To, Layouts: c.Layouts}
	switch {
	case c.Kind == table.Count:
		f.Kind, f.Range = table.Numeric, []float64{0, float64(c.Cap)}
	case c.Above != nil:
		f.Kind, f.Range = table.Numeric, []float64{-widest, widest}
	case c.Kind == table.Categorical && f.Reference == "":
		f.Reference = c.Levels[0]
	}
	if f.Kind == table.Numeric || f.Kind == table.Date {
		f.Missing = table.MissingIndicator
	}
	return f
}

// count counts the column's fields of a record.
func (t *tally) count(fields []string) {
	for i, at := range t.at {
		t.record[i] = fields[at]
	}
	if err := t.binding.Encode(t.encoded, t.record); err != nil {
		t.refused()
		return
	}
	if t.names == nil {
		if t.encoded[1] == 1 { // the indicator
			t.missing++
		} else if t.binding.Clamped() != nil {
			t.outside++
		}
		return
	}
	t.levels[1+slices.Index(t.encoded, 1)]++
}

// refused counts what isn't as the schema has it: where texts are levels, a missing one among them.
func (t *tally) refused() {
	if slices.ContainsFunc(t.record, func(text string) bool { return isMissing(t.schema, trimmed(text)) }) {
		t.missing++
		return
	}
	t.bad++
	if t.column.Kind == table.OneHot {
		return
	}
	if text := trimmed(t.record[0]); len(t.others) < mostTexts || t.others[text] > 0 {
		t.others[strings.Clone(text)]++
	}
}

// trimmed is a field without the blanks around it, as reading takes it.
func trimmed(text string) string {
	if text != "" && (text[0] <= ' ' || text[len(text)-1] <= ' ') {
		return strings.TrimSpace(text)
	}
	return text
}

// isMissing reports whether a text, without blanks around it, stands for a missing value.
func isMissing(s table.Schema, text string) bool {
	texts := s.Missing
	if texts == nil {
		texts = table.DefaultMissing()
	}
	return text == "" || slices.Contains(texts, text)
}

// outsideOf is how many numbers or days are outside the range, and the range.
func (t *tally) outsideOf(rows int) string {
	c := t.column
	switch {
	case t.names != nil || c.Above != nil:
		return "\t"
	case c.Kind == table.Date:
		return fmt.Sprintf("%s\t[%s, %s]", share(t.outside, rows), c.From, c.To)
	case c.Kind == table.Count:
		return fmt.Sprintf("%s\t[0, %d]", share(t.outside, rows), c.Cap)
	}
	return fmt.Sprintf("%s\t[%g, %g]", share(t.outside, rows), c.Range[0], c.Range[1])
}

// printLevels tells how often each level occurs, and what else does.
func (k *counts) printLevels(w io.Writer) {
	for i, title := range []string{"levels, with the " + k.each() + " that have each", "texts that can't be read, or aren't listed"} {
		for _, t := range k.columns {
			said := t.listed()
			if i > 0 {
				said = t.unlisted()
			}
			if said == "" {
				continue
			}
			if title != "" {
				fmt.Fprintf(w, "\n%s\n", title)
				title = ""
			}
			fmt.Fprintf(w, "%s\t%s\n", t.column.Name, said)
		}
	}
}

func (t *tally) listed() string {
	var out []string
	for i, name := range t.names {
		if t.column.Kind == table.OneHot && i == 0 && t.column.Reference == "" && t.levels[0] == 0 {
			continue
		}
		out = append(out, fmt.Sprintf("%s %d", name, t.levels[i]))
	}
	return strings.Join(out, ", ")
}

// unlisted are the texts that occur most often.
func (t *tally) unlisted() string {
	texts := slices.SortedFunc(maps.Keys(t.others), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.others[b], t.others[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, text := range texts[:min(len(texts), mostShown)] {
		shown := text
		if len(text) > mostBytes {
			shown = strings.ToValidUTF8(text[:mostBytes], "") + "…"
		}
		out = append(out, fmt.Sprintf("%s %d", strconv.Quote(shown), t.others[text]))
	}
	if more := len(texts) - mostShown; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	said := strings.Join(out, ", ")
	if said != "" && t.column.Other != "" {
		said += fmt.Sprintf(": they read as %q", t.column.Other)
	}
	return said
}

// list writes texts that mean the same.
func list(texts []string) string { return strings.Join(texts, " or ") }
