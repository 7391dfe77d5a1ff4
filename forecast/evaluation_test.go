package forecast

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

func evaluated(t *testing.T, s Scenario, epsilon float64, held int) map[string]EvaluationFigure {
	t.Helper()
	e, err := s.Evaluation(context.Background(), epsilon, held, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Rows != held || e.Epsilon != epsilon || e.Confidence != 0.95 {
		t.Errorf("%+v", e)
	}
	figures := map[string]EvaluationFigure{}
	for _, f := range e.Figures {
		figures[f.Name] = f
	}
	return figures
}

// Widths shrink with ε to those without privacy, and these with the root of the rows; an
// accuracy has the width that a binomial law says.
func TestEvaluationWidths(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		s := study()
		facts := numbers(3)
		facts.LabelRange = [2]float64{0, 20}
		s.Problem.Loss, s.Facts = loss, facts
		if loss.Labels() == losses.Count {
			s.LabelMean = mean(1)
		}
		name := "RMSE"
		if loss.Labels() == losses.Binary {
			name = "accuracy"
		}
		little, much, more := evaluated(t, s, 0.3, 2000)[name], evaluated(t, s, 2000, 2000)[name], evaluated(t, s, 2000, 8000)[name]
		if !(little.Width > 1.3*little.Plain) || math.Abs(much.Width/much.Plain-1) > 0.15 {
			t.Errorf("%s: with little %+v, with much %+v", loss.Name(), little, much)
		}
		if r := more.Plain / much.Plain; r < 0.4 || r > 0.62 {
			t.Errorf("%s: width %v by four times the rows, before %v", loss.Name(), more.Plain, much.Plain)
		}
		if p := much.Value; name == "accuracy" && math.Abs(much.Plain/(2*1.96*math.Sqrt(p*(1-p)/2000))-1) > 0.15 {
			t.Errorf("accuracy %+v", much)
		}
	}
}

// Fewer rows than are held out stand for all of them.
func TestFewerHeldStandForMany(t *testing.T) {
	s := study()
	r, err := s.rehearsal(context.Background(), 0.5)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.repeat(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := r.fit(context.Background(), p, dpglm.AutoConfig{}, r.scenario.budget(0.5))
	if err != nil {
		t.Fatal(err)
	}
	var found [2]*Evaluation
	for k, simulated := range []int{12_000, 3000} {
		others := *r
		others.scenario.Rows, others.simulated = 12_000, simulated
		both, err := others.evaluate(context.Background(), p, m, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		found[k] = others.evaluation(0.5, [][2]*dpglm.Evaluation{both})
	}
	for k, f := range found[0].Figures {
		few := found[1].Figures[k]
		if r := few.Width / f.Width; r < 0.7 || r > 1.4 {
			t.Errorf("%s: width %v by a quarter of the rows, %v by all", f.Name, few.Width, f.Width)
		}
		if r := few.Plain / f.Plain; r < 0.7 || r > 1.4 {
			t.Errorf("%s: width without privacy %v by a quarter of the rows, %v by all", f.Name, few.Plain, f.Plain)
		}
	}
}

// A forecast has the names, the units and the order of an evaluation, and leaves out what that leaves out, with the same sentences. Of one evaluation
// these are its own; a figure that one of both lacks, or calls otherwise, shows.
func TestForecastsSayWhatEvaluationsSay(t *testing.T) {
	hides, none := 0, 0
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Hinge{}, losses.Squared{}, losses.Poisson{}} {
		for _, epsilon := range []float64{0.02, 0.3, 20} {
			s := study()
			facts := numbers(3)
			facts.LabelRange = [2]float64{0, 20}
			s.Problem.Loss, s.Facts, s.Rows = loss, facts, 400
			if loss.Labels() == losses.Count {
				s.LabelMean = mean(1)
			}
			r, err := s.rehearsal(context.Background(), epsilon)
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.repeat(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := r.fit(context.Background(), p, dpglm.AutoConfig{}, r.scenario.budget(epsilon))
			if err != nil {
				t.Fatal(err)
			}
			both, err := r.evaluate(context.Background(), p, m, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			e := r.evaluation(epsilon, [][2]*dpglm.Evaluation{both})
			if !slices.Equal(e.Withheld, both[0].Withheld()) {
				t.Errorf("%s at ε = %g: %q is withheld, and by an evaluation %q", loss.Name(), epsilon, e.Withheld, both[0].Withheld())
			}
			if hides += len(e.Withheld); e.Withheld == nil {
				none++
			}
			for k, f := range e.Figures {
				of := both[1].Figures[k]
				shown, known := both[0].Figure(f.Name)
				if f.Name != of.Name || f.Unit != of.Unit || (known && !shown.Vacuous()) != !math.IsInf(f.Width, 1) {
					t.Errorf("%s at ε = %g: %+v, and of the evaluation %+v, %+v", loss.Name(), epsilon, f, of, shown)
				}
			}
			if len(e.Figures) != len(both[1].Figures) || strings.Count(e.String(), " withheld ")+strings.Count(both[0].String(), "   [") != len(e.Figures) {
				t.Errorf("%s at ε = %g:\n%v\nof\n%v", loss.Name(), epsilon, e, both[0])
			}
		}
	}
	if hides == 0 || none == 0 { // both are looked at
		t.Errorf("%d sentences, and none of %d", hides, none)
	}
}

// What drowns is said, in print and as null; levels have no evaluation, nor have no rows.
func TestEvaluationsThatDrown(t *testing.T) {
	s := study()
	s.Rows = 200
	e, err := s.Evaluation(context.Background(), 0.05, 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(text), "null") || !strings.Contains(e.String(), " withheld ") {
		t.Errorf("%s (%v)\n%v", text, err, e)
	}
	if none := (*Evaluation)(nil).String(); none != "empty forecast" {
		t.Error(none)
	}
	if _, err := s.Evaluation(context.Background(), 1, 0, nil); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("no rows: %v", err)
	}
	s.Facts = dpglm.Bounds{Feature: 1, LabelRange: [2]float64{0, 2}}
	s.Columns = 3
	if s.Problem.Loss, err = losses.OrdinalFromFractions(1, 2, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Evaluation(context.Background(), 1, 100, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("levels: %v", err)
	}
}
