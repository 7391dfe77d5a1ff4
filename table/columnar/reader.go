// Package columnar reads Parquet files, Arrow files and streams, and Arrow record batches for
// package table, with its schemas:
//
//	schema, err := table.ReadSchemaFile("people.schema.json")
//	people, err := columnar.ReadParquetFile("people.parquet", schema)
//	data, err := dpglm.NewTableDataset(people)
//
// Several files are one table: "people/*.parquet". Of their columns those are read that the schema needs, and of their
// rows those stay that fulfil its conditions ("where").
//
// It is a module of its own, so that only who needs it gets Arrow.
//
// # Values
//
// Values become the texts that a CSV would have: a null an empty field, which is a missing
// value; booleans "true" and "false"; dates 2006-01-02, timestamps too, or RFC 3339 with the
// time of day if there is one, in their zone or in UTC; numbers, decimals and strings what
// they are, and dictionaries their values. So a schema for a CSV file is good for the same
// table in a Parquet file, but for answers: a column of booleans has "positive": ["true"] and
// "negative": ["false"]. Lists, structs, maps, durations and times without a day have no such
// text: a column of them may be in a file, and is an error if the schema needs it.
//
// # Memory
//
// Rows are read a batch at a time, of 8,192 rows from a Parquet file, and of those that were
// written together from an Arrow file or stream; and only columns that the schema needs. What
// stays are the encoded rows.
//
// # Errors
//
// They name the column, its type and the row, counted from 1, as those of package table do.
// They may quote values, and are for the curator only. Damaged files are errors, too, also
// where Arrow's decoder panics. It believes the sizes that a file gives: so lists in metadata,
// messages and pages are held against the file before it sees them, and its buffers of a file may
// hold 64 MiB, 8 MiB for each column that is in the file, and 64 bytes for each of the file's, at a
// time. Pages of Parquet that have a checksum are held against it; other values have none, so
// that a damaged one may be taken for another. An Arrow stream
// need not say where it ends: that one was cut short between two batches can't be seen.
package columnar

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/dpglm/dpglm/table"
)

// Reader reads the rows of record batches, as a table.Source.
type Reader struct {
	batches array.RecordReader
	header  []string
	columns []column
	row     int // of all, from 1

	batch arrow.RecordBatch // nil before the first
	at    int               // the next row of the batch
	text  []byte            // of a row's fields, one after another
	ends  []int             // of each field in text
	out   []string
}

var _ table.Source = (*Reader)(nil)

// column is one that is read.
type column struct {
	field int // in the header
	index int // in the batches
	write writer
}

// NewReader reads the rows of record batches: of any program, or database, that gives these.
// If columns are named it reads these alone, and leaves the others' fields empty. The caller
// keeps, and releases, the batches' reader. It fails where a column that it reads has a type
// without a text (table.ErrColumn).
func NewReader(batches array.RecordReader, columns ...string) (*Reader, error) {
	if batches == nil {
		return nil, fault{table.ErrFile, "there are no record batches: the reader is nil"}
	}
	var header []string
	for _, f := range batches.Schema().Fields() {
		header = append(header, f.Name)
	}
	return newReader(batches, header, columns)
}

// newReader reads batches that have all columns of a header, or some of them.
func newReader(batches array.RecordReader, header, columns []string) (*Reader, error) {
	r := &Reader{batches: batches, header: header, out: make([]string, len(header))}
	for index, f := range batches.Schema().Fields() {
		if len(columns) > 0 && !slices.Contains(columns, f.Name) {
			continue
		}
		if !readable(f.Type) {
			return nil, unreadable(f.Name, f.Type.String())
		}
		r.columns = append(r.columns, column{field: slices.Index(header, f.Name), index: index})
	}
	return r, nil
}

// unreadable is the error of a column whose type has no text.
func unreadable(name, kind string) error {
	return fault{table.ErrColumn, fmt.Sprintf("column %q: its type %s has no text that a schema could describe; write it as numbers, strings, booleans or dates, or leave it out of the schema", name, kind)}
}

// Header returns the columns' names.
func (r *Reader) Header() []string { return slices.Clone(r.header) }

// Place is the row, from 1.
func (r *Reader) Place() (unit string, number int) { return "row", r.row }

// Next returns the next record, and io.EOF after the last. The slice is valid until the next
// call. Other errors are those of damaged batches, and of values that have no text.
func (r *Reader) Next() (record []string, err error) {
	where := "the rows after row %d"
	defer func() {
		if failed := recover(); failed != nil {
			record, err = nil, fault{table.ErrFile, fmt.Sprintf(where+" can't be decoded, as the file or stream is damaged or of a version that the decoder doesn't know; write it again: %v", r.row, failed)}
		}
	}()
	for r.batch == nil || r.at >= int(r.batch.NumRows()) {
		if !r.batches.Next() {
			if err := r.batches.Err(); err != nil && !errors.Is(err, io.EOF) {
				return nil, fault{table.ErrFile, fmt.Sprintf(where+" can't be read; write the file or stream again: %v", r.row, err)}
			}
			return nil, io.EOF
		}
		if err := r.begin(r.batches.RecordBatch()); err != nil {
			return nil, err
		}
	}
	where = "row %d"
	r.row++
	r.text, r.ends = r.text[:0], r.ends[:0]
	for _, c := range r.columns {
		if r.text, err = c.write(r.text, r.at); err != nil {
			return nil, fault{table.ErrValue, fmt.Sprintf("row %d, column %q: %v", r.row, r.header[c.field], err)}
		}
		r.ends = append(r.ends, len(r.text))
	}
	r.at++
	text, from := string(r.text), 0
	for k, c := range r.columns {
		r.out[c.field] = text[from:r.ends[k]]
		from = r.ends[k]
	}
	return r.out, nil
}

// begin takes a batch.
func (r *Reader) begin(batch arrow.RecordBatch) error {
	r.batch, r.at = batch, 0
	for k := range r.columns {
		c := &r.columns[k]
		values := batch.Column(c.index)
		if values.Len() != int(batch.NumRows()) {
			return fault{table.ErrFile, fmt.Sprintf("column %q has %d values in a batch of %d rows after row %d; write the file or stream again", r.header[c.field], values.Len(), batch.NumRows(), r.row)}
		}
		var err error
		if c.write, err = writerOf(values); err != nil {
			return fault{table.ErrColumn, fmt.Sprintf("column %q: %v", r.header[c.field], err)}
		}
	}
	return nil
}

// fault is an error with the kind that package table gives it.
type fault struct {
	kind    error
	message string
}

func (f fault) Error() string { return f.message }

func (f fault) Unwrap() error { return f.kind }
