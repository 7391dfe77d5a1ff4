package page

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// guarantee is what the ledger promises, in words and as curves.
type guarantee struct {
	Epsilon, Delta string
	Factor         string // e^ε
	Guess          string // how often the best guess among two candidates is right
	Power          string // what the best test finds that is wrong one time in twenty
	Group          string // about groups of rows
	Person         string // about persons with several rows
	Profile, Test  *chart
}

const falseAlarms = 0.05

func newGuarantee(l *dpglm.Ledger, claim mechanisms.Claim, e *table.Encoder) (*guarantee, error) {
	epsilon, err := l.Epsilon(claim.Delta)
	if err != nil {
		return nil, err
	}
	if math.IsInf(epsilon, 1) {
		return nil, fmt.Errorf("the ledger promises nothing at δ = %g", claim.Delta)
	}
	variation, err := l.Delta(0)
	if err != nil {
		return nil, err
	}
	g := &guarantee{Epsilon: atMost(epsilon, 3), Delta: atMost(claim.Delta, 3), Guess: atMost(50+50*variation, 3) + space + "%"}
	if epsilon < 20 {
		g.Factor = atMost(math.Exp(epsilon), 3)
	}
	pair := "the budget"
	if claim.Group > 1 {
		pair = "one alone"
	}
	if g.Profile, err = profile(l, epsilon, claim.Delta, pair); err != nil {
		return nil, err
	}
	power, err := powerOf(l)
	if err != nil {
		return nil, err
	}
	g.Power, g.Test = atMost(100*power(falseAlarms), 2)+space+"%", testChart(power, one(l))
	if g.Group, err = groupOf(l, claim); err != nil {
		return nil, err
	}
	if e != nil {
		g.Person, err = personOf(l, claim, e.Schema())
	}
	return g, err
}

// groupOf says what the guarantee is for the groups of rows, or persons, that the budget was for.
func groupOf(l *dpglm.Ledger, claim mechanisms.Claim) (string, error) {
	if claim.Group < 2 {
		return "", nil
	}
	epsilon, err := l.GroupEpsilon(claim.Group, claim.Delta)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("The budget was for any %s %s together: for these, ε = %s at the same δ.", grouped(claim.Group), unitsOf(l), atMost(epsilon, 3)), nil
}

// personOf says what the guarantee is for a person with several rows: one for persons, or
// one for rows.
func personOf(l *dpglm.Ledger, claim mechanisms.Claim, s table.Schema) (string, error) {
	if s.Person == "" {
		return "", nil
	}
	if persons(l) {
		counts := "Each row counts alike, whosever it is."
		if claim.Alike {
			counts = "Each person counts alike, however many rows he or she has: what is estimated is a mean over persons, not over rows."
		}
		return fmt.Sprintf("The rows belong to persons (column “%s”), of whom at most %s rows count each: the guarantee is for all rows of one person, however many. Ids and the order of rows mean nothing. %s How many rows there are is private, and isn’t on this page.", s.Person, grouped(s.MaxRows), counts), nil
	}
	epsilon, err := l.GroupEpsilon(s.MaxRows, claim.Delta)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("The rows belong to persons (column “%s”) with up to %s rows each. The guarantee is for one row; for all rows of a person ", s.Person, grouped(s.MaxRows))
	if math.IsInf(epsilon, 1) {
		return text + "the ledger promises nothing at this δ.", nil
	}
	return text + fmt.Sprintf("it is ε = %s at the same δ.", atMost(epsilon, 3)), nil
}

// one is whom an attacker asks about.
func one(l *dpglm.Ledger) string {
	if persons(l) {
		return "a given person’s rows, however many, are"
	}
	if l.Unit().Of == mechanisms.Label {
		return "a given row’s label is"
	}
	return "a given row is"
}

const samples = 48 // of each curve

// profile draws δ against ε, as the ledger has it, and marks a pair by name.
func profile(l *dpglm.Ledger, epsilon, delta float64, pair string) (*chart, error) {
	floor := math.Pow(10, math.Floor(math.Log10(delta))-3)
	far, err := l.Epsilon(floor)
	if err != nil {
		return nil, err
	}
	far = math.Min(far, 2*epsilon)
	c := newChart("profile", [2]float64{0, far}, [2]float64{floor, 1}, true)
	c.Title = "δ against ε"
	c.Description = fmt.Sprintf("The guarantee holds for all pairs (ε, δ) on the curve, which falls from δ = %s at ε = 0 through the pair of %s, (%s, %s).",
		atZero(l), pair, atMost(epsilon, 3), atMost(delta, 3))
	c.XLabel, c.YLabel = "ε", "δ"
	for _, v := range niceSteps(0, far, 5) {
		c.XTicks = append(c.XTicks, tick{c.at(point{v, 1}).x, plain(tidy(v))})
	}
	last := int(math.Round(math.Log10(floor)))
	for k := 0; k >= last; k -= max(1, int(math.Ceil(float64(-last)/6))) {
		c.YTicks = append(c.YTicks, tick{c.at(point{0, math.Pow(10, float64(k))}).y, power10(k)})
	}
	var curve []point
	for k := range samples + 1 {
		at := far * float64(k) / samples
		d, err := l.Delta(at)
		if err != nil {
			return nil, err
		}
		curve = append(curve, point{at, math.Max(d, floor)})
	}
	c.line("curve", curve...)
	c.dot("point", point{epsilon, delta})
	c.note(point{epsilon, delta}, -9, 16, "end", pair)
	return c, nil
}

func atZero(l *dpglm.Ledger) string {
	d, err := l.Delta(0)
	if err != nil {
		return "1"
	}
	return atMost(d, 2)
}

func power10(k int) string {
	if k == 0 {
		return "1"
	}
	return "10" + raised(fmt.Sprint(k))
}

// powerOf bounds, for each rate of false alarms, how often a test between two neighbours
// finds the right one: by each pair of the curve, the error rates α and β of any test have
// e^ε·α + β ≥ 1 − δ and α + e^ε·β ≥ 1 − δ. Some pairs bound from above too.
func powerOf(l *dpglm.Ledger) (func(alarms float64) float64, error) {
	far, err := l.Epsilon(1e-3)
	if err != nil {
		return nil, err
	}
	far = math.Min(far, 20)
	var pairs []point
	for k := range samples + 1 {
		at := far * math.Pow(float64(k)/samples, 1.5)
		d, err := l.Delta(at)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, point{at, d})
	}
	return func(alarms float64) float64 {
		missed := 0.0
		for _, p := range pairs {
			missed = math.Max(missed, math.Max(1-p.y-math.Exp(p.x)*alarms, math.Exp(-p.x)*(1-p.y-alarms)))
		}
		return 1 - missed
	}, nil
}

// testChart draws what the best test finds against its false alarms.
func testChart(power func(float64) float64, one string) *chart {
	c := unitChart("test", "false alarms", "found, at most")
	c.Title = "What an attacker can tell"
	c.Description = fmt.Sprintf("For each rate of false alarms, the largest rate at which any test of whether %s among the data is right when so: %s at %s of false alarms. Blind guessing is the diagonal.",
		one, atMost(100*power(falseAlarms), 2)+space+"%", percent(falseAlarms, 0))
	var curve []point
	for k := range samples + 1 {
		a := math.Pow(float64(k)/samples, 1.5)
		curve = append(curve, point{a, power(a)})
	}
	c.line("curve", curve...)
	c.dot("point", point{falseAlarms, power(falseAlarms)})
	c.note(point{0.62, 0.62}, 6, 16, "start", "blind guessing")
	return c
}
