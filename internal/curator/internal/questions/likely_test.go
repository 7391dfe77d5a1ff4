package questions

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// Of two classes a row's gradient, as it is shortened for the label that is less likely, is 0 on average over labels
// of the model's odds, however short the clip; clipped as it is it isn't.
func TestWeighedIsUnbiased(t *testing.T) {
	s := &Sums{loss: losses.Logistic{}, labels: []float64{1, -1}}
	const score = 2.0
	odds := 1 / (1 + math.Exp(-score))
	norms := []float64{0.9, 0.9}
	for _, clip := range []float64{0.05, 0.2, 0.5, 2} {
		mean := func(p Slope) float64 {
			z := []float64{score, score}
			s.weighed(z, make([]float64, 2), 0, norms, p)
			for k := range z {
				most := clip / norms[k]
				if p.Likely > 0 && math.Abs(z[k]) > most*(1+1e-12) {
					t.Errorf("clip %g: a slope of %g is longer", clip, z[k])
				}
				z[k] = math.Max(-most, math.Min(z[k], most))
			}
			return odds*z[0] + (1-odds)*z[1]
		}
		if got := mean(Slope{Clip: clip, Likely: 1}); math.Abs(got) > 1e-12 {
			t.Errorf("clip %g: gradients are %g on average", clip, got)
		}
		if got := mean(Slope{Clip: clip}); clip < 0.5 && math.Abs(got) < 1e-3 {
			t.Errorf("clip %g: without the factor gradients are %g on average, so that nothing is tested", clip, got)
		}
	}
}

// Where slopes have no bound a row counts by so many deviations of the likelihood at its score, whatever its label.
func TestLikelyDeviations(t *testing.T) {
	for _, c := range []struct {
		loss  losses.Loss
		score float64
		want  float64
	}{
		{losses.Squared{}, 3, 2}, {losses.Poisson{}, math.Log(4), 4}, {losses.CappedPoisson{Cap: 1}, math.Log(4), 2},
		{losses.NegativeBinomial{Dispersion: 1}, 0, 2 / math.Sqrt2}, {losses.Gamma{Least: 0.1}, 1, 2},
		{losses.Extended{Inner: losses.Poisson{}, Limit: 0.5}, 3, 2 * math.Exp(0.25)},
	} {
		if got := 2 * math.Sqrt(variance(c.loss, c.score)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s at %g: two deviations are %g, want %g", c.loss.Name(), c.score, got, c.want)
		}
	}
	s := &Sums{loss: losses.Squared{}, labels: []float64{1, -1}}
	z := []float64{0.25, 0.25} // slopes −0.75 and 1.25
	s.weighed(z, make([]float64, 2), 0, []float64{1, 4}, Slope{Clip: 1, Likely: 0.5})
	if z[0] != -0.75 || z[1] != 0.625 {
		t.Errorf("slopes are %v, want −¾ and half of 1¼", z)
	}
	z = []float64{math.Inf(1), math.NaN()}
	s.weighed(z, make([]float64, 2), 0, []float64{1, 1}, Slope{Clip: 1, Likely: 0.5})
	if !math.IsInf(z[0], 1) || z[1] != 0 {
		t.Errorf("of scores beyond numbers slopes are %v", z)
	}
}
