package learners_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

var jlMaps = []dpglm.JLMap{dpglm.GaussianMap, dpglm.RademacherMap, dpglm.SparseMap, dpglm.HadamardMap}

// lowRank is a regression in d dimensions whose rows lie near a few directions,
// so that a projection loses little.
func lowRank(n, d, rank int, seed uint64) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(seed, 0))
	basis := mat.NewDense(rank, d, nil)
	for i := range rank {
		for j := range d {
			basis.Set(i, j, r.NormFloat64()/math.Sqrt(float64(d*rank)))
		}
	}
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	latent := mat.NewDense(n, rank, nil)
	for i := range n {
		for k := range rank {
			latent.Set(i, k, r.NormFloat64())
		}
		y[i] = latent.At(i, 0) + 0.1*r.NormFloat64()
	}
	x.Mul(latent, basis)
	return x, y
}

func r2(t *testing.T, m *dpglm.Model, x mat.Matrix, y []float64) float64 {
	t.Helper()
	p, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	var mean, rest, all float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for i, v := range y {
		rest += (p[i] - v) * (p[i] - v)
		all += (v - mean) * (v - mean)
	}
	return 1 - rest/all
}

// [AB+22, Theorem 2]: training in k ≪ d dimensions keeps the accuracy, and the
// model predicts in the original space. At a generous budget all maps do.
func TestJLKeepsTheSignal(t *testing.T) {
	x, y := lowRank(1200, 300, 3, 1)
	train, test := x.Slice(0, 1000, 0, 300), x.Slice(1000, 1200, 0, 300)
	d := given.Dataset(t, train, y[:1000], dpglm.Bounds{Feature: 2, Label: 3})
	for _, m := range jlMaps {
		for _, intercept := range []bool{false, true} {
			if intercept {
				d = given.Dataset(t, train, y[:1000], dpglm.Bounds{Feature: 2, Label: 3, Intercept: true})
			}
			c := dpglm.JLConfig{K: 60, Map: m, Seed: 3, Learner: dpglm.NoisyGDConfig{Clip: inf, Steps: 200}}
			model, plan := given.Fit(t, c, d, dpglm.Problem{Loss: losses.Squared{}, Radius: 4}, dpglm.GDP(50), 1)
			if got := r2(t, model, test, y[1000:]); got < 0.8 {
				t.Errorf("%s, intercept %v: R² = %.3f", m, intercept, got)
			}
			if len(model.Weights()[0]) != d.Shape().Dim {
				t.Errorf("%d weights for %d features", len(model.Weights()[0]), d.Shape().Dim)
			}
			if !strings.Contains(plan.Ledger.String(), "60 dimensions by a "+string(m)+" map of seed 3") {
				t.Errorf("ledger: %v", plan.Ledger)
			}
		}
	}
}

// Sparse, dense and opaque rows have the same projections, to rounding, with and
// without a schema.
func TestJLForms(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, d = 300, 40
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	indptr, indices, values := []int{0}, []int{}, []float64{}
	for i := range n {
		for j := range d {
			if r.IntN(5) == 0 {
				v := 2*r.Float64() - 1
				x.Set(i, j, v)
				indices, values = append(indices, j), append(values, v)
			}
		}
		indptr = append(indptr, len(indices))
		y[i] = float64(r.IntN(2))
	}
	sparse, err := dpglm.NewSparse(n, d, indptr, indices, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, facts := range []dpglm.Facts{dpglm.Bounds{Feature: 1, Intercept: true}, unitSchema(d)} {
		for _, m := range jlMaps {
			var want []float64
			for name, form := range map[string]mat.Matrix{"dense": x, "sparse": sparse, "opaque": struct{ mat.Matrix }{x}} {
				c := dpglm.JLConfig{K: 10, Map: m, Learner: dpglm.NoisyGDConfig{Steps: 20}}
				model, _ := given.Fit(t, c, given.Dataset(t, form, y, facts), logistic, dpglm.GDP(1), 4)
				got := model.Weights()[0]
				if want == nil {
					want = got
				}
				for j := range got {
					if math.Abs(got[j]-want[j]) > 1e-8*(1+math.Abs(want[j])) {
						t.Fatalf("%s, %s: weight %d is %g, want %g", m, name, j, got[j], want[j])
					}
				}
			}
		}
	}
}

func unitSchema(d int) dpglm.Schema {
	s := dpglm.Schema{Numeric: map[string][2]float64{}}
	for j := range d {
		name := "c" + string(rune('0'+j/10)) + string(rune('0'+j%10))
		s.Columns = append(s.Columns, name)
		s.Numeric[name] = [2]float64{-1, 3}
	}
	return s
}

// Where k would reach d nothing is projected, and the ledger says so.
func TestJLFallsBack(t *testing.T) {
	x, y := given.Separable(200, 4, 1)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 1})
	direct, _ := given.Fit(t, dpglm.NoisyGDConfig{}, d, logistic, dpglm.GDP(1), 1)
	model, plan := given.Fit(t, dpglm.JLConfig{K: 9}, d, logistic, dpglm.GDP(1), 1)
	if !slices.Equal(model.Weights()[0], direct.Weights()[0]) {
		t.Errorf("weights %v, without projection %v", model.Weights()[0], direct.Weights()[0])
	}
	if !strings.Contains(plan.Ledger.String(), "without projection") {
		t.Errorf("ledger: %v", plan.Ledger)
	}
}
