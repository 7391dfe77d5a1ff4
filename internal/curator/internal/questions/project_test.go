package questions

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
)

// Privacy must not rest on what a map does to a row: whatever the map, a projected
// row lies within the bound, and replacing one moves the gradient sum by at most
// the sensitivity for that bound, which some pair nearly attains. Rows are drawn
// so that the map lengthens many of them.
func TestProjectedRowsAreBoundedAgain(t *testing.T) {
	const d, k, bound = 30, 3, 1.2
	for name, phi := range map[string]rows.Projection{
		"gaussian": sketch.NewGaussian(k, d, 1), "rademacher": sketch.NewRademacher(k, d, 1),
		"sparse": sketch.NewSparse(k, d, 1), "hadamard": sketch.NewHadamard(k, d, 1),
	} {
		for _, intercept := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 2))
			w := randomVector(r, k, 2)
			if intercept {
				w = append(w, 0.3)
			}
			gradient := func(row []float64, label float64) ([]float64, *Sums) {
				table, err := rows.NewTable(mat.NewDense(1, d, row), encoding.NewIdentity(d, 1, intercept))
				if err != nil {
					t.Fatal(err)
				}
				p, err := rows.Project(ctx, table, phi, bound)
				if err != nil {
					t.Fatal(err)
				}
				if limit := p.Enc.FeatureBound() * (1 + 1e-12); p.Norm[0] > limit {
					t.Fatalf("%s: a projected row has norm %g, bound %g", name, p.Norm[0], limit)
				}
				s, err := NewSums(p, []float64{label}, 0, 0, losses.Logistic{})
				if err != nil {
					t.Fatal(err)
				}
				g := make([]float64, len(w))
				if err := s.Gradient(ctx, g, w, math.Inf(1)); err != nil {
					t.Fatal(err)
				}
				return g, s
			}
			worst, lengthened, claimed := 0.0, 0, 0.0
			pairs := sample.Of(1000, 3000)
			for range pairs {
				a, sums := gradient(randomVector(r, d, 1), 0)
				b, _ := gradient(randomVector(r, d, 1), 1)
				claimed = sums.Bounds().GradientSensitivity(norm(w), math.Inf(1))
				worst = math.Max(worst, distance(a, b))
				if sums.t.Norm[0] > 0.999*sums.t.Enc.FeatureBound() {
					lengthened++
				}
			}
			if worst > claimed {
				t.Errorf("%s: neighbours move the gradient by %g, claimed %g", name, worst, claimed)
			}
			if !intercept && worst < 0.85*claimed {
				t.Errorf("%s: found only %g of %g", name, worst, claimed)
			}
			if lengthened < pairs/30 {
				t.Errorf("%s: only %d rows were lengthened", name, lengthened)
			}
		}
	}
}

// A projection that is kept and one made anew in each pass are the same, also
// for picked rows.
func TestStreamedProjection(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	table, err := rows.NewTable(randomMatrix(r, 700, 12, 1), affine(t, 12, true))
	if err != nil {
		t.Fatal(err)
	}
	phi := sketch.NewHadamard(5, 12, 1)
	kept, err := rows.Project(ctx, table, phi, 2)
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := rows.ProjectKeeping(ctx, table, phi, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	order := r.Perm(700)[:300]
	w, a, b := randomVector(r, 6, 1), make([]float64, 300), make([]float64, 300)
	rows.Scores(kept.Pick(order), a, w)
	rows.Scores(streamed.Pick(order), b, w)
	if distance(a, b) > 1e-13 {
		t.Errorf("scores differ by %g", distance(a, b))
	}
}
