package dpglm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// Dataset is a table of bounded rows. It keeps a reference to the caller's
// matrix, which it never changes and which must not be changed while the
// Dataset is in use. It prints its shape only. It is safe for concurrent use.
type Dataset struct {
	data  *curator.Data
	facts Facts
}

// NewDataset checks x, n×d, and the n labels y, and bounds the rows by the
// facts. It reads the matrix once. A [Sparse], a table.CSR and a mat.Dense are read where
// they lie, a type that declares a mat.RowNonZeroDoer's method itself is compressed once,
// and any other mat.Matrix is read element by element, so that a type which embeds
// one of these may override At.
//
// Each row is a person's only one, unless [Persons] are given with it; rows may have
// [Weights] and [Offsets], too.
//
// It fails where sizes don't fit (ErrShape), the facts break their rules (ErrBound, ErrSchema), or
// a value isn't finite (ErrValue); whether labels suit a loss is checked when one is given.
// Its errors are those of intake: they may depend on the data (they name the row, counted
// from 1 as package table does, and the column, never a value), and are for the curator's
// eyes only.
func NewDataset(x mat.Matrix, y []float64, facts Facts, more ...RowDetail) (*Dataset, error) {
	x, columns, err := raw(x)
	if err != nil {
		return nil, err
	}
	if facts, err = ownFacts(facts); err != nil {
		return nil, err
	}
	centre, bound, err := facts.labels()
	if err != nil {
		return nil, err
	}
	enc, err := facts.encoding(columns)
	if err != nil {
		return nil, err
	}
	data, err := curator.Open(x, y, enc, centre, bound)
	if err != nil {
		return nil, err
	}
	if data, err = apply(data, more); err != nil {
		return nil, err
	}
	return &Dataset{data, facts}, nil
}

// raw returns the matrix that curator reads in place of x, and its columns.
func raw(x mat.Matrix) (mat.Matrix, int, error) {
	switch s := x.(type) {
	case *Sparse:
		if s != nil && s.matrix != nil {
			x = s.matrix
		}
	case *table.CSR:
		if s != nil {
			m, err := NewSparse(s.Rows, s.Cols, s.Indptr, s.Indices, s.Values)
			if err != nil {
				return nil, 0, err
			}
			x = m.matrix
		}
	}
	columns, err := curator.Columns(x)
	return x, columns, err
}

// Shape returns the data set's public facts.
func (d *Dataset) Shape() Shape {
	if d == nil || d.data == nil {
		return Shape{}
	}
	return shapeOf(d.data)
}

func shapeOf(d *curator.Data) Shape {
	f := d.Facts()
	return Shape{Rows: f.Rows, Dim: f.Dim, Intercept: f.Intercept, FeatureBound: f.FeatureBound, LabelCentre: f.LabelCentre, LabelBound: f.LabelBound,
		PersonRows: f.Persons.Most, EachRow: f.Persons.Each, PersonsOccur: f.Persons.Occur, Weighted: f.Weighted, AddRemove: f.AddRemove, OffsetRange: f.Offsets}
}

// given refuses a data set or a context that is missing, a problem that isn't for the labels of a
// table, and a cancelled context.
func (d *Dataset) given(ctx context.Context, p Problem) error {
	if d == nil || d.data == nil {
		return check.Fail(ErrConfig, "dataset", nil, "must be made by NewDataset")
	}
	if ctx == nil {
		return check.Fail(ErrConfig, "context", nil, "must not be nil")
	}
	return cmp.Or(d.suits(p), check.Cancelled(ctx))
}

// whole is given for what asks more of the rows than several parties answer.
func (d *Dataset) whole(ctx context.Context, p Problem) error {
	if err := d.given(ctx, p); err != nil {
		return err
	}
	return ofOneParty(d.data)
}

// protects refuses data whose schema took ranges or levels from the rows, unless a guarantee is for labels alone, and then those of
// which a condition on the label says who is there.
func protects(d *Dataset, l *Ledger) error {
	e := encoderOf(d.facts)
	if e == nil {
		return nil
	}
	s := e.Schema()
	if l.Unit() == mechanisms.OneLabel() {
		if slices.ContainsFunc(s.Where, func(c table.Condition) bool { return c.Column == s.Label }) {
			return check.Fail(ErrBudget, "budget", nil, "must protect rows, as the schema has a condition on the label, which says who is there")
		}
		return nil
	}
	if !s.Observed() {
		return nil
	}
	return check.Fail(ErrBudget, "budget", nil, "must be for labels only, by Budget.LabelsOnly, as the schema has ranges or levels that were taken from the rows")
}

// ofOneParty refuses rows that several parties hold.
func ofOneParty(d *curator.Data) error {
	if d.Parties() {
		return check.Fail(ErrConfig, "dataset", nil, "must have its rows with one party: several answer NoisyGD, StandardisedGD, Softmax, Infer, Moments and Evaluate, and OneAgainstRest of the first two")
	}
	return nil
}

// Format prints the shape, whatever the verb: fmt would print the rows.
func (d *Dataset) Format(f fmt.State, _ rune) {
	s := d.Shape()
	fmt.Fprintf(f, "dpglm.Dataset of %s × %d weights", s.units(s.Rows), s.Dim)
}

// levels finds, once it is asked, the columns of each group of levels.
func (d *Dataset) levels() func() [][]int {
	return sync.OnceValue(func() [][]int { return levelsOf(d.facts) })
}

// ranged finds, once it is asked, the columns that may have a range that is too wide.
func (d *Dataset) ranged() func() []int {
	return sync.OnceValue(func() []int { return rangedOf(d.facts) })
}

// Split returns two disjoint parts of the rows, to train on and to evaluate on: the
// second has the given fraction of them, in (0, 1), rounded up. Which rows these are
// depends on the seed and the number of rows only. With [Persons] they are all rows of so
// many places in the persons' secret order.
//
// It fails for another fraction, and where a part would have no row.
//
// # Privacy
//
// Replace-one. A row lies in one part, whatever it is, so what is computed from the
// first part and what from the second compose in parallel ([mechanisms.Parallel]), also
// where the second computation depends on what the first released: each may have the
// whole budget. That holds for parts of one call only: parts of two calls with other
// seeds share rows, and their ledgers add up. The rows of a group may lie in both parts.
// Under a budget for groups ([Budget.ForGroups]) two parts with Gaussian noise still fit
// together, and two with pure ε-DP, as √(k₁² + k₂²) and k₁ + k₂ are at most k for
// k₁ + k₂ = k. Others, as [ObjectivePerturbation] under (ε, δ), may not: hold the ledger
// of both against the budget, by [mechanisms.Ledger.GroupWithin].
func (d *Dataset) Split(fraction float64, seed uint64) (train, held *Dataset, err error) {
	if d == nil || d.data == nil {
		return nil, nil, check.Fail(ErrConfig, "dataset", nil, "must be made by NewDataset")
	}
	if err := ofOneParty(d.data); err != nil {
		return nil, nil, err
	}
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, check.Fail(ErrConfig, "fraction", fraction, "must lie strictly between 0 and 1")
	}
	n := d.data.Len()
	second := int(math.Ceil(fraction * float64(n)))
	if second >= n {
		return nil, nil, check.Fail(ErrShape, "rows", n, "must suffice for two parts")
	}
	parts := d.data.Split(seed, n-second, second)
	return &Dataset{parts[0], d.facts}, &Dataset{parts[1], d.facts}, nil
}

// Sparse is a matrix in compressed sparse rows, which [NewDataset] and a [Model] read
// without making it dense. It is read-only, and prints its shape only. [NewSparse] makes one;
// the zero value has no elements.
type Sparse struct{ matrix *curator.Sparse }

var _ mat.Matrix = (*Sparse)(nil)

// NewSparse makes a Sparse: row i has values[indptr[i]:indptr[i+1]] in the columns
// indices[indptr[i]:indptr[i+1]], which increase strictly. The slices are kept,
// not copied. It checks that they describe a rows×cols matrix, in
// O(rows + nonzeros); the error wraps [ErrShape].
func NewSparse(rows, cols int, indptr, indices []int, values []float64) (*Sparse, error) {
	m, err := curator.NewSparse(rows, cols, indptr, indices, values)
	if err != nil {
		return nil, err
	}
	return &Sparse{m}, nil
}

// Dims returns the numbers of rows and columns.
func (s *Sparse) Dims() (rows, cols int) {
	if s.matrix == nil {
		return 0, 0
	}
	return s.matrix.Dims()
}

// At returns one element, in time logarithmic in the row's nonzeros; it panics where
// there is none, as gonum's matrices do.
func (s *Sparse) At(i, j int) float64 {
	if s.matrix == nil {
		panic(mat.ErrRowAccess)
	}
	return s.matrix.At(i, j)
}

// T returns the transpose.
func (s *Sparse) T() mat.Matrix { return mat.Transpose{Matrix: s} }

// Format prints the shape, whatever the verb.
func (s Sparse) Format(f fmt.State, _ rune) {
	if s.matrix == nil {
		fmt.Fprint(f, "dpglm.Sparse, empty")
		return
	}
	rows, cols := s.Dims()
	fmt.Fprintf(f, "dpglm.Sparse of %d×%d", rows, cols)
}

// NewTableDataset takes the rows, labels and public facts of a table that was read for
// training, and adds an intercept. Models that are trained on it carry the table's
// schema: [Model.Encode] reads records by the names of their columns, and
// [Model.Coefficients] are in the columns' units.
//
// Where the schema names persons, the guarantee is for a person with all rows, of which at
// most its max_rows count, each alike, or with "persons_alike" each person ([Persons]). Ids tell persons apart, are
// secret and mean nothing else. The number of persons is the schema's "persons", or where it has none that of the ids
// that occur, which then is public. Where the schema names an exposure,
// its logarithm is the score's offset ([Offsets]): labels, which are counts, have means in
// proportion to it. Its "offset" is one as it is.
//
// Where the label has several levels, they are the classes of [Softmax], in their order, or
// those of losses.Ordinal.
//
// It fails for a nil table, one without labels, and an exposure beside labels that aren't
// counts.
func NewTableDataset(t *table.Table, order ...PersonOrder) (*Dataset, error) {
	if t == nil {
		return nil, check.Fail(ErrConfig, "table", nil, "must not be nil")
	}
	if t.Labels() == nil {
		return nil, check.Fail(ErrLabel, "table", nil, "has no labels; read it by table.Read, not by table.ReadFeatures")
	}
	if err := suitsExposure(t.Exposure() != nil, t.Label()); err != nil {
		return nil, err
	}
	details := rowDetails(t)
	for _, o := range order {
		details = append(details, o)
	}
	d, err := NewDataset(t.Matrix(), t.Labels(), factsOf(t), details...)
	if err == nil && t.CallersCoins() {
		d.data = d.data.InKnownOrder()
	}
	return d, err
}

// suitsExposure refuses an exposure beside labels that aren't counts.
func suitsExposure(given bool, label table.Label) error {
	if given && label.Kind != table.Count {
		return check.Fail(ErrConfig, "exposure or offset", nil, "is for labels that are counts; leave it out of the schema, or make it a feature")
	}
	return nil
}

// rowDetails are the persons and exposures of a table.
func rowDetails(t *table.Table) (details []RowDetail) {
	e := t.Encoder()
	if t.Persons() != nil {
		p := Persons{Of: t.Persons(), MaxRows: e.Schema().MaxRows, Alike: e.Schema().PersonsAlike}
		if e.Schema().Persons > 0 || e.Schema().Recorded() && t.AtMost() == 0 {
			p.Count = t.PersonCount()
		}
		details = append(details, p)
	}
	if t.AtMost() > 0 {
		details = append(details, AddRemove{AtMost: t.AtMost()})
	}
	if t.Weights() != nil {
		_, most := e.Weights()
		details = append(details, Weights{Of: t.Weights(), Max: most})
	}
	if t.Exposure() != nil {
		lo, hi := e.Exposure()
		details = append(details, Offsets{Of: t.LogExposure(), Range: [2]float64{math.Log(lo), math.Log(hi)}})
	}
	return details
}

// factsOf are a table's, with its encoder where there is one.
func factsOf(t *table.Table) Facts {
	if e := t.Encoder(); e != nil {
		return newTableFacts(e)
	}
	return Bounds{Feature: t.Bound(), LabelRange: t.Label().Range, Intercept: true}
}

// suits refuses a problem that is not for the label as a table's schema describes it.
func (d *Dataset) suits(p Problem) error {
	f, ok := d.facts.(tableFacts)
	if !ok || p.Loss == nil { // a walk has none
		return nil
	}
	if err := check.Valid("Problem.Loss", p.Loss); err != nil {
		return err
	}
	kind, label := p.Loss.Labels(), f.encoder.Label()
	if label.Levels != nil {
		return p.suitsLevels(label)
	}
	if label.Kind == table.Binary && p.Classes != 0 && p.Classes != 2 {
		return check.Fail(ErrConfig, "Problem.Classes", p.Classes, fmt.Sprintf("must be 0, or 2: %q is binary by the table's schema", label.Column))
	}
	if (kind == losses.Binary) != (label.Kind == table.Binary) && p.Classes == 0 || kind == losses.Count && label.Kind != table.Count {
		return check.Fail(ErrLabel, "Problem.Loss", p.Loss.Name(), fmt.Sprintf("takes %s labels, and %q is %s by the table's schema", kind, label.Column, label.Kind))
	}
	return nil
}

// suitsLevels refuses a problem that is not for the levels of a table's label.
func (p Problem) suitsLevels(label table.Label) error {
	ordinal, ok := p.Loss.(losses.Ordinal)
	switch k := len(label.Levels); {
	case p.Classes != 0 && p.Classes != k:
		return check.Fail(ErrConfig, "Problem.Classes", p.Classes, fmt.Sprintf("must be %d, the levels of %q by the table's schema", k, label.Column))
	case p.Classes != 0:
		return nil
	case !ok:
		return check.Fail(ErrLabel, "Problem.Loss", p.Loss.Name(), fmt.Sprintf("is for one score, and %q has %d levels by the table's schema: they are Problem.Classes or, where they ascend, for losses.OrdinalFromFractions or Ordinal", label.Column, k))
	case !label.Ordered:
		return check.Fail(ErrLabel, "Problem.Loss", p.Loss.Name(), fmt.Sprintf(`is for levels that ascend; the table's schema must say so of %q by "ordered", or Problem.Classes their number`, label.Column))
	case len(ordinal.Filled().Thresholds) != k-1:
		return check.Fail(ErrLabel, "Problem.Loss", p.Loss.Name(), fmt.Sprintf("must have %d thresholds for the %d levels of %q by the table's schema", k-1, k, label.Column))
	}
	return nil
}
