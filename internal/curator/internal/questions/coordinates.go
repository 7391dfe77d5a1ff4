package questions

import (
	"context"
	"encoding/gob"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
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
// changed; so is a row's score, a sum over columns in their order. In exact arithmetic |cᵢxᵢⱼ| is at most
// clip·entry times the row's share, and a person's shares add up to at most 1; each row's two
// products and its rounding add a relative 2u and half a step. So a person adds at most
// ⌈clip·entry·(1 + 8u)⌉ steps and one for each row that a person may have, in magnitude, and a
// replaced one moves each Gⱼ by at most twice that. No other row's part changes.
type Coordinates struct {
	s     *Sums
	at    coordinateSums
	sums  []int64      // the Gⱼ, and Σ cᵢ in units
	index *columnIndex // of sparse rows in memory whose absent entries count nothing; else nil

	touched []bool // columns of a move
}

// MostCoordinateRows is of how many rows, or persons, there are sums. Each adds 2^31 steps at most, and one for each of a person's rows: all
// come to less than 2^61, so that no whole number is too large.
const MostCoordinateRows = 1 << 29

// NewCoordinates returns the sums at weights of 0, beside an intercept, in one pass. It fails where there are more rows, or persons, than MostCoordinateRows.
func NewCoordinates(ctx context.Context, s *Sums, clip, entry, intercept float64) (*Coordinates, error) {
	if n := s.t.Layout.N; n > MostCoordinateRows {
		return nil, check.Fail(check.ErrShape, "rows or persons", n, fmt.Sprintf("must be at most %d", MostCoordinateRows))
	}
	d := s.t.Enc.Columns
	v := &Coordinates{s: s, at: coordinateSums{Clip: clip, Entry: entry, Intercept: intercept, Weights: make([]float64, d)}, sums: make([]int64, d+1)}
	if of, ok := s.t.Src.(rows.SparseSource); ok && !s.t.Enc.Shifted() {
		v.index = newColumnIndex(of)
		v.touched, v.at.kept = make([]bool, d), make([]float64, len(s.t.Length))
	}
	return v, v.renew(ctx)
}

// fixedStep is the power of two of which so much is at least 2^30, and less than 2^31.
func fixedStep(most float64) float64 {
	_, exp := math.Frexp(most)
	return math.Ldexp(1, exp-31)
}

// Sensitivity bounds how far each Gⱼ moves when a row, or a person, is replaced, in steps.
func (v *Coordinates) Sensitivity() uint64 {
	part := math.Ceil(float64(v.at.Clip*v.at.Entry) / v.at.step() * (1 + 8*encoding.Unit))
	o := v.s.t.Persons
	return uint64(o.Vectors()) * (uint64(part) + uint64(o.MostRows()))
}

// Sums are the Gⱼ in steps.
func (v *Coordinates) Sums() []int64 { return v.sums[:len(v.at.Weights)] }

// Total is Σ cᵢ, and a bound on how far it moves when a row is replaced: as Sensitivity's,
// and the rounding of a whole number to float64, twice.
func (v *Coordinates) Total() (sum, sensitivity float64) {
	o, unit := v.s.t.Persons, v.at.unit()
	rows := float64(o.MostRows())
	part := float64(v.at.Clip*(1+8*encoding.Unit)) + float64(rows*unit)
	return float64(v.sums[len(v.at.Weights)]) * unit, float64(o.Vectors()*part) + float64(4*encoding.Unit*float64(v.s.Len())*part)
}

// Shift changes the intercept, in a pass over all rows.
func (v *Coordinates) Shift(ctx context.Context, intercept float64) error {
	v.at.Intercept = intercept
	return v.renew(ctx)
}

// Move adds delta to the weight of column j and calls changed with each column whose sum has
// changed. With an index it reads the rows with an entry in column j only, else it is a pass.
func (v *Coordinates) Move(ctx context.Context, j int, delta float64, changed func(j int)) error {
	v.at.Weights[j] += delta
	if v.index != nil {
		v.moveSparse(j, changed)
		return nil
	}
	err := v.renew(ctx)
	for k := range v.at.Weights {
		changed(k)
	}
	return err
}

// renew forms all sums anew.
func (v *Coordinates) renew(ctx context.Context) error {
	return rows.SumWhole(ctx, v.s.t, v.sums, askingOf(v.s, &v.at, 0))
}

// coordinateSums asks for the sums of Coordinates: the Gⱼ in steps, and Σ cᵢ in units.
type coordinateSums struct {
	Clip, Entry float64
	Intercept   float64 // public part of all scores
	Weights     []float64

	kept []float64 // takes the coefficients of rows that have an index; nil elsewhere
}

// blockPersons is how many persons a block may have, and somewhat more. Each adds less than 2^32 steps, so that their sum is exact.
const blockPersons = 1 << 20

func (q *coordinateSums) cut(t *rows.Table) rows.Cut {
	c := t.InTiles(t.Enc.Columns + 1)
	if c.BlockPersons > blockPersons {
		c.Layout = c.Layout.Cut((c.N + blockPersons - 1) / blockPersons)
	}
	return c
}

// step is that of a Gⱼ: clip·entry is 2^30 steps or more, and less than 2^31.
func (q *coordinateSums) step() float64 { return fixedStep(q.Clip * q.Entry) }

// unit is that of Σ cᵢ, likewise.
func (q *coordinateSums) unit() float64 { return fixedStep(q.Clip) }

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

// fixed is x in steps, a whole number, where so many, a power of two, are 1.
func fixed(x, steps float64) float64 { return math.RoundToEven(x * steps) }

// slopes turns scores, without intercept and offsets, into coefficients.
func (q *coordinateSums) slopes(s *Sums, z, labels []float64, row func(k int) int) {
	for k, score := range z {
		z[k] = (score + q.Intercept) + s.offsets.at(row(k))
	}
	derivs(s.loss, z, labels)
	for k, slope := range z {
		z[k] = float64(hold(slope, q.Clip) * s.t.Persons.Share(row(k)))
	}
}

// encodedNumbers is how many numbers of encoded rows are held at once, unless a row has more.
const encodedNumbers = 1 << 16

func (q *coordinateSums) adder(s *Sums) rows.Adder {
	d, shifted := len(q.Weights), s.t.Enc.Shifted()
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		if tile.Sparse && !shifted {
			q.addEntries(s, a, tile, lo)
			return
		}
		some := max(1, encodedNumbers/d)
		for first := 0; first < tile.Rows; first += some {
			q.addEncoded(s, a, tile, lo, first, min(first+some, tile.Rows))
		}
	}
}

// addEntries adds the rows of a sparse tile that starts at row lo.
func (q *coordinateSums) addEntries(s *Sums, a *rows.Workspace, tile rows.Tile, lo int) {
	c, steps := a.Z[:tile.Rows], 1/q.step()
	for k := range c {
		c[k] = q.score(s.t, tile, lo, k)
	}
	q.finish(s, a, c, lo)
	for k, c := range c {
		q.eachEntry(s.t, tile, lo, k, func(j int, x float64) { a.Sum[j] += fixed(c*x, steps) })
	}
}

// addEncoded adds the rows from first up to last of a tile that starts at row lo.
func (q *coordinateSums) addEncoded(s *Sums, a *rows.Workspace, tile rows.Tile, lo, first, last int) {
	d, c, steps := len(q.Weights), a.Z[:last-first], 1/q.step()
	a.Row = rows.Room(a.Row, len(c)*d+1) // an intercept's place
	for k := range c {
		row, z := a.Row[k*d:k*d+s.Dim()], 0.0
		s.t.Encode(row, tile, lo, first+k)
		for j, x := range row[:d] {
			x = hold(x, q.Entry)
			row[j] = x
			if w := q.Weights[j]; w != 0 {
				z += float64(w * x)
			}
		}
		c[k] = z
	}
	q.finish(s, a, c, lo+first)
	sum := a.Sum[:d]
	for k, c := range c {
		for j, x := range a.Row[k*d:][:len(sum)] {
			sum[j] += fixed(c*x, steps)
		}
	}
}

// finish turns scores of the rows from lo on into coefficients, and adds these.
func (q *coordinateSums) finish(s *Sums, a *rows.Workspace, z []float64, lo int) {
	q.slopes(s, z, s.labels[lo:lo+len(z)], func(k int) int { return lo + k })
	if q.kept != nil {
		copy(q.kept[lo:], z)
	}
	d, units := len(q.Weights), 1/q.unit()
	for _, c := range z {
		a.Sum[d] += fixed(c, units)
	}
}

// eachEntry calls f with each entry of row k of a sparse tile that starts at row lo: its feature, held.
func (q *coordinateSums) eachEntry(t *rows.Table, tile rows.Tile, lo, k int, f func(j int, x float64)) {
	factor, first, last := rows.Factor(t.Shrink, lo+k), tile.Start[k], tile.End[k]
	values := tile.Data[first:last]
	for e, j := range tile.Indices[first:last] {
		f(j, hold(factor*t.Enc.Feature(j, values[e]), q.Entry))
	}
}

// score is that of the row, without intercept and offset.
func (q *coordinateSums) score(t *rows.Table, tile rows.Tile, lo, k int) (z float64) {
	factor, first, last := rows.Factor(t.Shrink, lo+k), tile.Start[k], tile.End[k]
	values := tile.Data[first:last]
	for e, j := range tile.Indices[first:last] {
		if w := q.Weights[j]; w != 0 {
			z += float64(w * hold(factor*t.Enc.Feature(j, values[e]), q.Entry))
		}
	}
	return z
}

func init() { gob.Register(&coordinateSums{}) }
