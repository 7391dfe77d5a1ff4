package questions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// testFrames are frames of d columns, with and without each of their parts.
func testFrames(d int) map[string]Frame {
	r := rand.New(rand.NewPCG(41, 42))
	a, scale := randomMatrix(r, d, d, 1), make([]float64, d)
	for j := range scale {
		scale[j] = 0.5 + 3*r.Float64()
	}
	centre := randomVector(r, d, 0.55)
	return map[string]Frame{
		"nothing": {}, "centre": {Centre: centre}, "matrix": {Matrix: a}, "scale": {Scale: scale}, "longest": {NormBound: 0.4},
		"centre and matrix": {Centre: centre, Matrix: a}, "centre, scale, longest": {Centre: centre, Scale: scale, NormBound: 0.8},
		"centre, matrix, longest": {Centre: centre, Matrix: a, NormBound: 1},
		"one coordinate":          {Centre: centre, Matrix: randomMatrix(r, d, 1, 1)},
		"two, longest":            {Centre: centre, Matrix: randomMatrix(r, d, 2, 1), NormBound: 0.7},
	}
}

// coordinates are x̃ of an encoded row by the definition, before and after shortening.
func (f Frame) coordinates(u []float64) (whole, held []float64) {
	v, whole := slices.Clone(u), make([]float64, len(u))
	for j, m := range f.Centre {
		v[j] -= m
	}
	copy(whole, v)
	switch {
	case f.Matrix != nil:
		_, dim := f.Matrix.Dims()
		whole = make([]float64, dim)
		for k := range whole {
			for j := range v {
				whole[k] += f.Matrix.At(j, k) * v[j]
			}
		}
	case f.Scale != nil:
		for j, a := range f.Scale {
			whole[j] *= a
		}
	}
	held = slices.Clone(whole)
	if f.NormBound > 0 {
		shorten(held, f.NormBound)
	}
	return whole, held
}

// shorten scales v down to the given norm.
func shorten(v []float64, normBound float64) {
	if r := norm(v); r > normBound {
		for j := range v {
			v[j] *= normBound / r
		}
	}
}

// heldScores are ends that some scores of samples are beyond, on either side.
var heldScores = Ends{0.1, 0.4}

// frameAnswers are all questions to a frame, by name; a failed one stops the test.
func frameAnswers(t *testing.T, ctx context.Context, r *Framed, u []float64, squares bool) map[string][]float64 {
	t.Helper()
	answers := map[string][]float64{}
	keep := func(name string, v []float64, l2 float64, err error) {
		t.Helper()
		if err != nil || !(l2 > 0 && l2 < 1e3) {
			t.Fatalf("%s: sensitivity %g, %v", name, l2, err)
		}
		answers[name] = v
	}
	v, l2, err := heard(r.Sum(ctx, 0.7))
	keep("sum", v, l2, err)
	v, l2, err = heard(r.Moments(ctx, 0.9))
	keep("moments", v, l2, err)
	v, l2, err = heard(Fourth(ctx, r, 0.9))
	keep("fourth", v, l2, err)
	if squares {
		v, l2, err = heard(r.Squares(ctx))
		keep("squares", v, l2, err)
	}
	for name, p := range testSlopes {
		v, l2, err = heard(r.Gradient(ctx, u, 0.3, p))
		keep("gradient, "+name, v, l2, err)
		v, l2, err = heard(r.GradientNorms(ctx, testEdges, u, 0.3, p))
		keep("gradient norms, "+name, v, l2, err)
		v, l2, err = heard(r.Scatter(ctx, u, 0.3, p)) // after a gradient, whose norms are kept
		keep("scatter, "+name, v, l2, err)
	}
	v, l2, err = heard(r.Slopes(ctx, slopeEdges, u, 0.3, Ends{}))
	keep("slopes", v, l2, err)
	v, l2, err = heard(r.Slopes(ctx, slopeEdges, u, 0.3, heldScores))
	keep("slopes of held scores", v, l2, err)
	for _, constant := range []float64{0, 1} {
		v, l2, err = heard(r.Hessian(ctx, u, 0.3, constant, 0.2, 0.6, Slope{}))
		keep(fmt.Sprintf("Hessian, constant %g", constant), v, l2, err)
		v, l2, err = heard(r.CurvatureNorms(ctx, testEdges, u, 0.3, constant, 0.2, Slope{}))
		keep(fmt.Sprintf("curvature norms, constant %g", constant), v, l2, err)
	}
	v, l2, err = heard(r.Lengths(ctx, testEdges))
	keep("lengths", v, l2, err)
	return answers
}

var (
	testSlopes = map[string]Slope{"with the constant": {Clip: 0.5, Constant: 1}, "no constant": {Clip: 0.4}, "apart": {Clip: 0.5, Constant: 0.3, Apart: 0.45},
		"means": {Clip: 0.5, Constant: 0.3, Apart: 0.45, Means: 0.6}}
	testEdges  = []float64{1.1, 0.6, 0.3}
	slopeEdges = []float64{0.5, 0.2, -0.1, -0.6}
)

// byDefinition are the same answers by plain loops over encoded rows.
func byDefinition(f Frame, loss losses.Loss, encoded [][]float64, y, u []float64) map[string][]float64 {
	answers, curvature := map[string][]float64{}, losses.Logistic{}.Curvature
	add := func(name string, v []float64) {
		if answers[name] == nil {
			answers[name] = make([]float64, len(v))
		}
		for j, a := range v {
			answers[name][j] += a
		}
	}
	count := func(name string, v float64) {
		cell, _, _ := heard((&Framed{s: &Sums{t: new(rows.Table)}, rows: whole, norms: &frameNorms{length: []float64{v}}}).Lengths(ctx, testEdges))
		add(name, cell)
	}
	place := func(v float64) []float64 {
		cell, at := make([]float64, len(slopeEdges)+1), 0
		for at < len(slopeEdges) && v <= slopeEdges[at] {
			at++
		}
		cell[at] = 1
		return cell
	}
	for i, row := range encoded {
		whole, x := f.coordinates(row)
		z, size := 0.3, norm(x)
		for j := range x {
			z += u[j] * x[j]
		}
		count("lengths", norm(whole))
		short := slices.Clone(x)
		shorten(short, 0.7)
		add("sum", short)
		short = slices.Clone(x)
		shorten(short, 0.9)
		add("moments", outer(short, 1))
		add("fourth", outer(short, norm(short)*norm(short)))
		squares := make([]float64, len(row))
		for j, v := range row {
			squares[j] = v * v
		}
		add("squares", squares)
		slope := loss.Deriv(z, y[i])
		add("slopes", place(slope))
		add("slopes of held scores", place(loss.Deriv(math.Max(heldScores[0], math.Min(z, heldScores[1])), y[i])))
		for name, p := range testSlopes {
			gradient := slices.Clone(x)
			if p.Constant > 0 {
				gradient = append(gradient, p.Constant)
			}
			least := 0.0
			if p.Constant == 0 {
				least = 1 // no row is taken to be shorter
			}
			c := math.Min(math.Abs(slope), p.Clip/math.Max(least, norm(gradient)))
			add("scatter, "+name, outer(gradient, c*c))
			with := append(slices.Clone(x), p.Constant)
			held, length := slope, norm(with)
			switch {
			case p.Apart > 0:
				held, length = math.Max(-p.Apart, math.Min(p.Apart, slope)), size
				with[len(x)] = 0
			case p.Constant == 0:
				length = math.Max(size, 1)
			}
			count("gradient norms, "+name, math.Abs(slope)*length)
			c = math.Copysign(math.Min(math.Abs(held), p.Clip/length), held)
			for j := range with {
				with[j] *= c
			}
			if p.Apart > 0 {
				with[len(x)] = held * p.Constant / p.Apart
			}
			if p.Means > 0 {
				with[len(x)] = math.Max(0, math.Min(slope+y[i], p.Means)) * p.Constant / p.Means
			}
			if p.Constant == 0 {
				with = with[:len(x)]
			}
			add("gradient, "+name, with)
		}
		for _, constant := range []float64{0, 1} {
			with, c := slices.Clone(x), math.Min(0.2, curvature(z, y[i]))
			if constant > 0 {
				with = append(with, constant)
			}
			length := math.Sqrt(c) * norm(with)
			count(fmt.Sprintf("curvature norms, constant %g", constant), length)
			if length > 0.6 {
				c *= 0.6 / length * (0.6 / length)
			}
			add(fmt.Sprintf("Hessian, constant %g", constant), outer(with, c))
		}
	}
	return answers
}

// outer is the packed c·vvᵀ.
func outer(v []float64, c float64) []float64 {
	var packed []float64
	for i := range v {
		for j := i; j < len(v); j++ {
			factor := c
			if i != j {
				factor *= math.Sqrt2
			}
			packed = append(packed, factor*v[i]*v[j])
		}
	}
	return packed
}

// framedForms are tables of one matrix in all forms, with the encoded rows.
func framedForms(t *testing.T, x *mat.Dense, sp *rows.Sparse, enc encoding.Encoding) map[string]*rows.Table {
	t.Helper()
	n, d := x.Dims()
	list, matrices, wider := map[string]*rows.Table{}, forms(x), enc
	matrices["sparse"] = sp
	for name, m := range matrices {
		table, err := rows.NewTable(m, enc)
		if err != nil {
			t.Fatal(err)
		}
		list[name] = table
	}
	order, backwards := make([]int, n), mat.NewDense(n, d, nil)
	for i := range order {
		order[i] = n - 1 - i
		backwards.SetRow(i, x.RawRowView(n-1-i))
	}
	wider.Bound *= 3
	for name, make := range map[string]func() (*rows.Table, error){
		"picked": func() (*rows.Table, error) { return rows.NewTable(backwards, enc) },
		"rebound": func() (*rows.Table, error) {
			table, err := rows.NewTable(x, wider)
			return table.Rebound(enc.Bound, enc.Constant), err
		},
	} {
		table, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if name == "picked" {
			table = table.Pick(order)
		}
		list[name] = table
	}
	return list
}

// Every answer about rows in a frame is what its definition says, in every form of
// matrix; dense forms give the same bits. A norm is never below the row's.
func TestFramedMatchesItsDefinition(t *testing.T) {
	const n, d = 400, 5
	for name, enc := range map[string]encoding.Encoding{"identity": encoding.NewIdentity(d, 1.2, true), "schema": affine(t, d, false)} {
		r := rand.New(rand.NewPCG(43, 44))
		x, y := randomMatrix(r, n, d, 1), make([]float64, n)
		sp := sparsify(t, r, x, 0.6)
		encoded := make([][]float64, n)
		for i := range y {
			y[i] = float64(2*r.IntN(2) - 1)
			encoded[i] = encode(&enc, x.RawRowView(i))[:d]
		}
		u := randomVector(r, d, 1.5)
		for frame, f := range testFrames(d) {
			want := byDefinition(f, losses.Logistic{}, encoded, y, u)
			var first map[string][]float64
			for form, table := range framedForms(t, x, sp, enc) {
				s, err := NewSums(table, y, 0, 0, losses.Logistic{})
				if err != nil {
					t.Fatal(err)
				}
				framed, err := NewFramed(ctx, s, whole, f)
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range encoded {
					whole, _ := f.coordinates(row)
					if v := norm(whole); framed.norms.length[i] < v*(1-1e-14) || framed.norms.length[i] > v+1e-11 {
						t.Fatalf("%s, %s, %s: row %d has norm %g, measured as %g", name, frame, form, i, v, framed.norms.length[i])
					}
				}
				got := frameAnswers(t, ctx, framed, u[:framed.Dim()], true)
				if len(got) != len(want) {
					t.Fatalf("%d answers, want %d", len(got), len(want))
				}
				for q, v := range got {
					if len(v) != len(want[q]) || !(distance(v, want[q]) <= 1e-8) {
						t.Errorf("%s, %s, %s: %s is %v, want %v", name, frame, form, q, v, want[q])
					}
				}
				if form == "sparse" || form == "rebound" {
					continue
				}
				for q, v := range got {
					if first != nil && !slices.Equal(v, first[q]) {
						t.Errorf("%s, %s, %s: %s has other bits than another form's", name, frame, form, q)
					}
				}
				first = got
			}
		}
	}
}

// framedSample is a frame on rows of many blocks.
func framedSample(t *testing.T, loss losses.Loss, label float64) (*Sums, Frame, []float64) {
	t.Helper()
	const n, d = 9000, 7
	r := rand.New(rand.NewPCG(45, 46))
	x, y := randomMatrix(r, n, d, 1), make([]float64, n)
	for i := range y {
		y[i] = float64(r.IntN(2))
	}
	f := Frame{Centre: randomVector(r, d, 0.5), Matrix: randomMatrix(r, d, d, 1), NormBound: 2}
	return sumsOf(t, x, y, label, encoding.NewIdentity(d, 1.5, true), loss), f, randomVector(r, d, 1)
}

// The number of goroutines changes no bit.
func TestFramedBits(t *testing.T) {
	s, f, u := framedSample(t, losses.Logistic{}, 0)
	var first map[string][]float64
	for _, procs := range []int{1, 2, 7} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			framed, err := NewFramed(ctx, s, whole, f)
			if err != nil {
				t.Fatal(err)
			}
			got := frameAnswers(t, ctx, framed, u, true)
			got["measured"] = framed.norms.length
			for q, v := range got {
				if first != nil && !slices.Equal(v, first[q]) {
					t.Errorf("GOMAXPROCS=%d: %s has other bits", procs, q)
				}
			}
			first = got
		}()
	}
}

// A cancelled context ends every pass with its error.
func TestFramedIsCancelled(t *testing.T) {
	s, f, u := framedSample(t, losses.Logistic{}, 0)
	framed, err := NewFramed(ctx, s, whole, f)
	if err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	p := testSlopes["apart"]
	for name, pass := range map[string]func() error{
		"frame":          func() error { _, err := NewFramed(done, s, whole, f); return err },
		"sum":            func() error { _, _, err := heard(framed.Sum(done, 1)); return err },
		"moments":        func() error { _, _, err := heard(framed.Moments(done, 1)); return err },
		"fourth":         func() error { _, _, err := heard(Fourth(done, framed, 1)); return err },
		"squares":        func() error { _, _, err := heard(framed.Squares(done)); return err },
		"gradient":       func() error { _, _, err := heard(framed.Gradient(done, u, 0, p)); return err },
		"gradient norms": func() error { _, _, err := heard(framed.GradientNorms(done, testEdges, u, 0, p)); return err },
		"scatter":        func() error { _, _, err := heard(framed.Scatter(done, u, 0, p)); return err },
		"slopes":         func() error { _, _, err := heard(framed.Slopes(done, slopeEdges, u, 0, Ends{})); return err },
		"Hessian":        func() error { _, _, err := heard(framed.Hessian(done, u, 0, 1, 1, 1, Slope{})); return err },
		"curvature norms": func() error {
			_, _, err := heard(framed.CurvatureNorms(done, testEdges, u, 0, 1, 1, Slope{}))
			return err
		},
	} {
		if err := pass(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Frames whose norms would overflow, vanish or be no number are refused.
func TestFrameRefusesExtremes(t *testing.T) {
	s, f, _ := framedSample(t, losses.Logistic{}, 0)
	d := len(f.Centre)
	for name, v := range map[string]float64{"huge": 1e120, "tiny": 1e-120, "NaN": math.NaN(), "infinite": math.Inf(1)} {
		a, scale, centre := mat.NewDense(d, d, nil), make([]float64, d), make([]float64, d)
		for j := range d {
			a.Set(j, j, v)
			scale[j], centre[j] = v, v
		}
		for part, frame := range map[string]Frame{"matrix": {Matrix: a}, "scale": {Scale: scale}, "centre": {Centre: centre}} {
			_, err := NewFramed(ctx, s, whole, frame)
			if refused := errors.Is(err, check.ErrBound); refused != (name != "tiny" || part != "centre") {
				t.Errorf("%s, %s: %v", part, name, err)
			}
		}
	}
	if _, err := NewFramed(ctx, s, whole, Frame{Scale: make([]float64, d)}); err != nil {
		t.Errorf("a frame in which all rows are 0: %v", err)
	}
}

// Rows whose raw terms cancel, up to the largest offset, and rows nearly equal to the
// centre are never taken to be shorter than they are: against exact arithmetic, for the
// row that sums take, of its raw terms, and for its rounded features.
func TestMeasuredNormsAreNeverTooSmall(t *testing.T) {
	const n, d = 200, 4
	for _, far := range []float64{0, 1e3, 1 << 17} {
		r := rand.New(rand.NewPCG(47, 48))
		lo, hi, scale, shift := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		for j := range d {
			lo[j], hi[j], scale[j], shift[j] = far-1.1, far+1.1, 1/1.1, -far/1.1
		}
		enc := encoding.NewAffine(1.3, true, scale, shift, lo, hi)
		x := randomMatrix(r, n, d, 0.3)
		near := []float64{0.3, -0.2, 0.1, 0.4}
		for i := range n {
			for j := range d {
				v := x.At(i, j)
				if i%2 == 0 { // near the centre
					v = 1.1*near[j] + v*math.Pow(10, -float64(r.IntN(16)))
				}
				x.Set(i, j, far+v)
			}
		}
		s := sumsOf(t, x, make([]float64, n), 0, enc, losses.Logistic{})
		a := randomMatrix(r, d, d, 1e4)
		two := a.Slice(0, d, 0, 2).(*mat.Dense)
		for name, f := range map[string]Frame{"plain": {}, "centre": {Centre: near}, "matrix": {Centre: near, Matrix: a}, "scale": {Centre: near, Scale: a.RawRowView(0)}, "two coordinates": {Centre: near, Matrix: two}} {
			framed, err := NewFramed(ctx, s, whole, f)
			if err != nil {
				t.Fatal(err)
			}
			row := make([]float64, enc.Dim())
			for i := range n {
				factor := rows.Factor(s.t.Shrink, i)
				tile := s.t.Src.Tile(i, i+1, s.t.Acquire().Buf)
				framed.m.features(row, framed.s.t, tile, i, 0)
				exact, rounded := make([]*big.Float, d), make([]*big.Float, d)
				for j := range d {
					v := new(big.Float).Add(product(scale[j], x.At(i, j)), exactly(shift[j]))
					v.Mul(v, exactly(factor))
					if f.Centre != nil {
						v.Sub(v, exactly(near[j]))
					}
					exact[j], rounded[j] = v, exactly(row[j])
				}
				for kind, v := range map[string][]*big.Float{"raw terms": exact, "features": rounded} {
					if want := exactNorm(f, v); exactly(framed.norms.length[i]).Cmp(want) < 0 {
						t.Fatalf("offset %g, %s: row %d, by its %s, is %g long, measured as %g", far, name, i, kind, want, framed.norms.length[i])
					}
				}
			}
		}
	}
}

func exactly(v float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(v) }

func product(a, b float64) *big.Float { return exactly(a).Mul(exactly(a), exactly(b)) }

// exactNorm is ‖Aᵀv‖.
func exactNorm(f Frame, v []*big.Float) *big.Float {
	sum, dim := exactly(0), len(v)
	if f.Matrix != nil {
		_, dim = f.Matrix.Dims()
	}
	for k := range dim {
		c := exactly(0).Set(v[k])
		switch {
		case f.Matrix != nil:
			c = exactly(0)
			for j := range v {
				c.Add(c, exactly(0).Mul(exactly(f.Matrix.At(j, k)), v[j]))
			}
		case f.Scale != nil:
			c.Mul(c, exactly(f.Scale[k]))
		}
		sum.Add(sum, c.Mul(c, c))
	}
	return sum.Sqrt(sum)
}
