package curator

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// The sensitivity of a minimiser is Δ = D/(λn), by the loss's own diameter, and twice
// the tolerance that the solver was asked for, a millionth of Δ at least.
func TestMinimiserCountsTheTolerance(t *testing.T) {
	const radius = 0.7
	for _, loss := range every {
		for _, lambda := range []float64{1e-6, 0.3, 50} {
			d := newSample(rand.New(rand.NewPCG(1, 2)), 11, 3, loss.Labels()).open(t, false)
			sums := under(t, d, loss)
			point, err := sums.Minimiser(ctx, radius, lambda)
			if err != nil {
				t.Fatal(err)
			}
			delta := sampleBound * loss.Diameter(sampleBound*radius, sampleLabel) / (lambda * 11)
			tolerance := math.Max(1e-6*delta, regularised(ctx, sums.s, radius, lambda).Floor())
			want := math.Min(delta+2*tolerance, 2*radius)
			e := overheard(t, d.Rows(), point.Weights(), 3)
			if e.L2 < want || e.L2 > want*(1+1e-6) {
				t.Errorf("%s, λ = %g: sensitivity %.9g, want %.9g", loss.Name(), lambda, e.L2, want)
			}
			if floats.Norm(e.Values, 2) > point.norm || point.norm < radius || point.norm > radius*(1+1e-9) {
				t.Errorf("%s: norm %g, bound %g", loss.Name(), floats.Norm(e.Values, 2), point.norm)
			}
		}
	}
}

// The minimiser is within its tolerance of the closed form of ridge regression, also
// where the solver has no second moments to go by.
func TestMinimiserIsTheClosedForm(t *testing.T) {
	const n, radius, lambda = 30, 5.0, 0.2
	s := newSample(rand.New(rand.NewPCG(7, 8)), n, 3, losses.Real)
	x, y := s.bounded(losses.Real, sampleBound, 0, sampleLabel)
	var system, right = mat.NewSymDense(3, nil), mat.NewVecDense(3, nil)
	for i, row := range x {
		v := mat.NewVecDense(3, row)
		system.SymRankOne(system, 1.0/n, v)
		right.AddScaledVec(right, y[i]/n, v)
	}
	addToDiagonal(system, lambda)
	var want mat.VecDense
	if err := want.SolveVec(system, right); err != nil {
		t.Fatal(err)
	}
	sums := under(t, s.open(t, false), losses.Squared{})
	for name, coarse := range map[string]bool{"Newton": false, "first order": true} {
		for _, tolerance := range []float64{1e-9, 1e-2} {
			problem := regularised(ctx, sums.s, radius, lambda)
			if coarse {
				problem.Hessian = nil
			}
			w, err := problem.Minimize(ctx, tolerance)
			if off := floats.Distance(w, want.RawVector().Data, 2); err != nil || off > tolerance {
				t.Errorf("%s: off by %g, tolerance %g (%v)", name, off, tolerance, err)
			}
		}
	}
	p, err := sums.Minimiser(ctx, radius, lambda)
	if err != nil {
		t.Fatal(err)
	}
	if off := floats.Distance(p.w, want.RawVector().Data, 2); off > 1e-5*p.moves {
		t.Errorf("off by %g of the sensitivity %g", off, p.moves)
	}
}

// Steps of descent are those of a loop; they never are longer than 2/H̃, and no
// replaced row moves the last one by more than declared.
func TestDescendByLoop(t *testing.T) {
	const n, radius = 8, 0.6
	for _, loss := range every {
		for _, size := range []float64{1e-18, 0.2, 1e9} {
			for _, steps := range []int{1, 7, 101} {
				r := rand.New(rand.NewPCG(9, 10))
				s, worst := newSample(r, n, 3, loss.Labels()), 0.0
				d := s.open(t, false)
				calls := 0
				p, err := under(t, d, loss).Descend(ctx, radius, steps, size, func(done, total int) {
					if calls++; done != calls || total != steps {
						t.Errorf("progress %d of %d, step %d of %d", done, total, calls, steps)
					}
				})
				if err != nil || calls != steps {
					t.Fatalf("%d steps: %v", calls, err)
				}
				x, y := s.bounded(loss.Labels(), sampleBound, 0, sampleLabel)
				w, eta := make([]float64, 3), size
				smooth := loss.Constants(sampleBound*radius, sampleLabel).Smoothness * sampleBound * sampleBound
				eta = math.Min(eta, 2/smooth)
				for range steps {
					g := make([]float64, 3)
					for i, row := range x {
						vector.AddScaled(g, loss.Deriv(floats.Dot(row, w), y[i])/n, row)
					}
					vector.AddScaled(w, -eta, g)
					if norm := floats.Norm(w, 2); norm > radius {
						floats.Scale(radius/norm, w)
					}
				}
				e := overheard(t, d.Rows(), p.Weights(), 3)
				if !near(e.Values, w, 1e-9) {
					t.Errorf("%s, %d steps of %g: %v, want %v", loss.Name(), steps, size, e.Values, w)
				}
				// Beside the exact step, twice: a sum's error, and a last digit of w.
				sums := under(t, d, loss)
				held := math.Min(size, 2/sums.s.Bounds().GradientSmoothness(radius*(1+1e-14))) * (1 - 2e-15)
				rounded := held*(sums.s.Bounds().Diameter(radius)+2*sums.s.Bounds().GradientError(radius, math.Inf(1)))/n + 2*unit*radius
				least := math.Min(float64(steps)*rounded, 2*radius)
				if e.L2 < least {
					t.Errorf("%s, %d steps of %g: sensitivity %.17g, want at least %.17g with rounding", loss.Name(), steps, size, e.L2, least)
				}
				for range 60 {
					other := s.neighbour(r, r.IntN(n), loss.Labels()).open(t, false)
					q, err := under(t, other, loss).Descend(ctx, radius, steps, size, func(int, int) {})
					if err != nil || q.moves != p.moves || q.norm != p.norm {
						t.Fatalf("sensitivities %g and %g of neighbours (%v)", p.moves, q.moves, err)
					}
					worst = math.Max(worst, floats.Distance(p.w, q.w, 2))
				}
				if worst > e.L2 {
					t.Errorf("%s, %d steps of %g: neighbours are %g apart, declared %g", loss.Name(), steps, size, worst, e.L2)
				}
			}
		}
	}
}

// A score is the point's at the bounded query, and moves by the point's distance times
// the feature bound.
func TestPointScores(t *testing.T) {
	d := newSample(rand.New(rand.NewPCG(1, 2)), 20, 2, losses.Real).open(t, true)
	p, err := under(t, d, losses.Squared{}).Minimiser(ctx, 3, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := p.Score([]float64{30, 40}) // held to the bound
	if err != nil {
		t.Fatal(err)
	}
	want := floats.Dot(p.w, []float64{0.6 * sampleBound, 0.8 * sampleBound, 1})
	e := overheard(t, d.Rows(), answer, 1)
	if math.Abs(e.Values[0]-want) > 1e-12 || e.L2 < p.moves*math.Hypot(sampleBound, 1) || e.L2 > p.moves*math.Hypot(sampleBound, 1)*(1+1e-6) {
		t.Errorf("score %g with sensitivity %g, want %g with %g", e.Values[0], e.L2, want, p.moves*math.Hypot(sampleBound, 1))
	}
	for _, x := range [][]float64{{1}, {1, 2, 3}, {math.NaN(), 0}, nil} {
		if _, err := p.Score(x); err == nil {
			t.Errorf("the query %v has a score", x)
		}
	}
}
