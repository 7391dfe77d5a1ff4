package infer

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// From a histogram of scores the mean density, and its derivatives, are those of the rows themselves, as far as cells and normal rows tell: within
// a hundredth; its error is that of so many rows, and of what noise the counts have. Of 20,000 rows derivatives vary by less than .001.
func TestSteepnessIsTheRows(t *testing.T) {
	const n, b = 20_000, 0.7
	u := []float64{0.8, -0.5}
	r := rand.New(rand.NewPCG(3, 8))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	var mean, square float64
	by := make([]float64, 3)
	for i := range n {
		row := []float64{r.NormFloat64(), r.NormFloat64()}
		x.SetRow(i, row)
		p := 1 / (1 + math.Exp(-u[0]*row[0]-u[1]*row[1]-b))
		if r.Float64() < p {
			y[i] = 1
		}
		mean += p * (1 - p) / n
		square += math.Pow(p*(1-p), 2) / n
		for j, v := range append(row, 1) {
			by[j] += p * (1 - p) * (1 - 2*p) * v / n
		}
	}
	data, err := curator.Open(x, y, curator.NewIdentity(2, 9, true), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, mu := range []float64{1e6, 0.01} {
		schedule, err := release.Pool("steepness", mu, 1, 1024)
		if err != nil {
			t.Fatal(err)
		}
		p := estimate.Problem{Facts: estimate.Facts{Rows: n, Dim: 3, Intercept: true, LabelBound: 1}, Loss: losses.Logistic{}, Asked: losses.Logistic{}, Mu: mu, Fraction: 1}
		run, err := estimate.Begin(p, estimate.Task{Ctx: t.Context(), Data: data, Under: data.Under, Allow: schedule.Allow(data.Rows(), mechanisms.NewSeededSource(1))})
		if err != nil {
			t.Fatal(err)
		}
		f := new(estimate.Frame)
		if f.In, err = run.Frame(curator.Frame{}); err != nil {
			t.Fatal(err)
		}
		v := &newton{in: &space{run: run, frame: f, constant: 1}, theta: append(append([]float64(nil), u...), b)}
		if err := v.steepen(); err != nil {
			t.Fatal(err)
		}
		got, noise := v.steepness, 0.0
		cells := scoreCells(n * mu)
		width := 2 * farLogOdds / float64(cells)
		for i := range cells {
			low := -farLogOdds + width*float64(i)
			rise := (1/(1+math.Exp(-low-width)) - 1/(1+math.Exp(-low))) / width
			noise += 2 * math.Pow(rise*math.Sqrt2/(n*mu), 2) / tuning.CountsShare // of the counts of either class
		}
		if mu < 1 { // which hides the rows
			if math.Abs(got.Noise/math.Sqrt(noise)-1) > 0.01 {
				t.Errorf("noise of %g, want %g", got.Noise, math.Sqrt(noise))
			}
			continue
		}
		if sampling := math.Sqrt((square - mean*mean) / n); math.Abs(got.Mean/mean-1) > 0.01 || math.Abs(got.Noise/sampling-1) > 0.03 {
			t.Errorf("a mean of %g ± %g, want %g ± %g", got.Mean, got.Noise, mean, sampling)
		}
		for j, want := range by {
			if math.Abs(got.By[j]-want) > 0.002 {
				t.Errorf("coordinate %d: a derivative of %g, want %g", j, got.By[j], want)
			}
		}
	}
}
