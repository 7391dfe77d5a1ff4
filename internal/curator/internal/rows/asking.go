package rows

import (
	"context"
	"strings"

	"github.com/dpglm/dpglm/losses"
)

// asked is a question of Sums, or of Framed, as it can be sent to where rows are: Kind says
// which, and the other fields are its arguments.
type asked struct {
	Kind                   string
	Frame                  *Frame // of a question of Framed
	W                      []float64
	Many                   [][]float64
	Edges                  []float64
	Offset, Clip, Constant float64
	Most, Longest          float64
	Slope                  Slope
	Classes                int // of a question about classes, and what it is about
	At                     ClassPoint
	Cells                  [][]float64
	Counted                Counted
	Odds                   []byte // a loss, as it is sent
	odds                   losses.Loss
	Copy                   *copying
	Together               []joined // questions that one reading answers
}

// joined is one of the questions that one reading answers.
type joined struct {
	Loss  []byte
	loss  losses.Loss
	Asked asked
}

type askedKey struct{}

// asking returns a context that says what its passes are for.
func asking(ctx context.Context, q asked) context.Context {
	return context.WithValue(ctx, askedKey{}, q)
}

// askedIn is what a context says that passes are for, nil for nothing.
func askedIn(ctx context.Context) *asked {
	if q, ok := ctx.Value(askedKey{}).(asked); ok {
		return &q
	}
	return nil
}

// encode writes losses in a form that can be sent.
func (q *asked) encode() (err error) {
	if q.Odds, err = encodeLoss(q.odds); err != nil {
		return err
	}
	for k := range q.Together {
		if q.Together[k].Loss, err = encodeLoss(q.Together[k].loss); err != nil {
			return err
		}
	}
	return nil
}

// frame is that of a question of Framed. One that changes nothing is nil when it arrives.
func (q *asked) frame() (f Frame, ok bool) {
	if q.Frame != nil {
		f = *q.Frame
	}
	return f, strings.HasPrefix(q.Kind, "framed ")
}

// again asks the question of the sums over rows, and of these in its frame.
func (q *asked) again(ctx context.Context, s *Sums, r *Framed) (err error) {
	dst := make([]float64, s.Dim()+len(q.Many)+3)
	switch q.Kind {
	case "gradient":
		err = s.Gradient(ctx, dst[:s.Dim()], q.W, q.Clip)
	case "losses":
		err = s.Losses(ctx, dst[:len(q.Many)], q.Many, q.Edges)
	case "errors":
		err = s.Errors(ctx, dst[:len(q.Many)], q.Many)
	case "labels":
		_, _, err = s.LabelSum(ctx)
	case "totals":
		_, _, err = s.Totals(ctx)
	case "label counts":
		err = s.labelCounts(ctx, dst[:3])
	case "beside":
		_, err = s.t.beside(ctx, nil)
	case "hessian":
		_, err = s.Hessian(ctx, q.W, q.Clip)
	case "weighted":
		err = s.weightedAgain(ctx, dst[:s.Dim()], q)
	case "moments":
		_, err = s.moments(ctx, ones)
	case "classes":
		_, err = s.t.strangers(ctx, q.Classes)
	case "class counts":
		_, err = (&Classes{s, q.Classes}).Counts(ctx, nil)
	default:
		return q.ofFrame(ctx, r)
	}
	return err
}

func (q *asked) ofFrame(ctx context.Context, r *Framed) (err error) {
	switch {
	case r == nil:
		return errNotAsked
	case q.Kind == "framed lengths":
		err = r.blockLengths(ctx, q.Edges)
	case q.Kind == "framed sum":
		_, err = r.Sum(ctx, q.Longest)
	case q.Kind == "framed squares":
		_, err = r.Squares(ctx)
	case q.Kind == "framed moments":
		_, err = r.Moments(ctx, q.Longest)
	case q.Kind == "framed gradient":
		_, err = r.Gradient(ctx, q.W, q.Offset, q.Slope)
	case q.Kind == "framed gradient norms":
		_, err = r.GradientNorms(ctx, q.Edges, q.W, q.Offset, q.Slope)
	case q.Kind == "framed slopes":
		_, err = r.Slopes(ctx, q.Edges, q.W, q.Offset)
	case q.Kind == "framed scatter":
		_, err = r.Scatter(ctx, q.W, q.Offset, q.Slope)
	case q.Kind == "framed curvature norms":
		_, err = r.CurvatureNorms(ctx, q.Edges, q.W, q.Offset, q.Constant, q.Most)
	case q.Kind == "framed hessian":
		_, err = r.Hessian(ctx, q.W, q.Offset, q.Constant, q.Most, q.Longest)
	default:
		err = q.ofClasses(ctx, &ClassFramed{r, q.Classes})
	}
	return err
}

func (q *asked) ofClasses(ctx context.Context, c *ClassFramed) error {
	odds, err := decodeLoss(q.Odds)
	if err != nil {
		return err
	}
	if q.Slope.Apart != 0 {
		return errNotAsked // of a row's gradient of all classes
	}
	slope := ClassSlope{q.Slope.Clip, q.Slope.Constant}
	switch q.Kind {
	case "framed class gradient":
		_, err = c.Gradient(ctx, q.At, slope)
	case "framed class gradient norms":
		_, err = c.GradientNorms(ctx, q.Edges, q.At, slope)
	case "framed scale slope":
		_, err = c.ScaleSlope(ctx, q.At, q.W, q.Clip)
	case "framed log odds":
		_, err = c.LogOdds(ctx, q.Counted, q.Cells, q.At, odds)
	case "framed own log odds":
		_, err = c.OwnLogOdds(ctx, q.Edges, q.At, odds)
	case "framed brier":
		_, err = c.Brier(ctx, q.Edges, q.At, odds)
	case "framed confusion":
		_, err = c.Confusion(ctx, q.At)
	default:
		err = errNotAsked
	}
	return err
}
