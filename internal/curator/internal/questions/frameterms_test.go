package questions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// framedShape is a table without rows and a frame on it, with what the formulas need.
type framedShape struct {
	*shape
	name           string
	framed         *Framed
	size, centre   float64
	slope          Slope
	most, constant float64 // of Hessian
}

// frame are the frames that terms are computed in: their sizes, and how far off the
// centre lies.
func framedShapes() []*framedShape {
	var list []*framedShape
	for _, s := range termShapes() {
		if s.columns > 1000 {
			s.columns = 1000
			s.prepare()
		}
		for _, c := range []struct {
			name           string
			size, centre   float64
			slope          Slope
			most, constant float64
		}{
			{"as it is", 1, 0, Slope{Clip: 1e-3}, 3, 0},
			{"stretched", 40, 0.7, Slope{Clip: 0.2, Constant: 0.5}, 2, 0.25},
			{"shrunk, apart", 0.01, 30, Slope{Clip: 1e-6, Constant: 1e-3, Apart: 2}, 1e9, 1e-3},
			{"means", 1, 0, Slope{Clip: 0.2, Constant: 0.5, Apart: 2, Means: 0.3}, 2, 0.25},
			{"nothing but a constant", 1e-9, 0, Slope{Clip: 1e-9, Constant: 5, Apart: 2}, 1, 5},
		} {
			f := &framedShape{shape: s, name: s.name + ", " + c.name, size: c.size, centre: c.centre, slope: c.slope, most: c.most, constant: c.constant}
			f.framed = &Framed{s: s.sums, m: &frameMap{enc: &s.sums.t.Enc, size: c.size, centre: c.centre}}
			list = append(list, f)
		}
	}
	return list
}

// sum are the terms of the rounding of Σcᵢx̃ᵢ, |cᵢ| ≤ most, and of its product with A.
func (s *framedShape) sum(most float64) []term {
	n, d, u := float64(s.n), float64(s.columns), 2.2*encoding.Unit*most*s.size
	product := u * n * (2*s.bound + s.centre)
	both := func(what string, v float64) []term {
		return []term{{what + ", raw terms", u * v * s.magnitude}, {what + ", centre", u * v * s.centre}}
	}
	terms := append(both("the block with the row", s.block*s.block), both("the merges", s.blocks*n)...)
	terms = append(terms, both("the change of coordinates", 8*n)...)
	terms = append(terms, term{"the columns in the product with A", product * d}, term{"eight roundings of the product", product * 8})
	return append(terms, scaled("two rows' features: ", 4*most*s.size*s.bound, s.slack())...)
}

// framedMoments are the terms of momentsSensitivity.
func (s *framedShape) framedMoments(most, constant, normBound float64) []term {
	n, d := float64(s.n), float64(s.columns)
	z := s.size*(s.bound+s.centre) + constant
	whole := most * z * z
	sum := 2.2 * encoding.Unit * whole
	return append(scaled("two rows: ", 16*whole, s.slack()),
		term{"the exact distance", math.Sqrt2 * normBound * normBound},
		term{"the moments' block with the row", sum * s.momentsRows * s.momentsRows},
		term{"the moments' merges", sum * s.momentsB * n},
		term{"packing", sum * 4 * n},
		term{"the columns in the products with A", sum * n * 4 * d},
		term{"eight roundings of the products", sum * n * 32})
}

// coefficientBound is S of the slope.
func (s *framedShape) coefficientBound() float64 {
	switch p := s.slope; {
	case p.Apart > 0:
		return p.Apart
	case p.Constant > 0:
		return p.Clip / p.Constant
	}
	return s.slope.Clip
}

// Each bound of a frame is the sum of its terms.
func TestTermsOfFrames(t *testing.T) {
	bounds := []struct {
		name  string
		got   func(s *framedShape) float64
		terms func(s *framedShape) []term
		every int
	}{
		{"missed", func(s *framedShape) float64 { return s.framed.m.missed() }, func(s *framedShape) []term {
			u := 4 * encoding.Unit * s.size
			d := float64(s.columns)
			return append(scaled("features: ", 2*s.size*s.bound, s.slack()),
				term{"the columns, raw terms", u * d * s.magnitude}, term{"sixteen roundings of raw terms", u * 16 * s.magnitude},
				term{"the columns, centre", u * d * s.centre}, term{"sixteen roundings of the centre", u * 16 * s.centre})
		}, 6},
		{"sum", func(s *framedShape) float64 { return s.framed.bounds().sumSensitivity(1e-6) }, func(s *framedShape) []term {
			return append(s.sum(1), term{"the exact distance", 2e-6})
		}, 11},
		{"gradient", func(s *framedShape) float64 { return s.framed.bounds().gradientSensitivity(s.slope) }, func(s *framedShape) []term {
			most, exact, scale := s.coefficientBound(), 2*s.slope.Clip, s.slope.Constant
			if s.slope.Apart > 0 {
				exact, scale = 2*math.Sqrt(s.slope.Clip*s.slope.Clip+s.slope.Constant*s.slope.Constant), s.slope.Constant/s.slope.Apart
				if s.slope.Means > 0 {
					exact = math.Sqrt(4*s.slope.Clip*s.slope.Clip + s.slope.Constant*s.slope.Constant)
				}
			}
			n, constant := float64(s.n), 2.2*encoding.Unit*most*scale
			return append(s.sum(most), term{"the exact gradients", exact},
				term{"the constant's block with the row", constant * s.block * s.block},
				term{"the constant's merges", constant * s.blocks * n}, term{"the constant's product", constant * 4 * n})
		}, 14},
		{"moments", func(s *framedShape) float64 { return s.framed.bounds().momentsSensitivity(1, 0, 0.01) },
			func(s *framedShape) []term { return s.framedMoments(1, 0, 0.01) }, 8},
		{"Hessian", func(s *framedShape) float64 { return s.framed.bounds().momentsSensitivity(s.most, s.constant, 0.02) },
			func(s *framedShape) []term { return s.framedMoments(s.most, s.constant, 0.02) }, 8},
		{"squares", func(s *framedShape) float64 { return s.framed.bounds().squaresSensitivity() }, func(s *framedShape) []term {
			x, n := s.bound*s.bound, float64(s.n)
			return append(scaled("two rows: ", 16*x, s.slack()), term{"the exact distance", math.Sqrt2 * x},
				term{"the block with the row", 2.2 * encoding.Unit * x * s.block * s.block},
				term{"the merges", 2.2 * encoding.Unit * x * s.blocks * n}, term{"the squares themselves", 2.2 * encoding.Unit * x * 4 * n})
		}, 6},
		{"predictions", func(s *framedShape) float64 { return s.sums.Bounds().labelSensitivity(false) }, func(s *framedShape) []term {
			most, spread := s.label, 2*s.label
			if s.loss.Labels() == losses.Binary {
				most, spread = 1, 1
			}
			sum := 2.2 * encoding.Unit * most
			return []term{{"a label's range", spread}, {"the predictions' block with the row", sum * s.block * s.block}, {"the predictions' merges", sum * s.blocks * float64(s.n)}}
		}, 3},
		{"labels", func(s *framedShape) float64 {
			return s.sums.Bounds().labelSensitivity(s.sums.Bounds().Loss.Labels() == losses.Binary)
		}, func(s *framedShape) []term {
			if s.loss.Labels() == losses.Binary {
				return []term{{"a label's range", 1}}
			}
			sum := 2.2 * encoding.Unit * s.label
			return []term{{"a label's range", 2 * s.label}, {"the labels' block with the row", sum * s.block * s.block}, {"the labels' merges", sum * s.blocks * float64(s.n)}}
		}, 3},
	}
	for _, b := range bounds {
		t.Run(b.name, func(t *testing.T) {
			told := map[string]bool{}
			for _, s := range framedShapes() {
				checkTerms(t, fmt.Sprintf("%s (%s)", b.name, s.name), b.got(s), told, b.terms(s))
			}
			checkTold(t, told, b.every)
		})
	}
}

// The size of A that rounding is multiplied by is its Frobenius norm, or the largest
// scale, or 1, and neither it nor the centre's is too small.
func TestSizesOfFrames(t *testing.T) {
	s, f, _ := framedSample(t, losses.Logistic{}, 0)
	frobenius, narrow := mat.Norm(f.Matrix, 2), f.Matrix.Slice(0, 7, 0, 3).(*mat.Dense)
	for _, c := range []struct {
		frame        Frame
		size, centre float64
	}{
		{f, frobenius, norm(f.Centre)}, {Frame{Matrix: f.Matrix}, frobenius, 0}, {Frame{Centre: f.Centre}, 1, norm(f.Centre)},
		{Frame{Scale: []float64{0, 1, -5, 2, 4, 3, 0.1}}, 5, 0},
		{Frame{Centre: f.Centre, Matrix: narrow}, mat.Norm(narrow, 2), norm(f.Centre)},
	} {
		r, err := NewFramed(ctx, s, whole, c.frame)
		if err != nil {
			t.Fatal(err)
		}
		within := func(got, want float64) bool { return got >= want*(1-1e-15) && got <= want*(1+1e-13) }
		if !within(r.m.size, c.size) || !within(r.m.centre, c.centre) {
			t.Errorf("size %g, centre %g, want %g and %g", r.m.size, r.m.centre, c.size, c.centre)
		}
	}
}

// The answers that are packed moments declare what the terms above are summed for.
func TestPackedAnswersDeclareTheirBound(t *testing.T) {
	s, f, u := framedSample(t, losses.Logistic{}, 0)
	r, err := NewFramed(ctx, s, whole, f)
	if err != nil {
		t.Fatal(err)
	}
	declared := func(what string, want float64) func(_ []float64, l2 float64, err error) {
		return func(_ []float64, l2 float64, err error) {
			t.Helper()
			if l2 != want || err != nil {
				t.Errorf("%s declares %.17g, want %.17g (%v)", what, l2, want, err)
			}
		}
	}
	declared("moments", r.bounds().momentsSensitivity(1, 0, 0.3))(heard(r.Moments(ctx, 0.3)))
	declared("fourth moments", r.bounds().momentsSensitivity(1, 0, 0.09))(heard(Fourth(ctx, r, 0.3)))
	declared("fourth moments of long rows", r.bounds().momentsSensitivity(9, 0, 9))(heard(Fourth(ctx, r, 3)))
	declared("a Hessian", r.bounds().momentsSensitivity(0.2, 0.5, 0.4))(heard(r.Hessian(ctx, u, 0, 0.5, 0.2, 0.4, Slope{})))
	declared("a Hessian of short rows", r.bounds().momentsSensitivity(0.04, 0.5, 0.1))(heard(r.Hessian(ctx, u, 0, 0.5, 0.2, 0.1, Slope{})))
	declared("a scatter", r.bounds().momentsSensitivity(0.09, 0, 0.3))(heard(r.Scatter(ctx, u, 0, Slope{Clip: 0.3})))
	declared("a scatter with the constant", r.bounds().momentsSensitivity(0.36, 0.5, 0.3))(heard(r.Scatter(ctx, u, 0, Slope{Clip: 0.3, Constant: 0.5, Apart: 2})))
}

// A measured norm is the computed one with room for what missed bounds and, beside that,
// for the roundings of its own squares and their sum, in every kind of frame.
func TestMeasuredNormsHaveRoom(t *testing.T) {
	const d = 1000
	r := rand.New(rand.NewPCG(49, 50))
	s := sumsOf(t, randomMatrix(r, 3, d, 0.01), make([]float64, 3), 0, encoding.NewIdentity(d, 1, false), losses.Logistic{})
	ones, one := make([]float64, d), mat.NewDense(d, d, nil)
	for j := range ones {
		ones[j] = 1
		one.Set(j, j, 1)
	}
	narrow := one.Slice(0, d, 0, 3).(*mat.Dense)
	for name, f := range map[string]Frame{"nothing": {}, "scale": {Scale: ones}, "matrix": {Matrix: one}, "three coordinates": {Matrix: narrow}} {
		framed, err := NewFramed(ctx, s, whole, f)
		if err != nil {
			t.Fatal(err)
		}
		for i, length := range framed.norms.length {
			row := make([]float64, d)
			s.t.Encode(row, s.t.Src.Tile(i, i+1, s.t.Acquire().Buf), i, 0)
			sum := exactly(0)
			for _, v := range row[:framed.Dim()] {
				sum.Add(sum, product(v, v))
			}
			own, _ := sum.Sqrt(sum).Float64()
			if room := length - framed.m.missed() - own; room < own*encoding.Unit*(d+16) || room > own*encoding.Unit*4*(d+16) {
				t.Errorf("%s: a row of norm %g has room for %g roundings of it beside what is missed, want %d to %d", name, own, room/own/encoding.Unit, d+16, 4*(d+16))
			}
		}
	}
}

// What rounding may hide of a person's squares is f times what it hides of a row and of the constant, times twice the vector's length
// and itself; it adds up, and only the bound of what is kept is rounded up.
func TestSquaresCountRounding(t *testing.T) {
	enc := encoding.NewIdentity(2, 3, true)
	m, err := newFrameMap(Frame{Scale: []float64{0.5, 4}}, &enc)
	if err != nil {
		t.Fatal(err)
	}
	const constant, f, again = 1024.0, 0.25, 0.5
	s := squares{m, constant, &rows.Squares{}}
	s.add([]float64{6, 1}, f)
	s.add([]float64{0, 0.5}, again)
	want := 0.0
	for _, c := range []struct {
		f float64
		v []float64
	}{{f, []float64{3, 4, constant}}, {again, []float64{0, 2, constant}}} {
		hidden := c.f * (m.missed() + 8*encoding.Unit*constant)
		want += hidden * (2*c.f*floats.Norm(c.v, 2) + hidden)
	}
	if math.Abs(s.Missed/want-1) > 1e-12 || s.Rows != 2 || len(s.Kept) != 6 {
		t.Errorf("%g is hidden of %d rows, want %g", s.Missed, s.Rows, want)
	}
	first, second := []float64{0.75, 1, 256}, []float64{0, 1, 512}
	products := math.Pow(floats.Dot(first, first), 2) + math.Pow(floats.Dot(second, second), 2) + 2*math.Pow(floats.Dot(first, second), 2)
	if got := s.end(); math.Abs(got/math.Sqrt(products)-1) > 1e-12 || s.Bound != 0 || s.Missed != 0 || s.Rows != 0 {
		t.Errorf("the bound is %g, want %g; %+v is left", got, math.Sqrt(products), s.Squares)
	}
}
