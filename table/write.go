package table

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Write reads all records of a source once, for training, and writes their rows to a file,
// of which dpglm.OpenRows makes a data set that lies in the file: for tables that don't fit in
// memory. What a person's id is takes memory for each person; else Write holds some
// hundred rows.
//
// The file has the rows that [Read] would keep, and the schema. It holds private data, and is
// for its owner's eyes only. It appears under its name when it is complete, and there must be
// none of that name before; if ctx is cancelled there is none. The warnings are those of
// [Table.Warnings]. It fails as [Read] does, and where the file can't be written: then there is
// none.
func Write(ctx context.Context, path string, src Source, s Schema) (warnings []string, err error) {
	if err := check.Given("context", ctx); err != nil {
		return nil, err
	}
	src = WithContext(ctx, src)
	e, err := NewEncoder(s)
	if err != nil {
		return nil, err
	}
	r, err := newReader(e, src, true)
	if err != nil {
		return nil, err
	}
	var beside []string
	if r.person >= 0 {
		beside = append(beside, rowfile.Person)
	}
	if r.exposure >= 0 {
		beside = append(beside, rowfile.Offset)
	}
	if r.out, err = rowfile.Create(path, rowfile.Facts{Columns: len(e.features), Sparse: r.store.sparse, Beside: beside}); err != nil {
		return nil, err
	}
	if err := r.drain(src); err != nil {
		r.out.Discard()
		return nil, err
	}
	return r.warnings(), r.complete(ctx)
}

// WriteCSVFile is Write for the rows of a CSV file, which is gzipped if its name ends in .gz,
// until ctx is cancelled.
func WriteCSVFile(ctx context.Context, path, csv string, s Schema) (warnings []string, err error) {
	c, err := OpenCSV(csv, 0)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if warnings, err = Write(ctx, path, c, s); err != nil {
		return nil, fmt.Errorf("%s: %w", csv, err)
	}
	return warnings, nil
}

// StoredSchema returns the schema in a file that Write wrote. It fails for other files, and for
// one of rows that came from a matrix.
func StoredSchema(path string) (Schema, error) {
	f, err := rowfile.Open(path)
	if err != nil {
		return Schema{}, err
	}
	defer f.Close()
	if f.Facts.Schema == nil {
		return Schema{}, fmt.Errorf("%w: %s has no schema: its rows came from a matrix", ErrSchema, path)
	}
	return ParseSchema(f.Facts.Schema)
}

// write writes the record that was read.
func (r *reader) write() {
	var beside []float64
	if r.person >= 0 {
		beside = append(beside, float64(r.persons[0]))
	}
	if r.exposure >= 0 {
		beside = append(beside, math.Log(r.exposures[0]))
	}
	label := r.labels[len(r.labels)-1]
	enough := max(2, len(r.encoder.Label().Levels)) // warnings are about labels that never occur
	if kept := r.labels[:len(r.labels)-1]; len(kept) >= enough || slices.Contains(kept, label) {
		r.labels = kept
	}
	r.persons, r.exposures = r.persons[:0], r.exposures[:0]
	r.store.rows++
	if r.binding.indices == nil {
		r.binding.indices = []int{} // no entries
	}
	_ = r.out.Append(r.binding.indices, r.binding.values, label, beside...) // see encode
}

// complete ends the file.
func (r *reader) complete(ctx context.Context) error {
	if r.store.rows == 0 {
		r.out.Discard()
		return fileError(0, "there is no row after the header")
	}
	e := r.encoder
	var d rowfile.Details
	var err error
	if d.Schema, err = json.Marshal(e.Schema()); err != nil {
		r.out.Discard()
		return err
	}
	if r.person >= 0 {
		d.Persons, d.MaxRows = e.Schema().Persons, e.Schema().MaxRows
	}
	if r.exposure >= 0 {
		low, high := e.Exposure()
		d.Offsets = [2]float64{math.Log(low), math.Log(high)}
	}
	return r.out.Close(d)
}
