package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/losses"
)

// Two classes are held by the few rows on the wrong side, and quantiles but the middle one by those on one side; several classes, counts and losses with
// the same slopes on both sides aren't.
func TestHeldByFew(t *testing.T) {
	smoothed, _ := losses.Envelope(losses.Quantile{Tau: 0.9}, 0.1)
	for _, l := range []losses.Loss{losses.Quantile{Tau: 0.9}, losses.Quantile{Tau: 0.1}, smoothed, losses.Logistic{}, losses.Probit{}} {
		if p := (Problem{Loss: l, Facts: Facts{LabelBound: 3}}); !p.heldByFew() {
			t.Errorf("%s isn't held by few rows, with slopes of %g and %g", l.Name(), l.Deriv(3, -3), l.Deriv(-3, 3))
		}
	}
	for _, l := range []losses.Loss{losses.Quantile{Tau: 0.5}, losses.Absolute{}, losses.Huber{Kappa: 0.1}, losses.Squared{}, losses.Poisson{}} {
		if p := (Problem{Loss: l, Facts: Facts{LabelBound: 3}}); p.heldByFew() {
			t.Errorf("%s is taken to be held by few rows", l.Name())
		}
	}
	if p := (Problem{Loss: losses.Logistic{}, Classes: 3}); p.heldByFew() {
		t.Error("several classes are taken to be held by few rows")
	}
}

// Along a step of descent the curvature is that of the loss, with several columns and an intercept whose
// noise is larger, too; less two standard deviations where there is noise. It is more than it is by chance in
// one draw of 44, or of 30 where it is a square's that decides: in more than 16 of 200 in one list of 1000.
func TestSteepness(t *testing.T) {
	const d, size, apart = 20, 0.5, 3.0
	curvatures := make([]float64, d+1)
	for j := range curvatures {
		curvatures[j] = 0.5 + 0.1*float64(j)
	}
	for _, noise := range []float64{0, 0.02, 3} {
		r := rand.New(rand.NewPCG(4, 9))
		low, high := 0, 0
		for range 200 {
			var seen steepness
			at, step := like([][]float64{curvatures, curvatures}), like([][]float64{curvatures, curvatures})
			for c := range at {
				for j := range at[c] {
					at[c][j] = r.NormFloat64()
				}
			}
			var h, truth, square float64
			for range 3 { // gradients, of which the last two tell
				g := like(at)
				for c := range g {
					for j := range g[c] {
						sd := noise
						if j == d {
							sd *= apart
						}
						g[c][j] = curvatures[j]*at[c][j] + sd*r.NormFloat64()
					}
				}
				h = seen.curvature(g, step, noise, apart, Stage{Size: size, Intercept: 1}, 2)
				truth, square = 0, 0
				for c := range at {
					for j := range at[c] {
						truth += curvatures[j] * step[c][j] * step[c][j]
						square += step[c][j] * step[c][j]
					}
					floats.AddScaledTo(step[c], make([]float64, d+1), -size, g[c])
					floats.Add(at[c], step[c])
				}
			}
			truth /= square
			switch {
			case noise == 0 && math.Abs(h-truth) > 1e-9:
				t.Fatalf("a curvature of %g, not %g", h, truth)
			case h > truth+1e-9:
				high++
			case h < 0.8*truth:
				low++
			}
		}
		t.Logf("noise %g: %d of 200 too high, %d far too low", noise, high, low)
		if high > 16 || noise == 0.02 && low > 0 || noise == 3 && low < 150 {
			t.Errorf("noise %g: %d of 200 too high, %d far too low", noise, high, low)
		}
	}
}

// What the intercept's noise has driven goes by the part of steps that it takes: where that is small, so is what is taken off. Of 200 draws the
// median is near the curvature; taken off as of whole steps it would be below a half of it.
func TestSteepnessOfShortInterceptSteps(t *testing.T) {
	const size, apart, noise, part = 0.5, 6, 0.05, 0.05
	r := rand.New(rand.NewPCG(6, 9))
	s := Stage{Size: size, Intercept: part}
	var found []float64
	for range 200 {
		var seen steepness
		at, step := [][]float64{{1, 0.1}}, [][]float64{{0, 0}}
		var h float64
		for range 2 {
			g := [][]float64{{at[0][0] + noise*r.NormFloat64(), at[0][1] + apart*noise*r.NormFloat64()}}
			h = seen.curvature(g, step, noise, apart, s, 1)
			step = [][]float64{{-size * g[0][0], -size * part * g[0][1]}}
			floats.Add(at[0], step[0])
		}
		found = append(found, h)
	}
	slices.Sort(found)
	t.Logf("median %g", found[100])
	if found[100] < 0.6 || found[100] > 1 {
		t.Errorf("a curvature of %g in the median, which is 1 less what noise hides", found[100])
	}
}

// At the intercept's range that slope takes, noise in all coordinates together is least: slopes in ±k move by 2k where gradients of a length C move by 2C, and means in
// [0, k] by k; by 2k, in the same units, where these move by C, as with a row more or less.
func TestApartIsBest(t *testing.T) {
	for _, c := range []struct {
		clip, bound, effective, means float64
		removed                       bool
		moves                         float64 // of a k of 1
	}{{1.5, 1, 9, 0, false, 2}, {0.8, 100, 4, 0, true, 2}, {12, 1, 300, 0, false, 2}, {0.8, 100, 4, 3, false, 1}, {0.8, 100, 4, 3, true, 2}} {
		x := &Descent{Run: new(Run), Labels: Labels{Apart: c.bound, Means: c.means}, Frame: &Frame{Effective: c.effective}}
		x.Run.Problem.Facts.Intercept, x.Run.Problem.Facts.AddRemove = true, c.removed
		x.Run.Problem.Loss = logisticLoss
		slope, bound := x.slope(c.clip), c.bound
		if c.means > 0 {
			bound = c.means
		}
		k := slope.Constant
		noise := func(k float64) float64 {
			return (4*c.clip*c.clip + math.Pow(c.moves*k, 2)) * (c.effective + bound*bound/(k*k))
		}
		for _, factor := range []float64{0.98, 1.02} {
			if noise(k*factor) <= noise(k) {
				t.Errorf("%+v: less noise at %g times %g", c, factor, k)
			}
		}
		sd, apart := Stage{Share: 3, Steps: 3}.noise(slope, x.Labels.moves(k, x.Run.Problem.Facts), 1)
		if all := sd * sd * (c.effective + apart*apart); math.Abs(all/noise(k)-1) > 1e-9 {
			t.Errorf("%+v: noise of variance %g is expected, and %g drawn", c, all, noise(k))
		}
	}
}
