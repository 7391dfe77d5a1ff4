package forecast

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// everything has all kinds of columns, rules and transformations.
func everything(label table.Column) *table.Schema {
	label.Name = "y"
	prefix := "at_"
	return &table.Schema{Version: table.Version, Label: "y", Person: "id", MaxRows: 3, Columns: []table.Column{
		{Name: "id", Kind: table.ID},
		{Name: "age", Kind: table.Numeric, Range: []float64{18, 100}, Square: true},
		{Name: "income", Kind: table.Numeric, Range: []float64{1e3, 5e5}, Log: true, Missing: table.MissingIndicator},
		{Name: "bmi", Kind: table.Numeric, Range: []float64{12, 60}, Knots: []float64{18.5, 25, 30}},
		{Name: "ward", Kind: table.Categorical, Levels: []string{"medicine", "surgery", "icu"}, Missing: table.MissingLevel},
		{Name: "smoker", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}, Missing: table.MissingIndicator},
		{Name: "day", Kind: table.Date, Origin: "2020-01-01", From: "2020-01-01", To: "2021-12-31", Layouts: []string{"02.01.2006"}},
		{Name: "place", Kind: table.OneHot, Levels: []string{"north", "south"}, Prefix: &prefix},
		{Name: "school", Kind: table.OneHot, Levels: []string{"1", "2", "3"}, Reference: "2"},
		{Name: "note", Kind: table.Ignored},
		label,
	}, Interactions: [][]string{{"age", "ward"}, {"age", "day"}}}
}

// Rows of each kind of facts can be made up, lie within their bound without being scaled
// down, and have labels with the mean that was asked for. The tolerance is five standard
// errors of the mean of some 2,000 labels, of which persons have up to three.
func TestMadeUpRows(t *testing.T) {
	for name, s := range map[string]Scenario{
		"table":  {Table: everything(table.Column{Kind: table.Binary, Positive: []string{"1"}, Negative: []string{"0"}}), Problem: dpglm.Problem{Loss: losses.Logistic{}}, LabelMean: mean(0.1)},
		"schema": {Facts: numbers(4), Problem: dpglm.Problem{Loss: losses.Logistic{}}, LabelMean: mean(0.1), Proportions: map[string][]float64{"g": {0.2, 0.3}}},
		"bounds": {Facts: dpglm.Bounds{Feature: 3, Intercept: true}, Columns: 5, Problem: dpglm.Problem{Loss: losses.Logistic{}}, LabelMean: mean(0.1)},
	} {
		s.Rows, s.Delta = 1000, 1e-6
		r, err := s.rehearsal(context.Background(), 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		random := rand.New(mechanisms.NewSeededSource(1))
		d := r.scene.details(random, 1000)
		x, err := r.scene.draw(random, d.rows)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n, columns := x.Dims()
		if n != d.rows || columns != r.scene.features || n < 1000 || (name == "table") != (n > 1800) {
			t.Errorf("%s: %d×%d of %d rows and %d features", name, n, columns, d.rows, r.scene.features)
		}
		longer := 0
		for i := range n {
			if floats.Norm(x.RawRowView(i), 2) > r.scene.facts.Feature*(1+1e-9) {
				longer++
			}
		}
		if longer > n/100 {
			t.Errorf("%s: %d of %d rows are longer than the bound", name, longer, n)
		}
		for j := range columns {
			if sd := stat.StdDev(mat.Col(nil, j, x), nil); !(sd > 0) {
				t.Errorf("%s: feature %d doesn't vary", name, j)
			}
		}
		law := r.truth(random, x, nil)
		var mean float64
		for _, z := range law.scores(x, nil) {
			mean += law.label(random, z+law.intercept) / float64(n)
		}
		if math.Abs(mean-0.1) > 5*math.Sqrt(0.09/float64(n)) {
			t.Errorf("%s: the labels' mean is %v", name, mean)
		}
	}
}

// Proportions are kept, with rows of none where they lack of 1; the standard error of each is
// below 0.5 %.
func TestProportions(t *testing.T) {
	s := study()
	s.Proportions = map[string][]float64{"g": {0.5, 0.2}}
	r, err := s.rehearsal(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	x, err := r.scene.draw(rand.New(mechanisms.NewSeededSource(1)), 20_000)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{0.5, 0.2} {
		if got := stat.Mean(mat.Col(nil, 3+j, x), nil); math.Abs(got-want) > 0.02 {
			t.Errorf("level %d has %v, want %v", j, got, want)
		}
	}
	schema := everything(table.Column{Kind: table.Count, Cap: 5})
	s = Scenario{Table: schema, Rows: 100, Problem: dpglm.Problem{Loss: losses.Poisson{}}, LabelMean: mean(0.5), Delta: 1e-6,
		Proportions: map[string][]float64{"smoker": {3, 1}, "ward": {0, 1, 1}, "school": {1, 1, 2}}}
	if r, err = s.rehearsal(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	if x, err = r.scene.draw(rand.New(mechanisms.NewSeededSource(2)), 20_000); err != nil {
		t.Fatal(err)
	}
	e, err := table.NewEncoder(*schema)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"smoker=yes": 0.95 / 4, "smoker=missing": 0.05, "ward=surgery": 0.95 / 2, "ward=icu": 0.95 / 2, "ward=missing": 0.05, "school=1": 0.25, "school=3": 0.5, "place=north": 3.0 / 11, "place=south": 2.0 / 11, "income=missing": 0.05}
	for j, f := range e.Features() {
		if p, ok := want[f.Name]; ok {
			delete(want, f.Name)
			if got := stat.Mean(mat.Col(nil, j, x), nil); math.Abs(got-p) > 0.02 {
				t.Errorf("%s has %v, want %v", f.Name, got, p)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("%v are no features", want)
	}
}

// Every loss can be forecast, and features gain something without privacy; a table with
// persons, missing values and an exposure, too.
func TestEveryLoss(t *testing.T) {
	real := dpglm.Bounds{Feature: 1, LabelRange: [2]float64{-5, 15}, Intercept: true}
	for _, loss := range []losses.Loss{losses.Probit{}, losses.Hinge{}, losses.SmoothedHinge{Width: 0.5}, losses.SquaredHinge{}, losses.Huber{Kappa: 1}, losses.Absolute{}, losses.Quantile{Tau: 0.8},
		losses.NegativeBinomial{Dispersion: 1}, losses.Gamma{Least: 0.01}, losses.Ordinal{Thresholds: []float64{-1, 0, 2}},
		losses.Custom{Label: "pseudo-Huber", Domain: losses.Real, Phi: func(z, y float64) float64 { return math.Sqrt(1+(z-y)*(z-y)) - 1 },
			DPhi: func(z, y float64) float64 { return (z - y) / math.Sqrt(1+(z-y)*(z-y)) }, AtZero: func(y float64) float64 { return y }, Smoothness: 1, Lipschitz: 1}} {
		facts := real
		if loss.Labels().FromZero() {
			facts.LabelRange[0], facts.LabelRange[1] = 0, 8
		}
		if _, ordinal := loss.(losses.Ordinal); ordinal {
			facts.LabelRange[1] = 3
		}
		var stated *float64
		if loss.Labels() == losses.Count {
			stated = mean(0.8)
		}
		f := at(t, Scenario{Facts: facts, Columns: 3, Rows: 1000, Problem: dpglm.Problem{Loss: loss}, Delta: 1e-6, LabelMean: stated, Repeats: 1}, 20)
		if !(f.Plain < f.Constant) || math.Abs(f.At[0].Lost) > 0.3 {
			t.Errorf("%s: %v", loss.Name(), f)
		}
	}
	schema := everything(table.Column{Kind: table.Count, Cap: 10})
	schema.Columns = append(schema.Columns, table.Column{Name: "years", Kind: table.Numeric, Range: []float64{0.1, 1}})
	schema.Exposure = "years"
	f := at(t, Scenario{Table: schema, Rows: 2000, Problem: dpglm.Problem{Loss: losses.Poisson{}}, Delta: 1e-6, Repeats: 1, LabelMean: mean(2), Learner: dpglm.InferConfig{}}, 1, 50)
	if !(f.Plain < f.Constant) || !(f.At[1].Lost < f.At[0].Lost) || math.Abs(f.At[1].Lost) > 0.1 || !slices.IsSortedFunc(f.At, func(a, b Expectation) int { return int(b.Determined - a.Determined) }) {
		t.Error(f)
	}
	schema.Exposure, schema.Weight = "", "years"
	f = at(t, Scenario{Table: schema, Rows: 4000, Problem: dpglm.Problem{Loss: losses.Poisson{}}, Delta: 1e-6, Repeats: 1, LabelMean: mean(2)}, 1, 50)
	if !(f.Plain < f.Constant) || !(f.At[1].Lost < f.At[0].Lost) || math.Abs(f.At[1].Lost) > 0.1 {
		t.Error(f)
	}
}

// The mean loss of counts is that of labels, half of their deviance, which hardly depends on
// the means around 2 that rows have; its standard error here is some 1 %.
func TestLossOfCounts(t *testing.T) {
	var want float64 // E[y·log(y/2) − (y − 2)]
	for y, p := 0.0, math.Exp(-2); y < 40; y++ {
		if want += 2 * p; y > 0 {
			want += p * (y*math.Log(y/2) - y)
		}
		p *= 2 / (y + 1)
	}
	facts := dpglm.Bounds{Feature: 1, Label: 40, Intercept: true}
	f := at(t, Scenario{Facts: facts, Columns: 1, Rows: 5000, Problem: dpglm.Problem{Loss: losses.Poisson{}}, Delta: 1e-6, LabelMean: mean(2), Repeats: 3}, 10)
	if math.Abs(f.Plain/want-1) > 0.05 || f.Constant < 1.1*f.Plain {
		t.Errorf("mean loss %v without privacy, %v of a constant; of the law %v", f.Plain, f.Constant, want)
	}
}

// The fit without privacy is least squares, and its errors those that repeated samples
// vary by: of 60, whose standard deviation has a standard error of 9 %. Rows that a person
// has twice tell no more than once.
func TestFitWithoutPrivacy(t *testing.T) {
	random := rand.New(mechanisms.NewSeededSource(5))
	const n, d = 300, 2
	draw := func() *sample {
		s := &sample{x: mat.NewDense(n, d, nil), y: make([]float64, n), loss: losses.Squared{}, width: 1}
		for i := range n {
			row := s.x.RawRowView(i)
			row[0], row[1] = random.NormFloat64(), random.Float64()
			s.y[i] = 1 + row[0] - 2*row[1] + (0.5+math.Abs(row[0]))*random.NormFloat64()
		}
		return s
	}
	var slopes []float64
	var s *sample
	var f *plain
	for range 60 {
		s = draw()
		var err error
		if f, err = s.fit(context.Background(), true); err != nil {
			t.Fatal(err)
		}
		slopes = append(slopes, f.weights[0])
	}
	if ratio := stat.StdDev(slopes, nil) / f.errors[0]; ratio < 0.6 || ratio > 1.5 {
		t.Errorf("slopes vary %v times as much as their standard error says", ratio)
	}
	design := mat.NewDense(n, d+1, nil)
	design.Slice(0, n, 0, d).(*mat.Dense).Copy(s.x)
	for i := range n {
		design.Set(i, d, 1)
	}
	var exact mat.VecDense
	if err := exact.SolveVec(design, mat.NewVecDense(n, s.y)); err != nil {
		t.Fatal(err)
	}
	for j, w := range f.weights {
		if math.Abs(w-exact.AtVec(j)) > 1e-4 {
			t.Errorf("weight %d is %v, by least squares %v", j, w, exact.AtVec(j))
		}
	}
	twice := &sample{loss: s.loss, width: 1}
	var rows []float64
	for i := range n {
		for range 1 + i%2 {
			rows = append(rows, s.x.RawRowView(i)...)
			twice.y, twice.details.persons = append(twice.y, s.y[i]), append(twice.details.persons, i)
		}
	}
	twice.x = mat.NewDense(len(twice.y), d, rows)
	g, err := twice.fit(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	for j := range f.weights {
		if math.Abs(g.weights[j]-f.weights[j]) > 1e-9 || math.Abs(g.errors[j]-f.errors[j]) > 1e-9 {
			t.Errorf("coefficient %d: %v ± %v of rows twice, %v ± %v once", j, g.weights[j], g.errors[j], f.weights[j], f.errors[j])
		}
	}
}

func mean(v float64) *float64 { return &v }

// A mean of 0 is one, and not the default: for real labels it is what made-up ones have.
func TestMeanOfZero(t *testing.T) {
	s := Scenario{Facts: dpglm.Bounds{Feature: 1, LabelRange: [2]float64{-5, 10}, Intercept: true}, Columns: 1, Rows: 500, Problem: dpglm.Problem{Loss: losses.Squared{}}, Delta: 1e-6, Repeats: 1}
	for _, c := range []struct {
		mean *float64
		want float64
	}{{nil, 2.5}, {mean(0), 0}, {mean(-2), -2}} {
		s.LabelMean = c.mean
		if f := at(t, s, 1); f.LabelMean != c.want {
			t.Errorf("mean %v, want %v", f.LabelMean, c.want)
		}
	}
	s.Problem.Loss, s.LabelMean = losses.Logistic{}, mean(0)
	if _, err := s.At(t.Context(), []float64{1}, nil); !errors.Is(err, dpglm.ErrLabel) {
		t.Errorf("classes of which none is 1: %v", err)
	}
}
