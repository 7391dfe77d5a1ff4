package curator

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// A replaced row moves the clipped minimiser by no more than it says, around any centre and at any
// clip and λ, and nearly by as much where the other rows don't hold it: they are zeros.
func TestClippedMinimisersMoveAsDeclared(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Huber{Kappa: 0.3}, losses.SmoothedHinge{Width: 0.1}} {
		for _, clip := range []float64{0.05, 1, 50} {
			for _, lambda := range []float64{0.01, 1} {
				most := 0.0
				for k := range 40 {
					const n, d = 20, 3
					a := newSample(r, n, d, loss.Labels())
					centre := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
					if k%2 == 0 { // nothing but the replaced row
						a.x.Zero()
						centre = make([]float64, d)
					}
					b := sample{mat.DenseCopyOf(a.x), append([]float64(nil), a.y...)}
					for _, s := range []sample{a, b} {
						s.x.SetRow(7, []float64{sampleBound, 0, 0})
						s.y[7] = labelOf(loss.Labels(), 1)
					}
					if b.y[7] = labelOf(loss.Labels(), -1); b.y[7] == a.y[7] || k%4 > 1 {
						b = a.neighbour(r, 7, loss.Labels())
					}
					var points [2]Point
					for j, s := range []sample{a, b} {
						var err error
						if points[j], err = under(t, s.open(t, false), loss).ClippedMinimiser(ctx, centre, clip, lambda); err != nil {
							t.Fatal(err)
						}
						if length := floats.Norm(points[j].w, 2); length > points[j].norm {
							t.Fatalf("%s, clip %g, λ %g: ‖θ‖ = %g beyond %g", loss.Name(), clip, lambda, length, points[j].norm)
						}
					}
					if points[0].moves != points[1].moves {
						t.Fatalf("sensitivities %g and %g of neighbours", points[0].moves, points[1].moves)
					}
					moved := floats.Distance(points[0].w, points[1].w, 2) / points[0].moves
					if most = math.Max(most, moved); moved > 1 {
						t.Fatalf("%s, clip %g, λ %g: moves by %g of its sensitivity", loss.Name(), clip, lambda, moved)
					}
				}
				if clip == 0.05 && lambda == 1 && most < 0.9 {
					t.Errorf("%s, clip %g, λ %g: moves by %g of its sensitivity at most", loss.Name(), clip, lambda, most)
				}
			}
		}
	}
}
