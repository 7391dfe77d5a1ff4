package curator

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
)

// howMany are numbers of things of which a few are usual: one, and both sides of round numbers that tables, lists and
// lots are likely to end at.
var howMany = []int{1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 99, 100, 101, 127, 128, 129, 199, 200, 201, 255, 256, 257, 499, 500, 501, 511, 512, 513, 999, 1000, 1001, 1023, 1024, 1025, 4095, 4096, 4097}

// Each of any number of models has its vote, its part of a mean, its score by losses and its score by errors: as many models'
// answers are what each says alone.
func TestEachOfManyModelsCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(111, 112))
	d := newSample(r, 9, 2, losses.Binary).open(t, false)
	sums, x := under(t, d, losses.Logistic{}), []float64{0.6, -0.8}
	score := func(w []float64) float64 { return 0.6*w[0] - 0.8*w[1] }
	for _, n := range howMany {
		e := &Ensemble{models: make([][]float64, n), origin: originOf(d), predict: func(z float64) float64 { return z }, low: -2, high: 2}
		of := &ClassEnsemble{models: make([][][]float64, n), classes: 3, origin: originOf(d)}
		var margin, mean float64
		votes := make([]float64, 3)
		for i := range n {
			for range 3 {
				of.models[i] = append(of.models[i], []float64{r.NormFloat64(), r.NormFloat64()})
			}
			w := of.models[i]
			e.models[i] = w[0]
			margin += math.Copysign(1, score(w[0]))
			mean += math.Max(-2, math.Min(2, score(w[0]))) / float64(n)
			votes[largestOf(score(w[0]), score(w[1]), score(w[2]))]--
		}
		answer, err := e.Margin(x)
		if got := overheard(t, d.rows, answer, 1); err != nil || got.Values[0] != margin {
			t.Errorf("%d models: a margin of %v, want %g (%v)", n, got.Values, margin, err)
		}
		answer, err = e.Mean(x)
		if got := overheard(t, d.rows, answer, 1); err != nil || math.Abs(got.Values[0]-mean) > 1e-12 {
			t.Errorf("%d models: a mean of %v, want %g (%v)", n, got.Values, mean, err)
		}
		answer, err = of.Votes(x)
		if got := overheardScores(t, d.rows, answer); err != nil || !slices.Equal(got.Values, votes) {
			t.Errorf("%d models: votes %v, want %v (%v)", n, got.Values, votes, err)
		}
		if n <= 1025 {
			scoresOfMany(t, d, sums, e.models)
		}
	}
}

// largestOf is where the largest of numbers is.
func largestOf(v ...float64) int { return slices.Index(v, slices.Max(v)) }

// scoresOfMany holds scores of models, among others, to those that the last few have alone.
func scoresOfMany(t *testing.T, d *Data, sums *Sums, models [][]float64) {
	t.Helper()
	n, last := len(models), max(0, len(models)-3)
	caps, zeros := slices.Repeat([]float64{1.5}, n), make([]float64, n)
	for name, ask := range map[string]func(models [][]float64) (release.Answer, error){
		"losses": func(models [][]float64) (release.Answer, error) {
			return sums.Losses(ctx, models, caps[:len(models)], zeros[:len(models)])
		},
		"errors": func(models [][]float64) (release.Answer, error) { return sums.Errors(ctx, models) },
	} {
		all, err := ask(models)
		if err != nil {
			t.Fatal(err)
		}
		few, err := ask(models[last:])
		if err != nil {
			t.Fatal(err)
		}
		got, want := overheardScores(t, d.rows, all), overheardScores(t, d.rows, few)
		if !slices.Equal(got.Values[last:], want.Values) || !slices.Equal(got.Each[last:], want.Each) {
			t.Errorf("%s of %d models end with %v, alone with %v", name, n, got.Values[last:], want.Values)
		}
	}
}

// Parts of any number differ by one person at most, and have them all.
func TestManyParts(t *testing.T) {
	for _, parts := range howMany {
		for _, n := range []int{parts, parts + 1, 2*parts - 1, 7*parts + parts/2, 8*parts - 1} {
			sizes, sum := evenly(n, parts), 0
			for _, size := range sizes {
				sum += size
			}
			if len(sizes) != parts || sum != n || slices.Max(sizes)-slices.Min(sizes) > 1 {
				t.Errorf("%d persons in %d parts: %v", n, parts, sizes)
			}
		}
	}
}

// Rows in a file have the images, and the sums over these, that they have in memory, bit by bit, on both sides of each number at
// which a file is read in a part more: of long rows a few dozen.
func TestProjectedFilesOfAllSizes(t *testing.T) {
	const columns, k, most = 1 << 10, 3, 97
	r := rand.New(rand.NewPCG(115, 116))
	x, y := mat.NewDense(most, columns, nil), make([]float64, most)
	for i := range most {
		for j := range 20 {
			x.Set(i, (37*i+j)%columns, r.NormFloat64()/4)
		}
		y[i] = float64(r.IntN(2))
	}
	phi, enc := sketch.NewRademacher(k, columns, 1), NewIdentity(columns, 1, true)
	gradient := func(d *Data, err error) ([]float64, int) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		p, err := d.Project(ctx, phi, 1.5)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := under(t, p, losses.Logistic{}).Gradient(ctx, []float64{0.3, -0.2, 0.1, 0.4}, noClip)
		if err != nil {
			t.Fatal(err)
		}
		return overheard(t, p.Rows(), answer, k+1).Values, p.Len()
	}
	for n := 1; n <= most; n++ {
		if n%16 > 1 && n%16 < 15 {
			continue
		}
		path, rows := filepath.Join(t.TempDir(), "rows"), x.Slice(0, n, 0, columns)
		if err := WriteFile(ctx, path, rows, y[:n], Owners{}, nil, 0, 0); err != nil {
			t.Fatal(err)
		}
		f, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := gradient(Open(rows, y[:n], enc, 0, 1))
		if got, of := gradient(f.Data(ctx, enc, 0, 1, nil)); !slices.Equal(got, want) || of != n {
			t.Errorf("%d rows: the sum of gradients over %d images in a file is %v, in memory %v", n, of, got, want)
		}
	}
}
