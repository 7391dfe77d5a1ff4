package estimates_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// world is synthetic data whose truth is known: scores b + ⟨w, x⟩ of normal columns, cut
// at ±4, and labels drawn with them.
type world struct {
	loss losses.Loss
	x    *mat.Dense
	y    []float64
	unit []float64 // by which columns and their ranges are multiplied
	most float64   // label bound
}

var truth = []float64{1, -0.6, 0.3, 0}

// newWorld draws n rows. The first two columns are correlated by the given number.
func newWorld(n int, loss losses.Loss, bias, correlation float64) *world {
	return worldOf(91, n, loss, bias, correlation)
}

func worldOf(seed uint64, n int, loss losses.Loss, bias, correlation float64) *world {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	w := &world{loss, mat.NewDense(n, len(truth), nil), make([]float64, n), []float64{1, 1, 1, 1}, 20}
	for i := range n {
		u, score := w.x.RawRowView(i), bias
		for j := range u {
			u[j] = r.NormFloat64()
		}
		u[1] = correlation*u[0] + math.Sqrt(1-correlation*correlation)*u[1]
		for j := range u {
			u[j] = math.Max(-4, math.Min(4, u[j]))
			score += truth[j] * u[j]
		}
		w.y[i] = draw(r, loss, score)
	}
	return w
}

// draw draws a label: a class, a count or an amount of mean e^(score/2), a level, or the
// score and noise. Amounts are exponential, and the dispersion of counts is ½.
func draw(r *rand.Rand, loss losses.Loss, score float64) float64 {
	mean := math.Exp(score / 2)
	switch l := loss.(type) {
	case losses.Probit:
		if r.NormFloat64() < score {
			return 1
		}
		return 0
	case losses.Logistic:
		if r.Float64()*(1+math.Exp(-score)) < 1 {
			return 1
		}
		return 0
	case losses.Gamma:
		return mean * r.ExpFloat64()
	case losses.Ordinal:
		z, level := score-math.Log(math.Expm1(r.ExpFloat64())), 0.0
		for _, v := range l.Thresholds {
			if z > v {
				level++
			}
		}
		return level
	case losses.NegativeBinomial:
		return count(r, mean*(r.ExpFloat64()+r.ExpFloat64())/2)
	case losses.Poisson:
		return count(r, mean)
	}
	return math.Max(-20, math.Min(20, score+r.NormFloat64()))
}

// count draws a number of Poisson's law, at most 20.
func count(r *rand.Rand, left float64) float64 {
	k := 0.0
	for left -= r.ExpFloat64(); left > 0; left -= r.ExpFloat64() {
		k++
	}
	return math.Min(k, 20)
}

// data is the world as a data set, its columns in their units.
func (w *world) data(t *testing.T) *dpglm.Dataset {
	t.Helper()
	s := dpglm.Schema{Numeric: map[string][2]float64{}, Label: w.most, Intercept: true}
	if w.loss.Labels() == losses.Binary {
		s.Label = 0
	}
	n, d := w.x.Dims()
	x := mat.NewDense(n, d, nil)
	for j, u := range w.unit {
		name := fmt.Sprint("x", j)
		s.Columns = append(s.Columns, name)
		s.Numeric[name] = [2]float64{-4 * u, 4 * u}
		for i := range n {
			x.Set(i, j, u*w.x.At(i, j))
		}
	}
	data, err := dpglm.NewDataset(x, w.y, s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// label is that of row i as the loss takes it.
func (w *world) label(i int) float64 {
	if w.loss.Labels() == losses.Binary {
		return 2*w.y[i] - 1
	}
	return w.y[i]
}

// mean is that of a label at a score.
func (w *world) mean(z float64) float64 {
	if l, ok := w.loss.(losses.Ordinal); ok {
		var mean float64
		for k, p := range l.Probabilities(z) {
			mean += float64(k) * p
		}
		return mean
	}
	return losses.LinkOf(w.loss).Mean(z)
}

// plain is the non-private fit by Newton's method, with standard errors; the intercept
// is last. A ridge that costs nothing keeps it defined.
func (w *world) plain(t *testing.T) (beta, errors []float64) {
	t.Helper()
	n, d := w.x.Dims()
	beta, errors = make([]float64, d+1), make([]float64, d+1)
	curvature, _ := losses.CurvatureOf(w.loss)
	for range 9 {
		h, g := mat.NewSymDense(d+1, nil), mat.NewVecDense(d+1, nil)
		noise := 0.0
		for i := range n {
			u := mat.NewVecDense(d+1, append(append([]float64(nil), w.x.RawRowView(i)...), 1))
			z, y := mat.Dot(u, mat.NewVecDense(d+1, beta)), w.label(i)
			slope := w.loss.Deriv(z, y)
			h.SymRankOne(h, curvature(z, y), u)
			g.AddScaledVec(g, -slope, u)
			noise += slope * slope / float64(n)
		}
		var c mat.Cholesky
		if !c.Factorize(h) {
			t.Fatal("a singular Hessian")
		}
		var step mat.VecDense
		var inverse mat.SymDense
		if err := c.SolveVecTo(&step, g); err != nil {
			t.Fatal(err)
		}
		if err := c.InverseTo(&inverse); err != nil {
			t.Fatal(err)
		}
		if w.loss.Labels() != losses.Real {
			noise = 1
		}
		for j := range beta {
			beta[j] += step.AtVec(j)
			errors[j] = math.Sqrt(inverse.At(j, j) * noise)
		}
	}
	return beta, errors
}

// risk is the mean loss and the mean of the predictions at scores.
func (w *world) risk(scores []float64) (risk, mean float64) {
	for i, z := range scores {
		risk += w.loss.Value(z, w.label(i)) / float64(len(scores))
		mean += w.mean(z) / float64(len(scores))
	}
	return risk, mean
}

// scores are those of weights, the intercept's last, in the columns' plain units.
func (w *world) scores(beta []float64) []float64 {
	n, d := w.x.Dims()
	out := make([]float64, n)
	for i := range out {
		out[i] = beta[d]
		for j, v := range w.x.RawRowView(i) {
			out[i] += beta[j] * v
		}
	}
	return out
}

// fitted are a model's weights in plain units, read off its scores.
func (w *world) fitted(t *testing.T, data *dpglm.Dataset, b dpglm.Budget, seed uint64) []float64 {
	t.Helper()
	m, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: w.loss}, b, given.Seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	d := len(truth)
	probes := mat.NewDense(d+1, d, nil)
	for j, u := range w.unit {
		probes.Set(j, j, u)
	}
	z, err := given.One(m.Scores(probes))
	if err != nil {
		t.Fatal(err)
	}
	for j := range d {
		z[j] -= z[d]
	}
	return z
}

// reference is the non-private fit, which the others are held against.
type reference struct {
	*world
	data      *dpglm.Dataset
	beta, sd  []float64
	risk0     float64
	meanLabel float64
}

func (w *world) reference(t *testing.T) *reference {
	t.Helper()
	r := &reference{world: w, data: w.data(t)}
	r.beta, r.sd = w.plain(t)
	r.risk0, r.meanLabel = w.risk(w.scores(r.beta))
	return r
}

// errorsOf are, over seeds, a fit's mean excess risk; the root mean square of the mean
// prediction less the mean label, over the latter; and the largest distance of a
// coefficient to the non-private one, in standard errors.
func (r *reference) errorsOf(t *testing.T, b dpglm.Budget, seeds int) (excess, bias, far float64) {
	t.Helper()
	for seed := range seeds {
		got := r.fitted(t, r.data, b, uint64(seed))
		risk, mean := r.risk(r.scores(got))
		excess += (risk - r.risk0) / float64(seeds)
		bias += math.Pow((mean-r.meanLabel)/r.meanLabel, 2) / float64(seeds)
		for j, v := range got {
			far = math.Max(far, math.Abs(v-r.beta[j])/r.sd[j])
		}
	}
	return excess, math.Sqrt(bias), far
}

// TestAutoEstimates holds Auto against the non-private fit where the truth is known: as
// rows and budget grow, excess risk falls as (nμ)⁻², calibration as (nμ)⁻¹, and
// coefficients end within a tenth of a standard error. Seeds are fixed, and the bounds are
// one and a half to five times what is measured.
func TestAutoEstimates(t *testing.T) {
	for _, c := range []struct {
		name       string
		loss       losses.Loss
		bias       float64 // of the scores
		risk, mean float64 // bounds, times (nμ)² and nμ·min(1, mean label)
	}{
		{"1 in 2", losses.Logistic{}, 0, 15_000, 40},
		{"1 in 5", losses.Logistic{}, -1.7, 8000, 40},
		{"1 in 100", losses.Logistic{}, -5.3, 80_000, 40},
		{"counts", losses.Poisson{}, 0.5, 40_000, 250},
		{"real labels", losses.Squared{}, 2, 8000, 60},
	} {
		for n, mus := range map[int][]float64{2000: {2, 20}, 20_000: {0.25, 2, 20, 200}} {
			r := newWorld(n, c.loss, c.bias, 0).reference(t)
			for _, mu := range mus {
				excess, bias, far := r.errorsOf(t, dpglm.GDP(mu), sample.Of(1, 2))
				nmu := float64(n) * mu
				atMost := math.Max(0.1, 480/math.Sqrt(nmu*mu)) // noise over standard errors
				if excess > c.risk/(nmu*nmu)+1e-6 || bias > c.mean/(nmu*math.Min(1, r.meanLabel))+3e-4 || far > atMost {
					t.Errorf("%s, n = %d, μ = %g: excess risk %.3g, mean off by %.3g, coefficients by %.3g standard errors", c.name, n, mu, excess, bias, far)
				}
			}
		}
	}
}

// Results don't depend on the units of columns and of their declared ranges.
func TestAutoKeepsToUnits(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		w := newWorld(4000, loss, 0.5, 0)
		for _, b := range []dpglm.Budget{dpglm.GDP(0.1), dpglm.GDP(1), dpglm.GDP(300)} {
			w.unit = []float64{1, 1, 1, 1}
			want := w.fitted(t, w.data(t), b, 1)
			w.unit = []float64{1e4, 1e-4, 1, 1e4}
			for j, v := range w.fitted(t, w.data(t), b, 1) {
				if math.Abs(v-want[j]) > 1e-6*math.Abs(want[j]) {
					t.Errorf("%s, %v: coefficient %d is %g, in other units %g", loss.Name(), b, j, want[j], v)
				}
			}
		}
	}
}

// Two columns that are correlated at 0.99 cost no more than others.
func TestAutoOnCorrelatedColumns(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		r := newWorld(20_000, loss, 0.5, 0.99).reference(t)
		for mu, most := range map[float64]float64{1: 5e-3, 100: 1e-6} {
			if excess, _, _ := r.errorsOf(t, dpglm.GDP(mu), 2); excess > most {
				t.Errorf("%s, μ = %g: excess risk %.3g", loss.Name(), mu, excess)
			}
		}
	}
}

// Where the budget is too small for a model, or there is nothing to be found, the result
// is worse than the best constant model by noise only. That of the labels' mean alone
// is (range/nμ)²/2, in real labels, at the first budget; bounds are twice what was measured.
func TestAutoIsNoWorseThanTheConstant(t *testing.T) {
	const seeds = 10
	for loss, atMost := range map[losses.Loss][]float64{
		losses.Logistic{}: {0.02, 0.12, 0.01}, losses.Squared{}: {6, 2, 0.3}, losses.Poisson{}: {0.7, 2, 0.1},
	} {
		w := newWorld(1000, loss, -0.5, 0)
		for _, signal := range []bool{true, false} {
			if !signal {
				rand.New(rand.NewPCG(5, 6)).Shuffle(len(w.y), func(i, j int) { w.y[i], w.y[j] = w.y[j], w.y[i] })
			}
			data, constant := w.data(t), w.constant()
			for k, mu := range []float64{0.02, 0.1, 0.5} {
				excess := 0.0
				for seed := range uint64(seeds) {
					risk, _ := w.risk(w.scores(w.fitted(t, data, dpglm.GDP(mu), seed)))
					excess += (risk - constant) / seeds
				}
				if excess > atMost[k] || signal && k == 2 && excess > 0 {
					t.Errorf("%s, signal %v, μ = %g: %.4f above the constant's risk", loss.Name(), signal, mu, excess)
				}
			}
		}
	}
}

// Where few rows and a small budget hide second moments, half of what could be gained over a constant is
// gained at n·μ = 150 of classes that are as many, and a quarter where one row in five is of the rarer
// class. At 100 the noise takes it all: the model is a tenth worse than a constant, or loses half of what
// could be gained. Figures are means of six lists of 20 seeds, and bounds below each of them.
func TestAutoBesideMuchNoise(t *testing.T) {
	for _, c := range []struct {
		loss losses.Loss
		bias float64
		mu   float64
		gain float64 // at least, of what there is
	}{
		{losses.Logistic{}, 0, 0.1, -0.4}, {losses.Logistic{}, 0, 0.15, 0.4},
		{losses.Logistic{}, -1.5, 0.1, -1.1}, {losses.Logistic{}, -1.5, 0.15, 0.08},
		{losses.Squared{}, 0, 0.15, 0.05},
	} {
		w := newWorld(1000, c.loss, c.bias, 0.5)
		r := w.reference(t)
		excess, _, _ := r.errorsOf(t, dpglm.GDP(c.mu), 20)
		gain := 1 - excess/(w.constant()-r.risk0)
		t.Logf("%s, bias %g, μ = %g: %.3g of the gain over a constant", c.loss.Name(), c.bias, c.mu, gain)
		if !(gain >= c.gain) {
			t.Errorf("%s, bias %g, μ = %g: %.3g of the gain over a constant, want %g", c.loss.Name(), c.bias, c.mu, gain, c.gain)
		}
	}
}

// A label bound of some forty deviations costs no fit its length: the last steps, along a line, choose their clip by a wide histogram of which noise now and
// then exceeds an edge far above. Before it was bounded by the clip that the steps had, the median fit of these lost .14 of the variance, and one in ten .6.
func TestAutoWithinWideRanges(t *testing.T) {
	const n, d, sd = 2000, 4, 0.25
	r := rand.New(rand.NewPCG(3, 4))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range y {
		common := r.NormFloat64()
		for j := range d {
			x.Set(i, j, math.Max(-1, math.Min(0.25*(common+r.NormFloat64())/math.Sqrt2, 1)))
			y[i] += 2 * x.At(i, j)
		}
		y[i] += sd * r.NormFloat64()
	}
	data := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2, Label: 25, Intercept: true})
	var excess []float64
	for seed := range uint64(40) {
		m, err := dpglm.Auto(t.Context(), data, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(0.25), given.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for i, label := range y {
			score := m.Weights()[0][d]
			for j := range d {
				score += m.Weights()[0][j] * x.At(i, j)
			}
			sum += (score - label) * (score - label)
		}
		excess = append(excess, sum/(n*sd*sd)-1)
	}
	slices.Sort(excess)
	if t.Logf("median %.3f, one in ten %.3f", excess[20], excess[36]); excess[20] > 0.1 || excess[36] > 0.2 {
		t.Errorf("fits lose %.3f of the variance, one in ten %.3f, want at most .1 and .2", excess[20], excess[36])
	}
}

// Nor is it where counts are rare, although there are many rows.
func TestAutoOnRareCounts(t *testing.T) {
	w := newWorld(20_000, losses.Poisson{}, -7, 0)
	w.most = 4
	data, constant, excess := w.data(t), w.constant(), 0.0
	for seed := range uint64(5) {
		risk, _ := w.risk(w.scores(w.fitted(t, data, dpglm.GDP(0.03), seed)))
		excess += (risk - constant) / 5
	}
	if excess > 0.003 {
		t.Errorf("%.4f above the constant's risk", excess)
	}
}

// constant is the risk of the best constant model.
func (w *world) constant() float64 {
	var mean float64
	for _, y := range w.y {
		mean += y / float64(len(w.y))
	}
	beta := make([]float64, len(truth)+1)
	switch w.loss.Labels() {
	case losses.Binary:
		mean = math.Log(mean / (1 - mean))
	case losses.Count:
		mean = math.Log(mean)
	}
	beta[len(truth)] = mean
	risk, _ := w.risk(w.scores(beta))
	return risk
}

// With 60,000 rows, or 30,000, 1 % ones among them, predictions are right on average at ε = 10, and at
// ε = 1000 each coefficient is within a tenth of its standard error of the non-private one.
func TestAutoEndsAtTheNonPrivateFit(t *testing.T) {
	n := sample.Of(30_000, 60_000)
	for _, c := range []struct {
		name string
		loss losses.Loss
		bias float64
	}{
		{"1 in 2", losses.Logistic{}, 0},
		{"1 in 5", losses.Logistic{}, -1.7},
		{"1 in 100", losses.Logistic{}, -5.3},
		{"counts", losses.Poisson{}, 0.5},
		{"real labels", losses.Squared{}, 2},
	} {
		r := newWorld(n, c.loss, c.bias, 0).reference(t)
		delta := math.Pow(float64(n), -1.5)
		if _, bias, _ := r.errorsOf(t, dpglm.ApproxDP(10, delta), 1); float64(n)*r.meanLabel >= 5000 && bias > 0.01 {
			t.Errorf("%s, ε = 10: predictions are off by a fraction %.3g", c.name, bias)
		}
		if _, _, far := r.errorsOf(t, dpglm.ApproxDP(1000, delta), 1); far > 0.1 {
			t.Errorf("%s, ε = 1000: coefficients are off by %.3g standard errors", c.name, far)
		}
	}
}

// TestEstimatesRareOnes has rows that are alike but for one in ten, which has a 1 in one of
// two columns: those few must not be taken for short, or their coefficients grow to
// hundreds. Over 30 seeds none is beyond 20, where the truth is ±2.
func TestEstimatesRareOnes(t *testing.T) {
	const n = 5000
	r := rand.New(rand.NewPCG(1, 7))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range y {
		var z float64
		for j, w := range []float64{2, -2} {
			if r.Float64() < 0.05 {
				x.Set(i, j, 1)
				z += w
			}
		}
		if r.Float64() < 1/(1+math.Exp(-z)) {
			y[i] = 1
		}
	}
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: math.Sqrt2, Intercept: true})
	for _, mu := range []float64{0.25, 0.5, 1} {
		for seed := range uint64(10) {
			m, err := dpglm.Auto(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(mu), &dpglm.Env{NoiseForTests: &given.Words{Seed: seed + 1}})
			if err != nil {
				t.Fatal(err)
			}
			if w := m.Weights()[0]; math.Abs(w[0]) > 20 || math.Abs(w[1]) > 20 {
				t.Errorf("μ = %g, seed %d: weights are %.3g", mu, seed, w)
			}
		}
	}
}
