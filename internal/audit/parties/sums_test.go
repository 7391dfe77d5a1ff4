package parties_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// asking is a learner that parties answer with any sums: what it prints as numbers.
type asking struct {
	name   string
	labels func(r *rand.Rand, score float64) float64
	run    func(d *dpglm.Dataset) ([]float64, error)
}

func weightsOf(m *dpglm.Model, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	return slices.Concat(m.Weights()...), nil
}

// numbers are those of anything that JSON has, in its order.
func numbers(of any) (all []float64) {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		panic(err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case float64:
			all = append(all, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			keys := make([]string, 0, len(v))
			for k := range v {
				if k != "ledger" && k != "checksum" {
					keys = append(keys, k)
				}
			}
			slices.Sort(keys)
			for _, k := range keys {
				walk(v[k])
			}
		}
	}
	walk(v)
	return all
}

func coin(r *rand.Rand, score float64) float64 {
	if r.Float64() < losses.Logit.Mean(score) {
		return 1
	}
	return 0
}

func level(r *rand.Rand, score float64) float64 {
	return math.Round(math.Min(2, math.Max(0, 1+score+r.NormFloat64()/2)))
}

func learners(b dpglm.Budget) []asking {
	fits := func(l losses.Loss, classes int) func(d *dpglm.Dataset) ([]float64, error) {
		return func(d *dpglm.Dataset) ([]float64, error) {
			return weightsOf(dpglm.Auto(ctx, d, dpglm.Problem{Loss: l, Classes: classes}, b, given.Seeded(1)))
		}
	}
	real := func(r *rand.Rand, score float64) float64 { return score + r.NormFloat64() }
	count := func(r *rand.Rand, score float64) float64 { return math.Floor(4 * r.Float64() * math.Exp(score/2)) }
	return []asking{
		{"two classes", coin, fits(losses.Logistic{}, 0)},
		{"real labels", real, fits(losses.Squared{}, 0)},
		{"absolute loss", real, fits(losses.Absolute{}, 0)},
		{"a quantile", real, fits(losses.Quantile{Tau: 0.8}, 0)},
		{"Huber's loss", real, fits(losses.Huber{Kappa: 0.1}, 0)},
		{"counts", count, fits(losses.Poisson{}, 0)},
		{"levels", level, fits(losses.Ordinal{Levels: 3}, 0)},
		{"softmax", level, fits(losses.Logistic{}, 3)},
		{"one against the rest", level, func(d *dpglm.Dataset) ([]float64, error) {
			return weightsOf(dpglm.OneAgainstRest(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, b, dpglm.OneAgainstRestConfig{}, given.Seeded(1)))
		}},
		{"inference", real, func(d *dpglm.Dataset) ([]float64, error) {
			f, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Squared{}}, b, dpglm.InferConfig{}, given.Seeded(1))
			return numbers(f), err
		}},
		{"inference of classes' logits", coin, func(d *dpglm.Dataset) ([]float64, error) {
			f, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, b, dpglm.InferConfig{}, given.Seeded(1))
			return numbers(f), err
		}},
		{"moments", real, func(d *dpglm.Dataset) ([]float64, error) {
			m, err := d.Moments(ctx, b, given.Seeded(1))
			if err != nil {
				return nil, err
			}
			return numbers(m), nil
		}},
		{"evaluation", coin, evaluated(losses.Logistic{}, 0, b)},
		{"evaluation of numbers", real, evaluated(losses.Squared{}, 0, b)},
		{"evaluation of classes", level, evaluated(losses.Logistic{}, 3, b)},
		{"evaluation of levels", level, evaluated(losses.Ordinal{Levels: 3}, 0, b)},
	}
}

// evaluated returns what evaluates a model, that of the first data set.
func evaluated(l losses.Loss, classes int, b dpglm.Budget) func(d *dpglm.Dataset) ([]float64, error) {
	var m *dpglm.Model
	return func(d *dpglm.Dataset) (_ []float64, err error) {
		if m == nil {
			if m, err = dpglm.Auto(ctx, d, dpglm.Problem{Loss: l, Classes: classes}, b, given.Seeded(1)); err != nil {
				return nil, err
			}
		}
		e, err := dpglm.Evaluate(ctx, d, m, b, dpglm.EvaluateConfig{}, given.Seeded(2))
		return numbers(e), err
	}
}

// What learners find of rows that several parties hold is, to the last bit, what they find of the same rows at one party, and what
// they find of these in memory, up to rounding.
func TestPartiesAnswerLearners(t *testing.T) {
	const n, d = 1500, 4
	for _, l := range learners(dpglm.GDP(2)) {
		t.Run(l.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			x, y := mat.NewDense(n, d, nil), make([]float64, n)
			for i := range n {
				score := 0.0
				for j := range d {
					x.Set(i, j, r.Float64()-0.5)
					score += x.At(i, j) * float64(2-j)
				}
				y[i] = l.labels(r, score)
			}
			facts := dpglm.Bounds{Feature: 2, Label: 4, Intercept: true}
			memory, err := dpglm.NewDataset(x, y, facts)
			if err != nil {
				t.Fatal(err)
			}
			want, err := l.run(memory)
			if err != nil {
				t.Fatal(err)
			}
			var found [][]float64
			for _, cuts := range [][]int{nil, {1, 350, 1250}} {
				parties, rows := given.Shared(t, x, y, cuts...)
				data, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: d}, facts, &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2))})
				if err != nil {
					t.Fatal(err)
				}
				got, err := l.run(data)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, got)
			}
			if !slices.Equal(found[0], found[1]) {
				t.Errorf("%v of one party, %v of four", found[0], found[1])
			}
			if len(want) != len(found[0]) {
				t.Fatalf("%v, in memory %v", found[0], want)
			}
			for j, v := range want {
				if math.Abs(found[0][j]-v) > 1e-6*math.Max(1, math.Abs(v)) {
					t.Fatalf("number %d is %g, in memory %g", j, found[0][j], v)
				}
			}
		})
	}
}
