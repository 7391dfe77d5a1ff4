package curator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// numbered is n rows of one feature, k/n, whose labels are their numbers, or such
// numbers backwards.
func numbered(t *testing.T, n int, backwards bool) *Data {
	t.Helper()
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		k := i
		if backwards {
			k = n - 1 - i
		}
		x.Set(i, 0, float64(k)/float64(n))
		y[i] = float64(k)
	}
	d, err := Open(x, y, NewIdentity(1, 1, false), 0, float64(n))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// contents are the labels of a part, whose rows must be theirs.
func contents(t *testing.T, d *Data, n int) []float64 {
	t.Helper()
	z := make([]float64, d.Len())
	rows.Scores(d.table, z, []float64{float64(n)})
	if !near(z, d.labels, 1e-9) {
		t.Errorf("rows %v have the labels %v", z, d.labels)
	}
	return d.labels
}

// Parts hold each row once, with its label, in an order of which only the seed and the
// number of rows decide.
func TestSplitPartitions(t *testing.T) {
	const n = 23
	sizes := []int{7, 1, 15}
	plain, backwards := numbered(t, n, false), numbered(t, n, true)
	var orders [][]float64
	for seed := range uint64(3) {
		var order []float64
		others := backwards.Split(seed, sizes...)
		for k, part := range plain.Split(seed, sizes...) {
			if part.Len() != sizes[k] || part.labelBound != n {
				t.Errorf("part %d has %d rows, want %d", k, part.Len(), sizes[k])
			}
			order = append(order, contents(t, part, n)...)
			for i, v := range contents(t, others[k], n) {
				if place := part.labels[i]; v != n-1-place {
					t.Fatalf("seed %d: place %d of part %d is row %g, and row %g of other data", seed, i, k, place, n-1-v)
				}
			}
		}
		sorted := slices.Clone(order)
		slices.Sort(sorted)
		for i, v := range sorted {
			if v != float64(i) {
				t.Fatalf("seed %d: parts hold %v", seed, sorted)
			}
		}
		if slices.Equal(order, sorted) {
			t.Errorf("seed %d leaves the order as it is", seed)
		}
		orders = append(orders, order)
	}
	if slices.Equal(orders[0], orders[1]) || slices.Equal(orders[1], orders[2]) {
		t.Errorf("seeds have the same order %v", orders[0])
	}
	again := plain.Split(1, sizes...)
	if a, b := again[0], plain.Split(1, sizes...)[0]; !slices.Equal(a.labels, b.labels) || a.rows != b.rows {
		t.Error("the same split has other rows the second time")
	}
}

// A cut has the rows in their order, whatever their labels, in parts whose sizes differ
// by at most one.
func TestCutPartitions(t *testing.T) {
	for _, n := range []int{1, 5, 23} {
		for parts := 1; parts <= n; parts++ {
			next := 0.0
			backwards := numbered(t, n, true).Cut(parts)
			for k, part := range numbered(t, n, false).Cut(parts) {
				if first := contents(t, backwards[k], n)[0]; first != float64(n-1)-next {
					t.Fatalf("part %d of %d starts at row %g for one order of labels, at %g for another", k, parts, next, float64(n-1)-first)
				}
				if part.Len() != n/parts && part.Len() != (n+parts-1)/parts {
					t.Errorf("part %d of %d has %d of %d rows", k, parts, part.Len(), n)
				}
				for _, v := range contents(t, part, n) {
					if v != next {
						t.Fatalf("row %g stands where %g should", v, next)
					}
					next++
				}
			}
			if next != float64(n) {
				t.Errorf("%d parts hold %g of %d rows", parts, next, n)
			}
		}
	}
}

// Parts' rows are known to be disjoint as the parts are, and no others.
func TestPartsAreKnownToBeDisjoint(t *testing.T) {
	d := numbered(t, 20, false)
	halves, others := d.Split(1, 10, 10), d.Split(2, 10, 10)
	fours := halves[0].Cut(4)
	other := numbered(t, 20, false)
	one, err := release.Gaussian("one", 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := release.Parallel("two", "somehow", one, one)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		a, b *Data
		want bool
	}{
		"halves": {halves[0], halves[1], true}, "fours": {fours[1], fours[2], true}, "a four and the other half": {fours[3], halves[1], true},
		"a four and its half": {fours[0], halves[0], false}, "two splits": {halves[0], others[1], false}, "two sizes": {halves[0], d.Split(1, 5, 15)[1], false},
		"a cut and a split": {halves[0], d.Cut(2)[1], false}, "two data sets": {halves[0], other.Split(1, 10, 10)[1], false},
		"all": {halves[0], d, false}, "rebound": {halves[0].Rebound(0.5, 0, 1), halves[0], false}, "rebound halves": {halves[0].Rebound(0.5, 0, 1), halves[1], true},
	} {
		allow := two.Anew().Allow(d.Rows(), nil)
		if _, err := allow.On(0, c.a.Rows()); err != nil {
			t.Fatal(err)
		}
		if _, err := allow.On(1, c.b.Rows()); (err == nil) != c.want || err != nil && !errors.Is(err, check.ErrUnplanned) {
			t.Errorf("%s: %v, want disjoint %v", name, err, c.want)
		}
	}
}

// Rebound rows are the same rows, held to the smaller bound, beside the new constant;
// labels are held to theirs.
func TestReboundIsAsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, intercept := range []bool{false, true} {
		s := newSample(r, 30, 3, losses.Real)
		constant := 0.0
		if intercept {
			constant = 0.25
		}
		d := s.open(t, intercept).Rebound(0.4, constant, 0.7)
		if f := d.Facts(); f.Bound != 0.4 || f.Constant != constant || f.LabelBound != 0.7 || math.Abs(f.FeatureBound-math.Hypot(0.4, constant)) > 1e-12 || f.Rows != 30 || f.Dim != f.Columns+int(4*constant) {
			t.Errorf("facts %+v", f)
		}
		x, y := s.bounded(losses.Real, 0.4, constant, 0.7)
		want := make([]float64, len(x[0]))
		for i, row := range x {
			vector.AddScaled(want, -y[i], row) // the squared loss at 0
		}
		answer, err := under(t, d, losses.Squared{}).Gradient(ctx, make([]float64, len(want)), noClip)
		if err != nil {
			t.Fatal(err)
		}
		if e := overheard(t, d.Rows(), answer, len(want)); !near(e.Values, want, 1e-12) {
			t.Errorf("intercept %v: %v, want %v", intercept, e.Values, want)
		}
	}
}

// Each projected row is its own row's image, within the bound, whatever the others are.
func TestProjectIsRowByRow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	phi := sketch.NewGaussian(2, 3, 4)
	s := newSample(r, 10, 3, losses.Real)
	other := s.neighbour(r, 4, losses.Real)
	const bound = 0.9
	var scores [2][]float64
	for k, v := range []sample{s, other} {
		p, err := v.open(t, false).Project(ctx, phi, bound)
		if err != nil {
			t.Fatal(err)
		}
		scores[k] = make([]float64, 10)
		rows.Scores(p.table, scores[k], []float64{0.6, -0.8})
		for i, row := range func() [][]float64 { x, _ := v.bounded(losses.Real, sampleBound, 0, 1); return x }() {
			image := make([]float64, 2)
			phi.Apply(image, row)
			if r := floats.Norm(image, 2); r > bound {
				floats.Scale(bound/r, image)
			}
			if want := 0.6*image[0] - 0.8*image[1]; math.Abs(scores[k][i]-want) > 1e-12 {
				t.Errorf("row %d: score %g, want %g", i, scores[k][i], want)
			}
		}
	}
	for i := range 10 {
		if (scores[0][i] == scores[1][i]) != (i != 4) {
			t.Errorf("row %d: %g and %g where row 4 is replaced", i, scores[0][i], scores[1][i])
		}
	}
	if _, err := s.open(t, false).Project(ctx, sketch.NewGaussian(2, 4, 1), bound); !errors.Is(err, check.ErrShape) {
		t.Errorf("a map of other rows: %v", err)
	}
}

// Labels are the data's own from the start: they are checked once, and what the caller
// writes later changes nothing. A label that isn't finite is named by its row only.
func TestLabelsAreTakenOver(t *testing.T) {
	y := []float64{1, 2}
	d, err := Open(mat.NewDense(2, 1, nil), y, NewIdentity(1, 1, false), 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	y[0] = 1e9
	if d.labels[0] != 1 {
		t.Errorf("the caller's later write makes a label %g", d.labels[0])
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Open(mat.NewDense(2, 1, nil), []float64{0, v}, NewIdentity(1, 1, false), 0, 3)
		if !errors.Is(err, check.ErrValue) || strings.Contains(err.Error(), "=") {
			t.Errorf("label %g: %v, want an error that names its row and not its value", v, err)
		}
	}
}

// What holds rows, or was computed from them, prints its shape, whatever the verb.
func TestCuratorPrintsShapes(t *testing.T) {
	const secret = 0.7654321
	x := mat.NewDense(4, 1, []float64{secret, -secret, secret, secret})
	d, err := Open(x, []float64{1, 0, 1, 1}, NewIdentity(1, 1, false), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	sums := under(t, d, losses.Logistic{})
	point, err := sums.Minimiser(ctx, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	ensemble, err := d.Ensemble(ctx, losses.Logistic{}, 2, 1, 1, 1, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	ofClasses, err := d.ClassEnsemble(ctx, losses.Logistic{}, 2, 2, 1, 1, 1, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	walk, err := d.Walk(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	minimand, err := sums.Objective(nil, 0.25, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rows")
	if err := WriteFile(ctx, path, mat.NewDense(2, 1, []float64{765, 765}), []float64{765, 765}, Owners{}, nil, 0, 0); err != nil {
		t.Fatal(err)
	}
	file, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%g", "%p"} {
		for want, value := range map[string]any{
			"curator.Data of 4 rows": d, "curator.Sums over 4 rows": sums, "curator.Point of 1 weights": point, "curator.Ensemble of 2 models": ensemble,
			"curator.ClassEnsemble of 2 models": ofClasses,
			"curator.Walk":                      walk, "release.Minimand of 1 variables": minimand, "curator.objective": &objective{sums, 1, 1, nil},
			"release.Answer of 1 numbers": point.Weights(), "curator.File of 1 columns": file,
		} {
			if text := fmt.Sprintf(verb, value); verb != "%p" && text != want {
				t.Errorf("%s of %T prints %q, want %q and nothing else", verb, value, text, want)
			}
			for _, text := range []string{fmt.Sprintf(verb, value), fmt.Sprintf(verb, []any{value}), fmt.Sprintf(verb, struct{ V any }{value})} {
				if verb != "%p" && (!strings.Contains(text, want) || strings.Contains(text, "765") || strings.Contains(text, "0xc0")) { // an address may hold any digits
					t.Errorf("%s of %T prints %s", verb, value, text)
				}
			}
		}
	}
}
