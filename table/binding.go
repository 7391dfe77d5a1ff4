package table

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

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
	row     entries

	exposures *exposures // nil if the header has none
	place     place      // of the next record

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
	b.columns = len(header)
	if at := slices.Index(header, e.schema.AtRisk()); at >= 0 {
		c := e.schema.column(e.schema.AtRisk())
		b.exposures = &exposures{column: c, what: "an exposure", at: at, number: newNumber(c, newAbsent(&e.schema, c))}
		if b.exposures.logarithm = e.schema.Offset != ""; b.exposures.logarithm {
			b.exposures.what = "an offset"
		}
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
// range, or that whose logarithm is the record's offset; 1 where the schema or the header has none, so that a mean times it is that of a
// record. It fails where the field is missing or isn't a number.
func (b *Binding) Exposure(fields []string) (float64, error) {
	if b.exposures == nil && b.encoder != nil {
		return 1, nil
	}
	if err := b.fits(fields); err != nil {
		return 0, err
	}
	x, err := b.exposures.read(fields[b.exposures.at], b.place)
	return x, placed(err, b.place)
}

// exposures reads exposures or weights, and clamps them.
type exposures struct {
	column    *Column
	what      string // it is
	at        int    // the field in a record
	number    number
	logarithm bool    // an offset: the exposure is what it is the logarithm of
	outside   clamped // those outside the range
	last      bool    // the last one was
	some      bool    // one is above 0
}

func (x *exposures) read(text string, at place) (v float64, err error) {
	if v, err = x.number.required(trim(text), x.what); err != nil {
		return 0, err
	}
	if v, x.last = x.number.clamp(v); x.last {
		x.outside.add(text, at)
	}
	x.some = x.some || v > 0
	if x.logarithm {
		v = math.Exp(v)
	}
	return v, nil
}

// apart are exposures of the same column of which none was read; nil where there are none.
func (x *exposures) apart() *exposures {
	if x == nil {
		return nil
	}
	own := *x
	own.outside, own.last, own.some = clamped{}, false, false
	return &own
}

// add adds what others have seen, of later records, which forget it.
func (x *exposures) add(later *exposures) {
	if x != nil {
		x.outside.join(&later.outside)
		x.some, later.some = x.some || later.some, false
	}
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
	if b.exposures != nil && b.exposures.last {
		names = append(names, b.exposures.column.Name)
	}
	return names
}

// At says where the next record is, such as in line 7, for its errors and for Warnings.
func (b *Binding) At(unit string, number int) { b.place = place{unit, number} }

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
	if b.exposures != nil {
		out = append(out, b.exposures.outside.warning(b.exposures.column, b.rows)...)
	}
	return out
}

// Encode writes the features of one record, with as many fields as the header, into dst, as
// [Encoder.Encode] does.
func (b *Binding) Encode(dst []float64, fields []string) error {
	if err := b.fits(fields); err != nil {
		return err
	}
	if b.wanted = b.wanted[:0]; b.exposures != nil {
		b.exposures.last = false
	}
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
		return placed(fileError(0, "the record has %d fields where the header has %d", len(fields), b.columns), b.place)
	}
	return nil
}

// read takes the fields that the inputs need, in their order.
func (b *Binding) read(fields []string) error {
	e := b.encoder
	for i, in := range e.inputs {
		c := &b.cells[i]
		if err := e.cell(i, fields[:len(in.files)], c); err != nil {
			return placed(err, b.place)
		}
		if c.clamped {
			b.clamped[i].add(fields[0], b.place)
		}
		if c.other {
			b.others[i].add(trim(fields[0]))
		}
		fields = fields[len(in.files):]
	}
	return nil
}

// cell reads the fields of input i.
func (e *Encoder) cell(i int, fields []string, into *cell) error {
	if g := e.oneHots[i]; g != nil {
		return g.readAll(fields, into)
	}
	return e.fields[i].read(fields[0], into)
}

// write writes the features of the cells into dst.
func (b *Binding) write(dst []float64) error {
	if len(dst) != len(b.encoder.features) {
		return check.Fail(check.ErrShape, "len(dst)", len(dst), fmt.Sprintf("must equal the number of features, %d", len(b.encoder.features)))
	}
	b.encode(&b.row)
	clear(dst)
	for k, j := range b.row.indices {
		dst[j] = b.row.values[k]
	}
	return nil
}

// encode makes features of the cells.
func (b *Binding) encode(row *entries) {
	b.rows++
	row.encode(b.encoder, b.cells)
}

// apart is a Binding of the same records that has encoded none.
func (b *Binding) apart() *Binding {
	own := b.encoder.binding()
	own.columns, own.at, own.exposures = b.columns, b.at, b.exposures.apart()
	return own
}

// add adds what another has seen, of later records, which forgets it.
func (b *Binding) add(later *Binding) {
	b.rows, later.rows = b.rows+later.rows, 0
	for i := range b.clamped {
		b.clamped[i].join(&later.clamped[i])
		b.others[i].join(&later.others[i])
	}
	b.exposures.add(later.exposures)
}
