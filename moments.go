package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// Moments are released means, variances and covariances of all columns of a dataset. Every linear regression of a column
// on others is computed from them, with intervals, and costs nothing more: see [Moments.Regress]. They are made of released
// numbers and public facts only, immutable and safe for concurrent use. As JSON they can be published.
type Moments struct {
	sums    *infer.Moments
	columns []Coefficient // without estimates
	missing []missingness // of each column
	budget  string
	ledger  *Ledger
	longer  float64 // part of rows that count less
	whole   bool    // whether groups have all their levels among the columns
}

// missingness says where a column's values may be missing: by which columns that indicate it, none where there are no missing values, and what the column is where
// they do, NaN where that isn't one number.
type missingness struct {
	by []int
	at float64
}

// Moments releases the moments of d's columns. Labels play no part, but that the facts must give them a range: what is to be a response goes
// among the columns, with its range. The facts must have an intercept, without which there are no means.
//
// Rows are centred and brought to coordinates in which they are about round, as by [StandardisedGD]; a histogram of their lengths
// there says to what length B the longest are scaled down. The rest of the budget, some .6 of μ² or more, is for second moments
// in these coordinates, and .03 for fourth ones, of which standard errors are made. Means, .10, and mean squares, .03, are of encoded rows as they are:
// a few long ones may be all that a level or an amount has.
//
// # Privacy
//
// Replace-one, or add or remove one under [Budget.AddRemove]: all releases are Gaussian, from one pool of μ. Beside those of [StandardisedGD]'s coordinates there are the
// sum of encoded rows, of sensitivity 2X as each is X long at most, and that of their squares, √2·X² (Framed.Squares), X and X² where a row is added or removed; the
// packed matrices Σ w(v, 1)(v, 1)ᵀ, of rows v in them of length B at most, whose sensitivity is √2·(B² + 1), as products uuᵀ of
// vectors of length r are √2·r² apart at most; and Σ ‖v‖²·vvᵀ, of sensitivity √2·B⁴ for the same reason, both with a bound on rounding; B² + 1 and B⁴
// where a row is added or removed. Regressions are post-processing.
//
// x is n×d, d at most 1000; rows must not be held person by person, nor have weights or offsets. O(n·d²) flops in some ten passes. It
// fails where an argument breaks its rule, before anything is released, and as [Plan.Run] does.
func (d *Dataset) Moments(ctx context.Context, b Budget, env *Env) (*Moments, error) {
	p := Problem{Loss: losses.Squared{}}
	if err := d.given(ctx, p); err != nil {
		return nil, err
	}
	var of estimate.Moments
	plan, err := planMoments(d.Shape(), p, b, &of)
	if err != nil {
		return nil, err
	}
	raw, err := d.fromEncoded()
	if err != nil {
		return nil, err
	}
	model, err := plan.Run(ctx, d, env)
	if err != nil {
		return nil, err
	}
	m := &Moments{sums: sumsOf(&of), budget: b.String(), longer: of.Longer}
	m.sums.Combine(raw, of.CountNoise/of.N)
	m.columns, m.ledger, m.whole = namesOf(model, model.columns), model.ledger, encoderOf(d.facts) == nil
	m.missing = missingOf(features(d.facts, model.columns), raw)
	return m, nil
}

// missingOf finds the columns that indicate missing values of others, which have raw columns made of them by from: a missing number is encoded as 0, its
// square as −1, and splines as none.
func missingOf(list []table.Feature, from [][]float64) []missingness {
	out, encoded := make([]missingness, len(list)), make([]float64, len(list))
	for j, f := range list {
		for i, column := range f.Columns {
			name := column + "=" + missingLevel
			k := slices.IndexFunc(list, func(g table.Feature) bool { return g.Name == name && g.Group == name })
			if k >= 0 && f.Levels[i] == "" && !slices.Contains(out[j].by, k) {
				out[j].by = append(out[j].by, k)
			}
		}
		if len(f.Columns) == 1 && slices.ContainsFunc(list[:j], func(g table.Feature) bool { return f.Name == g.Name+"^2" && slices.Equal(f.Columns, g.Columns) }) {
			encoded[j] = -1
		}
	}
	for j, f := range list {
		if out[j].at = math.NaN(); len(f.Columns) == 1 {
			out[j].at = floats.Dot(from[j][:len(list)], encoded) + from[j][len(list)]
		}
	}
	return out
}

// missingLevel is what a table calls missing values of a column.
const missingLevel = "missing"

// sumsOf are released moments, of encoded features.
func sumsOf(of *estimate.Moments) *infer.Moments {
	sums := &infer.Moments{
		Second: of.Second, Fourth: of.Fourth, Noise: of.Noise, FourthNoise: of.FourthNoise, Columns: of.Back, N: of.N,
		Far: math.Min(1, of.Longer*of.Bound*of.Bound/float64(len(of.Means))), Alone: make([]infer.Alone, len(of.Means)),
	}
	for j, mean := range of.Means {
		sums.Alone[j] = infer.Alone{
			Mean: mean, Noise: of.MeanNoise,
			Variance: of.Squares[j] - float64(mean*mean), VarianceNoise: math.Hypot(of.SquareNoise, 2*mean*of.MeanNoise),
		}
	}
	return sums
}

// MomentsLedger is what [Dataset.Moments] would release on data of the shape. It costs nothing, and fails where an argument breaks its rule.
func (s Shape) MomentsLedger(b Budget) (*Ledger, error) {
	plan, err := planMoments(s, Problem{Loss: losses.Squared{}}, b, new(estimate.Moments))
	if err != nil {
		return nil, err
	}
	return plan.Ledger, nil
}

// momentsLearner stands for Moments in the identity of a run.
type momentsLearner struct{}

// Plan is never called.
func (momentsLearner) Plan(Shape, Problem, Budget) (*Plan, error) {
	return nil, check.Fail(ErrConfig, "learner", nil, "must be one of this package")
}

// planMoments is what Moments runs, which keeps what is released in of.
func planMoments(s Shape, p Problem, b Budget, of *estimate.Moments) (*Plan, error) {
	switch {
	case !s.Intercept:
		return nil, check.Fail(ErrConfig, "Facts.Intercept", false, "must be true for moments: without a constant there are no means")
	case s.features() > estimate.MostFeatures:
		return nil, check.Fail(ErrShape, "columns", s.features(), "must be at most 1000: second moments are released")
	case s.PersonRows > 0:
		return nil, check.Fail(ErrConfig, "dataset", nil, "must have one row a person: standard errors of moments are those of rows")
	case s.Weighted || s.largestOffset() != 0:
		return nil, check.Fail(ErrConfig, "dataset", nil, "must have neither weights nor offsets for moments")
	case b.labelsOnly:
		return nil, check.Fail(ErrBudget, "Budget", b.String(), "must protect rows: moments are of all columns")
	}
	o, err := newStandardised(s, p, b, 0)
	if err != nil {
		return nil, err
	}
	schedule, err := release.Pool("moments", o.mu, o.releases, o.dim)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(momentsLearner{}, s, o.problem, b, schedule, func(r *run) (*fitted, error) {
		released, err := o.estimate.Moments(r.task())
		if err != nil {
			return nil, err
		}
		*of = *released
		return &fitted{weights: [][]float64{make([]float64, s.Dim)}, loss: p.Loss}, nil
	})
	if err == nil {
		plan.asksSums(o.releases, o.dim, 0, o.estimate.Loss)
	}
	return plan, err
}

// fromEncoded maps encoded features and the constant to raw columns and the constant. A feature is a raw column in other units but for what
// coefficients move of squares and products: columns before these, by which they are solved for in turn.
func (d *Dataset) fromEncoded() ([][]float64, error) {
	dim, columns := d.Shape().Dim, d.data.Facts().Columns
	raw, one := make([][]float64, dim), make([]float64, dim)
	for j := range raw {
		raw[j] = make([]float64, dim)
	}
	raw[dim-1][dim-1] = 1
	for j, row := range raw[:columns] {
		one[j] = 1
		list, err := coefficients(d.facts, columns, one, 0)
		if err != nil {
			return nil, err
		}
		one[j] = 0
		unit := list[j].Value
		row[j], row[dim-1] = 1/unit, -list[columns].Value/unit
		for k, c := range list[:j] {
			if c.Value != 0 {
				floats.AddScaled(row, -c.Value/unit, raw[k])
			}
		}
	}
	return raw, nil
}

// Columns are the names of the columns, in their order.
func (m *Moments) Columns() []string {
	if m == nil {
		return nil
	}
	names := make([]string, len(m.columns))
	for j, c := range m.columns {
		names[j] = c.Name
	}
	return names
}

// Ledger is what was released, and how private that is.
func (m *Moments) Ledger() *Ledger {
	if m == nil {
		return nil
	}
	return m.ledger
}

// Regression is a linear regression by [Moments.Regress].
type Regression struct {
	Response string `json:"response"`
	// Coefficients are those of the columns, in the order that was asked for, a group's levels one by one, and the intercept last.
	Coefficients []Coefficient `json:"coefficients"`
	// Residual is the standard deviation of residuals, and Deviation that of the response.
	Residual  float64 `json:"residual"`
	Deviation float64 `json:"deviation"`
	// RSquared is the part of the response's variance that the columns explain.
	RSquared float64 `json:"r_squared"`
	// Present is the part of rows that have a value, where the response has missing ones and this is the mean of the others; else 0.
	Present float64 `json:"present,omitempty"`
	// Confidence is that of the intervals.
	Confidence float64 `json:"confidence"`
	rows       string
}

// Regress is the least-squares regression of a column on others and an intercept. Names are those of Columns, or a group's, which
// stands for its levels but the first, which a table's columns don't have. With no columns the intercept is the response's mean, of all rows as they are, and
// Residual its standard deviation, too small where noise hides few rows that are far out; that of a level is its share. Of squares and products
// deviations are of rows that count less, as their own squares aren't released, and standard errors of means allow for the others. Confidence is as in [InferConfig].
//
// The estimand of slopes is that of rows of which those far from most, as few as noise allows, count less. Standard errors hold the noise
// of moments and sampling, the latter with residuals whose variance may grow with rows' distance from the mean: fourth moments say by how much
// at most, so that intervals are wider than need be where many rows lie far out for other reasons, as far as sampling counts. That residuals are
// large along one direction only, beyond that, they don't see. A coefficient has an infinite standard error where the noise hides it.
// Nothing is allowed for choices among several regressions.
//
// A number of which a table's schema has missing values indicated ("missing": "indicator") is the middle of its range where it is missing. The
// column that indicates it comes along, right after the first that needs it, with a coefficient that compares rows without a value with ones at the middle. With no columns the intercept and Residual
// are those of the values that are there: a ratio of means, whose standard error is by the delta method, infinite where noise hides the share
// of such rows, and of products. As a response such a column is refused. Columns of a matrix say nothing of missing values: there name what indicates them.
func (m *Moments) Regress(response string, columns []string, confidence float64) (*Regression, error) {
	if m == nil || m.sums == nil {
		return nil, check.Fail(ErrModel, "moments", nil, "must be made by Dataset.Moments")
	}
	if confidence == 0 {
		confidence = 0.95
	}
	if !(confidence >= 0.5 && confidence <= 1-1e-9) {
		return nil, check.Fail(ErrConfig, "confidence", confidence, "must be at least 0.5 and below 1")
	}
	y, err := m.places(response)
	if err != nil {
		return nil, err
	}
	if len(y) != 1 {
		return nil, check.Fail(ErrConfig, "response", fmt.Sprintf("%q", response), "must be one column, not a group")
	}
	var at []int
	for _, name := range columns {
		more, err := m.places(name)
		if err != nil {
			return nil, err
		}
		at = append(at, more...)
	}
	for i, j := range at {
		if j == y[0] || slices.Contains(at[:i], j) {
			return nil, check.Fail(ErrConfig, "columns", fmt.Sprintf("%q", m.columns[j].Name), "must be there once, and not be the response")
		}
	}
	if len(at) == 0 {
		return m.mean(y[0], confidence), nil
	}
	if at, err = m.withMissing(y[0], at); err != nil {
		return nil, err
	}
	fit, err := m.sums.Regress(y[0], m.columns[y[0]].Level != "", append(at, len(m.columns)))
	if err != nil {
		return nil, err
	}
	return m.regression(y[0], at, fit, confidence), nil
}

// withMissing has columns of which values are missing be followed by what indicates it, unless that is there. It refuses a response with
// missing values: products of others with those that are there aren't among the moments.
func (m *Moments) withMissing(y int, at []int) (all []int, err error) {
	own := m.missing[y].by
	if len(own) > 0 && slices.ContainsFunc(at, func(j int) bool { return !slices.Contains(own, j) }) {
		return nil, check.Fail(ErrConfig, "response", fmt.Sprintf("%q", m.columns[y].Name), "must have no missing values, which moments have as the middle of its range: regress it on no column, for the mean of values that are there")
	}
	for _, j := range at {
		all = append(all, j)
		for _, k := range m.missing[j].by {
			if k == y {
				return nil, check.Fail(ErrConfig, "columns", fmt.Sprintf("%q", m.columns[j].Name), fmt.Sprintf("must not be there, as its missing values are the response, %q", m.columns[y].Name))
			}
			if !slices.Contains(at, k) && !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	return all, nil
}

// present is the mean of a column of which values are missing.
func (m *Moments) present(y int, confidence float64) *Regression {
	gone := m.missing[y]
	r := &Regression{Response: m.columns[y].Name, Confidence: confidence, rows: m.rows()}
	c := Coefficient{Name: InterceptName, StandardError: math.Inf(1), Freedom: new(infer.Law).Freest()}
	switch {
	case len(gone.by) > 1 || math.IsNaN(gone.at):
		c.Mark = "isn't told, as the column is a product, and values of its columns are missing"
	default:
		part, ok := m.sums.Present(y, gone.by[0], gone.at, m.ledger.Unit().Neighbours == mechanisms.AddRemove)
		if !ok {
			c.Mark = "isn't told, as noise hides how many rows have a value"
			break
		}
		c.Estimate, c.StandardError, r.Present = part.Mean, part.StandardError, part.Share
		c.Mark = fmt.Sprintf("is of the rows that have a value, a share of about %.3g", part.Share)
		r.Deviation = math.Sqrt(part.Variance)
		r.Residual = r.Deviation
	}
	r.Coefficients = []Coefficient{settled(c, confidence)}
	return r
}

// mean is a regression on nothing.
func (m *Moments) mean(y int, confidence float64) *Regression {
	if len(m.missing[y].by) > 0 {
		return m.present(y, confidence)
	}
	mean, standardError, variance := m.sums.Mean(y, m.columns[y].Level != "")
	deviation := math.Sqrt(variance)
	c := settled(Coefficient{Name: InterceptName, Estimate: mean, StandardError: standardError, Freedom: new(infer.Law).Freest()}, confidence)
	return &Regression{Response: m.columns[y].Name, Coefficients: []Coefficient{c}, Residual: deviation, Deviation: deviation, Confidence: confidence, rows: m.rows()}
}

// rows says of what moments are.
func (m *Moments) rows() string {
	claim, _ := m.ledger.Claim()
	return fmt.Sprintf("%s, %s, unit: %v", nOf(m.ledger, claim.Rows), m.budget, m.ledger.Unit())
}

// regression is a fit in the caller's terms.
func (m *Moments) regression(y int, at []int, fit *infer.Linear, confidence float64) *Regression {
	r := &Regression{Response: m.columns[y].Name, Residual: math.Sqrt(fit.Residual), Deviation: math.Sqrt(fit.Total), RSquared: 1 - fit.Residual/fit.Total, Confidence: confidence, rows: m.rows()}
	f := &Inference{confidence: confidence, law: fit.Law}
	for i, w := range fit.Weights {
		c := Coefficient{Name: InterceptName}
		if i < len(at) {
			c = m.columns[at[i]]
		}
		r.Coefficients = append(r.Coefficients, f.about(c, w, mat.Row(nil, i, fit.Law.Weights)))
	}
	return r
}

// places are a column's, or those of a group's levels, but the first where all are there.
func (m *Moments) places(name string) (at []int, err error) {
	for j, c := range m.columns {
		if c.Name == name {
			return []int{j}, nil
		}
		if c.Group == name && name != "" || c.slopeOf(name) { // columns of no group have an empty one
			at = append(at, j)
		}
	}
	if m.whole && len(at) > 0 {
		at = at[1:]
	}
	if len(at) == 0 {
		return nil, check.Fail(ErrConfig, "column", fmt.Sprintf("%q", name), "must be the name of a column, or of a group of several levels"+m.made(name))
	}
	return at, nil
}

// slopeOf reports whether this is one of the products of a number and a column's levels that a name such as "income:ward" stands for.
func (c Coefficient) slopeOf(name string) bool {
	number, levels, product := strings.Cut(name, ":")
	return product && c.Group == "" && (strings.HasPrefix(c.Name, name+"=") || strings.HasPrefix(c.Name, "log("+number+"):"+levels+"="))
}

// made says which columns are made of one that isn't there itself, such as log(income) of income.
func (m *Moments) made(name string) string {
	var list []string
	for _, c := range m.columns {
		if strings.Contains(c.Name, "("+name+")") {
			list = append(list, fmt.Sprintf("%q", c.Name))
		}
	}
	if list == nil {
		return ""
	}
	return "; of this one there are " + strings.Join(list, ", ")
}

// String prints the table that statistics packages print.
func (r *Regression) String() string {
	if r == nil || len(r.Coefficients) == 0 {
		return "empty regression"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s by moments, %s\n", r.Response, r.rows)
	tail := 100 * (1 - r.Confidence) / 2
	lines := [][]string{{"", "coef", "std err", "z", "P>|z|", fmt.Sprintf("[%.4g%%", tail), fmt.Sprintf("%.4g%%]", 100-tail)}}
	var marks []string
	for _, c := range r.Coefficients {
		if c.Mark != "" {
			marks = append(marks, fmt.Sprintf("* %s %s.\n", c.Name, c.Mark))
		}
		lines = append(lines, c.cells(false))
	}
	align(&b, lines)
	b.WriteString(strings.Join(marks, ""))
	fmt.Fprintf(&b, "R² %.4g, residuals' standard deviation %.4g of %.4g\n", r.RSquared, r.Residual, r.Deviation)
	return b.String()
}

// String says what the moments are of.
func (m *Moments) String() string {
	if m == nil || m.sums == nil {
		return "empty moments"
	}
	return fmt.Sprintf("moments of %d columns; about %.2g of the rows count less\n%v", len(m.columns), math.Max(0, m.longer), m.ledger)
}

const momentsFormat = "dpglm moments"

// momentsJSON are moments. Of symmetric matrices it has each row from the diagonal on.
type momentsJSON struct {
	Format      string          `json:"format"`
	Version     int             `json:"version"`
	Unit        mechanisms.Unit `json:"unit"`
	Budget      string          `json:"budget"`
	Columns     []columnJSON    `json:"columns"`
	Whole       bool            `json:"whole_groups"` // whether groups have all their levels
	Map         [][]float64     `json:"map"`          // from coordinates and the constant to columns and a constant
	Second      [][]float64     `json:"second"`
	Fourth      [][]float64     `json:"fourth"`
	Noise       float64         `json:"noise"`
	FourthNoise float64         `json:"fourth_noise"`
	Rows        float64         `json:"rows"`   // as far as that is known
	Alone       []infer.Alone   `json:"alone"`  // of all rows as they are
	Longer      float64         `json:"longer"` // part of the rows that count less
	Far         float64         `json:"far"`    // part of second moments that these hold
	Ledger      *Ledger         `json:"ledger"`
}

// columnJSON is a column's name.
type columnJSON struct {
	Name  string  `json:"name"`
	Group string  `json:"group,omitempty"`
	Level string  `json:"level,omitempty"`
	Step  float64 `json:"step,omitempty"`
	// Missing are the columns that indicate missing values, and As what the column is there; none of a product.
	Missing []int    `json:"missing,omitempty"`
	As      *float64 `json:"missing_as,omitempty"`
}

// columnJSON is column j as JSON has it.
func (m *Moments) columnJSON(j int) columnJSON {
	c, gone := m.columns[j], m.missing[j]
	out := columnJSON{Name: c.Name, Group: c.Group, Level: c.Level, Step: c.Step, Missing: gone.by}
	if len(gone.by) > 0 && !math.IsNaN(gone.at) {
		out.As = &gone.at
	}
	return out
}

// missingness is what a column's JSON says of missing values, among so many columns.
func (c columnJSON) missingness(columns int) (missingness, error) {
	out := missingness{by: c.Missing, at: math.NaN()}
	if c.As != nil {
		out.at = *c.As
	}
	for _, k := range c.Missing {
		if k < 0 || k >= columns {
			return out, check.Fail(ErrModel, "missing", k, "must be the place of a column")
		}
	}
	return out, nil
}

// MarshalJSON writes the moments with their ledger and a checksum. It fails for ones that [Dataset.Moments] hasn't made.
func (m *Moments) MarshalJSON() ([]byte, error) {
	if m == nil || m.sums == nil {
		return nil, check.Fail(ErrModel, "moments", nil, "must be made by Dataset.Moments")
	}
	j := momentsJSON{momentsFormat, modelVersion, m.ledger.Unit(), m.budget, nil, m.whole, nil, linalg.Triangle(m.sums.Second), linalg.Triangle(m.sums.Fourth), m.sums.Noise, m.sums.FourthNoise, m.sums.N, m.sums.Alone, m.longer, m.sums.Far, m.ledger}
	for k := range m.columns {
		j.Columns = append(j.Columns, m.columnJSON(k))
	}
	for i := range len(m.columns) + 1 {
		j.Map = append(j.Map, mat.Row(nil, i, m.sums.Columns))
	}
	return sealed.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote. It refuses what is damaged, or contradicts itself ([ErrModel]).
func (m *Moments) UnmarshalJSON(data []byte) error {
	if m == nil {
		return check.Fail(ErrModel, "moments", nil, "must not be nil")
	}
	j, err := decodeModel[momentsJSON](data, momentsFormat)
	if err != nil {
		return err
	}
	d := len(j.Columns)
	if d == 0 || len(j.Map) != d+1 || len(j.Alone) != d || j.Ledger == nil || j.Ledger.Unit() != j.Unit {
		return check.Fail(ErrModel, "columns, map, ledger", d, "must be there, and fit one another")
	}
	if !(j.Rows > 0 && j.Noise >= 0 && j.FourthNoise >= 0 && j.Noise+j.FourthNoise < math.MaxFloat64 && j.Far >= 0 && j.Far <= 1) {
		return check.Fail(ErrModel, "noise", j.Noise, "must be a number of 0 or more")
	}
	read := &Moments{sums: &infer.Moments{Noise: j.Noise, FourthNoise: j.FourthNoise, N: j.Rows, Alone: j.Alone, Far: j.Far, Columns: mat.NewDense(d+1, d+1, nil)}, budget: j.Budget, ledger: j.Ledger, longer: j.Longer, whole: j.Whole}
	for i, row := range j.Map {
		if len(row) != d+1 {
			return check.Fail(ErrModel, "map", len(row), fmt.Sprintf("must have rows of %d numbers", d+1))
		}
		read.sums.Columns.SetRow(i, row)
	}
	if read.sums.Second, err = symmetric("second", j.Second, d+1); err != nil {
		return err
	}
	if read.sums.Fourth, err = symmetric("fourth", j.Fourth, d); err != nil {
		return err
	}
	for _, c := range j.Columns {
		read.columns = append(read.columns, Coefficient{Name: c.Name, Group: c.Group, Level: c.Level, Step: c.Step})
		gone, err := c.missingness(d)
		if err != nil {
			return err
		}
		read.missing = append(read.missing, gone)
	}
	*m = *read
	return nil
}
