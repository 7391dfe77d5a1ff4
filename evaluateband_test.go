package dpglm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// A band holds at least 95 % of new labels in all but 5 % of evaluations, whatever the errors' law is: of 60, more than
// 9 hold less with a probability of .1 %, as do more than 5 of 24, for each of the six. With many rows and little noise it
// is hardly wider than it must be.
func TestBandsHoldNewLabels(t *testing.T) {
	t.Parallel()
	trials, most := sample.Of(24, 60), sample.Of(5, 9)
	if *longAudit {
		trials, most = 600, 90
	}
	normal := func(r *rand.Rand, a float64) float64 { return 4 + 3*a + r.NormFloat64() }
	skewed := func(r *rand.Rand, a float64) float64 {
		return math.Min(100, (4+3*a)*math.Exp(r.NormFloat64()-0.5))
	}
	counts := func(r *rand.Rand, a float64) (k float64) {
		for q := r.ExpFloat64(); q < math.Exp(a+0.5) && k < 40; q += r.ExpFloat64() {
			k++
		}
		return k
	}
	for _, c := range []struct {
		name   string
		n      int
		mu     float64
		loss   losses.Loss
		facts  Bounds
		w      [2]float64
		label  func(r *rand.Rand, a float64) float64
		widest float64 // over the narrowest that would do, at the median; 0 for any
	}{
		{"normal, few", 300, 0.5, losses.Squared{}, Bounds{Feature: 1, LabelRange: [2]float64{-20, 30}, Intercept: true}, [2]float64{3, 4}, normal, 0},
		{"normal", 3000, 0.5, losses.Squared{}, Bounds{Feature: 1, LabelRange: [2]float64{-20, 30}, Intercept: true}, [2]float64{3, 4}, normal, 1.6},
		{"normal, many", 30_000, 2, losses.Squared{}, Bounds{Feature: 1, LabelRange: [2]float64{-20, 30}, Intercept: true}, [2]float64{3, 4}, normal, 1.1},
		{"skewed", 3000, 0.5, losses.Squared{}, Bounds{Feature: 1, LabelRange: [2]float64{0, 100}, Intercept: true}, [2]float64{3, 4}, skewed, 0},
		{"counts", 3000, 0.5, losses.Poisson{}, Bounds{Feature: 1, Label: 40, Intercept: true}, [2]float64{1, 0.5}, counts, 0},
		{"counts, many", 30_000, 2, losses.Poisson{}, Bounds{Feature: 1, Label: 40, Intercept: true}, [2]float64{1, 0.5}, counts, 1.5},
	} {
		draw := func(n int, seed uint64) (x *mat.Dense, y []float64) {
			r := rand.New(rand.NewPCG(seed, 77))
			x, y = mat.NewDense(n, 1, nil), make([]float64, n)
			for i := range n {
				x.Set(i, 0, r.Float64())
				y[i] = c.label(r, x.At(i, 0))
			}
			return x, y
		}
		newX, newY := draw(5000, 1)
		var errors []float64
		for i, y := range newY {
			errors = append(errors, losses.LinkOf(c.loss).Mean(c.w[0]*newX.At(i, 0)+c.w[1])-y)
		}
		least := narrowest(errors, 0.95)
		short, hidden := 0, 0
		var widths []float64
		for k := range trials {
			x, y := draw(c.n, uint64(100+k))
			d, err := NewDataset(x, y, c.facts)
			if err != nil {
				t.Fatal(err)
			}
			e := evaluatedBy(t, d, modelOf(d, c.loss, c.w[:]), c.mu, uint64(k+1))
			if e.Band == nil {
				hidden++
				continue
			}
			held := 0
			for i, v := range errors { // of 5000 rows, in whose shares there is a third of a hundredth
				in, known := e.PredictionInterval(v + newY[i])
				if !known || !(in.Low <= in.Value && in.Value <= in.High || in.Value < e.Labels.Low || in.Value > e.Labels.High) {
					t.Fatalf("%s: %+v, %v", c.name, in, known)
				}
				if in.Low <= newY[i] && newY[i] <= in.High {
					held++
				}
			}
			if float64(held) < 0.95*float64(len(errors)) {
				short++
			}
			widths = append(widths, (e.Band.High-e.Band.Low)/least)
		}
		t.Logf("%s: %d of %d hold too little, %d are hidden, width %.2f", c.name, short, trials, hidden, medianOf(widths))
		if short > most {
			t.Errorf("%s: %d of %d bands hold less than 95 %%", c.name, short, trials)
		}
		if c.widest > 0 && !(medianOf(widths) <= c.widest) {
			t.Errorf("%s: bands are %.2f times as wide as need be", c.name, medianOf(widths))
		}
	}
}

// narrowest is the width of the narrowest interval that has equal tails and holds a part of numbers.
func narrowest(list []float64, part float64) float64 {
	sorted := sortedOf(list)
	n := float64(len(sorted))
	return sorted[int(n*(1+part)/2)] - sorted[int(n*(1-part)/2)]
}

// A prediction that isn't held to the range of labels is, before the band is laid around it.
func TestBandsOfFarPredictions(t *testing.T) {
	e := &Evaluation{Band: &Interval{Low: -1, High: 2}, Labels: &Interval{Low: 0, High: 10}}
	for mean, want := range map[float64]Interval{-5: {0, 0, 2}, 5: {5, 4, 7}, 15: {10, 9, 10}} {
		if in, known := e.PredictionInterval(mean); !known || in != want {
			t.Errorf("%g: %v, want %v", mean, in, want)
		}
	}
}

// Classes and levels have no band, nor has what noise hides.
func TestBandsOfNothing(t *testing.T) {
	if in, known := (*Evaluation)(nil).PredictionInterval(1); known || in != (Interval{}) {
		t.Error("there is one of nothing")
	}
	d, m, _ := ratings(t, 100)
	if e := evaluatedBy(t, d, m, 0.01, 1); e.Band != nil {
		t.Errorf("100 rows at μ = .01: %+v", e.Band)
	}
	if _, known := (&Evaluation{Band: &Interval{Low: -1, High: 1}, Labels: &Interval{High: 2}}).PredictionInterval(math.NaN()); known {
		t.Error("there is one of no number")
	}
}

func sortedOf(list []float64) []float64 {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return sorted
}

func medianOf(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	return sortedOf(list)[len(list)/2]
}
