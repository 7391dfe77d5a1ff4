package curator

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
)

// Frame is public coordinates of rows, x̃ = Aᵀ(x − m).
type Frame = rows.Frame

// Slope is how gradients in a frame are held to a clip.
type Slope = rows.Slope

// Framed answers questions about the rows in a frame, which must be made of public
// facts and of what was released.
type Framed struct {
	f    *rows.Framed
	data *Data
}

// Frame measures the rows in a frame, in one pass.
func (s *Sums) Frame(ctx context.Context, f Frame) (*Framed, error) {
	r, err := s.s.Frame(ctx, f)
	if err != nil {
		return nil, err
	}
	return &Framed{r, s.data}, nil
}

// Labels is the sum of the labels, as the loss has them, or the number of ones where
// they are binary.
func (s *Sums) Labels() release.Answer {
	sum, l2 := s.s.LabelSum()
	return s.answer([]float64{sum}, l2)
}

func (r *Framed) answer(values []float64, l2 float64, err error) (release.Answer, error) {
	return release.NewAnswer(r.data.rows, values, l2), err
}

// Lengths is the histogram of ‖Aᵀ(x−m)‖, before rows are shortened: counts[k] have
// more than edges[k] and no more than edges[k−1]; edges are public and decrease.
func (r *Framed) Lengths(edges []float64) release.Answer {
	counts, l2 := r.f.Lengths(edges)
	return release.NewAnswer(r.data.rows, counts, l2)
}

// Sum is Σ x̃ᵢ, rows longer than the given norm shortened to it.
func (r *Framed) Sum(ctx context.Context, longest float64) (release.Answer, error) {
	return r.answer(r.f.Sum(ctx, longest))
}

// Moments are the packed second moments of the coordinates, rows longer than the given
// norm shortened to it.
func (r *Framed) Moments(ctx context.Context, longest float64) (release.Answer, error) {
	return r.answer(r.f.Moments(ctx, longest))
}

// Squares are the sums of the features' squares, whatever the frame.
func (r *Framed) Squares(ctx context.Context) (release.Answer, error) {
	return r.answer(r.f.Squares(ctx))
}

// Gradient is the sum of the rows' gradients in the coordinates and, last, of the
// constant's, at the score ⟨u, x̃⟩ + offset, held as slope says.
func (r *Framed) Gradient(ctx context.Context, u []float64, offset float64, slope Slope) (release.Answer, error) {
	return r.answer(r.f.Gradient(ctx, u, offset, slope))
}

// GradientNorms is the histogram of what Gradient holds to its clip.
func (r *Framed) GradientNorms(ctx context.Context, edges, u []float64, offset float64, slope Slope) (release.Answer, error) {
	return r.answer(r.f.GradientNorms(ctx, edges, u, offset, slope))
}

// CurvatureNorms is the histogram of √φ”·‖(x̃, constant)‖ at the score ⟨u, x̃⟩ + offset,
// φ” held to at most most.
func (r *Framed) CurvatureNorms(ctx context.Context, edges, u []float64, offset, constant, most float64) (release.Answer, error) {
	return r.answer(r.f.CurvatureNorms(ctx, edges, u, offset, constant, most))
}

// Hessian is the packed sum of φ”·(x̃, constant)(x̃, constant)ᵀ, rows with a larger
// √φ”·‖(x̃, constant)‖ scaled down to the given one.
func (r *Framed) Hessian(ctx context.Context, u []float64, offset, constant, most, longest float64) (release.Answer, error) {
	return r.answer(r.f.Hessian(ctx, u, offset, constant, most, longest))
}

// Curved reports whether the loss tells its second derivative, as Hessian needs.
func (s *Sums) Curved() bool { return s.s.Curved() }
