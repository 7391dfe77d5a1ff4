package dpglm

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
)

// Ratio is what the exponential of a coefficient other than the intercept is called: "odds ratio" under the logit
// link, of levels too, that of being higher, and of several classes, that of one against the reference or the
// rest; "rate ratio" for counts and "ratio of means" for amounts. It is empty for other models.
func (m *Model) Ratio() string {
	if m == nil {
		return ""
	}
	switch r := m.response; {
	case r.joint(), r.thresholds != nil, r.link == losses.Logit:
		return "odds ratio"
	case r.link == losses.Log && r.labels == losses.Count:
		return "rate ratio"
	case r.link == losses.Log:
		return "ratio of means"
	}
	return ""
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
	c.Estimate, c.Z = step*c.Estimate, math.Copysign(1, step)*c.Z
	c.StandardError, c.Low, c.High = math.Abs(step)*c.StandardError, step*c.Low, step*c.High
	if step < 0 {
		c.Low, c.High = c.High, c.Low
	}
	return c, nil
}

// MarginalEffects are the average marginal effects of the columns, in their order: by how much the mean of the
// label rises with one unit more, on average over the rows. Under the squared loss these are the coefficients, under
// a log link coefficients times the labels' mean, and of two classes coefficients times the mean density that the
// class's probability has at a row's score, of which [Infer] releases a histogram. They are derivatives: of a one-hot
// column that is close to the difference which the level makes where it is small.
//
// Standard errors are by the delta method, in which rows' features are taken to be spread evenly around what
// their scores tell. A Mark is the coefficient's. It fails for levels, which have no mean, and
// for what [Infer] hasn't made.
func (f *Inference) MarginalEffects() ([]Coefficient, error) {
	if err := f.made(); err != nil {
		return nil, err
	}
	if f.model.response.thresholds != nil {
		return nil, check.Fail(ErrConfig, "loss", f.model.response.loss, "has levels, which have no mean")
	}
	list := make([]Coefficient, f.model.columns)
	for j, c := range f.coefficients[:f.model.columns] {
		list[j] = Coefficient{Name: c.Name, Group: c.Group, Level: c.Level, StandardError: math.Inf(1)}
		if f.law == nil {
			list[j] = settled(list[j], f.confidence)
			continue
		}
		by := f.law.Steepness
		list[j].Estimate = math.Max(0, by.Mean) * c.Estimate
		if !c.Undetermined() {
			changes := slices.Clone(f.columns.RawRowView(j))
			floats.AddScaled(changes, c.Estimate/by.Mean, by.By)
			about := f.law.Combine(changes)
			se := by.Mean * math.Hypot(math.Sqrt(math.Max(0, about.Covariance(about))), c.Estimate*(by.Noise/by.Mean))
			if about.Freedom >= 1 && se >= 0 && se < math.Inf(1) { // numbers of a hundred digits may have neither
				list[j].StandardError, list[j].Freedom, list[j].Mark = se, about.Freedom, c.Mark
			}
		}
		list[j] = settled(list[j], f.confidence)
	}
	return list, nil
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
// it, as means: 0 and 1 then, of a probability. It fails as these do, and for levels.
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
	list, most := make([]Interval, len(z)), m.response.largestMean(m.facts, offsets != nil)
	for i, s := range z {
		if offsets != nil {
			s += offsets[i]
		}
		mean := func(s float64) float64 { return math.Min(m.response.link.Mean(s), most) }
		list[i] = Interval{mean(s), mean(s - half[i]), mean(s + half[i])}
	}
	return list, nil
}

// scoreErrors are half the widths of scores' intervals. A score by the weights that a coordinate of the law has is how
// far along it a row lies.
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
	for i := range half {
		se, freedom := f.law.StandardError(along.RawRowView(i))
		half[i] = distuv.StudentsT{Sigma: 1, Nu: math.Max(1, freedom)}.Quantile((1+f.confidence)/2) * se
	}
	return half, nil
}
