package dpglm_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// benchTable is a classification task: raw features, 0/1 labels, public facts.
type benchTable struct {
	x     *mat.Dense
	y     []float64
	facts dpglm.Facts
}

// bytes is the size of the features.
func (t *benchTable) bytes() int64 {
	n, d := t.x.Dims()
	return int64(n) * int64(d) * 8
}

// firstColumn is the task with its first feature alone.
func (t *benchTable) firstColumn() *benchTable {
	n, _ := t.x.Dims()
	return &benchTable{mat.NewDense(n, 1, mat.Col(nil, 0, t.x)), t.y, dpglm.Bounds{Feature: 100}}
}

// benchTables are the three sizes of the benchmarks of whole fits, made when they
// are first asked for.
var benchTables = []struct {
	name string
	make func() (*benchTable, error)
}{
	{"survey", sync.OnceValues(surveyTable)}, // 28,155×12
	{"census", sync.OnceValues(censusTable)}, // 48,842×108
	{"dense", sync.OnceValues(denseTable)},   // 100,000×100
}

// surveyTable is the survey in testdata: does a man earn more than $600 a week?
func surveyTable() (*benchTable, error) {
	records, err := readSurvey()
	if err != nil {
		return nil, err
	}
	header, records := records[0], records[1:]
	facts := dpglm.Schema{
		Columns: []string{"education", "experience"}, Intercept: true,
		Numeric: map[string][2]float64{"education": {0, 18}, "experience": {-4, 63}}, OneHot: map[string][]string{},
	}
	for j, group := range [][]string{3: {"cauc", "afam"}, 4: {"no", "yes"}, 5: {"northeast", "midwest", "south", "west"}, 6: {"no", "yes"}} {
		for _, level := range group {
			facts.OneHot[header[j]] = append(facts.OneHot[header[j]], header[j]+"="+level)
		}
		facts.Columns = append(facts.Columns, facts.OneHot[header[j]]...)
	}
	t := &benchTable{mat.NewDense(len(records), len(facts.Columns), nil), make([]float64, len(records)), facts}
	for i, record := range records {
		var numbers [3]float64
		for j, text := range record[:3] {
			if numbers[j], err = strconv.ParseFloat(text, 64); err != nil {
				return nil, err
			}
		}
		if numbers[0] > 600 {
			t.y[i] = 1
		}
		t.x.Set(i, 0, numbers[1])
		t.x.Set(i, 1, numbers[2])
		for j := 3; j < len(record); j++ {
			t.x.Set(i, slices.Index(facts.Columns, header[j]+"="+record[j]), 1)
		}
	}
	return t, nil
}

func readSurvey() ([][]string, error) {
	f, err := os.Open("testdata/cps1988.csv.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return csv.NewReader(z).ReadAll()
}

// censusTable has the shape of UCI Adult: 6 numeric columns, and 102 one-hot
// columns in 8 groups whose levels differ much in how frequent they are.
func censusTable() (*benchTable, error) {
	const n = 48_842
	facts := dpglm.Schema{Intercept: true, Numeric: map[string][2]float64{}, OneHot: map[string][]string{}}
	for j := range 6 {
		name := fmt.Sprintf("number %d", j)
		facts.Columns = append(facts.Columns, name)
		facts.Numeric[name] = [2]float64{-4, 4}
	}
	groups := []int{9, 16, 7, 15, 6, 5, 2, 42}
	for g, levels := range groups {
		group := fmt.Sprintf("group %d", g)
		for k := range levels {
			facts.OneHot[group] = append(facts.OneHot[group], fmt.Sprintf("%s, level %d", group, k))
		}
		facts.Columns = append(facts.Columns, facts.OneHot[group]...)
	}
	r := rand.New(mechanisms.NewSeededSource(1))
	x := mat.NewDense(n, len(facts.Columns), nil)
	for i := range n {
		row := x.RawRowView(i)
		for j := range 6 {
			row[j] = r.NormFloat64()
		}
		first := 6
		for _, levels := range groups {
			u := r.Float64()
			row[first+int(u*u*u*float64(levels))] = 1
			first += levels
		}
	}
	return &benchTable{x, labelled(x, r), facts}, nil
}

// denseTable has normal features.
func denseTable() (*benchTable, error) {
	const n, d = 100_000, 100
	r := rand.New(mechanisms.NewSeededSource(2))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, r.NormFloat64()/math.Sqrt(d))
		}
	}
	return &benchTable{x, labelled(x, r), dpglm.Bounds{Feature: 1.5}}, nil
}

// labelled draws labels from a logistic model with random weights.
func labelled(x *mat.Dense, r *rand.Rand) []float64 {
	n, d := x.Dims()
	w, z := mat.NewVecDense(d, nil), mat.NewVecDense(n, nil)
	for j := range d {
		w.SetVec(j, r.NormFloat64())
	}
	z.MulVec(x, w)
	y := make([]float64, n)
	for i := range y {
		if r.Float64() < 1/(1+math.Exp(-z.AtVec(i))) {
			y[i] = 1
		}
	}
	return y
}

// eachTable runs a benchmark on each of the tables. The bytes are those of the
// features, once: GB/s compares the whole of f with a single pass.
func eachTable(b *testing.B, prepare func(*benchTable) *benchTable, f func(t *benchTable) error) {
	for _, c := range benchTables {
		b.Run(c.name, func(b *testing.B) {
			table, err := c.make()
			if err != nil {
				b.Fatal(err)
			}
			table = prepare(table)
			b.SetBytes(table.bytes())
			b.ReportAllocs()
			for b.Loop() {
				if err := f(table); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func whole(t *benchTable) *benchTable { return t }

// The door: checks, clamps and norms.
func BenchmarkNewDataset(b *testing.B) {
	eachTable(b, whole, func(t *benchTable) error {
		_, err := dpglm.NewDataset(t.x, t.y, t.facts)
		return err
	})
}

var benchBudget = dpglm.ApproxDP(1, 1e-6)

var benchLearners = []struct {
	name    string
	learner dpglm.Learner
}{
	{"ObjectivePerturbation", dpglm.ObjectivePerturbationConfig{}},
	{"NoisyGD", dpglm.NoisyGDConfig{}},
	{"OutputPerturbation", dpglm.OutputPerturbationConfig{}},
	{"JL", dpglm.JLConfig{}},
	{"GridSearch", dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}},
	{"GridSearchObjective", dpglm.GridSearchConfig{Learner: dpglm.ObjectivePerturbationConfig{}}},
	{"Boost", dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}}},
}

// Planning, which sees public numbers only.
func BenchmarkPlan(b *testing.B) {
	s := dpglm.Shape{Rows: 48_842, Dim: 109, Intercept: true, FeatureBound: math.Sqrt(15)}
	for _, l := range benchLearners {
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.learner.Plan(s, logistic, benchBudget); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Whole fits from a table to a model, each learner at its defaults.
func BenchmarkFit(b *testing.B) {
	for _, l := range benchLearners {
		b.Run(l.name, func(b *testing.B) {
			eachTable(b, whole, func(t *benchTable) error {
				data, err := dpglm.NewDataset(t.x, t.y, t.facts)
				if err != nil {
					return err
				}
				plan, err := l.learner.Plan(data.Shape(), logistic, benchBudget)
				if err != nil {
					return err
				}
				_, err = plan.Run(context.Background(), data, nil)
				return err
			})
		})
	}
}

// Noisy GD as its theorem has it, T = n steps, for the squared loss: each step works
// with second moments and adds noise to 100 coordinates.
func BenchmarkTheorem1(b *testing.B) {
	table, err := denseTable()
	if err != nil {
		b.Fatal(err)
	}
	problem := dpglm.Problem{Loss: losses.Squared{}}
	for b.Loop() {
		data, err := dpglm.NewDataset(table.x, table.y, dpglm.Bounds{Feature: 1.5, Label: 1})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := dpglm.NoisyGD(context.Background(), data, problem, benchBudget, dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// Predictors for 100 queries, from a table to the first answer.
func BenchmarkPredictor(b *testing.B) {
	ctx := context.Background()
	for _, c := range []struct {
		name    string
		prepare func(*benchTable) *benchTable
		make    func(*dpglm.Dataset) (*dpglm.Predictor, error)
	}{
		{"Vote", whole, func(d *dpglm.Dataset) (*dpglm.Predictor, error) {
			return dpglm.NewPredictor(ctx, d, logistic, benchBudget, dpglm.VoteConfig{Queries: 100}, nil)
		}},
		{"Average", whole, func(d *dpglm.Dataset) (*dpglm.Predictor, error) {
			return dpglm.NewPredictor(ctx, d, logistic, benchBudget, dpglm.AverageConfig{Queries: 100}, nil)
		}},
		{"Stable", whole, func(d *dpglm.Dataset) (*dpglm.Predictor, error) {
			return dpglm.NewPredictor(ctx, d, logistic, benchBudget, dpglm.StableConfig{Queries: 100}, nil)
		}},
		{"Descent", whole, func(d *dpglm.Dataset) (*dpglm.Predictor, error) {
			return dpglm.NewPredictor(ctx, d, logistic, benchBudget, dpglm.DescentConfig{Queries: 100}, nil)
		}},
		{"Threshold", (*benchTable).firstColumn, func(d *dpglm.Dataset) (*dpglm.Predictor, error) {
			return dpglm.NewPredictor(ctx, d, dpglm.Problem{}, benchBudget, dpglm.ThresholdConfig{Queries: 100}, nil)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			eachTable(b, c.prepare, func(t *benchTable) error {
				data, err := dpglm.NewDataset(t.x, t.y, t.facts)
				if err != nil {
					return err
				}
				p, err := c.make(data)
				if err != nil {
					return err
				}
				_, err = p.Answer(ctx, slices.Clone(t.x.RawRowView(0)))
				return err
			})
		})
	}
}
