package questions

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// Coordinates are the sums Gⱼ = Σᵢ cᵢxᵢⱼ for weights that change one at a time, with cᵢ = φ'
// at row i's score, held to ±clip, times the row's share, and features held to ±entry. They
// are kept in fixed point: each row adds a whole number of steps to each column, so that
// sums are exact in any order, and changing one row's part leaves no trace of what it was.
//
// # Sensitivity
//
// A row's part of Gⱼ is cᵢxᵢⱼ in steps, rounded to the nearest, and a function of that row
// and of the weights, which are public or were released, whatever the order in which they
// changed; so is a row's score, a sum in that order. In exact arithmetic |cᵢxᵢⱼ| is at most
// clip·entry times the row's share, and a person's shares add up to at most 1; each row's two
// products and its rounding add a relative 2u and half a step. So a person adds at most
// ⌈clip·entry·(1 + 8u)⌉ steps and one for each row that a person may have, in magnitude, and a
// replaced one moves each Gⱼ by at most twice that. No other row's part changes.
type Coordinates struct {
	s           *Sums
	clip, entry float64
	step        float64 // of a Gⱼ: clip·entry is 2^30 steps or more, and less than 2^31
	Unit        float64 // of Σ cᵢ, likewise
	intercept   float64 // public part of all scores
	z, c        []float64
	g           []int64
	total       int64 // Σ cᵢ in units

	index   *columnIndex // of sparse rows whose absent entries count nothing; else nil
	touched []bool       // columns of a move
}

// NewCoordinates returns the sums at weights of 0, beside an intercept, in one pass.
func NewCoordinates(ctx context.Context, s *Sums, clip, entry, intercept float64) (*Coordinates, error) {
	v := &Coordinates{s: s, clip: clip, entry: entry, step: fixedStep(clip * entry), Unit: fixedStep(clip), intercept: intercept}
	n := len(s.t.Length)
	v.z, v.c, v.g = make([]float64, n), make([]float64, n), make([]int64, s.t.Enc.Columns)
	if rows, ok := s.t.Src.(rows.SparseSource); ok && !s.t.Enc.Shifted() {
		v.index = newColumnIndex(rows)
		v.touched = make([]bool, s.t.Enc.Columns)
	}
	return v, v.renew(ctx, 0, 0)
}

// fixedStep is the power of two of which so much is at least 2^30, and less than 2^31.
func fixedStep(most float64) float64 {
	_, exp := math.Frexp(most)
	return math.Ldexp(1, exp-31)
}

// Sensitivity bounds how far each Gⱼ moves when a row, or a person, is replaced, in steps.
func (v *Coordinates) Sensitivity() uint64 {
	part := math.Ceil(float64(v.clip*v.entry) / v.step * (1 + 8*encoding.Unit))
	o := v.s.t.Persons
	return uint64(o.Vectors()) * (uint64(part) + uint64(o.MostRows()))
}

// Sums are the Gⱼ in steps.
func (v *Coordinates) Sums() []int64 { return v.g }

// Total is Σ cᵢ, and a bound on how far it moves when a row is replaced: as Sensitivity's,
// and the rounding of a whole number to float64, twice.
func (v *Coordinates) Total() (sum, sensitivity float64) {
	o := v.s.t.Persons
	rows := float64(o.MostRows())
	part := float64(v.clip*(1+8*encoding.Unit)) + float64(rows*v.Unit)
	return float64(v.total) * v.Unit, float64(o.Vectors()*part) + float64(4*encoding.Unit*float64(v.s.Len())*part)
}

// hold is x, or the end of [−most, most] that is next to it; −most for NaN.
func hold(x, most float64) float64 {
	switch {
	case x > most:
		return most
	case x >= -most:
		return x
	}
	return -most
}

// fixed is x in steps.
func fixed(x, step float64) int64 { return int64(math.RoundToEven(x / step)) }

// part is what a coefficient and a feature add to a column, in steps.
func (v *Coordinates) part(c, x float64) int64 { return fixed(c*x, v.step) }

// Shift changes the intercept, in a pass over all rows.
func (v *Coordinates) Shift(ctx context.Context, intercept float64) error {
	v.intercept = intercept
	return v.renew(ctx, 0, 0)
}

// Move adds delta to the weight of column j and calls changed with each column whose sum has
// changed. For sparse rows it reads those with an entry in column j only.
func (v *Coordinates) Move(ctx context.Context, j int, delta float64, changed func(j int)) error {
	if v.index != nil {
		v.moveSparse(j, delta, changed)
		return nil
	}
	err := v.renew(ctx, j, delta)
	for k := range v.g {
		changed(k)
	}
	return err
}

// slopes sets c to the coefficients of the given scores, less the intercept and offsets.
func (v *Coordinates) slopes(c, z, labels []float64, offset, share func(k int) float64) {
	for k, score := range z {
		c[k] = (score + v.intercept) + offset(k)
	}
	derivs(v.s.loss, c, labels)
	for k := range c {
		c[k] = float64(hold(c[k], v.clip) * share(k))
	}
}

// fixedSum is what a goroutine adds up.
type fixedSum struct {
	g     []int64
	total int64
	*rows.Workspace
	encoded []float64 // rows of a tile, one after the other
}

// renew adds delta to the weight of column j and forms all sums anew.
func (v *Coordinates) renew(ctx context.Context, j int, delta float64) error {
	t := v.s.t
	clear(v.g)
	v.total = 0
	return blocks.InOrder(ctx, t.Layout.Blocks, 1,
		func() *fixedSum { return &fixedSum{g: make([]int64, len(v.g)), Workspace: t.Acquire()} },
		func(a *fixedSum) { t.Release(a.Workspace) },
		func(b int, a *fixedSum) {
			clear(a.g)
			a.total = 0
			t.Layout.EachTile(b, func(lo, hi int) { v.renewTile(a, t.Src.Tile(lo, hi, a.Buf), lo, j, delta) })
		},
		func(_ int, a *fixedSum) {
			v.total += a.total
			for k, part := range a.g {
				v.g[k] += part
			}
		})
}

// encodedNumbers is how many numbers of encoded rows are held at once, unless a row has more.
const encodedNumbers = 1 << 16

func (v *Coordinates) renewTile(a *fixedSum, tile rows.Tile, lo, j int, delta float64) {
	some := tile.Rows
	if v.index == nil {
		some = max(1, encodedNumbers/len(v.g))
	}
	for first := 0; first < tile.Rows; first += some {
		v.renewRows(a, tile, lo, first, min(first+some, tile.Rows), j, delta)
	}
}

// renewRows does so for the rows [first, last) of a tile.
func (v *Coordinates) renewRows(a *fixedSum, tile rows.Tile, lo, first, last, j int, delta float64) {
	d := len(v.g)
	if v.index == nil {
		a.encoded = rows.Room(a.encoded, (last-first)*d+1) // an intercept's place
		for k := range last - first {
			v.s.t.Encode(a.encoded[k*d:k*d+v.s.Dim()], tile, lo, first+k)
			v.z[lo+first+k] += float64(delta * hold(a.encoded[k*d+j], v.entry))
		}
	}
	lo, hi := lo+first, lo+last
	v.slopes(v.c[lo:hi], v.z[lo:hi], v.s.labels[lo:hi],
		func(k int) float64 { return v.s.offsets.at(lo + k) }, func(k int) float64 { return v.s.t.Persons.Share(lo + k) })
	for k, c := range v.c[lo:hi] {
		a.total += fixed(c, v.Unit)
		if v.index != nil {
			v.eachEntry(lo+k, func(j int, x float64) { a.g[j] += v.part(c, x) })
			continue
		}
		for j, x := range a.encoded[k*d : k*d+d] {
			a.g[j] += v.part(c, hold(x, v.entry))
		}
	}
}
