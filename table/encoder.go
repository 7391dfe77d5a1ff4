package table

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// Encoder turns records into features as a schema says, for training and for
// prediction alike. Each feature lies in [−1, 1]:
//
//   - a number x of the range [lo, hi], or its logarithm, is u = 2(x−lo)/(hi−lo) − 1;
//     days since the origin too. A missing one with an indicator is u = 0.
//   - its square is 2u² − 1, and the splines of u are a basis without the first.
//   - a level is 1 and the others 0, the reference being all 0; so are the columns of a
//     one-hot group.
//   - an interaction is a product: u·v, u where the level is that one, or 1 where both
//     levels are.
//
// An Encoder is immutable, and safe for concurrent use.
type Encoder struct {
	schema   Schema
	inputs   []*input
	fields   []field        // of the inputs, nil for a OneHot
	oneHots  []*oneHotField // nil for the others
	blocks   []block
	features []Feature
	splines  []basis // by block
	label    *labelField
}

// NewEncoder makes the encoder of a valid schema. It fails as [Schema.Validate] does.
func NewEncoder(s Schema) (*Encoder, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	e := &Encoder{schema: s.clone()}
	e.blocks, e.features = blocks(&e.schema), layout(&e.schema)
	e.label = newLabelField(&e.schema, e.schema.column(s.Label))
	e.splines = make([]basis, len(e.blocks))
	for i, b := range e.blocks {
		if b.a.at == len(e.inputs) { // each input begins with a block of its own
			e.inputs = append(e.inputs, b.a)
			var f field
			var g *oneHotField
			if b.a.column.Kind == OneHot {
				g = newOneHotField(&e.schema, b.a)
			} else {
				f = newField(&e.schema, b.a)
			}
			e.fields, e.oneHots = append(e.fields, f), append(e.oneHots, g)
		}
		if b.shape == spline {
			e.splines[i] = newBasis(b.a.knots())
		}
	}
	return e, nil
}

// Schema returns a copy of the encoder's schema.
func (e *Encoder) Schema() Schema { return e.schema.clone() }

// Label says how labels are read.
func (e *Encoder) Label() Label {
	if e.label == nil {
		return Label{}
	}
	l := e.label.facts
	l.Levels, l.Shares = slices.Clone(l.Levels), slices.Clone(l.Shares)
	return l
}

// Exposure returns the public range of the exposure; zeros if the schema has none.
func (e *Encoder) Exposure() (low, high float64) {
	if c := e.schema.column(e.schema.Exposure); c != nil {
		return c.Range[0], c.Range[1]
	}
	return 0, 0
}

// Features describes the features, in their order.
func (e *Encoder) Features() []Feature {
	out := slices.Clone(e.features)
	for i, f := range out {
		out[i].Columns, out[i].Levels = slices.Clone(f.Columns), slices.Clone(f.Levels)
	}
	return out
}

// Bound is a bound on the L2 norm of every encoded row: the root of the number of
// blocks, each of which adds at most 1 to the norm's square. It follows from the
// schema alone.
func (e *Encoder) Bound() float64 { return math.Sqrt(float64(len(e.blocks))) }

// Inputs are the columns that a record needs for prediction.
func (e *Encoder) Inputs() []string {
	var names []string
	for _, in := range e.inputs {
		names = append(names, in.files...)
	}
	return names
}

// Encode writes the features of one record into dst, one for each of Features. It reads the
// record's fields by their columns' names, and passes over those it doesn't need. It fails
// where a column is missing (ErrColumn), a field isn't what the schema says ([*Error]), or dst
// has another length.
func (e *Encoder) Encode(dst []float64, record map[string]string) error {
	var fields []string
	for _, in := range e.inputs {
		for _, name := range in.files {
			text, ok := record[name]
			if !ok {
				return absentColumn(name, slices.Sorted(maps.Keys(record)), "the record")
			}
			fields = append(fields, text)
		}
	}
	b := e.binding()
	if err := b.read(fields); err != nil {
		return err
	}
	return b.write(dst)
}

// Binding is an Encoder for records whose fields come in a certain order. It is for
// one goroutine at a time.
type Binding struct {
	encoder *Encoder
	columns int   // fields in a record
	at      []int // the fields that the inputs need
	wanted  []string
	cells   []cell
	indices []int // of the features that aren't 0, ascending
	values  []float64

	exposure        int     // the field of the exposure; −1 if there is none
	exposed         number  // how it is read
	exposureClamped clamped // exposures outside the range
	outside         bool    // the last one was

	unit    string // the place of the next record
	number  int
	rows    int        // encoded so far
	clamped []clamped  // values outside the range of each input
	others  []unlisted // of each input
}

func (e *Encoder) binding() *Binding {
	n := len(e.inputs)
	return &Binding{encoder: e, cells: make([]cell, n), clamped: make([]clamped, n), others: make([]unlisted, n)}
}

// Bind returns an Encoder for records with the given header, in any order; columns that it
// doesn't need are passed over. It fails where the header lacks a column or has one twice.
func (e *Encoder) Bind(header []string) (*Binding, error) {
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	b := e.binding()
	b.columns, b.exposure = len(header), slices.Index(header, e.schema.Exposure)
	if b.exposure >= 0 {
		c := e.schema.column(e.schema.Exposure)
		b.exposed = newNumber(c, newAbsent(&e.schema, c))
	}
	index := make(map[string]int, len(header))
	for i, name := range header {
		index[name] = i
	}
	for _, name := range e.Inputs() {
		at, ok := index[name]
		if !ok {
			return nil, absentColumn(name, header, "the header")
		}
		b.at = append(b.at, at)
	}
	return b, nil
}

// Exposure returns the exposure of a record with as many fields as the header, within its
// range; 1 where the schema or the header has none, so that a mean times it is that of a
// record. It fails where the field is missing or isn't a number.
func (b *Binding) Exposure(fields []string) (float64, error) {
	if b.exposure < 0 {
		return 1, nil
	}
	if err := b.fits(fields); err != nil {
		return 0, err
	}
	x, err := b.exposed.required(trim(fields[b.exposure]), "an exposure")
	if err != nil {
		return 0, placed(err, b.unit, b.number)
	}
	if x, b.outside = b.exposed.clamp(x); b.outside {
		b.exposureClamped.add(fields[b.exposure], b.unit, b.number)
	}
	return x, nil
}

// Clamped are the columns of which the last record had a number outside the range, which counted
// as the range's end; the exposure among them if it was read.
func (b *Binding) Clamped() []string {
	var names []string
	for i, c := range b.cells {
		if c.clamped {
			names = append(names, b.encoder.inputs[i].column.Name)
		}
	}
	if b.outside {
		names = append(names, b.encoder.schema.Exposure)
	}
	return names
}

// At says where the next record is, such as in line 7, for its errors and for Warnings.
func (b *Binding) At(unit string, number int) { b.unit, b.number = unit, number }

// Warnings says what the holder of the records that were encoded should look at: values
// that were clamped, and texts that were meant to be a level. It quotes them.
func (b *Binding) Warnings() []string {
	if b.encoder == nil {
		return nil
	}
	var out []string
	for i, in := range b.encoder.inputs {
		out = append(out, b.clamped[i].warning(in.column, b.rows)...)
		out = append(out, otherWarnings(in.column, b.others[i])...)
	}
	if b.exposureClamped.count > 0 {
		out = append(out, b.exposureClamped.warning(b.encoder.schema.column(b.encoder.schema.Exposure), b.rows)...)
	}
	return out
}

// Encode writes the features of one record, with as many fields as the header, into dst, as
// [Encoder.Encode] does.
func (b *Binding) Encode(dst []float64, fields []string) error {
	if err := b.fits(fields); err != nil {
		return err
	}
	b.wanted, b.outside = b.wanted[:0], false
	for _, at := range b.at {
		b.wanted = append(b.wanted, fields[at])
	}
	if err := b.read(b.wanted); err != nil {
		return err
	}
	return b.write(dst)
}

// fits refuses a record with another number of fields than the header.
func (b *Binding) fits(fields []string) error {
	if b.encoder == nil {
		return check.Fail(check.ErrConfig, "binding", nil, "must be made by Bind")
	}
	if len(fields) != b.columns {
		return &Error{Unit: b.unit, Number: b.number, kind: ErrFile, message: fmt.Sprintf("the record has %d fields where the header has %d", len(fields), b.columns)}
	}
	return nil
}

// read takes the fields that the inputs need, in their order.
func (b *Binding) read(fields []string) (err error) {
	e := b.encoder
	for i, in := range e.inputs {
		c := &b.cells[i]
		if *c, err = e.cell(i, fields[:len(in.files)]); err != nil {
			return placed(err, b.unit, b.number)
		}
		if c.clamped {
			b.clamped[i].add(fields[0], b.unit, b.number)
		}
		if c.other {
			b.others[i].add(trim(fields[0]))
		}
		fields = fields[len(in.files):]
	}
	return nil
}

// cell reads the fields of input i.
func (e *Encoder) cell(i int, fields []string) (cell, error) {
	if g := e.oneHots[i]; g != nil {
		return g.readAll(fields)
	}
	return e.fields[i].read(fields[0])
}

// write writes the features of the cells into dst.
func (b *Binding) write(dst []float64) error {
	if len(dst) != len(b.encoder.features) {
		return check.Fail(check.ErrShape, "len(dst)", len(dst), fmt.Sprintf("must equal the number of features, %d", len(b.encoder.features)))
	}
	b.encode()
	clear(dst)
	for k, j := range b.indices {
		dst[j] = b.values[k]
	}
	return nil
}

func (b *Binding) add(j int, v float64) {
	if v != 0 {
		b.indices, b.values = append(b.indices, j), append(b.values, v)
	}
}

// encode makes features of the cells.
func (b *Binding) encode() {
	b.rows++
	b.indices, b.values = b.indices[:0], b.values[:0]
	for i := range b.encoder.blocks {
		k := &b.encoder.blocks[i]
		x := &b.cells[k.a.at]
		switch k.shape {
		case line:
			b.add(k.first, x.u)
			b.indicate(k, x)
		case square:
			b.add(k.first, float64(2*float64(x.u*x.u))-1)
		case spline:
			b.bend(k, x, b.encoder.splines[i])
		case onehot:
			if x.level > 0 {
				b.add(k.first+x.level-1, 1)
			}
		case product:
			b.add(k.first, x.u*b.cells[k.b.at].u)
		case slopes:
			if level := b.cells[k.b.at].level; level > 0 {
				b.add(k.first+level-1, x.u)
			}
		case pairs:
			if level := b.cells[k.b.at].level; x.level > 0 && level > 0 {
				b.add(k.first+(x.level-1)*len(k.b.levels)+level-1, 1)
			}
		}
	}
}

// indicate sets the last feature of a block where a number is missing.
func (b *Binding) indicate(k *block, x *cell) {
	if x.missing {
		b.add(k.first+k.width()-1, 1)
	}
}

// bend writes the splines, of which a missing number has none.
func (b *Binding) bend(k *block, x *cell, s basis) {
	if !x.missing {
		first, values := s.at(x.u)
		for i, v := range values {
			if first+i > 0 {
				b.add(k.first+first+i-1, v)
			}
		}
	}
	b.indicate(k, x)
}
