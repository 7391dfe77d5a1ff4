// Package dpglm trains generalized linear models under differential privacy.
//
// # A first model
//
//	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1})
//	model, err := dpglm.NoisyGD(ctx, data, dpglm.Problem{Loss: losses.Logistic{}},
//		dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, nil)
//	fmt.Println(model.Ledger())          // what was released, how private it is
//	p, err := model.Probabilities(xNew)  // raw features, as given to NewDataset
//
// The user states public facts (bounds or a Schema, a radius, a budget), never
// anything computed from the data; everything else has a default made of those.
//
// # Privacy
//
// Neighbouring data sets differ in the whole value of one row, features and
// label (replace-one); the number of rows is public. Every guarantee holds for
// the float64 values that are released: noise is drawn from an exact sampler on
// a grid, and sensitivities include the rounding of sums. A Model holds nothing
// that was computed from raw data except through a mechanism. Errors at intake
// (NewDataset, and the check of labels against a loss) may depend on the data
// and are for the curator only; after them nothing that is returned does.
// Running time and memory are outside the threat model.
//
// # Symbols
//
// [AB+22] is Arora, Bassily, Guzmán, Menart, Ullah, Differentially Private
// Generalized Linear Models Revisited, NeurIPS 2022, arXiv:2205.03014v2.
//
//	n           Shape.Rows             number of rows, public
//	d           Shape.Dim              number of weights, the intercept included
//	‖X‖         Shape.FeatureBound     bound on a row's L2 norm, enforced
//	–           Shape.LabelBound       bound Y on a label, enforced by clamping
//	B           Problem.Radius         radius of the constraint ball
//	‖Y‖²        Constants.AtZero       sup_y φ_y(0) (not the label bound)
//	H, H̃        Constants.Smoothness   sup φ''; H̃ = H‖X‖²
//	G           Constants.Slope        sup |φ'| over the ball, times ‖X‖
//	T, η        NoisyGDConfig          steps, step size
package dpglm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rows"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// The errors of this module, for errors.Is. Every error about an argument is
// an *ArgumentError that unwraps to one of them.
var (
	ErrShape  = check.ErrShape  // sizes that don't fit together
	ErrValue  = check.ErrValue  // data that is not finite
	ErrLabel  = check.ErrLabel  // a label outside the loss's domain
	ErrBound  = check.ErrBound  // a public bound
	ErrSchema = check.ErrSchema // a schema
	ErrBudget = check.ErrBudget // ε, δ or μ
	ErrConfig = check.ErrConfig // any other parameter
	ErrModel  = check.ErrModel  // a decoded model or ledger
)

// ArgumentError names a parameter, its value and the rule that it breaks.
type ArgumentError = check.Error

// Ledger lists the releases of a computation and is its privacy profile.
type Ledger = mechanisms.Ledger

// Interrupted is the error of a run that stopped after it may have drawn noise:
// its planned Ledger counts as spent, in full.
type Interrupted struct {
	Ledger *Ledger
	Err    error
}

func (e *Interrupted) Error() string {
	return fmt.Sprintf("dpglm: stopped before the end, the planned budget is spent: %v", e.Err)
}

func (e *Interrupted) Unwrap() error { return e.Err }

// Facts are public facts about a matrix's columns and its labels: Bounds or a
// Schema. They must not be derived from the data.
type Facts interface {
	encoding(columns int) (rows.Encoding, error)
	labelBound() float64
}

// Bounds are the plainest facts: a bound on each row's norm.
type Bounds struct {
	// Feature bounds each row's L2 norm; longer rows are scaled down to it.
	Feature float64 `json:"feature"`
	// Label bounds |y| for real labels and y for counts, which are clamped to
	// it. Binary losses don't read it; 0 means not given.
	Label float64 `json:"label,omitempty"`
	// Intercept appends the constant 1 to each row.
	Intercept bool `json:"intercept,omitempty"`
}

func (b Bounds) labelBound() float64 { return b.Label }

func (b Bounds) encoding(columns int) (rows.Encoding, error) {
	if err := check.Bound("Bounds.Feature", b.Feature); err != nil {
		return rows.Encoding{}, err
	}
	return rows.NewIdentity(columns, b.Feature, b.Intercept), nil
}

// Schema describes each column: numeric ranges, mapped linearly to [−1, 1], and
// groups of one-hot columns. With p numeric columns and g groups, a row's norm
// is at most √(p+g) however many columns the groups have; it is enforced.
type Schema struct {
	// Columns are the names of the matrix's columns, in their order.
	Columns []string `json:"columns"`
	// Numeric gives the public range [min, max] of a column; values outside
	// are clamped.
	Numeric map[string][2]float64 `json:"numeric,omitempty"`
	// OneHot gives the columns of each group, of which a row has at most one
	// equal to 1 and the others 0.
	OneHot map[string][]string `json:"onehot,omitempty"`
	// Label and Intercept are as in Bounds.
	Label     float64 `json:"label,omitempty"`
	Intercept bool    `json:"intercept,omitempty"`
}

func (s Schema) labelBound() float64 { return s.Label }

func (s Schema) encoding(columns int) (rows.Encoding, error) {
	if len(s.Columns) != columns {
		return rows.Encoding{}, check.Fail(ErrSchema, "len(Schema.Columns)", len(s.Columns), fmt.Sprintf("must equal the %d columns of the matrix", columns))
	}
	return rows.NewSchema(s.Columns, s.Numeric, s.OneHot, s.Intercept)
}

// Dataset is a table of bounded rows. It keeps a reference to the caller's
// matrix, which it never changes and which must not be changed while the
// Dataset is in use. It is safe for concurrent use.
type Dataset struct {
	table  *rows.Table
	labels []float64
	facts  Facts
}

// Sparse is a matrix in compressed sparse rows, which NewDataset and a Model read
// without making it dense.
type Sparse = rows.Sparse

// NewSparse makes a Sparse: row i has values[indptr[i]:indptr[i+1]] in the columns
// indices[indptr[i]:indptr[i+1]], which increase strictly. The slices are kept,
// not copied.
func NewSparse(nrows, ncols int, indptr, indices []int, values []float64) (*Sparse, error) {
	return rows.NewSparse(nrows, ncols, indptr, indices, values)
}

// NewDataset checks x, n×d, and the n labels y, and bounds the rows by the
// facts. It reads the matrix once. Sparse and gonum's dense matrices are read
// where they lie, a mat.RowNonZeroDoer is compressed once, and any other
// mat.Matrix works, element by element.
func NewDataset(x mat.Matrix, y []float64, facts Facts) (*Dataset, error) {
	if x == nil || facts == nil {
		return nil, check.Fail(ErrConfig, "x, facts", nil, "must not be nil")
	}
	n, d := x.Dims()
	if n != len(y) {
		return nil, check.Fail(ErrShape, "len(y)", len(y), fmt.Sprintf("must equal the %d rows of x", n))
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, check.Fail(ErrValue, fmt.Sprintf("label of row %d", i), nil, "must be finite")
		}
	}
	if b := facts.labelBound(); b != 0 {
		if err := check.Bound("label bound", b); err != nil {
			return nil, err
		}
	}
	enc, err := facts.encoding(d)
	if err != nil {
		return nil, err
	}
	table, err := rows.NewTable(x, enc)
	if err != nil {
		return nil, err
	}
	return &Dataset{table: table, labels: slices.Clone(y), facts: facts}, nil
}

// Shape returns the data set's public facts.
func (d *Dataset) Shape() Shape {
	e := d.table.Encoding()
	return Shape{Rows: d.table.Rows(), Dim: e.Dim(), Intercept: e.Intercept, FeatureBound: e.FeatureBound(), LabelBound: d.facts.labelBound()}
}

// sums binds the labels to a loss.
func (d *Dataset) sums(loss losses.Loss) (*rows.Sums, error) {
	return rows.NewSums(d.table, d.labels, d.facts.labelBound(), loss)
}

// pick returns the data set of the given rows.
func (d *Dataset) pick(order []int) *Dataset {
	labels := make([]float64, len(order))
	for k, i := range order {
		labels[k] = d.labels[i]
	}
	return &Dataset{d.table.Pick(order), labels, d.facts}
}

// Shape is what a Learner may know of a data set: public numbers.
type Shape struct {
	Rows         int     // n
	Dim          int     // number of weights, the intercept's included
	Intercept    bool    // whether the last weight is an intercept's
	FeatureBound float64 // bound on a row's L2 norm, the intercept included
	LabelBound   float64 // bound on a label; 0 where none was given
}

func (s Shape) validate() error {
	if s.Rows < 1 || s.Dim < 1 {
		return check.Fail(ErrShape, "Shape", fmt.Sprintf("%d×%d", s.Rows, s.Dim), "must have at least one row and one column")
	}
	return check.Bound("feature bound", s.FeatureBound)
}

// Problem is what to minimise: the mean loss over the ball ‖w‖₂ ≤ Radius.
type Problem struct {
	Loss losses.Loss
	// Radius of the ball; 0 takes the default, which lets the scores of rows at
	// the feature bound reach ±100 for binary losses and ±4 label bounds Y for
	// real labels: rows are often much shorter than their bound. For counts it
	// is ±(1 + log(1+Y)), means from 1/(e(1+Y)) to e(1+Y): noise grows with the
	// largest mean.
	Radius float64
}

// resolve checks the problem and fills in the default radius.
func (p Problem) resolve(s Shape) (Problem, error) {
	if err := losses.Check(p.Loss); err != nil {
		return p, err
	}
	if err := losses.LabelBound(p.Loss.Labels(), s.LabelBound); err != nil {
		return p, err
	}
	if p.Radius == 0 {
		p.Radius = defaultScore(p.Loss.Labels(), s.LabelBound) / s.FeatureBound
	}
	if err := check.Bound("Problem.Radius", p.Radius); err != nil {
		return p, err
	}
	return p, losses.Usable(p.Loss, s.FeatureBound*p.Radius, s.LabelBound)
}

// defaultScore is the score that a row at the feature bound reaches on the
// default ball.
func defaultScore(l losses.Labels, labelBound float64) float64 {
	switch l {
	case losses.Real:
		return 4 * labelBound
	case losses.Count:
		return 1 + math.Log1p(labelBound)
	default:
		return 100
	}
}

// Budget is how much privacy may be spent. There is no default: make one with
// ApproxDP or GDP.
type Budget struct{ epsilon, delta, mu float64 }

// ApproxDP is (ε, δ)-differential privacy.
func ApproxDP(epsilon, delta float64) Budget { return Budget{epsilon: epsilon, delta: delta} }

// GDP is μ-Gaussian differential privacy.
func GDP(mu float64) Budget { return Budget{mu: mu} }

func (b Budget) String() string {
	if b.mu != 0 {
		return fmt.Sprintf("%g-GDP", b.mu)
	}
	return fmt.Sprintf("(ε = %g, δ = %g)-DP", b.epsilon, b.delta)
}

// gaussian splits the budget over releases of dim coordinates each.
func (b Budget) gaussian(releases, dim int) (mechanisms.Gaussian, error) {
	if b.mu != 0 {
		return mechanisms.Gaussian{Mu: b.mu / math.Sqrt(float64(releases))}, check.Mu(b.mu)
	}
	return mechanisms.CalibrateGaussian(b.epsilon, b.delta, releases, dim)
}

// Env carries what is neither data nor parameters. nil is a valid Env: noise
// from a fresh cryptographic source, and silence.
type Env struct {
	// NoiseForTests replaces the cryptographic source of the privacy noise, for
	// reproducible tests and experiments. The model's ledger then says that the
	// guarantee depends on the secrecy of this source.
	NoiseForTests mechanisms.Source
	// Progress, if set, is called after each step with public counters only.
	Progress func(done, total int)
}

func (e *Env) noise() mechanisms.Source {
	if e != nil && e.NoiseForTests != nil {
		return e.NoiseForTests
	}
	return mechanisms.NewSecureSource()
}

func (e *Env) progress(done, total int) {
	if e != nil && e.Progress != nil {
		e.Progress(done, total)
	}
}

// Learner is a private training algorithm with its parameters. Plan sees public
// facts only, checks every argument and calibrates the noise.
type Learner interface {
	Plan(Shape, Problem, Budget) (*Plan, error)
}

// Plan is a calibrated computation that has not seen data yet: a dry run shows
// what it would cost and how noisy it would be.
type Plan struct {
	// Learner is the learner with every default replaced by its value.
	Learner Learner
	// Problem is the problem with its default radius filled in.
	Problem Problem
	// Ledger is what a run spends.
	Ledger *Ledger

	shape Shape
	// run returns the released weights of a data set of the plan's shape, whose
	// labels have been checked against the loss.
	run func(context.Context, *Dataset, *Env) ([]float64, error)
}

// Run trains on d, which must have the shape of the plan. If ctx is cancelled
// before the first noise is drawn, nothing is spent; after that the error is
// *Interrupted.
func (p *Plan) Run(ctx context.Context, d *Dataset, env *Env) (*Model, error) {
	if d == nil {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must not be nil")
	}
	if d.Shape() != p.shape {
		return nil, check.Fail(ErrShape, "dataset", fmt.Sprintf("%+v", d.Shape()), fmt.Sprintf("must have the plan's shape %+v", p.shape))
	}
	if _, err := d.sums(p.Problem.Loss); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, err := p.run(ctx, d, env)
	if err != nil {
		return nil, &Interrupted{p.Ledger, err}
	}
	ledger := p.Ledger
	if env != nil && env.NoiseForTests != nil {
		ledger = ledger.WithCallerNoise()
	}
	return newModel(w, d.facts, d.table.Encoding(), p.Problem.Loss, ledger), nil
}

// fit plans and runs.
func fit(ctx context.Context, l Learner, d *Dataset, p Problem, b Budget, env *Env) (*Model, error) {
	if d == nil {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must not be nil")
	}
	plan, err := l.Plan(d.Shape(), p, b)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx, d, env)
}

// Model is a released linear model. It holds the weights, the public facts that
// it needs to predict on raw features, and the ledger; nothing else that was
// computed from data. It is immutable and safe for concurrent use.
type Model struct {
	weights []float64
	facts   Facts
	columns int
	loss    string
	labels  losses.Labels
	link    losses.Link
	ledger  *Ledger
}

func newModel(w []float64, facts Facts, enc *rows.Encoding, loss losses.Loss, ledger *Ledger) *Model {
	return &Model{w, facts, enc.Columns, loss.Name(), loss.Labels(), losses.LinkOf(loss), ledger}
}

// Weights returns a copy of the weights of the encoded features (scaled to
// [−1, 1] where a Schema says so), the intercept last if there is one.
func (m *Model) Weights() []float64 { return slices.Clone(m.weights) }

// Ledger returns what training released, and how private that is.
func (m *Model) Ledger() *Ledger { return m.ledger }

// Scores returns ⟨w, x⟩ for each row of raw features, bounded as in training.
func (m *Model) Scores(x mat.Matrix) ([]float64, error) {
	if x == nil {
		return nil, check.Fail(ErrConfig, "x", nil, "must not be nil")
	}
	enc, err := m.facts.encoding(m.columns)
	if err != nil {
		return nil, err
	}
	table, err := rows.NewTable(x, enc)
	if err != nil {
		return nil, err
	}
	z := make([]float64, table.Rows())
	table.Scores(z, m.weights)
	return z, nil
}

// Predict returns a prediction for each row of raw features: the class 1 or 0
// for binary losses, the mean count for counts, the score otherwise.
func (m *Model) Predict(x mat.Matrix) ([]float64, error) {
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	for i, v := range z {
		switch {
		case m.labels == losses.Binary && v > 0:
			z[i] = 1
		case m.labels == losses.Binary:
			z[i] = 0
		default:
			z[i] = m.link.Mean(v)
		}
	}
	return z, nil
}

// Probabilities returns the probability of class 1 for each row of raw
// features; only the logistic loss defines one.
func (m *Model) Probabilities(x mat.Matrix) ([]float64, error) {
	if m.link != losses.Logit {
		return nil, check.Fail(ErrConfig, "loss", m.loss, "defines no probabilities")
	}
	z, err := m.Scores(x)
	for i, v := range z {
		z[i] = m.link.Mean(v)
	}
	return z, err
}

type modelJSON struct {
	Loss    string        `json:"loss"`
	Labels  losses.Labels `json:"labels"`
	Link    losses.Link   `json:"link"`
	Columns int           `json:"columns"`
	Bounds  *Bounds       `json:"bounds,omitempty"`
	Schema  *Schema       `json:"schema,omitempty"`
	Weights []float64     `json:"weights"`
	Ledger  *Ledger       `json:"ledger"`
}

// MarshalJSON writes the model.
func (m *Model) MarshalJSON() ([]byte, error) {
	j := modelJSON{Loss: m.loss, Labels: m.labels, Link: m.link, Columns: m.columns, Weights: m.weights, Ledger: m.ledger}
	switch f := m.facts.(type) {
	case Bounds:
		j.Bounds = &f
	case Schema:
		j.Schema = &f
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a model that MarshalJSON wrote and refuses any other.
func (m *Model) UnmarshalJSON(data []byte) error {
	var j modelJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	d := Model{j.Weights, nil, j.Columns, j.Loss, j.Labels, j.Link, j.Ledger}
	switch {
	case j.Bounds != nil && j.Schema == nil:
		d.facts = *j.Bounds
	case j.Schema != nil && j.Bounds == nil:
		d.facts = *j.Schema
	default:
		return check.Fail(ErrModel, "bounds, schema", nil, "must have exactly one of them")
	}
	if err := d.validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	*m = d
	return nil
}

func (m *Model) validate() error {
	if m.ledger == nil {
		return check.Fail(ErrModel, "ledger", nil, "is missing")
	}
	if m.columns < 1 || m.columns > len(m.weights) {
		return check.Fail(ErrShape, "columns", m.columns, "must fit the weights")
	}
	enc, err := m.facts.encoding(m.columns)
	if err != nil {
		return err
	}
	if len(m.weights) != enc.Dim() {
		return check.Fail(ErrShape, "weights", len(m.weights), fmt.Sprintf("must have length %d", enc.Dim()))
	}
	for j, w := range m.weights {
		if math.IsNaN(w) || math.Abs(w) > check.MaxScale*check.MaxScale {
			return check.Fail(ErrValue, "weights", w, fmt.Sprintf("must be finite at %d", j))
		}
	}
	if !m.labels.Valid() || !m.link.Valid() {
		return check.Fail(ErrModel, "labels, link", fmt.Sprintf("%q, %q", m.labels, m.link), "must be known")
	}
	return nil
}
