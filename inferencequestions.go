package dpglm

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// Combination is a linear combination of coefficients, given by name, with its interval: say
// the slope of a quadratic at some point. Its standard error allows for the noise in this very
// combination, and may be slightly longer or shorter than [Inference.Covariance] gives. It fails
// where no factor is given, one lies beyond ±1e60, or there is no coefficient of a name
// ([ErrConfig]).
func (f *Inference) Combination(name string, factors map[string]float64) (Coefficient, error) {
	estimate, along, err := f.combine(factors)
	if err != nil {
		return Coefficient{}, err
	}
	return f.about(Coefficient{Name: name}, estimate, along), nil
}

// combine is the estimate of a combination, and its coordinates.
func (f *Inference) combine(factors map[string]float64) (estimate float64, along []float64, err error) {
	if err := f.made(); err != nil {
		return 0, nil, err
	}
	if len(factors) == 0 {
		return 0, nil, check.Fail(ErrConfig, "factors", nil, "must name at least one coefficient")
	}
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		j, err := f.index(name)
		if err != nil {
			return 0, nil, err
		}
		factor := factors[name]
		if err := moderate(fmt.Sprintf("factor of %q", name), factor); err != nil {
			return 0, nil, err
		}
		estimate += factor * f.coefficients[j].Estimate
		if f.law == nil {
			continue
		}
		if along == nil {
			along = make([]float64, f.columns.RawMatrix().Cols)
		}
		for k, v := range f.columns.RawRowView(j) {
			along[k] += factor * v
		}
	}
	return estimate, along, nil
}

// moderate refuses numbers whose squares, in units up to the largest, may not be finite.
func moderate(param string, v float64) error {
	if !(math.Abs(v) <= check.MaxScale) {
		return check.Fail(ErrConfig, param, v, fmt.Sprintf("must lie between ±%g", check.MaxScale))
	}
	return nil
}

// Contrast is the difference between two levels of a group of one-hot columns. A level without
// a column, which rows that are 0 in the whole group have, is "" or, where a table's schema has
// one, the text of its reference; of a binary column that is any that means no. Differences are
// determined also where all levels have columns beside an intercept, and the levels' own
// coefficients are not. What [Inference.Combination] says of the standard error holds. It fails
// where there is no such group or level, and for twice the same level ([ErrConfig]).
func (f *Inference) Contrast(group, level, base string) (Coefficient, error) {
	if err := f.made(); err != nil {
		return Coefficient{}, err
	}
	if !slices.ContainsFunc(f.coefficients, func(c Coefficient) bool { return c.Group == group && group != "" }) {
		return Coefficient{}, check.Fail(ErrConfig, "group", fmt.Sprintf("%q", group), "must be a one-hot group of the schema")
	}
	of, err := f.column(group, level)
	if err != nil {
		return Coefficient{}, err
	}
	from, err := f.column(group, base)
	if err != nil {
		return Coefficient{}, err
	}
	if of.Name == from.Name {
		return Coefficient{}, check.Fail(ErrConfig, "level, base", fmt.Sprintf("%q, %q", level, base), "must differ")
	}
	factors := map[string]float64{of.Name: 1, from.Name: -1}
	delete(factors, "") // of what has no column
	c, err := f.Combination(fmt.Sprintf("%s: %s − %s", group, of.Level, from.Level), factors)
	c.Group = group
	return c, err
}

// column is a level's, without a name where it has none.
func (f *Inference) column(group, level string) (Coefficient, error) {
	for _, c := range f.coefficients {
		if c.Group == group && level != "" && (c.Level == level || c.Name == level) {
			return c, nil
		}
	}
	references := f.references(group)
	switch {
	case slices.Contains(references, level):
		return Coefficient{Level: level}, nil
	case level == "" && len(references) > 0:
		return Coefficient{Level: references[0]}, nil
	case level == "":
		return Coefficient{Level: "no level"}, nil
	}
	return Coefficient{}, check.Fail(ErrConfig, "level", fmt.Sprintf("%q", level), fmt.Sprintf("must be one of the group %q", group))
}

// references are the texts of a group's level without a column, by a table's schema.
func (f *Inference) references(group string) []string {
	e := f.model.Encoder()
	if e == nil {
		return nil
	}
	for _, c := range e.Schema().Columns {
		switch {
		case c.Name != group:
		case c.Kind == table.Binary:
			return c.Negative
		case c.Reference != "":
			return []string{c.Reference}
		case c.Kind == table.Categorical:
			return c.Levels[:1]
		}
	}
	return nil
}

// Restriction says that a linear combination of coefficients has a value.
type Restriction struct {
	Factors map[string]float64 `json:"factors"` // by the coefficients' names
	Value   float64            `json:"value"`   // of the combination
}

// AllZero are the restrictions that each of the named coefficients is 0.
func AllZero(names ...string) []Restriction {
	list := make([]Restriction, len(names))
	for j, name := range names {
		list[j] = Restriction{Factors: map[string]float64{name: 1}}
	}
	return list
}

// WaldTest is the result of a test that restrictions hold.
type WaldTest struct {
	// Statistic is (Rb − r)ᵀ(RVRᵀ)⁻¹(Rb − r), χ² with Freedom degrees where they hold and V is known. Over
	// Freedom it has the law of F with Freedom and Denominator degrees where noise makes V uncertain.
	Statistic float64 `json:"statistic"`
	Freedom   int     `json:"freedom"` // the number of restrictions
	// Denominator is the harmonic mean of the combinations' degrees of freedom.
	Denominator float64 `json:"denominator,omitempty"`
	P           float64 `json:"p"` // the probability of a statistic as large where they hold
	// Undetermined tells that the data don't determine some combination; Statistic is 0
	// then and P is 1.
	Undetermined bool `json:"undetermined"`
}

// leastP is the least p that is printed: below it a float has few digits, or none.
const leastP = 1e-300

// String prints the test as others do.
func (w WaldTest) String() string {
	if w.Undetermined {
		return fmt.Sprintf("Wald test: χ²(%d) undetermined", w.Freedom)
	}
	p := fmt.Sprintf("= %.4g", w.P)
	if w.P < leastP {
		p = fmt.Sprintf("< %g", leastP)
	}
	return fmt.Sprintf("Wald test: χ²(%d) = %.4g, p %s", w.Freedom, w.Statistic, p)
}

// Wald tests that all restrictions hold together. None may follow from the others. It fails
// without restrictions, where one breaks the rules of [Inference.Combination], has a value
// beyond ±1e60 or factors that are all 0, and where one follows from others.
func (f *Inference) Wald(restrictions ...Restriction) (WaldTest, error) {
	q := len(restrictions)
	if q == 0 {
		return WaldTest{}, check.Fail(ErrConfig, "restrictions", q, "must be at least one")
	}
	w := WaldTest{Freedom: q, P: 1}
	gap, about := make([]float64, q), make([]infer.Combination, q)
	for k, r := range restrictions {
		estimate, along, err := f.combine(r.Factors)
		if err != nil {
			return WaldTest{}, err
		}
		if err := moderate("Restriction.Value", r.Value); err != nil {
			return WaldTest{}, err
		}
		gap[k] = estimate - r.Value
		if f.law == nil || !f.law.Determines(along) {
			w.Undetermined = true
			continue
		}
		if about[k] = f.law.Combine(along); about[k].Covariance(about[k]) == 0 {
			return WaldTest{}, check.Fail(ErrConfig, "Restriction.Factors", r.Factors, "must hold one that is not 0, nor so small that the standard error is")
		}
	}
	if w.Undetermined {
		return w, nil
	}
	m := mat.NewSymDense(q, nil)
	for i := range about {
		for j := i; j < q; j++ {
			m.SetSym(i, j, about[i].Covariance(about[j]))
		}
	}
	var factor mat.Cholesky
	var solved mat.VecDense
	if !factor.Factorize(m) || factor.Cond() > 1e12 || factor.SolveVecTo(&solved, mat.NewVecDense(q, gap)) != nil {
		return WaldTest{}, check.Fail(ErrConfig, "restrictions", q, "must not follow from one another")
	}
	inverse := 0.0
	for _, a := range about {
		inverse += 1 / a.Freedom / float64(q)
	}
	w.Denominator = math.Min(1/inverse, 1e6)
	w.Statistic = mat.Dot(&solved, mat.NewVecDense(q, gap))
	w.P = mathext.RegIncBeta(w.Denominator/2, float64(q)/2, w.Denominator/(w.Denominator+math.Max(0, w.Statistic))) // F's tail, to its own digits
	return w, nil
}

// Ratio is what the exponential of a coefficient other than the intercept is called: "odds ratio" under the logit
// link, of levels too, that of being higher, and of several classes, that of one against the reference or the
// rest; "rate ratio" for counts, "hazard ratio" for those of episodes of a [table.Followup], and "ratio of means" for amounts. It is
// empty for other models.
func (m *Model) Ratio() string {
	if m == nil {
		return ""
	}
	switch r := m.response; {
	case r.joint(), r.thresholds != nil, r.link == losses.Logit:
		return "odds ratio"
	case ofHazards(m):
		return "hazard ratio"
	case r.link == losses.Log && r.labels == losses.Count:
		return "rate ratio"
	case r.link == losses.Log:
		return "ratio of means"
	}
	return ""
}

// ofHazards reports whether a model is of hazards, by a log link.
func ofHazards(m *Model) bool {
	e := encoderOf(m.facts)
	return e != nil && e.Schema().Hazards() && m.response.link == losses.Log
}

// Exp is the exponential of the estimate and of its interval: the [Model.Ratio] for one unit more. Where the
// coefficient isn't determined the interval is all that is positive.
func (c Coefficient) Exp() Interval {
	return Interval{math.Exp(c.Estimate), math.Exp(c.Low), math.Exp(c.High)}
}

// Per is the coefficient for a step of so many units: of ten years, where the column has years. A negative step
// turns the interval around. It fails for 0 and beyond ±1e60 ([ErrConfig]).
func (c Coefficient) Per(step float64) (Coefficient, error) {
	if err := moderate("step", step); err != nil {
		return Coefficient{}, err
	}
	if step == 0 {
		return Coefficient{}, check.Fail(ErrConfig, "step", step, "must not be 0")
	}
	return c.times(step), nil
}

// times is the coefficient for so many units, which aren't 0.
func (c Coefficient) times(step float64) Coefficient {
	c.Estimate, c.Z, c.Step = step*c.Estimate, math.Copysign(1, step)*c.Z, 0
	c.StandardError, c.Low, c.High = math.Abs(step)*c.StandardError, step*c.Low, step*c.High
	if step < 0 {
		c.Low, c.High = c.High, c.Low
	}
	return c
}

// PerStep is the coefficient, or the marginal effect, for the step that a table's schema states of its column, and
// named so: "age (per 10)". Ok is false where it states none.
func (c Coefficient) PerStep() (per Coefficient, ok bool) {
	if c.Step == 0 {
		return Coefficient{}, false
	}
	per = c.times(c.Step)
	per.Name = table.Feature{Name: c.Name, Step: c.Step}.StepName()
	return per, true
}

// MarginalEffects are the average marginal effects of the columns, in their order: by how much the mean of the
// label rises with one unit more, on average over the rows. Under the squared loss these are the coefficients, under
// a log link coefficients times the labels' mean, and of two classes coefficients times the mean density that the
// class's probability has at a row's score, of which [Infer] releases a histogram. They are derivatives: of a one-hot
// column that is close to the difference which the level makes where it is small. Columns of a table that stand in a square, a logarithm,
// a spline or a product are left out, with all their coefficients: no one of these says by how much the mean rises with a unit more of theirs.
//
// Standard errors are by the delta method, in which rows' features are taken to be spread evenly around what
// their scores tell. A Mark is the coefficient's. It fails for levels, which have no mean, for episodes of a [table.Followup], of which the mean
// would be one over persons, whose numbers of rows there depend on the outcome, and for what [Infer] hasn't made.
func (f *Inference) MarginalEffects() ([]Coefficient, error) {
	if err := f.made(); err != nil {
		return nil, err
	}
	if f.model.response.thresholds != nil {
		return nil, check.Fail(ErrConfig, "loss", f.model.response.loss, "has levels, which have no mean")
	}
	if ofHazards(f.model) {
		return nil, check.Fail(ErrConfig, "model", f.model.Label(), "is of hazards, which have ratios and no average marginal effects: persons have as many rows as they were at risk")
	}
	derived, list := derivedColumns(f.model.facts), make([]Coefficient, 0, f.model.columns)
	for j, feature := range features(f.model.facts, f.model.columns) {
		if !slices.ContainsFunc(feature.Columns, func(name string) bool { return slices.Contains(derived, name) }) {
			list = append(list, settled(f.marginalEffect(j), f.confidence))
		}
	}
	return list, nil
}

// marginalEffect is that of a column, without its interval.
func (f *Inference) marginalEffect(j int) Coefficient {
	c := f.coefficients[j]
	effect := Coefficient{Name: c.Name, Group: c.Group, Level: c.Level, Step: c.Step, StandardError: math.Inf(1)}
	if f.law == nil {
		return effect
	}
	by := f.law.Steepness
	effect.Estimate = math.Max(0, by.Mean) * c.Estimate
	if c.Undetermined() {
		return effect
	}
	changes := slices.Clone(f.columns.RawRowView(j))
	floats.AddScaled(changes, c.Estimate/by.Mean, by.By)
	about := f.law.CombineSeen(changes)
	se := by.Mean * math.Hypot(math.Sqrt(math.Max(0, about.Covariance(about))), c.Estimate*(by.Noise/by.Mean))
	if about.Freedom >= 1 && se >= 0 && se < math.Inf(1) { // numbers of a hundred digits may have neither
		effect.StandardError, effect.Freedom, effect.Mark = se, about.Freedom, c.Mark
	}
	return effect
}

// derivedColumns are the columns of a table's schema whose effect isn't one coefficient per unit.
func derivedColumns(facts Facts) (names []string) {
	e := encoderOf(facts)
	if e == nil {
		return nil
	}
	schema := e.Schema()
	for _, c := range schema.Columns {
		if c.Log || c.Square || len(c.Knots) > 0 {
			names = append(names, c.Name)
		}
	}
	for _, pair := range schema.Interactions {
		names = append(names, pair...)
	}
	return names
}

// settled fills in the interval and the test that an estimate, its standard error and degrees of freedom have.
func settled(c Coefficient, confidence float64) Coefficient {
	law := distuv.StudentsT{Sigma: 1, Nu: math.Max(1, c.Freedom)}
	half := law.Quantile((1+confidence)/2) * c.StandardError
	if c.Low, c.High = c.Estimate-half, c.Estimate+half; c.Estimate != 0 && !c.Undetermined() { // an error may underflow to 0
		c.Z = c.Estimate / c.StandardError
	}
	c.P = 2 * law.CDF(-math.Abs(c.Z))
	return c
}

// Thresholds are those of losses.Ordinal where they were estimated, named by the levels on their sides, as
// "low|mid": the log-odds, where all raw columns are 0, of a level at most as high as the first of these. They are
// the thresholds less the intercept, as others print them, and aren't determined where that isn't. There are none
// for other models, and where thresholds were given.
func (f *Inference) Thresholds() []Coefficient {
	if f.made() != nil || f.law == nil || f.law.Thresholds == nil {
		return nil
	}
	intercept := Coefficient{Freedom: f.law.Freest()}
	if at := slices.IndexFunc(f.coefficients, func(c Coefficient) bool { return c.Name == InterceptName }); at >= 0 {
		intercept = f.coefficients[at]
	}
	levels := f.model.Levels()
	list := make([]Coefficient, len(f.model.response.thresholds))
	for k, threshold := range f.model.response.thresholds {
		list[k] = settled(Coefficient{
			Name: levels[k] + "|" + levels[k+1], Estimate: threshold - intercept.Estimate, Freedom: intercept.Freedom, Mark: intercept.Mark,
			StandardError: math.Sqrt(math.Max(0, intercept.StandardError*intercept.StandardError+f.law.Thresholds.At(k, k))),
		}, f.confidence)
	}
	return list
}

// Means are [Model.Means] with intervals: of the mean label of all rows like one, which says nothing of how far
// a single label lies from it ([Evaluation.PredictionInterval] does). With offsets, one for each row or nil, they are
// those of [Model.MeansAt]. Ends are those of a score's interval, which are infinite where the data don't determine
// it, as means: 0 and 1 then, of a probability. Where all of an interval lies beyond the range of labels, to which means are
// held, the model is wrong there, and it is the whole range. It fails as these do, and for levels.
func (f *Inference) Means(x mat.Matrix, offsets []float64) ([]Interval, error) {
	if err := f.made(); err != nil {
		return nil, err
	}
	m := f.model
	if m.response.thresholds != nil {
		return nil, check.Fail(ErrConfig, "loss", m.response.loss, "has levels, which have no mean")
	}
	scores, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	z := scores.RawMatrix().Data
	if offsets != nil && len(offsets) != len(z) {
		return nil, check.Fail(ErrShape, "len(offsets)", len(offsets), fmt.Sprintf("must equal the %d rows of x", len(z)))
	}
	half, err := scoreErrors(f, x, len(z))
	if err != nil {
		return nil, err
	}
	list := make([]Interval, len(z))
	for i, s := range z {
		if offsets != nil {
			s += offsets[i]
		}
		mean := func(s float64) float64 { return heldMean(m, s, offsets != nil) }
		list[i] = Interval{mean(s), mean(s - half[i]), mean(s + half[i])}
		low, high := mean(math.Inf(-1)), mean(math.Inf(1))
		if m.response.labels != losses.Binary && !math.IsInf(high, 1) && (list[i].Low == high || m.response.labels == losses.Real && list[i].High == low) {
			list[i].Low, list[i].High = low, high
		}
	}
	return list, nil
}

// scoreErrors are half the widths of scores' intervals. A score by the weights that a coordinate of the law has is how
// far along it a row lies. Beside an intercept it must rest on what is determined.
func scoreErrors(f *Inference, x mat.Matrix, rows int) ([]float64, error) {
	half := make([]float64, rows)
	if f.law == nil {
		for i := range half {
			half[i] = math.Inf(1)
		}
		return half, nil
	}
	x, enc, err := queries(x, f.model.facts, f.model.columns)
	if err != nil {
		return nil, err
	}
	_, dim := f.law.Weights.Dims()
	along := mat.NewDense(rows, dim, nil)
	for k := range dim {
		by, err := curator.Scores(x, enc, mat.Col(nil, k, f.law.Weights))
		if err != nil {
			return nil, err
		}
		along.SetCol(k, by)
	}
	intercept := f.coefficients[len(f.coefficients)-1].Name == InterceptName
	for i := range half {
		if half[i] = math.Inf(1); intercept && !f.law.DeterminesScore(along.RawRowView(i)) {
			continue
		}
		se, freedom := f.law.StandardError(along.RawRowView(i))
		half[i] = distuv.StudentsT{Sigma: 1, Nu: math.Max(1, freedom)}.Quantile((1+f.confidence)/2) * se
	}
	return half, nil
}
