package baseline

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
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

// With fewer columns than rows this is least squares.
func TestSquaredLossIsLeastSquares(t *testing.T) {
	const n, d = 500, 4
	x, _, y := sample(n, d, 1)
	m, err := Fit(Dense{x}, y, losses.Squared{})
	if err != nil {
		t.Fatal(err)
	}
	design := mat.NewDense(n, d+1, nil)
	for i := range n {
		design.SetRow(i, append([]float64{1}, x.RawRowView(i)...))
	}
	var want, fitted mat.VecDense
	if err := want.SolveVec(design, mat.NewVecDense(n, y)); err != nil {
		t.Fatal(err)
	}
	fitted.MulVec(design, &want)
	for i, z := range m.Scores(Dense{x}) {
		if math.Abs(z-fitted.AtVec(i)) > 1e-8 { // scores are up to 10
			t.Fatalf("row %d: score %v, least squares gives %v", i, z, fitted.AtVec(i))
		}
	}
}

// At the minimum the slopes sum to 0, and so do their products with each column of
// variance 1.
func TestFitsAreStationary(t *testing.T) {
	x, _, y := sample(800, 3, 2)
	counts := make([]float64, len(y))
	for i, v := range y {
		counts[i] = math.Floor(math.Exp(math.Min(v, 3)))
	}
	s := standardise(Dense{x})
	for _, c := range []struct {
		loss losses.Loss
		y    []float64
	}{
		{losses.Logistic{}, y}, {losses.Squared{}, y}, {losses.Huber{Kappa: .3}, y}, {losses.Poisson{}, counts},
		{losses.SquaredHinge{}, y}, {losses.SmoothedHinge{Width: .5}, y},
	} {
		m, err := Fit(Dense{x}, c.y, c.loss)
		if err != nil {
			t.Errorf("%s: %v", c.loss.Name(), err)
			continue
		}
		sums, labels := make([]float64, 4), signed(c.y, c.loss.Labels())
		for i, z := range m.Scores(Dense{x}) {
			floats.AddScaled(sums, c.loss.Deriv(z, labels[i]), s.design.RawRowView(i))
		}
		for j, v := range sums {
			if math.Abs(v) > 1e-7*steepness(labels, c.loss) { // of a sum whose standard deviation is about 10
				t.Errorf("%s: sum %d is %v, want 0", c.loss.Name(), j, v)
			}
		}
	}
}

// In whatever unit amounts are, the fit has no larger loss than the slopes of least squares.
func TestAmountsInAnyUnit(t *testing.T) {
	x, _, y := sample(100, 3, 6)
	for name, fit := range map[string]func(Rows, []float64, losses.Loss) (*Model, error){"newton": Fit, "lbfgs": func(x Rows, y []float64, loss losses.Loss) (*Model, error) {
		return lbfgs(x, y, widened(loss, y))
	}} {
		for _, unit := range []float64{1, 1e3, 1e7} {
			amounts := make([]float64, len(y))
			floats.ScaleTo(amounts, unit, y)
			floats.AddConst(2*unit, amounts)
			total := func(fitted, loss losses.Loss) float64 {
				m, err := fit(Dense{x}, amounts, fitted)
				if err != nil {
					t.Fatalf("%s by %s, in units of %g: %v", fitted.Name(), name, unit, err)
				}
				var sum float64
				for i, z := range m.Scores(Dense{x}) {
					sum += loss.Value(z, amounts[i])
				}
				return sum
			}
			for _, loss := range []losses.Loss{losses.Huber{Kappa: 1}, losses.Huber{Kappa: .01}} {
				if own, other := total(loss, loss), total(losses.Squared{}, loss); own > other {
					t.Errorf("%s by %s, in units of %g: the fit has a loss of %g, least squares %g", loss.Name(), name, unit, own, other)
				}
			}
		}
	}
}

// All levels of two groups beside the intercept, a column twice, a constant one and
// an empty one leave weights undetermined; scores are those without the surplus.
func TestCollinearColumns(t *testing.T) {
	const n = 3000
	r := rand.New(mechanisms.NewSeededSource(4))
	full, reduced := mat.NewDense(n, 11, nil), mat.NewDense(n, 4, nil)
	y := make([]float64, n)
	for i := range n {
		a, b, v := r.IntN(3), r.IntN(2), 2000+5*r.NormFloat64()
		full.Set(i, a, 1)
		full.Set(i, 3+b, 1)
		full.SetRow(i, append(slices.Clone(full.RawRowView(i)[:5]), v, 2*v, .1, 0, v-2000, float64(a)))
		if a > 0 {
			reduced.Set(i, a-1, 1)
		}
		reduced.Set(i, 2, float64(b))
		reduced.Set(i, 3, v)
		if r.NormFloat64() < float64(a-b)+(v-2000)/5 {
			y[i] = 1
		}
	}
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Poisson{}, losses.Squared{}} {
		all, err := Fit(Dense{full}, y, loss)
		if err != nil {
			t.Fatalf("%s: %v", loss.Name(), err)
		}
		if constant, empty := all.Weights[7], all.Weights[8]; constant != 0 || empty != 0 {
			t.Errorf("%s: columns that are constant have the weights %v and %v", loss.Name(), constant, empty)
		}
		few, err := Fit(Dense{reduced}, y, loss)
		if err != nil {
			t.Fatal(err)
		}
		z := all.Scores(Dense{full})
		for i, want := range few.Scores(Dense{reduced}) {
			if math.Abs(z[i]-want) > 1e-3 {
				t.Fatalf("%s, row %d: %v, without surplus columns %v", loss.Name(), i, z[i], want)
			}
		}
	}
}

// The ridge of the fit for many columns is a row of the identity for each scaled
// column, with label 0.
func TestManyColumnsAreRidgeRegression(t *testing.T) {
	const n, d = 500, 4
	x, _, y := sample(n, d, 1)
	m, err := lbfgs(Dense{x}, y, losses.Squared{})
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

// The constant's mean is the labels', and what has no mean has a quantile or a class.
func TestConstant(t *testing.T) {
	for _, c := range []struct {
		loss losses.Loss
		y    []float64
		want float64
	}{
		{losses.Logistic{}, []float64{1, 0, 0, 0}, -math.Log(3)},
		{losses.Logistic{}, []float64{1, -1, 1}, math.Log(2)},
		{losses.Logistic{}, []float64{1, 1}, 35},
		{losses.Hinge{}, []float64{1, 1, 0}, 1},
		{losses.Poisson{}, []float64{0, 3, 0, 1}, 0},
		{losses.Poisson{}, []float64{0, 0}, -35},
		{losses.Squared{}, []float64{1, 2, 6}, 3},
		{losses.Absolute{}, []float64{1, 2, 60}, 2},
		{losses.Squared{}, []float64{1e9, 1e9}, 1e9},
	} {
		if got := Constant(c.y, c.loss); math.Abs(got-c.want) > 1e-12*math.Max(1, math.Abs(c.want)) {
			t.Errorf("%s, %v: %v, want %v", c.loss.Name(), c.y, got, c.want)
		}
	}
}

func TestSparseRowsGiveTheSameFit(t *testing.T) {
	x, s, y := sample(300, 5, 3)
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}} {
		for _, fit := range []func(Rows, []float64, losses.Loss) (*Model, error){Fit, func(x Rows, y []float64, loss losses.Loss) (*Model, error) {
			return lbfgs(x, signed(y, loss.Labels()), loss)
		}} {
			dense, err := fit(Dense{x}, y, loss)
			if err != nil {
				t.Fatal(err)
			}
			compact, err := fit(s, y, loss)
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

// Labels that are all alike, a row for each column, and more columns than rows.
func TestDegenerateDataConverges(t *testing.T) {
	x, _, y := sample(6, 9, 5)
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Poisson{}, losses.Squared{}, losses.SquaredHinge{}, losses.Huber{Kappa: 1}} {
		labels := [][]float64{{1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}, {0, 1, 0, 1, 1, 2}}
		if loss.Labels() == losses.Real {
			labels = append(labels, y)
		}
		for _, y := range labels {
			m, err := Fit(Dense{x}, y, loss)
			if err != nil {
				t.Errorf("%s, %v: %v", loss.Name(), y, err)
				continue
			}
			for i, z := range m.Scores(Dense{x}) {
				if math.IsNaN(z) || math.Abs(z) > 1000 {
					t.Errorf("%s, %v: row %d has the score %v", loss.Name(), y, i, z)
				}
			}
		}
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
