package dpglm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// Levels are the one-hot columns of a schema, of a matrix or a table; others have none.
func TestLevelsOf(t *testing.T) {
	schema := Schema{Columns: []string{"a", "x", "b", "c", "d"}, Numeric: map[string][2]float64{"x": {0, 1}},
		OneHot: map[string][]string{"g": {"a", "c"}, "h": {"b", "d"}}}
	if got := fmt.Sprint(levelsOf(schema)); got != "[[0 3] [2 4]]" {
		t.Errorf("levels of a matrix are %s", got)
	}
	if got := levelsOf(Bounds{Feature: 1}); got != nil {
		t.Errorf("levels of columns with a bound are %v", got)
	}
	s, err := table.ParseSchema([]byte(`{"version": 1, "label": "y", "columns": [
		{"name": "age", "kind": "numeric", "range": [0, 100]},
		{"name": "ward", "kind": "categorical", "levels": ["surgery", "icu", "rest"]},
		{"name": "sex", "kind": "binary", "positive": ["f"], "negative": ["m"]},
		{"name": "y", "kind": "binary", "positive": ["1"], "negative": ["0"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e, err := table.NewEncoder(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(levelsOf(newTableFacts(e))); got != "[[1 2] [3]]" {
		t.Errorf("levels of a table are %s", got)
	}
	if got := fmt.Sprint(levelsAmong([][]int{{0, 3}, {2, 4}, {5}}, []int{1, 3, 4, 6})); got != "[[1] [2] []]" {
		t.Errorf("levels among columns are %s", got)
	}
}

// Schemas of very many columns take no longer than reading their names, and without levels
// nothing at all.
func TestLevelsOfManyColumns(t *testing.T) {
	const columns = 500_000
	wide := Schema{Numeric: map[string][2]float64{}, OneHot: map[string][]string{}}
	for j := range columns {
		wide.Columns = append(wide.Columns, fmt.Sprintf("column %d", j))
	}
	if made := testing.AllocsPerRun(3, func() { levelsOf(wide) }); made != 0 {
		t.Errorf("%v allocations where there are no levels", made)
	}
	wide.OneHot["even"], wide.OneHot["odd"] = nil, nil
	for j, name := range wide.Columns {
		group := [2]string{"even", "odd"}[j%2]
		wide.OneHot[group] = append(wide.OneHot[group], name)
	}
	groups, all := levelsOf(wide), named(wide, columns)
	for j, c := range all {
		if c.Block != j%2 || c.Name != wide.Columns[j] || groups[j%2][j/2] != j {
			t.Fatalf("column %d is %v of block %d, and %d is in its place", j, c, c.Block, groups[j%2][j/2])
		}
	}
}

// A fit looks for levels when it first needs them, and once.
func TestLevelsAreFoundOnce(t *testing.T) {
	d, err := NewDataset(mat.NewDense(2, 2, nil), make([]float64, 2), Schema{Columns: []string{"a", "b"}, OneHot: map[string][]string{"g": {"a", "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NoisyGDConfig{Steps: 1}.Plan(d.Shape(), Problem{Loss: losses.Logistic{}}, GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	names := d.facts.(Schema).OneHot["g"]
	plan.train = func(r *run) ([]float64, error) {
		names[0] = "b" // as if there were another group by the time of the first use
		first := fmt.Sprint(r.levels())
		names[0] = "a"
		if again := fmt.Sprint(r.levels()); first != "[[1 1]]" || again != first {
			t.Errorf("levels are %s, when asked for, and then %s", first, again)
		}
		return make([]float64, 2), nil
	}
	if _, err := plan.Run(t.Context(), d, nil); err != nil {
		t.Fatal(err)
	}
}

// In coordinates in which rows are round, those of a level of a fraction q are √((1−q)/q) long on
// average. Shortened, none is longer than the bound, and scores are as they were.
func TestShorten(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(3, 4))
	x, y := mat.NewDense(n, 4, nil), make([]float64, n)
	for i := range n {
		age := r.Float64()
		x.Set(i, 0, age)
		switch u := r.Float64(); {
		case u < 0.01:
			x.Set(i, 1, 1)
		case u < 0.4+0.2*age: // levels and numbers go together
			x.Set(i, 2, 1)
		case u < 0.98:
			x.Set(i, 3, 1)
		}
	}
	d, err := NewDataset(x, y, Schema{Columns: []string{"age", "a", "b", "c"}, Numeric: map[string][2]float64{"age": {0, 1}}, OneHot: map[string][]string{"g": {"a", "b", "c"}}, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := d.data.Under(losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	centre, encoded := make([]float64, 4), mat.NewDense(n, 4, nil)
	encoded.Copy(x)
	for i := range n {
		encoded.Set(i, 0, 2*x.At(i, 0)-1) // as the schema maps it
		floats.AddScaled(centre, 1.0/n, encoded.RawRowView(i))
	}
	moments := mat.NewSymDense(4, nil)
	for i := range n {
		floats.Sub(encoded.RawRowView(i), centre)
		moments.SymRankOne(moments, 1.0/n, mat.NewVecDense(4, encoded.RawRowView(i)))
	}
	var e mat.EigenSym
	if !e.Factorize(moments, true) {
		t.Fatal("no eigenvectors")
	}
	axes := new(mat.Dense)
	e.VectorsTo(axes)
	for k, v := range e.Values(nil) {
		for j := range 4 {
			axes.Set(j, k, axes.At(j, k)/math.Sqrt(v))
		}
	}
	s := &standardising{standardised: &standardised{mu: 0.1}, run: &run{ctx: context.Background(), levels: func() [][]int { return [][]int{{1, 2, 3}} }}, sums: sums, n: n, d: 4,
		frame: curator.Frame{Centre: centre, Matrix: axes}}
	lengths := func() (list []float64) {
		rows, err := s.levelRows()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range rows {
			list = append(list, floats.Norm(a, 2))
		}
		return list
	}
	before := lengths()
	for k, q := range []float64{centre[1], centre[2], centre[3], 1 - centre[1] - centre[2] - centre[3]} {
		if want := math.Sqrt((1 - q) / q); math.Abs(before[k]-want) > 1e-6*want {
			t.Errorf("rows of level %d, of %.3g of all, are %.4g long, not %.4g", k, q, before[k], want)
		}
	}
	weights := []float64{1, -2, 0.5, 3}
	score := func(u []float64) float64 { // of a row of the rare level
		var z mat.VecDense
		z.MulVec(s.frame.Matrix, mat.NewVecDense(4, u))
		return z.AtVec(1)
	}
	was := score(weights)
	short, err := s.shorten(3)
	if err != nil {
		t.Fatal(err)
	}
	if now := score(short.Stretch(weights)); math.Abs(now-was) > 1e-9*math.Abs(was) {
		t.Errorf("a score was %g and is %g", was, now)
	}
	// In coordinates that aren't round levelRows doesn't tell: rows themselves do.
	var means [4][]float64
	var count [4]float64
	for k := range means {
		means[k] = make([]float64, 4)
	}
	for i := range n {
		k := 3
		for j := range 3 {
			if x.At(i, j+1) == 1 {
				k = j
			}
		}
		var at mat.VecDense
		at.MulVec(s.frame.Matrix.T(), mat.NewVecDense(4, encoded.RawRowView(i)))
		floats.Add(means[k], at.RawVector().Data)
		count[k]++
	}
	for k := range means {
		floats.Scale(1/count[k], means[k])
		if length, want := floats.Norm(means[k], 2), math.Min(before[k], 3); length > want*(1+1e-6) || length < 0.9*want {
			t.Errorf("rows of level %d are %.4g long, not %.4g", k, length, want)
		}
	}
	if again, err := s.shorten(1e3); again != nil || err != nil {
		t.Errorf("nothing is longer than 1000: %v (%v)", again, err)
	}
}

// A learner inside another one knows the levels where it sees the columns, and none of a
// projection, which has other features.
func TestLevelsInsideAnotherLearner(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(5, 6))
	x, y := mat.NewDense(n, 3, nil), make([]float64, n)
	for i := range n {
		x.SetRow(i, []float64{r.Float64(), r.Float64(), 0})
		if r.Float64() < 0.01 {
			x.Set(i, 2, 1)
		}
		if r.Float64() < 0.3+0.6*x.At(i, 2) {
			y[i] = 1
		}
	}
	d, err := NewDataset(x, y, Schema{Columns: []string{"a", "b", "c"}, Numeric: map[string][2]float64{"a": {0, 1}, "b": {0, 1}},
		OneHot: map[string][]string{"g": {"c"}}, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	weights := func(l Learner) []float64 {
		m, err := fit(t.Context(), l, d, Problem{Loss: losses.Logistic{}, Radius: 10}, GDP(1), &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
		if err != nil {
			t.Fatal(err)
		}
		return m.Weights()
	}
	if alone, inside := weights(AutoConfig{}), weights(JLConfig{Learner: AutoConfig{}, K: 3}); !slices.Equal(alone, inside) {
		t.Errorf("%v alone, %v inside", alone, inside)
	}
	weights(JLConfig{Learner: AutoConfig{}, K: 2, Slack: -1})
}

// A step along a rare level is as long as one in round coordinates, but for its noise.
func TestStraighten(t *testing.T) {
	short, _ := linalg.NewChange(mat.NewSymDense(2, []float64{4, 0, 0, 1})) // halves the first coordinate
	x := &standardising{standardised: &standardised{mu: 1}, d: 2, n: 100}
	for _, noise := range []float64{0, 0.75} {
		s := stage{short: short, size: 1, averaged: 4}
		g := []float64{5, 7}
		if err := x.straighten(&s, noise, g); err != nil {
			t.Fatal(err)
		}
		hides := 1.2 * math.Sqrt(3) * noise / 2 // of the longest level, by the mean of four steps
		want := []float64{20 / (1 + 16*hides*hides), 7 / (1 + hides*hides)}
		for j, got := range g {
			if math.Abs(got-want[j]) > 1e-12 {
				t.Errorf("with noise %g coordinate %d is %g, want %g", noise, j, got, want[j])
			}
		}
	}
}
