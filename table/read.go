package table

import (
	"cmp"
	"database/sql"
	"fmt"
	"io"
)

// ReadCSVFile reads the rows of a CSV file, or of several: see [OpenCSVAs].
// The delimiter is the one that the header has most of. It fails as OpenCSVAs and [Read] do.
func ReadCSVFile(path string, s Schema) (*Table, error) {
	c, err := OpenCSVAs(path, s)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	t, err := Read(c, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", called(path), err)
	}
	return t, nil
}

// ReadCSV reads the rows of a CSV, with the delimiter that the header has most of. It fails as
// [NewCSV] and [Read] do.
func ReadCSV(r io.Reader, s Schema) (*Table, error) {
	c, err := newCSV(r, 0, s.Encoding)
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
// schema isn't valid (ErrSchema), the source can't be read (ErrFile) or has no row (ErrNoRows), a column is
// missing (ErrColumn) or a field isn't what the schema says (ErrValue, [*Error]): of these it
// names the first of each column.
func Read(src Source, s Schema) (*Table, error) { return read(src, s, true) }

// ReadFeatures reads the features only, for prediction: the label's, the person's and
// the exposure's columns need not be there. It fails as [Read] does.
func ReadFeatures(src Source, s Schema) (*Table, error) { return read(src, s, false) }

func read(src Source, s Schema, training bool) (*Table, error) {
	if training {
		var err error
		if src, s, err = s.episodes(src); err != nil {
			return nil, err
		}
	}
	r, err := newIntake(src, s, training)
	if err != nil {
		return nil, err
	}
	e := r.encoder
	rows := newStore(len(e.features), e.entries(), expects(src))
	t := &Table{encoder: e, features: len(e.features), label: e.label.facts, bound: e.Bound()}
	err = r.drain(src, func(w *row) error {
		if r.label >= 0 {
			t.labels = append(grow(rows, t.labels, 1), w.label)
		}
		if r.person >= 0 {
			t.persons = append(grow(rows, t.persons, 1), w.person)
		}
		if r.exposure >= 0 {
			t.exposure = append(grow(rows, t.exposure, 1), w.exposure)
		}
		if r.weight >= 0 {
			t.weights = append(grow(rows, t.weights, 1), w.weight)
		}
		rows.add(w.indices, w.values)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.secret = s.AtMost > 0
	t.rows, t.personCount, t.warnings = rows.rows, cmp.Or(s.Persons, s.AtMost, len(r.persons.codes)), r.warnings()
	if made, ok := src.(*episodes); ok && made.counts(&s) {
		t.personCount = made.seen.all
	}
	t.dense, t.sparse = rows.finish()
	return t, nil
}
