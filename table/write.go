package table

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Write reads all records of a source once, for training, and writes their rows to a file,
// of which dpglm.OpenRows makes a data set that lies in the file: for tables that don't fit in
// memory. What a person's id is takes memory for each person; else Write holds some
// hundred kilobytes of text and the rows of these, or some thousand rows of other sources.
//
// The file has the rows that [Read] would keep, and the schema. It holds private data, and is
// for its owner's eyes only. It appears under its name when it is complete, and there must be
// none of that name before; if ctx is cancelled there is none. The warnings are those of
// [Table.Warnings]. It fails as [Read] does, and where the file can't be written: then there is
// none.
func Write(ctx context.Context, path string, src Source, s Schema) (warnings []string, err error) {
	_, warnings, err = writeTo(ctx, src, s, func(f rowfile.Facts) (*rowfile.Writer, error) { return rowfile.Create(path, f) })
	return warnings, err
}

// WriteParts is [Write] to several files of at most so many bytes of rows each, or of few rows where
// these are longer, and returns their paths: people-00001.rows, people-00002.rows and so on for
// people.rows. dpglm.OpenRows makes one data set of all of them, by "people-*.rows", and takes them together
// only: a person may have rows in several. They appear under their names when all are complete,
// and after an error there is none.
func WriteParts(ctx context.Context, path string, bytes int64, src Source, s Schema) (paths, warnings []string, err error) {
	return writeTo(ctx, src, s, func(f rowfile.Facts) (*rowfile.Writer, error) { return rowfile.CreateParts(path, bytes, f) })
}

// writeTo writes to the files that create begins.
func writeTo(ctx context.Context, src Source, s Schema, create func(rowfile.Facts) (*rowfile.Writer, error)) (paths, warnings []string, err error) {
	if err := check.Given("context", ctx); err != nil {
		return nil, nil, err
	}
	records := s
	src, s, err = s.episodes(WithContext(ctx, src))
	if err != nil {
		return nil, nil, err
	}
	r, err := newIntake(src, s, true)
	if err != nil {
		return nil, nil, err
	}
	beside := r.beside()
	d, err := details(r.encoder)
	if err != nil {
		return nil, nil, err
	}
	columns := len(r.encoder.features)
	out, err := create(rowfile.Facts{Columns: columns, Sparse: sparser(columns, r.encoder.entries()), Beside: beside})
	if err != nil {
		return nil, nil, err
	}
	numbers := make([]float64, 0, len(beside))
	err = r.drain(src, func(w *row) error {
		numbers = r.numbers(numbers[:0], w)
		if w.indices == nil {
			w.indices = []int{} // no entries
		}
		return out.Append(w.indices, w.values, w.label, numbers...)
	})
	if err != nil {
		out.Discard()
		return nil, nil, err
	}
	if made, ok := src.(*episodes); ok {
		if d.Records, err = json.Marshal(records); err == nil && made.counts(&s) {
			d.Persons.Count = made.seen.all
		}
	}
	if err != nil {
		out.Discard()
		return nil, nil, err
	}
	err = out.Close(d)
	return out.Paths(), r.warnings(), err
}

// beside are what a file has of each row beside features and label.
func (r *intake) beside() (list []string) {
	for _, role := range []struct {
		at   int
		name string
	}{{r.person, rowfile.Person}, {r.exposure, rowfile.Offset}, {r.weight, rowfile.Weight}} {
		if role.at >= 0 {
			list = append(list, role.name)
		}
	}
	return list
}

// numbers are these of a row, appended to a list.
func (r *intake) numbers(list []float64, w *row) []float64 {
	if r.person >= 0 {
		list = append(list, float64(w.person))
	}
	if r.exposure >= 0 {
		list = append(list, math.Log(w.exposure))
	}
	if r.weight >= 0 {
		list = append(list, w.weight)
	}
	return list
}

// details are what a file says of rows of an encoder's schema.
func details(e *Encoder) (d rowfile.Details, err error) {
	s := e.schema
	if s.Person != "" {
		d.Persons = rowfile.Persons{Count: s.Persons, MaxRows: s.MaxRows, Alike: s.PersonsAlike}
	}
	d.AtMost = s.AtMost
	if s.AtRisk() != "" {
		low, high := e.Exposure()
		d.Offsets = [2]float64{math.Log(low), math.Log(high)}
	}
	if c := s.column(s.Weight); c != nil {
		d.MaxWeight = c.Range[1]
	}
	d.Schema, err = json.Marshal(s)
	return d, err
}

// WriteCSVFile is Write for the rows of a CSV file, or of several (see [OpenCSVAs]),
// until ctx is cancelled.
func WriteCSVFile(ctx context.Context, path, csv string, s Schema) (warnings []string, err error) {
	c, err := OpenCSVAs(csv, s)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if warnings, err = Write(ctx, path, c, s); err != nil {
		return nil, fmt.Errorf("%s: %w", called(csv), err)
	}
	return warnings, nil
}

// WriteCSVParts is [WriteParts] as WriteCSVFile is Write.
func WriteCSVParts(ctx context.Context, path string, bytes int64, csv string, s Schema) (paths, warnings []string, err error) {
	c, err := OpenCSVAs(csv, s)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	if paths, warnings, err = WriteParts(ctx, path, bytes, c, s); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", called(csv), err)
	}
	return paths, warnings, nil
}

// StoredSchema returns the schema in a file that Write wrote, or in several that go together (see [Files]). It fails for other files, and for
// one of rows that came from a matrix. Of rows that a [Followup] made it is that of its Episodes; see [StoredRecords].
func StoredSchema(path string) (Schema, error) { return storedSchema(path, false) }

// StoredRecords is StoredSchema, but for rows that a [Followup] made: then it is the schema of the records that they were made of.
func StoredRecords(path string) (Schema, error) { return storedSchema(path, true) }

func storedSchema(path string, records bool) (Schema, error) {
	paths, err := Files(path)
	if err != nil {
		return Schema{}, err
	}
	f, err := rowfile.Open(paths...)
	if err != nil {
		return Schema{}, err
	}
	defer f.Close()
	if f.Facts.Schema == nil {
		return Schema{}, fmt.Errorf("%w: %s has no schema: its rows came from a matrix", ErrSchema, path)
	}
	if records && f.Facts.Records != nil {
		return ParseSchema(f.Facts.Records)
	}
	return ParseSchema(f.Facts.Schema)
}
