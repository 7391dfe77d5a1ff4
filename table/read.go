package table

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dpglm/dpglm/internal/rowfile"
)

// ReadCSVFile reads the rows of a CSV file, which is gzipped if its name ends in .gz.
// The delimiter is the one that the header has most of. It fails as [OpenCSV] and [Read] do.
func ReadCSVFile(path string, s Schema) (*Table, error) {
	c, err := OpenCSV(path, 0)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	t, err := Read(c, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ReadCSV reads the rows of a CSV, with the delimiter that the header has most of. It fails as
// [NewCSV] and [Read] do.
func ReadCSV(r io.Reader, s Schema) (*Table, error) {
	c, err := NewCSV(r, 0)
	if err != nil {
		return nil, err
	}
	return Read(c, s)
}

// ReadSQL reads the rows of a database query, which the caller closes. It fails as [Read] does,
// and where the query does.
func ReadSQL(rows *sql.Rows, s Schema) (*Table, error) {
	src, err := NewSQL(rows)
	if err != nil {
		return nil, err
	}
	return Read(src, s)
}

// Read reads all records of a source once, for training: each with its label, and with
// its person and exposure if the schema names columns for them. Its errors are those of
// intake: they quote the table's values, and are for the curator only. It fails where the
// schema isn't valid (ErrSchema), the source can't be read (ErrFile) or has no row, a column is
// missing (ErrColumn) or a field isn't what the schema says (ErrValue, [*Error]): of these it
// names the first of each column.
func Read(src Source, s Schema) (*Table, error) { return read(src, s, true) }

// ReadFeatures reads the features only, for prediction: the label's, the person's and
// the exposure's columns need not be there. It fails as [Read] does.
func ReadFeatures(src Source, s Schema) (*Table, error) { return read(src, s, false) }

func read(src Source, s Schema, training bool) (*Table, error) {
	e, err := NewEncoder(s)
	if err != nil {
		return nil, err
	}
	r, err := newReader(e, src, training)
	if err != nil {
		return nil, err
	}
	if err := r.drain(src); err != nil {
		return nil, err
	}
	return r.table()
}

// reader encodes records and keeps the result.
type reader struct {
	encoder *Encoder
	binding *Binding
	header  []string
	wanted  []int // the fields to keep of each record: those of the inputs first
	store   *store
	out     *rowfile.Writer // where rows go that aren't kept

	label, person, exposure int // where they are among the wanted fields; −1 if not read
	labels                  []float64
	persons                 []int
	exposures               []float64
	people                  map[string]int
	exposed                 number
	problems                problems
	labelClamped            clamped
	labelOthers             unlisted
	exposureClamped         clamped
}

func newReader(e *Encoder, src Source, training bool) (*reader, error) {
	if err := givenSource(src); err != nil {
		return nil, err
	}
	header := slices.Clone(src.Header())
	b, err := e.Bind(header)
	if err != nil {
		return nil, err
	}
	r := &reader{encoder: e, binding: b, header: header, wanted: b.at, label: -1, person: -1, exposure: -1}
	expected := func(int) int { return 0 }
	if sized, ok := src.(interface{ expected(rows int) int }); ok {
		expected = sized.expected
	}
	entries := 0
	for i := range e.blocks {
		entries += e.blocks[i].entries()
	}
	r.store = newStore(len(e.features), entries, expected)
	if !training {
		return r, nil
	}
	s := &e.schema
	for _, role := range []struct {
		name string
		at   *int
	}{{s.Label, &r.label}, {s.Person, &r.person}, {s.Exposure, &r.exposure}} {
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
	if s.Person != "" {
		r.people = map[string]int{}
	}
	if s.Exposure != "" {
		c := s.column(s.Exposure)
		r.exposed = newNumber(c, newAbsent(s, c))
	}
	return r, nil
}

// entries is how many of a block's features can be other than 0 in one row.
func (b *block) entries() int {
	if b.shape == spline {
		return degree + 1
	}
	return 1
}

// batch is a number of records, only of their wanted fields.
type batch struct {
	fields  []string
	numbers []int // each record's place
	unit    string
	err     error // after these records
}

const batchRows = 256

// drain reads all records: one goroutine takes them apart, and this one encodes them,
// in their order.
func (r *reader) drain(src Source) error {
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
		if failed = r.encode(b); failed == nil {
			failed = b.err
		}
		if failed != nil {
			stop()
			continue
		}
		empty <- b
	}
	stop()
	if errors.Is(failed, io.EOF) {
		failed = nil
	}
	return r.problems.with(failed)
}

// fill reads the next records.
func (r *reader) fill(b *batch, src Source) {
	b.fields, b.numbers, b.err = b.fields[:0], b.numbers[:0], nil
	for range batchRows {
		fields, err := src.Next()
		unit, number := src.Place()
		if err == nil && len(fields) != len(r.header) {
			err = ragged(unit, number, len(fields), len(r.header))
		}
		if err != nil {
			b.err = err
			return
		}
		for _, at := range r.wanted {
			b.fields = append(b.fields, fields[at])
		}
		b.unit, b.numbers = unit, append(b.numbers, number)
	}
}

func ragged(unit string, number, fields, header int) error {
	e := fileError(number, `it has %d fields where the header has %d; put a field that holds the delimiter in quotes ("), or correct the row`, fields, header)
	e.Unit = unit
	return e
}

func (r *reader) encode(b *batch) error {
	n := len(r.wanted)
	for i, number := range b.numbers {
		r.binding.At(b.unit, number)
		r.problems.rows++
		if fields := b.fields[i*n : (i+1)*n]; r.record(fields) != nil {
			faults := r.faults(fields)
			for _, err := range faults {
				placed(err, b.unit, number)
			}
			if err := r.problems.add(faults); err != nil {
				return err
			}
		}
	}
	return r.out.Err()
}

// faults are all errors of a record that has one: of each column, and of a one-hot group the
// first.
func (r *reader) faults(fields []string) (all []error) {
	add := func(err error) {
		if err != nil {
			all = append(all, err)
		}
	}
	if r.label >= 0 {
		_, _, err := r.encoder.label.read(fields[r.label])
		add(err)
	}
	if r.person >= 0 {
		_, err := r.code(trim(fields[r.person]))
		add(err)
	}
	if r.exposure >= 0 {
		_, err := r.exposed.required(trim(fields[r.exposure]), "an exposure")
		add(err)
	}
	for i, in := range r.encoder.inputs {
		_, err := r.encoder.cell(i, fields[:len(in.files)])
		add(err)
		fields = fields[len(in.files):]
	}
	return all
}

// record encodes one record, of the wanted fields, up to its first error.
func (r *reader) record(fields []string) error {
	if err := r.binding.read(fields); err != nil {
		return err
	}
	if r.label >= 0 {
		y, odd, err := r.encoder.label.read(fields[r.label])
		if err != nil {
			return err
		}
		r.labels = append(grow(r.store, r.labels, 1), y)
		switch {
		case odd && r.encoder.label.levels != nil:
			r.labelOthers.add(trim(fields[r.label]))
		case odd:
			r.labelClamped.add(fields[r.label], r.binding.unit, r.binding.number)
		}
	}
	if r.person >= 0 {
		code, err := r.code(trim(fields[r.person]))
		if err != nil {
			return err
		}
		r.persons = append(grow(r.store, r.persons, 1), code)
	}
	if r.exposure >= 0 {
		x, err := r.exposed.required(trim(fields[r.exposure]), "an exposure")
		if err != nil {
			return err
		}
		x, clamped := r.exposed.clamp(x)
		r.exposures = append(grow(r.store, r.exposures, 1), x)
		if clamped {
			r.exposureClamped.add(fields[r.exposure], r.binding.unit, r.binding.number)
		}
	}
	r.binding.encode()
	if r.out != nil {
		r.write()
		return nil
	}
	r.store.add(r.binding.indices, r.binding.values)
	return nil
}

// code numbers the persons in the order in which they occur.
func (r *reader) code(id string) (int, error) {
	if id == "" || slices.Contains(r.encoder.schema.missingTexts(), id) {
		return 0, missingRole(r.encoder.schema.Person, id, "a person")
	}
	code, ok := r.people[id]
	if !ok {
		code = len(r.people)
		if stated := r.encoder.schema.Persons; stated > 0 && code >= stated {
			return 0, valueError(r.encoder.schema.Person, `it is a further person than the %d that "persons" states; correct that number, which must come from public knowledge`, stated)
		}
		r.people[string([]byte(id))] = code // a copy: id may be part of a longer record
	}
	return code, nil
}

// table hands over what was read.
func (r *reader) table() (*Table, error) {
	if r.store.rows == 0 {
		return nil, fileError(0, "there is no row after the header")
	}
	e := r.encoder
	t := &Table{encoder: e, rows: r.store.rows, features: len(e.features), label: e.label.facts, labels: r.labels,
		persons: r.persons, personCount: cmp.Or(e.schema.Persons, len(r.people)), exposure: r.exposures, bound: e.Bound(), warnings: r.warnings()}
	t.dense, t.sparse = r.store.finish()
	return t, nil
}
