package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// Without noise both kinds of sums tell the mean, and two of them the number of rows, within its bound.
func TestMeanLabelWithoutNoise(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		p := Problem{Facts: Facts{Rows: 1000, LabelBound: 4}, Loss: loss}
		low, high := p.LabelEnds()
		mean := low + 0.3*(high-low)
		if m, n, noise := p.MeanLabel([]float64{mean * 1000}, 0, 1000, 0); math.Abs(m.Value-mean) > 1e-12 || m.Noise != 0 || n != 1000 || noise != 0 {
			t.Errorf("%s: %+v of %g rows, noise %g", loss.Name(), m, n, noise)
		}
		p.Facts.AddRemove = true
		if m, n, noise := p.MeanLabel([]float64{280, 120}, 0, 1000, 0); math.Abs(m.Value-mean) > 1e-12 || m.Noise != 0 || n != 400 || noise != 0 {
			t.Errorf("%s: %+v of %g rows, noise %g", loss.Name(), m, n, noise)
		}
		// Of more than there may be, each end has half too many.
		if m, n, _ := p.MeanLabel([]float64{750, 350}, 0, 1000, 0); n != 1000 || math.Abs(m.Value-mean) > 1e-12 {
			t.Errorf("%s: %+v of %g rows", loss.Name(), m, n)
		}
	}
}

// The noise that a mean is said to have is its standard deviation, over draws of noise: within five standard errors of 4000 draws, which a
// right program fails once in 10⁶.
func TestMeanLabelKnowsItsNoise(t *testing.T) {
	const n, unit, draws = 5000.0, 40.0, 4000
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		loss      losses.Loss
		addRemove bool
		part      float64
	}{{losses.Logistic{}, false, 0.1}, {losses.Logistic{}, true, 0.1}, {losses.Squared{}, true, 0.5}, {losses.Squared{}, false, 0.8}, {losses.Poisson{}, true, 0.05}, {losses.Poisson{}, false, 0.05}} {
		p := Problem{Facts: Facts{Rows: n, LabelBound: 4, AddRemove: c.addRemove}, Loss: c.loss}
		low, high := p.LabelEnds()
		mean, known := low+c.part*(high-low), n
		if c.addRemove {
			p.Facts.Rows = 2 * n
		}
		var sum, squares, said float64
		for range draws {
			sums := []float64{n*mean + (high-low)*unit*r.NormFloat64()}
			if c.addRemove { // units are of a μ that is twice the budget's
				sums = []float64{n*(1-c.part) + 2*unit*r.NormFloat64(), n*c.part + 2*unit*r.NormFloat64()}
				known = 2 * n
			}
			m, _, _ := p.MeanLabel(sums, unit, known, 0)
			sum, squares, said = sum+m.Value-mean, squares+math.Pow(m.Value-mean, 2), said+m.Noise/draws
		}
		bias, sd := sum/draws, math.Sqrt(squares/draws)
		if math.Abs(sd/said-1) > 5/math.Sqrt(2*draws)+0.01 || math.Abs(bias) > 0.1*said {
			t.Errorf("%s, add/remove %v: deviation %g, said %g, bias %g", c.loss.Name(), c.addRemove, sd, said, bias)
		}
	}
}

// A number of rows that two releases tell as well counts as their mean, whose noise is less by √2; labels' mean is that of the labels'
// release alone.
func TestMeanLabelWeighsNumbersOfRows(t *testing.T) {
	p := Problem{Facts: Facts{Rows: 1000, LabelBound: 4, AddRemove: true}, Loss: losses.Poisson{}}
	noise := 5 * 2 * math.Sqrt2 // of two ends, of a unit of 5
	m, n, left := p.MeanLabel([]float64{300, 100}, 5, 500, noise)
	if math.Abs(n-450) > 1e-9 || math.Abs(left-noise/math.Sqrt2) > 1e-9 || math.Abs(m.Value-4*(0.5-100./450)) > 1e-9 {
		t.Errorf("%g rows with noise %g, mean %g", n, left, m.Value)
	}
}
