package estimates_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// redundant is a column that a model's own columns and its intercept tell already.
type redundant struct {
	name string
	of   func(row []float64) float64
	// own adds to a model's own coefficients, the intercept last, what the column's weight comes to in terms of them.
	own func(own []float64, weight float64)
}

var redundantColumns = []redundant{
	{"constant", func([]float64) float64 { return 0.5 }, func(own []float64, weight float64) {
		own[len(own)-1] += weight / 2
	}},
	{"difference", func(row []float64) float64 { return row[0] - row[len(row)-1] }, func(own []float64, weight float64) {
		own[0] += weight
		own[len(own)-2] -= weight
	}},
}

// beside is a model with a redundant column after its own.
func (r redundant) beside(m *given.ExactModel) *given.ExactModel {
	wide := *m
	n, d := m.X.Dims()
	wide.Columns = append(slices.Clone(m.Columns), r.name)
	wide.X = mat.NewDense(n, d+1, nil)
	for i := range n {
		row := m.X.RawRowView(i)
		wide.X.SetRow(i, append(slices.Clone(row), r.of(row)))
	}
	return &wide
}

// nearRedundant are limits where a column is redundant: twice those of other models, as the direction that is left out has noise, and for labels of
// weighted rows whose columns differ by four orders of magnitude what that noise makes of it.
func nearRedundant(m *given.ExactModel) limits {
	if m.Name == "squared grunfeld weighted" {
		return limits{1e6: 0.02, 1e8: 0.02}
	}
	return limits{1e6: 0.012, 1e8: 0.0012}
}

// TestRedundantColumns holds fits almost without noise against statsmodels' where one direction of weights is determined by nothing. In coordinates that
// were stretched along it until noise was as large there as any row's square other weights were off, and those along it tens or more.
func TestRedundantColumns(t *testing.T) {
	for _, m := range given.ExactModels(t, limitFolder) {
		if correlated(m) || m.Family == "tweedie" {
			continue
		}
		for _, r := range redundantColumns {
			t.Run(filepath.Join(m.Name, r.name), func(t *testing.T) {
				data, times := repeated(t, r.beside(m), m.Loss(t))
				for epsilon, most := range nearRedundant(m) {
					for seed := range uint64(sample.Of(1, 3)) {
						auto, infer := fits(t, data, m.Loss(t), epsilon, 1+seed)
						for k, found := range [][]float64{auto, infer} {
							d := len(m.Columns)
							own := append(slices.Clone(found[:d]), found[d+1])
							r.own(own, found[d])
							if off := off(m, own, times); !(off <= most) {
								t.Errorf("%s at ε = %g is off by %.3g standard errors, want %g at most: %v", []string{"Auto", "Infer"}[k], epsilon, off, most, found)
							}
						}
					}
				}
			})
		}
	}
}

// TestRedundantLevels wants intervals of other columns where all levels of a group stand beside an intercept and noise is next to none: what noise makes of
// the direction that is left out isn't a part that hides anything. A draw withholds some in one of fifty by chance, so that of 20 two or more do, of whose
// columns six are withheld, in one of twenty at most.
func TestRedundantLevels(t *testing.T) {
	const rows, own, draws, mostWithheld = 3000, 3, 20, 5
	random := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(rows, 6, nil), make([]float64, rows)
	for i := range rows {
		level, score := random.IntN(3), 0.3
		for j := range 3 {
			x.Set(i, j, random.NormFloat64())
			score += 0.4 * x.At(i, j)
		}
		x.Set(i, 3+level, 1)
		y[i] = distuv.Poisson{Lambda: math.Exp(score + 0.3*float64(level)), Src: random}.Rand()
	}
	facts := dpglm.Schema{Columns: []string{"a", "b", "c", "g0", "g1", "g2"}, Numeric: map[string][2]float64{}, LabelRange: [2]float64{0, 20}, Intercept: true}
	for _, name := range facts.Columns {
		facts.Numeric[name] = [2]float64{-8, 8}
	}
	data, err := dpglm.NewDataset(x, y, facts)
	if err != nil {
		t.Fatal(err)
	}
	withheld := 0
	for seed := range uint64(draws) {
		found, err := dpglm.Infer(ctx, data, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.ApproxDP(1e8, 1e-6), dpglm.InferConfig{}, given.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found.Coefficients()[:own] {
			if c.Undetermined() {
				withheld++
			}
		}
	}
	t.Logf("%d of %d intervals are withheld", withheld, draws*own)
	if withheld > mostWithheld {
		t.Errorf("want %d at most", mostWithheld)
	}
}
