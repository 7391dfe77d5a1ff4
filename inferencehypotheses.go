package dpglm

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/infer"
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

// String prints the test as others do.
func (w WaldTest) String() string {
	if w.Undetermined {
		return fmt.Sprintf("Wald test: χ²(%d) undetermined", w.Freedom)
	}
	return fmt.Sprintf("Wald test: χ²(%d) = %.4g, p = %.4g", w.Freedom, w.Statistic, w.P)
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
	w.P = distuv.F{D1: float64(q), D2: w.Denominator}.Survival(w.Statistic / float64(q))
	return w, nil
}
