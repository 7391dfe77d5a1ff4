package estimates

import (
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

// words are rows of 30 words each, the k-th with a frequency like 1/k, as long as 1, and scores by some words.
func words(r *rand.Rand, n, d int) (x *mat.Dense, scores []float64) {
	const each, telling = 30, 20
	x, scores = mat.NewDense(n, d, nil), make([]float64, n)
	effects, of := make([]float64, telling), rand.New(rand.NewPCG(5, 5))
	for j := range effects {
		effects[j] = of.NormFloat64()
	}
	for i := range n {
		for range each {
			j := int(math.Exp(r.Float64()*math.Log(float64(d)))) - 1
			if x.At(i, j) != 0 {
				continue
			}
			x.Set(i, j, 1/math.Sqrt(each))
			if j < telling {
				scores[i] += effects[j] / math.Sqrt(each)
			}
		}
	}
	return x, scores
}

// Of more than 1000 columns real labels and counts are told better than by the constant, the former the better the more budget there is, also where their range
// is ten times as wide as they need, which with little budget hides their mean. By objective perturbation, the wide range's
// loss is some 20 times the constant's. The least gains are what three fits came to less about .04, and half of it or less of counts;
// one fit may come to .03 less than three.
func TestManyColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	const n, held, d = 6000, 2000, 1100
	type drawn struct {
		x      *mat.Dense
		scores []float64
		then   rand.PCG
	}
	list := make([]drawn, sample.Of(1, 3))
	for seed := range list {
		source := rand.NewPCG(uint64(seed), 1)
		x, scores := words(rand.New(source), n+held, d)
		list[seed] = drawn{x, scores, *source}
	}
	for _, c := range []struct {
		loss  losses.Loss
		label float64
		least []float64 // at ε = 1, 4 and 16
	}{
		{losses.Squared{}, 5, []float64{0.2, 0.31, 0.35}}, {losses.Squared{}, 50, []float64{-0.15, 0.2, 0.34}}, {losses.Poisson{}, 10, []float64{0.005, 0.02, 0.005}},
	} {
		for k, epsilon := range []float64{1, 4, 16} {
			var gain float64
			for seed, rows := range list {
				x, y, r := rows.x, slices.Clone(rows.scores), rand.New(&rows.then)
				for i, z := range y {
					if y[i] = math.Max(-5, math.Min(5, z+r.NormFloat64()/2)); c.loss.Labels() == losses.Count {
						y[i] = 0
						for p := r.ExpFloat64(); p < math.Exp(0.7*z) && y[i] < c.label; p += r.ExpFloat64() {
							y[i]++
						}
					}
				}
				data, err := dpglm.NewDataset(x.Slice(0, n, 0, d), y[:n], dpglm.Bounds{Feature: 1.2, Label: c.label, Intercept: true})
				if err != nil {
					t.Fatal(err)
				}
				m, err := dpglm.Auto(t.Context(), data, dpglm.Problem{Loss: c.loss}, dpglm.ApproxDP(epsilon, 1e-6), given.Seeded(uint64(seed)))
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Scores(x.Slice(n, n+held, 0, d))
				if err != nil {
					t.Fatal(err)
				}
				var mean, loss, constant float64
				for _, v := range y[:n] {
					mean += v / n
				}
				if c.loss.Labels() == losses.Count {
					mean = math.Log(mean)
				}
				for i, v := range y[n:] {
					loss += c.loss.Value(got.At(i, 0), v)
					constant += c.loss.Value(mean, v)
				}
				gain += (1 - loss/constant) / float64(len(list))
			}
			t.Logf("%s, labels up to %g, ε = %g: gain of %.3f", c.loss.Name(), c.label, epsilon, gain)
			if gain < c.least[k]-sample.Of(0.03, 0) {
				t.Errorf("%s, labels up to %g, ε = %g: gain of %.3f, less than %g", c.loss.Name(), c.label, epsilon, gain, c.least[k])
			}
		}
	}
}

// Thresholds of levels are estimated by a model of their own first, which of so many columns has as many steps again: the planned releases are enough for both.
func TestManyColumnsAndThresholds(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	r := rand.New(rand.NewPCG(1, 1))
	x, y := words(r, 1200, 1050)
	for i, z := range y {
		z += r.NormFloat64()
		y[i] = 0
		for _, threshold := range []float64{-0.7, 0.7} {
			if z > threshold {
				y[i]++
			}
		}
	}
	d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1.2, LabelRange: [2]float64{0, 2}, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dpglm.Auto(t.Context(), d, dpglm.Problem{Loss: losses.Ordinal{Levels: 3}}, dpglm.ApproxDP(2, 1e-6), given.Seeded(1)); err != nil {
		t.Error(err)
	}
}
