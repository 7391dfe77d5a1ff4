package rows

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
)

// Classes are rows whose labels are one of K classes, 0 to K−1.
type Classes struct {
	s *Sums
	k int
}

// NewClasses binds labels to the rows. Its error is one of intake.
func NewClasses(ctx context.Context, t *Table, labels []float64, k int) (*Classes, error) {
	isClass := func(i int, y float64) error {
		if !(y >= 0 && y < float64(k) && y == math.Trunc(y)) {
			return check.Fail(check.ErrLabel, fmt.Sprintf("label of row %d (counted from 1)", i+1), nil, fmt.Sprintf("must be a class, a whole number from 0 to %d", k-1))
		}
		return nil
	}
	if t.elsewhere() {
		return &Classes{&Sums{t: t}, k}, t.allClasses(ctx, k)
	}
	if t.stored != nil {
		err := t.eachLabel(ctx, func(d labelDomain) bool { return d.whole && d.least >= 0 && d.most < float64(k) }, isClass)
		return &Classes{&Sums{t: t}, k}, err
	}
	for i, y := range labels {
		if err := isClass(i, y); err != nil {
			return nil, err
		}
	}
	return &Classes{&Sums{t: t, labels: labels}, k}, nil
}

// Counts are how many rows each class has. A person adds shares of 1 to them: see
// Framed.histogram.
func (c *Classes) Counts(ctx context.Context, rows *release.Rows) (release.Answer, error) {
	counts := make([]float64, c.k)
	err := c.s.eachRow(asking(ctx, asked{Kind: "class counts", Classes: c.k}), counts, func(s *Sums, i int, sum []float64) { sum[int(s.labels[i])] += s.t.Persons.Share(i) })
	return release.NewAnswer(rows, counts, oneRowCounts), err
}

// Frame measures the rows in a frame.
func (c *Classes) Frame(ctx context.Context, rows *release.Rows, f Frame) (*ClassFramed, error) {
	r, err := c.s.Frame(ctx, rows, f)
	if err != nil {
		return nil, err
	}
	return &ClassFramed{r, c.k}, nil
}

// ClassFramed answers questions about the classes of rows in a frame, for linear scores of
// each class, whose probabilities are p_k = e^{z_k}/Σe^{z_j}. The gradient of a row's loss
// −log p_y is (p − e_y) ⊗ (tx̃, constant), and as long as ‖p − e_y‖ ≤ √2 times the row.
type ClassFramed struct {
	r *Framed
	k int
}

// ClassSlope is how Gradient holds a row's gradient of all classes: no longer than Clip, with
// the coordinates of a constant feature, 0 for none. None of these is held apart from the
// others, as a [Slope]'s may be.
type ClassSlope struct{ Clip, Constant float64 }

func (p ClassSlope) slope() Slope { return Slope{Clip: p.Clip, Constant: p.Constant} }

// ClassPoint is a point and an intercept of each class.
type ClassPoint struct {
	U [][]float64
	B []float64
}

// classAdder adds a tile, given numbers class by class.
type classAdder func(a *workspace, z [][]float64, rows tile, lo int)

// eachScored passes over the rows with the scores at a point, class by class.
func (c *ClassFramed) eachScored(ctx context.Context, dst []float64, at ClassPoint, of func(c *ClassFramed) classAdder) error {
	t, ws, shifts := c.r.s.t, make([][]float64, c.k), make([]float64, c.k)
	for k, u := range at.U {
		ws[k], shifts[k] = c.r.weights(u)
	}
	folds, v := t.enc.FoldAll(ws)
	return c.r.s.pass(ctx, dst, func(s *Sums) adder {
		c := &ClassFramed{c.r.on(s), c.k}
		add := of(c)
		return func(a *workspace, rows tile, lo int) {
			n := rows.rows
			a.many = room(a.many, c.k*n+c.k)
			z := make([][]float64, c.k)
			s.t.scores(a.many[:c.k*n], rows, lo, folds, v)
			for k := range z {
				z[k] = a.many[k*n : (k+1)*n]
				for i, v := range z[k] {
					z[k][i] = float64(factor(c.r.shorten, lo+i)*(v-shifts[k])) + at.B[k]
				}
			}
			add(a, z, rows, lo)
		}
	})
}

// eachTile passes over the rows with p − e_y at a point in place of the scores.
func (c *ClassFramed) eachTile(ctx context.Context, dst []float64, at ClassPoint, of func(c *ClassFramed) classAdder) error {
	return c.eachScored(ctx, dst, at, func(c *ClassFramed) classAdder {
		add := of(c)
		return func(a *workspace, z [][]float64, rows tile, lo int) {
			row := a.many[c.k*rows.rows:]
			for i := range rows.rows {
				softmax(row, z, i)
				z[int(c.r.s.labels[lo+i])][i]--
			}
			add(a, z, rows, lo)
		}
	})
}

// softmax turns column i of scores into probabilities, which are all alike where scores are
// no numbers: one row must not make a sum none.
func softmax(row []float64, z [][]float64, i int) {
	for k := range z {
		row[k] = z[k][i]
	}
	top := slices.Max(row)
	for k := range row {
		row[k] -= top
	}
	kernel.Exps(row)
	total := vector.Sum(row)
	for k := range z {
		if z[k][i] = row[k] / total; !(total >= 1) {
			z[k][i] = 1 / float64(len(z))
		}
	}
}

// length is the norm of column i.
func length(z [][]float64, i int) float64 {
	var square float64
	for _, of := range z {
		square += float64(of[i] * of[i])
	}
	return math.Sqrt(square)
}

// Gradient is the sum of the rows' gradients, class by class, the constant's coordinate of
// each last if there is one; each row's is held to the clip, all classes together.
//
// In exact arithmetic a replaced row moves it by at most 2C. Rounding adds, for each class,
// what it adds to [Framed.Gradient], whose coefficients have the same bound: over K classes
// √K times that. The length of p − e_y is off by fewer than K + 8 units.
func (c *ClassFramed) Gradient(ctx context.Context, at ClassPoint, p ClassSlope) (release.Answer, error) {
	r, t := c.r, c.r.s.t
	d, columns := r.Dim(), t.enc.Columns
	stride := columns + 4
	sums := make([]float64, c.k*stride)
	err := c.eachTile(asking(ctx, asked{Kind: "framed class gradient", Frame: &r.f, Classes: c.k, At: at, Slope: p.slope()}), sums, at, func(c *ClassFramed) classAdder {
		r, t, norms := c.r, c.r.s.t, c.r.norms(p.slope())
		return func(a *workspace, z [][]float64, rows tile, lo int) {
			for i := range rows.rows {
				scale := 1.0
				if long := length(z, i) * norms[lo+i]; long > p.Clip {
					scale = p.Clip / long
				}
				for k := range z {
					z[k][i] *= scale
				}
			}
			for k, coefficients := range z {
				of := a.sum[k*stride : (k+1)*stride]
				t.Persons.Weigh(coefficients, lo)
				of[columns+3] += vector.Sum(coefficients)
				r.hold(coefficients, lo)
				of[columns+2] += vector.Sum(coefficients)
			}
			t.addTiles(a.sum, stride, a.many[:c.k*rows.rows], rows, lo)
		}
	})
	if err != nil {
		return release.Answer{}, err
	}
	var values []float64
	g := make([]float64, t.enc.Dim())
	for k := range c.k {
		of := sums[k*stride : (k+1)*stride]
		t.enc.Unfold(g, of[:columns], of[columns], of[columns+1])
		for j, m := range r.f.Centre {
			g[j] -= float64(m * of[columns+2])
		}
		values = append(values, r.into(g[:d])...)
		if p.Constant > 0 {
			values = append(values, of[columns+3]*p.Constant)
		}
	}
	return r.answer(values, c.gradientSensitivity(p)), nil
}

func (c *ClassFramed) gradientSensitivity(p ClassSlope) float64 {
	classes := float64(c.k)
	return float64(2*p.Clip*(1+float64(4*(classes+8)*encoding.Unit))) + float64(math.Sqrt(classes)*c.r.gradientRounding(p.slope()))
}

// GradientNorms is the histogram of the lengths that Gradient holds to its clip.
func (c *ClassFramed) GradientNorms(ctx context.Context, edges []float64, at ClassPoint, p ClassSlope) (release.Answer, error) {
	counts := make([]float64, len(edges)+1)
	err := c.eachTile(asking(ctx, asked{Kind: "framed class gradient norms", Frame: &c.r.f, Classes: c.k, Edges: edges, At: at, Slope: p.slope()}), counts, at, func(c *ClassFramed) classAdder {
		own := c.r.norms(p.slope())
		return func(a *workspace, z [][]float64, rows tile, lo int) {
			lengths := a.beside[:rows.rows]
			for i := range lengths {
				lengths[i] = length(z, i) * own[lo+i]
			}
			c.r.count(a.sum, edges, lengths, lo)
		}
	})
	return c.r.answer(counts, oneRowCounts), err
}
