package forecast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// numbers is a schema of so many numbers and a group.
func numbers(d int) dpglm.Schema {
	s := dpglm.Schema{Numeric: map[string][2]float64{}, Intercept: true}
	for j := range d {
		name := fmt.Sprintf("x%d", j+1)
		s.Columns, s.Numeric[name] = append(s.Columns, name), [2]float64{0, 10}
	}
	s.Columns = append(s.Columns, "g=a", "g=b")
	s.OneHot = map[string][]string{"g": {"g=a", "g=b"}}
	return s
}

// How much of what features gain is lost depends on how much that is: with a weak signal it is
// several times what it is with the usual one.
func TestWhatIsLostDependsOnTheSignal(t *testing.T) {
	s := study()
	s.Repeats = 2
	f := at(t, s, 1)
	e := f.At[0]
	if low, high := e.LostRange[0], e.LostRange[1]; !(low > 0 && low <= e.Lost && high >= e.Lost && high > 3*low) {
		t.Errorf("%+v", e)
	}
	low, high := fmt.Sprintf("%.1f %%", 100*e.LostRange[0]), fmt.Sprintf("%.1f %%", 100*e.LostRange[1])
	if text := f.String(); !strings.Contains(text, low) || math.IsInf(e.LostRange[1], 0) == strings.Contains(text, high) {
		t.Error(text)
	}
	r, err := s.rehearsal(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if strong, err := r.ends()[0].expect(context.Background(), 1); err != nil || strong.Lost < e.LostRange[0] || strong.Lost > e.LostRange[1] || strong.Lost == e.Lost {
		t.Errorf("%v (%v), beside %v", strong.Lost, err, e)
	}
}

// Of counts a mean must be stated: a range of 0 to 20 says nothing of it.
func TestCountsNeedAMean(t *testing.T) {
	s := study()
	facts := numbers(3)
	facts.Label = 20
	s.Facts, s.Problem.Loss, s.Rows, s.Repeats = facts, losses.Poisson{}, 500, 1
	_, err := s.At(context.Background(), []float64{1}, nil)
	var a dpglm.ArgumentError
	if !errors.Is(err, dpglm.ErrLabel) || !errors.As(err, &a) || a.Param() != "Scenario.LabelMean" || !strings.Contains(a.Rule(), "given for counts") {
		t.Error(err)
	}
	s.LabelMean = mean(2)
	at(t, s, 1)
}

// An ε that promises nothing isn't returned without a word.
func TestCautions(t *testing.T) {
	s := study()
	s.Rows, s.Repeats, s.Learner = 300, 1, dpglm.InferConfig{}
	epsilon, f, err := s.EpsilonFor(context.Background(), Target{Width: 1.1}, nil)
	if err != nil || !(epsilon > mostSensible) || !strings.Contains(f.String(), "CAUTION: ε = ") || f.Caution == "" {
		t.Errorf("ε = %g (%v): %v", epsilon, err, f)
	}
	k := slices.IndexFunc(f.At, func(e Expectation) bool { return !math.IsNaN(e.LostRange[0]) })
	if k < 0 || f.At[k].Epsilon != epsilon {
		t.Errorf("the range is that of line %d: %+v", k, f.At)
	}
	if caution(0, leastEpsilon) == "" || caution(1, 10) != "" || caution(5, 10.1) == "" {
		t.Error("cautions at the ends")
	}
}

func study() Scenario {
	return Scenario{Facts: numbers(3), Rows: 3000, Problem: dpglm.Problem{Loss: losses.Logistic{}}, Delta: 1e-6, Repeats: 3}
}

func at(t *testing.T, s Scenario, epsilons ...float64) *Forecast {
	t.Helper()
	f, err := s.At(context.Background(), epsilons, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// More budget costs less, and a huge one nothing: intervals are those of the fit without
// privacy, which has an implementation of its own here.
func TestMoreBudgetCostsLess(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		s := study()
		s.Problem.Loss, s.Learner = loss, dpglm.InferConfig{}
		if loss.Labels() == losses.Count {
			s.LabelMean = mean(1)
		}
		facts := numbers(3)
		facts.LabelRange = [2]float64{0, 20}
		s.Facts = facts
		f := at(t, s, 100, 0.05, 1, 4, 1)
		if len(f.At) != 4 || f.At[0].Epsilon != 0.05 || f.At[3].Epsilon != 100 {
			t.Fatalf("%s: %+v", loss.Name(), f.At)
		}
		poor, rich := f.At[0], f.At[3]
		if !(poor.Lost > 0.15) || math.Abs(rich.Lost) > 0.005 || !(poor.Excess > 0) || math.Abs(rich.Excess) > 0.005*(f.Constant-f.Plain) {
			t.Errorf("%s: with little %+v, with much %+v", loss.Name(), poor, rich)
		}
		if !math.IsInf(poor.Width, 1) || rich.Determined != 1 || math.Abs(rich.Width-1) > 0.05 {
			t.Errorf("%s: widths of little %v, of much %v (%v determined)", loss.Name(), poor.Width, rich.Width, rich.Determined)
		}
		if four := f.At[2]; !(four.Width > rich.Width && four.Width < f.At[1].Width) {
			t.Errorf("%s: widths %v, %v and %v", loss.Name(), f.At[1].Width, four.Width, rich.Width)
		}
		if binary := loss.Labels() == losses.Binary; binary == math.IsNaN(f.PlainAccuracy) || binary && !(f.PlainAccuracy > f.ConstantAccuracy && math.Abs(f.ConstantAccuracy-0.7) < 0.03) {
			t.Errorf("%s: accuracies %v and %v", loss.Name(), f.PlainAccuracy, f.ConstantAccuracy)
		}
	}
}

// Where the weakest signals gain nothing there is no share of it that is lost, which is said; no width is something else.
func TestNoGainToLose(t *testing.T) {
	f := &Forecast{At: []Expectation{{Epsilon: 1, Lost: .2, LostRange: [2]float64{.1, math.Inf(1)}, AccuracyLost: math.NaN(), Width: math.Inf(1), Determined: 1}}}
	text, err := json.Marshal(f)
	if err != nil || !strings.Contains(string(text), `"gain_lost_low":0.1,"gain_lost_high":null`) {
		t.Errorf("%v: %s", err, text)
	}
	words := strings.Join(strings.Fields(f.String()), " ")
	if !strings.Contains(words, "10.0 % – inf 100 %") || !strings.Contains(words, "twice as strong as the usual; – where the weakest gain nothing") {
		t.Errorf("%v", f)
	}
	f.At[0].LostRange[1] = .3
	if words := strings.Join(strings.Fields(f.String()), " "); !strings.Contains(words, "10.0 % 30.0 %") || strings.Contains(words, "–") {
		t.Errorf("%v", f)
	}
}

// Fewer rows than n stand for n rows: what they forecast is what n rows do, for widths that
// aren't scaled up would be 0.6 times as large, and losses of a budget that isn't, 16 times.
func TestFewerRowsStandForMany(t *testing.T) {
	for _, group := range []int{1, 3} {
		s := study()
		s.Rows, s.Learner, s.Repeats, s.Group = 8000, dpglm.InferConfig{}, 6, group
		epsilon := 0.6 * float64(group)
		all := at(t, s, epsilon)
		r, err := s.rehearsal(context.Background(), epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if r.simulated != s.Rows || all.Simulated != s.Rows {
			t.Fatalf("%d of %d rows are made up", r.simulated, s.Rows)
		}
		r.simulated = 2000
		few, err := r.expect(context.Background(), epsilon)
		if err != nil {
			t.Fatal(err)
		}
		many := all.At[0]
		if ratio := few.Width / many.Width; ratio < 0.7 || ratio > 1.6 || many.Width < 2 {
			t.Errorf("width %v by a quarter of the rows, %v by all", few.Width, many.Width)
		}
		if ratio := few.Excess / many.Excess; ratio < 1.0/6 || ratio > 6 {
			t.Errorf("excess %v by a quarter of the rows, %v by all", few.Excess, many.Excess)
		}
	}
}

// The same scenario has the same forecast, another seed another.
func TestForecastsRepeat(t *testing.T) {
	s := study()
	s.Rows = 1000
	a, b := at(t, s, 1), at(t, s, 1)
	if a.String() != b.String() || a.At[0] != b.At[0] && !math.IsNaN(a.At[0].Width) || a.At[0].Excess != b.At[0].Excess {
		t.Errorf("%v\n%v", a, b)
	}
	s.Seed = 2
	if c := at(t, s, 1); c.At[0].Excess == a.At[0].Excess {
		t.Error("another seed has the same forecast")
	}
}

// A budget for groups is a smaller one.
func TestGroupsCostMore(t *testing.T) {
	s := study()
	one := at(t, s, 0.5).At[0].Excess
	s.Group = 8
	if eight := at(t, s, 0.5).At[0].Excess; eight < 4*one {
		t.Errorf("excess %v for one row, %v for 8", one, eight)
	}
}

// EpsilonFor finds an ε whose forecast meets the target, beside one that doesn't, and counts
// its steps to the end.
func TestEpsilonFor(t *testing.T) {
	for _, target := range []Target{{Width: 1.5}, {Excess: 0.002}, {Lost: 0.1}, {Width: 2, Lost: 0.02}} {
		s := study()
		if s.Rows = 1000; target.Width > 0 {
			s.Learner = dpglm.InferConfig{}
		}
		last, most := 0, 0
		epsilon, f, err := s.EpsilonFor(context.Background(), target, func(done, total int) {
			if done != last+1 && done != total || done > total {
				t.Errorf("step %d after %d of %d", done, last, total)
			}
			last, most = done, total
		})
		if err != nil {
			t.Fatal(err)
		}
		if last != most {
			t.Errorf("the last step is %d of %d", last, most)
		}
		k := slices.IndexFunc(f.At, func(e Expectation) bool { return e.Epsilon == epsilon })
		if k < 1 || !target.met(f.At[k]) || target.met(f.At[k-1]) || epsilon/f.At[k-1].Epsilon > 1.12 {
			t.Errorf("%+v: ε = %g of %+v", target, epsilon, f.At)
		}
		if again := at(t, s, epsilon).At[0]; again.Excess != f.At[k].Excess {
			t.Errorf("%+v: the forecast at %g is %+v, and was %+v", target, epsilon, again, f.At[k])
		}
	}
}

// At the ends of the search there is the least ε, or an error that says what is there.
func TestTargetsOutOfReach(t *testing.T) {
	s := study()
	s.Rows, s.Repeats = 200, 1
	epsilon, f, err := s.EpsilonFor(context.Background(), Target{Excess: 1e9}, nil)
	if err != nil || epsilon != leastEpsilon || f.At[0].Epsilon != leastEpsilon {
		t.Error(epsilon, f, err)
	}
	s.Learner = stingy{}
	_, _, err = s.EpsilonFor(context.Background(), Target{Lost: 0.1}, nil)
	if !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(err.Error(), "1024") {
		t.Error(err)
	}
}

// stingy is a learner of another's making, that spends next to nothing of any budget.
type stingy struct{}

func (stingy) Plan(s dpglm.Shape, p dpglm.Problem, _ dpglm.Budget) (*dpglm.Plan, error) {
	return dpglm.AutoConfig{}.Plan(s, p, dpglm.GDP(1e-6))
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	steps := 0
	_, err := study().At(ctx, []float64{1, 2, 4}, func(done, total int) {
		if steps = done; total != 28 {
			t.Errorf("%d of %d", done, total)
		}
		if done == 4 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || steps > 5 {
		t.Errorf("%v after %d steps", err, steps)
	}
}

// Each field that can be wrong is named.
func TestBadScenarios(t *testing.T) {
	bad := []struct {
		name string
		with func(s *Scenario)
		want error
	}{
		{"Problem.Classes", func(s *Scenario) { s.Problem.Classes = 3 }, dpglm.ErrConfig},
		{"Problem.Loss", func(s *Scenario) { s.Problem.Loss = nil }, dpglm.ErrConfig},
		{"Extended.Inner", func(s *Scenario) { s.Problem.Loss = losses.Extended{} }, dpglm.ErrConfig},
		{"Scenario.Learner", func(s *Scenario) { s.Learner = (*dpglm.AutoConfig)(nil) }, dpglm.ErrConfig},
		{"Scenario", func(s *Scenario) { s.Facts = nil }, dpglm.ErrConfig},
		{"Scenario.Facts", func(s *Scenario) { s.Table = new(table.Schema) }, dpglm.ErrConfig},
		{"Scenario.Rows", func(s *Scenario) { s.Rows = 0 }, dpglm.ErrShape},
		{"Scenario.Repeats", func(s *Scenario) { s.Repeats = -1 }, dpglm.ErrConfig},
		{"Scenario.Columns", func(s *Scenario) { s.Facts = dpglm.Bounds{Feature: 1} }, dpglm.ErrShape},
		{"Bounds.Feature", func(s *Scenario) { s.Facts, s.Columns = dpglm.Bounds{Feature: -1}, 3 }, dpglm.ErrBound},
		{"Schema.Columns", func(s *Scenario) { s.Facts = dpglm.Schema{} }, dpglm.ErrSchema},
		{"column", func(s *Scenario) { s.Facts = dpglm.Schema{Columns: []string{"a"}} }, dpglm.ErrSchema},
		{"features", func(s *Scenario) { s.Facts = numbers(1000) }, dpglm.ErrShape},
		{"Scenario.LabelMean", func(s *Scenario) { s.LabelMean = mean(1) }, dpglm.ErrLabel},
		{"Scenario.LabelMean", func(s *Scenario) { s.LabelMean = mean(math.NaN()) }, dpglm.ErrLabel},
		{"delta", func(s *Scenario) { s.Delta = -1 }, dpglm.ErrBudget},
		{"delta", func(s *Scenario) { s.Delta, s.Learner = 0, dpglm.InferConfig{} }, dpglm.ErrBudget}, // whose noise is Gaussian
		{"rows of a group", func(s *Scenario) { s.Group = -1 }, dpglm.ErrBudget},
		{"Scenario.Proportions[\"h\"]", func(s *Scenario) { s.Proportions = map[string][]float64{"h": {1}} }, dpglm.ErrSchema},
		{"Scenario.Proportions[\"g\"]", func(s *Scenario) { s.Proportions = map[string][]float64{"g": {1}} }, dpglm.ErrShape},
		{"Scenario.Proportions[\"g\"]", func(s *Scenario) { s.Proportions = map[string][]float64{"g": {0, 0}} }, dpglm.ErrValue},
		{"Scenario.Proportions[\"g\"]", func(s *Scenario) { s.Proportions = map[string][]float64{"g": {1, math.Inf(1)}} }, dpglm.ErrValue},
		{"label bound", func(s *Scenario) { s.Problem.Loss = losses.Squared{} }, dpglm.ErrBound},
	}
	for _, b := range bad {
		s := study()
		b.with(&s)
		_, err := s.At(context.Background(), []float64{1}, nil)
		var a dpglm.ArgumentError
		if !errors.Is(err, b.want) || !errors.As(err, &a) || a.Param() != b.name {
			t.Errorf("%s: %v", b.name, err)
		}
	}
	if _, err := study().At(context.Background(), nil, nil); !errors.Is(err, dpglm.ErrBudget) {
		t.Error(err)
	}
	for _, epsilon := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := study().At(context.Background(), []float64{1, epsilon}, nil); !errors.Is(err, dpglm.ErrBudget) {
			t.Errorf("ε = %g: %v", epsilon, err)
		}
	}
	for _, target := range []Target{{}, {Width: 1.5}, {Excess: -1}, {Lost: 1}, {Excess: math.NaN()}} {
		if _, _, err := study().EpsilonFor(context.Background(), target, nil); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%+v: %v", target, err)
		}
	}
	s := study()
	s.Learner = dpglm.InferConfig{}
	if _, _, err := s.EpsilonFor(context.Background(), Target{Width: 1}, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Error(err)
	}
	var none context.Context
	if _, err := s.At(none, []float64{1}, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Error(err)
	}
}

// Persons of so many rows that these don't fit in memory are refused, before any are made up.
func TestPersonsOfTooManyRows(t *testing.T) {
	s := Scenario{Rows: 1_000_000, Table: everything(table.Column{Kind: table.Binary, Positive: []string{"1"}, Negative: []string{"0"}}), Problem: dpglm.Problem{Loss: losses.Logistic{}}, Delta: 1e-6}
	for rows, fits := range map[int]bool{1: true, 1000: true, 1 << 20: false} {
		s.Table.MaxRows, s.Table.PersonsAlike = rows, rows > 1000
		r, err := s.rehearsal(context.Background(), 1)
		if fits != (err == nil) || !fits && (!errors.Is(err, dpglm.ErrShape) || !strings.Contains(err.Error(), "MaxRows")) {
			t.Errorf("%d rows: %v", rows, err)
		}
		if err != nil {
			continue
		}
		if values := float64(r.simulated*(r.scene.features+8)) * r.scene.rowsEach(); values > 1<<26 {
			t.Errorf("%d rows: %g values", rows, values)
		}
	}
}

// JSON has null for what isn't a number, and the table no column of these.
func TestPrinting(t *testing.T) {
	s := study()
	s.Rows = 500
	f := at(t, s, 0.5)
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Learner string
		At      []map[string]*float64
	}
	if err := json.Unmarshal(text, &back); err != nil || back.Learner != "Auto" || len(back.At) != 1 || back.At[0]["width_ratio"] != nil || *back.At[0]["excess_loss"] != f.At[0].Excess {
		t.Errorf("%s: %v", text, err)
	}
	if out := f.String(); !strings.Contains(out, "accuracy lost") || strings.Contains(out, "width") || strings.Contains(out, "NaN") || !strings.Contains(out, "made-up rows") {
		t.Error(out)
	}
	s.Rows = 1
	if f := at(t, s, 0.5); !math.IsNaN(f.At[0].Lost) || f.Plain < f.Constant || strings.Contains(f.String(), "gain lost") {
		t.Errorf("one row gains something: %v", f)
	}
	s.Rows, s.Learner = 500, dpglm.InferConfig{}
	if out := at(t, s, 0.5).String(); !strings.Contains(out, "width ratio") || !strings.Contains(out, " inf ") {
		t.Error(out)
	}
	if out := (*Forecast)(nil).String(); out != "empty forecast" {
		t.Error(out)
	}
}
