package baseline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// ascendingRows are rows of levels that ascend with 1.5 times the first column and a hundredth of the second, by the thresholds 0, 1.5 and 4.
func ascendingRows(n int) (x *mat.Dense, y []float64) {
	r := rand.New(rand.NewPCG(5, 6))
	x, y = mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.SetRow(i, []float64{2 * r.NormFloat64(), 100 * r.Float64()})
		u := r.Float64()
		latent := 1.5*x.At(i, 0) + x.At(i, 1)/100 + math.Log(u/(1-u))
		for _, threshold := range []float64{0, 1.5, 4} {
			if latent > threshold {
				y[i]++
			}
		}
	}
	return x, y
}

// lossOf is the mean loss of a score by thresholds.
func lossOf(m *Model, loss losses.Ordinal, x Rows, y, weights []float64) (mean float64) {
	for i, z := range m.Scores(x) {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		mean += w * loss.Value(z, y[i]) / float64(len(y))
	}
	return mean
}

// Weights and thresholds are those of a known model, by either method and in either form of the rows.
func TestFitOrdinal(t *testing.T) {
	x, y := ascendingRows(8000)
	for name, rows := range map[string]Rows{"dense": Dense{x}, "sparse": compressed{x}} {
		m, err := FitOrdinal(rows, y, nil, 4)
		if err != nil {
			t.Fatal(err)
		}
		l := &levels{y: y, weights: ones(len(y)), counts: counted(y, 4)}
		large, err := l.lbfgs(rows)
		if err != nil {
			t.Fatal(err)
		}
		for of, m := range map[string]*Ordinal{"newton": m, "lbfgs": large} {
			got := append([]float64{m.Weights[0], 100 * m.Weights[1]}, m.Loss.Thresholds...)
			for k, want := range []float64{1.5, 1, 0, 1.5, 4} {
				if k > 1 {
					got[k] -= m.Intercept
				}
				if !(math.Abs(got[k]-want) < 0.3) {
					t.Errorf("%s %s: %v", name, of, got)
				}
			}
		}
		if a, b := lossOf(&m.Model, m.Loss, rows, y, nil), lossOf(&large.Model, large.Loss, rows, y, nil); !(a <= b && b < a+1e-3) { // which a ridge moves
			t.Errorf("%s: losses %v and %v", name, a, b)
		}
		for i, p := range []*mat.Dense{m.Probabilities(rows), large.Probabilities(rows)} {
			if sum := mat.Sum(p); !(math.Abs(sum/float64(len(y))-1) < 1e-12) {
				t.Errorf("%s %d: probabilities' sum %v", name, i, sum)
			}
		}
	}
}

// No thresholds that are given lead to a smaller loss than those that are fitted, which lead to the same one; those of the levels' shares,
// or of equal ones, to a larger one.
func TestOrdinalIsLeast(t *testing.T) {
	x, y := ascendingRows(3000)
	weights := make([]float64, len(y))
	for i := range weights {
		weights[i] = float64(1 + i%3)
	}
	for _, w := range [][]float64{nil, weights} {
		best, err := FitOrdinal(Dense{x}, y, w, 4)
		if err != nil {
			t.Fatal(err)
		}
		least := lossOf(&best.Model, best.Loss, Dense{x}, y, w)
		from := func(thresholds []float64) float64 {
			loss := losses.Ordinal{Thresholds: thresholds}
			of, labels := ByRow(loss, y, nil, w)
			m, err := Fit(Dense{x}, labels, of)
			if err != nil {
				t.Fatal(err)
			}
			return lossOf(m, loss, Dense{x}, y, w)
		}
		if same := from(best.Loss.Thresholds); !(math.Abs(same-least) < 1e-9) {
			t.Errorf("%v, by its thresholds %v", least, same)
		}
		shares := &levels{y: y, weights: ones(len(y)), counts: counted(y, 4)}
		for _, start := range [][]float64{shares.constant(), losses.Ordinal{Levels: 4}.Filled().Thresholds, {-9, 0, 9}} {
			if other := from(start); !(other > least+0.01) {
				t.Errorf("%v by %v, %v where they are fitted", other, start, least)
			}
		}
		for k := range best.Loss.Thresholds {
			for _, by := range []float64{-0.01, 0.01} {
				moved := append([]float64(nil), best.Loss.Thresholds...)
				moved[k] += by
				if other := from(moved); !(other > least) {
					t.Errorf("threshold %d, moved by %v: %v, %v where it is fitted", k, by, other, least)
				}
			}
		}
	}
}

// A row of weight 3 is three rows, and one of weight 0 none; a level that no row has is rare; levels that a column tells apart have a fit.
func TestOrdinalOfFewRows(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{0, 1, 2, 3, 4, 5})
	y := []float64{0, 1, 0, 2, 1, 2}
	weighted, err := FitOrdinal(Dense{x}, y, []float64{1, 1, 3, 1, 0, 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	repeated, err := FitOrdinal(Dense{mat.NewDense(8, 1, []float64{0, 1, 2, 2, 2, 3, 5, 5})}, []float64{0, 1, 0, 0, 0, 2, 2, 2}, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	if p, q := weighted.Probabilities(Dense{x}), repeated.Probabilities(Dense{x}); !mat.EqualApprox(p, q, 1e-4) {
		t.Errorf("%v\n%v", mat.Formatted(p), mat.Formatted(q))
	}
	for _, absent := range []float64{0, 1, 3} {
		levels := []float64{0, 1, 2, 3}
		var labels []float64
		for i := range 60 {
			if v := levels[i*7%4]; v != absent {
				labels = append(labels, v)
			}
		}
		columns := mat.NewDense(len(labels), 1, nil)
		for i := range labels {
			columns.Set(i, 0, float64(i%5))
		}
		m, err := FitOrdinal(Dense{columns}, labels, nil, 4)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Probabilities(Dense{columns})
		if rare := p.At(0, int(absent)); !(rare > 0.001 && rare < 0.1) || m.Loss.Validate() != nil {
			t.Errorf("level %v, of no row: %v, thresholds %v", absent, mat.Formatted(p.Slice(0, 1, 0, 4)), m.Loss.Thresholds)
		}
	}
	apart, err := FitOrdinal(Dense{x}, []float64{0, 0, 1, 1, 2, 2}, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	if p := apart.Probabilities(Dense{x}); !(p.At(0, 0) > 0.99 && p.At(2, 1) > 0.9 && p.At(5, 2) > 0.99) {
		t.Errorf("%v", mat.Formatted(p))
	}
	if _, err := FitOrdinal(Dense{x}, y[:5], nil, 3); err == nil {
		t.Error("5 labels for 6 rows")
	}
}

func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

func counted(y []float64, k int) []float64 {
	counts := make([]float64, k)
	for _, level := range y {
		counts[int(level)]++
	}
	return counts
}
