package questions

import (
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// crossings are the numbers of rows, up to the given one, at which they are cut otherwise than one row fewer
// is: into more blocks, for sums or for moments, or into a first tile more. Of many the first few are
// taken, and the last one.
func crossings(most, cols int, sparse bool) []int {
	const few = 3
	at := func(n int) blocks.Layout { return blocks.NewLayout(n, cols, sparse, nil) }
	found := map[int]bool{}
	for _, cut := range []func(n int) int{
		func(n int) int { return at(n).Blocks },
		func(n int) int { return at(n).Moments(cols + 1).Blocks },
		func(n int) int { return (n + at(n).TileRows - 1) / at(n).TileRows },
		func(n int) int { return (n + 127) / 128 }, // tiles of moments
	} {
		var changes []int
		for n := 2; n <= most; n++ {
			if cut(n) != cut(n-1) {
				changes = append(changes, n)
			}
		}
		for _, n := range append(changes[:min(few, len(changes))], changes[len(changes)-1]) {
			for _, near := range []int{n - 1, n, n + 1} {
				found[min(near, most)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// addAll adds numbers by name.
func addAll(to, of map[string][]float64) {
	for name, v := range of {
		if to[name] == nil {
			to[name] = make([]float64, len(v))
		}
		for j, x := range v {
			to[name][j] += x
		}
	}
}

// Any question's answer about many rows is the sum of its answers about few of them at a time, wherever rows lie, in
// whatever order, and however many: on both sides of each number at which they are cut otherwise. A
// part that is left out, counted twice or merged wrongly shows, as one row changes a
// sum by 1e-5 of it or more, a million times the tolerance.
func TestSumsAddUpAtAllSizes(t *testing.T) {
	const few, d, most = 93, 3, 13_000 // fewer than a tile, all features and, for dense rows, three blocks
	r := rand.New(rand.NewPCG(91, 92))
	x, y := randomMatrix(r, most, d, 0.7), make([]float64, most)
	for i := range y {
		y[i] = float64(r.IntN(2))
	}
	enc := encoding.NewIdentity(d, 1.5, true)
	sums := func(m mat.Matrix, y []float64) *Sums {
		s, err := NewSums(mustTable(t, m, enc), y, 0, 0, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	forms := map[string]func(x *mat.Dense, y []float64) *Sums{
		"memory": func(x *mat.Dense, y []float64) *Sums { return sums(x, y) },
		"sparse": func(x *mat.Dense, y []float64) *Sums { return sums(sparseOf(t, x), y) },
		"permuted": func(x *mat.Dense, y []float64) *Sums {
			order := rand.New(rand.NewPCG(93, uint64(len(y)))).Perm(len(y))
			s := sums(x, y)
			of, err := NewSums(s.t.Pick(order), blocks.Gather(y, order), 0, 0, losses.Logistic{})
			if err != nil {
				t.Fatal(err)
			}
			return of
		},
		"each second of twice as many": func(x *mat.Dense, y []float64) *Sums {
			n, _ := x.Dims()
			many, labels := mat.NewDense(2*n, d, nil), make([]float64, 2*n)
			for i := range n {
				many.SetRow(2*i, x.RawRowView(i))
				many.Set(2*i+1, 0, 1)
				labels[2*i] = y[i]
			}
			return sums(many, labels).Every(2)
		},
		"file": func(x *mat.Dense, y []float64) *Sums {
			f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), x, y)
			table, err := rows.NewStored(ctx, f, enc)
			if err != nil {
				t.Fatal(err)
			}
			s, err := NewSums(table, nil, 0, 0, losses.Logistic{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	before := map[string][]float64{} // of whole parts so far
	from := 0
	sizes := crossings(most, d, false)
	if len(sizes) < 20 {
		t.Fatalf("only %d sizes", len(sizes))
	}
	for i, n := range sizes {
		for ; from+few <= n; from += few {
			addAll(before, questions(t, sums(x.Slice(from, from+few, 0, d), y[from:from+few])))
		}
		want := map[string][]float64{}
		addAll(want, before)
		if from < n {
			addAll(want, questions(t, sums(x.Slice(from, n, 0, d), y[from:n])))
		}
		for form, of := range forms {
			if form != "memory" && !sample.Nth(2, i/2, form) {
				continue
			}
			got := questions(t, of(x.Slice(0, n, 0, d).(*mat.Dense), y[:n]))
			if len(got) != len(want) || len(got) < 20 {
				t.Fatalf("%d questions, want %d", len(got), len(want))
			}
			for name, v := range want {
				for j, sum := range v {
					// Numbers of a row are at most 4.
					if !(math.Abs(got[name][j]-sum) <= 1e-11*4*float64(n)) {
						t.Errorf("%d rows in %s, %s: number %d is %.17g, of parts %.17g", n, form, name, j, got[name][j], sum)
						break
					}
				}
			}
		}
	}
}

// Of every k-th row there are as many as there should be, for any k, more than rows too.
func TestEveryKth(t *testing.T) {
	for n := 1; n < 10; n++ {
		for k := 1; k < 12; k++ {
			x, y, want := mat.NewDense(n, 1, nil), make([]float64, n), 0.0
			for i := range n {
				x.Set(i, 0, math.Ldexp(1, -1-i))
				if i%k == 0 {
					want += x.At(i, 0)
				}
			}
			s, err := NewSums(mustTable(t, x, encoding.NewIdentity(1, 1, false)), y, 0, 1, losses.Squared{})
			if err != nil {
				t.Fatal(err)
			}
			of, g := s.Every(k), []float64{0}
			if err := of.Gradient(ctx, g, []float64{0}, math.Inf(1)); err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i := range of.t.Length {
				sum += of.t.Length[i]
			}
			if of.Len() != (n+k-1)/k || math.Abs(sum-want) > 1e-15 || g[0] != 0 {
				t.Errorf("every %d-th of %d: %d rows whose sum is %g, want %g", k, n, of.Len(), sum, want)
			}
		}
	}
}

// Each block of a file is done once, whoever asks for which rows in what order, and only those that are asked for.
func TestLazilyDoesEachBlockOnce(t *testing.T) {
	const d = 1 << 10
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), mat.NewDense(700, d, nil), make([]float64, 700))
	if f.Blocks() < 3 {
		t.Fatalf("%d blocks", f.Blocks())
	}
	var done []int
	l := rows.NewLazily(f, func(_ *rows.Reading, lo, hi int) error {
		for i := lo; i < hi; i++ {
			done = append(done, i)
		}
		return nil
	})
	at := f.BlockRows
	for _, c := range []struct{ lo, hi, rows int }{{at, at, 0}, {at, at + 1, at}, {at - 1, at + 1, 2 * at}, {0, 2 * at, 2 * at}, {2 * at, 700, 700}, {0, 700, 700}} {
		if err := l.Ensure(c.lo, c.hi); err != nil {
			t.Fatal(err)
		}
		if len(done) != c.rows {
			t.Errorf("after rows [%d, %d) %d were done, want %d", c.lo, c.hi, len(done), c.rows)
		}
	}
	slices.Sort(done)
	for i, row := range done {
		if i != row {
			t.Fatalf("row %d was done %d-th", row, i)
		}
	}
}

// What labels are, is what their definitions say: of the labels before, and of each one that is new, alone or beside
// others.
func TestLabelDomains(t *testing.T) {
	values := []float64{0, 1, -1, 0.5, 2, -2, 7, 1e9, -1e9, 1.0000001, math.Copysign(0, -1)}
	for _, a := range values {
		for _, b := range values {
			of := rows.AnyLabels()
			if err := of.Add([]float64{a, b}, 0); err != nil {
				t.Fatal(err)
			}
			binary, whole, least, most := true, true, math.Min(a, b), math.Max(a, b)
			for _, y := range []float64{a, b} {
				binary = binary && (math.Abs(y) == 1 || y == 0)
				whole = whole && y == math.Floor(y)
			}
			if of.Binary != binary || of.Whole != whole || of.Least != least || of.Most != most {
				t.Errorf("%g and %g are %+v", a, b, of)
			}
		}
	}
	for _, y := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		of := rows.AnyLabels()
		if err := of.Add([]float64{1, y}, 4); err == nil {
			t.Errorf("a label of %g is taken", y)
		}
	}
}
