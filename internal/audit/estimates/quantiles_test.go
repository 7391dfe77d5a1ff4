package estimates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// Quantiles of few rows don't move to the middle, as if the few gradients on their far side were outliers. Labels are 1 + z + e, e standard normal. A mean of
// so many intercepts is at most .06 off in three sets of samples, with a standard error of .02; clips that go by how many rows they shorten move it by .4.
func TestQuantilesOfFewRowsStayOut(t *testing.T) {
	const n, samples = 1000, 20
	for _, order := range []float64{0.9, 0.5, 0.1} {
		r := rand.New(rand.NewPCG(30, 13))
		var mean float64
		for k := range samples {
			x, y := mat.NewDense(n, 3, nil), make([]float64, n)
			for i := range n {
				for j := range 3 {
					x.Set(i, j, math.Min(math.Max(r.NormFloat64(), -3), 3))
				}
				y[i] = 1 + x.At(i, 0) + r.NormFloat64()
			}
			d := given.Dataset(t, x, y, dpglm.Bounds{Feature: math.Sqrt(27), Label: 10, Intercept: true})
			m, _ := given.Fit(t, dpglm.AutoConfig{}, d, dpglm.Problem{Loss: losses.Quantile{Tau: order}}, dpglm.ApproxDP(2, 1e-6), uint64(k))
			mean += m.Weights()[0][3] / samples
		}
		want := 1 + distuv.UnitNormal.Quantile(order)
		if math.Abs(mean-want) > 0.2 {
			t.Errorf("order %g: a mean intercept of %.3f, want %.3f", order, mean, want)
		}
	}
}
