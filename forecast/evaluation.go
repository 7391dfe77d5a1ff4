package forecast

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Evaluation is what [dpglm.Evaluate] told of fits of made-up rows, on others: medians over
// the repetitions. Widths are what it is for; values are those of made-up rows.
type Evaluation struct {
	// Rows is how many rows, or persons, are held out, and Confidence that of the intervals.
	Rows       int     `json:"rows"`
	Confidence float64 `json:"confidence"`
	Epsilon    float64 `json:"epsilon"`
	// Withheld are the sentences of [dpglm.Evaluation.Withheld] on what most of the fits' evaluations lack: an evaluation will say the same.
	Withheld []string `json:"withheld,omitempty"`
	// Figures are those that the labels have, in the order and by the names with which an evaluation prints them.
	Figures []EvaluationFigure `json:"figures"`
}

// EvaluationFigure is one of the figures, with a Value and a Width of +Inf where half of them
// are withheld.
type EvaluationFigure struct {
	Name  string
	Unit  string // as of a [dpglm.Figure]
	Value float64
	// Width is how far the ends of the interval are apart, and Plain how far they would be
	// without privacy.
	Width, Plain float64
}

// plainMu is that of an evaluation whose noise doesn't count.
const plainMu = 1e4

// Evaluation forecasts how wide the intervals of [dpglm.Evaluate] are on so many rows that are
// held out, beside the Rows that are trained on, where the fit and the evaluation each have ε.
// progress, if it isn't nil, is called after each fit. Levels of losses.Ordinal have no
// evaluation. It fails for those, for fewer than one row held out, and as [Scenario.At] does.
//
// Where more are held out than are made up at most, intervals are those of the fewer rows
// with as much noise beside the counts, less what these have more of chance.
func (s Scenario) Evaluation(ctx context.Context, epsilon float64, held int, progress func(done, total int)) (*Evaluation, error) {
	if held < 1 {
		return nil, check.Fail(dpglm.ErrShape, "held", held, "must be at least 1")
	}
	r, err := s.rehearsal(ctx, epsilon)
	if err != nil {
		return nil, err
	}
	if l, ok := s.Problem.Loss.(losses.Ordinal); ok {
		return nil, check.Fail(dpglm.ErrConfig, "Problem.Loss", l.Name(), "must be a loss of one label, to be evaluated")
	}
	budget, err := r.scaled(epsilon)
	if err != nil {
		return nil, err
	}
	r.fits.progress, r.fits.total = progress, 2*r.scenario.Repeats
	others := *r // the rows held out
	others.scenario.Rows, others.simulated = held, min(held, r.scene.mostRows())
	if err := others.scene.inMemory(others.simulated); err != nil {
		return nil, err
	}
	var evaluated [][2]*dpglm.Evaluation
	for k := range r.scenario.Repeats {
		p, err := r.repeat(ctx, k)
		if err != nil {
			return nil, err
		}
		model, _, err := r.fit(ctx, p, r.scenario.Learner, budget)
		if err != nil {
			return nil, err
		}
		both, err := others.evaluate(ctx, p, model, epsilon)
		if err != nil {
			return nil, err
		}
		evaluated = append(evaluated, both)
	}
	return others.evaluation(epsilon, evaluated), nil
}

// evaluate evaluates a model on rows that are made up, with a budget and without noise.
func (r *rehearsal) evaluate(ctx context.Context, p *repetition, m *dpglm.Model, epsilon float64) (both [2]*dpglm.Evaluation, err error) {
	random := rand.New(mechanisms.NewSeededSource(p.seed + 1))
	details := r.scene.details(random, r.simulated)
	x, err := r.scene.draw(random, details.rows)
	if err != nil {
		return both, err
	}
	held, err := dpglm.NewDataset(x, p.trial.truth.labels(random, x, details.offsets), r.scene.facts, r.scene.given(details, r.simulated)...)
	if err != nil {
		return both, err
	}
	budget, err := r.scaled(epsilon)
	if err != nil {
		return both, err
	}
	for k, b := range []dpglm.Budget{budget, dpglm.GDP(plainMu)} {
		env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(p.seed)}
		if both[k], err = dpglm.Evaluate(ctx, held, m, b, dpglm.EvaluateConfig{}, env); err != nil {
			return both, err
		}
	}
	return both, nil
}

// evaluation is what was found, for all rows that are held out.
func (r *rehearsal) evaluation(epsilon float64, evaluated [][2]*dpglm.Evaluation) *Evaluation {
	first := evaluated[0]
	e := &Evaluation{Rows: r.scenario.Rows, Confidence: first[0].Confidence, Epsilon: epsilon}
	made := float64(r.simulated) / float64(r.scenario.Rows)
	// What most evaluations tell, of rows of the same kind.
	most := &dpglm.Evaluation{ROC: first[0].ROC, Calibration: first[0].Calibration}
	for _, name := range figuresOf(evaluated) {
		var f [3][]float64 // values, squared widths and those without noise
		of := EvaluationFigure{Name: name}
		for _, both := range evaluated {
			plain, known := both[1].Figure(name)
			if !known {
				continue
			}
			of.Unit = plain.Unit
			value, width, chance := math.Inf(1), math.Inf(1), math.Pow(plain.High-plain.Low, 2)
			if noisy, known := both[0].Figure(name); known && !noisy.Vacuous() {
				value, width = noisy.Value, math.Pow(noisy.High-noisy.Low, 2)
			}
			f[0], f[1], f[2] = append(f[0], value), append(f[1], math.Max(0, width-(1-made)*chance)), append(f[2], made*chance)
		}
		of.Value, of.Width, of.Plain = median(f[0]), math.Sqrt(median(f[1])), math.Sqrt(median(f[2]))
		if e.Figures = append(e.Figures, of); !math.IsInf(of.Width, 1) {
			most.Figures = append(most.Figures, dpglm.Figure{Name: name, Interval: dpglm.Interval{Value: of.Value, Low: of.Value, High: of.Value}})
		}
	}
	bands := 0
	for _, both := range evaluated {
		if both[0].Band != nil {
			bands++
		}
	}
	if 2*bands > len(evaluated) {
		most.Band = new(dpglm.Interval)
	}
	e.Withheld = most.Withheld()
	return e
}

// figuresOf are the names of figures of all rows, in the order of an evaluation, of which there is one without privacy.
func figuresOf(evaluated [][2]*dpglm.Evaluation) (names []string) {
	for _, both := range evaluated {
		for _, f := range both[1].Figures {
			if f.Class == "" && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// String prints a line for each figure.
func (e *Evaluation) String() string {
	if e == nil {
		return "empty forecast"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "forecast, by made-up rows, of %.4g %% intervals on n = %d held out, ε = %.4g\n", 100*e.Confidence, e.Rows, e.Epsilon)
	const width = 22 // that of an evaluation's names
	fmt.Fprintf(&b, "%-*s %12s %12s %18s\n", width, "", "about", "width", "without privacy")
	for _, f := range e.Figures {
		if math.IsInf(f.Width, 1) {
			fmt.Fprintf(&b, "%-*s %12s %12s %18.2g\n", width, f.Name, "–", "withheld", f.Plain)
			continue
		}
		fmt.Fprintf(&b, "%-*s %12.3g %12.2g %18.2g\n", width, f.Name, f.Value, f.Width, f.Plain)
	}
	for _, sentence := range e.Withheld {
		b.WriteString(sentence + "\n")
	}
	b.WriteString("Real rows are others: expect other values, and widths from half of these to twice as much, or more where errors have long tails.\n")
	return b.String()
}

// MarshalJSON writes null for what isn't a finite number.
func (f EvaluationFigure) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name  string `json:"name"`
		Unit  string `json:"unit,omitempty"`
		Value number `json:"value"`
		Width number `json:"width"`
		Plain number `json:"width_without_privacy"`
	}{f.Name, f.Unit, number(f.Value), number(f.Width), number(f.Plain)})
}
