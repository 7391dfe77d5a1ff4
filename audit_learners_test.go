package dpglm

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// pair is a learner and two neighbouring data sets, which differ in one row.
type pair struct {
	learner Learner
	problem Problem
	budget  Budget
	facts   Facts
	x       [2]mat.Matrix
	y       [2][]float64
	// copies of each row on the first side are a person's, of whom so many count; 0 where
	// rows are nobody's.
	copies int
	occur  bool // whether the number of persons isn't stated, so that no release tells how many have rows
}

// ofPersons is the same pair of persons who count alike: on the first side they have many copies of their
// rows, half of which count, and on the second one row each.
func (p pair) ofPersons() pair {
	p.copies = 4
	return p
}

// whoOccur is the same pair where all persons have rows, and nobody stated how many there are.
func (p pair) whoOccur() pair {
	p.occur = true
	return p
}

// details are the data of a side, with persons if there are any.
func (p pair) details(side int) (mat.Matrix, []float64, []RowDetail) {
	if p.copies == 0 {
		return p.x[side], p.y[side], nil
	}
	n, d := p.x[side].Dims()
	times := 1
	if side == 0 {
		times = 2 * p.copies
	}
	x, y, of := mat.NewDense(n*times, d, nil), make([]float64, n*times), make([]int, n*times)
	occurs := make([]int, n) // in such an order that a known source puts person i into place i
	for place, p := range shuffled(n, 1) {
		occurs[p] = place
	}
	for k := range y {
		i := occurs[k%n]
		for j := range d {
			x.Set(k, j, p.x[side].At(i, j))
		}
		y[k], of[k] = p.y[side][i], i
	}
	persons := Persons{Of: of, Count: n, MaxRows: p.copies, Alike: true}
	if p.occur {
		persons.Count = 0
	}
	return x, y, []RowDetail{persons, PersonOrder{ForTests: mechanisms.NewSeededSource(1)}}
}

// lone is a pair of data sets of one row (1), with two labels.
func lone(l Learner, p Problem, b Budget, y0, y1 float64) pair {
	row := mat.NewDense(1, 1, []float64{1})
	return pair{l, p, b, Bounds{Feature: 1, Label: 2}, [2]mat.Matrix{row, row}, [2][]float64{{y0}, {y1}}, 0, false}
}

func (p pair) data(t *testing.T, side int) *Dataset {
	t.Helper()
	x, y, more := p.details(side)
	d, err := NewDataset(x, y, p.facts, more...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (p pair) plan(t *testing.T) *Plan {
	t.Helper()
	plan, err := p.learner.Plan(p.data(t, 0).Shape(), p.problem, p.budget)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// sample draws statistic of released weights.
func (p pair) sample(statistic func(w []float64) float64) stream {
	return func(t *testing.T, side int) func() float64 {
		t.Helper()
		plan, d := p.plan(t), p.data(t, side)
		return repeated(func(_ int, src mechanisms.Source) (float64, error) {
			m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src})
			if err != nil {
				return 0, err
			}
			return statistic(m.weights[0]), nil
		})(t, side)
	}
}

func firstWeight(w []float64) float64 { return w[0] }

// auditedLearners are the learners that train one model.
func auditedLearners(t *testing.T) []audited {
	t.Helper()
	return slices.Concat(auditedDescents(t), auditedPerturbations(t), auditedStandardised(t), auditedSelecting(t))
}

// auditedDescents are Noisy GD's, by output and by transcript. Steps are so short
// that w stays at zero, where the pair is worst: the last iterate is then the sum
// of all releases, a sufficient statistic.
func auditedDescents(t *testing.T) []audited {
	t.Helper()
	const tiny = 1e-6
	steps := func(n int, clip float64) NoisyGDConfig {
		return NoisyGDConfig{Steps: n, StepSize: tiny, Clip: clip, Output: LastIterate}
	}
	logistic, squared := Problem{Loss: losses.Logistic{}, Radius: 1}, Problem{Loss: losses.Squared{}, Radius: 1}
	budget := GDP(1)
	intercept := lone(steps(1, 0.1), logistic, budget, 0, 1)
	intercept.facts = Bounds{Feature: 1, Intercept: true}
	sparse := lone(steps(1, NoClip), logistic, budget, 0, 1)
	row, err := NewSparse(1, 1, []int{0, 1}, []int{0}, []float64{7})
	if err != nil {
		t.Fatal(err)
	}
	sparse.x = [2]mat.Matrix{row, row}
	several := lone(steps(4, NoClip), squared, budget, -2, 2)
	for side := range several.x {
		several.x[side] = mat.NewDense(3, 1, []float64{0, 0, 1})
		several.y[side] = append([]float64{0, 0}, several.y[side]...)
	}
	// The projected row is longer than its bound, to which it is scaled down again.
	jl := JLConfig{K: 2, Map: GaussianMap, Seed: 1, Learner: steps(1, NoClip)}
	projected := lone(jl, logistic, budget, 0, 1)
	along := make([]float64, 8)
	jl.phi(8).Transpose(along, []float64{1, 0})
	floats.Scale(1/floats.Norm(along, 2), along)
	projected.x = [2]mat.Matrix{mat.NewDense(1, 8, along), mat.NewDense(1, 8, along)}
	both := math.Sqrt2 // with an intercept, (1, 1) is on the bound too
	var list []audited
	for _, c := range []struct {
		name string
		pair
		statistic func(w []float64) float64
	}{
		{"NoisyGD, logistic", lone(steps(1, NoClip), logistic, budget, 0, 1), firstWeight},
		{"NoisyGD, squared", lone(steps(1, NoClip), squared, budget, -2, 2), firstWeight},
		{"NoisyGD, clip", lone(steps(1, 0.1), logistic, budget, 0, 1), firstWeight},
		{"NoisyGD, logistic, persons", lone(steps(1, NoClip), logistic, budget, 0, 1).ofPersons(), firstWeight},
		{"NoisyGD, clip, intercept", intercept, func(w []float64) float64 { return (w[0] + w[1]) / both }},
		{"NoisyGD, sparse row beyond its bound", sparse, firstWeight},
		{"NoisyGD, squared, 4 steps by second moments", several, firstWeight},
		{"JL to 2 dimensions, NoisyGD", projected, func(w []float64) float64 { return floats.Dot(w, along) }},
	} {
		list = append(list, audited{c.name, evidence.Mu, 1, 1, 100_000, c.pair.sample(c.statistic)})
	}
	return append(list,
		auditedTranscript("transcript of NoisyGD, logistic, 5 steps", losses.Logistic{}, 0, 1),
		auditedTranscript("transcript of NoisyGD, squared, 5 steps", losses.Squared{}, -2, 2))
}

// recorder is a loss that keeps the scores at which it is differentiated. On a
// single row (1) they are the iterates.
type recorder struct {
	losses.Loss
	scores *[]float64
}

func (r recorder) Deriv(z, y float64) float64 {
	*r.scores = append(*r.scores, z)
	return r.Loss.Deriv(z, y)
}

// auditedTranscript audits the sequence of Gaussian releases, which the iterates
// tell, through its log-likelihood ratio: the best statistic there is.
func auditedTranscript(name string, loss losses.Loss, y0, y1 float64) audited {
	const steps, eta = 5, 1e-6
	return audited{name, evidence.Mu, 1, 1, 100_000, func(t *testing.T, side int) func() float64 {
		t.Helper()
		iterates := transcripts(t, loss, steps, eta, []float64{y0, y1}[side], uint64(100+side))
		return func() (ratio float64) {
			w := iterates()
			for s := range steps {
				g := (w[s] - w[s+1]) / eta // n = 1
				a, b := loss.Deriv(w[s], mapped(loss, y0)), loss.Deriv(w[s], mapped(loss, y1))
				ratio += (g-a)*(g-a) - (g-b)*(g-b) // all steps have one σ
			}
			return ratio
		}
	}}
}

// mapped is a label as a loss takes it.
func mapped(loss losses.Loss, y float64) float64 {
	if loss.Labels() == losses.Binary {
		return math.Copysign(1, y-0.5)
	}
	return y
}

// transcripts are the iterates of runs of Noisy GD on one row (1).
func transcripts(t *testing.T, loss losses.Loss, steps int, eta, y float64, seed uint64) func() []float64 {
	t.Helper()
	var scores []float64
	config := NoisyGDConfig{Steps: steps, StepSize: eta, Clip: NoClip, Output: LastIterate}
	p := lone(config, Problem{Loss: recorder{loss, &scores}, Radius: 1}, GDP(1), y, y)
	plan, d, src := p.plan(t), p.data(t, 0), mechanisms.NewSeededSource(seed)
	return func() []float64 {
		scores = nil
		m, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src})
		if err != nil {
			t.Fatal(err)
		}
		if len(scores) != steps {
			t.Fatalf("%d gradients in %d steps", len(scores), steps)
		}
		return append(scores, m.weights[0][0])
	}
}

// auditedPerturbations are output and objective perturbation. What the pair
// reaches comes from the two exact minimisers and from the noise's scale, or from
// the law of the perturbed minimiser.
func auditedPerturbations(t *testing.T) []audited {
	t.Helper()
	config, problem := OutputPerturbationConfig{Lambda: 50}, Problem{Loss: losses.Squared{}, Radius: 0.03}
	output := func(name string, unit evidence.Unit, p pair) audited {
		var w [2]float64
		var sensitivity float64
		for side := range w {
			var at []float64
			at, sensitivity = minimiser(t, p.data(t, side), problem.Loss, problem.Radius, config.Lambda)
			w[side] = at[0]
		}
		return audited{name, unit, 1, math.Abs(w[0]-w[1]) / sensitivity, 100_000, p.sample(firstWeight)}
	}
	return []audited{
		output("OutputPerturbation, Gaussian", evidence.Mu, lone(config, problem, GDP(1), -2, 2)),
		output("OutputPerturbation, pure", evidence.Epsilon, lone(config, problem, PureDP(1), -2, 2)),
		output("OutputPerturbation, persons", evidence.Mu, lone(config, problem, GDP(1), -2, 2).ofPersons()),
		auditedObjective(t, "ObjectivePerturbation, clip", GDP(1.5), ObjectivePerturbationConfig{Lambda: 1000}),
		auditedObjective(t, "ObjectivePerturbation, no clip", GDP(2.8), ObjectivePerturbationConfig{Lambda: 1000, Clip: NoClip}),
	}
}

// auditedObjective is objective perturbation on one row (1) whose label is 0 or 1.
// θ̂ exceeds t where b < −φ'(t) − λt, so that a threshold at t tells the labels
// apart as well as a Gaussian test of μ = |φ'₊(t) − φ'₋(t)|/σ, the derivatives
// clipped: for the logistic loss at most min(1, 2C)/σ, at t = 0. The claim is in
// the unit of the ledger, the smallest μ for all ε, which is larger: the budgets are
// such that about 1 can be reached.
func auditedObjective(t *testing.T, name string, b Budget, c ObjectivePerturbationConfig) audited {
	t.Helper()
	p := lone(c, Problem{Loss: losses.Logistic{}, Radius: 1}, b, 0, 1)
	s := p.data(t, 0).Shape()
	problem, err := p.problem.resolve(s, nearScore)
	if err != nil {
		t.Fatal(err)
	}
	o := newObjective(s, problem, c.Clip)
	if err := o.calibrate(c.Lambda, p.budget); err != nil {
		t.Fatal(err)
	}
	reachable := math.Min(1, 2*o.clip) * o.law.(gaussianTerm).Ratio / o.clip
	return audited{name, evidence.Mu, p.plan(t).Ledger.Mu(), reachable, 200_000, p.sample(firstWeight)}
}

// auditedSelecting are FrankWolfe's selections, by the point of the ball that they lead to,
// and the sums that move the intercept. On a row (1) of either label the two vertices have
// the scores ±½: the choice is a randomized response, which a bounded-range claim allows for.
func auditedSelecting(t *testing.T) []audited {
	t.Helper()
	within := func(steps int) pair { // in a ball so small that scores stay what they are
		return lone(FrankWolfeConfig{Output: WithinBall, Steps: steps}, Problem{Loss: losses.Logistic{}, Radius: 1e-6}, GDP(1), 0, 1)
	}
	sparse := within(1)
	row, err := NewSparse(1, 1, []int{0, 1}, []int{0}, []float64{7})
	if err != nil {
		t.Fatal(err)
	}
	sparse.x[0], sparse.x[1] = row, row
	moved := func(x *estimate.Run) (release.Answer, error) {
		v, err := x.Sums.Coordinates(x.Task.Ctx, 0.5, 1, 0, mechanisms.Exponential{Epsilon: 1})
		if err != nil {
			return release.Answer{}, err
		}
		return v.Total(), nil
	}
	up := func(w []float64) float64 { return w[0] }
	return []audited{
		{"FrankWolfe, a selection", evidence.Mu, 1, 1, 100_000, within(1).sample(up)},
		{"FrankWolfe, a selection, sparse row", evidence.Mu, 1, 1, 100_000, sparse.sample(up)},
		{"FrankWolfe, a selection, persons", evidence.Mu, 1, 1, 100_000, within(1).ofPersons().sample(up)},
		{"FrankWolfe, 5 selections", evidence.Mu, 1, responses(5, 1), 100_000, within(5).sample(up)},
		{"FrankWolfe, an intercept's move", evidence.Mu, 1, 1, 100_000, drawn(t, losses.Logistic{}, 1, moved, 1)},
	}
}

// responses is what the best threshold on the sum of so many randomized responses tells, each
// of μ/√k.
func responses(k int, mu float64) float64 {
	right := distuv.UnitNormal.CDF(mu / math.Sqrt(float64(k)) / 2)
	yes, no := distuv.Binomial{N: float64(k), P: right}, distuv.Binomial{N: float64(k), P: 1 - right}
	best := 0.0
	for at := range k {
		detected, falsely := yes.Survival(float64(at)), no.Survival(float64(at))
		best = math.Max(best, distuv.UnitNormal.Quantile(detected)-distuv.UnitNormal.Quantile(falsely))
	}
	return best
}
