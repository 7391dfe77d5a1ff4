// Package rows is the door in, and the sums behind it. A Table takes rows in and
// bounds them; Sums answers package curator's questions, all of them sums over bounded
// rows, and knows how far each answer moves when one row is replaced.
package rows

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Encoding maps a raw row x to its features
//
//	u_j = Scale_j·clamp(x_j, Min_j, Max_j) + Shift_j,
//
// scales u to norm at most Bound and appends Constant, 1 in a new encoding, if
// Intercept is set. All of it is public. Scale, Shift, Min and Max are nil together, for the
// identity.
type Encoding struct {
	Columns   int
	Bound     float64
	Intercept bool
	Constant  float64 // 0 without intercept; a power of two
	Scale     []float64
	Shift     []float64
	Min, Max  []float64
	groups    []group  // of one-hot columns
	names     []string // of the columns, where there are any
	ranged    []int    // the other columns, where there are ranges
	from      int      // how many rows come before the first, for messages
	magnitude float64  // ‖(|Scale_j|·max(|Min_j|, |Max_j|))‖₂ + ‖Shift‖₂ + the constant
}

// NewIdentity returns the encoding that only scales rows to the given bound.
func NewIdentity(columns int, bound float64, intercept bool) Encoding {
	e := Encoding{Columns: columns, Bound: bound, Intercept: intercept}
	if intercept {
		e.Constant = 1
	}
	e.magnitude = bound + e.Constant
	return e
}

// NewAffine returns the encoding with the given affine maps and ranges.
func NewAffine(bound float64, intercept bool, scale, shift, lo, hi []float64) Encoding {
	e := NewIdentity(len(scale), bound, intercept)
	e.Scale, e.Shift, e.Min, e.Max = scale, shift, lo, hi
	var raw, off float64
	for j := range scale {
		raw = math.Hypot(raw, scale[j]*math.Max(math.Abs(lo[j]), math.Abs(hi[j])))
		off = math.Hypot(off, shift[j])
		e.ranged = append(e.ranged, j)
	}
	e.magnitude = math.Max(raw+off, bound) + e.Constant
	return e
}

// Dim is the number of weights: one a column, and one for the intercept.
func (e *Encoding) Dim() int {
	if e.Intercept {
		return e.Columns + 1
	}
	return e.Columns
}

// FeatureBound bounds the norm of an encoded row, the intercept included.
func (e *Encoding) FeatureBound() float64 {
	return math.Hypot(e.Bound, e.Constant)
}

// Offset is how many times larger the raw terms of a score are than the bound
// on encoded rows; it measures cancellation, which costs rounding error.
func (e *Encoding) Offset() float64 { return e.magnitude / e.FeatureBound() }

// slack bounds the relative error of a row's norm, factor and features: p+16
// roundings of its p raw terms, with room.
func (e *Encoding) slack() float64 { return 8 * unit * (float64(e.Columns) + 16) * e.Offset() }

// folded is a weight vector in terms of raw rows: the score of row x with
// factor s is s·(⟨v, x⟩ + offset) + intercept.
type folded struct {
	v                 []float64
	offset, intercept float64 // intercept is a weight times the constant
}

// fold writes w in terms of raw rows; f.v is reused.
func (e *Encoding) fold(w []float64, f *folded) {
	f.v = append(f.v[:0], w[:e.Columns]...)
	f.offset, f.intercept = 0, 0
	if e.Intercept {
		f.intercept = w[e.Columns] * e.Constant
	}
	if e.Scale == nil {
		return
	}
	for j, wj := range f.v {
		f.offset += float64(wj * e.Shift[j])
		f.v[j] = wj * e.Scale[j]
	}
}

// unfold turns the sums Σeᵢxᵢ, Σeᵢ and Σcᵢ over raw rows, with eᵢ = cᵢsᵢ, into
// the sum of cᵢ times the encoded row.
func (e *Encoding) unfold(dst, raw []float64, sumE, sumC float64) {
	copy(dst, raw)
	if e.Scale != nil {
		for j := range raw {
			dst[j] = float64(raw[j]*e.Scale[j]) + float64(e.Shift[j]*sumE)
		}
	}
	if e.Intercept {
		dst[e.Columns] = sumC * e.Constant
	}
}

// normBound bounds the norm of a bounded row, the constant feature included, by the
// computed norm of its features, for clips: these must hold for short rows too, to
// which the rounding of raw terms that cancel is large. A feature's two roundings
// are those of a raw term and of its sum with the shift, so that the norm misses at
// most 3·u·(‖Scale·x‖ + ‖Shift‖), and roundings relative to itself.
func (e *Encoding) normBound(length float64) float64 {
	if e.Scale != nil {
		length += float64(3 * unit * e.magnitude)
	}
	return math.Hypot(length, e.Constant)
}

// norm is the norm of the features of a raw row, before scaling to the bound.
func (e *Encoding) norm(x []float64) float64 {
	var sum float64
	if e.Scale == nil {
		for _, v := range x {
			sum += float64(v * v)
		}
	} else {
		scale, shift := e.Scale[:len(x)], e.Shift[:len(x)]
		for j, v := range x {
			u := float64(scale[j]*v) + shift[j]
			sum += float64(u * u)
		}
	}
	if sum > 0x1p-900 && sum < 0x1p900 { // what underflows is nothing beside that
		return math.Sqrt(sum)
	}
	return e.scaledNorm(x)
}

// scaledNorm is norm for rows whose squares may overflow or vanish.
func (e *Encoding) scaledNorm(x []float64) float64 {
	var largest float64
	for j, v := range x {
		largest = math.Max(largest, math.Abs(e.feature(j, v)))
	}
	if largest == 0 {
		return 0
	}
	var sum float64 // of squares of features in units of the largest
	for j, v := range x {
		r := e.feature(j, v) / largest
		sum += float64(r * r)
	}
	return largest * math.Sqrt(sum)
}

func (e *Encoding) feature(j int, v float64) float64 {
	if e.Scale == nil {
		return v
	}
	return float64(e.Scale[j]*v) + e.Shift[j]
}

// Encode returns the bounded features of one raw row, as those of a Table's rows
// are. The norm is at most FeatureBound·(1 + (Columns+16)·2^-52).
func (e *Encoding) Encode(x []float64) ([]float64, error) {
	if len(x) != e.Columns {
		return nil, check.Fail(check.ErrShape, "len(x)", len(x), fmt.Sprintf("must equal the %d columns of the training rows", e.Columns))
	}
	if err := e.admitGroups(x, 0); err != nil {
		return nil, err
	}
	u := make([]float64, e.Dim())
	for j, v := range x {
		var err error
		if u[j], err = e.admit(v, 0, j); err != nil {
			return nil, err
		}
	}
	e.bound(u, e.shrink(e.norm(u[:e.Columns])))
	return u, nil
}

// shrink is the factor ≤ 1 that brings a row of the given norm to the bound.
func (e *Encoding) shrink(norm float64) float64 {
	if norm > e.Bound {
		return e.Bound / norm
	}
	return 1
}

// bound turns a raw row, admitted, into its features times the factor s.
func (e *Encoding) bound(u []float64, s float64) {
	row := u[:e.Columns]
	if e.Scale != nil {
		for j, v := range row {
			row[j] = e.feature(j, v)
		}
	}
	scale(row, s)
	if e.Intercept {
		u[e.Columns] = e.Constant
	}
}
