package estimate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Without noise both kinds of sums tell the mean, and two of them the number of rows, within its bound.
func TestMeanLabelWithoutNoise(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		p := Problem{Facts: Facts{Rows: 1000, LabelBound: 1}, Loss: loss}
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
		p := Problem{Facts: Facts{Rows: n, LabelBound: 1, AddRemove: c.addRemove}, Loss: c.loss}
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

// Of counts the mean is what steps come to: exactly without noise; with steps that are known for what they are, as far off as it says; with such as
// noise hides, less off by far than noise of the whole range would be, however far the range goes; and where most of the mean is in the last steps, by part of it
// only. Of 4000 draws, within five standard errors and what is given beside them.
func TestMeanLabelClimbsSteps(t *testing.T) {
	const n, draws = 5000.0, 4000
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		bound, unit float64
		addRemove   bool
		places      []float64 // that labels reach of each step
		room        float64   // on what noise is said to be, either way
		most        float64   // deviation, over the mean
	}{
		{5, 0, false, []float64{0.3, 0.2, 0.1}, 0, 0}, {5, 0, true, []float64{0.3, 0.2, 0.1}, 0, 0},
		{5, 4, false, []float64{0.5, 0.3, 0.1}, 0.05, 0.01}, {5, 4, true, []float64{0.5, 0.3, 0.1}, 0.05, 0.02},
		{5, 60, false, []float64{0.12, 0.003, 0}, 0.5, 0.25}, {5, 60, true, []float64{0.12, 0.003, 0}, 0.5, 0.5}, // .48 and .96 by one sum
		{1000, 60, false, append([]float64{0.12, 0.003}, make([]float64, 8)...), 0.6, 4}, {1000, 30, true, append([]float64{0.12, 0.003}, make([]float64, 8)...), 0.6, 4}, // 95
		{1000, 60, false, slices.Repeat([]float64{0.2}, 10), 0.6, 0.15}, {1000, 30, true, slices.Repeat([]float64{0.2}, 10), 0.6, 0.15}, // .06
	} {
		p := Problem{Facts: Facts{Rows: n, LabelBound: c.bound, AddRemove: c.addRemove}, Loss: losses.Poisson{}}
		each, width, left, mean, known := c.unit*math.Sqrt(float64(len(c.places))), 1.0, c.bound, 0.0, n
		for _, t := range c.places {
			mean, left, width = mean+math.Min(width, left)*t, left-width, 2*width
		}
		if c.addRemove {
			each, p.Facts.Rows, known = 2*each, 2*n, 2*n
		}
		var off, squares, said float64
		for range draws {
			var sums []float64
			if c.addRemove {
				sums = append(sums, n*(1-c.places[0])+each*r.NormFloat64())
			}
			for _, t := range c.places {
				sums = append(sums, n*t+each*r.NormFloat64())
			}
			m, _, _ := p.MeanLabel(sums, c.unit, known, 0)
			off, squares, said = off+math.Abs(m.Value-mean)/draws, squares+math.Pow(m.Value-mean, 2)/draws, said+m.Noise/draws
		}
		usual := off * math.Sqrt(math.Pi/2) // a deviation that a few draws which see what isn't there have no part in
		if c.unit == 0 && usual > 1e-12 || math.Abs(usual-said) > (5/math.Sqrt(2*draws)+c.room)*said+1e-12 {
			t.Errorf("to %g by %g, add/remove %v: deviation %g, said %g", c.bound, c.unit, c.addRemove, usual, said)
		}
		if math.Sqrt(squares) > c.most*mean+1e-12 {
			t.Errorf("to %g by %g, add/remove %v: deviation %g of %g", c.bound, c.unit, c.addRemove, math.Sqrt(squares), mean)
		}
	}
}

// Of amounts whose range is far above them the mean is off by no more than two standard deviations of its noise and of what is missed beside it in .9 of 2,000
// draws at least: gamma and log-normal labels of the mean 1, in ranges of 12 to 600 times that. The seed is fixed; the share has a standard deviation of .007.
func TestMeanLabelKnowsWhatItMisses(t *testing.T) {
	const n, draws = 20_000.0, 2000
	r := rand.New(rand.NewPCG(9, 10))
	for name, above := range map[string]func(t float64) float64{ // parts of labels above t
		"gamma":      func(t float64) float64 { return (1 + 2*t) * math.Exp(-2*t) },
		"log-normal": func(t float64) float64 { return distuv.UnitNormal.Survival(math.Log(t+1e-300)/0.8 + 0.4) },
	} {
		for _, bound := range []float64{12, 60, 600} {
			for _, unit := range []float64{4, 25, 150} {
				p := Problem{Facts: Facts{Rows: n, LabelBound: bound}, Loss: losses.Gamma{Least: bound / 1e4}}
				var places []float64
				low, mean := 0.0, 0.0
				steps := curator.LabelSteps(losses.Amount, bound)
				for _, width := range steps {
					const parts = 200
					place := 0.0
					for k := range parts {
						place += above(low+(float64(k)+0.5)*width/parts) / parts
					}
					places, mean, low = append(places, place), mean+place*width, low+width
				}
				held := 0
				for range draws {
					sums := make([]float64, len(steps))
					for j := range sums {
						sums[j] = n*places[j] + unit*math.Sqrt(float64(len(steps)))*r.NormFloat64()
					}
					if m, _, _ := p.MeanLabel(sums, unit, n, 0); math.Abs(m.Value-mean) <= 2*math.Hypot(m.Noise, m.Missed) {
						held++
					}
				}
				if float64(held) < 0.9*draws {
					t.Errorf("%s to %g by %g: %d of %d means are as near as told", name, bound, unit, held, draws)
				}
			}
		}
	}
}

// The mean's error has that of a number of rows that totals tell, of whichever labels and however rare one class: its own standard deviation over
// 4,000 draws, which is known to a hundredth or so.
func TestMeanLabelKnowsTheNoiseOfItsNumber(t *testing.T) {
	const n, nNoise, unit = 2000.0, 40.0, 1e-3
	r := rand.New(rand.NewPCG(3, 14))
	for _, c := range []struct {
		loss losses.Loss
		most float64
	}{{losses.Logistic{}, 1}, {losses.Squared{}, 1}, {losses.Poisson{}, 1}, {losses.Poisson{}, 8}} {
		for _, part := range []float64{0.02, 0.1, 0.5} {
			p := Problem{Facts: Facts{Rows: 4000, LabelBound: c.most, Weighted: true}, Loss: c.loss}
			low, high := p.LabelEnds()
			var sums []float64
			for j, width := range curator.LabelSteps(c.loss.Labels(), high) {
				sums = append(sums, n*part/math.Exp2(float64(j)))
				if j == 0 {
					sums[0] = n * (low + part*(width-low))
				}
			}
			if len(sums) > 1 {
				sums[0] = n * part
			}
			var values []float64
			var told float64
			for range 4000 {
				m, _, _ := p.MeanLabel(slices.Clone(sums), unit, n+nNoise*r.NormFloat64(), nNoise)
				values, told = append(values, m.Value), told+m.Noise/4000
			}
			if sd := stat.StdDev(values, nil); math.Abs(told-sd) > 0.06*sd+2e-6 {
				t.Errorf("%s to %g, mean %g of it: a noise of %g is told to be %g", c.loss.Name(), c.most, part, sd, told)
			}
		}
	}
}

// Numbers that fall stay, neighbours that rise become their mean, and no falling numbers are closer by squares.
func TestFalling(t *testing.T) {
	for _, c := range []struct{ of, want []float64 }{
		{[]float64{3, 2, 2, -1}, []float64{3, 2, 2, -1}}, {[]float64{1, 2, 6}, []float64{3, 3, 3}}, {[]float64{4, 1, 3, 0}, []float64{4, 2, 2, 0}}, {[]float64{1, 0, 5}, []float64{2, 2, 2}}, {nil, nil},
	} {
		if got := falling(c.of); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%g become %g, not %g", c.of, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		v, other := make([]float64, 5), make([]float64, 5)
		for k := range v {
			v[k], other[k] = r.NormFloat64(), r.NormFloat64()
		}
		slices.Sort(other)
		slices.Reverse(other)
		got := falling(v)
		if !slices.IsSortedFunc(got, func(a, b float64) int { return cmp.Compare(b, a) }) || floats.Distance(got, v, 2) > floats.Distance(other, v, 2) {
			t.Errorf("%g become %g, and %g are closer", v, got, other)
		}
	}
}

// A number of rows that two releases tell as well counts as their mean, whose noise is less by √2; labels' mean is that of the labels'
// release alone.
func TestMeanLabelWeighsNumbersOfRows(t *testing.T) {
	p := Problem{Facts: Facts{Rows: 1000, LabelBound: 1, AddRemove: true}, Loss: losses.Poisson{}}
	noise := 5 * 2 * math.Sqrt2 // of two ends, of a unit of 5
	m, n, left := p.MeanLabel([]float64{300, 100}, 5, 500, noise)
	if math.Abs(n-450) > 1e-9 || math.Abs(left-noise/math.Sqrt2) > 1e-9 || math.Abs(m.Value-(0.5-100./450)) > 1e-9 {
		t.Errorf("%g rows with noise %g, mean %g", n, left, m.Value)
	}
}

// Under the constant model labels have the mean that was released, φ' is 0 on average, and the curvature is its derivative there, at fixed labels:
// of labels of that mean where φ' is linear in them, else of the law that the loss gives them. What scores have on average beside it is taken away.
func TestConstantModelByDefinition(t *testing.T) {
	levels := losses.Ordinal{Thresholds: []float64{-1, 0.5, 2}}
	for _, loss := range []losses.Loss{
		losses.Logistic{}, losses.Probit{}, losses.Squared{}, losses.Poisson{}, losses.CappedPoisson{Cap: 3}, losses.Extended{Inner: losses.Poisson{}, Limit: 9},
		losses.NegativeBinomial{Dispersion: 0.7}, losses.Gamma{Least: 0.01, Ratio: 30}, levels,
	} {
		for _, part := range []float64{0.1, 0.3, 0.8} {
			const shifted = 0.4
			p := Problem{Facts: Facts{Rows: 1000, LabelBound: 3}, Loss: loss}
			low, high := p.LabelEnds()
			mean := low + part*(high-low)
			l := p.Labels(1000, shifted, Mean{Value: mean, Noise: 1e-6})
			law := map[float64]float64{mean: 1}
			switch {
			case loss.Labels() == losses.Binary:
				law = map[float64]float64{1: mean, -1: 1 - mean}
			case loss.Name() == levels.Name():
				clear(law)
				var of float64
				for k, q := range levels.Probabilities(l.Bias + shifted) {
					law[float64(k)] = q
					of += float64(k) * q
				}
				if math.Abs(of-mean) > 1e-9 {
					t.Errorf("%s: levels have a mean of %g, not %g", loss.Name(), of, mean)
				}
			}
			slope := func(z float64) (sum float64) {
				for y, q := range law {
					sum += q * loss.Deriv(z+shifted, y)
				}
				return sum
			}
			const h = 1e-5
			curvature := (slope(l.Bias+h) - slope(l.Bias-h)) / (2 * h)
			if math.Abs(slope(l.Bias)) > 1e-9 || math.Abs(l.Curvature-curvature) > 1e-6*(1+curvature) {
				t.Errorf("%s of mean %g: a slope of %g at %g, and a curvature of %g, not %g", loss.Name(), mean, slope(l.Bias), l.Bias, l.Curvature, curvature)
			}
		}
	}
}

// The totals of weights and offsets tell the constant beside which labels' sum is that of the predictions: a rate with any offsets, and classes with
// the same one of all rows.
func TestTotalsByDefinition(t *testing.T) {
	const each = 1000 // rows of one weight and offset
	weights, offsets := []float64{1, 0.3, 0.7, 0.5, 1}, []float64{-1, 0.5, 0, 0.2, -0.7}
	for _, c := range []struct {
		loss losses.Loss
		of   func(i int) float64
	}{
		{losses.Poisson{}, func(i int) float64 { return offsets[i] }},
		{losses.Gamma{Least: 0.01, Ratio: 30}, func(i int) float64 { return offsets[i] }},
		{losses.Logistic{}, func(int) float64 { return -0.7 }},
	} {
		p := Problem{Facts: Facts{Rows: 5 * each, LabelBound: 4, Weighted: true, OffsetRange: [2]float64{-1, 0.5}}, Loss: c.loss}
		sums := make([]float64, 2)
		for i, w := range weights {
			offset := c.of(i) // over the largest one, which is 1 in magnitude
			if c.loss.Labels().FromZero() {
				offset = math.Exp(c.of(i) - 0.5)
			}
			sums[0] += each * w
			sums[1] += each * w * offset
		}
		n, _, shifted := p.Totals(sums, 1e-9)
		const mean = 0.4
		bias := p.Labels(n, shifted, Mean{Value: mean, Noise: 1e-9}).Bias
		predicted := 0.0
		for i, w := range weights {
			predicted += each * w * losses.LinkOf(c.loss).Mean(bias+c.of(i))
		}
		if math.Abs(predicted-mean*n) > 1e-9*n {
			t.Errorf("%s: predictions come to %g, labels to %g", c.loss.Name(), predicted, mean*n)
		}
	}
}

// What may be released before a descent's steps, all at its largest share, leaves some of μ² for these. Histograms of residuals take less than
// AgainShare of the labels, which real ones never do.
func TestLargestSharesLeaveSteps(t *testing.T) {
	const (
		labels = 2*tuning.MostShare + tuning.AgainShare // of two totals, and where counts' intercept is hidden
		frame  = tuning.CentreShare + 2*tuning.MomentsShare + tuning.AgainShare
		counts = 6 * tuning.CountsShare // totals, norms of rows and of gradients
		lines  = 2 * tuning.LineShare   // the last one, and a prior's
	)
	if all := labels + frame + counts + lines; all > 0.95 {
		t.Errorf("shares come to %g", all)
	}
}
