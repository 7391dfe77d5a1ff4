package columnar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/dpglm/dpglm/table"
)

// batchRows is how many rows of a Parquet file are decoded at a time.
const batchRows = 8192

// File reads the rows of an open file, or of several one after the other, as a table.Source. Its errors name the file.
type File struct {
	path    string
	rows    *Reader
	close   []func() error
	several bool
	more    []string // files that follow
	columns []string
	begin   func(*File, source, []string) error
	failed  error // where the next file can't be read
}

var _ table.Source = (*File)(nil)

// Header returns the columns' names.
func (f *File) Header() []string { return f.rows.Header() }

// Place is the row of its file, from 1, with the file's name where there are several.
func (f *File) Place() (unit string, number int) {
	unit, number = f.rows.Place()
	if f.several {
		unit = filepath.Base(f.path) + ", " + unit
	}
	return unit, number
}

// Next is [Reader.Next]. It fails as [OpenParquet] does where the next file can't be opened, or has other columns.
func (f *File) Next() ([]string, error) {
	for f.failed == nil {
		record, err := f.rows.Next()
		switch {
		case err == nil:
			return record, nil
		case !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s: %w", f.path, err)
		case len(f.more) == 0:
			return nil, io.EOF
		}
		f.failed = f.follow()
	}
	return nil, f.failed
}

// Close closes the file.
func (f *File) Close() error {
	var all []error
	for _, c := range slices.Backward(f.close) {
		all = append(all, c())
	}
	f.close = nil
	return errors.Join(all...)
}

// ReadParquetFile reads the rows of a Parquet file for training, or of several, of the columns that the
// schema needs: those that fulfil its conditions. It fails as [OpenParquet] and table.Read do.
func ReadParquetFile(path string, s table.Schema) (*table.Table, error) {
	return read(path, s, OpenParquet)
}

// ReadArrowFile reads the rows of an Arrow file, which are also called IPC or Feather files, or
// of an Arrow stream that was written to a file, of the columns that the schema needs. It fails as
// [OpenArrow] and table.Read do.
func ReadArrowFile(path string, s table.Schema) (*table.Table, error) {
	return read(path, s, OpenArrow)
}

func read(path string, s table.Schema, open func(path string, columns ...string) (*File, error)) (*table.Table, error) {
	columns, err := Needed(s)
	if err != nil {
		return nil, err
	}
	f, err := open(path, columns...)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows table.Source = f.rows // whose errors don't name the file
	if f.several {
		rows = f
	}
	t, err := table.Read(rows, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Needed are the columns of a file that a schema reads for training. It fails as the schema's
// Validate does.
func Needed(s table.Schema) ([]string, error) {
	e, err := table.NewEncoder(s)
	if err != nil {
		return nil, err
	}
	columns := e.Inputs()
	if f := s.Followup; f != nil { // what is made of it isn't in the file
		columns = slices.DeleteFunc(columns, func(name string) bool { return name == table.PeriodColumn })
		columns = append(columns, f.End)
		if f.Start != "" {
			columns = append(columns, f.Start)
		}
	}
	for _, name := range []string{s.Label, s.Person, s.AtRisk(), s.Weight} {
		if name != "" {
			columns = append(columns, name)
		}
	}
	for _, c := range s.Where {
		if !slices.Contains(columns, c.Column) {
			columns = append(columns, c.Column)
		}
	}
	return columns, nil
}

// OpenParquet opens a Parquet file, of whose columns it reads those that are named, or all. The path may be that of
// several files, as table.Files has it: "stays/*.parquet", or with commas between them. They are read one after the
// other, each once those before it have ended, and have the same columns in the same order. Columns that stand in
// names of directories ("year=2024/") aren't read. It
// fails where there is no such file, it is damaged or of another format (table.ErrFile), and as
// [NewReader] does. The caller closes it.
func OpenParquet(path string, columns ...string) (*File, error) {
	return open(path, columns, inParquet)
}

// OpenArrow opens an Arrow file, or a file with an Arrow stream, of whose columns it reads
// those that are named, or all; or several of these. It takes paths, and fails, as [OpenParquet] does.
func OpenArrow(path string, columns ...string) (*File, error) { return open(path, columns, inArrow) }

// source is what a file is read from.
type source interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

func open(path string, columns []string, begin func(*File, source, []string) error) (*File, error) {
	paths, err := table.Files(path)
	if err != nil {
		return nil, err
	}
	for _, p := range paths[1:] {
		if _, err := os.Stat(p); err != nil {
			return nil, err
		}
	}
	f := &File{several: len(paths) > 1, more: paths, columns: columns, begin: begin}
	if err := f.follow(); err != nil {
		return nil, err
	}
	return f, nil
}

// follow goes on with the next file, and has none open where that fails, but stays at the place where the last one ended.
func (f *File) follow() error {
	before, path := f.rows, f.more[0]
	if err := f.Close(); err != nil {
		return err
	}
	f.more = f.more[1:]
	disk, err := os.Open(path)
	if err != nil {
		return err
	}
	f.close = []func() error{disk.Close}
	err = guarded(func() error { return f.begin(f, struct{ source }{disk}, f.columns) }) // which decoders can't close
	if err == nil && before != nil && !slices.Equal(f.rows.header, before.header) {
		err = fault{table.ErrColumn, fmt.Sprintf("its columns are %q, and those of the files before it %q; files that are read together have the same columns in the same order", f.rows.header, before.header)}
	}
	if err != nil {
		f.rows = before
		f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	f.path = path
	return nil
}

// guarded turns the panics of decoders into errors.
func guarded(do func() error) (err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = damaged(fmt.Errorf("%v", failed))
		}
	}()
	return do()
}

// damaged is the error of a file that can't be opened.
func damaged(err error) error {
	return fault{table.ErrFile, fmt.Sprintf("it can't be decoded, as it is damaged, cut short or no such file; copy or write it again: %v", err)}
}

// inParquet begins to read a Parquet file.
func inParquet(f *File, disk source, columns []string) error {
	if err := begins(disk, "PAR1", "a Parquet file"); err != nil {
		return err
	}
	size, err := disk.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	limit := limitedTo(size)
	properties := parquet.NewReaderProperties(limit)
	properties.BufferedStreamEnabled = true // not whole row groups at once
	p, err := file.NewParquetReader(disk, file.WithReadProps(properties))
	if err != nil {
		return damaged(err)
	}
	f.close = append(f.close, func() error { return guarded(p.Close) })
	if schema := p.MetaData().KeyValueMetadata().FindValue("ARROW:schema"); schema != nil {
		if err := arrowSchema(*schema); err != nil {
			return damaged(err)
		}
	}
	limit.columns(p.MetaData().Schema.NumColumns())
	r, err := pqarrow.NewFileReader(p, pqarrow.ArrowReadProperties{BatchSize: batchRows}, limit)
	if err != nil {
		return damaged(err)
	}
	var header []string
	var leaves []int
	for i := range r.Manifest.Fields {
		field := &r.Manifest.Fields[i]
		name := field.Field.Name
		header = append(header, name)
		if len(columns) > 0 && !slices.Contains(columns, name) {
			continue
		}
		if !field.IsLeaf() || !readable(field.Field.Type) {
			return unreadable(name, field.Field.Type.String())
		}
		leaves = append(leaves, field.ColIndex)
	}
	if len(leaves) == 0 {
		return fault{table.ErrColumn, fmt.Sprintf("none of the columns %q is in the file, which has %q", columns, header)}
	}
	if err := pages(disk, size, p.MetaData(), leaves); err != nil {
		return damaged(err)
	}
	batches, err := r.GetRecordReader(context.Background(), leaves, nil)
	if err != nil {
		return damaged(err)
	}
	f.close = append(f.close, released(batches))
	f.rows, err = newReader(batches, header, columns)
	return err
}

// begins asks for the first bytes of a file.
func begins(disk source, magic, what string) error {
	first := make([]byte, len(magic))
	if n, err := disk.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else if string(first[:n]) != magic {
		return fault{table.ErrFile, fmt.Sprintf("it is not %s, which begins with %q", what, magic)}
	}
	return nil
}

// released is what closes a reader of batches.
func released(batches array.RecordReader) func() error {
	return func() error {
		return guarded(func() error {
			batches.Release()
			return nil
		})
	}
}

// inArrow begins to read an Arrow file or stream.
func inArrow(f *File, disk source, columns []string) error {
	magic := []byte("ARROW1")
	first := make([]byte, len(magic))
	if _, err := disk.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	size, err := disk.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := disk.Seek(0, io.SeekStart); err != nil {
		return err
	}
	limit := limitedTo(size)
	options := []ipc.Option{ipc.WithAllocator(limit), ipc.WithMetadataSizeLimit(size), ipc.WithBodySizeLimit(size)}
	if !bytes.Equal(first, magic) {
		if err := stream(disk, size); err != nil {
			return damaged(err)
		}
		r, err := ipc.NewReader(disk, options...)
		if err != nil {
			return damaged(err)
		}
		limit.columns(r.Schema().NumFields())
		f.close = append(f.close, released(r))
		f.rows, err = NewReader(r, columns...)
		return err
	}
	if err := arrowFile(disk, size); err != nil {
		return damaged(err)
	}
	r, err := ipc.NewFileReader(disk, options...)
	if err != nil {
		return damaged(err)
	}
	limit.columns(r.Schema().NumFields())
	f.close = append(f.close, func() error { return guarded(r.Close) })
	batches := array.ReaderFromIter(r.Schema(), func(yield func(arrow.RecordBatch, error) bool) {
		for k := range r.NumRecords() {
			if batch, err := r.RecordBatchAt(k); !yield(batch, err) || err != nil {
				return
			}
		}
	})
	f.close = append(f.close, released(batches))
	f.rows, err = NewReader(batches, columns...)
	return err
}
