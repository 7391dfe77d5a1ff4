package estimates_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

const limitFolder = "../../../testdata/limit"

// limits are the ε at which fits are held against the non-private one, and what they are off by at most
// there, in its standard errors.
type limits map[float64]float64

// nearJoint is what slopes are off by at most where thresholds are estimated, by counts in cells of scores: from the joint fit,
// however large ε is.
const nearJoint = 0.2

// correlated says that the standardised columns have the condition number 5e5.
func correlated(m *given.ExactModel) bool { return strings.HasSuffix(m.Name, " condition") }

// limitsOf a model. Where two columns are as good as one, noise hides at ε = 10⁶ what distinguishes them. A loss that Infer doesn't
// know ends with the descent, whose limit is that of its number of steps.
func limitsOf(m *given.ExactModel) limits {
	custom := m.Family == "tweedie"
	switch {
	case correlated(m) && custom:
		return nil
	case correlated(m):
		return limits{1e8: 1}
	case custom:
		return limits{1e6: 0.1, 1e8: 0.1}
	}
	return limits{1e6: 0.006, 1e8: 0.0006}
}

// around is a range 2 % beyond values.
func around(values []float64) [2]float64 {
	low, high := slices.Min(values), slices.Max(values)
	if low == high {
		return [2]float64{low - 1, high + 1}
	}
	return [2]float64{low - 0.02*(high-low), high + 0.02*(high-low)}
}

// fewestRows are those that sets are repeated to.
const fewestRows = 3000

// repeated are the rows, each as often as the others.
func repeated(t *testing.T, m *given.ExactModel, loss losses.Loss) (data *dpglm.Dataset, times int) {
	t.Helper()
	n, d := m.X.Dims()
	times = (fewestRows + n - 1) / n
	facts := dpglm.Schema{Columns: m.Columns, Numeric: map[string][2]float64{}, Intercept: true}
	for j, c := range m.Columns {
		facts.Numeric[c] = around(mat.Col(nil, j, m.X))
	}
	switch labels := loss.Labels(); {
	case labels == losses.Real:
		facts.LabelRange = around(m.Y)
	case labels != losses.Binary:
		facts.LabelRange = [2]float64{0, 1.02 * slices.Max(m.Y)}
	}
	x, y := mat.NewDense(n*times, d, nil), make([]float64, n*times)
	for i := range y {
		x.SetRow(i, m.X.RawRowView(i%n))
		y[i] = m.Y[i%n]
	}
	var details []dpglm.RowDetail
	if m.Offsets != nil {
		details = append(details, dpglm.Offsets{Of: slices.Repeat(m.Offsets, times), Range: around(m.Offsets)})
	}
	if m.Weights != nil {
		details = append(details, dpglm.Weights{Of: slices.Repeat(m.Weights, times), Max: slices.Max(m.Weights)})
	}
	data, err := dpglm.NewDataset(x, y, facts, details...)
	if err != nil {
		t.Fatal(err)
	}
	return data, times
}

// fits are the coefficients by Auto and by Infer.
func fits(t *testing.T, data *dpglm.Dataset, loss losses.Loss, epsilon float64, seed uint64) (auto, infer []float64) {
	t.Helper()
	budget, problem := dpglm.ApproxDP(epsilon, 1e-6), dpglm.Problem{Loss: loss}
	m, err := dpglm.Auto(ctx, data, problem, budget, given.Seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	list, err := m.Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		auto = append(auto, c.Value)
	}
	if _, ok := loss.(losses.Custom); ok {
		return auto, auto // Infer refuses it
	}
	found, err := dpglm.Infer(ctx, data, problem, budget, dpglm.InferConfig{}, given.Seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found.Coefficients() {
		infer = append(infer, c.Estimate)
	}
	return auto, infer
}

// TestLimits holds fits almost without noise against statsmodels'.
func TestLimits(t *testing.T) {
	seeds := sample.Of(1, 3)
	for _, folder := range []string{limitFolder, limitFolder + "/reserved"} {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			for _, m := range given.ExactModels(t, folder) {
				t.Run(m.Name, func(t *testing.T) {
					for epsilon, most := range limitsOf(m) {
						holdNear(t, m, m.Loss(t), epsilon, most, seeds)
					}
					if m.Family == "ordinal" && !correlated(m) {
						holdNear(t, m, losses.Ordinal{Levels: len(m.Thresholds) + 1}, 1e6, nearJoint, seeds)
					}
				})
			}
		})
	}
}

// off is how far coefficients of a model whose rows are repeated are off at most, in standard errors.
func off(m *given.ExactModel, found []float64, times int) (worst float64) {
	for j, v := range found {
		worst = math.Max(worst, math.Abs(v-m.Beta[j])/(m.Error[j]/math.Sqrt(float64(times))))
	}
	return worst
}

// holdNear fails unless fits of some seeds are near the exact one.
func holdNear(t *testing.T, m *given.ExactModel, loss losses.Loss, epsilon, most float64, seeds int) {
	t.Helper()
	data, times := repeated(t, m, loss)
	far := func(found []float64) float64 {
		if loss, ok := loss.(losses.Ordinal); ok && loss.Estimated() { // of which the intercept is another
			found = found[:len(m.Columns)]
		}
		return off(m, found, times)
	}
	var auto, infer float64
	for seed := range uint64(seeds) {
		a, i := fits(t, data, loss, epsilon, seed)
		auto, infer = math.Max(auto, far(a)), math.Max(infer, far(i))
	}
	t.Logf("ε = %g: Auto is off by %.3g standard errors, Infer by %.3g", epsilon, auto, infer)
	if !(auto <= most) || !(infer <= most) {
		t.Errorf("ε = %g: want %g at most", epsilon, most)
	}
}
