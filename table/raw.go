package table

import "unicode/utf8"

// Raw reads records as an [Encoder] does, by the names of their columns, and leaves the
// numbers as they are: for models that were trained on a matrix with named columns. The zero
// value has no columns.
type Raw struct{ encoder *Encoder }

// NewRaw returns a Raw for columns of distinct names, in the matrix's order.
func NewRaw(columns []string) Raw {
	e := &Encoder{features: make([]Feature, len(columns)), splines: make([]basis, len(columns))}
	for i, name := range columns {
		in := &input{column: &Column{Name: name}, at: i, files: columns[i : i+1], numeric: true}
		e.inputs = append(e.inputs, in)
		e.fields, e.oneHots = append(e.fields, rawField{name}), append(e.oneHots, nil)
		e.blocks = append(e.blocks, block{shape: line, a: in, first: i})
	}
	return Raw{e}
}

// Encode writes the numbers of one record into dst, one for each column; it passes over other
// fields, and fails as [Encoder.Encode] does.
func (r Raw) Encode(dst []float64, record map[string]string) error {
	return r.reader().Encode(dst, record)
}

// Bind is [Encoder.Bind]. It fails where the header lacks a column or has one twice.
func (r Raw) Bind(header []string) (*Binding, error) { return r.reader().Bind(header) }

func (r Raw) reader() *Encoder {
	if r.encoder == nil {
		return &Encoder{}
	}
	return r.encoder
}

// rawField reads the finite numbers of the named column.
type rawField struct{ column string }

func (f rawField) read(text string, into *cell) error {
	text = trim(text)
	x, err := parseFloat(text)
	switch plain := plainNumber(text); {
	case err == nil && x-x == 0:
		*into = cell{u: x}
		return nil
	case text == "":
		return valueError(f.column, "the field is empty; the model was trained on numbers only: fill it in")
	case err == nil || tooLarge(text):
		return valueError(f.column, "%s is not a finite number; write one", quote(text))
	case !utf8.ValidString(text):
		return valueError(f.column, "%s is not a number, and not UTF-8", quote(text))
	case plain != "":
		return valueError(f.column, "%s is not a number; write %s", quote(text), plain)
	}
	return valueError(f.column, "%s is not a number; write one such as 12.5", quote(text))
}
