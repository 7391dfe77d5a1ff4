package questions

import (
	"context"
	"encoding/gob"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
)

// Classes are rows whose labels are one of K classes, 0 to K−1.
type Classes struct {
	s *Sums
	k int
}

// NewClasses binds labels to the rows. Its error is one of intake. Parties that hold rows aren't
// asked: they check labels when they agree to a fit.
func NewClasses(ctx context.Context, t *rows.Table, labels []float64, k int) (*Classes, error) {
	isClass := func(i int, y float64) error {
		if !(y >= 0 && y < float64(k) && y == math.Trunc(y)) {
			return check.Fail(check.ErrLabel, fmt.Sprintf("label of row %d (counted from 1)", i+1), nil, fmt.Sprintf("must be a class, a whole number from 0 to %d", k-1))
		}
		return nil
	}
	if t.Place.Parties() {
		return &Classes{&Sums{t: t}, k}, nil
	}
	if t.Place.Elsewhere() {
		return &Classes{&Sums{t: t}, k}, allClasses(ctx, t, k)
	}
	if t.Place != nil {
		err := rows.EachLabel(ctx, t, func(d rows.LabelDomain) bool { return d.Whole && d.Least >= 0 && d.Most < float64(k) }, isClass)
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
	err := counted(ctx, c.s, counts, &classCounts{c.k}, 1)
	return release.NewAnswer(rows, counts, countsSensitivity(c.s)), err
}

// classCounts asks for Counts.
type classCounts struct{ Classes int }

func (q *classCounts) cut(t *rows.Table) rows.Cut { return t.InTiles(q.Classes) }

func (q *classCounts) adder(s *Sums) rows.Adder {
	return rows.EachRow(func(i int, sum []float64) { sum[int(s.labels[i])] += s.t.Persons.Share(i) })
}

// Frame measures the rows in a frame.
func (c *Classes) Frame(ctx context.Context, rows *release.Rows, f Frame) (*ClassFramed, error) {
	r, err := NewFramed(ctx, c.s, rows, f)
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

// ClassSlope is how Gradient holds a row's gradient of all classes: no longer than Clip or, with LabelAlone, than √2·Clip, with
// the coordinates of a constant feature, 0 for none. None of these is held apart from the
// others, as a [Slope]'s may be.
type ClassSlope struct {
	Clip, Constant float64
	// LabelAlone has rows count min(1, Clip/norm), whichever their class is: nothing that depends on a label says how much. What is
	// declared is then for one row's other label, not for another row. Rows are read by this process, and nobody has several.
	LabelAlone bool
}

func (p ClassSlope) slope() Slope { return Slope{Clip: p.Clip, Constant: p.Constant} }

// ClassPoint is a point and an intercept of each class.
type ClassPoint struct {
	U [][]float64
	B []float64
}

// Pointed is where questions about classes are asked: at linear scores of each class.
type Pointed struct {
	InFrame
	Classes int
	At      ClassPoint
}

func (c *ClassFramed) at(p ClassPoint) Pointed { return Pointed{c.r.in(), c.k, p} }

// on has as many classes as there are scores: a number of them that was damaged on its way ends the question here, by the bound of a slice, and not
// where there would be room for so many.
func (q *Pointed) on(s *Sums) *Framed {
	_, _ = q.At.U[:q.Classes], q.At.B[:q.Classes]
	return q.InFrame.on(s)
}

// scores adds what add adds of a tile, given the scores at the point, class by class.
func (q *Pointed) scores(r *Framed, add func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int)) rows.Adder {
	t, ws, shifts := r.s.t, make([][]float64, q.Classes), make([]float64, q.Classes)
	for k, u := range q.At.U {
		ws[k], shifts[k] = r.m.weights(u)
	}
	folds, v := t.Enc.FoldAll(ws)
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		n := tile.Rows
		a.Many = rows.Room(a.Many, q.Classes*n+q.Classes)
		z := make([][]float64, q.Classes)
		t.ScoreMany(a.Many[:q.Classes*n], tile, lo, folds, v)
		for k := range z {
			z[k] = a.Many[k*n : (k+1)*n]
			for i, v := range z[k] {
				z[k][i] = float64(rows.Factor(r.norms.shorten, lo+i)*(v-shifts[k])) + q.At.B[k]
			}
		}
		add(a, z, tile, lo)
	}
}

// errorsOf is scores, with p − e_y at the point in place of the scores.
func (q *Pointed) errorsOf(r *Framed, add func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int)) rows.Adder {
	return q.scores(r, func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int) {
		row := a.Many[q.Classes*tile.Rows:]
		for i := range tile.Rows {
			softmax(row, z, i)
			z[int(r.s.labels[lo+i])][i]--
		}
		add(a, z, tile, lo)
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
//
// A row of norm z that counts min(1, C/z) adds (p − e_y) ⊗ z times that, p being a function of features and the point: another
// label, j for y, moves the sum by (e_y − e_j) ⊗ z times it, √2·C at most, wherever the point is and however many classes there
// are. That is attained by each row of a norm of C or more.
func (c *ClassFramed) Gradient(ctx context.Context, at ClassPoint, p ClassSlope) (release.Answer, error) {
	if err := p.slope().valid(); err != nil {
		return release.Answer{}, err
	}
	r, t := c.r, c.r.s.t
	if p.LabelAlone && (t.Place.Elsewhere() || r.m.Each > 0) {
		return release.Answer{}, check.Fail(check.ErrConfig, "dataset", nil, "must have its rows read by this process, each a person's only one, where labels alone are private")
	}
	if t.Place.Parties() {
		constant := Behind{1, p.Constant}
		values := make([]float64, c.k*constant.width(r.m.dim))
		l2, err := bounded(ctx, r.s, values, &classCoordinates{&classGradient{c.at(at), p}, r.m.dim}, p.Clip, c.gradientSensitivity(p))
		return r.answer(values, l2), err
	}
	columns := t.Enc.Columns
	stride := columns + 4
	sums := make([]float64, c.k*stride)
	err := r.s.sum(ctx, sums, &classGradient{c.at(at), p})
	if err != nil {
		return release.Answer{}, err
	}
	var values []float64
	g := make([]float64, t.Enc.Dim())
	for k := range c.k {
		of := sums[k*stride : (k+1)*stride]
		t.Enc.Unfold(g, of[:columns], of[columns], of[columns+1])
		for j, m := range r.m.Centre {
			g[j] -= float64(m * of[columns+2])
		}
		values = append(values, r.m.into(g[:columns])...)
		if p.Constant > 0 {
			values = append(values, of[columns+3]*p.Constant)
		}
	}
	return r.answer(values, c.gradientSensitivity(p)), nil
}

func (c *ClassFramed) gradientSensitivity(p ClassSlope) float64 {
	classes, apart := float64(c.k), c.r.s.t.Persons.Vectors()
	if p.LabelAlone {
		apart = math.Sqrt2
	}
	return float64(apart*p.Clip*(1+float64(4*(classes+8)*encoding.Unit))) + float64(math.Sqrt(classes)*c.r.bounds().gradientRounding(p.slope()))
}

// classGradient asks for Gradient.
type classGradient struct {
	Pointed
	Slope ClassSlope
}

func (q *classGradient) cut(t *rows.Table) rows.Cut {
	return t.InTiles(q.Classes * (t.Enc.Columns + 4))
}

func (q *classGradient) adder(s *Sums) rows.Adder {
	r, t, columns := q.on(s), s.t, s.t.Enc.Columns
	norms, stride := r.norms.beside(q.Slope.slope()), columns+4
	var persons *bundle
	if r.m.Each > 0 {
		persons = newBundle(r, q.Slope.slope(), q.Classes)
	}
	return q.errorsOf(r, func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int) {
		if persons != nil {
			for _, of := range z {
				rowsCount(r, of, lo)
			}
		}
		q.clip(z, norms[lo:])
		if n := q.Classes * tile.Rows; persons != nil {
			persons.add(&a.Opens(1)[0], a.Sum, a.Many[:n], slices.Clone(a.Many[:n]), tile, lo)
		}
		for k, coefficients := range z {
			of := a.Sum[k*stride : (k+1)*stride]
			if persons == nil {
				t.Persons.Weigh(coefficients, lo)
			}
			of[columns+3] += vector.Sum(coefficients)
			r.norms.hold(coefficients, lo)
			of[columns+2] += vector.Sum(coefficients)
		}
		t.AddTiles(a.Sum, stride, a.Many[:q.Classes*tile.Rows], tile, lo)
	})
}

// clip scales columns of errors, times their norms, down to the clip.
func (q *classGradient) clip(z [][]float64, norms []float64) {
	for i := range z[0] {
		scale := 1.0
		long := norms[i]
		if !q.Slope.LabelAlone {
			long *= length(z, i)
		}
		if long > q.Slope.Clip {
			scale = q.Slope.Clip / long
		}
		for k := range z {
			z[k][i] *= scale
		}
	}
}

// classCoordinates asks for Gradient, each row's in so many coordinates.
type classCoordinates struct {
	Of  *classGradient
	Dim int
}

func (q *classCoordinates) frames() []rows.Measure { return q.Of.frames() }

func (q *classCoordinates) cut(t *rows.Table) rows.Cut {
	return t.InTiles(q.Of.Classes * Behind{1, q.Of.Slope.Constant}.width(q.Dim))
}

func (q *classCoordinates) adder(s *Sums) rows.Adder {
	r, p := q.Of.on(s), q.Of.Slope
	norms, constant := r.norms.beside(p.slope()), Behind{1, p.Constant}
	width := constant.width(q.Dim)
	return q.Of.errorsOf(r, func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int) {
		q.Of.clip(z, norms[lo:])
		for k, of := range z {
			sum := a.Sum[k*width : (k+1)*width]
			for i, c := range of {
				addRow(r, a, sum, tile, lo, i, float64(c*rows.Factor(r.norms.shorten, lo+i)))
				if constant.Times > 0 {
					sum[q.Dim] += float64(c * constant.Times)
				}
			}
		}
	})
}

// GradientNorms is the histogram of the lengths that Gradient holds to its clip.
func (c *ClassFramed) GradientNorms(ctx context.Context, edges []float64, at ClassPoint, p ClassSlope) (release.Answer, error) {
	return c.r.histogram(ctx, &classNorms{c.at(at), edges, p}, edges)
}

// classNorms asks for GradientNorms.
type classNorms struct {
	Pointed
	Edges []float64
	Slope ClassSlope
}

func (q *classNorms) cut(t *rows.Table) rows.Cut { return t.InTiles(len(q.Edges) + 1) }

func (q *classNorms) adder(s *Sums) rows.Adder {
	r := q.on(s)
	own := r.norms.beside(q.Slope.slope())
	if r.m.Each > 0 {
		persons := newBundle(r, q.Slope.slope(), q.Classes)
		return q.errorsOf(r, func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int) {
			for _, of := range z {
				rowsCount(r, of, lo)
			}
			all := a.Many[:q.Classes*tile.Rows]
			persons.lengths(&a.Opens(1)[0], all, all, tile, lo, func(length float64) { a.Sum[cell(q.Edges, length)]++ })
		})
	}
	return q.errorsOf(r, func(a *rows.Workspace, z [][]float64, tile rows.Tile, lo int) {
		lengths := a.Beside[:tile.Rows]
		for i := range lengths {
			lengths[i] = length(z, i) * own[lo+i]
		}
		count(a.Sum, q.Edges, lengths, r.s.t.Persons, lo)
	})
}

func init() {
	gob.Register(&classCounts{})
	gob.Register(&classGradient{})
	gob.Register(&classNorms{})
	gob.Register(&classCoordinates{})
}
