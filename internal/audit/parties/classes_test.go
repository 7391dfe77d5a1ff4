package parties_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table/party"
)

// threeClasses are rows of classes that their features tell of.
func threeClasses(n, d int) (*mat.Dense, []float64) {
	x, y := given.Separable(n, d, 1)
	for i := range y {
		if y[i] == 1 && x.At(i, 1) > 0 {
			y[i] = 2
		}
	}
	return x, y
}

// classBounds are public facts about threeClasses.
var classBounds = dpglm.Bounds{Feature: 1, Intercept: true}

// againstRest fits the three classes, each by a few steps, and returns how much noise was drawn.
func againstRest(t *testing.T, d *dpglm.Dataset, loss losses.Loss) (*dpglm.Model, uint64, error) {
	t.Helper()
	src := &given.Words{Seed: 1}
	m, err := dpglm.OneAgainstRest(ctx, d, dpglm.Problem{Loss: loss, Radius: 1, Classes: 3}, dpglm.GDP(1),
		dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 5, Clip: 0.5}}, &dpglm.Env{NoiseForTests: src})
	return m, src.Drawn, err
}

// opened is the data set of parties whose messages are heard.
func opened(t *testing.T, parties []*party.Party, rows []int, columns int, heard func(message string)) *dpglm.Dataset {
	t.Helper()
	d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: columns}, classBounds, &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2)),
		Seen: func(q []byte, a [][]uint64) [][]uint64 { heard(string(q)); return a }})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A fit of classes on the rows of three parties has the bits of one party's that holds all rows,
// and is that on rows in memory up to the rounding to integers. All plans come before all
// questions.
func TestPartiesFitClasses(t *testing.T) {
	x, y := threeClasses(900, 4)
	memory := given.Dataset(t, x, y, classBounds)
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Hinge{}} {
		want, _, err := againstRest(t, memory, loss)
		if err != nil {
			t.Fatal(err)
		}
		var fits []string
		for _, cuts := range [][]int{nil, {1, 500}} {
			parties, rows := given.Shared(t, x, y, cuts...)
			asked := ""
			d := opened(t, parties, rows, 4, func(message string) {
				of := "q"
				if strings.Contains(message, `"plan":{`) {
					of = "p"
				}
				asked += of
			})
			m, _, err := againstRest(t, d, loss)
			if err != nil {
				t.Fatal(err)
			}
			for k, weights := range m.Weights() {
				for j, w := range weights {
					if other := want.Weights()[k][j]; !(math.Abs(w-other) < 1e-9) {
						t.Errorf("%s, %d parties, class %d: %v, in memory %v", loss.Name(), len(parties), k, weights, want.Weights()[k])
						break
					}
				}
			}
			fits = append(fits, given.Describe(m, nil))
			if asked != "ppp"+strings.Repeat("q", 3*5) && asked != "ppp"+strings.Repeat("q", 3*6) {
				t.Errorf("%s: asked were %s", loss.Name(), asked)
			}
		}
		if fits[0] != fits[1] {
			t.Errorf("%s:\n%s of one party,\n%s of three", loss.Name(), fits[0], fits[1])
		}
	}
}

// Parties are told how many classes there are, which one stands against the rest, and the μ of each
// plan, which add up to the fit's: a party that agrees to so much takes part in one fit.
func TestPartiesAgreeToClasses(t *testing.T) {
	x, y := threeClasses(300, 2)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	var plans []party.Plan
	within := party.Within(1)
	p, err := party.Open(path, func(p party.Plan) error {
		plans = append(plans, p)
		return within(p)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := opened(t, []*party.Party{p}, []int{300}, 2, func(string) {})
	if _, _, err := againstRest(t, d, losses.Logistic{}); err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for k, of := range plans {
		squares += of.Mu * of.Mu
		if _, ok := of.Loss.(losses.Logistic); !ok || of.Classes != 3 || of.Class != k || of.Clip != 0.5 {
			t.Errorf("plan %d: %+v", k, of)
		}
	}
	if len(plans) != 3 || !(squares <= 1 && squares > 1-1e-6) {
		t.Errorf("%d plans, of %g² together", len(plans), math.Sqrt(squares))
	}
	var interrupted *dpglm.Interrupted
	if _, drawn, err := againstRest(t, d, losses.Logistic{}); !errors.Is(err, dpglm.ErrSpent) || errors.As(err, &interrupted) || drawn > 0 {
		t.Errorf("a second one: %v, after %d words of noise", err, drawn)
	}
}

// refusing agrees to all plans but that of a class.
func refusing(class int, err error) func(party.Plan) error {
	return func(p party.Plan) error {
		if p.Class == class {
			return err
		}
		return nil
	}
}

// What is wrong with one party's labels, and a party that doesn't agree to the plan of one of the
// classes, ends a fit before anything is asked of rows: no noise is drawn, and nothing is spent.
func TestPartiesOfClassesCheckFirst(t *testing.T) {
	refused := errors.New("not that class")
	for name, c := range map[string]struct {
		label float64
		class int // that one party refuses
		want  error
	}{
		"nothing":                 {1, -1, nil},
		"a class beyond":          {3, -1, dpglm.ErrLabel},
		"a negative class":        {-1, -1, dpglm.ErrLabel},
		"half a class":            {0.5, -1, dpglm.ErrLabel},
		"no number":               {math.NaN(), -1, dpglm.ErrValue},
		"the first class's plan":  {1, 0, refused},
		"the second class's plan": {1, 1, refused},
		"the last class's plan":   {1, 2, refused},
	} {
		x, y := threeClasses(300, 2)
		y[299] = c.label
		all, rows := given.Shared(t, x, y, 100, 200)
		path := filepath.Join(t.TempDir(), "last.rows")
		if err := dpglm.WriteRows(ctx, path, x.Slice(200, 300, 0, 2), y[200:]); err != nil {
			t.Fatal(err)
		}
		last, err := party.Open(path, refusing(c.class, refused))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { last.Close() })
		asked := 0
		d := opened(t, append(all[:2:2], last), rows, 2, func(message string) {
			if !strings.Contains(message, `"plan":{`) {
				asked++
			}
		})
		m, drawn, err := againstRest(t, d, losses.Logistic{})
		var interrupted *dpglm.Interrupted
		if c.want == nil {
			if err != nil || asked == 0 || drawn == 0 {
				t.Errorf("%s: %d questions, %d words of noise, %v", name, asked, drawn, err)
			}
			continue
		}
		if m != nil || !errors.Is(err, c.want) || errors.As(err, &interrupted) || asked > 0 || drawn > 0 {
			t.Errorf("%s: %d questions, %d words of noise, %v", name, asked, drawn, err)
		}
	}
}

// A party refuses a plan of a class that isn't one of those that there are, and a plan that says
// one of both fields only, whatever its labels are. Then it answers no more.
func TestPartyRefusesClasses(t *testing.T) {
	x, y := given.Separable(100, 2, 1) // of labels that would do without classes, too
	parties, rows := given.Shared(t, x, y)
	p := parties[0]
	var messages []string
	d := opened(t, parties, rows, 2, func(message string) { messages = append(messages, message) })
	if _, _, err := againstRest(t, d, losses.Logistic{}); err != nil {
		t.Fatal(err)
	}
	plan, first := messages[1], slices.IndexFunc(messages, func(m string) bool { return !strings.Contains(m, `"plan":{`) })
	for field, values := range map[string][]string{
		"classes": {"0", "1", "-3", "1001", "2.5", "null", `"3"`}, "class": {"3", "-1", "1.5", "null", "1000", `"1"`},
		"loss": {`{"type":"Squared","fields":{}}`, `{"type":"Poisson","fields":{}}`},
	} {
		for _, v := range values {
			if _, err := p.Answer(ctx, []byte(messages[0])); err != nil {
				t.Fatal(err)
			}
			if a, err := p.Answer(ctx, with(t, plan, "plan", field, v)); err == nil {
				t.Errorf("%s %s: %v", field, v, a)
			} else if errors.Is(err, dpglm.ErrConfig) {
				if a, err := p.Answer(ctx, []byte(messages[first])); !errors.Is(err, dpglm.ErrConfig) {
					t.Errorf("after %s %s the fit goes on: %v, %v", field, v, a, err)
				}
			}
		}
	}
	if _, err := p.Answer(ctx, []byte(plan)); err != nil {
		t.Errorf("after bad plans: %v", err)
	}
	plain := messagesOf(t, parties, rows, classBounds, logistic, dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5})[0]
	for field, values := range map[string][]string{"classes": {"3", "2", "-1"}, "class": {"0", "1", "-1"}} {
		for _, v := range values {
			if a, err := p.Answer(ctx, with(t, plain, "plan", field, v)); !errors.Is(err, dpglm.ErrConfig) {
				t.Errorf("%s %s alone: %v, %v", field, v, a, err)
			}
		}
	}
}

// What parties aren't asked of classes is refused by public facts: no party is told anything.
func TestPartiesOfClassesAreForSums(t *testing.T) {
	x, y := threeClasses(300, 2)
	parties, rows := given.Shared(t, x, y, 100)
	told := 0
	d := opened(t, parties, rows, 2, func(string) { told++ })
	steps, b := dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 2}}, dpglm.GDP(1)
	p := given.OfClasses(logistic, 3)
	models := [][][]float64{{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}}
	_, _, choice := dpglm.SelectModel(ctx, d, p, b, models, 0, nil)
	for name, err := range map[string]error{
		"InferClasses":                  given.Failure(dpglm.InferClasses(ctx, d, p, b, dpglm.InferConfig{}, nil)),
		"OneAgainstRest of a search":    given.Failure(dpglm.OneAgainstRest(ctx, d, p, b, dpglm.OneAgainstRestConfig{Learner: dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 2}}}, nil)),
		"OneAgainstRest of projections": given.Failure(dpglm.OneAgainstRest(ctx, d, p, b, dpglm.OneAgainstRestConfig{Learner: dpglm.JLConfig{K: 1}}, nil)),
		"GridSearch":                    given.Failure(dpglm.GridSearch(ctx, d, p, b, dpglm.GridSearchConfig{Learner: steps}, nil)),
		"Boost":                         given.Failure(dpglm.Boost(ctx, d, p, b, dpglm.BoostConfig{Learner: steps, Chunks: 2}, nil)),
		"JL":                            given.Failure(dpglm.JL(ctx, d, p, b, dpglm.JLConfig{K: 1, Learner: steps}, nil)),
		"JL without projection":         given.Failure(dpglm.JL(ctx, d, p, b, dpglm.JLConfig{K: 9, Learner: steps}, nil)),
		"votes":                         given.Failure(dpglm.NewPredictor(ctx, d, p, dpglm.PureDP(5), dpglm.VoteConfig{Queries: 5}, nil)),
		"a choice":                      choice,
		"NoisyGD":                       given.Failure(dpglm.NoisyGD(ctx, d, p, b, dpglm.NoisyGDConfig{Steps: 2}, nil)),
	} {
		var argument dpglm.ArgumentError
		var interrupted *dpglm.Interrupted
		if !errors.As(err, &argument) || !errors.Is(err, dpglm.ErrConfig) || errors.As(err, &interrupted) || !strings.Contains(fmt.Sprint(err), "must") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if told > 0 {
		t.Errorf("parties are told %d messages", told)
	}
}
