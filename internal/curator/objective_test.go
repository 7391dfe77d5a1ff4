package curator

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
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
				normBound, curvature := 0.0, 0.0
				var slope, declared float64
				for range 1000 {
					d := newSample(r, 1, 3, loss.Labels()).neighbour(r, 0, loss.Labels()).open(t, intercept)
					sums := under(t, d, loss)
					m, err := sums.Objective(nil, clip, 2)
					if err != nil {
						t.Fatal(err)
					}
					slope, declared = m.Slope(), m.Curvature()
					room := 1 + sums.s.Bounds().Slack() // computed rows may be longer by that
					x, k := sums.s.Bounds().FeatureBound()*room, loss.Constants(everywhere, sampleLabel)
					if m.Curvature() < k.Smoothness*x*x*(1-4*unit) || m.Slope() < math.Min(clip*room, k.Lipschitz*x)*(1-4*unit) {
						t.Fatalf("%s: slope %.17g and curvature %.17g leave out the rounding of rows", loss.Name(), m.Slope(), m.Curvature())
					}
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
					normBound = math.Max(normBound, floats.Norm(a, 2))
					curvature = math.Max(curvature, floats.Distance(a, b, 2)/floats.Norm(step, 2))
				}
				if normBound > slope || normBound < 0.8*slope || curvature > declared*(1+1e-9) || curvature < 0.15*declared {
					t.Errorf("%s, clip %g, intercept %v: gradients of %g with curvature %g, declared %g and %g", loss.Name(), clip, intercept, normBound, curvature, slope, declared)
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
		if _, err := under(t, d, c.loss).Objective(nil, c.clip, c.lambda); !errors.Is(err, check.ErrConfig) {
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
			o := &objective{sums, clip, lambda, nil}
			w, distance, radius, err := o.minimise(ctx, b, 100)
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
			bound := WeightBound(losses.Logistic{}, 0, 0, 400, sampleBound, clip, lambda, 100)
			if floats.Norm(w, 2) > bound/1.05 || radius != 2*bound {
				t.Errorf("d = %d, λ = %g: minimiser of norm %g beyond %g, within a radius of %g", dim, lambda, floats.Norm(w, 2), bound, radius)
			}
			if _, also, alike, err := (&objective{other, clip, lambda, nil}).minimise(ctx, b, 100); err != nil || also != distance || alike != radius {
				t.Errorf("d = %d, λ = %g: distance %g, radius %g, and %g, %g of a neighbour (%v)", dim, lambda, distance, radius, also, alike, err)
			}
			for _, factor := range []float64{1e5, 1e30} { // far beyond the bound: on the sphere, to as much
				far := slices.Clone(b)
				floats.Scale(factor*lambda*(1+radius), far)
				if w, also, _, err := o.minimise(ctx, far, 100); err != nil || also != distance || floats.Norm(w, 2) < radius-distance {
					t.Errorf("d = %d, λ = %g: %g times the linear term has a minimiser of norm %g, radius %g; distance %g, before %g (%v)", dim, lambda, factor, floats.Norm(w, 2), radius, also, distance, err)
				}
			}
		}
	}
}

// A loss that is continued linearly may fall as fast as a row's gradient is held to, and no faster: where that is far less than its slope the bound on
// minimisers' norms goes by it.
func TestWeightBoundGoesByTheClip(t *testing.T) {
	const n, lambda = 100, 1e-9
	loss := losses.Extended{Inner: losses.Poisson{}, Limit: 1}
	for _, clip := range []float64{0.01, 0.02} {
		if bound, want := WeightBound(loss, 50, 0, n, 3, clip, lambda, 0), 1.1*2*n*clip/lambda; math.Abs(bound/want-1) > 0.01 {
			t.Errorf("clip %g: %g, want about %g", clip, bound, want)
		}
	}
}

// No minimiser lies beyond the bound on its norm, where a row's gradient and b draw
// it as far as they can: rows are all alike, in one dimension.
func TestWeightBoundHoldsMinimisers(t *testing.T) {
	const n, label = 1000.0, 1.5
	for _, loss := range []losses.Loss{losses.SmoothedHinge{Width: 1e-3}, losses.Logistic{}, losses.SquaredHinge{}, losses.Squared{}, losses.Huber{Kappa: 0.1},
		losses.Extended{Inner: losses.Poisson{}, Limit: 2}} {
		y, closest := 1.0, 0.0
		if loss.Labels() != losses.Binary {
			y = label
		}
		for _, lambda := range []float64{1e-3, 1, 100} {
			for k, b := range []float64{0, 1, 100, 1, 1} {
				offset := []float64{0, 0, 0, -3, -0.5}[k]
				for x := 1e-3; x < 10; x *= 1.1 {
					bound := WeightBound(loss, label, math.Abs(offset), n, x, 1e300, lambda, b)
					lo, hi := 0.0, 1e9 // the minimiser of n·φ(xw) − bw + λw²/2
					for range 200 {
						if w := (lo + hi) / 2; n*x*loss.Deriv(x*w+offset, y)-b+lambda*w < 0 {
							lo = w
						} else {
							hi = w
						}
					}
					if closest = math.Max(closest, lo/bound); lo > bound {
						t.Fatalf("%s, λ = %g, b = %g, x = %g: minimiser at %g, beyond the weight bound %g", loss.Name(), lambda, b, x, lo, bound)
					}
				}
			}
		}
		if closest < 0.2 {
			t.Errorf("%s: minimisers come no nearer to the bound than %g times it", loss.Name(), closest)
		}
	}
}

// The distance that a minimiser may be off counts the rounding of gradients: of their
// sums, which grows with n², and of a long b that is added.
func TestSolversCountRounding(t *testing.T) {
	const clip, n = 1e-3, 3000
	d := newSample(rand.New(rand.NewPCG(1, 2)), n, 2, losses.Binary).open(t, false)
	sums := under(t, d, losses.Logistic{})
	for _, c := range []struct{ normBound, lambda float64 }{{1, 1e-3}, {1e8, 1e10}} {
		normBound, lambda := c.normBound, c.lambda
		_, distance, _, err := (&objective{sums, clip, lambda, nil}).minimise(ctx, []float64{normBound, 0}, normBound)
		if err != nil {
			t.Fatal(err)
		}
		if least := (sums.s.Bounds().GradientError(1, clip) + 2*unit*normBound) / lambda; distance < least {
			t.Errorf("‖b‖ = %g: distance %g, but rounding moves the minimiser by %g", normBound, distance, least)
		}
	}
	for _, radius := range []float64{1, 1e8} {
		const lambda = 1e-3
		p := regularised(ctx, sums.s, radius, lambda)
		if least := sums.s.Bounds().GradientError(radius, math.Inf(1))/n + 2*unit*lambda*radius; p.Error < least {
			t.Errorf("radius %g: error of the gradient %g, of sums and the regulariser %g", radius, p.Error, least)
		}
	}
}
