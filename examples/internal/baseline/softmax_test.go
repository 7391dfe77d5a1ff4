package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// compressed are the rows of a matrix by their entries that aren't 0.
type compressed struct{ *mat.Dense }

func (c compressed) Row(i int) (columns []int, values []float64) {
	columns = []int{}
	for j, v := range c.RawRowView(i) {
		if v != 0 {
			columns, values = append(columns, j), append(values, v)
		}
	}
	return columns, values
}

// Classes are those of a known model, in either form of the rows, and two classes are the
// logistic loss's.
func TestFitClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 4000
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.SetRow(i, []float64{float64(r.IntN(3)), 100 * r.NormFloat64()})
		best := math.Inf(-1)
		for k, w := range [][]float64{{0, 0, 0}, {1, 0.01, -0.5}, {-1, 0.02, 0.5}} {
			if z := w[0]*x.At(i, 0) + w[1]*x.At(i, 1) + w[2] - math.Log(-math.Log(r.Float64())); z > best {
				best, y[i] = z, float64(k)
			}
		}
	}
	m, err := FitClasses(Dense{x}, y, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := FitClasses(compressed{x}, y, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][]float64{{1, 0.01}, {-1, 0.02}} {
		for j, w := range want {
			tolerance := []float64{0.25, 0.0025}[j] // five standard errors
			if got := m[k+1].Weights[j] - m[0].Weights[j]; !(math.Abs(got-w) < tolerance) {
				t.Errorf("class %d, column %d: %g, want %g", k+1, j, got, w)
			}
		}
	}
	p, q := m.Probabilities(Dense{x}), sparse.Probabilities(compressed{x})
	for i := range n {
		if total := p.At(i, 0) + p.At(i, 1) + p.At(i, 2); !(math.Abs(total-1) < 1e-12) || !(math.Abs(p.At(i, 1)-q.At(i, 1)) < 1e-3) {
			t.Fatalf("row %d: %v, sparse %v", i, p.RawRowView(i), q.RawRowView(i))
		}
		y[i] = math.Min(y[i], 1)
	}
	two, err := FitClasses(Dense{x}, y, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Fit(Dense{x}, y, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	for j, w := range one.Weights {
		if got := two[1].Weights[j] - two[0].Weights[j]; !(math.Abs(got-w) < 0.05*math.Abs(w)) {
			t.Errorf("column %d: %g by two classes, %g by the logistic loss", j, got, w)
		}
	}
	if _, err := FitClasses(Dense{x}, y[:9], nil, 2); err == nil {
		t.Error("nine labels are taken")
	}
}
