package dpglm

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/mechanisms"
)

// someColumns are two numbers, a group of three levels that all have, and what depends on them.
func someColumns(r *rand.Rand, n int) *mat.Dense {
	x := mat.NewDense(n, 6, nil)
	for i := range n {
		a, b, level := r.NormFloat64(), r.NormFloat64(), r.IntN(3)
		x.SetRow(i, []float64{a, 50 + 10*b + 5*a, 0, 0, 0, 4 + 2*a - b + float64(level) + r.NormFloat64()})
		x.Set(i, 2+level, 1)
	}
	return x
}

var someFacts = Schema{
	Columns: []string{"a", "b", "g=1", "g=2", "g=3", "y"},
	Numeric: map[string][2]float64{"a": {-6, 6}, "b": {-20, 120}, "y": {-20, 20}},
	OneHot:  map[string][]string{"g": {"g=1", "g=2", "g=3"}},
	Label:   1, Intercept: true,
}

func momentsFor(t *testing.T, n int, b Budget, seed uint64) *Moments {
	t.Helper()
	d, err := NewDataset(someColumns(rand.New(rand.NewPCG(seed, 1)), n), make([]float64, n), someFacts)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Moments(t.Context(), b, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Regressions, means and shares come out in the columns' own units, and intervals hold them: of 20 releases 7 numbers each, of which a right
// law misses more than 18 once in ten thousand times.
func TestMomentsRegress(t *testing.T) {
	missed := 0
	for seed := range uint64(20) {
		m := momentsFor(t, 20_000, ApproxDP(1, 1e-6), seed)
		check := func(response string, columns []string, want ...float64) {
			t.Helper()
			f, err := m.Regress(response, columns, 0)
			if err != nil || len(f.Coefficients) != len(want) {
				t.Fatalf("%v (%v)", f, err)
			}
			for j, c := range f.Coefficients {
				if c.Undetermined() || c.StandardError > 0.2*math.Max(1, math.Abs(want[j])) {
					t.Errorf("%s on %s: standard error %g", response, c.Name, c.StandardError)
				}
				if c.Low > want[j] || c.High < want[j] {
					missed++
				}
			}
		}
		check("y", []string{"a", "b", "g"}, 2+.5, -.1, 1, 2, 4+5)
		check("g=2", nil, 1/3.0)
		check("b", nil, 50)
	}
	if missed > 18 {
		t.Errorf("%d of 140 intervals miss", missed)
	}
}

// Intervals of means hold those of columns whose rows are far from all others, which regressions have count less: a level of 1 % and
// lognormal amounts. Of 60 releases two numbers each, of which a right law misses more than 16 once in four thousand times.
func TestMomentsMeansOfAllRows(t *testing.T) {
	const n, rare = 2000, 0.01
	facts := Schema{
		Columns: []string{"a", "b", "rare", "amount"},
		Numeric: map[string][2]float64{"a": {-6, 6}, "b": {-6, 6}, "rare": {0, 1}, "amount": {0, 60}},
		Label:   1, Intercept: true,
	}
	missed := map[string]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		x := mat.NewDense(n, 4, nil)
		for i := range n {
			x.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64(), 0, math.Exp(r.NormFloat64())})
			if r.Float64() < rare {
				x.Set(i, 2, 1)
			}
		}
		d, err := NewDataset(x, make([]float64, n), facts)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Moments(t.Context(), ApproxDP(4, 1e-6), &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{"rare": rare, "amount": math.Exp(0.5)} {
			f, err := m.Regress(name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if c := f.Coefficients[0]; c.Low > want || c.High < want {
				missed[name]++
			}
		}
	}
	if missed["rare"]+missed["amount"] > 16 {
		t.Errorf("intervals miss: %v of 60 each", missed)
	}
}

// Where the number of rows is secret, and far below what is public, intervals hold means and slopes all the same: of 40 releases three numbers each,
// of which a right law misses more than 15 once in a thousand times.
func TestMomentsOfSecretNumbers(t *testing.T) {
	const n, most = 2000, 5000
	missed := 0
	for seed := range uint64(40) {
		d, err := NewDataset(someColumns(rand.New(rand.NewPCG(seed, 3)), n), make([]float64, n), someFacts, AddRemove{AtMost: most})
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Moments(t.Context(), ApproxDP(4, 1e-6).AddRemove(), &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			response string
			columns  []string
			want     float64
		}{{"b", nil, 50}, {"g=2", nil, 1 / 3.0}, {"y", []string{"a", "b", "g"}, 2.5}} {
			f, err := m.Regress(c.response, c.columns, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Coefficients[0]; got.Low > c.want || got.High < c.want {
				missed++
			}
		}
	}
	if missed > 15 {
		t.Errorf("%d of 120 intervals miss", missed)
	}
}

// Of a column whose values are large and close to one another slopes and standard errors are those of the column about its middle, as of units
// of any size.
func TestMomentsUnits(t *testing.T) {
	const n = 5000
	slopes := func(scale, shift float64) Coefficient {
		r := rand.New(rand.NewPCG(5, 5))
		x := mat.NewDense(n, 2, nil)
		for i := range n {
			a := r.NormFloat64()
			x.SetRow(i, []float64{shift + scale*a, 2*a + r.NormFloat64()})
		}
		d, err := NewDataset(x, make([]float64, n), Schema{
			Columns: []string{"a", "y"}, Numeric: map[string][2]float64{"a": {shift - 8*scale, shift + 8*scale}, "y": {-16, 16}}, Label: 1, Intercept: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Moments(t.Context(), GDP(1), &Env{NoiseForTests: mechanisms.NewSeededSource(5)})
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.Regress("y", []string{"a"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f.Coefficients[0]
	}
	want := slopes(1, 0)
	for _, c := range []struct{ scale, shift float64 }{{1, 1e5}, {1e-6, 0}, {1e9, 0}, {1e-3, 100}} {
		if got := slopes(c.scale, c.shift); math.Abs(got.Estimate*c.scale-want.Estimate) > 1e-4*want.StandardError || math.Abs(got.StandardError*c.scale/want.StandardError-1) > 1e-4 {
			t.Errorf("about %g in units of %g: %+v, else %+v", c.shift, c.scale, got, want)
		}
	}
}

// With hardly any noise regressions are the plain ones.
func TestMomentsLimit(t *testing.T) {
	const n = 2000
	m := momentsFor(t, n, GDP(1e6), 7)
	f, err := m.Regress("y", []string{"a", "b"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := someColumns(rand.New(rand.NewPCG(7, 1)), n)
	design, y := mat.NewDense(n, 3, nil), mat.NewVecDense(n, mat.Col(nil, 5, x))
	for i := range n {
		design.SetRow(i, []float64{x.At(i, 0), x.At(i, 1), 1})
	}
	var plain mat.VecDense
	if err := plain.SolveVec(design, y); err != nil {
		t.Fatal(err)
	}
	for j, c := range f.Coefficients {
		if math.Abs(c.Estimate-plain.AtVec(j)) > 0.02*c.StandardError {
			t.Errorf("%s is %g, without privacy %g, standard error %g", c.Name, c.Estimate, plain.AtVec(j), c.StandardError)
		}
	}
	if !strings.Contains(f.String(), "R²") || !strings.Contains(m.String(), "one row") {
		t.Errorf("%v\n%v", f, m)
	}
}

// A mark is explained where it is printed.
func TestMomentsMarks(t *testing.T) {
	r := &Regression{Coefficients: []Coefficient{{Name: "a", Estimate: 1, StandardError: 1, Mark: far}, {Name: "b", Estimate: 1, StandardError: 1}}}
	if text := r.String(); !strings.Contains(text, "a *") || !strings.Contains(text, "* a "+far) || strings.Contains(text, "* b") {
		t.Error(text)
	}
}

// What is read is what was written, and what was damaged is refused.
func TestMomentsJSON(t *testing.T) {
	m := momentsFor(t, 3000, ApproxDP(2, 1e-6), 3)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	read := new(Moments)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	was, err1 := m.Regress("y", []string{"g", "a"}, 0.9)
	is, err2 := read.Regress("y", []string{"g", "a"}, 0.9)
	if err1 != nil || err2 != nil || was.String() != is.String() || read.String() != m.String() {
		t.Errorf("%v %v: %v, was %v", err1, err2, is, was)
	}
	for _, damaged := range []string{strings.Replace(string(text), `"a"`, `"c"`, 1), `{"format":"dpglm model"}`, string(text[:len(text)/2])} {
		if err := json.Unmarshal([]byte(damaged), new(Moments)); err == nil {
			t.Errorf("%.60s… is read", damaged)
		}
	}
	if _, err := json.Marshal(new(Moments)); err == nil {
		t.Error("empty moments are written")
	}
}

// What can't be had is refused before anything is released.
func TestMomentsRefused(t *testing.T) {
	x, y := someColumns(rand.New(rand.NewPCG(1, 1)), 100), make([]float64, 100)
	plain := someFacts
	plain.Intercept = false
	persons := Persons{Of: make([]int, 100), MaxRows: 2}
	for i := range persons.Of {
		persons.Of[i] = i / 2
	}
	ones := make([]float64, 100)
	for i := range ones {
		ones[i] = 1
	}
	for name, c := range map[string]struct {
		facts Facts
		more  []RowDetail
		b     Budget
		want  error
	}{
		"no intercept": {plain, nil, GDP(1), ErrConfig},
		"persons":      {someFacts, []RowDetail{persons}, GDP(1), ErrConfig},
		"weights":      {someFacts, []RowDetail{Weights{Of: ones, Max: 2}}, GDP(1), ErrConfig},
		"offsets":      {someFacts, []RowDetail{Offsets{Of: make([]float64, 100), Range: [2]float64{0, 2}}}, GDP(1), ErrConfig},
		"labels only":  {someFacts, nil, GDP(1).LabelsOnly(), ErrBudget},
		"pure":         {someFacts, nil, PureDP(1), ErrBudget},
		"no budget":    {someFacts, nil, Budget{}, ErrBudget},
	} {
		d, err := NewDataset(x, y, c.facts, c.more...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := d.Moments(t.Context(), c.b, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := d.Shape().MomentsLedger(c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: a ledger: %v", name, err)
		}
	}
	m := momentsFor(t, 500, GDP(1), 2)
	for name, err := range map[string]error{
		"response":      second(m.Regress("nothing", nil, 0)),
		"group":         second(m.Regress("g", nil, 0)),
		"column":        second(m.Regress("y", []string{"z"}, 0)),
		"no name":       second(m.Regress("g=2", []string{""}, 0)),
		"itself":        second(m.Regress("y", []string{"y"}, 0)),
		"twice":         second(m.Regress("y", []string{"g", "g=2"}, 0)),
		"confidence":    second(m.Regress("y", nil, 0.2)),
		"no confidence": second(m.Regress("y", nil, math.NaN())),
	} {
		if !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := new(Moments).Regress("y", nil, 0); !errors.Is(err, ErrModel) {
		t.Errorf("empty moments: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
