package curator

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/mechanisms"
)

// File is a file of rows, or several that are read as one, of which it tells public facts only.
type File struct{ *opened }

// opened lies behind a pointer, as held does.
type opened struct{ f *rowfile.File }

// OpenFile opens files, without reading their rows.
func OpenFile(paths ...string) (*File, error) {
	f, err := rowfile.Open(paths...)
	if err != nil {
		return nil, err
	}
	return &File{&opened{f}}, nil
}

// Columns is how many there are.
func (f *File) Columns() int { return f.f.Columns }

// Schema is that of the table that the rows were read from, nil if they were not.
func (f *File) Schema() []byte { return f.f.Schema }

// Close closes the files.
func (f *File) Close() error { return f.f.Close() }

// Format prints the shape, whatever the verb.
func (f *File) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "curator.File of %d columns", f.Columns()) }

// Data checks and bounds the rows, as Open does. It reads all of them once. Persons are ordered
// by the coins, which are secret if nil.
func (f *File) Data(ctx context.Context, enc Encoding, labelCentre, labelBound float64, coins mechanisms.Source) (*Data, error) {
	table, err := rows.NewStored(ctx, f.f, enc)
	if err != nil {
		return nil, err
	}
	owners, offsets, err := rows.ReadBeside(ctx, f.f)
	if err != nil {
		return nil, err
	}
	data := &Data{&held{table: table, labelCentre: labelCentre, labelBound: labelBound, rows: release.NewRows()}}
	if offsets != nil {
		if data, err = data.Shift(offsets, f.f.Offsets[0], f.f.Offsets[1]); err != nil {
			return nil, err
		}
	}
	if owners.Plain() {
		return data, nil
	}
	owners.Coins = coins
	return f.own(data, owners)
}

// own returns the rows that count, with the file, which they are copied from.
func (f *File) own(data *Data, facts Owners) (*Data, error) {
	owned, err := data.Own(facts)
	if err != nil {
		return nil, err
	}
	owned.opened = f.f
	return owned, nil
}

// Engine has questions answered where rows are.
type Engine = questions.Engine

// Remote is Data for rows that an engine's workers read.
func (f *File) Remote(ctx context.Context, enc Encoding, labelCentre, labelBound float64, coins mechanisms.Source, e Engine) (*Data, error) {
	table, err := questions.NewRemote(ctx, f.f, enc, e)
	if err != nil {
		return nil, err
	}
	owners, err := questions.Beside(ctx, table)
	if err != nil {
		return nil, err
	}
	data := &Data{&held{table: table, labelCentre: labelCentre, labelBound: labelBound, rows: release.NewRows()}}
	if slices.Contains(f.f.Beside, rowfile.Offset) {
		data.offsetsRange = f.f.Offsets
	}
	if owners.Plain() {
		return data, nil
	}
	owners.Coins = coins
	return f.own(data, owners)
}

// WriteFile writes rows and labels to a file, for OpenFile, with whose they are, and with
// offsets within a public range.
func WriteFile(ctx context.Context, path string, x mat.Matrix, labels []float64, o Owners, offsets []float64, low, high float64) error {
	return rows.Write(ctx, path, x, labels, o, offsets, rows.Range{low, high})
}

// arranged returns data and an order of its persons that are the given order of d's. Rows in
// a file are copied once, in that order, not once for each part.
func arranged(d *Data, order []int) (*Data, []int) {
	if !d.Stored() {
		return d, order
	}
	persons := make([]int, len(order))
	for k := range persons {
		persons[k] = k
	}
	return pick(d, order, d.rows), persons
}

// Stored reports whether the rows lie in a file.
func (d *Data) Stored() bool { return d.table.Place != nil }

// Close closes the file that the rows lie in, if they do, and the one that they were copied from.
func (d *Data) Close() error {
	if !d.Stored() {
		return nil
	}
	return d.table.Place.Close(d.opened)
}
