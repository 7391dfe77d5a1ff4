package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// intake reads the records of a source for training, or for prediction, and makes rows of them.
type intake struct {
	encoder *Encoder
	binding *Binding
	header  []string
	wanted  []int // the fields to keep of each record: those of the inputs first

	label, person, exposure, weight int // where they are among the wanted fields; −1 if not read
	labels                          *labels
	persons                         personCodes
	weights                         *exposures
	problems                        problems
	filter                          *filter // of records; nil for none
	left                            int     // that it leaves out
	never                           int     // of records at risk, those that never are
}

// row is what becomes of a record. Its slices are valid until the next.
type row struct {
	entries
	label    float64
	person   int
	exposure float64
	weight   float64
}

func newIntake(src Source, s Schema, training bool) (*intake, error) {
	e, err := NewEncoder(s)
	if err != nil {
		return nil, err
	}
	if err := givenSource(src); err != nil {
		return nil, err
	}
	header := slices.Clone(src.Header())
	b, err := e.Bind(header)
	if err != nil {
		return nil, err
	}
	r := &intake{encoder: e, binding: b, header: header, wanted: b.at, label: -1, person: -1, exposure: -1, weight: -1}
	if !training {
		return r, nil
	}
	if _, made := src.(*episodes); len(s.Where) > 0 && !made { // of records, of which these were made
		if r.filter, err = newFilter(&s, header); err != nil {
			return nil, err
		}
	}
	if c := e.schema.column(s.Weight); c != nil {
		r.weights = &exposures{column: c, what: "a weight", number: newNumber(c, newAbsent(&e.schema, c))}
	}
	r.labels = newLabels(e.label, e.schema.column(s.Label))
	r.persons = personCodes{&e.schema, map[string]int{}}
	for _, role := range []struct {
		name string
		at   *int
	}{{s.Label, &r.label}, {s.Person, &r.person}, {s.Exposure, &r.exposure}, {s.Weight, &r.weight}} {
		if role.name == "" {
			continue
		}
		at := slices.Index(header, role.name)
		if at < 0 {
			return nil, absentColumn(role.name, header, "the header")
		}
		*role.at = len(r.wanted)
		r.wanted = append(r.wanted[:len(r.wanted):len(r.wanted)], at)
	}
	return r, nil
}

// batch is a number of records, only of their wanted fields.
type batch struct {
	fields  []string
	numbers []int // each record's place
	unit    string
	err     error // after these records
}

const batchRows = 256

// drain reads all records, and hands on the row of each: one goroutine takes them apart, and this
// one encodes them, in their order.
func (r *intake) drain(src Source, keep func(*row) error) error {
	ctx, stop := context.WithCancel(context.Background())
	full, empty := make(chan *batch, 4), make(chan *batch, 4)
	for range cap(empty) {
		empty <- new(batch)
	}
	go func() {
		defer close(full)
		for {
			var b *batch
			select {
			case b = <-empty:
			case <-ctx.Done():
				return
			}
			r.fill(b, src)
			full <- b // never blocks: it has room for all there are
			if b.err != nil {
				return
			}
		}
	}()
	var failed error
	for b := range full { // until src is no longer in use
		if failed != nil {
			continue
		}
		if failed = r.encode(b, keep); failed == nil {
			failed = b.err
		}
		if failed != nil {
			stop()
			continue
		}
		empty <- b
	}
	stop()
	if made, ok := src.(*episodes); ok {
		r.left, r.never = made.seen.left, made.seen.never
	}
	if errors.Is(failed, io.EOF) {
		failed = nil
	}
	if err := r.problems.with(failed); err != nil {
		return err
	}
	return r.some()
}

// some refuses a source without records.
func (r *intake) some() error {
	switch {
	case r.binding.rows > 0:
		return nil
	case r.left > 0:
		return fileError(0, `no row fulfils the schema's "where"`)
	}
	return fileError(0, "there is no row after the header")
}

// fill reads the next records.
func (r *intake) fill(b *batch, src Source) {
	b.fields, b.numbers, b.err = b.fields[:0], b.numbers[:0], nil
	for range batchRows {
		fields, err := src.Next()
		unit, number := src.Place()
		if err == nil && len(fields) != len(r.header) {
			err = placed(fileError(0, `it has %d fields where the header has %d; put a field that holds the delimiter in quotes ("), or correct the row`, len(fields), len(r.header)), place{unit, number})
		}
		if err != nil {
			b.err = err
			return
		}
		if r.filter != nil && !r.filter.fulfilled(fields) {
			r.left++
			continue
		}
		for _, at := range r.wanted {
			b.fields = append(b.fields, fields[at])
		}
		b.unit, b.numbers = unit, append(b.numbers, number)
	}
}

// encode makes rows of a batch.
func (r *intake) encode(b *batch, keep func(*row) error) error {
	n := len(r.wanted)
	var w row
	for i, number := range b.numbers {
		r.binding.At(b.unit, number)
		r.problems.rows++
		faults := r.record(&w, b.fields[i*n:(i+1)*n])
		if faults == nil {
			if err := keep(&w); err != nil {
				return err
			}
			continue
		}
		for _, err := range faults {
			placed(err, r.binding.place)
		}
		if err := r.problems.add(faults); err != nil {
			return err
		}
	}
	return nil
}

// record encodes one record, of the wanted fields, or returns all that is wrong with it: of each
// column, and of a one-hot group the first.
func (r *intake) record(w *row, fields []string) (faults []error) {
	fault := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	var err error
	if r.label >= 0 {
		w.label, err = r.labels.take(fields[r.label], r.binding.place)
		fault(err)
	}
	if r.person >= 0 {
		w.person, err = r.persons.code(fields[r.person])
		fault(err)
	}
	if r.exposure >= 0 {
		w.exposure, err = r.binding.exposures.read(fields[r.exposure], r.binding.place)
		fault(err)
	}
	if r.weight >= 0 {
		w.weight, err = r.weights.read(fields[r.weight], r.binding.place)
		fault(err)
	}
	if r.binding.read(fields) != nil {
		for i, in := range r.encoder.inputs {
			_, err := r.encoder.cell(i, fields[:len(in.files)])
			fault(err)
			fields = fields[len(in.files):]
		}
	}
	if faults != nil {
		return faults
	}
	r.binding.encode()
	w.entries = r.binding.row
	return nil
}

// warnings says what is odd, though not wrong.
func (r *intake) warnings() []string {
	var out []string
	listed := map[string]bool{}
	for _, c := range r.encoder.schema.Columns {
		for _, name := range c.files() {
			listed[name] = true
		}
	}
	left := slices.DeleteFunc(slices.Clone(r.header), func(name string) bool { return listed[name] })
	if len(left) > 0 {
		out = append(out, fmt.Sprintf("columns that the schema doesn't mention are left out: %s", list(quoted(left), "and")))
	}
	if r.never > 0 {
		out = append(out, fmt.Sprintf("%d records are never at risk between the cuts, and add nothing", r.never))
	}
	if r.left > 0 {
		out = append(out, fmt.Sprintf(`%d records don't fulfil the schema's "where" and aren't there`, r.left))
	}
	if r.labels != nil {
		out = append(out, r.labels.warnings(r.binding.rows)...)
	}
	if r.weights != nil {
		out = append(out, r.weights.outside.warning(r.weights.column, r.binding.rows)...)
	}
	return append(out, r.binding.Warnings()...)
}
