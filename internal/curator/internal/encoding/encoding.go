package encoding

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

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
	Groups    []Group  // of one-hot columns
	Names     []string // of the columns, where there are any
	Ranged    []int    // the other columns, where there are ranges
	From      int      `json:"-"` // how many rows come before the first, for messages
	Magnitude float64  // ‖(|Scale_j|·max(|Min_j|, |Max_j|))‖₂ + ‖Shift‖₂ + the constant
}

// NewIdentity returns the encoding that only scales rows to the given bound.
func NewIdentity(columns int, bound float64, intercept bool) Encoding {
	e := Encoding{Columns: columns, Bound: bound, Intercept: intercept}
	if intercept {
		e.Constant = 1
	}
	e.Magnitude = bound + e.Constant
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
		e.Ranged = append(e.Ranged, j)
	}
	e.Magnitude = math.Max(raw+off, bound) + e.Constant
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
func (e *Encoding) Offset() float64 { return e.Magnitude / e.FeatureBound() }

// Slack bounds the relative error of a row's norm, factor and features: p+16
// roundings of its p raw terms, with room.
func (e *Encoding) Slack() float64 { return 8 * Unit * (float64(e.Columns) + 16) * e.Offset() }

// NormBound bounds the norm of a bounded row, the constant feature included, by the
// computed norm of its features, for clips: these must hold for short rows too, to
// which the rounding of raw terms that cancel is large. A feature's two roundings
// are those of a raw term and of its sum with the shift, so that the norm misses at
// most 3·u·(‖Scale·x‖ + ‖Shift‖), and roundings relative to itself.
func (e *Encoding) NormBound(length float64) float64 {
	if e.Scale != nil {
		length += float64(3 * Unit * e.Magnitude)
	}
	return math.Hypot(length, e.Constant)
}

// Norm is the norm of the features of a raw row, before scaling to the bound.
func (e *Encoding) Norm(x []float64) float64 {
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
		largest = math.Max(largest, math.Abs(e.Feature(j, v)))
	}
	if largest == 0 {
		return 0
	}
	var sum float64 // of squares of features in units of the largest
	for j, v := range x {
		r := e.Feature(j, v) / largest
		sum += float64(r * r)
	}
	return largest * math.Sqrt(sum)
}

// Feature is column j's raw value v, scaled and shifted.
func (e *Encoding) Feature(j int, v float64) float64 {
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
	e.Bounded(u, e.Shrink(e.Norm(u[:e.Columns])))
	return u, nil
}

// Shrink is the factor ≤ 1 that brings a row of the given norm to the bound.
func (e *Encoding) Shrink(norm float64) float64 {
	if norm > e.Bound {
		return e.Bound / norm
	}
	return 1
}

// Bounded turns a raw row, admitted, into its features times the factor s.
func (e *Encoding) Bounded(u []float64, s float64) {
	row := u[:e.Columns]
	if e.Scale == nil {
		floats.Scale(s, row)
	} else {
		scale, shift := e.Scale[:len(row)], e.Shift[:len(row)]
		for j, v := range row { // as Feature, without its branch: each pass over rows comes by here
			row[j] = s * (float64(scale[j]*v) + shift[j])
		}
	}
	if e.Intercept {
		u[e.Columns] = e.Constant
	}
}

// Shifted reports whether absent entries of sparse rows are features other than 0.
func (e *Encoding) Shifted() bool {
	for _, b := range e.Shift {
		if b != 0 {
			return true
		}
	}
	return false
}

func (e Encoding) Rebound(bound, constant float64) Encoding {
	raw := (e.Magnitude - e.Constant) * (1 + 4*Unit)
	if e.Scale == nil {
		raw = bound // all that a raw row's terms add up to, its factor included
	}
	e.Bound = bound
	if e.Intercept {
		e.Constant = constant
	}
	e.Magnitude = raw + e.Constant
	return e
}

// Unit is the unit roundoff of float64.
const Unit = 0x1p-53
