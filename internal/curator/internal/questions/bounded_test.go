package questions

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
)

// plain is a table beside the features that its rows have by definition, without the
// constant, made by loops over a dense copy.
type plain struct {
	name  string
	table *rows.Table
	want  [][]float64
}

// shortened is u scaled down to the bound where it is longer.
func shortened(u []float64, bound float64) []float64 {
	u = slices.Clone(u)
	if r := norm(u); r > bound {
		for j := range u {
			u[j] *= bound / r
		}
	}
	return u
}

// plainSources are tables of every source, each with rows within the bound, beyond it,
// out of their ranges, and zero.
func plainSources(t *testing.T, n int) []plain {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	const d = 5
	x := randomMatrix(r, n, d, 1)
	for i := range n {
		for j := range d {
			x.Set(i, j, x.At(i, j)*[]float64{0, 0.1, 1, 10}[i%4])
		}
	}
	thin := mat.DenseCopyOf(x)
	sp := sparsify(t, r, thin, 0.4)
	var list []plain
	add := func(name string, m mat.Matrix, values *mat.Dense, enc encoding.Encoding) {
		table, err := rows.NewTable(m, enc)
		if err != nil {
			t.Fatal(err)
		}
		p := plain{name, table, nil}
		for i := range n {
			p.want = append(p.want, encode(&enc, values.RawRowView(i))[:d])
		}
		list = append(list, p)
	}
	narrow := encoding.NewAffine(1.1, false, []float64{1, 2, 0.5, 1, 3}, []float64{0, 0.5, -0.25, 1, 0},
		[]float64{-1, -2, 0, -1, -0.1}, []float64{1, 0.5, 3, 1, 0.1})
	for name, enc := range map[string]encoding.Encoding{"": encoding.NewIdentity(d, 1.3, false), ", intercept": encoding.NewIdentity(d, 1.3, true),
		", ranges": affine(t, d, true), ", narrow ranges": narrow} {
		for form, m := range forms(x) {
			add(form+name, m, x, enc)
		}
		add("sparse"+name, sp, thin, enc)
	}
	return list
}

// derived are the tables that can be made from p's: of picked rows, some twice, held to
// a smaller bound, and projected, kept or anew in each pass.
func (p plain) derived(t *testing.T) []plain {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	n, e := p.table.Len(), &p.table.Enc
	order := append(r.Perm(n)[:n/2], 0, 1, 2, 3, 3, n-1)
	picked := plain{p.name + ", picked", p.table.Pick(order), blocks.Gather(p.want, order)}
	rebound := plain{p.name + ", rebound", p.table.Rebound(e.Bound/3, e.Constant/4), nil}
	const k, bound = 3, 0.9
	phi := sketch.NewGaussian(k, e.Columns, 7)
	kept, err := rows.Project(ctx, p.table, phi, bound)
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := rows.ProjectKeeping(ctx, p.table, phi, bound, 0)
	if err != nil {
		t.Fatal(err)
	}
	images := make([][]float64, n)
	for i, u := range p.want {
		rebound.want = append(rebound.want, shortened(u, e.Bound/3))
		images[i] = make([]float64, k)
		phi.Apply(images[i], u)
		images[i] = shortened(images[i], bound)
	}
	return []plain{picked, rebound, {p.name + ", projected and kept", kept, images}, {p.name + ", projected anew", streamed, images}}
}

// Every row of every source enters every pass as what its definition says, and no
// longer than the bound: by encoding (moments), by scores and by gradients, with the
// norm that clips go by; also after picking, rebounding and projecting, twice over.
func TestEveryRowIsBoundedInEverySource(t *testing.T) {
	for _, p := range plainSources(t, 4200) { // two blocks
		p.check(t)
		for _, q := range p.derived(t) {
			q.check(t)
		}
	}
	for _, p := range plainSources(t, 150) { // two tiles
		for _, q := range p.derived(t) {
			for _, s := range q.derived(t) {
				s.check(t)
			}
		}
	}
}

func (p plain) check(t *testing.T) {
	t.Helper()
	e, n := &p.table.Enc, len(p.want)
	if p.table.Len() != n {
		t.Fatalf("%s: %d rows, want %d", p.name, p.table.Len(), n)
	}
	if len(p.table.Norm) != n || len(p.table.Length) != n || p.table.Shrink != nil && len(p.table.Shrink) != n {
		t.Fatalf("%s: %d norms, %d lengths and %d factors for %d rows", p.name, len(p.table.Norm), len(p.table.Length), len(p.table.Shrink), n)
	}
	encoded := features(t, p.table)
	for i, u := range encoded {
		if r := norm(u[:e.Columns]); r > e.Bound*(1+e.Slack()) {
			t.Fatalf("%s: row %d is not scaled down: norm %g, bound %g", p.name, i, r, e.Bound)
		}
		p.compare(t, "encoded", i, u)
		if r := norm(u); p.table.Norm[i] < r*(1-e.Slack()) || p.table.Norm[i] > r*(1+1e-9)+1e-9 {
			t.Fatalf("%s: row %d of norm %g is clipped as if it had %g", p.name, i, r, p.table.Norm[i])
		}
		if p.table.Length[i] > e.Bound || p.table.Norm[i] > e.FeatureBound()*(1+e.Slack()) {
			t.Fatalf("%s: row %d has the norms %g and %g, bounds %g and %g", p.name, i, p.table.Length[i], p.table.Norm[i], e.Bound, e.FeatureBound())
		}
	}
	p.checkScores(t)
	p.checkSums(t)
}

// compare holds the features u of row i, with the constant, against the definition.
func (p plain) compare(t *testing.T, how string, i int, u []float64) {
	t.Helper()
	e := &p.table.Enc
	want := p.want[i]
	if e.Intercept {
		want = append(slices.Clone(want), e.Constant)
	}
	if d := distance(u, want); !(d <= 1e-12*e.FeatureBound()*e.Offset()) {
		t.Fatalf("%s: row %d, %s, is %v, want %v", p.name, i, how, u, want)
	}
}

// checkScores reads each feature as the score of a unit vector.
func (p plain) checkScores(t *testing.T) {
	t.Helper()
	dim := p.table.Enc.Dim()
	scores := make([][]float64, dim)
	for j := range scores {
		w := make([]float64, dim)
		w[j] = 1
		scores[j] = make([]float64, len(p.want))
		rows.Scores(p.table, scores[j], w)
	}
	u := make([]float64, dim)
	for i := range p.want {
		for j := range u {
			u[j] = scores[j][i]
		}
		p.compare(t, "by its scores", i, u)
	}
}

// checkSums reads some rows from sums in which all others have the coefficient 0: the
// gradient of the squared loss at 0 for the label −1, and weighted moments, whose row
// of largest diagonal is a multiple of the features.
func (p plain) checkSums(t *testing.T) {
	t.Helper()
	n, dim := len(p.want), p.table.Enc.Dim()
	for _, i := range []int{0, 1, 2, 3, n / 2, n/2 + 1, n - 2, n - 1} {
		labels, u := make([]float64, n), make([]float64, dim)
		labels[i] = -1
		s, err := NewSums(p.table, labels, 0, 1, losses.Squared{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Gradient(ctx, u, make([]float64, dim), math.Inf(1)); err != nil {
			t.Fatal(err)
		}
		p.compare(t, "by its gradient", i, u)
		labels[i] = 1
		m, err := momentsOf(ctx, p.table, labels)
		if err != nil {
			t.Fatal(err)
		}
		for j := range u {
			for k := range u {
				if got, want := m.At(j, k), u[j]*u[k]; math.Abs(got-want) > 1e-11*p.table.Enc.FeatureBound()*p.table.Enc.FeatureBound()*p.table.Enc.Offset() {
					t.Fatalf("%s: row %d has the moment %g of features %d and %d, want %g", p.name, i, got, j, k, want)
				}
			}
		}
	}
}

// The sample that solvers take has each k-th row with its own label.
func TestEveryKeepsRowsAndLabels(t *testing.T) {
	for _, p := range plainSources(t, 150) {
		labels := make([]float64, 150)
		for i := range labels {
			labels[i] = float64(i)
		}
		s, err := NewSums(p.table, labels, 0, 1000, losses.Squared{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{1, 2, 7, 15} {
			sample := s.Every(k)
			q := plain{name: p.name + ", sample", table: sample.t}
			for i := 0; i < 150; i += k {
				q.want = append(q.want, p.want[i])
				if got := sample.labels[i/k]; got != labels[i] {
					t.Fatalf("%s: row %d of each %d-th has the label %g, want %g", p.name, i/k, k, got, labels[i])
				}
			}
			q.check(t)
		}
	}
}
