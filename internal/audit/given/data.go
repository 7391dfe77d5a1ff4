package given

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
	tables "github.com/dpglm/dpglm/table"
)

// Separable is a data set in the unit ball whose label is the sign of the first
// feature, most of the time.
func Separable(n, d int, seed uint64) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(seed, 0))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, r.NormFloat64()/math.Sqrt(float64(d)))
		}
		if x.At(i, 0)+0.1*r.NormFloat64() > 0 {
			y[i] = 1
		}
	}
	return x, y
}

// Dataset is what NewDataset makes of rows that it must take.
func Dataset(t testing.TB, x mat.Matrix, y []float64, f dpglm.Facts, more ...dpglm.RowDetail) *dpglm.Dataset {
	t.Helper()
	d, err := dpglm.NewDataset(x, y, f, more...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Seeded is an environment whose noise can be repeated.
func Seeded(seed uint64) *dpglm.Env {
	return &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)}
}

// Trained is a model of 400 rows, and their matrix.
func Trained(t *testing.T) (*dpglm.Model, *mat.Dense) {
	t.Helper()
	x, y := Separable(400, 3, 2)
	m, err := dpglm.NoisyGD(ctx, Dataset(t, x, y, dpglm.Bounds{Feature: 2, Intercept: true}), logistic,
		dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	return m, x
}

// RealRows are rows whose labels lie in [−1.5, 1.5], in eighths, so that adding a power
// of two is exact.
func RealRows(n int) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(3, 1))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.SetRow(i, []float64{r.Float64(), r.Float64() - 0.5})
		y[i] = math.Round(8*(x.At(i, 0)-x.At(i, 1)+r.Float64()-0.5)) / 8
	}
	return x, y
}

// Plus adds c to each label.
func Plus(y []float64, c float64) []float64 {
	moved := slices.Clone(y)
	for i := range moved {
		moved[i] += c
	}
	return moved
}

// Predicted are predictions of real labels, which are the scores.
func Predicted(t *testing.T, m *dpglm.Model, x mat.Matrix) []float64 {
	t.Helper()
	z, err := One(m.Scores(x))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(x)
	if err != nil || !slices.Equal(p, z) {
		t.Fatalf("predictions %v are not the scores %v: %v", p, z, err)
	}
	return z
}

// One is the only column of a matrix: the scores of a model of one.
func One(x *mat.Dense, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	return mat.Col(nil, 0, x), nil
}

// Ordered draws the order of persons from a seed.
func Ordered(seed uint64) dpglm.PersonOrder {
	return dpglm.PersonOrder{ForTests: mechanisms.NewSeededSource(seed)}
}

// ReadTable reads a CSV by a schema.
func ReadTable(t testing.TB, schema, text string) *tables.Table {
	t.Helper()
	s, err := tables.ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	read, err := tables.ReadCSV(strings.NewReader(text), s)
	if err != nil {
		t.Fatal(err)
	}
	return read
}
