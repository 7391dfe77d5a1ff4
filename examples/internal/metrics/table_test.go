package metrics

import (
	"bytes"
	"math"
	"testing"
)

func TestSummary(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		values      []float64
		mean, error float64
	}{
		{[]float64{1, 2, 6}, 3, math.Sqrt(7. / 3)}, // variance (4+1+9)/2
		{[]float64{1, none, 2, 6}, 3, math.Sqrt(7. / 3)},
		{[]float64{5, 5}, 5, 0},
		{[]float64{none, 4}, 4, none},
		{[]float64{none}, none, none},
		{nil, none, none},
	} {
		mean, err := Summary(c.values)
		if !alike(mean, c.mean) || !alike(err, c.error) {
			t.Errorf("%v: %v ± %v, want %v ± %v", c.values, mean, err, c.mean, c.error)
		}
	}
}

func alike(a, b float64) bool { return near(a, b, 1e-12) || math.IsNaN(a) && math.IsNaN(b) }

func TestMeanOfRuns(t *testing.T) {
	got := Mean([][]Metric{{{"auc", 1}, {"rmse", 4}}, {{"auc", 0}, {"rmse", math.NaN()}}})
	if len(got) != 2 || got[0] != (Metric{"auc", .5}) || got[1] != (Metric{"rmse", 4}) {
		t.Errorf("%v", got)
	}
}

func TestPrint(t *testing.T) {
	var b bytes.Buffer
	err := Print(&b, "held out", Row{Name: "a", Metrics: []Metric{{"auc", .5}, {"rmse", math.NaN()}}}, Row{Name: "longer", Reason: "none"})
	if want := "held out  auc     rmse\na         0.5000  –\nlonger    none\n"; err != nil || b.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, &b, want)
	}
}
