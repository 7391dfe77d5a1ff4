package questions

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
)

// Gradients, their norms and counts of classes are what loops make of rows' coordinates, of
// rows and of persons, with an intercept and without.
func TestClassesByLoops(t *testing.T) {
	const n, k = 500, 3
	r := rand.New(rand.NewPCG(7, 1))
	o := randomOwned(r, n, 200)
	for i := range o.y {
		o.y[i] = float64(r.IntN(k))
	}
	plain := mustTable(t, o.x, encoding.NewIdentity(3, 1.5, true))
	owned, order, err := rows.Own(plain, rows.Owners{Persons: o.Given, Count: 200, Most: 2, Weights: o.weights, Heavy: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, centre := mat.NewDense(3, 3, []float64{1, 0.2, 0, 0, 0.8, 0.1, 0.3, 0, 1.1}), []float64{0.1, 0.2, -0.1}
	frame := Frame{Centre: centre, Matrix: a, NormBound: 1.1}
	at := ClassPoint{U: [][]float64{{0.5, -0.3, 0.2}, {-0.4, 0.1, 0.6}, {0, 0.9, -0.2}}, B: []float64{0.1, -0.2, 0.3}}
	for name, c := range map[string]struct {
		table  *rows.Table
		labels []float64
	}{"rows": {plain, o.y}, "persons": {owned, blocks.Gather(o.y, order)}} {
		for _, constant := range []float64{1, 0} {
			classes, err := NewClasses(ctx, c.table, c.labels, k)
			if err != nil {
				t.Fatal(err)
			}
			framed, err := classes.Frame(ctx, whole, frame)
			if err != nil {
				t.Fatal(err)
			}
			slope, edges := ClassSlope{Clip: 0.7, Constant: constant}, []float64{1.2, 0.8, 0.4}
			dim := 3
			if constant > 0 {
				dim = 4
			}
			want, norms, counts := make([]float64, k*dim), make([]float64, len(edges)+1), make([]float64, k)
			from := ClassPoint{U: [][]float64{{0.2, 0, -0.1}, {0, 0.3, 0}, {0, 0, 0}}, B: []float64{0.3, -0.1, 0}}
			held, factor := 0, 0.0
			const limit = 0.3
			for i, y := range c.labels {
				row := make([]float64, c.table.Enc.Dim())
				tile := c.table.Src.Tile(i, i+1, make([]float64, 3))
				c.table.Encode(row, tile, i, 0)
				x := make([]float64, 3)
				for j := range x {
					for l := range 3 {
						x[j] += a.At(l, j) * (row[l] - centre[l])
					}
				}
				if long := floats.Norm(x, 2); long > frame.NormBound {
					floats.Scale(frame.NormBound/long, x)
				}
				var p, beside [k]float64
				total := 0.0
				for m := range p {
					score := floats.Dot(x, at.U[m]) + at.B[m]
					p[m], beside[m] = math.Exp(score), score-floats.Dot(x, from.U[m])-from.B[m]
					total += p[m]
				}
				for m := range p {
					p[m] /= total
				}
				p[int(y)]--
				length := math.Hypot(floats.Norm(x, 2), constant)
				if constant == 0 {
					length = math.Max(1, floats.Norm(x, 2))
				}
				long, share := floats.Norm(p[:], 2)*length, c.table.Persons.Share(i)
				own := floats.Dot(p[:], beside[:])
				if math.Abs(own) > limit {
					held++
				}
				factor += share * math.Max(-limit, math.Min(own, limit))
				scale := math.Min(1, slope.Clip/long) * share
				for m, v := range p {
					floats.AddScaled(want[m*dim:m*dim+3], scale*v, x)
					if constant > 0 {
						want[m*dim+3] += scale * v * constant
					}
				}
				cell := 0
				for cell < len(edges) && long <= edges[cell] {
					cell++
				}
				norms[cell] += share
				counts[int(y)] += share
			}
			got, _, err := heard(framed.Gradient(ctx, at, slope))
			if err != nil || !floats.EqualApprox(got, want, 1e-9) {
				t.Errorf("%s, constant %g: gradient %v, by loops %v (%v)", name, constant, got, want, err)
			}
			got, _, err = heard(framed.GradientNorms(ctx, edges, at, slope))
			if err != nil || !floats.EqualApprox(got, norms, 1e-9) {
				t.Errorf("%s, constant %g: norms %v, by loops %v (%v)", name, constant, got, norms, err)
			}
			got, l2, err := heard(framed.ScaleSlope(ctx, at, from, limit))
			if err != nil || held < 50 || held > n-50 || !floats.EqualApprox(got, []float64{factor}, 1e-9) || !(l2 >= 2*limit && l2 < 2*limit*(1+1e-9)) {
				t.Errorf("%s: slope in a factor %v (%g), by loops %g of which %d are held (%v)", name, got, l2, factor, held, err)
			}
			if got, _, _ = heard(classes.Counts(ctx, whole)); !floats.EqualApprox(got, counts, 1e-9) {
				t.Errorf("%s: counts %v, by loops %v", name, got, counts)
			}
		}
	}
}

// Each person counts their shares in every histogram of classes, in as many as a row is counted
// in.
func TestClassCountsAreShares(t *testing.T) {
	const n, k = 400, 3
	r := rand.New(rand.NewPCG(17, 1))
	o := randomOwned(r, n, 150)
	for i := range o.y {
		o.y[i] = float64(r.IntN(k))
	}
	owned, order, err := rows.Own(mustTable(t, o.x, encoding.NewIdentity(3, 1.5, true)), rows.Owners{Persons: o.Given, Count: 150, Most: 2, Weights: o.weights, Heavy: 1})
	if err != nil {
		t.Fatal(err)
	}
	classes, err := NewClasses(ctx, owned, blocks.Gather(o.y, order), k)
	if err != nil {
		t.Fatal(err)
	}
	framed, err := classes.Frame(ctx, whole, Frame{})
	if err != nil {
		t.Fatal(err)
	}
	shares := floats.Sum(owned.Persons.Shares)
	if !(shares < 0.8*float64(len(order))) {
		t.Fatalf("%d rows count %g", len(order), shares)
	}
	at := ClassPoint{U: [][]float64{{0.5, -0.3, 0.2}, {-0.4, 0.1, 0.6}, {0, 0.9, -0.2}}, B: []float64{0.1, -0.2, 0.3}}
	edges := []float64{1, 0, -1}
	cells := [][]float64{edges, edges, edges}
	for name, c := range map[string]struct {
		ask   func() (release.Answer, error)
		times float64
	}{
		"own":          {func() (release.Answer, error) { return framed.LogOdds(ctx, Own, cells, at, nil) }, 1},
		"others":       {func() (release.Answer, error) { return framed.LogOdds(ctx, Others, cells, at, nil) }, k - 1},
		"every":        {func() (release.Answer, error) { return framed.LogOdds(ctx, Every, cells, at, nil) }, k},
		"own log odds": {func() (release.Answer, error) { return framed.OwnLogOdds(ctx, edges, at, nil) }, 1},
		"Brier":        {func() (release.Answer, error) { return framed.Brier(ctx, edges, at, nil) }, 1},
		"confusion":    {func() (release.Answer, error) { return framed.Confusion(ctx, at) }, 1},
		"classes":      {func() (release.Answer, error) { return classes.Counts(ctx, whole) }, 1},
	} {
		counts, l2, err := heard(c.ask())
		if err != nil || !(math.Abs(floats.Sum(counts)-c.times*shares) < 1e-9) || !(math.Abs(l2-math.Sqrt(2*c.times)) < 1e-9) {
			t.Errorf("%s: %g in all, want %g times %g; declared %g (%v)", name, floats.Sum(counts), c.times, shares, l2, err)
		}
	}
}

// Scores however large make probabilities, and labels that are no classes are refused.
func TestClassesAtTheEnds(t *testing.T) {
	table := mustTable(t, mat.NewDense(2, 1, []float64{1, -1}), encoding.NewIdentity(1, 1, true))
	for _, y := range [][]float64{{0, 3}, {-1, 0}, {0.5, 0}, {0, math.NaN()}, {0, math.Inf(1)}} {
		if _, err := NewClasses(ctx, table, y, 3); !errors.Is(err, check.ErrLabel) {
			t.Errorf("labels %v: %v", y, err)
		}
	}
	classes, err := NewClasses(ctx, table, []float64{0, 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	framed, err := classes.Frame(ctx, whole, Frame{})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []float64{1e3, 1e100, 1.5e308} {
		at := ClassPoint{U: [][]float64{{size}, {size}, {-size}}, B: []float64{size, size, 0}}
		got, l2, err := heard(framed.Gradient(ctx, at, ClassSlope{Clip: 0.5, Constant: 1}))
		if err != nil || math.IsNaN(floats.Sum(got)) || !(floats.Norm(got, 2) <= l2) {
			t.Errorf("scores of %g: %v, %v", size, got, err)
		}
		got, l2, err = heard(framed.ScaleSlope(ctx, at, constants(at, make([]float64, 3)), 0.5))
		if err != nil || !(math.Abs(got[0]) <= l2) {
			t.Errorf("scores of %g: slope in a factor %v, %v", size, got, err)
		}
	}
}

// A gradient's declared sensitivity is twice the clip, and √K times the rounding of one
// class; that of the slope in a factor is twice the limit, and the rounding of a sum.
func TestClassesDeclareTheirRounding(t *testing.T) {
	table := mustTable(t, mat.NewDense(600, 2, nil), encoding.NewIdentity(2, 1, true))
	for _, k := range []int{2, 9} {
		classes, err := NewClasses(ctx, table, make([]float64, 600), k)
		if err != nil {
			t.Fatal(err)
		}
		framed, err := classes.Frame(ctx, whole, Frame{})
		if err != nil {
			t.Fatal(err)
		}
		p := ClassSlope{Clip: 0.7, Constant: 0.5}
		at := ClassPoint{U: make([][]float64, k), B: make([]float64, k)}
		for c := range at.U {
			at.U[c] = make([]float64, 2)
		}
		_, l2, err := heard(framed.Gradient(ctx, at, p))
		if err != nil {
			t.Fatal(err)
		}
		one := framed.r.bounds().gradientSensitivity(p.slope()) - 1.4
		if got := (l2 - 1.4) / one; !(math.Abs(got/math.Sqrt(float64(k))-1) < 1e-3) {
			t.Errorf("%d classes: declared %g beyond twice the clip, %g times that of one", k, l2-1.4, got)
		}
		if _, l2, err = heard(framed.ScaleSlope(ctx, at, constants(at, at.B), 0.7)); err != nil {
			t.Fatal(err)
		}
		block, blocks := measureBlocks(table.Layout)
		if want := 2.2 * encoding.Unit * 0.7 * (block*block + blocks*600 + 4*600); !(math.Abs((l2-1.4)/want-1) < 1e-3) {
			t.Errorf("%d classes: declared %g beyond twice the limit, want %g", k, l2-1.4, want)
		}
	}
}

// A gradient of all classes has no coordinate apart from its clip: a question for one that
// does, whose sum a row can move by far more than twice the clip, is refused. Without one,
// two rows of different classes move it by what is declared at most, and by no less than
// rounding leaves of that.
func TestClassGradientsAreClippedWhole(t *testing.T) {
	const n, k = 40, 3
	at := ClassPoint{U: [][]float64{{0}, {0}, {0}}, B: make([]float64, k)}
	p := ClassSlope{Clip: 0.01, Constant: 1}
	var sums [2][]float64
	var declared float64
	for r := range sums {
		x, y := mat.NewDense(n, 1, nil), make([]float64, n)
		x.Set(3, 0, 1)
		y[3] = float64(r)
		classes, err := NewClasses(ctx, mustTable(t, x, encoding.NewIdentity(1, 1, true)), y, k)
		if err != nil {
			t.Fatal(err)
		}
		framed, err := classes.Frame(ctx, whole, Frame{})
		if err != nil {
			t.Fatal(err)
		}
		if sums[r], declared, err = heard(framed.Gradient(ctx, at, p)); err != nil {
			t.Fatal(err)
		}
	}
	moved := floats.Distance(sums[0], sums[1], 2)
	// p − e_y and p − e_y′ are at an angle of 120° for three classes at equal scores.
	if !(moved <= declared && moved >= 0.86*declared) {
		t.Errorf("moved by %g, declared %g", moved, declared)
	}
}

// constants is a point of constant scores.
func constants(at ClassPoint, b []float64) ClassPoint {
	p := ClassPoint{make([][]float64, len(b)), b}
	for k := range p.U {
		p.U[k] = make([]float64, len(at.U[0]))
	}
	return p
}
