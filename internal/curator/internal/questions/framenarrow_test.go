package questions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// dim is the number of coordinates of rows of d features.
func (f Frame) dim(d int) int {
	if f.Matrix == nil {
		return d
	}
	_, k := f.Matrix.Dims()
	return k
}

// padded is the square frame with columns of zeros beside those of f.
func (f Frame) padded() Frame {
	d, k := f.Matrix.Dims()
	wide := mat.NewDense(d, d, nil)
	wide.Slice(0, d, 0, k).(*mat.Dense).Copy(f.Matrix)
	f.Matrix = wide
	return f
}

// used are the numbers of an answer that belong to the first k of d coordinates, and to the
// constant's where it has those: all of a histogram, and of squares.
func used(name string, v []float64, d, k int) []float64 {
	coordinates := func(full int) (list []int) {
		for j := range full {
			if j < k || j >= d {
				list = append(list, j)
			}
		}
		return list
	}
	switch len(v) {
	case d, d + 1:
		if name != "sum" && name[:min(9, len(name))] != "gradient," {
			return v
		}
		return blocks.Gather(v, coordinates(len(v)))
	case d * (d + 1) / 2, (d + 1) * (d + 2) / 2:
		full := int(math.Sqrt(float64(2 * len(v))))
		kept, at := coordinates(full), 0
		var out []float64
		for i := range full {
			for j := i; j < full; j++ {
				if slices.Contains(kept, i) && slices.Contains(kept, j) {
					out = append(out, v[at])
				}
				at++
			}
		}
		return out
	}
	return v
}

// sameAsSquare compares what is said of rows in a narrow frame and in the square one with zeros.
func sameAsSquare(t *testing.T, name string, s *Sums, f Frame, u []float64) {
	t.Helper()
	d, k := f.Matrix.Dims()
	narrow, square := mustFrame(t, s, f), mustFrame(t, s, f.padded())
	if narrow.Dim() != k || square.Dim() != d {
		t.Fatalf("%s: %d and %d coordinates, want %d and %d", name, narrow.Dim(), square.Dim(), k, d)
	}
	if !slices.Equal(narrow.norms.length, square.norms.length) {
		t.Errorf("%s: other norms", name)
	}
	if a, b := narrow.bounds(), square.bounds(); a.of.size != b.of.size || a.of.missed() != b.of.missed() ||
		a.sumSensitivity(1) != b.sumSensitivity(1) || a.momentsSensitivity(1, 1, 1) != b.momentsSensitivity(1, 1, 1) {
		t.Errorf("%s: other bounds", name)
	}
	want := frameAnswers(t, ctx, square, append(slices.Clone(u), make([]float64, d-k)...), true)
	for q, v := range frameAnswers(t, ctx, narrow, u, true) {
		if !slices.Equal(v, used(q, want[q], d, k)) {
			t.Errorf("%s: %s is %v, want %v", name, q, v, used(q, want[q], d, k))
		}
	}
}

// Every answer has the bits, and the sensitivity, that the square frame has with columns of
// zeros beside, and so have the norms of rows: for rows in all forms, with an intercept and
// without, shortened and of a smaller bound, in many blocks.
func TestNarrowFramesAreSquareOnesWithZeros(t *testing.T) {
	const n, d = 3000, 7
	for _, intercept := range []bool{false, true} {
		r := rand.New(rand.NewPCG(61, 62))
		x, y := randomMatrix(r, n, d, 1), alternating(n)
		sp := sparsify(t, r, x, 0.5)
		for form, table := range framedForms(t, x, sp, encoding.NewIdentity(d, 1.4, intercept)) {
			if form == "opaque" {
				table = table.Rebound(0.9, table.Enc.Constant/2)
			}
			s, err := NewSums(table, y, 0, 0, losses.Logistic{})
			if err != nil {
				t.Fatal(err)
			}
			for k := 1; k <= d; k += 2 {
				f := Frame{Centre: randomVector(r, d, 0.5), Matrix: randomMatrix(r, d, k, 1), NormBound: float64(k % 3)}
				sameAsSquare(t, fmt.Sprintf("%s, intercept %v, %d coordinates", form, intercept, k), s, f, randomVector(r, k, 1))
			}
		}
	}
}

// The same for one-hot columns beside others that have ranges, dense and sparse.
func TestNarrowFramesOfOneHotRows(t *testing.T) {
	const n, d = 600, 7
	r, enc := rand.New(rand.NewPCG(71, 72)), animals(t)
	x := mat.NewDense(n, d, nil)
	for i := range n {
		x.Set(i, 1, 120*r.Float64())
		x.Set(i, 5, 6*r.NormFloat64())
		x.Set(i, []int{0, 3, 6}[r.IntN(3)], 1)
		x.Set(i, []int{2, 4}[r.IntN(2)], 1)
	}
	for form, m := range map[string]mat.Matrix{"dense": x, "sparse": sparseOf(t, x)} {
		s := sumsOf(t, m, alternating(n), 0, enc, losses.Logistic{})
		for _, k := range []int{1, 2} {
			f := Frame{Centre: randomVector(r, d, 0.5), Matrix: randomMatrix(r, d, k, 1), NormBound: 0.9}
			sameAsSquare(t, fmt.Sprintf("%s, %d coordinates", form, k), s, f, randomVector(r, k, 1))
		}
	}
}

func mustFrame(t *testing.T, s *Sums, f Frame) *Framed {
	t.Helper()
	framed, err := NewFramed(ctx, s, whole, f)
	if err != nil {
		t.Fatal(err)
	}
	return framed
}

// Rows in a file and on workers say the same in a narrow frame as those in memory, bit by bit.
func TestNarrowFramesOfRowsElsewhere(t *testing.T) {
	const n, d = 3000, 4
	x, y := randomMatrix(rand.New(rand.NewPCG(85, 86)), n, d, 1), alternating(n)
	enc := encoding.NewIdentity(d, 2, true)
	tables := remoteAndMemory(t, x, y, rows.Owners{}, enc)
	elsewhere := map[string]*rows.Table{"workers": tables[0], "file": inFile(t, x, y, enc)}
	for _, k := range []int{1, 3} {
		f := Frame{Centre: []float64{0.1, -0.2, 0.3, 0}, Matrix: randomMatrix(rand.New(rand.NewPCG(87, 88)), d, k, 1), NormBound: 1.1}
		u := []float64{0.6, -0.3, 0.4}[:k]
		answers := func(table *rows.Table) map[string][]float64 {
			s, err := NewSums(table.Rebound(1.5, 0.5), y, 0, 0, losses.Logistic{})
			if err != nil {
				t.Fatal(err)
			}
			return frameAnswers(t, ctx, mustFrame(t, s, f), u, true)
		}
		want := answers(tables[1])
		for name, table := range elsewhere {
			for q, v := range answers(table) {
				if !slices.Equal(v, want[q]) {
					t.Errorf("%s, %d coordinates: %s is %v, want %v", name, k, q, v, want[q])
				}
			}
		}
	}
}

// No neighbour moves what is said of one or two coordinates of 3 to 5 features by more than it
// declares; some move sums, gradients and histograms by 95 % of that.
func TestNarrowFramesBySearch(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	r := rand.New(rand.NewPCG(63, 64))
	for d := 3; d <= 5; d++ {
		others := randomMatrix(r, 3, d, 1)
		for _, k := range []int{1, 2} {
			u := randomVector(r, k, 0.6)
			frame := Frame{Centre: randomVector(r, d, 0.4), Matrix: randomMatrix(r, d, k, 1)}
			for _, c := range []struct {
				intercept        bool
				bound, normBound float64
			}{{false, 1.3, 0}, {true, 1.3, 0}, {true, 1.3, 1.1}, {true, 1, 0}} {
				frame.NormBound = c.normBound
				table := func(row []float64) *rows.Table {
					x := mat.DenseCopyOf(others)
					x.SetRow(2, row)
					return mustTable(t, x, encoding.NewIdentity(d, 1.3, c.intercept)).Rebound(c.bound, 1)
				}
				for name, q := range narrowQuestions(u) {
					if !sample.One(3, d, k, c, name) {
						continue
					}
					claimed := 0.0
					worst := worstPair(d, q.tries, func(row []float64, label float64) []float64 {
						s, err := NewSums(table(row), []float64{0, 1, label}, 0, searchLabel, losses.Squared{})
						if err != nil {
							t.Fatal(err)
						}
						v, l2, err := q.ask(mustFrame(t, s, frame))
						if err != nil || claimed != 0 && l2 != claimed {
							t.Fatalf("sensitivity %g, was %g (%v)", l2, claimed, err)
						}
						claimed = l2
						return v
					})
					name = fmt.Sprintf("%d of %d, %+v: %s", k, d, c, name)
					if worst > claimed {
						t.Errorf("%s: neighbours move it by %g, claimed %g", name, worst, claimed)
					}
					if q.tight && !(q.short && c.bound == 1) && worst < 0.95*claimed {
						t.Errorf("%s: the search finds %g of %g only", name, worst, claimed)
					}
				}
			}
		}
	}
}

type narrowQuestion struct {
	ask   func(r *Framed) ([]float64, float64, error)
	tight bool
	tries int
	short bool // whether no row is taken to be shorter than 1, which few of a small bound exceed
}

// narrowQuestions are those that a walk along few directions asks.
func narrowQuestions(u []float64) map[string]narrowQuestion {
	edges := []float64{2.5, 1.1, 0.9, 0.6, 0.1}
	gradient := func(p Slope) narrowQuestion {
		return narrowQuestion{func(r *Framed) ([]float64, float64, error) { return heard(r.Gradient(ctx, u, 0.2, p)) }, true, 150, p.Constant == 0}
	}
	return map[string]narrowQuestion{
		"gradient":      gradient(Slope{Clip: 0.1}),
		"with constant": gradient(Slope{Clip: 0.1, Constant: 0.25}),
		"apart":         gradient(Slope{Clip: 0.1, Constant: 0.2, Apart: 0.45}),
		"sum":           {func(r *Framed) ([]float64, float64, error) { return heard(r.Sum(ctx, 0.3)) }, true, 150, false},
		"lengths":       {func(r *Framed) ([]float64, float64, error) { return heard(r.Lengths(ctx, edges)) }, true, 40, false},
		"gradient norms": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.GradientNorms(ctx, edges, u, 0.2, Slope{Clip: 1, Constant: 1}))
		}, true, 40, false},
		"slopes":  {func(r *Framed) ([]float64, float64, error) { return heard(r.Slopes(ctx, slopeEdges, u, 0.2, Ends{})) }, true, 40, false},
		"moments": {func(r *Framed) ([]float64, float64, error) { return heard(r.Moments(ctx, 0.35)) }, false, 40, false},
		"fourth":  {func(r *Framed) ([]float64, float64, error) { return heard(Fourth(ctx, r, 0.35)) }, false, 40, false},
		"scatter": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Scatter(ctx, u, 0.2, Slope{Clip: 0.1, Constant: 0.25}))
		}, false, 40, false},
		"Hessian": {func(r *Framed) ([]float64, float64, error) {
			return heard(r.Hessian(ctx, u, 0.2, 0.5, 0.3, 0.3, Slope{}))
		}, false, 40, false},
	}
}

// Rounding moves the difference of sums of a row's one or two coordinates by no more than is
// added for it: against 400 bits, where no row is shortened.
func TestRoundingBoundOfNarrowSums(t *testing.T) {
	const n = 20_000
	for _, c := range adversarialCases() {
		worst := 0.0
		for k := 1; k <= 2; k++ {
			r := rand.New(rand.NewPCG(65, uint64(k)))
			x, y := mat.NewDense(n, adversarialDim, nil), make([]float64, n)
			for i := range n {
				x.SetRow(i, c.row(r))
			}
			f := Frame{Centre: randomVector(r, adversarialDim, 0.4), Matrix: randomMatrix(r, adversarialDim, k, 3)}
			at, pair := r.IntN(n), [2][]float64{c.row(r), c.row(r)}
			var sums [2][]float64
			var exact [2][]precise
			var rounding float64
			for side, row := range pair {
				x.SetRow(at, row)
				s := c.sums(t, x, y, 1)
				framed := mustFrame(t, s, f)
				var err error
				if sums[side], _, err = heard(framed.Sum(ctx, 1e3)); err != nil {
					t.Fatal(err)
				}
				rounding = framed.bounds().sumRounding(1)
				exact[side] = f.exactCoordinates(exactFeatures(&s.t.Enc, row)[:adversarialDim])
			}
			diff := gap(sums[0], sums[1], exact[0], exact[1])
			worst = math.Max(worst, diff/rounding)
			if diff > rounding {
				t.Errorf("%s, %d coordinates: rounding changed the difference by %g, bound %g", c.name, k, diff, rounding)
			}
		}
		t.Logf("%s: at most %.2g of the bound", c.name, worst)
		if worst == 0 {
			t.Errorf("%s: nothing was rounded, so nothing was tested", c.name)
		}
	}
}

// exactCoordinates are Aᵀ(x − m) of features x.
func (f Frame) exactCoordinates(x []precise) []precise {
	d, dim := f.Matrix.Dims()
	out := make([]precise, dim)
	for k := range out {
		out[k] = number(0)
		for j := range d {
			out[k] = out[k].plus(number(f.Matrix.At(j, k)).times(x[j].minus(number(f.Centre[j]))))
		}
	}
	return out
}

// Frames and points of other shapes than the rows' are refused, by an error and before rows
// are read, and by who receives a frame, too.
func TestFramesRefuseShapes(t *testing.T) {
	const d = 3
	s := sumsOf(t, randomMatrix(rand.New(rand.NewPCG(67, 68)), 20, d, 1), alternating(20), 0, encoding.NewIdentity(d, 1, true), losses.Logistic{})
	unread, cancel := context.WithCancel(ctx)
	cancel() // a pass would end with another error
	refused := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, check.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]Frame{
		"fewer rows": {Matrix: mat.NewDense(d-1, 1, nil)}, "more rows": {Matrix: mat.NewDense(d+1, 1, nil)},
		"the transposed": {Matrix: mat.NewDense(1, d, nil)}, "more columns": {Matrix: mat.NewDense(d, d+1, nil)},
		"with the constant": {Matrix: mat.NewDense(d+1, d+1, nil)}, "nothing": {Matrix: new(mat.Dense)},
		"short centre": {Centre: make([]float64, d-1)}, "no centre": {Centre: []float64{}}, "long scale": {Scale: make([]float64, d+1)},
		"a centre of coordinates": {Centre: make([]float64, 1), Matrix: mat.NewDense(d, 1, nil)},
	} {
		_, err := NewFramed(unread, s, whole, f)
		refused(name, err)
		q := InFrame{Frame: f}
		refused(name+", received", q.Bind(s.t, make([]float64, 20)))
	}
	narrow := mustFrame(t, s, Frame{Matrix: mat.NewDense(d, 2, []float64{1, 0, 0, 1, 0, 0})})
	p, edges := Slope{Clip: 1}, []float64{1}
	for name, of := range map[string]*Framed{"narrow": narrow, "square": mustFrame(t, s, Frame{})} {
		for _, length := range []int{0, 1, 4} {
			u := make([]float64, length)
			for question, ask := range map[string]func() error{
				"gradient":        func() error { _, err := of.Gradient(unread, u, 0, p); return err },
				"gradient norms":  func() error { _, err := of.GradientNorms(unread, edges, u, 0, p); return err },
				"slopes":          func() error { _, err := of.Slopes(unread, edges, u, 0, Ends{}); return err },
				"scatter":         func() error { _, err := of.Scatter(unread, u, 0, p); return err },
				"Hessian":         func() error { _, err := of.Hessian(unread, u, 0, 0, 1, 1, Slope{}); return err },
				"curvature norms": func() error { _, err := of.CurvatureNorms(unread, edges, u, 0, 0, 1, Slope{}); return err },
			} {
				refused(fmt.Sprintf("%s, %s at %d numbers", name, question, length), ask())
			}
		}
	}
}

// Classes in a narrow frame have the gradient, its norms and the confusion of the square one.
func TestClassesInNarrowFrames(t *testing.T) {
	const n, d, k, classCount = 900, 5, 2, 3
	r := rand.New(rand.NewPCG(69, 70))
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(r.IntN(classCount))
	}
	classes, err := NewClasses(ctx, mustTable(t, randomMatrix(r, n, d, 1), encoding.NewIdentity(d, 1.5, true)), y, classCount)
	if err != nil {
		t.Fatal(err)
	}
	f := Frame{Centre: randomVector(r, d, 0.4), Matrix: randomMatrix(r, d, k, 1), NormBound: 1.2}
	var at, wide ClassPoint
	for range classCount {
		u := randomVector(r, k, 1)
		at.U, wide.U = append(at.U, u), append(wide.U, append(slices.Clone(u), make([]float64, d-k)...))
	}
	at.B = randomVector(r, classCount, 0.5)
	wide.B = at.B
	narrow, err := classes.Frame(ctx, whole, f)
	if err != nil {
		t.Fatal(err)
	}
	square, err := classes.Frame(ctx, whole, f.padded())
	if err != nil {
		t.Fatal(err)
	}
	p := ClassSlope{Clip: 0.5, Constant: 1}
	got, l2, err := heard(narrow.Gradient(ctx, at, p))
	all, want, _ := heard(square.Gradient(ctx, wide, p))
	var of []float64
	for c := range classCount {
		of = append(of, used("gradient,", all[c*(d+1):(c+1)*(d+1)], d, k)...)
	}
	if err != nil || !slices.Equal(got, of) || l2 != want {
		t.Errorf("gradient %v (%g), want %v (%g): %v", got, l2, of, want, err)
	}
	got, _, _ = heard(narrow.GradientNorms(ctx, testEdges, at, p))
	if all, _, _ = heard(square.GradientNorms(ctx, testEdges, wide, p)); !slices.Equal(got, all) {
		t.Errorf("norms %v, want %v", got, all)
	}
	got, _, _ = heard(narrow.Confusion(ctx, at))
	if all, _, _ = heard(square.Confusion(ctx, wide)); !slices.Equal(got, all) {
		t.Errorf("confusion %v, want %v", got, all)
	}
}
