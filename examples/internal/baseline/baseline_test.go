package baseline

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// sparse holds rows of columns and values.
type sparse struct {
	columns [][]int
	values  [][]float64
	width   int
}

func (s sparse) Dims() (int, int)             { return len(s.values), s.width }
func (s sparse) Row(i int) ([]int, []float64) { return s.columns[i], s.values[i] }

// sample draws rows with columns of very different magnitudes, a quarter zero.
func sample(n, d int, seed uint64) (*mat.Dense, sparse, []float64) {
	r := rand.New(mechanisms.NewSeededSource(seed))
	x, s, y := mat.NewDense(n, d, nil), sparse{width: d}, make([]float64, n)
	for i := range n {
		columns, values := []int{}, []float64{}
		y[i] = r.NormFloat64()
		for j := range d {
			if r.IntN(4) == 0 {
				continue
			}
			v := r.NormFloat64()
			y[i] += v * float64(j-1)
			v = v*math.Pow(10, float64(j)) + 1
			x.Set(i, j, v)
			columns, values = append(columns, j), append(values, v)
		}
		s.columns, s.values = append(s.columns, columns), append(s.values, values)
	}
	return x, s, y
}

// The ridge is a row of the identity for each scaled column, with label 0.
func TestSquaredLossIsRidgeRegression(t *testing.T) {
	const n, d = 500, 4
	x, _, y := sample(n, d, 1)
	m, err := Fit(Dense{x}, y, losses.Squared{})
	if err != nil {
		t.Fatal(err)
	}
	design := mat.NewDense(n+d, d+1, nil)
	for j, scale := range scales(Dense{x}) {
		for i := range n {
			design.Set(i, j, x.At(i, j)*scale)
			design.Set(i, d, 1)
		}
		design.Set(n+j, j, 1)
	}
	var want, fitted mat.VecDense
	if err := want.SolveVec(design, mat.NewVecDense(n+d, append(y, make([]float64, d)...))); err != nil {
		t.Fatal(err)
	}
	fitted.MulVec(design, &want)
	for i, z := range m.Scores(Dense{x}) {
		if math.Abs(z-fitted.AtVec(i)) > 1e-3 {
			t.Fatalf("row %d: score %v, least squares gives %v", i, z, fitted.AtVec(i))
		}
	}
}

// At the minimum of the logistic loss the residuals are orthogonal to each
// column, but for the ridge, and sum to 0.
func TestLogisticLossIsStationary(t *testing.T) {
	x, _, y := sample(800, 3, 2)
	m, err := Fit(Dense{x}, y, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	scale := scales(Dense{x})
	sums := make([]float64, 4)
	for i, z := range m.Scores(Dense{x}) {
		e := -math.Copysign(1, y[i]) / (1 + math.Exp(math.Copysign(z, y[i]*z)))
		sums[3] += e
		for j := range 3 {
			sums[j] += e * x.At(i, j) * scale[j]
		}
	}
	for j := range 3 {
		sums[j] += m.Weights[j] / scale[j]
	}
	for j, v := range sums {
		if math.Abs(v) > .02 {
			t.Errorf("sum %d is %v, want 0", j, v)
		}
	}
}

func TestSparseRowsGiveTheSameFit(t *testing.T) {
	x, s, y := sample(300, 5, 3)
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}} {
		dense, err := Fit(Dense{x}, y, loss)
		if err != nil {
			t.Fatal(err)
		}
		compact, err := Fit(s, y, loss)
		if err != nil {
			t.Fatal(err)
		}
		z := compact.Scores(s)
		for i, want := range dense.Scores(Dense{x}) {
			if math.Abs(z[i]-want) > 1e-3*(1+math.Abs(want)) {
				t.Fatalf("%s, row %d: %v, dense gives %v", loss.Name(), i, z[i], want)
			}
		}
	}
}

func TestSeparableClassesConverge(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{-2, -1, 1, 2})
	m, err := Fit(Dense{x}, []float64{0, 0, 1, 1}, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Weights[0]; !(w > 0 && w < 100) {
		t.Errorf("weight %v should be positive and moderate", w)
	}
}

// kinked is a loss that says its derivative jumps.
type kinked struct{ losses.Logistic }

func (kinked) Constants(z, y float64) losses.Constants {
	return losses.Constants{Smoothness: math.Inf(1)}
}

func TestFitRefuses(t *testing.T) {
	x := Dense{mat.NewDense(2, 1, []float64{0, 1})}
	if _, err := Fit(x, []float64{0, 1}, kinked{}); !errors.Is(err, ErrNotSmooth) {
		t.Errorf("a kinked loss: %v", err)
	}
	if _, err := Fit(x, []float64{3, -1}, losses.Poisson{}); !errors.Is(err, ErrLabel) {
		t.Errorf("a negative count: %v", err)
	}
	if _, err := Fit(x, []float64{0}, losses.Logistic{}); err == nil {
		t.Error("labels of another length should be an error")
	}
}
