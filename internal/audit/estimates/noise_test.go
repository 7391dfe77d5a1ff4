package estimates_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// Where counts' public range is far above what most of them are, noise would move the intercept
// further than features do. Much is gained over a constant all the same, by the mean of 8 or 20 seeds,
// which was four to eight times as much below it where the intercept moved with every step. Where it
// does move its slope has its due part of the budget, or .67 and .92 of the gain would be had.
func TestAutoOnCountsOfAWideRange(t *testing.T) {
	for _, c := range []struct {
		n        int
		mu, gain float64 // of what there is over a constant, at least
	}{{5000, 0.05, 0}, {5000, 0.1, 0.4}, {5000, 0.2, 0.7}, {20_000, 0.1, 0.85}, {20_000, 0.2, 0.96}} {
		w := newWorld(c.n, losses.Poisson{}, 1, 0.5)
		w.most = 100
		r := w.reference(t)
		excess, _, _ := r.errorsOf(t, dpglm.GDP(c.mu), sample.Of(8, 20))
		if gain := 1 - excess/(w.constant()-r.risk0); !(gain >= c.gain) {
			t.Errorf("n = %d, μ = %g: %.3g of the gain over a constant, want %g", c.n, c.mu, gain, c.gain)
		}
	}
}

// With hardly more rows and budget than a constant takes noise would walk far: the intercept's, which nothing holds once the loss is flat, and that of
// all directions where steps are but somewhat shorter. Of few rows with sixty numbers each, which tell little, or words, of which each row has
// some, classes are predicted hardly worse than by a constant all the same, by the mean of 4 or 12 draws.
func TestAutoOfFewRowsAndLittleBudget(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	const n, fresh = 720, 4000
	draws := sample.Of(4, 12)
	for name, width := range map[string]int{"numbers": 60, "words": 3000} {
		r := rand.New(rand.NewPCG(8, 15))
		effects := make([]float64, width)
		for j := range effects {
			effects[j] = 0.08 * r.NormFloat64()
		}
		x, y, constant := mat.NewDense(n+fresh, width, nil), make([]float64, n+fresh), 0.0
		for i := range y {
			score := -1.2
			for k := range 60 {
				j, v := k, 0.13*r.NormFloat64()
				if width > 60 {
					j, v = min(int(float64(width)*math.Pow(r.Float64(), 3)), width-1), 0.13
				}
				x.Set(i, j, v)
				score += effects[j] * v / 0.13
			}
			if norm := floats.Norm(x.RawRowView(i), 2); norm > 1 {
				floats.Scale(1/norm, x.RawRowView(i))
			}
			if r.Float64() < 1/(1+math.Exp(-score)) {
				y[i] = 1
			}
		}
		rate := stat.Mean(y[:n], nil)
		loss := func(z, label float64) float64 { return math.Log1p(math.Exp(-(2*label - 1) * z)) }
		for _, label := range y[n:] {
			constant += loss(math.Log(rate/(1-rate)), label) / fresh
		}
		for _, mu := range []float64{50.0 / n, 70.0 / n, 100.0 / n} {
			var mean float64
			for seed := range uint64(draws) {
				d := given.Dataset(t, x.Slice(0, n, 0, width).(*mat.Dense), y[:n], dpglm.Bounds{Feature: 1, Intercept: true})
				m, _ := given.Fit(t, dpglm.AutoConfig{}, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(mu), seed)
				w := m.Weights()[0]
				for i := n; i < n+fresh; i++ {
					mean += loss(floats.Dot(w[:width], x.RawRowView(i))+w[width], y[i]) / float64(draws*fresh)
				}
			}
			t.Logf("%s, μ = %.3g: %.4f, the constant's %.4f", name, mu, mean, constant)
			if mean > 1.05*constant {
				t.Errorf("%s, μ = %.3g: a log-loss of %.4f, the constant's %.4f", name, mu, mean, constant)
			}
		}
	}
}

// Whitening a hundred rare levels, where one row in twenty is of the rarer class, takes more than
// it gives unless there are many rows, and so does a clip that lets all gradients through. The
// gain over a constant is the mean of 6 seeds, on rows of no fit.
func TestAutoOnManyLevels(t *testing.T) {
	const n, fresher, questions, levels, seeds = 6000, 30_000, 12, 10, 6
	r := rand.New(rand.NewPCG(5, 5))
	effects := make([]float64, questions*levels)
	for j := range effects {
		effects[j] = 0.3 * r.NormFloat64()
	}
	s := dpglm.Schema{Intercept: true, OneHot: map[string][]string{}}
	for j := range effects {
		question, name := fmt.Sprint("q", j/levels), fmt.Sprint("c", j)
		s.Columns, s.OneHot[question] = append(s.Columns, name), append(s.OneHot[question], name)
	}
	rows := func(n int) (x *mat.Dense, y, scores []float64) {
		x, y, scores = mat.NewDense(n, len(effects), nil), make([]float64, n), make([]float64, n)
		for i := range n {
			scores[i] = -3
			for q := range questions {
				j := q*levels + min(int(r.ExpFloat64()*1.5), levels-1)
				x.Set(i, j, 1)
				scores[i] += effects[j]
			}
			y[i] = draw(r, losses.Logistic{}, scores[i])
		}
		return x, y, scores
	}
	x, y, _ := rows(n)
	data, err := dpglm.NewDataset(x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	fresh, answers, best := rows(fresher)
	risk := func(scores []float64) (sum float64) {
		for i, z := range scores {
			sum += losses.Logistic{}.Value(z, 2*answers[i]-1) / fresher
		}
		return sum
	}
	flat, ones := make([]float64, fresher), stat.Mean(y, nil)
	for i := range flat {
		flat[i] = math.Log(ones / (1 - ones))
	}
	constant := risk(flat)
	for _, c := range []struct{ nmu, gain float64 }{{900, 0.05}, {1500, 0.24}, {6000, 0.46}} {
		var mean float64
		for seed := range uint64(seeds) {
			m, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(c.nmu/n), given.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			z, err := given.One(m.Scores(fresh))
			if err != nil {
				t.Fatal(err)
			}
			mean += risk(z) / seeds
		}
		if gain := (constant - mean) / (constant - risk(best)); !(gain >= c.gain) {
			t.Errorf("n·μ = %g: %.3g of the gain over a constant, want %g", c.nmu, gain, c.gain)
		}
	}
}

// Where features tell nothing scores are shortened, as far as the last steps along them tell, and the
// mean prediction is near the labels' mean. Where features tell all what is left is the noise of
// privacy, which is small beside the signal's variance of .02. Figures are those of 10 seeds, on rows
// of no fit; bounds are above those of each of seven lists of seeds.
func TestAutoOfNoSignalAndAll(t *testing.T) {
	const fresher, seeds = 2000, 10
	for _, c := range []struct {
		loss          losses.Loss
		n, d          int
		signal        float64 // of the first feature
		most, meanOff float64 // the mean excess over the best model, and how far predictions' mean is off
	}{
		{losses.Logistic{}, 800, 4, 0, 0.018, 0.06}, {losses.Logistic{}, 1600, 12, 0, 0.018, 0.05}, {losses.Logistic{}, 1600, 40, 0, 0.035, 0.055},
		{losses.Squared{}, 1600, 12, 0, 0.014, 0.085}, {losses.Squared{}, 1600, 40, 0, 0.025, 0.1}, {losses.Squared{}, 1600, 9, 0.14, 0.0006, 0.02},
	} {
		s := dpglm.Schema{Numeric: map[string][2]float64{}, Intercept: true}
		if c.loss.Labels() == losses.Real {
			s.Label = 5
		}
		for j := range c.d {
			s.Columns = append(s.Columns, fmt.Sprint(j))
			s.Numeric[fmt.Sprint(j)] = [2]float64{-5, 5}
		}
		r := rand.New(rand.NewPCG(3, uint64(c.d)))
		normal := func(n int) *mat.Dense {
			x := mat.NewDense(n, c.d, nil)
			x.Apply(func(_, _ int, _ float64) float64 { return math.Max(-5, math.Min(r.NormFloat64(), 5)) }, x)
			return x
		}
		fresh := normal(fresher)
		var excess, off float64
		for seed := range uint64(seeds) {
			x, y := normal(c.n), make([]float64, c.n)
			for i := range y {
				if y[i] = c.signal * x.At(i, 0); c.signal == 0 {
					y[i] = draw(r, c.loss, 0)
				}
			}
			data, err := dpglm.NewDataset(x, y, s)
			if err != nil {
				t.Fatal(err)
			}
			m, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: c.loss}, dpglm.GDP(0.27), given.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			z, err := given.One(m.Scores(fresh))
			if err != nil {
				t.Fatal(err)
			}
			var mean float64
			for i, v := range z {
				best := c.signal * fresh.At(i, 0)
				for _, label := range []float64{-1, 1} { // as often, or of the mean 0 beside the signal
					excess += (c.loss.Value(v, best+label) - c.loss.Value(best, best+label)) / (2 * fresher * seeds)
				}
				mean += (losses.LinkOf(c.loss).Mean(v) - losses.LinkOf(c.loss).Mean(best)) / fresher
			}
			off += mean * mean / seeds
		}
		t.Logf("%s, d = %d: %.4g, %.4g", c.loss.Name(), c.d, excess, math.Sqrt(off))
		if !(excess <= c.most && math.Sqrt(off) <= c.meanOff) {
			t.Errorf("%s, d = %d: an excess of %.3g, a mean prediction %.3g off, want %g and %g at most", c.loss.Name(), c.d, excess, math.Sqrt(off), c.most, c.meanOff)
		}
	}
}

// With little budget scores are a quarter too long, and not by much more, as the clip makes
// them where no last steps along them tell; nor are they too short: by the mean of 120 seeds.
func TestAutoHasScoresOfTheRightLength(t *testing.T) {
	const seeds = 120
	w := newWorld(1600, losses.Logistic{}, 0, 0.5)
	data, want := w.data(t), floats.Norm(truth, 2)
	var mean float64
	for seed := range uint64(seeds) {
		beta := w.fitted(t, data, dpglm.GDP(0.27), seed)
		mean += floats.Dot(beta[:len(truth)], truth) / want / seeds // along what is true
	}
	t.Logf("%.3f of the true length", mean/want)
	if !(mean/want >= 0.9 && mean/want <= 1.27) {
		t.Errorf("scores are %.3g times as long as they should be", mean/want)
	}
}

// Where n·μ is small the intercept is moved to where predictions have the labels' mean, which is
// that at the rows' offsets: by the mean of 10 seeds, with a standard deviation of .05.
func TestAutoWithOffsetsOfClasses(t *testing.T) {
	const n, d, offset, seeds = 1600, 6, 3, 10
	s := dpglm.Schema{Numeric: map[string][2]float64{}, Intercept: true}
	for j := range d {
		s.Columns = append(s.Columns, fmt.Sprint(j))
		s.Numeric[fmt.Sprint(j)] = [2]float64{-4, 4}
	}
	var intercept float64
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		x, y := mat.NewDense(n, d, nil), make([]float64, n)
		o := dpglm.Offsets{Of: make([]float64, n), Range: [2]float64{offset - 1, offset + 1}}
		x.Apply(func(_, _ int, _ float64) float64 { return r.NormFloat64() }, x)
		for i := range n {
			o.Of[i] = offset - 0.5 + r.Float64()
			y[i] = draw(r, losses.Logistic{}, o.Of[i]-offset)
		}
		data, err := dpglm.NewDataset(x, y, s, o)
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(0.27), given.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		z, err := given.One(m.Scores(mat.NewDense(1, d, nil)))
		if err != nil {
			t.Fatal(err)
		}
		intercept += z[0] / seeds
	}
	if math.Abs(intercept+offset) > 0.2 {
		t.Errorf("an intercept of %.3g, not %d", intercept, -offset)
	}
}
