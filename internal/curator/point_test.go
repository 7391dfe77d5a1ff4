package curator

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// The computed score of a query moves by at most the claimed distance when the
// weights move along it, which attains the bound.
func TestScoreSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const d, radius, delta = 40, 2.0, 1e-9
	p := Point{w: make([]float64, d), moves: delta, norm: radius, origin: origin{encoding: NewIdentity(d, 3, false)}}
	claimed := p.ScoreSensitivity()
	worst := 0.0
	for range 1000 {
		u, w, moved := make([]float64, d), make([]float64, d), make([]float64, d)
		for j := range d {
			u[j], w[j] = r.NormFloat64(), r.NormFloat64()
		}
		floats.Scale(3/floats.Norm(u, 2), u)
		floats.Scale((radius-delta)/floats.Norm(w, 2), w)
		floats.AddScaledTo(moved, w, delta/3, u)
		worst = math.Max(worst, math.Abs(floats.Dot(u, moved)-floats.Dot(u, w)))
	}
	if worst > claimed || worst < 3*delta || claimed > 3*delta*(1+1e-4) {
		t.Errorf("scores move by %g, claimed %g", worst, claimed)
	}
}

// The norm that a minimiser is said to have bounds what Project returns, in any
// dimension: squares that each round away from a sum leave a vector too long.
func TestMinimiserNorm(t *testing.T) {
	const d, radius = 1 << 16, 1.0
	x := mat.NewDense(2, d, nil)
	x.Set(0, 0, 1)
	data, err := Open(x, []float64{0, 1}, NewIdentity(d, 1, false), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := data.Under(losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	point, err := sums.Minimiser(ctx, radius, 100)
	if err != nil {
		t.Fatal(err)
	}
	w := slices.Repeat([]float64{math.Exp2(-26.5) * (1 - 1e-9)}, d)
	w[0] = 1
	for j := range w {
		w[j] *= 1 + 1e-3
	}
	vector.Project(w, radius)
	slices.Reverse(w) // small ones first
	if r := vector.Norm(w); !(r > radius*(1+1e-12) && r <= point.norm) {
		t.Errorf("projected to norm 1 + %g, said to be 1 + %g at most", r-1, point.norm-1)
	}
}

// A query's computed norm may fall short, here by 4000 squares that are lost beside
// the first; its score is counted as moving by its true length.
func TestScoreSensitivityCoversTheQuery(t *testing.T) {
	const d = 4000
	x := make([]float64, d)
	for j := range x {
		x[j] = 0x1p-27
	}
	x[0] = 1
	p := Point{w: make([]float64, d), moves: 1, origin: origin{encoding: NewIdentity(d, 0.5, false)}}
	u, err := p.origin.encoding.Encode(x)
	if err != nil {
		t.Fatal(err)
	}
	square := new(big.Float).SetPrec(500)
	for _, v := range u {
		f := new(big.Float).SetPrec(500).SetFloat64(v)
		square.Add(square, f.Mul(f, f))
	}
	length, _ := square.Sqrt(square).Float64()
	if length <= 0.5*(1+1e-14) {
		t.Fatalf("the query's true length %.17g is no longer than its bound", length)
	}
	if p.ScoreSensitivity() < length {
		t.Errorf("a query of length %.17g moves its score by that times the weights' move, claimed %.17g", length, p.ScoreSensitivity())
	}
}
