package questions

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// numbersOf are so many zeros.
func numbersOf(n int) []float64 { return make([]float64, n) }

// pointOf is a point of each of so many classes.
func pointOf(classes, dim int) ClassPoint {
	at := ClassPoint{B: numbersOf(classes)}
	for range classes {
		at.U = append(at.U, numbersOf(dim))
	}
	return at
}

// Each question to parties is taken as learners ask it, and refused where one thing is off by one, or missing.
func TestQuestionsFitTheirRows(t *testing.T) {
	const d, classes = 3, 4
	table, err := rows.NewTable(mat.NewDense(2, d, nil), encoding.NewIdentity(d, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := losses.CurvatureOf(losses.Hinge{}); ok {
		t.Fatal("the hinge has a curvature")
	}
	slope, wrong := Slope{Clip: 1}, Slope{Clip: -1}
	in, narrow := InFrame{}, InFrame{Frame: Frame{Matrix: mat.NewDense(d, 2, []float64{1, 2, 3, 4, 5, 6})}}
	persons := InFrame{Frame: Frame{Each: 1}}
	scored := func(f InFrame, u int) Scored { return Scored{InFrame: f, U: numbersOf(u)} }
	packing := func(f InFrame, constant float64, k int) Packing { return Packing{f, constant, k} }
	pointed := func(f InFrame, k int, at ClassPoint) Pointed { return Pointed{f, k, at} }
	classGradientOf := func(f InFrame, k int, clip float64) *classGradient {
		return &classGradient{pointed(f, k, pointOf(k, d)), ClassSlope{Clip: clip}}
	}
	gradient := func(f InFrame, u int, p Slope) *framedGradient {
		return &framedGradient{OverFrame: OverFrame{f}, U: numbersOf(u), Slope: p}
	}
	edges := make([][]float64, classes)
	odds := func(of Counted, edges [][]float64) *logOddsCounts {
		return &logOddsCounts{Pointed: pointed(in, classes, pointOf(classes, d)), Counted: of, Edges: edges}
	}
	curved, flat, none := losses.Loss(losses.Squared{}), losses.Loss(losses.Hinge{}), losses.Loss(nil)
	type fitting interface {
		fits(t *rows.Table, classes int, loss losses.Loss) error
	}
	type asked struct {
		of      fitting
		classes int
		loss    losses.Loss
	}
	for name, c := range map[string]struct{ taken, refused []asked }{
		"slopes": {[]asked{{&framedSlopes{Scored: scored(in, d)}, 0, flat}, {&framedSlopes{Scored: scored(narrow, 2)}, 0, flat}},
			[]asked{{&framedSlopes{Scored: scored(in, d-1)}, 0, flat}, {&framedSlopes{Scored: scored(in, d+1)}, 0, flat}, {&framedSlopes{Scored: scored(narrow, d)}, 0, flat},
				{&framedSlopes{Scored: scored(in, d)}, 0, none}, {&framedSlopes{Scored: scored(persons, d)}, 0, flat}}},
		"norms": {[]asked{{&framedNorms{scored(in, d), slope}, 0, flat}},
			[]asked{{&framedNorms{scored(in, d), wrong}, 0, flat}, {&framedNorms{scored(in, 2), slope}, 0, flat}, {&framedNorms{scored(in, d), slope}, 0, none}}},
		"curvatures": {[]asked{{&framedCurvatures{Scored: scored(in, d), Slope: slope}, 0, curved}},
			[]asked{{&framedCurvatures{Scored: scored(in, d), Slope: slope}, 0, flat}, {&framedCurvatures{Scored: scored(in, d), Slope: wrong}, 0, curved},
				{&framedCurvatures{Scored: scored(in, 2), Slope: slope}, 0, curved}, {&framedCurvatures{Scored: scored(in, d), Slope: slope}, 0, none}}},
		"gradient": {[]asked{{gradient(in, d, slope), 0, flat}},
			[]asked{{gradient(in, 2, slope), 0, flat}, {gradient(in, d, wrong), 0, flat}, {gradient(in, d, slope), 0, none}, {gradient(persons, d, slope), 0, flat}}},
		"in coordinates": {[]asked{{&inCoordinates{gradient(in, d, slope), d, Behind{}}, 0, flat}, {&inCoordinates{gradient(narrow, 2, slope), 2, Behind{1, 1}}, 0, flat}},
			[]asked{{&inCoordinates{gradient(in, d, slope), 0, Behind{}}, 0, flat}, {&inCoordinates{gradient(in, d, slope), d - 1, Behind{}}, 0, flat},
				{&inCoordinates{gradient(in, d, slope), d + 1, Behind{}}, 0, flat}, {&inCoordinates{gradient(in, d, slope), d, Behind{1, -1}}, 0, flat},
				{&inCoordinates{gradient(in, d, slope), d, Behind{1, math.NaN()}}, 0, flat}, {&inCoordinates{gradient(in, 2, slope), d, Behind{}}, 0, flat},
				{&inCoordinates{nil, d, Behind{}}, 0, flat}}},
		"moments": {[]asked{{&framedMoments{packing(in, 0, d), 1}, 0, none}, {&framedMoments{packing(in, 1, d+1), 1}, 0, none}, {&framedMoments{packing(narrow, 0, 2), 1}, 0, none}},
			[]asked{{&framedMoments{packing(in, 0, 0), 1}, 0, none}, {&framedMoments{packing(in, 1, 1), 1}, 0, none}, {&framedMoments{packing(in, 0, d-1), 1}, 0, none},
				{&framedMoments{packing(in, 0, d+1), 1}, 0, none}, {&framedMoments{packing(in, -1, d), 1}, 0, none}, {&framedMoments{packing(in, math.NaN(), d), 1}, 0, none},
				{&framedMoments{packing(persons, 0, d), 1}, 0, none}}},
		"Hessian": {[]asked{{&framedHessian{Packing: packing(in, 0, d), U: numbersOf(d), Slope: slope}, 0, curved}},
			[]asked{{&framedHessian{Packing: packing(in, 0, d), U: numbersOf(2), Slope: slope}, 0, curved}, {&framedHessian{Packing: packing(in, 0, d), U: numbersOf(d), Slope: slope}, 0, flat},
				{&framedHessian{Packing: packing(in, 0, d), U: numbersOf(d), Slope: wrong}, 0, curved}, {&framedHessian{Packing: packing(in, 0, 2), U: numbersOf(d), Slope: slope}, 0, curved}}},
		"scatter": {[]asked{{&framedScatter{Packing: packing(in, 0, d), U: numbersOf(d), Slope: slope}, 0, flat}},
			[]asked{{&framedScatter{Packing: packing(in, 0, d), U: numbersOf(2), Slope: slope}, 0, flat}, {&framedScatter{Packing: packing(in, 0, d), U: numbersOf(d), Slope: wrong}, 0, flat},
				{&framedScatter{Packing: packing(in, 0, 2), U: numbersOf(d), Slope: slope}, 0, flat}, {&framedScatter{Packing: packing(in, 0, d), U: numbersOf(d), Slope: slope}, 0, none}}},
		"counts": {[]asked{{&classCounts{classes}, classes, none}, {&classCounts{2}, 2, none}},
			[]asked{{&classCounts{1}, 1, none}, {&classCounts{0}, 0, none}, {&classCounts{classes}, classes + 1, none}, {&classCounts{classes}, classes - 1, none}, {&classCounts{classes}, classes, flat}}},
		"confusion": {[]asked{{&confusion{pointed(in, classes, pointOf(classes, d))}, classes, none}},
			[]asked{{&confusion{pointed(in, classes, pointOf(classes-1, d))}, classes, none}, {&confusion{pointed(in, classes, pointOf(classes+1, d))}, classes, none},
				{&confusion{pointed(in, classes, ClassPoint{pointOf(classes, d).U, numbersOf(classes - 1)})}, classes, none}, {&confusion{pointed(in, classes, pointOf(classes, 2))}, classes, none},
				{&confusion{pointed(in, classes, pointOf(classes, d))}, classes + 1, none}, {&confusion{pointed(persons, classes, pointOf(classes, d))}, classes, none}}},
		"scale": {[]asked{{&scaleSlope{pointed(in, 2*classes, pointOf(2*classes, d)), 1}, classes, none}},
			[]asked{{&scaleSlope{pointed(in, classes, pointOf(classes, d)), 1}, classes, none}, {&scaleSlope{pointed(in, 2*classes, pointOf(classes, d)), 1}, classes, none},
				{&scaleSlope{pointed(in, 2*classes, pointOf(2*classes, d)), 1}, classes, flat}}},
		"class gradient": {[]asked{{classGradientOf(in, classes, 1), classes, none}},
			[]asked{{classGradientOf(in, classes, -1), classes, none}, {classGradientOf(in, classes, 1), classes - 1, none}}},
		"class coordinates": {[]asked{{&classCoordinates{classGradientOf(in, classes, 1), d}, classes, none}},
			[]asked{{&classCoordinates{classGradientOf(in, classes, 1), d - 1}, classes, none}, {&classCoordinates{classGradientOf(in, classes, 1), d + 1}, classes, none},
				{&classCoordinates{classGradientOf(in, classes, 1), math.MaxInt}, classes, none}, {&classCoordinates{classGradientOf(in, classes, 1), -1}, classes, none},
				{&classCoordinates{classGradientOf(in, classes, -1), d}, classes, none}}},
		"log odds": {[]asked{{odds(Own, edges), classes, none}, {odds(Every, edges), classes, none}},
			[]asked{{odds(Own-1, edges), classes, none}, {odds(Every+1, edges), classes, none}, {odds(Own, edges[1:]), classes, none}, {odds(Own, edges), classes, flat}}},
		"labels": {[]asked{{&labelSum{}, 0, flat}, {&labelSum{Summed{Steps: numbersOf(mostLabelSteps)}}, 0, flat}},
			[]asked{{&labelSum{Summed{Ends: true}}, 0, flat}, {&labelSum{}, 0, none}, {&labelSum{Summed{Steps: numbersOf(mostLabelSteps + 1)}}, 0, flat}}},
	} {
		for k, a := range append(c.taken, c.refused...) {
			err := a.of.fits(table, a.classes, a.loss)
			known := errors.Is(err, check.ErrConfig) || errors.Is(err, check.ErrShape) || errors.Is(err, check.ErrBound)
			if taken := k < len(c.taken); (err == nil) != taken || err != nil && !known {
				t.Errorf("%s, %d: %v", name, k, err)
			}
		}
	}
}

// A frame is taken with a row of its matrix and a number of each of its vectors for each feature, and refused with one more or fewer.
func TestFramesFitTheirFeatures(t *testing.T) {
	const d = 3
	matrix := func(r, k int) Frame { return Frame{Matrix: mat.NewDense(r, k, nil)} }
	base := func(n int, bound float64) Frame { return Frame{Base: numbersOf(n), NormBound: bound} }
	each := func(v, bound float64) Frame { return Frame{Each: v, NormBound: bound} }
	for k, c := range []struct {
		f     Frame
		taken bool
	}{
		{Frame{}, true}, {Frame{NormBound: 1}, true},
		{matrix(d, 1), true}, {matrix(d, d), true}, {matrix(d, d+1), false}, {matrix(d-1, 1), false}, {matrix(d+1, 1), false},
		{Frame{Centre: numbersOf(d)}, true}, {Frame{Centre: numbersOf(d - 1)}, false}, {Frame{Centre: numbersOf(d + 1)}, false}, {Frame{Centre: numbersOf(0)}, false},
		{Frame{Scale: numbersOf(d)}, true}, {Frame{Scale: numbersOf(d - 1)}, false}, {Frame{Scale: numbersOf(d + 1)}, false},
		{base(d, 0), true}, {base(d+1, 0), true}, {base(d-1, 0), false}, {base(d+2, 0), false}, {base(d, 1), false},
		{each(math.SmallestNonzeroFloat64, 0), true}, {each(check.MaxScale, 0), true}, {each(math.Nextafter(check.MaxScale, math.Inf(1)), 0), false},
		{each(-1, 0), false}, {each(math.NaN(), 0), false}, {each(1, 1), false},
	} {
		if err := c.f.fits(d); (err == nil) != c.taken {
			t.Errorf("%d, %+v: %v", k, c.f, err)
		}
	}
}
