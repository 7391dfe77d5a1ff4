package dpglm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// Levels are the one-hot columns of a schema, of a matrix or a table; others have none. Ranges that may be too wide are those of others than zeros and ones.
func TestLevelsOf(t *testing.T) {
	schema := Schema{Columns: []string{"a", "x", "b", "c", "d"}, Numeric: map[string][2]float64{"x": {0, 1}},
		OneHot: map[string][]string{"g": {"a", "c"}, "h": {"b", "d"}}}
	if got := fmt.Sprint(levelsOf(schema)); got != "[[0 3] [2 4]]" {
		t.Errorf("levels of a matrix are %s", got)
	}
	if got := levelsOf(Bounds{Feature: 1}); got != nil {
		t.Errorf("levels of columns with a bound are %v", got)
	}
	schema.Columns, schema.Numeric["y"], schema.Numeric["z"] = append(schema.Columns, "y", "z"), [2]float64{0, 2}, [2]float64{-1, 0}
	if got := fmt.Sprint(rangedOf(schema), rangedOf(Bounds{Feature: 1})); got != "[5 6] []" {
		t.Errorf("columns with a range are %s", got)
	}
	s, err := table.ParseSchema([]byte(`{"version": 1, "label": "y", "columns": [
		{"name": "age", "kind": "numeric", "range": [0, 100]},
		{"name": "share", "kind": "numeric", "range": [0, 1]},
		{"name": "day", "kind": "date", "origin": "2020-01-01", "from": "2020-01-01", "to": "2020-12-31", "layouts": ["2006-01-02"]},
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
	if got := fmt.Sprint(levelsOf(newTableFacts(e)), rangedOf(newTableFacts(e))); got != "[[3 4] [5]] [0 2]" {
		t.Errorf("levels of a table, and columns with a range, are %s", got)
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
	groups, all := levelsOf(wide), features(wide, columns)
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
	plan.train = func(r *run) (*fitted, error) {
		names[0] = "b" // as if there were another group by the time of the first use
		first := fmt.Sprint(r.levels())
		names[0] = "a"
		if again := fmt.Sprint(r.levels()); first != "[[1]]" || again != first {
			t.Errorf("levels are %s, when asked for, and then %s", first, again)
		}
		return &fitted{weights: [][]float64{make([]float64, 2)}, loss: losses.Logistic{}}, nil
	}
	if _, err := plan.Run(t.Context(), d, nil); err != nil {
		t.Fatal(err)
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
		return m.Weights()[0]
	}
	if alone, inside := weights(AutoConfig{}), weights(JLConfig{Learner: AutoConfig{}, K: 3}); !slices.Equal(alone, inside) {
		t.Errorf("%v alone, %v inside", alone, inside)
	}
	weights(JLConfig{Learner: AutoConfig{}, K: 2})
}

// A learner inside a projection doesn't take its features for columns with ranges: of twelve columns that are one there are five features, four of which tell
// nothing.
func TestRangesInsideAProjection(t *testing.T) {
	const n, columns = 20_000, 12
	r := rand.New(rand.NewPCG(7, 8))
	x, y := mat.NewDense(n, columns, nil), make([]float64, n)
	s := Schema{Numeric: map[string][2]float64{}}
	for j := range columns {
		s.Columns = append(s.Columns, fmt.Sprint("x", j))
		s.Numeric[s.Columns[j]] = [2]float64{-3, 3}
	}
	for i := range n {
		v := max(-3, min(3, r.NormFloat64()))
		for j := range columns {
			x.Set(i, j, v*float64(j+1)/columns)
		}
		if v+r.NormFloat64() > 0 {
			y[i] = 1
		}
	}
	d, err := NewDataset(x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fit(t.Context(), JLConfig{Learner: AutoConfig{}, K: 5}, d, Problem{Loss: losses.Logistic{}}, GDP(10), &Env{NoiseForTests: mechanisms.NewSeededSource(1)}); err != nil {
		t.Error(err)
	}
}
