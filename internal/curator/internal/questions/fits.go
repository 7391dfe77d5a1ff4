package questions

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// The questions of a fit of any sums. Numbers in them, bounds among them, may be anything, and be none: a row whose vector is no longer
// made of numbers, or is longer than the question says, is left out.

func misfit(what string, value any, rule string) error {
	return check.Fail(check.ErrConfig, what, value, rule)
}

func (q *InFrame) fits(t *rows.Table, _ int, _ losses.Loss) error {
	if q.Frame.Each != 0 {
		return misfit("frame", nil, "must hold no persons' rows together")
	}
	_, err := newFrameMap(q.Frame, &t.Enc)
	return err
}

// points refuses a point with another number of coordinates than a frame that fits.
func (f *Frame) points(t *rows.Table, points ...[]float64) error {
	dim := t.Enc.Columns
	if f.Matrix != nil {
		_, dim = f.Matrix.Dims()
	}
	for _, u := range points {
		if len(u) != dim {
			return misfit("coordinates of a point", len(u), fmt.Sprintf("must be the frame's %d", dim))
		}
	}
	return nil
}

func slopes(loss losses.Loss, curved bool, at ...Slope) error {
	if loss == nil {
		return misfit("loss", nil, "must be given")
	}
	if _, ok := losses.CurvatureOf(loss); curved && !ok {
		return misfit("loss", loss.Name(), "must tell its curvature")
	}
	for _, p := range at {
		if err := p.valid(); err != nil {
			return err
		}
	}
	return nil
}

// first is the first error of checks that each need those before.
func first(checks ...func() error) error {
	for _, c := range checks {
		if err := c(); err != nil {
			return err
		}
	}
	return nil
}

func (q *Scored) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return q.InFrame.fits(t, classes, loss) }, func() error { return q.Frame.points(t, q.U) }, func() error { return slopes(loss, false) })
}

func (q *framedNorms) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return q.Scored.fits(t, classes, loss) }, q.Slope.valid)
}

func (q *framedCurvatures) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return q.Scored.fits(t, classes, loss) }, func() error { return slopes(loss, true, q.Slope) })
}

func (q *framedGradient) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return q.InFrame.fits(t, classes, loss) }, func() error { return q.Frame.points(t, q.U) }, func() error { return slopes(loss, false, q.Slope) })
}

func (q *inCoordinates) fits(t *rows.Table, classes int, loss losses.Loss) error {
	of, ok := q.Of.(interface {
		fits(*rows.Table, int, losses.Loss) error
		space() *Frame
	})
	if !ok || !(q.Dim > 0 && q.Dim <= t.Enc.Columns) || !(q.Constant.Times >= 0) {
		return misfit("question", nil, "must be one that parties answer")
	}
	return first(func() error { return of.fits(t, classes, loss) }, func() error { return of.space().points(t, make([]float64, q.Dim)) })
}

// space is the frame.
func (q *InFrame) space() *Frame { return &q.Frame }

func (q *Packing) fits(t *rows.Table, classes int, loss losses.Loss) error {
	k := q.Coordinates
	if q.Constant > 0 {
		k--
	}
	if !(q.Constant >= 0) || k < 1 || k > t.Enc.Columns {
		return misfit("constant", q.Constant, "must be 0 or more, beside the coordinates")
	}
	return first(func() error { return q.InFrame.fits(t, classes, loss) }, func() error { return q.Frame.points(t, make([]float64, k)) })
}

func (q *framedHessian) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return q.Packing.fits(t, classes, loss) }, func() error { return q.Frame.points(t, q.U) }, func() error { return slopes(loss, true, q.Slope) })
}

func (q *framedScatter) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return q.Packing.fits(t, classes, loss) }, func() error { return q.Frame.points(t, q.U) }, func() error { return slopes(loss, false, q.Slope) })
}

// labelled refuses questions about classes where labels aren't these, or have become those of a loss.
func labelled(asked, classes int, loss losses.Loss) error {
	if classes < 2 || asked != classes || loss != nil {
		return misfit("classes", asked, fmt.Sprintf("must be the plan's %d, without a loss", classes))
	}
	return nil
}

func (q *classCounts) fits(_ *rows.Table, classes int, loss losses.Loss) error {
	return labelled(q.Classes, classes, loss)
}

func (q *Pointed) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return labelled(q.Classes, classes, loss) }, func() error { return q.fitFrame(t) })
}

// fitFrame is fits, but for the number of classes.
func (q *Pointed) fitFrame(t *rows.Table) error {
	if len(q.At.U) != q.Classes || len(q.At.B) != q.Classes {
		return misfit("points", len(q.At.U), fmt.Sprintf("must be one for each of %d classes", q.Classes))
	}
	return first(func() error { return q.InFrame.fits(t, 0, nil) }, func() error { return q.Frame.points(t, q.At.U...) })
}

func (q *scaleSlope) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return labelled(q.Classes, 2*classes, loss) }, func() error { return q.fitFrame(t) })
}

func (q *classGradient) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return q.Pointed.fits(t, classes, loss) }, q.Slope.slope().valid)
}

func (q *classCoordinates) fits(t *rows.Table, classes int, loss losses.Loss) error {
	return first(func() error { return q.Of.fits(t, classes, loss) }, func() error { return q.Of.Frame.points(t, make([]float64, max(0, min(q.Dim, t.Enc.Columns+1)))) })
}

func (q *logOddsCounts) fits(t *rows.Table, classes int, loss losses.Loss) error {
	if len(q.Edges) != q.Classes || q.Counted < Own || q.Counted > Every {
		return misfit("edges", len(q.Edges), "must be those of each class")
	}
	return q.Pointed.fits(t, classes, loss)
}

func (q *labelSum) fits(_ *rows.Table, _ int, loss losses.Loss) error {
	if q.Ends {
		return misfit("labels", nil, "must be of rows whose number is public")
	}
	if len(q.Steps) > mostLabelSteps {
		return misfit("steps", len(q.Steps), fmt.Sprintf("must be %d at most", mostLabelSteps))
	}
	return slopes(loss, false)
}
