package labelsonly

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// begun is a fit of classes to made-up rows, and the rows.
func begun(t *testing.T) (*fit, *mat.Dense) {
	t.Helper()
	const n, d = 60, 3
	r := rand.New(rand.NewPCG(8, 1))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, float64(j+1)*r.NormFloat64()+0.5)
		}
		y[i] = float64(r.IntN(2))
	}
	data, err := curator.Open(x, y, curator.NewIdentity(d, 30, true), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := release.Pool("labels", 100, 8, 64)
	if err != nil {
		t.Fatal(err)
	}
	p := estimate.Problem{Facts: estimate.Facts{Rows: n, Dim: d + 1, Intercept: true, LabelBound: 1}, Loss: losses.Logistic{}, Asked: losses.Logistic{}, Mu: 100, Fraction: 1}
	f, constant, err := begin(p, estimate.Task{
		Ctx: t.Context(), Data: data, Under: data.Under, Progress: func(int, int) {}, Levels: func() [][]int { return nil },
		Allow: schedule.Allow(data.Rows(), mechanisms.NewSeededSource(1)),
	}, nil, aim{least: half})
	if err != nil || constant != nil {
		t.Fatal(constant, err)
	}
	return f, x
}

// What probabilities rise by is the mean of p(1 − p) over the rows, its error that of so many rows, and its derivatives those of a law's coordinates,
// which are a point's times their sizes: by differences.
func TestSteepnessByDifferences(t *testing.T) {
	f, x := begun(t)
	theta := []float64{0.5, -0.3, 0.8, 0.4}
	at, size := []int{2, 0, 1, 3}, []float64{2, 0.5, 3, 1}
	steepness := func(theta []float64) infer.Steepness {
		to := infer.Steepness{By: make([]float64, 4)}
		if err := f.steepen(&to, theta, at, size); err != nil {
			t.Fatal(err)
		}
		return to
	}
	got := steepness(theta)
	n, _ := x.Dims()
	w := f.weights(theta, 0, 0)
	var mean, square float64
	for i := range n {
		p := 1 / (1 + math.Exp(-floats.Dot(x.RawRowView(i), w[:3])-w[3]))
		mean += p * (1 - p) / float64(n)
		square += math.Pow(p*(1-p), 2) / float64(n)
	}
	if noise := math.Sqrt((square - mean*mean) / float64(n)); math.Abs(got.Mean-mean) > 1e-12 || math.Abs(got.Noise-noise) > 1e-9 {
		t.Errorf("a mean of %g ± %g, want %g ± %g", got.Mean, got.Noise, mean, noise)
	}
	for i := range theta {
		const h = 1e-5
		ends := [2]float64{}
		for k, step := range []float64{-h, h} {
			moved := append([]float64(nil), theta...)
			moved[i] += step / size[i]
			ends[k] = steepness(moved).Mean
		}
		if want := (ends[1] - ends[0]) / (2 * h); math.Abs(got.By[at[i]]-want) > 1e-8 {
			t.Errorf("coordinate %d: %g, by differences %g", i, got.By[at[i]], want)
		}
	}
}
