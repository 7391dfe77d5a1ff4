package curator

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// Sums answers questions about the rows and their labels under one loss.
type Sums struct {
	s    *questions.Sums
	data *Data
}

// Under binds the labels to a loss: binary labels become ±1, real ones are shifted by
// the public middle of their range, and these and counts are clamped to their bound.
// What becomes of a label depends on that label and public numbers only. One outside
// the loss's domain is an error of intake.
func (d *Data) Under(loss losses.Loss) (*Sums, error) {
	d = d.For(loss)
	s, err := questions.NewSums(d.table, d.labels, d.labelCentre, d.labelBound, loss)
	if err != nil {
		return nil, err
	}
	return &Sums{s.Shift(d.offsets, d.offsetsRange), d}, nil
}

// Frame is public coordinates of rows, x̃ = Aᵀ(x − m), as many as features or fewer, and Framed
// the rows in a frame. Slope is how gradients in one are held to a clip, and ClassSlope those of all classes.
type (
	Frame      = questions.Frame
	Framed     = questions.Framed
	Ends       = questions.Ends
	Slope      = questions.Slope
	ClassSlope = questions.ClassSlope
)

// Fourth are fourth moments of rows in a frame, summed over two of their indices: [questions.Fourth].
func Fourth(ctx context.Context, r *Framed, normBound float64) (release.Answer, error) {
	return questions.Fourth(ctx, r, normBound)
}

// Frame measures the rows in a frame, in one pass.
func (s *Sums) Frame(ctx context.Context, f Frame) (*Framed, error) {
	return questions.NewFramed(ctx, s.s, s.data.rows, f)
}

// Labels is the sum of the labels, as the loss has them, or the number of ones where
// they are binary, or the sums of places in several steps of their range: [questions.Sums.LabelSum].
func (s *Sums) Labels(ctx context.Context) (release.Answer, error) {
	values, l2, err := s.s.LabelSum(ctx)
	return s.answer(values, l2), err
}

// Curved reports whether the loss tells its second derivative, as Framed.Hessian needs.
func (s *Sums) Curved() bool { return s.s.Bounds().Curved() }

// Len is the number of persons: that of rows where each is a person's only one.
func (s *Sums) Len() int { return s.s.Len() }

// Dim is the number of weights.
func (s *Sums) Dim() int { return s.s.Dim() }

func (s *Sums) answer(values []float64, l2 float64) release.Answer {
	return release.NewAnswer(s.data.rows, values, l2)
}

// Gradient is the sum of the rows' gradients at w, each scaled down to norm clip
// where it is longer; clip = +Inf is no clip. Its sensitivity is that at ‖w‖:
// [questions.SumBounds.GradientSensitivity].
func (s *Sums) Gradient(ctx context.Context, w []float64, clip float64) (release.Answer, error) {
	g := make([]float64, s.Dim())
	err := s.s.Gradient(ctx, g, w, clip)
	return s.answer(g, s.s.Bounds().GradientSensitivity(vector.Norm(w), clip)), err
}

// Gradients returns the function that answers with Gradient, for the given number
// of questions. For the squared loss without clip the sums may come from second
// moments, formed once: O(Dim²) a question instead of O(rows·Dim).
func (s *Sums) Gradients(ctx context.Context, clip float64, asked int) (func(w []float64) (release.Answer, error), error) {
	if _, ok := s.s.Bounds().Loss.(losses.Squared); !ok || clip < math.MaxFloat64 || !s.momentsPay(asked) {
		return func(w []float64) (release.Answer, error) { return s.Gradient(ctx, w, clip) }, nil
	}
	q, err := questions.NewQuadratic(ctx, s.s)
	if err != nil {
		return nil, err
	}
	return func(w []float64) (release.Answer, error) {
		g := make([]float64, s.Dim())
		q.Gradient(g, w)
		return s.answer(g, q.Sensitivity(vector.Norm(w))), ctx.Err()
	}, nil
}

// Losses are scores to select models by: score j is Σᵢ φ(⟨w_j, xᵢ⟩), each term held
// to [0, caps_j], plus the public offset_j. A replaced row moves it by at most
// caps_j and rounding, whatever the models are.
func (s *Sums) Losses(ctx context.Context, models [][]float64, caps, offsets []float64) (release.Answer, error) {
	scores := make([]float64, len(models))
	if err := s.s.Losses(ctx, scores, models, caps); err != nil {
		return release.Answer{}, err
	}
	return lossScores(s.data.rows, s.s.Bounds(), s.Len(), scores, caps, offsets), nil
}

// lossScores are sums of n persons' terms, held to [0, caps_j], plus offset_j.
func lossScores(rows *release.Rows, b questions.SumBounds, n int, scores, caps, offsets []float64) release.Answer {
	each := make([]float64, len(scores))
	for j, c := range caps {
		scores[j] += offsets[j]
		// Either sum rounds once more.
		each[j] = float64(b.LossSensitivity(c)) + float64(2.2*unit*(float64(float64(n)*c)+math.Abs(offsets[j])))
	}
	return release.NewScores(rows, scores, each)
}

// unit is the unit roundoff of float64.
const unit = 0x1p-53

// Errors are scores to select models by: the numbers of misclassified rows. A
// replaced row moves each by at most 1, and counts are exact.
func (s *Sums) Errors(ctx context.Context, models [][]float64) (release.Answer, error) {
	scores := make([]float64, len(models))
	if err := s.s.Errors(ctx, scores, models); err != nil {
		return release.Answer{}, err
	}
	return countScores(s.data.rows, scores), nil
}

// countScores are counts, of which a replaced row moves each by at most 1.
func countScores(rows *release.Rows, scores []float64) release.Answer {
	each := make([]float64, len(scores))
	for j := range each {
		each[j] = 1
	}
	return release.NewScores(rows, scores, each)
}
