package dpglm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
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

// derived are n rows of a table with squares, products, a logarithm and a spline among its columns, and its values by name of column.
func derived(t *testing.T, n int, seed uint64) (*Dataset, map[string][]float64) {
	t.Helper()
	schema, err := table.ParseSchema([]byte(`{"version": 1, "label": "label", "columns": [
		{"name": "x", "kind": "numeric", "range": [-2, 4], "square": true},
		{"name": "z", "kind": "numeric", "range": [0, 10], "square": true},
		{"name": "l", "kind": "numeric", "range": [0.5, 60], "log": true, "square": true},
		{"name": "s", "kind": "numeric", "range": [0, 1], "knots": [0.5]},
		{"name": "g", "kind": "categorical", "levels": ["a", "b", "c"]},
		{"name": "y", "kind": "numeric", "range": [-100, 200]},
		{"name": "label", "kind": "numeric", "range": [0, 1]}], "interactions": [["x", "z"], ["z", "g"]]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, of := rand.New(rand.NewPCG(seed, 4)), map[string][]float64{}
	var text strings.Builder
	text.WriteString("x,z,l,s,g,y,label\n")
	for range n {
		x, z, l, s, level := -2+6*r.Float64(), 10*r.Float64(), math.Exp(-0.6+4*r.Float64()), r.Float64(), r.IntN(3)
		y := 5 + 2*x - z + 0.5*x*x + 0.3*z*z + x*z + 2*r.NormFloat64()
		fmt.Fprintf(&text, "%v,%v,%v,%v,%c,%v,0\n", x, z, l, s, 'a'+level, y)
		b := float64(level % 2)
		log := math.Log(l)
		for name, v := range map[string]float64{"x": x, "z": z, "log(l)": log, "y": y, "x^2": x * x, "z^2": z * z, "log(l)^2": log * log, "x:z": x * z, "z:g=b": z * b, "g=b": b} {
			of[name] = append(of[name], v)
		}
	}
	read, err := table.ReadCSV(strings.NewReader(text.String()), schema)
	if err != nil {
		t.Fatal(err)
	}
	for j, f := range read.Encoder().Features() {
		if f.Columns[0] == "s" {
			of[f.Name] = mat.Col(nil, j, read.Matrix())
		}
	}
	d, err := NewTableDataset(read)
	if err != nil {
		t.Fatal(err)
	}
	return d, of
}

// leastSquares is the plain regression on columns and a constant, the last.
func leastSquares(t *testing.T, y []float64, columns ...[]float64) []float64 {
	t.Helper()
	design := mat.NewDense(len(y), len(columns)+1, nil)
	for j, c := range columns {
		design.SetCol(j, c)
	}
	for i := range y {
		design.Set(i, len(columns), 1)
	}
	var plain mat.VecDense
	if err := plain.SolveVec(design, mat.NewVecDense(len(y), y)); err != nil {
		t.Fatal(err)
	}
	return plain.RawVector().Data
}

// With hardly any noise means, deviations and regressions of squares, products, logarithms and splines are the plain ones, in the columns' own
// units, and standard errors of means are those of sampling.
func TestMomentsOfSquares(t *testing.T) {
	const n = 4000
	d, of := derived(t, n, 1)
	m, err := d.Moments(t.Context(), GDP(1e4), &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range of {
		f, err := m.Regress(name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		mean, deviation := stat.PopMeanStdDev(values, nil)
		if c := f.Coefficients[0]; math.Abs(c.Estimate-mean) > 2e-3*deviation || math.Abs(f.Deviation/deviation-1) > 5e-3 || math.Abs(c.StandardError*math.Sqrt(n)/deviation-1) > 0.05 {
			t.Errorf("%s: mean %g ± %g, deviation %g; plainly %g, %g", name, c.Estimate, c.StandardError, f.Deviation, mean, deviation)
		}
	}
	splines := slices.DeleteFunc(m.Columns(), func(name string) bool { return !strings.HasPrefix(name, "bs(s)") })
	if len(splines) < 3 {
		t.Fatalf("splines %v", splines)
	}
	for _, c := range [][]string{
		{"x", "x^2", "z", "z^2", "x:z"}, {"x", "z"}, {"z", "g=b", "z:g=b"}, {"z^2"}, {"log(l)", "log(l)^2"}, append([]string{"x", "x:z", "z"}, splines...),
	} {
		f, err := m.Regress("y", c, 0)
		if err != nil {
			t.Fatal(err)
		}
		var columns [][]float64
		for _, name := range c {
			columns = append(columns, of[name])
		}
		for j, want := range leastSquares(t, of["y"], columns...) {
			if got := f.Coefficients[j]; math.Abs(got.Estimate-want) > 0.05*got.StandardError {
				t.Errorf("on %v: %s is %g, plainly %g, standard error %g", c, got.Name, got.Estimate, want, got.StandardError)
			}
		}
	}
}

// Intervals of means of columns and of their squares and products hold them, and those of regressions by all of these. Of 30 releases ten
// numbers each, of which a right law misses more than 27 once in two hundred times.
func TestMomentsOfSquaresCover(t *testing.T) {
	missed := map[string]int{}
	all := 0
	for seed := range uint64(30) {
		d, _ := derived(t, 5000, seed)
		m, err := d.Moments(t.Context(), ApproxDP(2, 1e-6), &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		if err != nil {
			t.Fatal(err)
		}
		check := func(c Coefficient, what string, want float64) {
			if c.Low > want || c.High < want {
				missed[what]++
				all++
			}
		}
		for name, want := range map[string]float64{"x": 1, "z": 5, "x^2": 4, "z^2": 100 / 3.0, "x:z": 5, "z:g=b": 5 / 3.0, "g=b": 1 / 3.0} {
			f, err := m.Regress(name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			check(f.Coefficients[0], name, want)
		}
		f, err := m.Regress("y", []string{"x", "z", "x:z", "x^2", "z^2"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range []float64{2, -1, 1} {
			check(f.Coefficients[j], "slope on "+f.Coefficients[j].Name, want)
		}
	}
	if all > 27 {
		t.Errorf("%d of 300 intervals miss: %v", all, missed)
	}
}

// partly are n rows of a table of which some values are missing, x with its square, l by its logarithm, s by splines; and the values that there are.
// Whether x is missing depends on nothing, and y on x.
func partly(t *testing.T, n int, seed uint64, bound string) (*Dataset, map[string][]float64) {
	t.Helper()
	schema, err := table.ParseSchema([]byte(`{"version": 1, "label": "label", ` + bound + ` "columns": [
		{"name": "x", "kind": "numeric", "range": [0, 1000], "missing": "indicator", "square": true},
		{"name": "l", "kind": "numeric", "range": [1, 100], "missing": "indicator", "log": true},
		{"name": "s", "kind": "numeric", "range": [0, 1], "knots": [0.5], "missing": "indicator"},
		{"name": "g", "kind": "categorical", "levels": ["a", "b"]},
		{"name": "y", "kind": "numeric", "range": [-10, 30]},
		{"name": "label", "kind": "numeric", "range": [0, 1]}], "interactions": [["x", "y"], ["y", "g"]]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, of := rand.New(rand.NewPCG(seed, 6)), map[string][]float64{}
	var text strings.Builder
	text.WriteString("x,l,s,g,y,label\n")
	for range n {
		x, l := 100*r.Float64(), 1+99*r.Float64()
		cells := []string{fmt.Sprint(x), fmt.Sprint(l), fmt.Sprint(r.Float64())}
		there := map[string]float64{"x": x, "x^2": x * x, "log(l)": math.Log(l)}
		for k, names := range [][]string{{"x", "x^2"}, {"log(l)"}, nil} {
			if r.Float64() < 0.3 {
				cells[k] = ""
				for _, name := range names {
					delete(there, name)
				}
			}
		}
		for name, v := range there {
			of[name] = append(of[name], v)
		}
		fmt.Fprintf(&text, "%s,%c,%v,0\n", strings.Join(cells, ","), 'a'+r.IntN(2), 0.1*x+r.NormFloat64())
	}
	read, err := table.ReadCSV(strings.NewReader(text.String()), schema)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewTableDataset(read)
	if err != nil {
		t.Fatal(err)
	}
	return d, of
}

// Of columns with missing values means and deviations are those of the values that there are, and a regression on one is on its indicator, too;
// so it is of moments that were written and read.
func TestMomentsOfMissing(t *testing.T) {
	d, of := partly(t, 4000, 1, "")
	made, err := d.Moments(t.Context(), GDP(1e5), &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(made)
	m := new(Moments)
	if err != nil || json.Unmarshal(text, m) != nil {
		t.Fatal(err)
	}
	for name, values := range of {
		f, err := m.Regress(name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		mean, deviation := stat.PopMeanStdDev(values, nil)
		se := deviation / math.Sqrt(float64(len(values)))
		if c := f.Coefficients[0]; math.Abs(c.Estimate-mean) > 0.1*se || math.Abs(f.Deviation/deviation-1) > 0.02 || math.Abs(c.StandardError/se-1) > 0.05 || math.Abs(f.Present-float64(len(values))/4000) > 1e-3 || !strings.Contains(f.String(), "rows that have a value") {
			t.Errorf("%s: mean %g ± %g, deviation %g; plainly %g ± %g, %g\n%v", name, c.Estimate, c.StandardError, f.Deviation, mean, se, deviation, f)
		}
	}
	named := func(f *Regression, err error) (names string) {
		if err != nil {
			return err.Error()
		}
		for _, c := range f.Coefficients {
			names += c.Name + " "
		}
		return names
	}
	f, err := m.Regress("y", []string{"x"}, 0)
	if err != nil || math.Abs(f.Coefficients[0].Estimate-0.1) > 0.005 {
		t.Errorf("%v (%v)", f, err)
	}
	for _, c := range []struct {
		response, on, want string
	}{
		{"y", "x", "x x=missing (Intercept) "},
		{"y", "x=missing,x", "x=missing x (Intercept) "},
		{"y", "x,x^2,log(l)", "x x=missing x^2 log(l) l=missing (Intercept) "},
		{"y", "bs(s)2,g", "bs(s)2 s=missing g=b (Intercept) "},
		{"y", "y:g", "y:g=b (Intercept) "},
		{"x", "x=missing", "x=missing (Intercept) "},
		{"x", "y", `"x" must have no missing values`},
		{"x=missing", "x", `"x" must not be there, as its missing values are the response`},
		{"y", "l", `of this one there are "log(l)"`},
		{"y", "x,x", "must be there once"},
	} {
		if got := named(m.Regress(c.response, strings.Split(c.on, ","), 0)); !strings.Contains(got, c.want) {
			t.Errorf("%s on %s: %s", c.response, c.on, got)
		}
	}
	if f, err := m.Regress("x:y", nil, 0); err != nil || !f.Coefficients[0].Undetermined() || !strings.Contains(f.String(), "is a product") {
		t.Errorf("a product: %v (%v)", f, err)
	}
}

// Intervals of means of the values that there are hold them, also where the number of rows is secret, and are no longer than need be; where noise
// hides how many there are, there is none. Of 40 releases two numbers each, of which a right law misses more than 12 once in two hundred times.
func TestMomentsOfMissingCover(t *testing.T) {
	missed := 0
	for seed := range uint64(40) {
		bound, b := "", ApproxDP(2, 1e-6)
		if seed%2 > 0 {
			bound, b = `"at_most": 5000,`, b.AddRemove()
		}
		d, _ := partly(t, 4000, seed, bound)
		m, err := d.Moments(t.Context(), b, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{"x": 50, "log(l)": (100*math.Log(100) - 99) / 99} {
			f, err := m.Regress(name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if c := f.Coefficients[0]; c.Low > want || c.High < want {
				missed++
			}
		}
	}
	if missed > 12 {
		t.Errorf("%d of 80 intervals miss", missed)
	}
	d, _ := partly(t, 300, 1, "")
	m, err := d.Moments(t.Context(), ApproxDP(0.05, 1e-6), &Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := m.Regress("x", nil, 0); err != nil || !f.Coefficients[0].Undetermined() || f.Present != 0 || !strings.Contains(f.String(), "noise hides") {
		t.Errorf("hidden: %v (%v)", f, err)
	}
	if _, err := json.Marshal(m); err != nil {
		t.Error(err)
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
