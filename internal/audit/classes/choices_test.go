package classes_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// choosable are models of three classes, of rows of one feature, and four such rows.
var choosable = [][][]float64{{{0}, {0}, {0}}, {{1}, {-1}, {0.5}}, {{-2}, {1}, {3}}}

func fourOfClasses(t *testing.T, last float64) *dpglm.Dataset {
	t.Helper()
	return dataset(t, mat.NewDense(4, 1, []float64{1, 1, -1, 0.5}), []float64{0, 2, 1, last}, dpglm.Bounds{Feature: 1})
}

// lossesByHand are each model's clipped losses on the four rows: −log p of the row's class, by a
// softmax or of each class against the rest, or 1 where another class is first.
func lossesByHand(loss losses.Loss, limit, last float64) []float64 {
	sums := make([]float64, len(choosable))
	for j, weights := range choosable {
		for i, x := range []float64{1, 1, -1, 0.5} {
			y, p := int([]float64{0, 2, 1, last}[i]), make([]float64, 3)
			for k := range p {
				switch z := weights[k][0] * x; loss.(type) {
				case losses.Logistic:
					p[k] = math.Exp(z)
				case losses.Probit:
					p[k] = math.Erfc(-z/math.Sqrt2) / 2
				default:
					p[k] = z
				}
			}
			if _, hinge := loss.(losses.Hinge); !hinge {
				sums[j] += math.Min(limit, -math.Log(p[y]/floats.Sum(p)))
			} else if floats.MaxIdx(p) != y {
				sums[j]++
			}
		}
	}
	return sums
}

// Model j is chosen with probability ∝ exp(−ε·q_j/(2·limit)), q_j being its losses by hand, or
// ∝ exp(−ε·q_j/2) where q_j counts rows. With a large budget it is the best one, and one replaced
// row changes no probability by more than e^ε.
func TestSelectModelOfClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector, and has nothing for it")
	}
	const epsilon, limit, draws = 2.0, 1.5, 4000
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Probit{}, losses.Hinge{}} {
		p := dpglm.Problem{Loss: loss, Classes: 3}
		law := func(last float64) []float64 {
			q, unit := lossesByHand(loss, limit, last), limit
			if loss == (losses.Hinge{}) {
				unit = 1
			}
			for j := range q {
				q[j] = math.Exp(-epsilon * q[j] / (2 * unit))
			}
			floats.Scale(1/floats.Sum(q), q)
			return q
		}
		for _, last := range []float64{0, 2} {
			d, env, counts := fourOfClasses(t, last), seeded(1), make([]float64, 3)
			for range draws {
				j, ledger, err := dpglm.SelectModel(ctx, d, p, dpglm.PureDP(epsilon), choosable, limit, env)
				if err != nil || !ledger.Within(epsilon, 0) {
					t.Fatal(ledger, err)
				}
				counts[j]++
			}
			for j, want := range law(last) {
				// Hoeffding's inequality at α = 1e-6, seed 1.
				if math.Abs(counts[j]-draws*want) > math.Sqrt(draws*math.Log(2e6)/2) {
					t.Errorf("%s, last of class %g: model %d is chosen %g times of %d, want about %g", loss.Name(), last, j, counts[j], draws, draws*want)
				}
			}
			best, _, err := dpglm.SelectModel(ctx, d, p, dpglm.PureDP(1000), choosable, limit, env)
			if want := floats.MinIdx(lossesByHand(loss, limit, last)); err != nil || best != want {
				t.Errorf("%s, last of class %g: with a large budget it is model %d, want %d (%v)", loss.Name(), last, best, want, err)
			}
		}
		for a := range 3 {
			for b := range 3 {
				for j, here := range law(float64(a)) {
					if ratio := math.Abs(math.Log(here / law(float64(b))[j])); ratio > epsilon {
						t.Errorf("%s, classes %d and %d: ratio e^%g", loss.Name(), a, b, ratio)
					}
				}
			}
		}
	}
}

// Votes for classes are right where rows are apart and the budget is large, whatever the loss, and
// each part of one row votes for its class: an answer is class k in proportion to e^{εv_k/2}.
func TestVotesForClasses(t *testing.T) {
	const n = 600
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	corners := [][]float64{{1, 0}, {-0.5, 0.8}, {-0.5, -0.8}}
	for i := range y {
		y[i] = float64(i % 3)
		x.SetRow(i, []float64{corners[i%3][0] + 0.1*math.Sin(float64(i)), corners[i%3][1] + 0.1*math.Cos(float64(7*i))})
	}
	d := dataset(t, x, y, dpglm.Bounds{Feature: 1.5, Intercept: true})
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Probit{}, losses.Hinge{}} {
		p, err := dpglm.NewPredictor(ctx, d, dpglm.Problem{Loss: loss, Classes: 3}, dpglm.PureDP(300), dpglm.VoteConfig{Queries: 30, Parts: 12}, seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			if got, err := p.Answer(ctx, x.RawRowView(i)); err != nil || got != y[i] {
				t.Errorf("%s: row %d of class %g is said to be of %g (%v)", loss.Name(), i, y[i], got, err)
			}
		}
	}
	const queries, epsilon = 6000, 0.7
	votes := []float64{3, 2, 1, 0} // of parts of a row each
	few := dataset(t, mat.NewDense(6, 1, []float64{1, 1, 1, 1, 1, 1}), []float64{0, 1, 0, 2, 1, 0}, dpglm.Bounds{Feature: 1})
	p, err := dpglm.NewPredictor(ctx, few, given.OfClasses(logistic, 4), dpglm.PureDP(epsilon*queries), dpglm.VoteConfig{Queries: queries, Parts: 6}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	counts, total := make([]float64, 4), 0.0
	for range queries {
		k, err := p.Answer(ctx, []float64{0.6})
		if err != nil {
			t.Fatal(err)
		}
		counts[int(k)]++
	}
	for _, v := range votes {
		total += math.Exp(epsilon * v / 2)
	}
	for k, v := range votes {
		// Hoeffding's inequality at α = 1e-6, seed 1.
		if want := queries * math.Exp(epsilon*v/2) / total; math.Abs(counts[k]-want) > math.Sqrt(queries*math.Log(2e6)/2) {
			t.Errorf("%g of %d answers are class %d, want about %g", counts[k], queries, k, want)
		}
	}
	if !p.Planned().Within(epsilon*queries*(1+1e-9), 0) {
		t.Errorf("%v", p.Planned())
	}
}

// The state of votes for so many classes is for no other number of them.
func TestStatesOfVotesTellClasses(t *testing.T) {
	x, y := classified(60, 1)
	voting := func(k int) *dpglm.Predictor {
		p, err := dpglm.NewPredictor(ctx, dataset(t, x, y, inBall), given.OfClasses(logistic, k), dpglm.PureDP(5), dpglm.VoteConfig{Queries: 3, Parts: 4}, seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	state, err := voting(4).State()
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]error{4: nil, 5: dpglm.ErrModel} {
		if err := voting(k).Restore(state); !errors.Is(err, want) {
			t.Errorf("a state of four classes for %d: %v", k, err)
		}
	}
	_, err = dpglm.NewPredictor(ctx, dataset(t, x, y, inBall), given.OfClasses(logistic, 3), dpglm.PureDP(5), dpglm.VoteConfig{Queries: 3, Parts: 4}, nil)
	if !errors.Is(err, dpglm.ErrLabel) {
		t.Errorf("a label beyond: %v", err)
	}
}

// The levels of a table's label are its classes: as many of them are fitted, by any learner that
// takes classes, and other numbers are refused by what the schema says, before rows are read.
func TestClassesAreLevels(t *testing.T) {
	data := staysData(t, outcomes, 300)
	steps := dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 2}}
	for name, fit := range map[string]func(p dpglm.Problem) (*dpglm.Model, error){
		"Auto": func(p dpglm.Problem) (*dpglm.Model, error) { return dpglm.Auto(ctx, data, p, dpglm.GDP(1), nil) },
		"OneAgainstRest": func(p dpglm.Problem) (*dpglm.Model, error) {
			return dpglm.OneAgainstRest(ctx, data, p, dpglm.GDP(1), steps, nil)
		},
		"GridSearch": func(p dpglm.Problem) (*dpglm.Model, error) {
			return dpglm.GridSearch(ctx, data, p, dpglm.GDP(1), dpglm.GridSearchConfig{Learner: steps}, nil)
		},
		"Boost": func(p dpglm.Problem) (*dpglm.Model, error) {
			return dpglm.Boost(ctx, data, p, dpglm.GDP(1), dpglm.BoostConfig{Learner: steps, Chunks: 2}, nil)
		},
		"JL": func(p dpglm.Problem) (*dpglm.Model, error) {
			return dpglm.JL(ctx, data, p, dpglm.GDP(1), dpglm.JLConfig{Learner: steps, K: 2}, nil)
		},
	} {
		for _, loss := range []losses.Loss{losses.Logistic{}, losses.Hinge{}} {
			m, err := fit(dpglm.Problem{Loss: loss, Classes: 4})
			if err != nil || m.Classes() != 4 || strings.Join(m.Levels(), ",") != "home,rehab,long stay,died" || m.Label() != "outcome" {
				t.Errorf("%s, %s: %v (%v)", name, loss.Name(), m, err)
				continue
			}
			p, err := m.PredictLevels(map[string]string{"age": "70", "ward": "surgery"})
			if losses.LinkOf(loss).Probability() && (err != nil || len(p[0].Probabilities) != 4) || !losses.LinkOf(loss).Probability() && !errors.Is(err, dpglm.ErrConfig) {
				t.Errorf("%s, %s: %v (%v)", name, loss.Name(), p, err)
			}
		}
		for _, k := range []int{2, 3, 5, 1000} {
			_, err := fit(given.OfClasses(logistic, k))
			if want := fmt.Sprintf(`Problem.Classes = %d must be 4, the levels of "outcome"`, k); !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s of %d classes: %v", name, k, err)
			}
		}
	}
}
