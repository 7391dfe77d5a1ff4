package questions

import (
	"fmt"
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

// every holds all losses, with constants that hold on balls where they must.
var every = []losses.Loss{
	losses.Logistic{}, losses.Squared{}, losses.SquaredHinge{}, losses.SmoothedHinge{Width: 0.5}, losses.Huber{Kappa: 0.7},
	losses.Poisson{}, losses.CappedPoisson{Cap: 4}, losses.Hinge{}, losses.Absolute{}, losses.Quantile{Tau: 0.3}, losses.Extended{Inner: losses.Squared{}, Limit: 0.8},
}

const (
	searchColumns = 3
	searchLabel   = 1.5
)

// form is a way for two rows to reach the sums.
type form struct {
	name  string
	table func(t *testing.T, row []float64) *rows.Table // of that row and two others
	loose bool                                          // the worst row of the ball is out of reach
}

// searchForms are dense, sparse and projected rows, with and without intercept,
// and a schema's; and the rebound ones.
func searchForms(t *testing.T) []form {
	t.Helper()
	var list []form
	for _, intercept := range []bool{false, true} {
		suffix := map[bool]string{false: "", true: ", intercept"}[intercept]
		identity := encoding.NewIdentity(searchColumns, 1.3, intercept)
		phi := sketch.NewGaussian(2, searchColumns, 4)
		list = append(list,
			form{"dense" + suffix, func(t *testing.T, row []float64) *rows.Table { return three(t, row, identity, false) }, intercept},
			form{"sparse" + suffix, func(t *testing.T, row []float64) *rows.Table { return three(t, row, identity, true) }, intercept},
			form{"projected" + suffix, func(t *testing.T, row []float64) *rows.Table {
				p, err := rows.Project(ctx, three(t, row, identity, false), phi, 0.9)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}, intercept},
			form{"schema" + suffix, func(t *testing.T, row []float64) *rows.Table {
				return three(t, row, affine(t, searchColumns, intercept), false)
			}, true})
	}
	return append(list, reboundForms(t)...)
}

// reboundForms are tables that were held to a smaller bound afterwards, one with
// ranges so far from zero that their features cancel.
func reboundForms(t *testing.T) []form {
	t.Helper()
	const far = 1e5
	wide, intercept, schema := encoding.NewIdentity(searchColumns, 7, false), encoding.NewIdentity(searchColumns, 1.3, true), affine(t, searchColumns, true)
	for j := range schema.Columns {
		schema.Min[j], schema.Max[j], schema.Scale[j], schema.Shift[j] = far-3, far+3, 1.0/3, -far/3
	}
	schema = encoding.NewAffine(schema.Bound, true, schema.Scale, schema.Shift, schema.Min, schema.Max)
	return []form{
		{"rebound", func(t *testing.T, row []float64) *rows.Table {
			return three(t, row, wide, false).Rebound(0.8, 0)
		}, false},
		{"sparse, rebound, intercept", func(t *testing.T, row []float64) *rows.Table {
			return three(t, row, intercept, true).Rebound(0.8, 0.25)
		}, true},
		{"far schema, rebound, intercept", func(t *testing.T, row []float64) *rows.Table {
			moved := make([]float64, len(row))
			for j, v := range row {
				moved[j] = far + v
			}
			return three(t, moved, schema, false).Rebound(schema.Bound/500, 0x1p-10)
		}, true},
	}
}

// three is the table of a row and two fixed ones.
func three(t *testing.T, row []float64, enc encoding.Encoding, sparse bool) *rows.Table {
	t.Helper()
	data := append([]float64{0.3, -0.2, 0.9, 0, 0.5, 0}, row...)
	var x mat.Matrix = mat.NewDense(3, searchColumns, data)
	if sparse {
		var err error
		if x, err = rows.NewSparse(3, searchColumns, []int{0, 3, 6, 9}, []int{0, 1, 2, 0, 1, 2, 0, 1, 2}, data); err != nil {
			t.Fatal(err)
		}
	}
	table, err := rows.NewTable(x, enc)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// sums binds a table of three to a loss; u in any range gives the changed label.
func (f form) sums(t *testing.T, loss losses.Loss, row []float64, u float64) *Sums {
	t.Helper()
	labels := []float64{0, 1, u}
	switch loss.Labels() {
	case losses.Binary:
		labels[2] = 0
		if u > 0 {
			labels[2] = 1
		}
	case losses.Count:
		labels[2] = math.Abs(u)
	}
	s, err := NewSums(f.table(t, row), labels, 0, searchLabel, loss)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answer is what the sums say of a replaced row and its label.
type answer func(s *Sums) []float64

// worstNeighbours searches two rows and labels whose answers are far apart: from
// random pairs it climbs by changing some numbers at a time, in shrinking steps.
func (f form) worstNeighbours(t *testing.T, loss losses.Loss, of answer, tries int) float64 {
	t.Helper()
	return worstPair(searchColumns, tries, func(row []float64, label float64) []float64 { return of(f.sums(t, loss, row, label)) })
}

// worstPair is worstNeighbours for what is said of a row of some columns and its label.
func worstPair(columns, tries int, of func(row []float64, label float64) []float64) float64 {
	half := columns + 1
	r := rand.New(rand.NewPCG(31, 32))
	move := func(p []float64) float64 {
		return distance(of(p[:half-1], p[half-1]), of(p[half:2*half-1], p[2*half-1]))
	}
	worst := 0.0
	for range 4 {
		at, best := make([]float64, 2*half), -1.0
		for j := range at {
			at[j] = 3 * r.NormFloat64()
		}
		for _, label := range []int{half - 1, 2*half - 1} { // corners of the labels' range
			at[label] = float64(2*r.IntN(3) - 2)
		}
		for k := range tries {
			step := 3 * math.Pow(0.01, float64(k)/float64(tries))
			p := make([]float64, len(at))
			for j, v := range at {
				if p[j] = v; r.IntN(3) == 0 {
					p[j] += step * r.NormFloat64()
				}
			}
			if v := move(p); v > best {
				at, best = p, v
			}
		}
		worst = math.Max(worst, best)
	}
	return worst
}

// gradientAt answers with the gradient sum at w.
func gradientAt(t *testing.T, w []float64, clip float64) answer {
	t.Helper()
	return func(s *Sums) []float64 {
		g := make([]float64, len(w))
		if err := s.Gradient(ctx, g, w, clip); err != nil {
			t.Fatal(err)
		}
		return g
	}
}

// Every loss, in every form: no neighbour moves the gradient sum by more than its
// sensitivity, and some do by nearly that.
func TestGradientOfEveryLossBySearch(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	for _, f := range searchForms(t) {
		tries := 100
		if f.loose { // no more is asked of the search than to exceed no claim
			tries = 40
		}
		for _, loss := range every {
			for _, clip := range []float64{math.Inf(1), 0.4} {
				for _, radius := range []float64{0, 0.7} {
					if !sample.One(3, f.name, loss.Name(), clip, radius) {
						continue
					}
					s := f.sums(t, loss, []float64{0, 0, 0}, 0)
					w := make([]float64, s.Dim())
					w[0] = radius
					claimed := s.Bounds().GradientSensitivity(radius, clip)
					worst := f.worstNeighbours(t, loss, gradientAt(t, w, clip), tries)
					name := fmt.Sprintf("%s, %s, clip %g, r = %g", f.name, loss.Name(), clip, radius)
					if worst > claimed {
						t.Errorf("%s: neighbours move the gradient sum by %g, claimed %g", name, worst, claimed)
					}
					if !f.loose && worst < 0.8*claimed {
						t.Errorf("%s: the search finds %g of %g only", name, worst, claimed)
					}
				}
			}
		}
	}
}

func quadratic(t *testing.T, s *Sums) *Quadratic {
	t.Helper()
	q, err := NewQuadratic(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// The squared loss's gradient by second moments has the same sensitivity.
func TestQuadraticBySearch(t *testing.T) {
	loss := losses.Squared{}
	for _, f := range searchForms(t) {
		for _, radius := range []float64{0, 0.7, 4} {
			s := f.sums(t, loss, []float64{0, 0, 0}, 0)
			w := make([]float64, s.Dim())
			w[0] = radius
			of := func(s *Sums) []float64 {
				g := make([]float64, len(w))
				quadratic(t, s).Gradient(g, w)
				return g
			}
			claimed, worst := quadratic(t, s).Sensitivity(radius), f.worstNeighbours(t, loss, of, 100)
			if worst > claimed {
				t.Errorf("%s, r = %g: neighbours move the gradient by %g, claimed %g", f.name, radius, worst, claimed)
			}
			if !f.loose && worst < 0.8*claimed {
				t.Errorf("%s, r = %g: the search finds %g of %g only", f.name, radius, worst, claimed)
			}
		}
	}
}

// lossesAt answers with the clipped loss sum.
func lossesAt(t *testing.T, w []float64, limit float64) answer {
	t.Helper()
	return func(s *Sums) []float64 {
		dst := make([]float64, 1)
		if err := s.Losses(ctx, dst, [][]float64{w}, []float64{limit}); err != nil {
			t.Fatal(err)
		}
		return dst
	}
}

// Scores of a selection: a clipped loss sum of any loss moves by at most its cap,
// an error count by one, whatever the weights.
func TestScoresBySearch(t *testing.T) {
	for _, f := range searchForms(t) {
		for _, loss := range every {
			s := f.sums(t, loss, []float64{0, 0, 0}, 0)
			w := make([]float64, s.Dim())
			w[0] = 40 / s.Bounds().FeatureBound()
			const limit = 0.9
			claimed, worst := s.Bounds().LossSensitivity(limit), f.worstNeighbours(t, loss, lossesAt(t, w, limit), 60)
			if worst > claimed {
				t.Errorf("%s, %s: neighbours move the loss sum by %g, claimed %g", f.name, loss.Name(), worst, claimed)
			}
			if worst < 0.8*claimed && loss.Labels() == losses.Binary {
				t.Errorf("%s, %s: the search finds %g of %g only", f.name, loss.Name(), worst, claimed)
			}
			if loss.Labels() != losses.Binary {
				continue
			}
			count := func(s *Sums) []float64 {
				dst := make([]float64, 1)
				if err := s.Errors(ctx, dst, [][]float64{w}); err != nil {
					t.Fatal(err)
				}
				return dst
			}
			if worst := f.worstNeighbours(t, loss, count, 20); worst != 1 {
				t.Errorf("%s, %s: neighbours move the error count by %g", f.name, loss.Name(), worst)
			}
		}
	}
}

// The search is searched: it finds neighbours that break the claims of bugs.
func TestSearchCatches(t *testing.T) {
	loss, inf := losses.Logistic{}, math.Inf(1)
	unbounded := func(t *testing.T, row []float64) *rows.Table {
		return three(t, row, encoding.NewIdentity(searchColumns, 1e3, false), false)
	}
	forms := searchForms(t)
	dense, projected, intercept := forms[0], forms[2], forms[4]
	lengthened := func(t *testing.T, row []float64) *rows.Table {
		p, err := rows.Project(ctx, dense.table(t, row), sketch.NewGaussian(2, searchColumns, 4), 1e3)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	rebound := forms[8]
	forgetful := func(t *testing.T, row []float64) *rows.Table {
		p := rebound.table(t, row)
		p.Shrink = []float64{1, 1, 1}
		return p
	}
	if intercept.name != "dense, intercept" || projected.name != "projected" || rebound.name != "rebound" {
		t.Fatal("other forms than expected")
	}
	w := []float64{0.7, 0, 0}
	claim := func(f form, clip float64) float64 {
		return f.sums(t, loss, []float64{0, 0, 0}, 0).Bounds().GradientSensitivity(0.7, clip)
	}
	for _, c := range []struct {
		name    string
		of      answer
		in      form
		claimed float64
	}{
		{"no row scaling", gradientAt(t, w, inf), form{"", unbounded, false}, claim(dense, inf)},
		{"no re-scaling after a projection", gradientAt(t, w[:2], inf), form{"", lengthened, false}, claim(projected, inf)},
		{"rows not shrunk to a new bound", gradientAt(t, w, inf), form{"", forgetful, false}, claim(rebound, inf)},
		{"an intercept left out", gradientAt(t, []float64{0, 0, 0, 0}, inf), intercept, claim(dense, inf)},
		{"half of the diameter", gradientAt(t, w, inf), dense, claim(dense, inf) / 2},
		{"an unclipped gradient", gradientAt(t, w, inf), dense, claim(dense, 0.4)},
		{"the clip for twice the clip", gradientAt(t, w, 0.4), dense, claim(dense, 0.4) / 2},
		{"an unclipped score", lossesAt(t, []float64{30, 0, 0}, inf), dense, dense.sums(t, loss, []float64{0, 0, 0}, 0).Bounds().LossSensitivity(0.9)},
	} {
		if worst := c.in.worstNeighbours(t, loss, c.of, 150); worst <= c.claimed {
			t.Errorf("%s: the search finds %g, claimed %g: the bug goes unnoticed", c.name, worst, c.claimed)
		}
	}
}
