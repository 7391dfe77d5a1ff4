package table

import (
	"math"
	"slices"
)

// Encoder turns records into features as a schema says, for training and for
// prediction alike. Each feature lies in [−1, 1]:
//
//   - a number x of the range [lo, hi], or its logarithm, is u = 2(x−lo)/(hi−lo) − 1;
//     days since the origin too. A missing one with an indicator is u = 0.
//   - its square is 2u² − 1, and the splines of u are a basis without the first.
//   - a level is 1 and the others 0, the reference being all 0; so are the columns of a
//     one-hot group.
//   - an interaction is a product: u·v, u where the level is that one, or 1 where both
//     levels are.
//
// An Encoder is immutable, and safe for concurrent use.
type Encoder struct {
	schema   Schema
	inputs   []*input
	fields   []field        // of the inputs, nil for a OneHot
	oneHots  []*oneHotField // nil for the others
	blocks   []block
	features []Feature
	splines  []basis // by block
	label    *labelField
}

// NewEncoder makes the encoder of a valid schema, of a [Followup] that of its Episodes. It fails as [Schema.Validate] does.
func NewEncoder(s Schema) (*Encoder, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	e := &Encoder{schema: s.Episodes().clone()}
	e.schema.spread()
	e.blocks, e.features = blocks(&e.schema), layout(&e.schema)
	e.label = newLabelField(&e.schema, e.schema.column(s.Label))
	e.splines = make([]basis, len(e.blocks))
	for i, b := range e.blocks {
		if b.a.at == len(e.inputs) { // each input begins with a block of its own
			e.inputs = append(e.inputs, b.a)
			var f field
			var g *oneHotField
			if b.a.column.Kind == OneHot {
				g = newOneHotField(&e.schema, b.a)
			} else {
				f = newField(&e.schema, b.a)
			}
			e.fields, e.oneHots = append(e.fields, f), append(e.oneHots, g)
		}
		if b.shape == spline {
			e.splines[i] = newBasis(b.a.knots())
		}
	}
	return e, nil
}

// Schema returns a copy of the encoder's schema.
func (e *Encoder) Schema() Schema { return e.schema.clone() }

// Label says how labels are read.
func (e *Encoder) Label() Label {
	if e.label == nil {
		return Label{}
	}
	l := e.label.facts
	l.Levels, l.Shares = slices.Clone(l.Levels), slices.Clone(l.Shares)
	return l
}

// Exposure returns the public range of the exposure, or of that whose logarithm is the offset; zeros if the schema has neither.
func (e *Encoder) Exposure() (low, high float64) {
	c := e.schema.column(e.schema.AtRisk())
	switch {
	case c == nil:
		return 0, 0
	case e.schema.Offset != "":
		return math.Exp(c.Range[0]), math.Exp(c.Range[1])
	}
	return c.Range[0], c.Range[1]
}

// Weights returns the public range of the weights; zeros if the schema has none.
func (e *Encoder) Weights() (low, high float64) {
	if c := e.schema.column(e.schema.Weight); c != nil {
		return c.Range[0], c.Range[1]
	}
	return 0, 0
}

// Features describes the features, in their order.
func (e *Encoder) Features() []Feature {
	out := slices.Clone(e.features)
	for i, f := range out {
		out[i].Columns, out[i].Levels = slices.Clone(f.Columns), slices.Clone(f.Levels)
	}
	return out
}

// Bound is a bound on the L2 norm of every encoded row: the root of the number of
// blocks, each of which adds at most 1 to the norm's square. It follows from the
// schema alone.
func (e *Encoder) Bound() float64 { return math.Sqrt(float64(len(e.blocks))) }

// Inputs are the columns that a record needs for prediction.
func (e *Encoder) Inputs() []string {
	var names []string
	for _, in := range e.inputs {
		names = append(names, in.files...)
	}
	return names
}
