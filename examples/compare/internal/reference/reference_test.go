package reference

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/losses"
)

// sample has rows (u, v, 1) with u, v in [-1, 1], and the score u − v/2 + 0.2.
func sample(n int, classes bool) Data {
	r := rand.New(rand.NewPCG(1, 2))
	d := Data{X: mat.NewDense(n, 3, nil), Y: make([]float64, n), Bound: math.Sqrt(3), LabelBound: 2}
	for i := range n {
		u, v := 2*r.Float64()-1, 2*r.Float64()-1
		d.X.SetRow(i, []float64{u, v, 1})
		d.Y[i] = u - v/2 + 0.2 + 0.1*r.NormFloat64()
		if classes {
			p := 1 / (1 + math.Exp(-3*(u-v/2+0.2)))
			d.Y[i] = -1
			if r.Float64() < p {
				d.Y[i] = 1
			}
		}
	}
	return d
}

// plain are the weights of the fit without privacy.
func plain(t *testing.T, d Data, loss losses.Loss) []float64 {
	t.Helper()
	n, p := d.X.Dims()
	m, err := baseline.Fit(baseline.Dense{Dense: mat.DenseCopyOf(d.X.Slice(0, n, 0, p-1))}, d.Y, loss)
	if err != nil {
		t.Fatal(err)
	}
	return append(m.Weights, m.Intercept)
}

// With next to no noise each method finds the weights without privacy; with the noise of a
// small budget it doesn't, and its errors halve where the budget doubles.
func TestReferencesConverge(t *testing.T) {
	real, classes := sample(500, false), sample(500, true)
	descent := Descent{Steps: 200, Step: 1, Clip: 100}
	for _, c := range []struct {
		name string
		d    Data
		loss losses.Loss
		fit  func(mu float64, seed uint64) ([]float64, error)
	}{
		{"descent", real, losses.Squared{}, func(mu float64, seed uint64) ([]float64, error) {
			return descent.Fit(real, losses.Squared{}, mu*100, seed), nil
		}},
		{"AdaSSP", real, losses.Squared{}, func(mu float64, seed uint64) ([]float64, error) { return AdaSSP(real, mu, seed) }},
		{"objective", classes, losses.Logistic{}, func(mu float64, seed uint64) ([]float64, error) {
			return Objective(classes, mu, 1e-6, seed)
		}},
	} {
		want := plain(t, c.d, c.loss)
		distance := func(mu float64) float64 {
			sum := 0.0
			for seed := range uint64(40) {
				w, err := c.fit(mu, seed)
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				sum += square(floats.Distance(w, want, 2))
			}
			return math.Sqrt(sum / 40)
		}
		if got := distance(1e7); got > 1e-3 {
			t.Errorf("%s: without noise the weights are %g off", c.name, got)
		}
		// The ratio of two such roots of 120 squares has a standard deviation of 9 %.
		if ratio := distance(8) / distance(16); ratio < 1.5 || ratio > 2.7 {
			t.Errorf("%s: twice the budget has %g times less error", c.name, ratio)
		}
	}
}

func square(v float64) float64 { return v * v }

// A clip bounds what one row can do to a step.
func TestDescentClips(t *testing.T) {
	d := Data{X: mat.NewDense(1, 1, []float64{1}), Y: []float64{1000}, Bound: 1, LabelBound: 1000}
	w := Descent{Steps: 1, Step: 1, Clip: 0.25}.Fit(d, losses.Squared{}, 1e12, 1)
	if math.Abs(w[0]-0.25) > 1e-9 {
		t.Errorf("the first step goes to %g, want the clip 0.25", w[0])
	}
}

// The noise of a descent is that of √T·2C/μ a step: here the sum of two.
func TestDescentNoise(t *testing.T) {
	d := Data{X: mat.NewDense(1, 1, []float64{0}), Y: []float64{0}, Bound: 1, LabelBound: 1}
	sum := 0.0
	const runs = 4000
	for seed := range uint64(runs) {
		w := Descent{Steps: 2, Step: 1, Clip: 0.5}.Fit(d, losses.Squared{}, 0.5, seed)
		sum += square(w[0]) / runs
	}
	want := 2 * square(2*0.5*math.Sqrt2/0.5)
	if ratio := sum / want; ratio < 0.85 || ratio > 1.15 { // standard deviation 2.2 %
		t.Errorf("the variance is %g, want %g", sum, want)
	}
}
