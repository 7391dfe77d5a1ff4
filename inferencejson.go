package dpglm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/mechanisms"
)

// coefficientJSON is a Coefficient without infinities, which JSON doesn't have.
type coefficientJSON struct {
	Name          string   `json:"name"`
	Group         string   `json:"group,omitempty"`
	Level         string   `json:"level,omitempty"`
	Estimate      float64  `json:"estimate"`
	StandardError *float64 `json:"standard_error"`
	Freedom       *float64 `json:"freedom"`
	Low           *float64 `json:"low"`
	High          *float64 `json:"high"`
	Z             *float64 `json:"z"`
	P             *float64 `json:"p"`
	Mark          string   `json:"mark,omitempty"`
	Step          float64  `json:"step,omitempty"` // that the schema states; the estimate is per unit
}

// finite is nil for what is infinite or not a number.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// infinite is what null stood for, an infinity of the sign.
func infinite(v *float64, sign float64) float64 {
	if v == nil {
		return math.Copysign(math.Inf(1), sign)
	}
	return *v
}

// MarshalJSON writes null for what is infinite and, where the standard error is, for z and p, of
// which nothing is known. It never fails.
func (c Coefficient) MarshalJSON() ([]byte, error) {
	j := coefficientJSON{Name: c.Name, Group: c.Group, Level: c.Level, Estimate: c.Estimate, Step: c.Step}
	if !c.Undetermined() {
		j.StandardError, j.Freedom, j.Mark = finite(c.StandardError), finite(c.Freedom), c.Mark
		j.Low, j.High, j.Z, j.P = finite(c.Low), finite(c.High), finite(c.Z), finite(c.P)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote. It refuses fields that it doesn't know, and numbers
// that contradict one another.
func (c *Coefficient) UnmarshalJSON(data []byte) error {
	var j coefficientJSON
	if err := sealed.Decode(data, &j); err != nil {
		return ofModel(err)
	}
	if j.Name == "" {
		return check.Fail(ErrModel, "name", string(data), "must be that of a coefficient")
	}
	if (j.StandardError == nil) != (j.P == nil) || (j.Freedom == nil) != (j.P == nil) || j.P == nil && j.Z != nil {
		return check.Fail(ErrModel, "standard_error, freedom, z, p", string(data), "must be null together")
	}
	read := Coefficient{Name: j.Name, Group: j.Group, Level: j.Level, Estimate: j.Estimate, Step: j.Step,
		StandardError: infinite(j.StandardError, 1), Low: infinite(j.Low, -1), High: infinite(j.High, 1), P: 1}
	if j.P != nil {
		read.Z, read.P, read.Freedom, read.Mark = infinite(j.Z, j.Estimate), *j.P, *j.Freedom, j.Mark
	}
	switch {
	case !(read.StandardError >= 0 && read.Low <= read.Estimate && read.Estimate <= read.High):
		return check.Fail(ErrModel, "standard_error, low, estimate, high", string(data), "must be at least 0, and ascend")
	case !(read.Step >= 0):
		return check.Fail(ErrModel, "step", read.Step, "must not be negative")
	case !(read.P >= 0 && read.P <= 1):
		return check.Fail(ErrModel, "p", read.P, "must lie between 0 and 1")
	case j.P != nil && !(read.Freedom >= 1):
		return check.Fail(ErrModel, "freedom", read.Freedom, "must be at least 1")
	}
	*c = read
	return nil
}

// inferenceFormat is that of the JSON of inferences, whose versions are those of models.
const inferenceFormat = "dpglm inference"

// ratioJSON is a [Coefficient.Exp], null where it is infinite; of the intercept and of what isn't determined
// there is none.
type ratioJSON struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// ratiosJSON are the ratios of a name.
type ratiosJSON struct {
	Of     string      `json:"of"` // as Model.Ratio has it
	Ratios []ratioJSON `json:"ratios"`
}

// ratiosOf are those of coefficients, nil where their exponentials have no name.
func ratiosOf(f *Inference, list []Coefficient) *ratiosJSON {
	of := f.model.Ratio()
	if of == "" {
		return nil
	}
	r := &ratiosJSON{of, []ratioJSON{}}
	for _, c := range list {
		if e := c.Exp(); c.Name != InterceptName && !c.Undetermined() {
			r.Ratios = append(r.Ratios, ratioJSON{c.Name, finite(e.Value), finite(e.Low), finite(e.High)})
		}
	}
	return r
}

// effectsOf are the average marginal effects, nil where there are none.
func effectsOf(f *Inference) []Coefficient {
	list, err := f.MarginalEffects()
	if err != nil || f.law == nil {
		return nil
	}
	return list
}

// stepsJSON are coefficients, ratios and marginal effects for the steps that the schema states.
type stepsJSON struct {
	Coefficients []Coefficient `json:"coefficients"`
	Exponentials *ratiosJSON   `json:"exponentials,omitempty"`
	Effects      []Coefficient `json:"marginal_effects,omitempty"`
}

// stepsOf are nil where the schema states no step.
func stepsOf(f *Inference, effects []Coefficient) *stepsJSON {
	list := perSteps(f.coefficients)
	if list == nil {
		return nil
	}
	return &stepsJSON{list, ratiosOf(f, list), perSteps(effects)}
}

// perSteps are those coefficients that have a step, for it.
func perSteps(list []Coefficient) (out []Coefficient) {
	for _, c := range list {
		if per, ok := c.PerStep(); ok {
			out = append(out, per)
		}
	}
	return out
}

// inferenceJSON is an inference. The covariance matrix, ratios, marginal effects and what else follows from the law
// and the model are for readers without this library.
type inferenceJSON struct {
	Format       string          `json:"format"`
	Version      int             `json:"version"`
	Note         string          `json:"note,omitempty"` // where nothing is determined
	Confidence   float64         `json:"confidence"`
	Unit         mechanisms.Unit `json:"unit"`
	Rows         int             `json:"rows"`
	Budget       string          `json:"budget"`
	Coefficients []Coefficient   `json:"coefficients"`
	Covariance   [][]*float64    `json:"covariance"`
	Exponentials *ratiosJSON     `json:"exponentials,omitempty"`
	Effects      []Coefficient   `json:"marginal_effects,omitempty"`
	PerStep      *stepsJSON      `json:"per_step,omitempty"`
	Thresholds   []Coefficient   `json:"thresholds,omitempty"`
	Law          *lawJSON        `json:"law,omitempty"` // none where nothing is determined
	Model        *Model          `json:"model"`
}

// lawJSON is a law. Of symmetric matrices it has each row from the diagonal on.
type lawJSON struct {
	Weights    [][]float64 `json:"weights"`
	Covariance [][]float64 `json:"covariance"`
	Misfit     [][]float64 `json:"misfit"`
	Inverse    [][]float64 `json:"inverse"`
	Drowned    [][]float64 `json:"drowned,omitempty"`
	Hidden     float64     `json:"hidden"`
	Seen       float64     `json:"seen"`
	Curved     float64     `json:"curved"`
	Lacked     []float64   `json:"lacked,omitempty"`
	Adrift     bool        `json:"adrift,omitempty"`
	Hessian    float64     `json:"hessian"`
	Scatter    float64     `json:"scatter"`
	Steepness  float64     `json:"steepness"`
	Uncertain  float64     `json:"steepness_error"`
	Steeper    []float64   `json:"steepness_by"`
	Thresholds [][]float64 `json:"thresholds,omitempty"` // their covariance beyond the intercept's variance
}

// MarshalJSON writes the coefficients, their covariance matrix, row by row, with null for what
// isn't determined, the model with its ledger, and as the law what contrasts and tests are
// computed from. These may differ slightly from what the covariance matrix gives: see
// [Inference.Covariance]. It fails for one that [Infer] hasn't made.
func (f *Inference) MarshalJSON() ([]byte, error) {
	if err := f.made(); err != nil {
		return nil, err
	}
	effects := effectsOf(f)
	return sealed.Marshal(inferenceJSON{inferenceFormat, modelVersion, f.note, f.confidence, f.model.ledger.Unit(), f.rows, f.budget, f.coefficients, covarianceOf(f), ratiosOf(f, f.coefficients), effects, stepsOf(f, effects), f.Thresholds(), newLawJSON(f.law), f.model})
}

// covarianceOf is the covariance matrix, with null for what isn't determined.
func covarianceOf(f *Inference) [][]*float64 {
	m := f.Covariance()
	covariance := make([][]*float64, len(f.coefficients))
	for i := range covariance {
		covariance[i] = make([]*float64, len(f.coefficients))
		for j := range covariance[i] {
			covariance[i][j] = finite(m.At(i, j))
		}
	}
	return covariance
}

// UnmarshalJSON reads an inference that MarshalJSON wrote: one that is the same in all that it
// tells. It refuses what [Model.UnmarshalJSON] refuses.
func (f *Inference) UnmarshalJSON(data []byte) error {
	if f == nil {
		return check.Fail(ErrModel, "inference", nil, "must not be nil")
	}
	j, err := decodeModel[inferenceJSON](data, inferenceFormat)
	if err != nil {
		return err
	}
	if err := j.Model.usable(); err != nil {
		return err
	}
	if k := j.Model.response.classes; k > 0 {
		return check.Fail(ErrModel, "classes of the model", k, "must not be several")
	}
	if err := told(j.Model, j.Confidence, j.Rows); err != nil {
		return err
	}
	if u := j.Model.ledger.Unit(); u != j.Unit {
		return check.Fail(ErrModel, "unit", j.Unit, fmt.Sprintf("must be that of the ledger, %v", u))
	}
	read, err := inferenceOf(j.Model, j.Confidence, j.Budget, j.Rows, j.Note, j.Coefficients, j.Law)
	if err == nil {
		*f = *read
	}
	return err
}

// told refuses what no inference of a model has.
func told(m *Model, confidence float64, rows int) error {
	if !(confidence >= 0.5 && confidence < 1) {
		return check.Fail(ErrModel, "confidence", confidence, "must be at least 0.5 and below 1")
	}
	if claim, _ := m.ledger.Claim(); claim.Rows != rows {
		return check.Fail(ErrModel, "rows", rows, fmt.Sprintf("must be the %d that the ledger claims", claim.Rows))
	}
	return nil
}

// inferenceOf is what was stored of an inference of a model.
func inferenceOf(m *Model, confidence float64, budget string, rows int, note string, coefficients []Coefficient, law *lawJSON) (*Inference, error) {
	l, err := law.law(len(m.weights[0]))
	if err != nil {
		return nil, err
	}
	if k := len(m.response.thresholds); l != nil && l.Thresholds != nil && l.Thresholds.SymmetricDim() != k {
		return nil, check.Fail(ErrModel, "law.thresholds", l.Thresholds.SymmetricDim(), fmt.Sprintf("must have a row for each of the model's %d thresholds", k))
	}
	read, err := newInference(m, confidence, budget, rows, l)
	if err != nil {
		return nil, ofModel(err)
	}
	if err := read.take(coefficients); err != nil {
		return nil, err
	}
	if read.note = note; (l == nil) != (note != "") {
		return nil, check.Fail(ErrModel, "note", note, "must be there if, and only if, law isn't")
	}
	return read, nil
}

// take has the coefficients that were stored in place of the model's, from which they may
// differ in rounding, on another machine, and in how uncertain another version of this library
// takes them to be.
func (f *Inference) take(list []Coefficient) error {
	if len(list) != len(f.coefficients) {
		return check.Fail(ErrModel, "coefficients", len(list), fmt.Sprintf("must be %d, as the model has", len(f.coefficients)))
	}
	var largest float64
	for _, c := range f.coefficients {
		largest = max(largest, math.Abs(c.Estimate))
	}
	for k, c := range list {
		own := f.coefficients[k]
		if c.Name != own.Name || c.Group != own.Group || c.Level != own.Level || c.Step != own.Step || !(math.Abs(c.Estimate-own.Estimate) <= 1e-6*largest) {
			return check.Fail(ErrModel, "coefficients", fmt.Sprintf("%q, %g", c.Name, c.Estimate), fmt.Sprintf("must be the model's: %q, %g", own.Name, own.Estimate))
		}
		if f.law == nil && !c.Undetermined() {
			return check.Fail(ErrModel, "law", nil, "must not be missing where a coefficient has a standard error")
		}
	}
	f.coefficients = list
	return nil
}

func newLawJSON(l *infer.Law) *lawJSON {
	if l == nil {
		return nil
	}
	weights := make([][]float64, l.Weights.RawMatrix().Rows)
	for i := range weights {
		weights[i] = mat.Row(nil, i, l.Weights)
	}
	var thresholds [][]float64
	if l.Thresholds != nil {
		thresholds = linalg.Triangle(l.Thresholds)
	}
	return &lawJSON{weights, linalg.Triangle(l.Covariance), linalg.Triangle(l.Misfit), linalg.Triangle(l.Inverse), l.Drowned, l.Hidden, l.Seen, l.Curved, l.Lacked, l.Adrift, l.Hessian, l.Scatter, l.Steepness.Mean, l.Steepness.Noise, l.Steepness.By, thresholds}
}

// law is nil where nothing is determined.
func (j *lawJSON) law(weights int) (*infer.Law, error) {
	if j == nil {
		return nil, nil
	}
	if len(j.Weights) != weights || len(j.Weights[0]) == 0 {
		return nil, check.Fail(ErrModel, "law.weights", len(j.Weights), fmt.Sprintf("must be rows of numbers, one for each of the model's %d weights", weights))
	}
	dim := len(j.Weights[0])
	l := &infer.Law{
		Weights: mat.NewDense(weights, dim, nil), Drowned: j.Drowned, Hidden: j.Hidden, Seen: j.Seen, Curved: j.Curved, Lacked: j.Lacked, Adrift: j.Adrift,
		Hessian: j.Hessian, Scatter: j.Scatter, Steepness: infer.Steepness{Mean: j.Steepness, Noise: j.Uncertain, By: j.Steeper},
	}
	if len(j.Steeper) != dim {
		return nil, check.Fail(ErrModel, "law.steepness_by", len(j.Steeper), fmt.Sprintf("must be %d numbers", dim))
	}
	if j.Lacked != nil && len(j.Lacked) != dim {
		return nil, check.Fail(ErrModel, "law.lacked", len(j.Lacked), fmt.Sprintf("must be %d numbers, or none", dim))
	}
	for _, row := range slices.Concat(j.Weights, j.Drowned) {
		if len(row) != dim {
			return nil, check.Fail(ErrModel, "law.weights, law.drowned", len(row), fmt.Sprintf("must be rows of %d numbers", dim))
		}
	}
	for i, row := range j.Weights {
		l.Weights.SetRow(i, row)
	}
	var err error
	if l.Covariance, err = symmetric("law.covariance", j.Covariance, dim); err != nil {
		return nil, err
	}
	if l.Misfit, err = symmetric("law.misfit", j.Misfit, dim); err != nil {
		return nil, err
	}
	if len(j.Thresholds) > 0 {
		if l.Thresholds, err = symmetric("law.thresholds", j.Thresholds, len(j.Thresholds)); err != nil {
			return nil, err
		}
	}
	l.Inverse, err = symmetric("law.inverse", j.Inverse, dim)
	return l, err
}

// symmetric is the matrix of dim rows of which linalg.Triangle gave these.
func symmetric(name string, rows [][]float64, dim int) (*mat.SymDense, error) {
	if len(rows) != dim {
		return nil, check.Fail(ErrModel, name, len(rows), fmt.Sprintf("must have %d rows", dim))
	}
	m := mat.NewSymDense(dim, nil)
	for i, row := range rows {
		if len(row) != dim-i {
			return nil, check.Fail(ErrModel, name, len(row), fmt.Sprintf("must have %d numbers in row %d", dim-i, i+1))
		}
		for k, v := range row {
			m.SetSym(i, i+k, v)
		}
	}
	return m, nil
}
