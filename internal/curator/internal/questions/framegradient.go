package questions

import (
	"cmp"
	"context"
	"encoding/gob"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/release"
	"gonum.org/v1/gonum/floats"
)

// combine returns Σ cᵢtᵢx̃ᵢ, tᵢ the factor of shortening, and Σ kᵢ, where
// coefficients make the cᵢ of the scores ⟨u, tᵢx̃ᵢ⟩ and set the kᵢ. Each row counts its share.
func (r *Framed) combine(ctx context.Context, of combination) ([]float64, float64, error) {
	sum := make([]float64, r.s.t.Enc.Dim())
	total, constant, err := combine(ctx, r.s, sum, of)
	for j, m := range r.m.Centre {
		sum[j] -= float64(m * total)
	}
	return r.m.into(sum[:r.s.t.Enc.Columns]), constant, err
}

// Behind says what the constant's coordinate is: Σ kᵢ over a number, times another one, which is 0 where there is no such
// coordinate.
type Behind struct{ Over, Times float64 }

// width is how many coordinates there are with it.
func (b Behind) width(dim int) int {
	if b.Times > 0 {
		return dim + 1
	}
	return dim
}

// combinedIn is combine with the constant's coordinate behind. A row adds a vector
// of at most row in length, and the sum has the sensitivity l2 in memory.
func combinedIn(ctx context.Context, r *Framed, of inFrame, constant Behind, row, l2 float64) (release.Answer, error) {
	if r.s.t.Place.Parties() {
		sum := make([]float64, constant.width(r.m.dim))
		l2, err := bounded(ctx, r.s, sum, &inCoordinates{of, r.m.dim, constant}, row, l2)
		return r.answer(sum, l2), err
	}
	v, total, err := r.combine(ctx, of)
	if constant.Times > 0 {
		v = append(v, total/constant.Over*constant.Times)
	}
	return r.answer(v, l2), err
}

// inFrame is a combination in a frame.
type inFrame interface {
	combination
	on(s *Sums) *Framed
}

// inCoordinates asks for combinedIn, each row's in so many coordinates.
type inCoordinates struct {
	Of       inFrame
	Dim      int
	Constant Behind
}

func (q *inCoordinates) cut(t *rows.Table) rows.Cut { return t.InTiles(q.Constant.width(q.Dim)) }

func (q *inCoordinates) frames() []rows.Measure { return framesOf(q.Of) }

func (q *inCoordinates) adder(s *Sums) rows.Adder {
	r, set := q.Of.on(s), q.Of.coefficients(s)
	var f encoding.Folded
	s.t.Enc.Fold(q.Of.weights(), &f)
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		z, beside := a.Z[:tile.Rows], a.Beside[:tile.Rows]
		s.t.Score(z, tile, lo, &f)
		set(z, beside, lo)
		for k, c := range z {
			addRow(r, a, a.Sum, tile, lo, k, c)
			if q.Constant.Times > 0 {
				a.Sum[q.Dim] += float64(beside[k] / q.Constant.Over * q.Constant.Times)
			}
		}
	}
}

// addRow adds c times the coordinates of row k of a tile, not shortened.
func addRow(r *Framed, a *rows.Workspace, sum []float64, tile rows.Tile, lo, k int, c float64) {
	a.Row = rows.Room(a.Row, r.m.enc.Dim())
	r.m.features(a.Row, r.s.t, tile, lo, k)
	d := r.m.enc.Columns
	v := a.Row[:d]
	if r.m.axes != nil {
		a.Coordinates = rows.Room(a.Coordinates, r.m.dim)
		kernel.Dots(a.Coordinates, r.m.axes, d, v)
		v = a.Coordinates
	} else {
		v = r.m.into(v)
	}
	for j, v := range v {
		sum[j] += float64(c * v)
	}
}

// OverFrame is what combinations in a frame have in common.
type OverFrame struct{ InFrame }

func (*OverFrame) atOnce() atOnce          { return nil }
func (*OverFrame) together(*Sums) together { return nil }
func (*OverFrame) totals() bool            { return true }

// holding makes coefficients of set's, which are given the scores ⟨u, tᵢx̃ᵢ⟩ of rows of r.
func (r *Framed) holding(u []float64, set coefficients) coefficients {
	_, c := r.m.weights(u)
	return func(z, beside []float64, lo int) {
		for k := range z {
			z[k] -= c
		}
		r.norms.hold(z, lo)
		set(z, beside, lo)
		r.norms.hold(z, lo)
	}
}

// Sum is Σ tᵢx̃ᵢ, those longer than the given norm shortened to it.
func (r *Framed) Sum(ctx context.Context, normBound float64) (release.Answer, error) {
	return combinedIn(ctx, r, &framedSum{OverFrame{r.in()}, normBound}, Behind{}, normBound, r.bounds().sumSensitivity(normBound))
}

// framedSum asks for Sum.
type framedSum struct {
	OverFrame
	NormBound float64
}

func (q *framedSum) weights() []float64 { return make([]float64, q.r.s.t.Enc.Dim()) }

func (q *framedSum) coefficients(s *Sums) coefficients {
	r := q.on(s)
	return r.holding(make([]float64, r.Dim()), func(z, beside []float64, lo int) {
		for k := range z {
			z[k], beside[k] = math.Min(1, q.NormBound/r.norms.row(lo+k)), 0
		}
	})
}

// Slope is how Gradient holds its coefficients.
type Slope struct {
	Clip     float64 // C: a row's gradient in the coordinates is at most so long
	Constant float64 // k: the constant coordinate, 0 for none
	// Apart, where it isn't 0, is S: the constant's sum is that of φ' held to ±S, times
	// k/S, and is not clipped with the others.
	Apart float64
	// Means, where it isn't 0, is M: what is apart are the means of counts that the model says, held to [0, M], times k/M, in the place of φ'.
	// Labels may be many times as large as these, and their mean be known.
	Means float64
	// Likely, where it isn't 0, has rows' gradients shortened by what labels are likely before they are
	// clipped: see weighed. It is how many deviations a likely φ' is off. Nothing is apart then.
	Likely float64
	// Cut, where it isn't 0, has rows count min(1, Cut/norm), so that none is longer than that, and φ' is held to
	// ±Clip/Cut: then nothing that depends on a label says how much a row counts. Nothing is apart, and Likely is 0.
	Cut float64
	// Plain has less the label, 0 or 1 where it is binary, in the place of φ', whatever the point is.
	Plain bool
	// Middle is added to φ', or to what is in its place, before that is held.
	Middle float64
}

// valid refuses what isn't a number, and numbers below 0.
func (p Slope) valid() error {
	for _, v := range []float64{p.Clip, p.Constant, p.Apart, p.Means, p.Likely, p.Cut} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return check.Fail(check.ErrBound, "slope", nil, "must have numbers of 0 or more")
		}
	}
	if math.IsNaN(p.Middle) || math.IsInf(p.Middle, 0) {
		return check.Fail(check.ErrBound, "slope", nil, "must have a middle that is finite")
	}
	if p.Means > 0 && (!(p.Apart > 0) || p.Likely > 0 || p.Cut > 0 || p.Plain) {
		return check.Fail(check.ErrBound, "slope", nil, "must have means apart, of rows that are clipped alone")
	}
	return nil
}

// coefficient bounds |cᵢ|: where the constant belongs to the row's norm, or no row is
// taken to be shorter than 1, by the clip.
func (p Slope) coefficient() float64 {
	switch {
	case p.Apart > 0:
		return p.Apart
	case p.Constant > 0:
		return p.Clip / p.Constant
	}
	return p.Clip
}

// ApartBound bounds what is apart: M or S.
func (p Slope) ApartBound() float64 {
	if p.Means > 0 {
		return p.Means
	}
	return p.Apart
}

// holdTo holds each number to ±limit.
func holdTo(z []float64, limit float64) {
	for k, c := range z {
		if c > limit {
			c = limit
		}
		if c < -limit {
			c = -limit
		}
		z[k] = c
	}
}

// Gradient is Σ clip(φ'ᵢ·(tᵢx̃ᵢ, k)) at the score ⟨u, tᵢx̃ᵢ⟩ + offset, the constant's
// coordinate last if there is one. Means aren't summed where each row counts.
func (r *Framed) Gradient(ctx context.Context, u []float64, offset float64, p Slope) (release.Answer, error) {
	if err := cmp.Or(r.point(u), p.valid()); err != nil {
		return release.Answer{}, err
	}
	if p.Means > 0 && r.m.Each > 0 {
		return release.Answer{}, check.Fail(check.ErrBound, "slope", nil, "must not have means where each row counts")
	}
	constant, row := Behind{1, p.Constant}, p.Clip
	if p.Apart > 0 {
		constant.Over, row = p.ApartBound(), math.Hypot(p.Clip, p.Constant)
	}
	return combinedIn(ctx, r, &framedGradient{OverFrame{r.in()}, u, offset, p}, constant, row, r.bounds().gradientSensitivity(p))
}

// framedGradient asks for Gradient.
type framedGradient struct {
	OverFrame
	U      []float64
	Offset float64
	Slope  Slope
}

func (q *framedGradient) weights() []float64 {
	w, _ := q.r.m.weights(q.U)
	return w
}

func (q *framedGradient) coefficients(s *Sums) coefficients {
	r, p := q.on(s), q.Slope
	norms := r.norms.beside(p)
	return r.holding(q.U, func(z, beside []float64, lo int) {
		for k := range z {
			z[k] += q.Offset
		}
		s.weighed(z, beside, lo, norms, p)
		if r.m.Each > 0 {
			rowsCount(r, z, lo)
		}
		if p.Apart > 0 {
			if p.Means > 0 {
				means(s, beside, z, lo, p.Means)
			}
			holdTo(z, p.Apart)
			if p.Means == 0 {
				copy(beside, z)
			}
		}
		kernel.Clip(z, norms[lo:lo+len(z)], p.Clip)
		if p.Apart == 0 {
			copy(beside, z)
		}
	})
}

func (q *framedGradient) together(s *Sums) together {
	if r := q.on(s); r.m.Each > 0 {
		return newBundle(r, q.Slope, 1)
	}
	return nil
}

// means sets m to the means that the model says of the counts from the row lo on, of which φ' are the slopes under Poisson's law, held to [0, most].
func means(s *Sums, m, slopes []float64, lo int, most float64) {
	for k, v := range slopes {
		mean := v + s.labels[lo+k]
		if !(mean > 0) { // by rounding
			mean = 0
		}
		m[k] = math.Min(mean, most)
	}
}

// newBundle is of persons' gradients in so many columns.
func newBundle(r *Framed, p Slope, classes int) *bundle {
	return &bundle{r.s.t, r.m, p.Clip, p.Constant, p.Apart, classes, r.norms.beside(p)}
}

// rowsCount multiplies φ' of the rows from lo on by what their rows count.
func rowsCount(r *Framed, z []float64, lo int) {
	for k := range z {
		if count := rowCounts(r, lo+k); count > 0 {
			z[k] *= count
		} else {
			z[k] = 0 // whatever it was
		}
	}
}

// rowCounts is what row i counts, where each row does.
func rowCounts(r *Framed, i int) float64 { return r.m.Each * r.s.t.Persons.Weight(i) }

// GradientNorms is the histogram of |φ'|·norm, with a Cut of |φ'|, or where each row counts of the lengths of persons' gradients, which Gradient holds to its clip, or of what is likely in the
// place of |φ'|, by which it shortens rows.
func (r *Framed) GradientNorms(ctx context.Context, edges, u []float64, offset float64, p Slope) (release.Answer, error) {
	if err := p.valid(); err != nil {
		return release.Answer{}, err
	}
	q := &framedNorms{Scored{r.in(), edges, u, offset}, p}
	return r.scored(ctx, q, &q.Scored)
}

// framedNorms asks for GradientNorms.
type framedNorms struct {
	Scored
	Slope Slope
}

func (q *framedNorms) adder(s *Sums) rows.Adder {
	r := q.on(s)
	own := r.norms.beside(q.Slope)
	if r.m.Each > 0 {
		of := newBundle(r, q.Slope, 1)
		score := r.scoring(q.U, q.Offset)
		return func(a *rows.Workspace, tile rows.Tile, lo int) {
			z := a.Z[:tile.Rows]
			score(z, tile, lo)
			s.slopes(z, lo)
			rowsCount(r, z, lo)
			of.lengths(&a.Opens(1)[0], z, z, tile, lo, func(length float64) { a.Sum[cell(q.Edges, length)]++ })
		}
	}
	return q.counting(r, func(z, beside []float64, lo int) {
		if q.Slope.Likely > 0 {
			s.likely(beside, z, lo, q.Slope.Likely)
			copy(z, beside)
		} else {
			s.slopes(z, lo)
		}
		for k, c := range z {
			if z[k] = math.Abs(c); q.Slope.Cut == 0 {
				z[k] *= own[lo+k]
			}
		}
	})
}

// Scatter is the packed Σ gₚgₚᵀ of what each person adds to Gradient's sum, the constant's
// coordinate, which is never apart, last if there is one. In exact arithmetic it moves by
// √2·C² when a person is replaced (momentsDistance), as gₚ is at most C long; rounding is
// that of moments whose weights are squares of coefficients.
func (r *Framed) Scatter(ctx context.Context, u []float64, offset float64, p Slope) (release.Answer, error) {
	if err := cmp.Or(r.point(u), p.valid()); err != nil {
		return release.Answer{}, err
	}
	p.Apart = 0
	most := square(p.coefficient())
	if r.m.Each > 0 { // whose sum is multiplied by itself
		most *= float64(r.s.t.Persons.MostRows())
	}
	return r.packed(ctx, &framedScatter{packing(r, p.Constant), u, offset, p}, p.Clip, r.bounds().momentsSensitivity(most, p.Constant, p.Clip))
}

// framedScatter asks for Scatter.
type framedScatter struct {
	Packing
	U      []float64
	Offset float64
	Slope  Slope
}

func (q *framedScatter) adder(s *Sums) rows.Adder {
	r := q.on(s)
	norms, score := r.norms.beside(q.Slope), r.scoring(q.U, q.Offset)
	hold := func(sum []float64, n int) {
		if n > 1 { // which its own clip holds else
			floats.Scale(shortening(q.length(r, sum, n), q.Slope.Clip), sum)
		}
	}
	return q.adding(r, hold, func(f, likely []float64, tile rows.Tile, lo int) {
		score(f, tile, lo)
		s.weighed(f, likely, lo, norms, q.Slope)
		if r.m.Each > 0 {
			rowsCount(r, f, lo)
		}
		kernel.Clip(f, norms[lo:lo+len(f)], q.Slope.Clip)
	})
}

// length bounds that of a person's gradient, of so many rows, from a sum over features x − m and of the constant's.
func (q *framedScatter) length(r *Framed, sum []float64, n int) float64 {
	d := r.m.enc.Columns
	square := 0.0
	for _, v := range r.m.into(slices.Clone(sum[:d])) {
		square += float64(v * v)
	}
	if q.Constant > 0 {
		square += float64(sum[d] * sum[d])
	}
	rows := float64(n)
	up := 1 + float64(2*encoding.Unit*float64(d+16))
	// Each row is as long as the clip at most, and a row of a coefficient c is missed by c times what rounding hides.
	return float64(math.Sqrt(square)*up) + float64(rows*(1+rows)*q.Slope.coefficient()*(r.m.missed()+float64(8*encoding.Unit*q.Constant)))
}

// Slopes is the histogram of φ' at the scores ⟨u, tᵢx̃ᵢ⟩ + offset, as Lengths is of norms:
// of probabilities less labels under the logistic loss, of residuals under the squared one. Scores, with rows' own
// offsets, are held to the ends first.
func (r *Framed) Slopes(ctx context.Context, edges, u []float64, offset float64, ends Ends) (release.Answer, error) {
	q := &framedSlopes{Scored{r.in(), edges, u, offset}, ends}
	return r.scored(ctx, q, &q.Scored)
}

// Ends are what scores are held to, the lower one first. Where both are 0 they aren't.
type Ends [2]float64

// Hold is a score that is held.
func (e Ends) Hold(z float64) float64 {
	if e == (Ends{}) {
		return z
	}
	return math.Min(math.Max(z, e[0]), e[1])
}

// framedSlopes asks for Slopes.
type framedSlopes struct {
	Scored
	Ends Ends
}

func (q *framedSlopes) adder(s *Sums) rows.Adder {
	return q.counting(q.on(s), func(z, _ []float64, lo int) {
		s.offsets.add(z, lo)
		for k, v := range z {
			z[k] = q.Ends.Hold(v)
		}
		derivs(s.loss, z, s.labels[lo:lo+len(z)])
	})
}

// scoring returns what sets z to the scores ⟨u, tᵢx̃ᵢ⟩ + offset of a tile.
func (r *Framed) scoring(u []float64, offset float64) func(z []float64, tile rows.Tile, lo int) {
	w, c := r.m.weights(u)
	var folds encoding.Folded
	r.s.t.Enc.Fold(w, &folds)
	return func(z []float64, tile rows.Tile, lo int) {
		r.s.t.Score(z, tile, lo, &folds)
		for k, v := range z {
			z[k] = float64(rows.Factor(r.norms.shorten, lo+k)*(v-c)) + offset
		}
	}
}

func init() {
	gob.Register(&framedSum{})
	gob.Register(&framedGradient{})
	gob.Register(&framedNorms{})
	gob.Register(&framedSlopes{})
	gob.Register(&framedScatter{})
	gob.Register(&inCoordinates{})
}
