package classes_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// Auto is Softmax where that can be, and one model of each class against the rest elsewhere: for
// another loss, a pure budget and many features.
func TestAutoOfClasses(t *testing.T) {
	x, y := classified(400, 1)
	d := dataset(t, x, y, inBall)
	wide := dpglm.Shape{Rows: 5000, Dim: 1002, Intercept: true, FeatureBound: 2}
	approx := dpglm.ApproxDP(1, 1e-6)
	for name, c := range map[string]struct {
		shape   dpglm.Shape
		loss    losses.Loss
		budget  dpglm.Budget
		softmax bool
	}{
		"logistic":      {d.Shape(), losses.Logistic{}, approx, true},
		"Gaussian":      {d.Shape(), losses.Logistic{}, dpglm.GDP(1), true},
		"groups":        {d.Shape(), losses.Logistic{}, approx.ForGroups(2), true},
		"1000 features": {dpglm.Shape{Rows: 5000, Dim: 1001, Intercept: true, FeatureBound: 2}, losses.Logistic{}, approx, true},
		"pure":          {d.Shape(), losses.Logistic{}, dpglm.PureDP(1), false},
		"hinge":         {d.Shape(), losses.Hinge{}, approx, false},
		"probit":        {d.Shape(), losses.Probit{}, approx, false},
		"1001 features": {wide, losses.Logistic{}, approx, false},
	} {
		plan, err := dpglm.AutoConfig{}.Plan(c.shape, dpglm.Problem{Loss: c.loss, Classes: 4}, c.budget)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, softmax := plan.Learner.(dpglm.SoftmaxConfig); softmax != c.softmax || plan.Problem.Classes != 4 {
			t.Errorf("%s: a plan of %T for %d classes", name, plan.Learner, plan.Problem.Classes)
		}
		if rest, ok := plan.Learner.(dpglm.OneAgainstRestConfig); ok == c.softmax || ok && rest.Learner == nil {
			t.Errorf("%s: a plan of %+v", name, plan.Learner)
		}
	}
}

// The model of Auto is that of what its plan names, bit by bit.
func TestAutoIsWhatItNames(t *testing.T) {
	x, y := classified(400, 1)
	d, approx := dataset(t, x, y, inBall), dpglm.ApproxDP(1, 1e-6)
	if err := given.Failure(dpglm.Auto(ctx, d, given.OfClasses(logistic, 3), approx, nil)); !errors.Is(err, dpglm.ErrLabel) {
		t.Errorf("a label beyond: %v", err)
	}
	auto, err := dpglm.Auto(ctx, d, given.OfClasses(logistic, 4), approx, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Softmax(ctx, d, given.OfClasses(logistic, 4), approx, dpglm.SoftmaxConfig{}, seeded(1))
	if err != nil || fmt.Sprint(m.Weights(), m) != fmt.Sprint(auto.Weights(), auto) {
		t.Errorf("%v, by Softmax %v (%v)", auto, m, err)
	}
	auto, err = dpglm.Auto(ctx, d, given.OfClasses(dpglm.Problem{Loss: losses.Hinge{}}, 4), approx, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	m, err = dpglm.OneAgainstRest(ctx, d, given.OfClasses(dpglm.Problem{Loss: losses.Hinge{}}, 4), approx, dpglm.OneAgainstRestConfig{}, seeded(1))
	if err != nil || fmt.Sprint(m.Weights(), m) != fmt.Sprint(auto.Weights(), auto) {
		t.Errorf("%v, by OneAgainstRest %v (%v)", auto, m, err)
	}
}

// What a learner around others returns says which kind of model it chose.
func TestChosenModelsSayWhatTheyAre(t *testing.T) {
	x, y := classified(1000, 1)
	d, steps := dataset(t, x, y, inBall), dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}}
	for _, c := range []struct {
		inner  dpglm.Learner
		loss   losses.Loss
		called string
		link   losses.Link
	}{{dpglm.SoftmaxConfig{}, losses.Logistic{}, "softmax", ""}, {steps, losses.Logistic{}, "logistic", losses.Logit}, {steps, losses.Probit{}, "probit", losses.ProbitLink}} {
		for name, l := range map[string]dpglm.Learner{"GridSearch": dpglm.GridSearchConfig{Candidates: []dpglm.Candidate{{Learner: c.inner}}, Criterion: dpglm.ZeroOneError},
			"Boost": dpglm.BoostConfig{Learner: c.inner, Chunks: 2}, "JL": dpglm.JLConfig{Learner: c.inner, K: 2}} {
			m, _ := run(t, l, d, dpglm.Problem{Loss: c.loss, Classes: 4}, dpglm.GDP(30), 1)
			given.CheckModel(t, m, x)
			if m.Loss() != c.called || m.Link() != c.link || m.Classes() != 4 {
				t.Errorf("%s of %T: %v by %q", name, c.inner, m, m.Link())
			}
		}
	}
}

// namesClasses wants errors that say that the number of classes is wrong.
func namesClasses(t *testing.T, errs map[string]error) {
	t.Helper()
	for name, err := range errs {
		if !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(err.Error(), "Problem.Classes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func planned(s dpglm.Shape, p dpglm.Problem, b dpglm.Budget, l dpglm.Learner) error {
	return given.Failure(l.Plan(s, p, b))
}

// What trains one score says that it takes no classes, also inside what takes them.
func TestWhoTakesNoClasses(t *testing.T) {
	x, y := classified(60, 1)
	d, b := dataset(t, x, y, inBall), dpglm.GDP(1)
	four, steps := given.OfClasses(logistic, 4), dpglm.NoisyGDConfig{Steps: 2}
	one := map[string]dpglm.Learner{"NoisyGD": steps, "StandardisedGD": dpglm.StandardisedGDConfig{}, "FrankWolfe": dpglm.FrankWolfeConfig{},
		"OutputPerturbation": dpglm.OutputPerturbationConfig{}, "ObjectivePerturbation": dpglm.ObjectivePerturbationConfig{}}
	errs := map[string]error{"inference": given.Failure(dpglm.Infer(ctx, d, four, b, dpglm.InferConfig{}, nil))}
	for name, l := range one {
		errs[name] = planned(d.Shape(), four, b, l)
		errs["a search of "+name] = planned(d.Shape(), four, b, dpglm.GridSearchConfig{Learner: l})
		errs["boosted "+name] = planned(d.Shape(), four, b, dpglm.BoostConfig{Learner: l})
		errs["projected "+name] = planned(d.Shape(), four, b, dpglm.JLConfig{Learner: l, K: 2})
	}
	line := dpglm.Shape{Rows: 60, Dim: 1, FeatureBound: 1}
	for name, c := range map[string]dpglm.PredictorConfig{"averages": dpglm.AverageConfig{Queries: 2}, "stable scores": dpglm.StableConfig{Queries: 2},
		"descent": dpglm.DescentConfig{Queries: 2}, "a walk": dpglm.ThresholdConfig{Queries: 2}} {
		errs[name] = given.Failure(c.Plan(line, four, dpglm.PureDP(5)))
	}
	namesClasses(t, errs)
}

// What takes classes refuses numbers, losses and rows that classes aren't for, before anything is
// released.
func TestWhoTakesClasses(t *testing.T) {
	x, y := classified(60, 1)
	d, b, errs := dataset(t, x, y, inBall), dpglm.GDP(1), map[string]error{}
	shifted, err := dpglm.NewDataset(x, y, inBall, dpglm.Offsets{Of: make([]float64, 60), Range: [2]float64{-1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	four, steps := given.OfClasses(logistic, 4), dpglm.NoisyGDConfig{Steps: 2}
	several := map[string]dpglm.Learner{"Auto": dpglm.AutoConfig{}, "OneAgainstRest": dpglm.OneAgainstRestConfig{Learner: steps}, "GridSearch": dpglm.GridSearchConfig{Learner: dpglm.OneAgainstRestConfig{Learner: steps}},
		"Boost": dpglm.BoostConfig{Learner: dpglm.OneAgainstRestConfig{Learner: steps}, Chunks: 2}, "JL": dpglm.JLConfig{Learner: dpglm.SoftmaxConfig{}, K: 2}, "Softmax": dpglm.SoftmaxConfig{}}
	for name, l := range several {
		for _, k := range []int{1, -1, 1001} {
			errs[fmt.Sprintf("%s of %d classes", name, k)] = planned(d.Shape(), given.OfClasses(logistic, k), b, l)
		}
		if name != "Auto" {
			errs[name+" of labels as they are"] = planned(d.Shape(), logistic, b, l)
		}
		for of, err := range map[string]error{"offsets": planned(shifted.Shape(), four, b, l), "real labels": planned(d.Shape(), given.OfClasses(squared, 4), b, l)} {
			if !errors.Is(err, dpglm.ErrConfig) && !(of == "real labels" && errors.Is(err, dpglm.ErrBound)) {
				t.Errorf("%s, %s: %v", name, of, err)
			}
		}
	}
	for _, k := range []int{1, -1, 1001} {
		errs[fmt.Sprintf("votes for %d classes", k)] = given.Failure(dpglm.VoteConfig{Queries: 2}.Plan(d.Shape(), given.OfClasses(logistic, k), b))
		_, _, errs[fmt.Sprintf("a choice of %d classes", k)] = dpglm.SelectModel(ctx, d, given.OfClasses(logistic, k), b, [][][]float64{{{1, 0, 0, 0}}}, 0, nil)
	}
	namesClasses(t, errs)
	if err := given.Failure(dpglm.VoteConfig{Queries: 2}.Plan(shifted.Shape(), four, b)); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("votes with offsets: %v", err)
	}
	if _, _, err := dpglm.SelectModel(ctx, shifted, four, b, [][][]float64{make([][]float64, 4)}, 0, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("a choice with offsets: %v", err)
	}
}

// A search over radii chooses one of which the model is about as good as the best, by losses and
// by errors: with one of them scores are next to nothing, with another one noise is larger than they
// are. Chosen at random, all five models of a criterion would be as good once in 243 times.
func TestSearchesOfClassesChoose(t *testing.T) {
	const n, seeds = 4000, 5
	x, y := classified(n, 1)
	d, b := dataset(t, x, y, inBall), dpglm.GDP(3)
	held, labels := classified(n, 9)
	learner := dpglm.OneAgainstRestConfig{Learner: dpglm.OutputPerturbationConfig{}}
	radii := []float64{1e-4, 1, 1e3}
	measured := func(m *dpglm.Model, err error) [2]float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		classes, err := m.Predict(held)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Probabilities(held)
		if err != nil {
			t.Fatal(err)
		}
		loss, right := 0.0, 0.0
		for i, c := range labels {
			if loss -= math.Log(math.Max(p.At(i, int(c)), 1e-9)) / n; classes[i] == c {
				right += 1.0 / n
			}
		}
		return [2]float64{loss, right}
	}
	var alone [][2]float64
	for _, radius := range radii {
		p := dpglm.Problem{Loss: losses.Logistic{}, Radius: radius, Classes: 4}
		alone = append(alone, measured(dpglm.OneAgainstRest(ctx, d, p, dpglm.GDP(3/math.Sqrt(3)), learner, seeded(3))))
	}
	best := alone[1]
	if !(alone[0][0] > best[0]+0.2 && alone[0][1] < best[1]-0.05 && alone[2][0] > best[0]+0.2 && alone[2][1] < best[1]-0.05) {
		t.Fatalf("log-losses and rates of right classes of the radii alone: %.3f", alone)
	}
	for _, by := range []dpglm.Criterion{dpglm.ValidationLoss, dpglm.ZeroOneError} {
		for seed := range uint64(seeds) {
			search := dpglm.GridSearchConfig{Learner: learner, Radii: radii, Criterion: by, Validation: 0.5, Seed: seed}
			got := measured(dpglm.GridSearch(ctx, d, given.OfClasses(logistic, 4), b, search, seeded(seed)))
			if !(got[0] < best[0]+0.05 && got[1] > best[1]-0.03) {
				t.Errorf("%s, seed %d: a log-loss of %.3f, %.3f right; %.3f of the radii alone", by, seed, got[0], got[1], alone)
			}
		}
	}
}

// meagre is a learner that takes a part of the budget that it is given.
type meagre struct {
	dpglm.Learner
	b dpglm.Budget
}

func (m meagre) Plan(s dpglm.Shape, p dpglm.Problem, _ dpglm.Budget) (*dpglm.Plan, error) {
	return m.Learner.Plan(s, p, m.b)
}

// halves are rows of two classes on a line, x = ±1, of whom the class is that of the sign.
func halves(n int, seed uint64) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(seed, 5))
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range y {
		y[i] = float64(r.IntN(2))
		x.Set(i, 0, 2*y[i]-1)
	}
	return x, y
}

// Where noise is larger than what a learner finds it is wrong half the time, and the best of six by
// one more chunk once in 64: of 60 seeds more than 8 times with probability 4e-7, by the binomial law. Chosen
// blindly, 52 of 60 would be right with probability 3e-9; alone, fewer than 15 or more than 45 are with 5e-5.
func TestBoostOfClasses(t *testing.T) {
	const seeds = 60
	x, y := halves(350, 1)
	d := dataset(t, x, y, dpglm.Bounds{Feature: 1})
	part := dataset(t, mat.DenseCopyOf(x.Slice(0, 50, 0, 1)), y[:50], dpglm.Bounds{Feature: 1})
	flaky := meagre{dpglm.OneAgainstRestConfig{Learner: dpglm.OutputPerturbationConfig{Lambda: 100}}, dpglm.GDP(0.002)}
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Hinge{}} {
		p := dpglm.Problem{Loss: loss, Radius: 5, Classes: 2}
		one, err := flaky.Plan(part.Shape(), p, dpglm.GDP(2))
		if err != nil {
			t.Fatal(err)
		}
		right := func(m *dpglm.Model, err error) int {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			classes, err := m.Predict(x)
			if err != nil {
				t.Fatal(err)
			}
			if classes[0] == y[0] {
				return 1
			}
			return 0
		}
		alone, boosted := 0, 0
		for seed := range uint64(seeds) {
			alone += right(one.Run(ctx, part, seeded(seed)))
			boosted += right(dpglm.Boost(ctx, d, p, dpglm.GDP(2), dpglm.BoostConfig{Learner: flaky, Chunks: 6, Seed: seed}, seeded(seed)))
		}
		if alone < 15 || alone > 45 || boosted < 52 {
			t.Errorf("%s: of %d models %d are right alone, %d boosted", loss.Name(), seeds, alone, boosted)
		}
	}
}
