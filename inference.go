package dpglm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/linalg"
)

// Inference is a model with what is known of its coefficients, in the units of the raw
// columns. It is made of released numbers only, immutable and safe for concurrent use.
type Inference struct {
	model        *Model
	confidence   float64
	budget       string
	rows         int
	coefficients []Coefficient
	law          *infer.Law // nil where nothing is determined
	note         string     // which says so
	// columns are those of law's coordinates that a coefficient is a combination of.
	columns *mat.Dense
}

// Coefficient is an estimate with its interval.
type Coefficient struct {
	// Name is the column's: as the Schema has it, or the feature's of a table, x1, x2, …
	// without one, (Intercept) for the intercept; or what a combination or contrast was
	// called.
	Name string
	// Group and Level are those of a one-hot column: the level is the column's name, less
	// a prefix "group=". A coefficient is against the rows with no level of the group.
	Group, Level string
	// Estimate is the coefficient, per unit of the raw column.
	Estimate float64
	// StandardError includes sampling and privacy noise. It is +Inf where the data, under
	// this much noise, don't determine the coefficient; then Low and High are infinite, Z
	// is 0 and P is 1, as no test could reject anything. JSON has null for all five.
	StandardError float64
	// Freedom are the degrees of freedom of Student's law of Z where the coefficient is 0: few where the
	// standard error itself is known badly, for the noise in curvature. 0 where it isn't determined.
	Freedom float64
	// Low and High are the confidence interval.
	Low, High float64
	// Mark says in a sentence why the interval is doubtful; it is empty where it isn't.
	Mark string
	// Z is Estimate/StandardError, and P the two-sided p value of its being 0.
	Z, P float64
	// Step is that which a table's schema states of the column ("per"), for [Coefficient.PerStep]; 0 where it
	// states none.
	Step float64
}

// Undetermined reports whether the data say nothing of the coefficient.
func (c Coefficient) Undetermined() bool { return math.IsInf(c.StandardError, 1) }

// InterceptName is the name of an intercept's Coefficient. Numeric columns of a Schema are
// mapped to [−1, 1], so that even without an intercept raw columns have one that follows
// from the other coefficients.
const InterceptName = "(Intercept)"

func newInference(m *Model, confidence float64, budget string, rows int, l *infer.Law) (*Inference, error) {
	raw, err := unitsOf(m)
	if err != nil {
		return nil, err
	}
	w, f := m.weights[0], &Inference{model: m, confidence: confidence, budget: budget, rows: rows, law: l}
	names := namesOf(m, raw.RawMatrix().Rows)
	estimates := make([]float64, len(names))
	mat.NewVecDense(len(names), estimates).MulVec(raw, mat.NewVecDense(len(w), w))
	if m.offset != 0 && len(names) > m.columns {
		estimates[m.columns] += m.offset
	}
	if l != nil {
		f.columns = linalg.Product(raw, l.Weights)
	}
	for j, c := range names {
		var along []float64
		if l != nil {
			along = mat.Row(nil, j, f.columns)
		}
		f.coefficients = append(f.coefficients, f.about(c, estimates[j], along))
	}
	return f, nil
}

// unitsOf are the rows that turn weights of the one score into coefficients of raw columns, and the
// intercept's last, as they turn each weight alone. Without an intercept in either there is none.
func unitsOf(m *Model) (*mat.Dense, error) {
	d := len(m.weights[0])
	raw, one := mat.NewDense(m.columns+1, d, nil), make([]float64, d)
	for j := range one {
		one[j] = 1
		list, err := coefficients(m.facts, m.columns, one, 0)
		if err != nil {
			return nil, err
		}
		for i, c := range list {
			raw.Set(i, j, c.Value)
		}
		one[j] = 0
	}
	if !m.facts.intercept() && mat.Norm(raw.RowView(m.columns), 1) == 0 {
		return raw.Slice(0, m.columns, 0, d).(*mat.Dense), nil
	}
	return raw, nil
}

// namesOf are the coefficients', without estimates.
func namesOf(m *Model, count int) []Coefficient {
	list := make([]Coefficient, count)
	for j, f := range features(m.facts, m.columns) {
		list[j] = Coefficient{Name: f.Name, Group: f.Group, Step: f.Step}
		if f.OneHot {
			list[j].Level = strings.Join(f.Levels, ":")
		}
	}
	if count > m.columns {
		list[m.columns].Name = InterceptName
	}
	return list
}

// about fills in what is known of the estimate of a combination of coordinates.
func (f *Inference) about(c Coefficient, estimate float64, along []float64) Coefficient {
	c.Estimate, c.StandardError = estimate, math.Inf(1)
	if f.law != nil {
		if se, freedom := f.law.StandardError(along); se >= 0 { // not where all of it is rounding
			if c.StandardError = se; !c.Undetermined() {
				c.Freedom = freedom
				switch {
				case f.law.Misfitted(along):
					c.Mark = far
				case f.law.Adrift && c.Name == InterceptName:
					c.Mark = adrift
				}
			}
		}
	}
	return settled(c, f.confidence)
}

// These are marks.
const (
	far    = "rests on rows far from most others, which count less than others here"
	adrift = "is the score where columns are 0, which may be far from the rows: noise hides how much a column varies that isn't determined"
)

// Model is the model, whose weights are those that the coefficients come from.
func (f *Inference) Model() *Model {
	if f == nil {
		return nil
	}
	return f.model
}

// Note says in a sentence or two, where no coefficient is determined, nor the difference of two
// levels, what number of rows or budget would do, and what the model is. It is empty otherwise.
func (f *Inference) Note() string {
	if f == nil {
		return ""
	}
	return f.note
}

// Confidence is that of the intervals.
func (f *Inference) Confidence() float64 {
	if f == nil {
		return 0
	}
	return f.confidence
}

// Coefficients are those of the columns, in their order, and the intercept's last.
func (f *Inference) Coefficients() []Coefficient {
	if f == nil {
		return nil
	}
	return slices.Clone(f.coefficients)
}

// Coefficient is that of the given name. It fails where there is none ([ErrConfig]).
func (f *Inference) Coefficient(name string) (Coefficient, error) {
	j, err := f.index(name)
	if err != nil {
		return Coefficient{}, err
	}
	return f.coefficients[j], nil
}

// made refuses what Infer didn't make.
func (f *Inference) made() error {
	if f == nil || f.model == nil {
		return check.Fail(ErrModel, "inference", nil, "must be made by Infer")
	}
	return nil
}

func (f *Inference) index(name string) (int, error) {
	if err := f.made(); err != nil {
		return 0, err
	}
	j := slices.IndexFunc(f.coefficients, func(c Coefficient) bool { return c.Name == name })
	if j < 0 {
		return 0, check.Fail(ErrConfig, "coefficient", fmt.Sprintf("%q", name), "must be the name of a column or of the intercept")
	}
	return j, nil
}

// Covariance is the covariance matrix of the estimates of Coefficients; the diagonal has
// the squared standard errors. Rows and columns of what isn't determined hold NaN, but for
// +Inf on the diagonal. [Inference.Combination] and [Inference.Contrast] go by it too, and tell how many
// degrees of freedom a combination has.
func (f *Inference) Covariance() *mat.SymDense {
	if f == nil {
		return nil
	}
	n := len(f.coefficients)
	if n == 0 {
		return &mat.SymDense{}
	}
	m, about := mat.NewSymDense(n, nil), make([]infer.Combination, n)
	for i, a := range f.coefficients {
		if !a.Undetermined() {
			about[i] = f.law.Combine(f.columns.RawRowView(i))
		}
	}
	for i, a := range f.coefficients {
		for j := i; j < n; j++ {
			b := f.coefficients[j]
			switch {
			case i == j:
				m.SetSym(i, i, a.StandardError*a.StandardError)
			case a.Undetermined() || b.Undetermined():
				m.SetSym(i, j, math.NaN())
			default:
				m.SetSym(i, j, about[i].Covariance(about[j]))
			}
		}
	}
	return m
}

// String prints the table that statistics packages print, and what isn't determined.
func (f *Inference) String() string {
	if f.made() != nil {
		return "empty inference"
	}
	var b strings.Builder
	if f.note != "" {
		b.WriteString(f.note + "\n")
	}
	fmt.Fprintf(&b, "%s regression, %s, %s, unit: %v%s\n", f.model.response.kind(), nOf(f.model.ledger, f.rows), f.budget, f.model.ledger.Unit(), estimand(f.model.ledger))
	tail := 100 * (1 - f.confidence) / 2
	lines, unknown := [][]string{{"", "coef", "std err", "z", "P>|z|", fmt.Sprintf("[%.4g%%", tail), fmt.Sprintf("%.4g%%]", 100-tail)}}, 0
	ratio := f.model.Ratio()
	if ratio != "" {
		lines[0] = append(lines[0], ratio)
	}
	var marks []string
	for j, c := range slices.Concat(f.coefficients, f.Thresholds()) {
		if c.Mark != "" {
			marks = append(marks, fmt.Sprintf("* %s %s.\n", c.Name, c.Mark))
		}
		if c.Undetermined() {
			unknown++
		}
		exponential := ratio != "" && c.Name != InterceptName && j < len(f.coefficients)
		lines = append(lines, c.cells(exponential))
		if per, ok := c.PerStep(); ok {
			lines = append(lines, per.cells(exponential))
		}
	}
	align(&b, lines)
	if f.note != "" {
		return b.String()
	}
	b.WriteString("Standard errors are robust and include the noise for privacy. Intervals cover the\n" +
		"coefficients of the population whose rows are held to their public bounds.\n")
	if unknown > 0 {
		fmt.Fprintf(&b, "inf: the data, under this much noise, don't determine %d of the coefficients.\n", unknown)
	}
	b.WriteString(strings.Join(marks, ""))
	return b.String()
}

// cells are a line of the table, with the exponential or without.
func (c Coefficient) cells(exponential bool) []string {
	name := c.Name
	if c.Mark != "" {
		name += " *"
	}
	if c.Undetermined() {
		return []string{name, fmt.Sprintf("%.4g", c.Estimate), "inf", "", "", "", ""}
	}
	line := []string{name, fmt.Sprintf("%.4g", c.Estimate), fmt.Sprintf("%.4g", c.StandardError), fmt.Sprintf("%.2f", c.Z), fmt.Sprintf("%.3f", c.P),
		fmt.Sprintf("%.4g", c.Low), fmt.Sprintf("%.4g", c.High)}
	if e := c.Exp(); exponential {
		line = append(line, fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.Low, e.High))
	}
	return line
}

// align writes lines of cells, the first to the left and the others to the right.
func align(b *strings.Builder, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for k, cell := range line {
			widths[k] = max(widths[k], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		text := fmt.Sprintf("%-*s", widths[0], line[0])
		for k, cell := range line[1:] {
			text += fmt.Sprintf("  %*s", widths[k+1], cell)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}
