package dpglm

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// labelled is a table of one column, whose label a schema describes and takes these values.
func labelled(t *testing.T, label table.Column, values ...string) *Dataset {
	t.Helper()
	label.Name = "y"
	s := table.Schema{Version: 1, Label: "y", Columns: []table.Column{{Name: "a", Kind: table.Numeric, Range: []float64{0, 1}}, label}}
	var text strings.Builder
	text.WriteString("a,y\n")
	for range 20 {
		for _, v := range values {
			text.WriteString("0.5," + v + "\n")
		}
	}
	csv, err := table.NewCSV(strings.NewReader(text.String()), ',')
	if err != nil {
		t.Fatal(err)
	}
	read, err := table.Read(csv, s)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewTableDataset(read)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Classes are those of a table's label, whoever is asked, before anything is spent: a plan that
// was made from the shape alone, a predictor and a choice too.
func TestClassesOfTables(t *testing.T) {
	levels := labelled(t, table.Column{Kind: table.Categorical, Levels: []string{"a", "b", "c"}}, "a", "b", "c")
	binary := labelled(t, table.Column{Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}}, "yes", "no")
	ctx, b := t.Context(), GDP(1)
	for _, c := range []struct {
		d       *Dataset
		classes int
		fine    bool
	}{{levels, 2, false}, {levels, 3, true}, {levels, 4, false}, {binary, 2, true}, {binary, 3, false}} {
		p := Problem{Loss: losses.Logistic{}, Classes: c.classes}
		plan, err := SoftmaxConfig{}.Plan(c.d.Shape(), p, b)
		if err != nil {
			t.Fatal(err)
		}
		weights := make([][]float64, c.classes)
		for k := range weights {
			weights[k] = make([]float64, c.d.Shape().Dim)
		}
		_, ran := plan.Run(ctx, c.d, nil)
		_, served := NewPredictor(ctx, c.d, p, b, VoteConfig{Queries: 1}, nil)
		_, _, chosen := SelectModel(ctx, c.d, p, b, [][][]float64{weights}, 0, nil)
		for what, err := range map[string]error{"run": ran, "check": plan.Check(ctx, c.d), "predictor": served, "choice": chosen} {
			if (err == nil) != c.fine || !c.fine && !errors.Is(err, ErrConfig) {
				t.Errorf("%d classes, %s: %v", c.classes, what, err)
			}
		}
	}
}

// renaming is a learner from elsewhere, which rewrites the problem in its plan.
type renaming struct{}

func (renaming) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	plan, err := OneAgainstRestConfig{Learner: OutputPerturbationConfig{}}.Plan(s, p, b)
	if err == nil {
		plan.Problem.Classes, plan.Problem.Loss = 0, losses.Squared{}
	}
	return plan, err
}

// What a combinator trains is what it was asked for, whatever a plan inside says in its fields: the
// labels are checked as classes before anything is spent, and the model has as many.
func TestClassesAreThoseAskedFor(t *testing.T) {
	x, y := mat.NewDense(60, 1, nil), make([]float64, 60)
	for i := range y {
		x.Set(i, 0, float64(i%3)/2)
		y[i] = float64(i % 3)
	}
	d, err := NewDataset(x, y, Bounds{Feature: 1, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Loss: losses.Logistic{}, Classes: 3}
	for _, l := range []Learner{BoostConfig{Learner: renaming{}, Chunks: 2}, JLConfig{Learner: renaming{}}} {
		m, err := fit(t.Context(), l, d, p, GDP(1), nil)
		if err != nil || m.Classes() != 3 || m.Loss() != "logistic" {
			t.Errorf("%T: %v, %v", l, m, err)
		}
	}
}

// No model within a score bound has a larger loss on a row than the default limit, for a loss too
// that has smaller values than the one by which probabilities go.
func TestLargestLossOfClasses(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Probit{}, losses.Extended{Inner: losses.Probit{}, Limit: 1}} {
		p := Problem{Loss: loss, Classes: 3}
		_, joint := loss.(losses.Logistic)
		for _, f := range []*fitted{{loss: loss}, {loss: loss, joint: joint}} {
			for _, z := range []float64{0, 0.1, 1, 30} {
				worst := 0.0
				for _, scores := range [][]float64{{-z, -z, -z}, {-z, z, -z}, {-z, z, z}} {
					if v := -math.Log(p.response(f).probabilities(scores)[0]); !(v < 1e300) {
						continue // a probability below what numbers hold
					} else {
						worst = math.Max(worst, v)
					}
				}
				if limit := p.largestLoss(z, 0); worst > limit*(1+1e-12) {
					t.Errorf("%s at %g: %g exceeds %g", loss.Name(), z, worst, limit)
				}
			}
		}
	}
}

// A list of lists is of several classes, and a list of one score, whatever the format says.
func TestWeightsOfOneScore(t *testing.T) {
	d, err := NewDataset(mat.NewDense(4, 1, []float64{1, 2, 3, 4}), []float64{0, 1, 0, 1}, Bounds{Feature: 4})
	if err != nil {
		t.Fatal(err)
	}
	m, err := fit(t.Context(), OutputPerturbationConfig{}, d, logit, GDP(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for weights, fine := range map[string]bool{"[1]": true, "[[1]]": false, "[[]]": false, "[]": false, "null": false, "[[1],[2]]": false, "[1,[2]]": false} {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "sum")
		fields["weights"] = json.RawMessage(weights)
		changed, err := sealed.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(changed, new(Model)); (err == nil) != fine || !fine && !errors.Is(err, ErrModel) {
			t.Errorf("%s: %v", weights, err)
		}
	}
}
