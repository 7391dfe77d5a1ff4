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

// framed are questions about rows in frames, whose norms there are measured where they arrive.
type framed interface{ frames() []rows.Measure }

func framesOf(q any) []rows.Measure {
	if q, ok := q.(framed); ok {
		return q.frames()
	}
	return nil
}

// asking is a question of sums, as a pass over the rows of their table.
type asking struct {
	Labels sentLabels
	Of     asked
	s      *Sums   // of this process; nil where it has arrived
	row    float64 // bound on what a row adds; 0 where none is told
	counts bool    // whether that are whole numbers
}

// normBound bounds what a row adds as computed: the room of a millionth is more than rounding takes.
func (q *asking) normBound() float64 { return q.row * (1 + 1e-6) }

// sentLabels are labels under a loss, and offsets.
type sentLabels struct {
	Loss          sentLoss
	Centre, Bound float64
	Offsets       rows.Range
}

func (q *asking) Cut(t *rows.Table) rows.Cut { return q.Of.cut(t) }
func (q *asking) Shifted() bool              { return q.Labels.Offsets != rows.Range{} }
func (q *asking) Measures() []rows.Measure   { return framesOf(q.Of) }

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
