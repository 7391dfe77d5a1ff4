package curator

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// What a minimand declares holds for any row and any weights: no gradient is longer
// than its slope, and no loss has more curvature; both are nearly attained.
func TestObjectiveDeclares(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, loss := range every {
		for _, clip := range []float64{0.3, noClip} {
			for _, intercept := range []bool{false, true} {
				if math.IsInf(clip, 1) && math.IsInf(loss.Constants(everywhere, sampleLabel).Lipschitz, 1) {
					continue
				}
				longest, curvature := 0.0, 0.0
				var slope, declared float64
				for range 1000 {
					d := newSample(r, 1, 3, loss.Labels()).neighbour(r, 0, loss.Labels()).open(t, intercept)
					sums := under(t, d, loss)
					m, err := sums.Objective(clip, 2)
					if err != nil {
						t.Fatal(err)
					}
					slope, declared = m.Slope, m.Curvature
					w, size := make([]float64, sums.Dim()), 20*math.Exp2(-9*r.Float64())
					for j := range w {
						w[j] = size * r.NormFloat64()
					}
					a, b, step := make([]float64, len(w)), make([]float64, len(w)), make([]float64, len(w))
					for j := range step {
						step[j] = 0.01 * r.NormFloat64()
					}
					moved := make([]float64, len(w))
					floats.AddTo(moved, w, step)
					if err := errors.Join(sums.s.Gradient(ctx, a, w, clip), sums.s.Gradient(ctx, b, moved, clip)); err != nil {
						t.Fatal(err)
					}
					longest = math.Max(longest, floats.Norm(a, 2))
					curvature = math.Max(curvature, floats.Distance(a, b, 2)/floats.Norm(step, 2))
				}
				if longest > slope || longest < 0.8*slope || curvature > declared*(1+1e-9) || curvature < 0.15*declared {
					t.Errorf("%s, clip %g, intercept %v: gradients of %g with curvature %g, declared %g and %g", loss.Name(), clip, intercept, longest, curvature, slope, declared)
				}
			}
		}
	}
}

// A loss whose constants don't hold at every score is refused: there is no ball.
func TestObjectiveRefuses(t *testing.T) {
	flat := losses.Custom{Label: "flat", Domain: losses.Real, Phi: losses.Absolute{}.Value, DPhi: losses.Absolute{}.Deriv,
		AtZero: math.Abs, SlopeAtZero: func(float64) float64 { return 1 }, Lipschitz: 1,
		SmoothnessWithin: func(z, _ float64) float64 { return math.Inf(1) }}
	for name, c := range map[string]struct {
		loss         losses.Loss
		clip, lambda float64
	}{
		"no Lipschitz constant": {losses.Squared{}, noClip, 1}, "no smoothness": {flat, 1, 1}, "smooth on balls only": {losses.Poisson{}, 1, 1},
		"no λ": {losses.Logistic{}, 1, 0}, "negative λ": {losses.Logistic{}, 1, -1}, "NaN λ": {losses.Logistic{}, 1, math.NaN()},
		"no clip at all": {losses.Logistic{}, 0, 1}, "NaN clip": {losses.Logistic{}, math.NaN(), 1},
	} {
		d := newSample(rand.New(rand.NewPCG(1, 2)), 3, 2, c.loss.Labels()).open(t, false)
		if _, err := under(t, d, c.loss).Objective(c.clip, c.lambda); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The computed minimiser is as near to the exact one as it says, in moderate and high
// dimensions, for small λ and long b, by the gradient there: no further than that over
// λ. The distance is the same for any rows.
func TestObjectiveCertificate(t *testing.T) {
	const clip = 0.25
	for _, dim := range []int{5, 1200} {
		r := rand.New(rand.NewPCG(5, 6))
		s := newSample(r, 400, dim, losses.Binary)
		s.x.Scale(1/math.Sqrt(float64(dim)), s.x)
		sums := under(t, s.open(t, false), losses.Logistic{})
		other := under(t, s.neighbour(r, 7, losses.Binary).open(t, false), losses.Logistic{})
		for _, lambda := range []float64{0.01, 10} {
			b := make([]float64, dim)
			for j := range b {
				b[j] = math.Sin(float64(j))
			}
			o := &objective{sums, clip, lambda}
			w, distance, err := o.minimise(ctx, b, 100)
			if err != nil {
				t.Fatal(err)
			}
			g := make([]float64, dim)
			if err := sums.s.Gradient(ctx, g, w, clip); err != nil {
				t.Fatal(err)
			}
			vector.AddScaled(g, lambda, w)
			floats.Add(g, b)
			if off := floats.Norm(g, 2) / lambda; off > distance {
				t.Errorf("d = %d, λ = %g: gradient allows a distance of %g, declared %g", dim, lambda, off, distance)
			}
			if bound := WeightBound(losses.Logistic{}, 0, 400, sampleBound, clip, lambda, 100); floats.Norm(w, 2) > bound/1.05 {
				t.Errorf("d = %d, λ = %g: minimiser of norm %g beyond %g", dim, lambda, floats.Norm(w, 2), bound)
			}
			if _, also, err := (&objective{other, clip, lambda}).minimise(ctx, b, 100); err != nil || also != distance {
				t.Errorf("d = %d, λ = %g: distance %g, and %g of a neighbour (%v)", dim, lambda, distance, also, err)
			}
		}
	}
}
