package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// effects are the coefficients, drawn per step of their columns and listed per unit.
type effects struct {
	Level        string        // of the intervals; empty where there are none
	Note         string        // that nothing is determined
	Scale        string        // what a coefficient is added to
	Ratio        string        // what its exponential is; empty where it isn't shown
	Marginal     []coefficient // average marginal effects that aren't the coefficients
	LeftOut      string        // which columns have none
	Over         string        // of what they are averages
	Baseline     *baseline     // of hazards
	Rows         []effect
	Coefficients []coefficient
	Undetermined int    // how many coefficients
	Constant     bool   // whether the model predicts the same for all
	Left         string // how many aren't shown
	Zero         float64
	Ticks        []tick
}

// effect is a line of the forest plot: a heading, a reference level, or what is estimated
// for a step or a level. Positions are in percent of the plot's width.
type effect struct {
	Heading, Reference, Inside bool
	Name, Unit                 string
	Together                   string // a test of all levels, for a heading
	Undetermined, Point        bool   // no interval is known, or none was asked for
	Value, Interval            string
	Ratio, Ratios              string // the exponential, and its interval
	At, From, To               float64
	CutLow, CutHigh            bool // the interval goes on

	value, low, high float64
}

// coefficient is a line of the table, in the columns' own units.
type coefficient struct {
	Name, Value, Error, Z, P, Interval string
	Ratio, Ratios                      string // the exponential, and its interval
	Mark                               string // why the interval is doubtful
	Undetermined                       bool
	Step                               bool // not per unit: for the step that the schema states
}

// Count is how many coefficients there are, each of which has a line per unit.
func (v *effects) Count() (n int) {
	for _, c := range v.Coefficients {
		if !c.Step {
			n++
		}
	}
	return n
}

// marginal has the average marginal effects of the coefficients that are shown, where they aren't the coefficients themselves.
func (v *effects) marginal(m *dpglm.Model, found *dpglm.Inference, list []table.Coefficient, shown []int) {
	effects, err := found.MarginalEffects()
	if err != nil || found.Note() != "" || m.Link() == losses.Identity {
		return
	}
	v.Over, v.LeftOut = "rows", LeftOut(found, effects)
	if claim, _ := m.Ledger().Claim(); claim.PersonRows > 1 {
		v.Over = "persons, each of whom counts alike"
	}
	of := map[string]dpglm.Coefficient{}
	for _, effect := range effects {
		of[effect.Name] = effect
	}
	for _, at := range shown {
		if effect, ok := of[list[at].Name]; ok {
			v.Marginal = append(v.Marginal, lines(table.Coefficient{Feature: list[at].Feature, Value: effect.Estimate}, effect, true, false)...)
		}
	}
}

// Steps reports whether marginal effects are for steps of columns, too.
func (v *effects) Steps() bool {
	return slices.ContainsFunc(v.Marginal, func(c coefficient) bool { return c.Step })
}

// LeftOut says which columns are left out of the average marginal effects of an inference; it is empty where none is.
func LeftOut(found *dpglm.Inference, effects []dpglm.Coefficient) string {
	e := found.Model().Encoder()
	if e == nil {
		return ""
	}
	var names []string
	for _, f := range e.Features() {
		if slices.ContainsFunc(effects, func(c dpglm.Coefficient) bool { return c.Name == f.Name }) {
			continue
		}
		for _, name := range f.Columns {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("effects of %s are left out: they stand in squares, logarithms, splines or products", strings.Join(names, ", "))
}

// mostEffects is how many a page shows; beyond, it shows the largest.
const mostEffects = 200

func newEffects(m *dpglm.Model, found *dpglm.Inference) (*effects, error) {
	list, err := m.Coefficients()
	if err != nil {
		return nil, err
	}
	v := &effects{Note: found.Note(), Scale: scaleOf(m), Constant: Constant(m)}
	known := make([]dpglm.Coefficient, len(list))
	if found != nil {
		v.Level, known = level(found.Confidence()), found.Coefficients()
	}
	if len(known) != len(list) {
		return nil, fmt.Errorf("the inference has %d coefficients and the model %d", len(known), len(list))
	}
	v.Ratio = m.Ratio()
	shown := largest(list)
	if left := len(list) - 1 - len(shown); left > 0 {
		v.Left = leftOut(len(shown), len(list)-1)
	}
	p := newParts(m.Encoder())
	for _, at := range shown {
		v.Rows = append(v.Rows, p.headings(list, at, found)...)
		v.Rows = append(v.Rows, p.effect(list[at], known[at], found != nil, v.Ratio != ""))
	}
	for _, at := range append(shown, len(list)-1) {
		v.Coefficients = append(v.Coefficients, lines(list[at], known[at], found != nil, v.Ratio != "" && at < len(list)-1)...)
		if found != nil && known[at].Undetermined() {
			v.Undetermined++
		}
	}
	for _, c := range found.Thresholds() {
		v.Coefficients = append(v.Coefficients, line(table.Coefficient{Feature: table.Feature{Name: c.Name}, Value: c.Estimate}, c, true, false))
		if c.Undetermined() {
			v.Undetermined++
		}
	}
	v.marginal(m, found, list, shown)
	v.place()
	if !v.Constant && v.Note == "" {
		v.Baseline = newBaseline(m, found)
	}
	return v, nil
}

// Constant reports whether a model predicts the same for all. The last weight of a score is its
// intercept.
func Constant(m *dpglm.Model) bool {
	return !slices.ContainsFunc(m.Weights(), func(weights []float64) bool {
		return slices.ContainsFunc(weights[:len(weights)-1], func(v float64) bool { return v != 0 })
	})
}

// leftOut says that not all coefficients are shown.
func leftOut(shown, all int) string {
	return fmt.Sprintf("The page shows the %s largest of %s coefficients; the model’s file has all.", grouped(shown), grouped(all))
}

// ofHazards reports whether a model is of hazards.
func ofHazards(m *dpglm.Model) bool {
	e := m.Encoder()
	return e != nil && e.Schema().Hazards() && m.Link() == losses.Log
}

// scaleOf says what coefficients are changes of.
func scaleOf(m *dpglm.Model) string {
	switch {
	case m.Levels() != nil:
		return "change in the log-odds of a higher level of “" + m.Label() + "”"
	case m.Link() == losses.Logit:
		return "change in the log-odds of “" + m.Label() + "”"
	case m.Link() == losses.ProbitLink:
		return "change in the normal quantile of the probability of “" + m.Label() + "”"
	case ofHazards(m):
		return "change in the logarithm of the hazard of “" + m.Label() + "”"
	case m.Link() == losses.Log:
		return "change in the logarithm of the mean of “" + m.Label() + "”"
	case m.Loss() == "squared":
		return "change in “" + m.Label() + "”, in its own units"
	}
	return "change in the score for “" + m.Label() + "”"
}

// largest returns the places of the features that are shown, in order.
func largest(list []table.Coefficient) []int {
	places := make([]int, len(list)-1)
	for i := range places {
		places[i] = i
	}
	if len(places) > mostEffects {
		slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(math.Abs(list[b].Value), math.Abs(list[a].Value)) })
		places = places[:mostEffects]
		slices.Sort(places)
	}
	return places
}

// ratio writes the exponential of an estimate, and of its interval.
func ratio(value, low, high float64, inferred bool) (text, interval string) {
	if !inferred {
		return significant(math.Exp(value), 3), ""
	}
	return estimate(math.Exp(value), math.Exp(low), math.Exp(high))
}

func (p *parts) effect(c table.Coefficient, known dpglm.Coefficient, inferred, exponential bool) effect {
	name, unit, step := p.describe(c.Feature)
	e := effect{Name: name, Unit: unit, Inside: p.grouped(c.Feature), value: step * c.Value}
	switch {
	case !inferred:
		e.Point, e.low, e.high = true, e.value, e.value
		e.Value = significant(e.value, 3)
	case known.Undetermined():
		e.Undetermined = true
	default:
		e.low, e.high = step*known.Low, step*known.High
		e.Value, e.Interval = estimate(e.value, e.low, e.high)
	}
	if exponential && !e.Undetermined {
		e.Ratio, e.Ratios = ratio(e.value, e.low, e.high, inferred)
	}
	return e
}

// lines are that of a coefficient and, where the schema states a step, that for it.
func lines(c table.Coefficient, known dpglm.Coefficient, inferred, exponential bool) []coefficient {
	list := []coefficient{line(c, known, inferred, exponential)}
	if per, ok := c.PerStep(); ok {
		known, _ = known.PerStep()
		list = append(list, line(per, known, inferred, exponential))
		list[1].Step = true
	}
	return list
}

func line(c table.Coefficient, known dpglm.Coefficient, inferred, exponential bool) coefficient {
	l := coefficient{Name: c.Name, Value: significant(c.Value, 4)}
	switch {
	case !inferred:
	case known.Undetermined():
		l.Undetermined = true
	default:
		l.Value, l.Interval = estimate(c.Value, known.Low, known.High)
		l.Mark = known.Mark
		l.Error, l.Z, l.P = significant(known.StandardError, 2), fixed(known.Z, 1), pValue(known.P)
	}
	if exponential && !l.Undetermined {
		l.Ratio, l.Ratios = ratio(c.Value, known.Low, known.High, inferred)
	}
	return l
}

func pValue(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fixed(p, 3)
}

// place lays out the axis: it holds zero and all estimates, and intervals as far as most
// reach.
func (v *effects) place() {
	var size float64
	var halves []float64
	for _, e := range v.Rows {
		if e.drawn() {
			size, halves = math.Max(size, math.Abs(e.value)), append(halves, (e.high-e.low)/2)
		}
	}
	if v.Zero = 50; size == 0 {
		return
	}
	slices.Sort(halves)
	widest := math.Max(1.25*size, 4*halves[len(halves)/2])
	low, high := 0.0, 0.0
	for _, e := range v.Rows {
		if e.drawn() {
			low, high = math.Min(low, math.Max(e.low, -widest)), math.Max(high, math.Min(e.high, widest))
		}
	}
	margin := 0.04 * (high - low)
	low, high = low-margin, high+margin
	at := func(x float64) float64 { return tenth(100 * within((x-low)/(high-low))) }
	v.Zero = at(0)
	for _, x := range niceSteps(low, high, 7) {
		v.Ticks = append(v.Ticks, tick{at(x), plain(tidy(x))})
	}
	for i := range v.Rows {
		e := &v.Rows[i]
		e.At, e.From, e.To = at(e.value), at(e.low), at(e.high)
		e.CutLow, e.CutHigh = e.drawn() && e.low < low, e.drawn() && e.high > high
	}
}

func (e *effect) drawn() bool { return !e.Heading && !e.Undetermined }
