package curator

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Data is a table of bounded rows with their labels. It is safe for concurrent
// use.
type Data struct{ *held }

// held lies behind a pointer: where fmt can't call Format, as in a caller's own
// structs, it follows one pointer and prints the next as an address.
type held struct {
	table  *rows.Table
	labels []float64 // nil if they lie in a file, with the rows
	// Real labels less the centre are held to the bound, counts to the bound alone.
	labelCentre, labelBound float64 // 0 where none was given
	rows                    *release.Rows
	ordered                 bool // whether the order of persons isn't secret

	offsets      []float64 // of the rows' scores; nil if all are 0
	offsetsRange rows.Range

	opened *rowfile.File // of which persons' rows are copied; nil where all are read from it, and for parts
}

// Open checks and bounds the rows of x and takes their labels, of a public range
// labelCentre ± labelBound. Its errors are those of intake: they may depend on the
// data, and are for the curator's eyes.
func Open(x mat.Matrix, y []float64, enc Encoding, labelCentre, labelBound float64) (*Data, error) {
	n, _, err := rows.Dims(x)
	if err != nil {
		return nil, err
	}
	if n != len(y) {
		return nil, check.Fail(check.ErrShape, "len(y)", len(y), fmt.Sprintf("must equal the %d rows of x", n))
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, check.Fail(check.ErrValue, fmt.Sprintf("label of row %d (counted from 1)", i+1), nil, "must be finite")
		}
	}
	table, err := rows.NewTable(x, enc)
	if err != nil {
		return nil, err
	}
	return &Data{&held{table: table, labels: append([]float64(nil), y...), labelCentre: labelCentre, labelBound: labelBound, rows: release.NewRows()}}, nil
}

// with returns a table of the given rows of d, in that order, with what belongs to them.
func with(d *Data, table *rows.Table, order []int, token *release.Rows) *Data {
	of := *d.held
	of.table, of.labels, of.offsets, of.rows = table, blocks.Gather(d.labels, order), blocks.Gather(d.offsets, order), token
	of.opened = nil
	return &Data{&of}
}

// Len is the number of persons, which is public: that of rows where each is a person's only
// one, and that of places, taken or not, where how many there are is secret.
func (d *Data) Len() int { return d.table.Len() }

// Rows stands for the rows in allowances.
func (d *Data) Rows() *release.Rows { return d.rows }

// Split cuts the persons, each with all rows, into disjoint parts of the given sizes, in a
// random order that depends on the seed and on their number only.
func (d *Data) Split(seed uint64, sizes ...int) []*Data {
	tokens := d.rows.Split(fmt.Sprintf("permuted by seed %d, sizes %d", seed, sizes), len(sizes))
	return cutInto(d, permutation(d.Len(), seed), sizes, tokens)
}

// Cut cuts the persons, in their order, into disjoint parts whose sizes differ by at
// most one.
func (d *Data) Cut(parts int) []*Data {
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	return cutInto(d, order, evenly(d.Len(), parts), d.rows.Split("in order", parts))
}

// permutation returns a public random order of n persons.
func permutation(n int, seed uint64) []int {
	return rand.New(mechanisms.NewSeededSource(seed)).Perm(n)
}

// evenly returns the sizes of so many parts of n persons.
func evenly(n, parts int) []int {
	sizes := make([]int, parts)
	for k := range sizes {
		sizes[k] = (k+1)*n/parts - k*n/parts
	}
	return sizes
}

func cutInto(d *Data, order, sizes []int, tokens []*release.Rows) []*Data {
	parts := make([]*Data, len(sizes))
	d, order = arranged(d, order)
	for k, size := range sizes {
		parts[k] = pick(d, order[:size], tokens[k])
		order = order[size:]
	}
	return parts
}

func pick(d *Data, persons []int, token *release.Rows) *Data {
	return with(d, d.table.Pick(persons), d.table.Persons.RowsOf(persons), token)
}

// Rebound returns the same rows, scaled down to a smaller bound where they are
// longer, with another constant feature, a power of two, where there is an
// intercept, and their labels clamped to another bound, around the same centre.
func (d *Data) Rebound(bound, constant, labelBound float64) *Data {
	of := *d.held
	of.table, of.labelBound = d.table.Rebound(bound, constant), labelBound
	return &Data{&of}
}

// Check reports whether the labels are in the loss's domain, an error of intake.
func (d *Data) Check(loss losses.Loss) error {
	_, err := d.Under(loss)
	return err
}

// For returns the same rows, with the facts about labels as a loss takes them: a
// range of counts or amounts begins at 0, and its upper end is their bound.
func (d *Data) For(loss losses.Loss) *Data {
	if loss == nil || !loss.Labels().FromZero() {
		return d
	}
	counts := *d.held
	counts.labelCentre, counts.labelBound = 0, d.labelCentre+d.labelBound
	return &Data{&counts}
}

// Project returns the rows' images under a public linear map, scaled down to the
// bound where they are longer, so that the bound holds for any row and map. Each
// image depends on its own row only. The intercept stays.
func (d *Data) Project(ctx context.Context, phi sketch.Map, bound float64) (*Data, error) {
	if _, columns := phi.Dims(); columns != d.table.Enc.Columns {
		return nil, check.Fail(check.ErrShape, "map", columns, "must be for the rows' columns")
	}
	table, err := rows.Project(ctx, d.table, phi, bound)
	if err != nil {
		return nil, err
	}
	of := *d.held
	of.table = table
	return &Data{&of}, nil
}
