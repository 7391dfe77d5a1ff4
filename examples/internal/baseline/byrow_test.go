package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// repeated are rows with whole weights, and the rows repeated as often: an odd number of them, so that there is one median.
func repeated(n int) (x *mat.Dense, weights []float64, often *mat.Dense, of []int) {
	r := rand.New(rand.NewPCG(5, 6))
	x, weights = mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.SetRow(i, []float64{r.NormFloat64(), float64(r.IntN(3))})
		weights[i] = float64(r.IntN(4))
		for range int(weights[i]) {
			of = append(of, i)
		}
	}
	if len(of)%2 == 0 {
		weights[n-1]++
		of = append(of, n-1)
	}
	often = mat.NewDense(len(of), 2, nil)
	for k, i := range of {
		often.SetRow(k, x.RawRowView(i))
	}
	return x, weights, often, of
}

// A row of weight 3 counts as three rows, one of weight 0 as none: in fits of each kind of label, in constants, in Huber's kinks, which are moved
// apart by labels far from 0, and by either method.
func TestWeightsAreRepetitions(t *testing.T) {
	x, weights, often, of := repeated(300)
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		loss   losses.Loss
		scale  float64 // of labels
		sparse bool
	}{
		{losses.Squared{}, 5000, false}, {losses.Squared{}, 0.001, false}, {losses.Huber{Kappa: 1e-9}, 5000, false}, {losses.Huber{Kappa: 1}, 1, false},
		{losses.Logistic{}, 0, false}, {losses.Poisson{}, 1, false}, {losses.Squared{}, 5000, true},
	} {
		y := make([]float64, len(weights))
		for i := range y {
			switch y[i] = c.scale * (10 + x.At(i, 0) + r.NormFloat64()); c.loss.Labels() {
			case losses.Binary:
				y[i] = float64(i % 2)
			case losses.Count:
				y[i] = float64(r.IntN(5))
			}
		}
		again := make([]float64, len(of))
		for k, i := range of {
			again[k] = y[i]
		}
		loss, rows := ByRow(c.loss, y, nil, weights)
		if got, want := Constant(rows, loss), Constant(again, c.loss); !(math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want))) {
			t.Errorf("%s of labels %g: constant %g, want %g", c.loss.Name(), c.scale, got, want)
		}
		fit := func(x *mat.Dense, y []float64, loss losses.Loss) *Model {
			f := func() (*Model, error) { return Fit(Dense{x}, y, loss) }
			if c.sparse {
				f = func() (*Model, error) { return lbfgs(compressed{x}, y, loss) }
			}
			m, err := f()
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		got, want := fit(x, rows, loss), fit(often, again, c.loss)
		for j, w := range append(want.Weights, want.Intercept) {
			tolerance := 1e-6 * math.Max(c.scale, 1)
			if c.sparse {
				tolerance *= 1e4
			}
			if v := append(got.Weights, got.Intercept)[j]; !(math.Abs(v-w) <= tolerance) {
				t.Errorf("%s of labels %g, sparse %v: coefficient %d is %.9g, want %.9g", c.loss.Name(), c.scale, c.sparse, j, v, w)
			}
		}
	}
}

// Of several classes likewise.
func TestClassWeightsAreRepetitions(t *testing.T) {
	x, weights, often, of := repeated(300)
	y, again := make([]float64, 300), make([]float64, len(of))
	for i := range y {
		y[i] = float64((i + int(x.At(i, 1))) % 3)
	}
	for k, i := range of {
		again[k] = y[i]
	}
	for name, fit := range map[string]func(x *mat.Dense, y, weights []float64) (Classes, error){
		"newton": func(x *mat.Dense, y, weights []float64) (Classes, error) { return classNewton(Dense{x}, y, weights, 3) },
		"LBFGS": func(x *mat.Dense, y, weights []float64) (Classes, error) {
			return classLBFGS(compressed{x}, y, weights, 3)
		},
	} {
		got, err := fit(x, y, weights)
		if err != nil {
			t.Fatal(err)
		}
		ones := make([]float64, len(of))
		for k := range ones {
			ones[k] = 1
		}
		want, err := fit(often, again, ones)
		if err != nil {
			t.Fatal(err)
		}
		p, q := got.Probabilities(Dense{x}), want.Probabilities(Dense{x})
		if tolerance := map[string]float64{"newton": 1e-6, "LBFGS": 0.01}[name]; !mat.EqualApprox(p, q, tolerance) {
			t.Errorf("%s: probabilities %v, want %v", name, p.RawRowView(0), q.RawRowView(0))
		}
	}
	if _, err := FitClasses(Dense{x}, y, weights[:9], 3); err == nil {
		t.Error("nine weights are taken")
	}
}
