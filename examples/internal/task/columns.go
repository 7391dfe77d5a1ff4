package task

import (
	"context"
	"slices"

	"github.com/dpglm/dpglm/table"
)

// Columns is a source and a schema of records in which the label is a column as others, and another one, which is always 0, the label: for
// what releases something about all columns alike.
func Columns(src table.Source, s table.Schema) (table.Source, table.Schema) {
	s.Columns = slices.Clone(s.Columns)
	for j, c := range s.Columns {
		if c.Name == s.Label && c.Kind == table.Count { // which as a feature is a number
			s.Columns[j] = table.Column{Name: c.Name, Kind: table.Numeric, Range: []float64{0, float64(c.Cap)}, Per: c.Per}
		}
	}
	s.Label = noLabel
	s.Columns = append(s.Columns, table.Column{Name: noLabel, Kind: table.Numeric, Range: []float64{-1, 1}})
	return &unlabelled{Source: src}, s
}

// LoadColumns is Load of a table in which the label is a column as others.
func (s *Source) LoadColumns(ctx context.Context) (*table.Table, error) {
	t, err := Await(ctx, func() (*table.Table, error) {
		src, err := table.OpenCSVAs(s.Path, *s.file)
		if err != nil {
			return nil, err
		}
		defer src.Close()
		return table.Read(Columns(src, *s.file))
	})
	if err != nil {
		return nil, err
	}
	for _, w := range t.Warnings() {
		s.note("%s", w)
	}
	return t, nil
}

// noLabel is the name of a label that isn't one.
const noLabel = "(no label)"

// unlabelled has a column more, of zeros.
type unlabelled struct {
	table.Source
	fields []string
}

func (u *unlabelled) Header() []string { return append(u.Source.Header(), noLabel) }

func (u *unlabelled) Next() ([]string, error) {
	fields, err := u.Source.Next()
	u.fields = append(append(u.fields[:0], fields...), "0")
	return u.fields, err
}
