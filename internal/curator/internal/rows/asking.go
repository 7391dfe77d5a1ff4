package rows

import (
	"encoding/gob"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/losses"
)

// asked is a question about rows, as a value: whose exported fields are all that who holds the
// rows must be sent to answer it. An answer is the sum of those of the rows' blocks.
type asked interface {
	// cut is how the rows are read.
	cut(t *Table) cut
	// adder adds rows in memory, of which s are the sums.
	adder(s *Sums) adder
}

// cut is how rows are cut into blocks, and how many numbers a block's sum has.
type cut struct {
	blocks.Layout
	width int
	dim   int // of second moments, of which the numbers are the triangle; 0 for other sums
}

// inTiles is the cut of sums of so many numbers.
func (t *Table) inTiles(width int) cut { return cut{t.layout, width, 0} }

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
func frames(q any) (of []*InFrame) {
	switch q := q.(type) {
	case framed:
		return []*InFrame{q.frame()}
	case *combined:
		return frames(q.Of)
	case *joint:
		for _, j := range q.Of {
			of = append(of, frames(j.Of)...)
		}
	}
	return of
}

func init() {
	for _, q := range []any{
		&combined{}, &joint{}, &gradient{}, &weighted{}, &lossSums{}, &errorCounts{}, &labelSum{}, &totals{}, &labelKinds{},
		&besides{}, &hessian{}, &moments{}, &strangers{}, &classCounts{},
		&framedLengths{}, &framedSum{}, &framedSquares{}, &framedMoments{}, &framedGradient{}, &framedNorms{}, &framedSlopes{},
		&framedScatter{}, &framedCurvatures{}, &framedHessian{},
		&classGradient{}, &classNorms{}, &scaleSlope{}, &logOddsCounts{}, &ownLogOdds{}, &brier{}, &confusion{},
		&question{}, &copying{},
	} {
		gob.Register(q)
	}
}

// nothing is a question without arguments, which gob wouldn't send.
type nothing struct{}

// GobEncode writes nothing.
func (nothing) GobEncode() ([]byte, error) { return nil, nil }

// GobDecode reads nothing.
func (*nothing) GobDecode([]byte) error { return nil }

// sentLoss is a loss that can be sent.
type sentLoss struct{ losses.Loss }

// GobEncode is encodeLoss.
func (l sentLoss) GobEncode() ([]byte, error) { return encodeLoss(l.Loss) }

// GobDecode is decodeLoss.
func (l *sentLoss) GobDecode(data []byte) (err error) {
	l.Loss, err = decodeLoss(data)
	return err
}
