package forecast

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Forecast is what fits of made-up rows were worth: medians over the repetitions. It is
// public, as nothing private went into it.
type Forecast struct {
	// Loss is the loss's name, and Learner what was fitted.
	Loss, Learner string
	// Rows is n, or the number of persons, and Simulated how many were made up each time.
	Rows, Simulated int
	// Features is the number of the encoded rows' columns, without the intercept.
	Features int
	// LabelMean is that of the made-up labels, Delta, Group and Repeats as in the Scenario,
	// with their defaults.
	LabelMean, Delta float64
	Group, Repeats   int
	// Plain and Constant are the mean losses of the fit without privacy and of the best
	// constant model: log-loss where the loss is logistic. PlainAccuracy and
	// ConstantAccuracy are NaN but for classes.
	Plain, Constant                 float64
	PlainAccuracy, ConstantAccuracy float64
	// At are the forecasts, in ascending order of ε.
	At []Expectation
	// Caution says, of an ε that was looked for, that it is no strong promise, or the least that
	// is looked at. It is empty otherwise.
	Caution string
}

// Expectation is the forecast for one ε.
type Expectation struct {
	Epsilon float64
	// Excess is the mean loss less that of the fit without privacy, on rows that neither
	// was trained on.
	Excess float64
	// Lost is the excess over what features gain without privacy, compared with the best
	// constant model: 0 for nothing, 1 for all of it, and more where the constant is better. It is
	// NaN where they mostly gain nothing, as too few rows do. It is for a signal of the usual
	// strength.
	Lost float64
	// LostRange has the least and the most that Lost is with signals from a fifth to twice as strong.
	// It is NaN where Lost is or it wasn't looked for: EpsilonFor does so at the ε that it returns.
	LostRange [2]float64
	// AccuracyLost is the accuracy without privacy less the private one; NaN but for classes.
	AccuracyLost float64
	// Width is the median ratio, over coefficients, of an interval's width to that without
	// privacy; +Inf where half of them have no interval, NaN unless the learner infers.
	Width float64
	// Determined is the fraction of the coefficients that have an interval, of those that
	// have one without privacy; NaN unless the learner infers.
	Determined float64
}

// figure is a column of the table that String prints.
type figure struct {
	title, form string
	infinite    string // what stands for it: of a share that nothing was gained to have one of
	of          func(e Expectation) float64
}

var figures = []figure{
	{"excess loss", "%.2g", "inf", func(e Expectation) float64 { return e.Excess }},
	{"gain lost, from", "%.1f %%", "–", func(e Expectation) float64 { return 100 * e.LostRange[0] }},
	{"to", "%.1f %%", "–", func(e Expectation) float64 { return 100 * e.LostRange[1] }},
	{"accuracy lost", "%.2f points", "inf", func(e Expectation) float64 { return 100 * e.AccuracyLost }},
	{"width ratio", "%.2f", "inf", func(e Expectation) float64 { return e.Width }},
	{"determined", "%.0f %%", "inf", func(e Expectation) float64 { return 100 * e.Determined }},
}

// write is a value in the figure's form.
func (g figure) write(e Expectation) string {
	v := g.of(e)
	switch {
	case math.IsInf(v, 0):
		return g.infinite
	case math.IsNaN(v):
		return "–"
	}
	text := fmt.Sprintf(g.form, v)
	if zero := fmt.Sprintf(g.form, 0.0); text == "-"+zero {
		return zero
	}
	return text
}

// String prints what the forecast is for, and a table with a line for each ε.
func (f *Forecast) String() string {
	if f == nil {
		return "empty forecast"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "forecast, by made-up rows, of %s with %s loss: n = %d, %d features\n", f.Learner, f.Loss, f.Rows, f.Features)
	fmt.Fprintf(&b, "without privacy: mean loss %.5g, a constant has %.5g", f.Plain, f.Constant)
	if !math.IsNaN(f.PlainAccuracy) {
		fmt.Fprintf(&b, "; accuracy %.1f %%, a constant has %.1f %%", 100*f.PlainAccuracy, 100*f.ConstantAccuracy)
	}
	shown := slices.DeleteFunc(slices.Clone(figures), func(g figure) bool {
		return !slices.ContainsFunc(f.At, func(e Expectation) bool { return !math.IsNaN(g.of(e)) })
	})
	lines := []string{"ε"}
	for _, g := range shown {
		lines[0] += "\t" + g.title
	}
	for _, e := range f.At {
		line := fmt.Sprintf("%.4g", e.Epsilon)
		for _, g := range shown {
			line += "\t" + g.write(e)
		}
		lines = append(lines, line)
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Join(lines, "\t\n")+"\t")
	t.Flush()
	if slices.ContainsFunc(f.At, func(e Expectation) bool { return !math.IsNaN(e.LostRange[0]) }) {
		b.WriteString("Gain lost is the share of what features gain over a constant model, for signals from a fifth to twice as strong as the usual")
		if slices.ContainsFunc(f.At, func(e Expectation) bool { return math.IsInf(e.LostRange[1], 0) }) {
			b.WriteString("; – where the weakest gain nothing that could be lost")
		}
		b.WriteString(".\n")
	}
	b.WriteString("Real rows are others: expect an excess from a third of this to three times as much.\n")
	if f.Caution != "" {
		b.WriteString(f.Caution + "\n")
	}
	return b.String()
}

// number is a float64 that JSON writes as null where it isn't a finite one.
type number float64

// MarshalJSON writes null for NaN and infinities.
func (v number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// MarshalJSON writes null for what isn't a finite number.
func (e Expectation) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Epsilon      number `json:"epsilon"`
		Excess       number `json:"excess_loss"`
		Lost         number `json:"gain_lost"`
		LostLow      number `json:"gain_lost_low"`
		LostHigh     number `json:"gain_lost_high"`
		AccuracyLost number `json:"accuracy_lost"`
		Width        number `json:"width_ratio"`
		Determined   number `json:"determined"`
	}{number(e.Epsilon), number(e.Excess), number(e.Lost), number(e.LostRange[0]), number(e.LostRange[1]), number(e.AccuracyLost), number(e.Width), number(e.Determined)})
}

// MarshalJSON writes null for what isn't a finite number.
func (f *Forecast) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Loss             string        `json:"loss"`
		Learner          string        `json:"learner"`
		Rows             int           `json:"rows"`
		Simulated        int           `json:"simulated_rows"`
		Features         int           `json:"features"`
		LabelMean        number        `json:"label_mean"`
		Delta            float64       `json:"delta"`
		Group            int           `json:"group"`
		Repeats          int           `json:"repeats"`
		Plain            number        `json:"loss_without_privacy"`
		Constant         number        `json:"loss_of_constant"`
		PlainAccuracy    number        `json:"accuracy_without_privacy"`
		ConstantAccuracy number        `json:"accuracy_of_constant"`
		At               []Expectation `json:"at"`
		Caution          string        `json:"caution,omitempty"`
	}{f.Loss, f.Learner, f.Rows, f.Simulated, f.Features, number(f.LabelMean), f.Delta, f.Group, f.Repeats,
		number(f.Plain), number(f.Constant), number(f.PlainAccuracy), number(f.ConstantAccuracy), f.At, f.Caution})
}
