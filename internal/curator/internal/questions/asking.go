package questions

import (
	"encoding/gob"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// asked is a question about rows, as a value: whose exported fields are all that who holds the
// rows must be sent to answer it. An answer is the sum of those of the rows' blocks.
type asked interface {
	// cut is how the rows are read.
	cut(t *rows.Table) rows.Cut
	// adder adds rows in memory, of which s are the sums.
	adder(s *Sums) rows.Adder
}

// combination is a question about a sum Σ cᵢxᵢ: see combine.
type combination interface {
	weights() []float64
	// coefficients make the cᵢ of the scores at the weights.
	coefficients(s *Sums) coefficients
	// atOnce is a faster way, with the same bits; nil for none. It has no totals.
	atOnce() atOnce
	// totals reports whether Σ cᵢ and Σ kᵢ are asked for, too.
	totals() bool
}

// InFrame is what questions about rows in a frame have in common.
type InFrame struct {
	Frame Frame
	r     *Framed // the rows in it; nil until they are bound
}

func (q *InFrame) frame() *InFrame { return q }

// framed are questions about rows in a frame, which are bound to these where they arrive.
type framed interface{ frame() *InFrame }

// on are the rows of a part in the frame.
func (q *InFrame) on(s *Sums) *Framed { return q.r.on(s) }

func (r *Framed) in() InFrame { return InFrame{r.f, r} }

// frames are the frames of a question that has arrived.
func frames(q asked) (of []rows.Measure) {
	switch q := q.(type) {
	case *combined:
		return framesOf(q.Of)
	case *joint:
		for _, j := range q.Of {
			of = append(of, framesOf(j.Of)...)
		}
		return of
	}
	return framesOf(q)
}

func framesOf(q any) []rows.Measure {
	if q, ok := q.(framed); ok {
		return []rows.Measure{q.frame()}
	}
	return nil
}

// asking is a question of sums, as a pass over the rows of their table.
type asking struct {
	Labels sentLabels
	Of     asked
	s      *Sums // of this process; nil where it has arrived
}

// sentLabels are labels under a loss, and offsets.
type sentLabels struct {
	Loss          sentLoss
	Centre, Bound float64
	Offsets       rows.Range
}

func (q *asking) Cut(t *rows.Table) rows.Cut { return q.Of.cut(t) }
func (q *asking) Shifted() bool              { return q.Labels.Offsets != rows.Range{} }
func (q *asking) Measures() []rows.Measure {
	if q.Of == nil {
		return nil
	}
	return frames(q.Of)
}

func (q *asking) Add(p *rows.Part) rows.Adder {
	s, l := q.s, &q.Labels
	if s == nil {
		s = (&Sums{loss: l.Loss.Loss, labelCentre: l.Centre, labelBound: l.Bound}).Shift(nil, l.Offsets)
	}
	return q.Of.adder(s.part(p))
}

func init() { gob.Register(&asking{}) }

// sentLoss is a loss that can be sent.
type sentLoss struct{ losses.Loss }

// GobEncode is encodeLoss.
func (l sentLoss) GobEncode() ([]byte, error) { return encodeLoss(l.Loss) }

// GobDecode is decodeLoss.
func (l *sentLoss) GobDecode(data []byte) (err error) {
	l.Loss, err = decodeLoss(data)
	return err
}
