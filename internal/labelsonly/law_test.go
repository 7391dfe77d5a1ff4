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
	f, x, _ := drawn(t, estimate.Problem{Loss: losses.Logistic{}, Asked: losses.Logistic{}, Mu: 100}, func(r *rand.Rand) float64 { return float64(r.IntN(2)) })
	return f, x
}

// drawn is a fit to made-up rows with labels as they are drawn, the rows, and what it releases.
func drawn(t *testing.T, p estimate.Problem, label func(r *rand.Rand) float64) (*fit, *mat.Dense, *kept) {
	t.Helper()
	const n, d, bound = 60, 3, 30
	r := rand.New(rand.NewPCG(8, 1))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, float64(j+1)*r.NormFloat64()+0.5)
		}
		y[i] = label(r)
	}
	p.Facts, p.Fraction = estimate.Facts{Rows: n, Dim: d + 1, Intercept: true, LabelBound: bound}, 1
	data, err := curator.Open(x, y, curator.NewIdentity(d, bound, true), 0, p.Facts.LabelBound)
	if err != nil {
		t.Fatal(err)
	}
	var classes *curator.Classes
	if p.Classes > 0 {
		if classes, err = data.Classes(t.Context(), p.Classes); err != nil {
			t.Fatal(err)
		}
		data = data.Against(0)
	}
	schedule, err := release.Pool("labels", p.Mu, 8, 64)
	if err != nil {
		t.Fatal(err)
	}
	allow, k := schedule.Allow(data.Rows(), mechanisms.NewSeededSource(1)), new(kept)
	if err := allow.Keep(k, "a fit", true); err != nil {
		t.Fatal(err)
	}
	f, constant, err := begin(p, estimate.Task{
		Ctx: t.Context(), Data: data, Under: data.Under, Progress: func(int, int) {}, Levels: func() [][]int { return nil }, Allow: allow,
	}, classes, aim{least: half})
	if err != nil || constant != nil {
		t.Fatal(constant, err)
	}
	return f, x, k
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

// A step's covariance is H⁻¹(S + ν²I)H⁻¹ and what rows that count less may change, ν being a deviation.
func TestStepByDefinition(t *testing.T) {
	f, _ := begun(t)
	mode, err := f.space.state(f.family, []float64{0.5, -0.3, 0.8, 0.4})
	if err != nil {
		t.Fatal(err)
	}
	const noise = 3
	scatter, sum := mat.NewSymDense(4, nil), mat.NewDense(4, 4, nil)
	scatter.CopySym(mode.scatter)
	sum.Copy(scatter)
	for j := range 4 {
		sum.Set(j, j, sum.At(j, j)+noise*noise)
	}
	f.missed = mat.NewSymDense(4, []float64{2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 5})
	e, _ := f.step(mode, observation{sum: mode.mean, noise: noise, scale: 0.5}, scatter)
	var beside, back mat.Dense // H·(covariance − missed)·H
	beside.Sub(e.covariance, e.missed)
	back.Product(mode.slope, &beside, mode.slope)
	if !mat.EqualApprox(&back, sum, 1e-9) || e.missed.At(2, 2) != 2 || e.missed.At(0, 1) != 0 {
		t.Errorf("a covariance of %v, which missed %v", mat.Formatted(e.covariance), mat.Formatted(e.missed))
	}
}

// What is left of an observation is whitened by the root of its variance: the family's, times its scale, and that of noise.
func TestWhiteningByDefinition(t *testing.T) {
	s := &state{theta: make([]float64, 2), mean: []float64{1, -1}, slope: mat.NewSymDense(2, []float64{3, 1, 1, 2}), scatter: mat.NewSymDense(2, []float64{5, 1, 1, 4})}
	o := observation{sum: []float64{4, 2}, noise: 3, scale: 0.5, unit: 1}
	p, ok := newPosterior(s, o, belief{variance: []float64{1, 1}, constants: make([]float64, 2)})
	if !ok {
		t.Fatal("no posterior")
	}
	want := mat.NewSymDense(2, []float64{0.5*5 + 9, 0.5, 0.5, 0.5*4 + 9})
	var product, slope mat.Dense
	product.Mul(p.root, p.root.T())
	slope.Mul(p.root, p.whitened)
	left := mat.NewVecDense(2, nil)
	left.MulVec(p.root, mat.NewVecDense(2, p.residual))
	if !mat.EqualApprox(&product, want, 1e-9) || !mat.EqualApprox(&slope, s.slope, 1e-9) || !mat.EqualApprox(left, mat.NewVecDense(2, []float64{3, 3}), 1e-9) {
		t.Errorf("a variance of %v, slopes %v and %v left", mat.Formatted(&product), mat.Formatted(&slope), left)
	}
}
