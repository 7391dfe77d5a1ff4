// Package reference has private algorithms of the field as their papers print them, to
// compare with. Noise is a float64 Gaussian from a known seed, some parameters are
// chosen by looking, and bounds are taken on trust: none of it protects anybody.
package reference

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/dpglm/dpglm/losses"
)

// Data are rows, the intercept's 1 included, of norm at most Bound, and labels: ±1, or
// numbers within ±LabelBound.
type Data struct {
	X                 *mat.Dense
	Y                 []float64
	Bound, LabelBound float64
}

// Descent is full-batch DP-SGD [Abadi et al. 2016, without sampling]: gradients of rows
// are clipped to a norm, and their sum gets noise that makes all steps mu-GDP for replacing
// a row. It returns the last weights.
type Descent struct {
	Steps int
	Step  float64 // for the mean gradient
	Clip  float64
}

// Grid are the parameters to choose among. Clips are shares of the longest gradient at w = 0.
func Grid(d Data) []Descent {
	steepest := d.Bound
	if d.LabelBound > 0 {
		steepest *= d.LabelBound
	}
	var all []Descent
	for _, steps := range []int{30, 100, 300} {
		for _, step := range []float64{1, 4, 16} {
			for _, clip := range []float64{0.1, 0.25, 0.5} {
				all = append(all, Descent{steps, step / (d.Bound * d.Bound), clip * steepest})
			}
		}
	}
	return all
}

// Fit runs the descent.
func (c Descent) Fit(d Data, loss losses.Loss, mu float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	n, p := d.X.Dims()
	w, sum := make([]float64, p), make([]float64, p)
	sigma := 2 * c.Clip * math.Sqrt(float64(c.Steps)) / mu
	for range c.Steps {
		clear(sum)
		for i, y := range d.Y {
			x := d.X.RawRowView(i)
			slope := loss.Deriv(floats.Dot(w, x), y)
			if norm := math.Abs(slope) * floats.Norm(x, 2); norm > c.Clip {
				slope *= c.Clip / norm
			}
			floats.AddScaled(sum, slope, x)
		}
		for j := range w {
			w[j] -= c.Step / float64(n) * (sum[j] + sigma*r.NormFloat64())
		}
	}
	return w
}

// AdaSSP is Algorithm 2 of Wang, Revisiting differentially private linear regression (UAI
// 2018), for the squared loss: noisy second moments, and a ridge by a noisy smallest
// eigenvalue. Its three releases have the exact noise of a third of μ² each for replacing a row,
// which is less than the paper's √log(6/δ)/(ε/3).
func AdaSSP(d Data, mu float64, seed uint64) ([]float64, error) {
	const failure = 0.05 // ρ, of the accuracy of the ridge
	r := rand.New(rand.NewPCG(seed, 0))
	_, p := d.X.Dims()
	x2, each := d.Bound*d.Bound, math.Sqrt(3)/mu

	var moments mat.SymDense
	moments.SymOuterK(1, d.X.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&moments, false) {
		return nil, errors.New("reference: no eigenvalues")
	}
	spread := math.Sqrt2 * x2 * each // a replaced row moves the moments by √2·X²
	tail := math.Sqrt(2 * math.Log(2/failure))
	least := math.Max(0, floats.Min(eigen.Values(nil))+x2*each*(r.NormFloat64()-tail))
	ridge := math.Max(0, spread*math.Sqrt(float64(p)*math.Log(2*float64(p*p)/failure))-least)

	target := mat.NewVecDense(p, nil)
	target.MulVec(d.X.T(), mat.NewVecDense(len(d.Y), d.Y))
	for j := range p {
		target.SetVec(j, target.AtVec(j)+2*d.Bound*d.LabelBound*each*r.NormFloat64())
		for k := j; k < p; k++ {
			noise := spread * r.NormFloat64()
			if k > j {
				noise /= math.Sqrt2 // it counts twice in the Frobenius norm
			} else {
				noise += ridge
			}
			moments.SetSym(j, k, moments.At(j, k)+noise)
		}
	}
	w := mat.NewVecDense(p, nil)
	if err := w.SolveVec(&moments, target); err != nil {
		var bad mat.Condition
		if !errors.As(err, &bad) {
			return nil, err
		}
	}
	return w.RawVector().Data, nil
}

// Objective is Algorithm 1 of Kifer, Smith and Thakurta, Private convex empirical risk
// minimization (COLT 2012), for the logistic loss, with its own constants. They are for
// adding or removing a row, the weaker promise.
func Objective(d Data, epsilon, delta float64, seed uint64) ([]float64, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	_, p := d.X.Dims()
	ridge := 2 * d.Bound * d.Bound / 4 / epsilon // Δ = 2λ/ε, λ bounding the Hessian of a row
	sigma := d.Bound * math.Sqrt(8*math.Log(2/delta)+4*epsilon) / epsilon
	b := make([]float64, p)
	for j := range b {
		b[j] = sigma * r.NormFloat64()
	}
	return newton(d, b, ridge)
}

// newton minimises Σ log(1 + e^(−y⟨w, x⟩)) + ridge/2·‖w‖² + ⟨b, w⟩.
func newton(d Data, b []float64, ridge float64) ([]float64, error) {
	loss := losses.Logistic{}
	_, p := d.X.Dims()
	problem := optimize.Problem{
		Func: func(w []float64) float64 {
			total := ridge/2*floats.Dot(w, w) + floats.Dot(b, w)
			for i, y := range d.Y {
				total += loss.Value(floats.Dot(w, d.X.RawRowView(i)), y)
			}
			return total
		},
		Grad: func(gradient, w []float64) {
			floats.AddScaledTo(gradient, b, ridge, w)
			for i, y := range d.Y {
				x := d.X.RawRowView(i)
				floats.AddScaled(gradient, loss.Deriv(floats.Dot(w, x), y), x)
			}
		},
		Hess: func(hessian *mat.SymDense, w []float64) {
			hessian.Zero()
			for j := range p {
				hessian.SetSym(j, j, ridge)
			}
			for i, y := range d.Y {
				z := floats.Dot(w, d.X.RawRowView(i))
				hessian.SymRankOne(hessian, loss.Curvature(z, y), d.X.RowView(i))
			}
		},
	}
	// The noise b is at least of the order of the bound on a row. A line search may fail for
	// rounding before that, where all the same nothing is left to gain.
	settings := &optimize.Settings{GradientThreshold: 1e-6 * d.Bound}
	result, err := optimize.Minimize(problem, make([]float64, p), settings, &optimize.Newton{})
	if result == nil {
		return nil, err
	}
	left := make([]float64, p)
	if problem.Grad(left, result.X); !(floats.Norm(left, 2) <= 1e-3*d.Bound) {
		return nil, fmt.Errorf("no convergence, %v: %w", result.Status, err)
	}
	return result.X, nil
}
