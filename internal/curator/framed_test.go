package curator

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/release"
)

// framedQuestions are all questions to rows of three columns in a frame, and the labels.
func framedQuestions() map[string]question {
	frame := Frame{Centre: []float64{0.1, -0.2, 0.3}, Matrix: mat.NewDense(3, 3, []float64{2, 0, 1, 0, 3, 0, -1, 0, 2})}
	u, edges, slope := []float64{0.3, -0.2, 0.1}, []float64{3.2, 2, 1.2, 0.5}, Slope{Clip: 0.2, Constant: 0.5}
	of := func(frame Frame, dim int, ask func(f *Framed) (release.Answer, error)) question {
		return question{dim, func(t *testing.T, s *Sums) release.Answer {
			f, err := s.Frame(ctx, frame)
			if err != nil {
				t.Fatal(err)
			}
			a, err := ask(f)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}}
	}
	in := func(dim int, ask func(f *Framed) (release.Answer, error)) question { return of(frame, dim, ask) }
	along := Frame{Centre: frame.Centre, Matrix: mat.NewDense(3, 1, []float64{2, -1, 3}), NormBound: 4}
	return map[string]question{
		"gradient along one direction": of(along, 2, func(f *Framed) (release.Answer, error) { return f.Gradient(ctx, u[:1], 0.1, slope) }),
		"norms along one direction":    of(along, 5, func(f *Framed) (release.Answer, error) { return f.GradientNorms(ctx, edges, u[:1], 0.1, slope) }),
		"framed lengths":               in(5, func(f *Framed) (release.Answer, error) { return f.Lengths(ctx, edges) }),
		"framed sum":                   in(3, func(f *Framed) (release.Answer, error) { return f.Sum(ctx, 0.9) }),
		"framed moments":               in(6, func(f *Framed) (release.Answer, error) { return f.Moments(ctx, 0.9) }),
		"squares":                      in(3, func(f *Framed) (release.Answer, error) { return f.Squares(ctx) }),
		"framed gradient":              in(4, func(f *Framed) (release.Answer, error) { return f.Gradient(ctx, u, 0.1, slope) }),
		"gradient apart": in(4, func(f *Framed) (release.Answer, error) {
			return f.Gradient(ctx, u, 0.1, Slope{Clip: 0.2, Constant: 0.1, Apart: 0.4})
		}),
		"means apart": in(4, func(f *Framed) (release.Answer, error) {
			return f.Gradient(ctx, u, 0.1, Slope{Clip: 0.2, Constant: 0.1, Apart: 0.4, Means: 0.3})
		}),
		"likely gradient": in(4, func(f *Framed) (release.Answer, error) {
			return f.Gradient(ctx, u, 0.1, Slope{Clip: 0.2, Constant: 0.1, Likely: 0.3})
		}),
		"likely scatter": in(10, func(f *Framed) (release.Answer, error) {
			return f.Scatter(ctx, u, 0.1, Slope{Clip: 0.2, Constant: 0.1, Likely: 0.3})
		}),
		"likely Hessian": in(10, func(f *Framed) (release.Answer, error) {
			return f.Hessian(ctx, u, 0.1, 0.3, 1, 0.4, Slope{Clip: 0.2, Constant: 0.1, Likely: 0.3})
		}),
		"framed scatter":        in(10, func(f *Framed) (release.Answer, error) { return f.Scatter(ctx, u, 0.1, slope) }),
		"framed gradient norms": in(5, func(f *Framed) (release.Answer, error) { return f.GradientNorms(ctx, edges, u, 0.1, slope) }),
		"framed slopes": in(6, func(f *Framed) (release.Answer, error) {
			return f.Slopes(ctx, []float64{0.8, 0.4, 0, -0.4, -0.8}, u, 0.1, Ends{})
		}),
		"framed Hessian": in(10, func(f *Framed) (release.Answer, error) { return f.Hessian(ctx, u, 0.1, 0.3, 1, 0.4, Slope{}) }),
		"no constant":    in(6, func(f *Framed) (release.Answer, error) { return f.Hessian(ctx, u, 0.1, 0, 1, 0.4, Slope{}) }),
		"curvature norms": in(5, func(f *Framed) (release.Answer, error) {
			return f.CurvatureNorms(ctx, []float64{1.5, 0.9, 0.6, 0.3}, u, 0.1, 0.3, 1, Slope{})
		}),
	}
}
