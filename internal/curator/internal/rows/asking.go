package rows

import (
	"context"
	"strings"
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
}

type askedKey struct{}

// asking returns a context that says what its passes are for.
func asking(ctx context.Context, q asked) context.Context {
	return context.WithValue(ctx, askedKey{}, q)
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
	dst := make([]float64, s.Dim()+len(q.Many))
	switch q.Kind {
	case "gradient":
		err = s.Gradient(ctx, dst, q.W, q.Clip)
	case "losses":
		err = s.Losses(ctx, dst[:len(q.Many)], q.Many, q.Edges)
	case "errors":
		err = s.Errors(ctx, dst[:len(q.Many)], q.Many)
	case "labels":
		_, _, err = s.LabelSum(ctx)
	case "label counts":
		err = s.labelCounts(ctx, dst[:3])
	case "hessian":
		_, err = s.Hessian(ctx, q.W, q.Clip)
	case "moments":
		_, err = s.moments(ctx, ones)
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
		err = r.blockLengths(q.Edges)
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
		err = errNotAsked
	}
	return err
}
