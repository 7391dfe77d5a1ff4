package estimates_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Of events over times at risk that they end, of which up to 8 may be expected, an evaluation has the errors of the model's own means, as it has
// where there are no times, and means are 1 at most.
func TestEventsAreJudgedByTheirMeans(t *testing.T) {
	const n, censored = 20_000, 20.0
	r := mechanisms.NewSeededSource(8)
	unit := func() float64 { return (float64(r.Uint64()>>11) + .5) / (1 << 53) }
	x, died, above, offsets := mat.NewDense(n, 1, nil), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		v := 2*unit() - 1
		x.Set(i, 0, v)
		at := -math.Log(unit()) / math.Exp(v)
		if at < censored {
			died[i] = 1
		}
		if v > .3 {
			above[i] = 1
		}
		offsets[i] = math.Max(-6, math.Log(math.Min(at, censored)))
	}
	for name, c := range map[string]struct {
		labels []float64
		times  bool
	}{"times at risk": {died, true}, "none": {above, false}} {
		bounds := dpglm.Bounds{Feature: 1, LabelRange: [2]float64{0, 1}, Intercept: true}
		var data *dpglm.Dataset
		var err error
		if c.times {
			data, err = dpglm.NewDataset(x, c.labels, bounds, dpglm.Offsets{Of: offsets, Range: [2]float64{-6, 6}})
		} else {
			data, err = dpglm.NewDataset(x, c.labels, bounds)
		}
		if err != nil {
			t.Fatal(err)
		}
		model, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.GDP(1000), given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		e, err := dpglm.Evaluate(ctx, data, model, dpglm.GDP(1000), dpglm.EvaluateConfig{}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		means, err := model.Means(x)
		if c.times {
			means, err = model.MeansAt(x, offsets)
		}
		if err != nil {
			t.Fatal(err)
		}
		var mean, square float64
		for i, m := range means {
			mean += (m - c.labels[i]) / n
			square += (m - c.labels[i]) * (m - c.labels[i]) / n
		}
		for figure, want := range map[string]float64{"mean error": mean, "RMSE": math.Sqrt(square)} {
			f, ok := e.Figure(figure)
			if !ok || math.Abs(f.Value-want) > .02 {
				t.Errorf("%s: %s is %.4f (told %v), want %.4f", name, figure, f.Value, ok, want)
			}
		}
	}
}
