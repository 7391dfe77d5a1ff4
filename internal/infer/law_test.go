package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/ordinal"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// packedNoise is a matrix of which each packed number has variance 1.
func packedNoise(r *rand.Rand, dim int) *mat.SymDense {
	packed := make([]float64, dim*(dim+1)/2)
	for k := range packed {
		packed[k] = r.NormFloat64()
	}
	return curator.Unpack(packed, dim)
}

// knownLaw is a law whose H, S and J are given, and the covariance's root.
func knownLaw(t *testing.T, hessian, scatter float64) (l *Law, h, j *mat.SymDense) {
	t.Helper()
	h = mat.NewSymDense(3, []float64{0.3, 0.05, 0, 0.05, 0.2, 0.04, 0, 0.04, 0.25})
	j = mat.NewSymDense(3, []float64{0.4, 0.1, 0.05, 0.1, 0.3, 0, 0.05, 0, 0.2})
	var factor mat.Cholesky
	factor.Factorize(h)
	inverse := new(mat.SymDense)
	if err := factor.InverseTo(inverse); err != nil {
		t.Fatal(err)
	}
	l = &Law{Inverse: inverse, Seen: 1, Curved: 1, Misfit: mat.NewSymDense(3, nil), Hessian: hessian, Scatter: scatter}
	l.Covariance = linalg.Sandwich(1, inverse, j)
	return l, h, j
}

// Intervals whose H̃ and J̃ are noisy cover 95 % by Student's law, and less by the normal one. Of
// 40,000 an α of 1e-6 lets coverage be .0053 off by chance; the formula is of second order,
// which .005 more are for; where noise makes variances too large on average coverage may be as much as .97.
func TestLongerIntervalsCover(t *testing.T) {
	const draws = 40_000
	for _, c := range []struct {
		name             string
		hessian, scatter float64
		gains            bool // whether it matters at all
	}{{"no noise", 0, 0, false}, {"noise of H", 0.03, 0, false}, {"noise of J", 0, 0.12, true}, {"both", 0.025, 0.08, true}} {
		if !c.gains && !sample.All() {
			continue
		}
		r := rand.New(rand.NewPCG(3, 4))
		truth, h, j := knownLaw(t, c.hessian, c.scatter)
		along := []float64{1, -0.5, 0.3}
		sd := math.Sqrt(mat.Inner(mat.NewVecDense(3, along), truth.Covariance, mat.NewVecDense(3, along)))
		covered, before := 0, 0
		for range draws {
			noise := packedNoise(r, 3)
			noise.ScaleSym(c.hessian, noise)
			noise.AddSym(noise, h)
			l := &Law{Hessian: c.hessian, Scatter: c.scatter, Inverse: new(mat.SymDense)}
			var factor mat.Cholesky
			if !factor.Factorize(noise) {
				continue
			}
			if err := factor.InverseTo(l.Inverse); err != nil {
				t.Fatal(err)
			}
			noise = packedNoise(r, 3)
			noise.ScaleSym(c.scatter, noise)
			noise.AddSym(noise, j)
			l.Covariance = linalg.Sandwich(1, l.Inverse, noise)
			off := math.Abs(r.NormFloat64()) * sd
			se, freedom := l.StandardError(along)
			if off <= se*(distuv.StudentsT{Sigma: 1, Nu: freedom}).Quantile(0.975) {
				covered++
			}
			if off <= se*distuv.UnitNormal.Quantile(0.975) {
				before++
			}
		}
		got, was := float64(covered)/draws, float64(before)/draws
		t.Logf("%s: %.4f, %.4f before", c.name, got, was)
		if got < 0.95-0.0103 || got > 0.97 {
			t.Errorf("%s: intervals cover %.4f", c.name, got)
		}
		if c.gains && was > 0.943 {
			t.Errorf("%s: intervals would cover %.4f anyway, so that nothing is tested", c.name, was)
		}
	}
}

// What lies along a drowned direction is not determined, and the rest is.
func TestDrownedDirections(t *testing.T) {
	l, _, _ := knownLaw(t, 0.01, 0.01)
	l.Drowned = [][]float64{{0, 0.6, 0.8}}
	for _, c := range []struct {
		along []float64
		want  bool
	}{{[]float64{1, 0, 0}, true}, {[]float64{0, 1, 0}, false}, {[]float64{0, 0.8, -0.6}, true}, {[]float64{1, 0.1, 0.1}, true}, {[]float64{0, 0.6, 0.8}, false}} {
		se, _ := l.StandardError(c.along)
		if got := l.Determines(c.along); got != c.want || math.IsInf(se, 1) == c.want {
			t.Errorf("%v: determined %v, standard error %g", c.along, got, se)
		}
	}
	// A part that lies there counts by what it may add.
	l.Hidden = 1000
	for _, c := range []struct {
		along []float64
		want  bool
	}{{[]float64{1, 0, 0}, true}, {[]float64{0, 0.8, -0.6}, true}, {[]float64{1, 0.1, 0.1}, false}} {
		if got := l.Determines(c.along); got != c.want {
			t.Errorf("%v: determined %v where a hidden direction may add much", c.along, got)
		}
	}
	// What may lie there is in the errors of the others, and in what two have in common.
	one, other := []float64{1, 0.01, 0}, []float64{1, 0, 0.01}
	both := l.Combine(one).Covariance(l.Combine(other))
	alone, hidden := l.Combine(one).Covariance(l.Combine(one)), l.Hidden
	l.Hidden = 0
	if got, want := alone-l.Combine(one).Covariance(l.Combine(one)), hidden*0.006*0.006; math.Abs(got-want) > 1e-9*want {
		t.Errorf("a drowned direction adds %g to a variance, want %g", got, want)
	}
	if got, want := both-l.Combine(one).Covariance(l.Combine(other)), hidden*0.006*0.008; math.Abs(got-want) > 1e-9*want {
		t.Errorf("a drowned direction adds %g to a covariance, want %g", got, want)
	}
	// Of three directions one is more than a quarter: noise in it may hide as much as that,
	// unless it is seen to be flat. What it may add then is as little as its curvature.
	for _, c := range []struct {
		hidden, seen float64
		want         bool
	}{{1000, 1, true}, {1e6, 1, false}, {1e6, 0, true}} {
		if l.Hidden, l.Seen = c.hidden, c.seen; l.Determines([]float64{1, 0, 0}) != c.want {
			t.Errorf("determined %v where noise hides a part with a square of %g, of curvature %g", !c.want, c.hidden, c.seen)
		}
	}
	across := []float64{0, 0.8, -0.6} // of which noise in the eigenvector makes a part
	for j, v := range []float64{0.00008, 0.00006} {
		across[1+j] += v
	}
	_, noise := l.drownedPart(across)
	l.Hidden = 1000
	if inside := 1e-8; noise < 2*inside {
		t.Fatalf("noise makes a part with a square of %g only", noise)
	}
	full := l.Combine(across).Covariance(l.Combine(across))
	l.Curved = 0
	if flat := l.Combine(across).Covariance(l.Combine(across)); math.Abs(full-flat-1000*1e-8) > 1e-6*full || math.Abs(full-flat) < 1e-6 {
		t.Errorf("a flat direction adds %g to a variance, one that isn't %g", flat, full)
	}
}

// In the coordinates to which a Hessian turns it is diagonal, it is as steep along every
// function of the rows as before, and the pilot is the function that it was.
func TestTurn(t *testing.T) {
	x, y := mat.NewDense(100, 2, nil), make([]float64, 100)
	x.Set(99, 0, 2)
	d, err := curator.Open(x, y, curator.NewIdentity(2, 2, true), 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	p := estimate.Problem{Facts: estimate.Facts{Rows: 100, Dim: 3, Intercept: true}, Loss: losses.Squared{}, Mu: 1}
	r, err := estimate.Begin(p, estimate.Task{Ctx: t.Context(), Data: d, Under: d.Under})
	if err != nil {
		t.Fatal(err)
	}
	axes, centre := []float64{2, 0.5}, []float64{0.1, 0.2}
	f := estimate.Frame{At: curator.Frame{Centre: centre, Matrix: mat.NewDense(2, 2, []float64{axes[0], 0, 0, axes[1]})}}
	v := &space{run: r, frame: f.For(r), constant: 1, pilot: []float64{0.3, -0.2, 0.5}}
	h := mat.NewSymDense(3, []float64{0.3, 0.05, 0.04, 0.05, 0.2, -0.03, 0.04, -0.03, 0.25})
	before := slices.Clone(v.pilot)
	var packed []float64
	for i := range 3 {
		for j := i; j < 3; j++ {
			factor := r.N
			if i != j {
				factor *= math.Sqrt2
			}
			packed = append(packed, factor*h.At(i, j))
		}
	}
	if err := v.turn(packed, 0.05); err != nil {
		t.Fatal(err)
	}
	// old is the point in the frame before that is the same function.
	old := func(theta []float64) []float64 {
		var w mat.VecDense
		w.MulVec(v.frame.At.Matrix, mat.NewVecDense(2, theta[:2]))
		point := []float64{0, 0, theta[2]}
		for j := range 2 {
			point[j] = w.AtVec(j) / axes[j]
			point[2] += w.AtVec(j) * (centre[j] - v.frame.At.Centre[j])
		}
		return point
	}
	for j, got := range old(v.pilot) {
		if math.Abs(got-before[j]) > 1e-12 {
			t.Errorf("the pilot is %v, want %v", old(v.pilot), before)
		}
	}
	for _, theta := range [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 2, 3}, {-2, 1, 0.5}} {
		point, there := mat.NewVecDense(3, theta), mat.NewVecDense(3, old(theta))
		if got, want := mat.Inner(point, v.curve.hessian.m, point), mat.Inner(there, h, there); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("the Hessian along %v is %g, want %g", theta, got, want)
		}
	}
	for i := range 3 {
		if d := v.curve.hessian.m.At(i, i); d < v.curve.floor || d > v.curve.hessian.m.At(2, 2) || v.curve.hessian.m.At(i, (i+1)%3) != 0 {
			t.Errorf("the Hessian is %v, its floor %g", mat.Formatted(v.curve.hessian.m), v.curve.floor)
		}
	}
}

// What scatters are moved towards is the Hessian without the directions below its floor.
func TestStandingDirections(t *testing.T) {
	v := curvature{floor: 0.1}
	v.spectrum, _ = linalg.Decompose(mat.NewDiagDense(4, []float64{0.4, -0.2, 0.09, 0.1}))
	for j, want := range []float64{0.4, 0, 0, 0.1} {
		if got := v.standing().At(j, j); math.Abs(got-want) > 1e-12 {
			t.Errorf("the curvature along %d is %g, want %g", j, got, want)
		}
	}
}

// A Hessian's share of the budget is the one at which its noise has a fifth of the curvature,
// within limits.
func TestHessianShare(t *testing.T) {
	v := &space{run: &estimate.Run{Problem: estimate.Problem{Mu: 0.04}, N: 10_000}, pilot: make([]float64, 8)}
	const curvature = 0.25
	for _, c := range []struct{ normBound, want float64 }{{0.3, 0.03}, {1, 0.08}, {2, 0.2}} {
		share := v.hessianShare(c.normBound, curvature, 0.2)
		if noise := v.operatorNorm(v.hessianNoise(c.normBound, share)); c.normBound == 1 && math.Abs(noise/curvature-0.2) > 1e-9 {
			t.Errorf("noise of %g beside a curvature of %g", noise, curvature)
		} else if c.normBound != 1 && math.Abs(share-c.want) > 1e-12 {
			t.Errorf("rows of norm %g have a share of %g, want %g", c.normBound, share, c.want)
		}
	}
}

// The curvature along drowned directions is their mean eigenvalue, and with as many as
// sixteen in 32 dimensions it is known to an eighth of the floor.
func TestCurvedDirections(t *testing.T) {
	for _, c := range []struct {
		values     []float64 // in floors
		seen, most float64
	}{
		{nil, 1, 1}, {[]float64{0.5}, 0.5, 1}, {[]float64{-0.4, -0.2}, 0, 4 / math.Sqrt(128)},
		{[]float64{-0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.5, 0.4}, 0.1, 0.225},
	} {
		const floor = 0.04
		dim := 32
		v := curvature{floor: floor, spectrum: &linalg.Spectrum{}}
		for _, value := range c.values {
			v.spectrum.Values = append(v.spectrum.Values, floor*value)
		}
		for len(v.spectrum.Values) < dim {
			v.spectrum.Values = append(v.spectrum.Values, 10*floor)
		}
		if seen, most := v.flat(len(c.values)); math.Abs(seen-c.seen) > 1e-12 || math.Abs(most-c.most) > 1e-12 {
			t.Errorf("%v: %g, at most %g; want %g and %g", c.values, seen, most, c.seen, c.most)
		}
	}
}

// An estimate from far off counts less where the Hessian changes, by its noise, and weights
// sum to 1.
func TestFarStepsCountLess(t *testing.T) {
	for _, c := range []struct {
		loss  losses.Loss
		least float64 // ratio of the near step's weight to the far one's
		most  float64
	}{{losses.Squared{}, 1, 1}, {losses.Logistic{}, 10, 1000}} {
		h := mat.NewSymDense(2, []float64{0.25, 0, 0, 0.2})
		v := &newton{in: spaceOf(c.loss, 2, 0)}
		v.in.pilot, v.in.curve = []float64{0, 0}, curvature{hessian: noisy{m: h, noise: 0.01}, floor: 0.02}
		v.in.curve.spectrum, _ = linalg.Decompose(h)
		v.in.curve.inverse = v.in.curve.spectrum.Map(v.in.curve.inverted)
		v.steps = []newtonStep{ // both estimates are (0.1, 0)
			{from: []float64{2.1, 0}, mean: []float64{0.5, 0}, noise: 0.02, share: 0.5},
			{from: []float64{0, 0}, mean: []float64{-0.025, 0}, noise: 0.02, share: 0.5},
		}
		for range 2 {
			v.combine()
		}
		far, near := v.steps[0].weight, v.steps[1].weight
		if math.Abs(far+near-1) > 1e-12 || !(near/far >= c.least && near/far <= c.most) || math.Abs(v.theta[0]-0.1) > 1e-12 {
			t.Errorf("%s: weights %g and %g, estimate %v", c.loss.Name(), far, near, v.theta)
		}
		before := v.nonlinearity([]float64{0, 0})
		v.in.curve.at = []float64{1.1, 0} // ten times as far from the estimate
		if after := v.nonlinearity([]float64{0, 0}); math.Abs(after/before-100) > 1e-6 {
			t.Errorf("%s: a step may miss %g, and %g where its Hessian is from further off", c.loss.Name(), before, after)
		}
	}
}

// spaceOf are coordinates of 100 rows of d columns.
func spaceOf(loss losses.Loss, d int, constant float64) *space {
	return &space{run: &estimate.Run{Problem: estimate.Problem{Loss: loss, Asked: loss}, Task: estimate.Task{Levels: func() [][]int { return nil }, Ranged: func() []int { return nil }}, D: d, N: 100}, frame: new(estimate.Frame), constant: constant}
}

// ofCounts is a run of one column and an intercept whose Hessian, 2·I, was released at an
// intercept of 0.5.
func ofCounts(loss losses.Loss) *newton {
	v := &newton{in: spaceOf(loss, 1, 1), theta: []float64{0, 0}}
	v.in.pilot, v.in.labels.Mean = []float64{0, 0}, 3
	v.in.curve = curvature{at: []float64{9, 0.5}, hessian: noisy{mat.NewSymDense(2, []float64{2, 0, 0, 2}), 0.01}, floor: 0.02}
	if err := v.in.curve.invert(); err != nil {
		panic(err)
	}
	return v
}

// A Hessian grows as a log link's means do, within limits, and others' is taken as it is.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		loss losses.Loss
		at   float64
		want float64
	}{
		{losses.Poisson{}, 0.5, 1}, {losses.Poisson{}, 1.2, math.Exp(0.7)}, {losses.Poisson{}, -0.5, math.Exp(-1)},
		{losses.Poisson{}, 7, 5}, {losses.Poisson{}, -7, 0.2}, {losses.Gamma{Least: 1}, 1.2, math.Exp(-0.7)},
		{losses.NegativeBinomial{Dispersion: 1}, 1, math.Exp(0.5) * math.Pow((1+math.Exp(0.5))/(1+math.E), 2)},
		{losses.Logistic{}, 2, 1}, {losses.Squared{}, 2, 1},
	} {
		if got := ofCounts(c.loss).in.growth([]float64{-3, c.at}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s at %g: the Hessian grows to %g, want %g", c.loss.Name(), c.at, got, c.want)
		}
	}
	v := ofCounts(losses.Poisson{})
	if v.in.curve.at[1] = -900; v.in.growth([]float64{0, -800}) != 1 {
		t.Errorf("where means are 0 to the last digit the Hessian grows to %g", v.in.growth([]float64{0, -800}))
	}
	if v.in.constant = 0; v.in.growth([]float64{2, 3}) != 1 {
		t.Error("without an intercept a Hessian grows with a weight")
	}
}

// Steps of counts arrive where the mean of the Hessians at a way's ends says, and H̃ with all
// that goes with it moves there.
func TestArrive(t *testing.T) {
	v := ofCounts(losses.Poisson{})
	v.steps = []newtonStep{{from: []float64{0, 0}, weight: 3}, {from: []float64{1, 0.5}, weight: 1}}
	v.average([][]float64{{0.2, -0.8}, {0.4, -0.6}})
	want := 0.0 // the intercept is ¾·0.8/growth + ¼·(0.5 + 0.6/growth), by the mean growth on each way
	mean := func(from float64) float64 { return (math.Exp(from-0.5) + math.Exp(want-0.5)) / 2 }
	weight := 0.0
	for range 3 {
		weight = -0.15/mean(0) + 0.25*(1-0.4/mean(0.5))
		want = 0.6/mean(0) + 0.25*(0.5+0.6/mean(0.5))
	}
	if v.steps[0].weight != 0.75 || math.Abs(v.theta[1]-want) > 1e-9 || math.Abs(v.theta[0]-weight) > 1e-9 {
		t.Errorf("steps arrive at %v with weights %g and %g, want an intercept of %g", v.theta, v.steps[0].weight, v.steps[1].weight, want)
	}
	if err := v.moveHessian(); err != nil {
		t.Fatal(err)
	}
	more := v.in.growth(v.theta)
	if math.Abs(v.in.curve.hessian.m.At(0, 0)-2*more) > 1e-12 || math.Abs(v.in.curve.hessian.noise-0.01*more) > 1e-12 || math.Abs(v.in.curve.floor-0.02*more) > 1e-12 || math.Abs(v.in.curve.inverse.At(1, 1)-0.5/more) > 1e-9 {
		t.Errorf("H̃ is %g ± %g, above %g, with the inverse %g, where it has grown by %g", v.in.curve.hessian.m.At(0, 0), v.in.curve.hessian.noise, v.in.curve.floor, v.in.curve.inverse.At(1, 1), more)
	}
}

// Noise may move scores by 0.4 under a log link and by 2 else; what a step may miss is 0.3 or
// ¼ of the square of the way.
func TestFarOffIsLost(t *testing.T) {
	for _, c := range []struct {
		loss   losses.Loss
		noise  float64 // of which 1/√2 in a score
		want   bool
		missed float64 // of a way of 1 along both coordinates, as long from where H̃ was released
	}{
		{losses.Poisson{}, 0.55, false, 0.09 * 8}, {losses.Poisson{}, 0.58, true, 0.09 * 8}, {losses.Gamma{Least: 1}, 0.58, true, 0.09 * 8},
		{losses.Logistic{}, 2.8, false, 0.5}, {losses.Logistic{}, 2.87, true, 0.5},
	} {
		v := ofCounts(c.loss)
		v.scatter, v.steps = v.in.curve.hessian, []newtonStep{{weight: 1, noise: c.noise}}
		if v.unreliable() != c.want {
			t.Errorf("%s: noise of %g is lost %v", c.loss.Name(), c.noise, !c.want)
		}
		v.in.curve.at = []float64{1, 1}
		if got := v.nonlinearity([]float64{1, 1}); math.Abs(got-c.missed) > 1e-9 {
			t.Errorf("%s: a step may miss %g, want %g", c.loss.Name(), got, c.missed)
		}
	}
}

// The first step of counts with an intercept alone ends where their means are, however far they
// have to grow; one down, later ones and those of other losses go all the way.
func TestFirstStepOfCountsIsDamped(t *testing.T) {
	ends := func(loss losses.Loss, steps int, to, noise float64) float64 {
		h := mat.NewSymDense(2, []float64{1, 0, 0, 1})
		v := &newton{in: spaceOf(loss, 1, 1), theta: []float64{0, 0.5 + to}, steps: make([]newtonStep, steps)}
		v.in.pilot, v.in.curve = []float64{0, 0.5}, curvature{hessian: noisy{m: h}, floor: 0.02}
		v.in.curve.spectrum, _ = linalg.Decompose(h)
		v.in.curve.inverse = v.in.curve.spectrum.Map(v.in.curve.inverted)
		return v.shortened(noise)[1] - 0.5
	}
	for _, c := range []struct {
		loss  losses.Loss
		steps int
		to    float64
		want  float64
	}{
		{losses.Poisson{}, 1, 2, math.Log(3)}, // as e^b − 1 = 2
		{losses.NegativeBinomial{Dispersion: 1}, 1, 0.01, math.Log(1.01)}, {losses.Gamma{Least: 1}, 1, 2, 2},
		{losses.Poisson{}, 1, -2, -2}, {losses.Poisson{}, 2, 2, 2}, {losses.Logistic{}, 1, 2, 2}, {losses.Poisson{}, 1, 0, 0},
	} {
		if got := ends(c.loss, c.steps, c.to, 0); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s, step %d: %g goes to %g, want %g", c.loss.Name(), c.steps, c.to, got, c.want)
		}
	}
	nothing := mat.NewSymDense(2, []float64{-1, 0, 0, -1}) // noise alone
	v := &newton{in: spaceOf(losses.Poisson{}, 1, 1)}
	v.in.curve.hessian.m = nothing
	if got := v.in.damping([]float64{0, 1}, math.Sqrt(mat.Trace(v.in.curve.hessian.m))); got != 1 {
		t.Errorf("a step by a Hessian of noise is damped by %g", got)
	}
	// What is left of it, ¾ where noise is a quarter of its square, is damped.
	if got, want := ends(losses.Poisson{}, 1, 2, math.Sqrt(0.5)), math.Log(2.5); math.Abs(got-want) > 1e-12 {
		t.Errorf("beside noise 2 goes to %g, want %g", got, want)
	}
}

// A run's law knows the noise of the matrices that it is made of, which falls as 1/μ.
func TestLawKnowsItsNoise(t *testing.T) {
	const n = 4000
	r := rand.New(rand.NewPCG(5, 6))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		x.Set(i, 0, 2*r.Float64()-1)
		x.Set(i, 1, 2*r.Float64()-1)
		y[i] = x.At(i, 0) + r.NormFloat64()/2
	}
	d, err := curator.Open(x, y, curator.NewIdentity(2, 1.5, true), 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	var laws []*Law
	for _, mu := range []float64{20, 200} {
		schedule, err := release.Pool("inference", mu, 128, 64)
		if err != nil {
			t.Fatal(err)
		}
		task := estimate.Task{Ctx: t.Context(), Data: d, Under: d.Under, Progress: func(int, int) {}, Levels: func() [][]int { return nil }, Ranged: func() []int { return nil },
			Allow: schedule.Allow(d.Rows(), mechanisms.NewSeededSource(1))}
		facts := estimate.Facts{Rows: n, Dim: 3, Intercept: true, LabelBound: 4}
		_, law, err := Problem{Estimate: estimate.Problem{Facts: facts, Loss: losses.Squared{}, Asked: losses.Squared{}, Mu: mu, Fraction: 1}}.Fit(task)
		if err != nil || law == nil {
			t.Fatal(law, err)
		}
		laws = append(laws, law)
	}
	if len(laws) != 2 {
		t.Fatalf("%d laws, want 2", len(laws))
	}
	for name, noise := range map[string][2]float64{
		"Hessian": {laws[0].Hessian, laws[1].Hessian}, "scatter": {laws[0].Scatter, laws[1].Scatter},
	} {
		if ratio := noise[0] / noise[1]; !(ratio > 5 && ratio < 20) {
			t.Errorf("%s: noise %g at μ = 20 and %g at 200", name, noise[0], noise[1])
		}
	}
}

// A mean of predictions that isn't the labels' says of the squared loss that some may have been cut off, unless noise or the spread of scores explains it: from
// 1.96 deviations on intervals allow for that, along the intercept for all of the gap and along weights for what these don't explain; from 3.5 on nothing is said.
func TestBesideMean(t *testing.T) {
	v := ofCounts(losses.Squared{})
	v.scatter, v.steps = v.in.curve.hessian, []newtonStep{{weight: 1, noise: 0.2}}
	v.in.labels.Noise = 0.2 // and that of the intercept is ½·√(0.2² + 2/100), 0.122
	for _, c := range []struct {
		score, shifted, gap float64
		sd                  float64 // of all these together
		lost                bool
	}{
		{0, 0, 0.45, 0.2345, false}, {0, 0, 0.47, 0.2345, false}, {0, 0, -0.81, 0.2345, false}, {0, 0, 0.83, 0.2345, true},
		{2, 0, 2, 1.0271, false}, {2, 0, 2.03, 1.0271, false}, {2, 0, 3.65, 1.0271, true}, {0, 1, 2, 1.0271, false}, {0, 1, 2.03, 1.0271, false},
	} {
		v.in.labels.Bias, v.in.labels.ShiftedNoise, v.theta, v.clip = 5, c.shifted, []float64{c.score, 5 + c.gap}, clipping{in: v.in, cut: 0.3}
		if v.unreliable() != c.lost {
			t.Errorf("a mean that is %g off, scores of %g: lost %v", c.gap, c.score, !c.lost)
		}
		cut, gap := 0.3, 0.0
		if unexplained := c.gap*c.gap - math.Pow(1.96*c.sd, 2); unexplained > 0 { // the curvature is 2
			cut, gap = math.Max(cut, 2*math.Sqrt(unexplained)), 2*math.Abs(c.gap)
		}
		v.allowForMean()
		if math.Abs(v.clip.cut-cut) > 1e-2 || math.Abs(v.clip.gap-gap) > 1e-12 {
			t.Errorf("a mean that is %g off, scores of %g: %g and %g may be missing, want %g and %g", c.gap, c.score, v.clip.cut, v.clip.gap, cut, gap)
		}
	}
	v.clip.gap, v.in.pilot = 3, make([]float64, 2)
	if m := v.clip.missing().At(1, 1); math.Abs(m-9) > 1e-12 {
		t.Errorf("%g is missing along an intercept that is 3 off, want 9", m)
	}
	v.in.constant, v.in.run.D, v.theta = 0, 2, []float64{0, 9}
	if v.unreliable() {
		t.Error("without an intercept a mean is not known")
	}
	v = ofCounts(losses.Poisson{})
	v.theta = []float64{0, 9}
	if gap, _ := v.meanGap(); gap != 0 {
		t.Error("an intercept of counts is taken for their mean")
	}
}

// A law's covariance is that of sampling, of noise, of what is cut off, and of what rows that count less may
// change: along each direction as much as these take of its curvature, beside the mean one, as far as a histogram allows.
func TestLawAddsUp(t *testing.T) {
	v := &newton{in: spaceOf(losses.Squared{}, 2, 1), theta: make([]float64, 3), scatter: noisy{mat.NewSymDense(3, nil), 0.3}}
	v.clip = clipping{in: v.in, cut: 0.2, lost: 0.3, unit: 0.5}
	v.in.run.Problem.Facts.Dim, v.in.pilot, v.in.labels.Noise = 3, make([]float64, 3), 1
	v.in.frame.At.Matrix = mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	v.in.curve.hessian.m = mat.NewSymDense(3, []float64{0.5, 0, 0, 0, 0.9, 0, 0, 0, 1.6})
	v.in.curve.floor = 0.1
	v.steps = []newtonStep{{from: make([]float64, 3), noise: 0.1, weight: 1}}
	if err := v.in.curve.invert(); err != nil {
		t.Fatal(err)
	}
	l := v.law()
	part := math.Pow(tuning.CutPart*0.2, 2)
	for j, want := range []struct{ curvature, missing, lost float64 }{{0.5, part, 0.3}, {0.9, part, 0.1}, {1.6, 0.04, 0}} {
		misfit := math.Pow(tuning.Misfit*v.clip.unit*want.lost, 2)
		if got := l.Misfit.At(j, j); math.Abs(got-misfit) > 1e-12 {
			t.Errorf("misfit of coordinate %d is %g, want %g", j, got, misfit)
		}
		if got, want := l.Covariance.At(j, j), (0.01+want.missing)/(want.curvature*want.curvature)+misfit; math.Abs(got-want) > 1e-12 {
			t.Errorf("the variance of coordinate %d is %g, want %g", j, got, want)
		}
	}
	for half, want := range map[float64]bool{0.49: false, 0.51: true} {
		l.Misfit.SetSym(0, 0, half*l.Covariance.At(0, 0))
		if got := l.Misfitted([]float64{1, 0, 0}); got != want {
			t.Errorf("a coefficient of whose variance %g is misfit is marked %v", half, got)
		}
	}
}

// Scores that an estimate lacks, of a variance V, have weights of classes nearer to 0, as normal ones have of a normal law, and nearly of the logistic one;
// the intercept of a log link larger by V/2; and real labels' weights where they are. Noise, which makes scores vary, too, isn't part of V.
func TestWhatIsLacked(t *testing.T) {
	const variance, curvature, slope, noise = 1.5, 0.2, 2.0, 0.05
	means := func(mean func(z float64) float64, spread float64) (sum float64) { // by the midpoint rule
		const points, far = 4000, 8.0
		for k := range points {
			z := far * (2*(float64(k)+0.5)/points - 1)
			sum += mean(slope+spread*z) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * 2 * far / points
		}
		return sum
	}
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Logistic{}, losses.Probit{}, losses.Poisson{}, losses.Ordinal{Thresholds: []float64{-0.2, 1}}} {
		v := &newton{in: spaceOf(loss, 2, 1), theta: []float64{math.Sqrt(variance + 0.75*math.Pow(noise/curvature, 2)), 0, 0.5}, steps: []newtonStep{{noise: noise, weight: 1}}}
		v.in.run.Task.Ranged = func() []int { return []int{1} }
		v.in.run.Problem.Facts.Dim = 3
		v.in.frame.At.Matrix = mat.NewDense(2, 2, []float64{1, 0, 0, 1})
		v.in.labels.Bias, v.in.pilot = 0.5, v.theta
		v.in.curve.hessian.m, v.in.curve.floor = mat.NewSymDense(3, []float64{2 * curvature, 0, 0, 0, 0, 0, 0, 0, curvature}), curvature/10
		if err := v.in.curve.invert(); err != nil {
			t.Fatal(err)
		}
		if got := v.hiddenVariance(v.in.curve.drowned()); math.Abs(got-variance) > 1e-6 {
			t.Errorf("%s: a hidden column's scores vary by %g, want %g", loss.Name(), got, variance)
		}
		// Where scores about slope vary the mean is that at a score that is nearer to 0, or larger.
		link, low, high := losses.LinkOf(loss), -30.0, 30.0
		if _, levels := loss.(losses.Ordinal); levels {
			link = losses.Logit
		}
		mean := means(link.Mean, math.Sqrt(variance))
		for range 60 {
			if middle := (low + high) / 2; link.Mean(middle) < mean {
				low = middle
			} else {
				high = middle
			}
		}
		at := low
		part, shift, within := slope/at-1, 0.5*(slope/at-1), 1e-3
		switch loss.(type) {
		case losses.Logistic:
			within = 0.15 // 2.5 % of the scores themselves
		case losses.Ordinal:
			within, shift = 0.15, part*0.1 // 0.4 being the mean threshold
			l := &Law{Covariance: mat.NewSymDense(3, nil), Drowned: v.in.curve.drowned()}
			v.widenFor(ordinal.Doubt{Thresholds: mat.NewSymDense(2, []float64{1, 0, 0, 1})}, l)
			if got, want := l.Thresholds.At(0, 1), -math.Pow(0.6*part, 2); math.Abs(got/want-1) > 0.3 || math.Abs(l.Thresholds.At(0, 0)+got-1) > 1e-9 {
				t.Errorf("thresholds have a covariance of %v, want %g", l.Thresholds, want)
			}
		case losses.Poisson:
			part, shift = 0, at-slope
		case losses.Squared:
			part, shift = 0, 0
		}
		got := v.lacked(v.in.curve.drowned())
		if _, real := loss.(losses.Squared); real != (got == nil) {
			t.Fatalf("%s: lacks %v", loss.Name(), got)
		}
		for j, want := range []float64{part * v.theta[0], 0, shift}[:len(got)] {
			if got := got[j]; math.Abs(got-want) > within*want+1e-6 {
				t.Errorf("%s: coordinate %d may be off by %g, want %g", loss.Name(), j, got, want)
			}
		}
	}
}

// Columns whose ranges hide them are counted, and neither those that are like others, nor levels.
func TestHiddenColumns(t *testing.T) {
	turned := math.Sqrt(0.5)
	for _, c := range []struct {
		name    string
		weights []float64 // of three columns, by coordinates
		drowned []float64
		ranged  []int
		want    float64
	}{
		{"none", []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, nil, []int{0, 1, 2}, 0},
		{"too wide a range", []float64{1, 0, 0, 0, 1, 0, 0, 0, 1000}, []float64{0, 0, 1}, []int{0, 1, 2}, 1},
		{"a level without rows", []float64{1, 0, 0, 0, 1, 0, 0, 0, 1000}, []float64{0, 0, 1}, []int{0, 1}, 0},
		{"alike to the last digit", []float64{1, 0, 0, 0, 1, 1, 0, 1, 1}, []float64{0, 0, 1}, []int{2}, 1},
		// Coordinates are the columns' sum, with a standard deviation of 1, and a thousand times their difference, as the frame of alike ones has it.
		{"alike", []float64{1, 0, 0, 0, turned, 1000 * turned, 0, turned, -1000 * turned}, []float64{0, 0, 1}, []int{1, 2}, 0},
	} {
		var drowned [][]float64
		if c.drowned != nil {
			drowned = append(drowned, append(slices.Clone(c.drowned), 0))
		}
		v := spaceOf(losses.Logistic{}, 3, 1)
		v.pilot = make([]float64, 4)
		v.run.Task.Ranged, v.frame.At.Matrix = func() []int { return c.ranged }, mat.NewDense(3, 3, c.weights)
		if got := floats.Sum(v.hiddenColumns(drowned)); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("%s: %g columns, want %g", c.name, got, c.want)
		}
	}
}

// Where more than one in tuning.ManyDrowned of any number of directions are drowned, and not where it is exactly that many, what noise hides
// may be as much as the variance, and then nothing is determined.
func TestDrownedDirectionsAreCounted(t *testing.T) {
	for dim := 2; dim <= 20; dim++ {
		for drowned := 1; drowned < dim; drowned++ {
			l := &Law{Covariance: mat.NewSymDense(dim, nil), Inverse: mat.NewSymDense(dim, nil), Hessian: 0.1, Hidden: 1, Seen: 1, Curved: 1}
			c := make([]float64, dim)
			c[dim-1] = 1
			for j := range dim {
				l.Inverse.SetSym(j, j, 1)
				l.Covariance.SetSym(j, j, 0.9*float64(drowned)*0.01/2) // less than noise hides of 1
			}
			for k := range drowned {
				direction := make([]float64, dim)
				direction[k] = 1
				l.Drowned = append(l.Drowned, direction)
			}
			if got, want := l.Determines(c), tuning.ManyDrowned*drowned <= dim; got != want {
				t.Errorf("%d of %d directions are drowned: determined is %v", drowned, dim, got)
			}
		}
	}
}

// A direction is hidden where its curvature and the floor are less than half of what coordinates were made for, and than its part of what a bound cut
// off: on both sides of either, and in whichever direction. Negative curvature stays.
func TestHiddenDirectionsByDefinition(t *testing.T) {
	const floor, cut = 0.01, 0.9
	made := curvature{floor: floor}
	made.spectrum, _ = linalg.Decompose(mat.NewDiagDense(3, []float64{0.4, 0.8, 0.2}))
	for k, half := range []float64{0.2, 0.4, 0.1} {
		for _, c := range []struct{ value, cut float64 }{
			{half - floor - 1e-6, cut}, {half - floor + 1e-6, cut}, {1.5*half - floor, cut}, {-1e-3, cut}, {half/2 - floor - 1e-6, 3 * half / 2}, {half/2 - floor + 1e-6, 3 * half / 2},
		} {
			values := []float64{2, 2, 2}
			values[k] = c.value
			v := curvature{floor: floor, hessian: noisy{m: mat.NewSymDense(3, []float64{values[0], 0, 0, 0, values[1], 0, 0, 0, values[2]})}}
			if err := v.invert(); err != nil {
				t.Fatal(err)
			}
			if err := v.hide(made, c.cut); err != nil {
				t.Fatal(err)
			}
			hidden := c.value+floor < half && c.value+floor < c.cut/3
			if got := len(v.hidden) == 1; got != hidden || hidden && math.Abs(math.Abs(v.hidden[0][k])-1) > 1e-12 {
				t.Errorf("a curvature of %g beside %g and %g: hidden %v, want %v", c.value, half, c.cut/3, v.hidden, hidden)
			}
			want := slices.Clone(values)
			if hidden {
				want[k] = math.Min(0, c.value)
			}
			for j := range want {
				if got := v.hessian.m.At(j, j); math.Abs(got-want[j]) > 1e-12 {
					t.Errorf("a curvature of %g in direction %d becomes %g, want %g", values[j], j, got, want[j])
				}
			}
		}
	}
}

// A row's score isn't determined where what it has beside the intercept lies along a drowned direction, however short that is; where most of it lies along
// others it is, as a combination of the same factors is.
func TestScoresRestOnWhatIsDetermined(t *testing.T) {
	l := &Law{Covariance: mat.NewSymDense(3, []float64{1, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3}), Inverse: mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}), Drowned: [][]float64{{1, 0, 0}}, Hidden: 1}
	for _, c := range []struct {
		factors []float64
		want    bool
	}{{[]float64{1e-3, 0, 1}, false}, {[]float64{1e-3, 1, 1}, true}, {[]float64{0, 0, 1}, true}, {[]float64{1, 1, 1}, false}} {
		if got := l.DeterminesScore(c.factors); got != c.want {
			t.Errorf("a score of factors %v is determined: %v", c.factors, got)
		}
	}
	if !l.Determines([]float64{1e-3, 0, 1}) {
		t.Error("a combination isn't determined for a thousandth along a drowned direction")
	}
}

// Scores that differ by 3, as far as their noise may hide it, are those of classes that are told apart; what noise itself makes of them isn't counted. With
// curvatures of .1 noise of s in gradients is √200·s in scores.
func TestSeparatedMayBeHidden(t *testing.T) {
	for _, c := range []struct {
		score, noise, constant float64
		want                   bool
	}{{2.9, 0, 0.25, false}, {3.1, 0, 0.25, true}, {2.5, 0.02, 0.25, false}, {2.5, 0.05, 0.25, true}, {0, 0.2, 0.25, false}, {1.6, 0.11, 0.25, false}, {0, 0.25, 0.25, true}, {1, 0, 0.61, true}} {
		h := mat.NewSymDense(2, []float64{0.1, 0, 0, 0.1})
		v := &newton{in: spaceOf(losses.Logistic{}, 1, 1), theta: []float64{c.score, 0.5}, steps: []newtonStep{{noise: c.noise, weight: 1}}}
		v.in.labels.Bias, v.in.labels.Curvature = 0.5, c.constant
		v.in.curve = curvature{hessian: noisy{m: h}, floor: 0.02}
		if err := v.in.curve.invert(); err != nil {
			t.Fatal(err)
		}
		if got := v.separated(); got != c.want {
			t.Errorf("a score of %g, noise of %g, a constant model's curvature of %g: %v", c.score, c.noise, c.constant, got)
		}
	}
}
