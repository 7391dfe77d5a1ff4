package questions

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// framedQuestion is a question to a frame, with the sensitivity that it declares.
type framedQuestion struct {
	ask   func(r *Framed) ([]float64, float64, error)
	tight bool // whether rows attain the bound in every frame whose rows are long enough
}

func framedQuestions(u []float64) map[string]framedQuestion {
	gradient := func(p Slope) framedQuestion {
		return framedQuestion{func(r *Framed) ([]float64, float64, error) { return heard(r.Gradient(ctx, u, 0.2, p)) }, true}
	}
	edges := []float64{2.5, 1.1, 0.9, 0.6, 0.1}
	return map[string]framedQuestion{
		"sum":     {func(r *Framed) ([]float64, float64, error) { return heard(r.Sum(ctx, 0.3)) }, true},
		"moments": {func(r *Framed) ([]float64, float64, error) { return heard(r.Moments(ctx, 0.35)) }, true},
		"fourth":  {func(r *Framed) ([]float64, float64, error) { return heard(Fourth(ctx, r, 0.35)) }, true},
		"scatter": {func(r *Framed) ([]float64, float64, error) { return heard(r.Scatter(ctx, u, 0.2, Slope{Clip: 0.1})) }, true},
		"scatter, constant": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Scatter(ctx, u, 0.2, Slope{Clip: 0.1, Constant: 0.25, Apart: 0.4}))
		}, false},
		"squares":       {func(r *Framed) ([]float64, float64, error) { return heard(r.Squares(ctx)) }, false},
		"gradient":      gradient(Slope{Clip: 0.1}),
		"with constant": gradient(Slope{Clip: 0.1, Constant: 0.25}),
		"apart":         gradient(Slope{Clip: 0.1, Constant: 0.2, Apart: 0.45}),
		"means": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Gradient(ctx, u, 0.2, Slope{Clip: 0.1, Constant: 0.2, Apart: 0.45, Means: 0.3}))
		}, false},
		"gradient norms": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.GradientNorms(ctx, edges, u, 0.2, Slope{Clip: 1, Constant: 1}))
		}, true},
		"likely": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Gradient(ctx, u, 0.2, Slope{Clip: 0.1, Likely: 1.5}))
		}, false},
		"likely with constant": gradient(Slope{Clip: 0.1, Constant: 0.25, Likely: 0.3}),
		"likely scatter": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Scatter(ctx, u, 0.2, Slope{Clip: 0.1, Likely: 1.5}))
		}, false},
		"likely norms": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.GradientNorms(ctx, edges, u, 0.2, Slope{Clip: 1, Constant: 1, Likely: 0.5}))
		}, false},
		"likely Hessian": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Hessian(ctx, u, 0.2, 0.5, 0.3, 0.3, Slope{Clip: 0.1, Constant: 0.5, Likely: 0.5}))
		}, false},
		"lengths": {func(r *Framed) ([]float64, float64, error) { return heard(r.Lengths(ctx, edges)) }, true},
		"slopes": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Slopes(ctx, []float64{0.5, 0, -0.5}, u, 0.2, Ends{}))
		}, true},
		"Hessian": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Hessian(ctx, u, 0.2, 0, 0.3, 0.15, Slope{}))
		}, true},
		"with constants": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Hessian(ctx, u, 0.2, 0.5, 0.3, 0.3, Slope{}))
		}, false},
		"curvature norms": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.CurvatureNorms(ctx, edges, u, 0.2, 1, 0.3, Slope{}))
		}, true},
	}
}

// searchFrames are frames in which some rows are long.
func searchFrames() map[string]Frame {
	list := testFrames(searchColumns)
	for name, f := range list {
		if f.NormBound > 0 {
			f.NormBound *= 2
			list[name] = f
		}
	}
	return list
}

// No neighbour moves an answer by more than it declares, in any frame, form and loss; and
// of rows as they are, some neighbour moves most of them by 95 % of that.
func TestFramedBySearch(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	u := []float64{0.5, -0.4, 0.3}
	for _, f := range searchForms(t) {
		for frame, coordinates := range searchFrames() {
			if columns := f.sums(t, losses.Logistic{}, []float64{0, 0, 0}, 0).t.Enc.Columns; columns != searchColumns {
				continue // projected
			}
			for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.CappedPoisson{Cap: searchLabel}} {
				for name, q := range framedQuestions(u[:coordinates.dim(searchColumns)]) {
					if !sample.One(4, f.name, frame, loss.Name(), name) {
						continue
					}
					claimed := 0.0
					of := func(s *Sums) []float64 {
						r, err := NewFramed(ctx, s, whole, coordinates)
						if err != nil {
							t.Fatal(err)
						}
						v, l2, err := q.ask(r)
						if err != nil || claimed != 0 && l2 != claimed {
							t.Fatalf("sensitivity %g, was %g (%v)", l2, claimed, err)
						}
						claimed = l2
						return v
					}
					attained := f.name == "dense" && q.tight && loss == (losses.Squared{})
					switch name {
					case "moments", "fourth", "scatter", "Hessian":
						attained = attained && frame != "one coordinate" // squares of single numbers are no further apart than the largest
					}
					if (name == "gradient" || name == "scatter") && coordinates.NormBound > 0 && coordinates.NormBound < 1 {
						attained = false // no row is taken to be shorter than 1
					}
					if name == "curvature norms" && coordinates.NormBound > 0 {
						attained = false // nearly all rows are as long as can be, which gives no slope to climb
					}
					tries := 8
					if attained {
						tries = 150
					}
					worst := f.worstNeighbours(t, loss, of, tries)
					if worst > claimed {
						t.Errorf("%s, %s, %s, %s: neighbours move it by %g, claimed %g", f.name, frame, loss.Name(), name, worst, claimed)
					}
					if attained && worst < 0.95*claimed {
						t.Errorf("%s, %s, %s, %s: the search finds %g of %g only", f.name, frame, loss.Name(), name, worst, claimed)
					}
				}
			}
		}
	}
}

// The sum of labels moves by their range; the number of ones by exactly one.
func TestLabelSumBySearch(t *testing.T) {
	f := searchForms(t)[0]
	for _, c := range []struct {
		loss losses.Loss
		want float64
	}{{losses.Logistic{}, 1}, {losses.Squared{}, 2 * searchLabel}, {losses.Poisson{}, math.Sqrt2}} { // two steps, of 1 and of .5
		claimed := 0.0
		of := func(s *Sums) []float64 {
			v, l2, _ := s.LabelSum(ctx)
			claimed = l2
			return v
		}
		worst := f.worstNeighbours(t, c.loss, of, 60)
		if worst > claimed || worst < 0.999*claimed || math.Abs(claimed-c.want) > 1e-12 {
			t.Errorf("%s: neighbours move the sum by %g, claimed %g, want %g", c.loss.Name(), worst, claimed, c.want)
		}
	}
	s := f.sums(t, losses.Logistic{}, []float64{0, 0, 0}, 0)
	if sum, _, _ := s.LabelSum(ctx); sum[0] != 1 {
		t.Errorf("%g ones among the labels 0, 1, 0", sum[0])
	}
	s = f.sums(t, losses.Squared{}, []float64{0, 0, 0}, -0.75)
	if sum, _, _ := s.LabelSum(ctx); sum[0] != 0.25 {
		t.Errorf("the labels 0, 1, −0.75 have the sum %g", sum[0])
	}
}

// What a model predicts moves by the labels' range, too, where scores are far to both sides, and is the sum of means at rows' scores.
func TestPredictedBySearch(t *testing.T) {
	f := searchForms(t)[0]
	for _, c := range []struct {
		loss losses.Loss
		mean func(z float64) float64
		want float64
	}{
		{losses.Logistic{}, func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }, 1},
		{losses.Probit{}, func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }, 1},
		{losses.Squared{}, func(z float64) float64 { return math.Max(-searchLabel, math.Min(z, searchLabel)) }, 2 * searchLabel},
		{losses.Poisson{}, func(z float64) float64 { return math.Min(math.Exp(z), 1) }, math.Sqrt2}, // of the first step
	} {
		for _, far := range []float64{0.5, 200} {
			w := []float64{far, 2 * far, far}
			claimed := 0.0
			worst := f.worstNeighbours(t, c.loss, func(s *Sums) []float64 {
				v, l2, _ := Predicted(ctx, s, w)
				claimed = l2
				return v
			}, 60)
			if worst > claimed || far > 1 && worst < 0.99*claimed || math.Abs(claimed-c.want) > 1e-9 {
				t.Errorf("%s, %g: neighbours move the sum by %g, claimed %g, want %g", c.loss.Name(), far, worst, claimed, c.want)
			}
			s := f.sums(t, c.loss, []float64{0, 0, 0}, 0) // beside (0.3, −0.2, 0.9) and (0, 0.5, 0)
			got, _, _ := Predicted(ctx, s, w)
			if want := c.mean(far*(0.3-2*0.2+0.9)) + c.mean(far) + c.mean(0); math.Abs(got[0]-want) > 1e-12 {
				t.Errorf("%s, %g: predictions add up to %g, not %g", c.loss.Name(), far, got[0], want)
			}
		}
	}
}
