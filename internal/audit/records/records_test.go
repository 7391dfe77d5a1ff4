package records_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/losses"
	tables "github.com/dpglm/dpglm/table"
)

// Records are read by name: the order of the columns, other columns and the label's
// absence change nothing, and unknown levels and missing values follow the schema.
func TestRecordsByName(t *testing.T) {
	m := given.ClinicModel(t)
	x, err := m.Encode(
		map[string]string{"age": "70", "days": "10", "ward": "surgery"},
		map[string]string{"ward": "moon base", "days": "", "age": "1e9", "name": "Ada"},
		map[string]string{"ward": "other", "days": "NA", "age": "100"},
	)
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.EncodeRows([]string{"days", "ward", "readmitted", "age"}, []string{"10", "surgery", "?", "70"}, []string{"NULL", "sea", "", "100"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.RawRowView(0), y.RawRowView(0)) || !slices.Equal(x.RawRowView(1), y.RawRowView(1)) || !slices.Equal(x.RawRowView(1), x.RawRowView(2)) {
		t.Errorf("the same people are read as\n%v and\n%v", mat.Formatted(x), mat.Formatted(y))
	}
	p, errA := m.Means(x)
	means, errB := m.Means(x)
	if errA != nil || errB != nil || !slices.Equal(p, means) || !(p[0] > 0.5) {
		t.Errorf("probabilities %v (%v), means %v (%v)", p, errA, means, errB)
	}
}

// An error about a record says which, and where in it; nothing is encoded halfway.
func TestRecordsThatCantBeRead(t *testing.T) {
	m := given.ClinicModel(t)
	good := map[string]string{"age": "70", "days": "10", "ward": "surgery"}
	for _, c := range []struct {
		bad  map[string]string
		kind error
		says string
	}{
		{map[string]string{"age": "old", "days": "1", "ward": "surgery"}, tables.ErrValue, `record 2, column "age": "old"`},
		{map[string]string{"age": "", "days": "1", "ward": "surgery"}, tables.ErrValue, `record 2, column "age": the field is empty`},
		{map[string]string{"Age": "70", "days": "1", "ward": "surgery"}, tables.ErrColumn, `"Age"`},
	} {
		if x, err := m.Encode(good, c.bad); x != nil || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.bad, err, c.says)
		}
	}
	if x, err := m.EncodeRows([]string{"age", "ward"}, []string{"70", "surgery"}); x != nil || !errors.Is(err, tables.ErrColumn) {
		t.Errorf("a header without a column: %v", err)
	}
	if x, err := m.EncodeRows([]string{"age", "ward", "days"}, []string{"70", "surgery"}); x != nil || !errors.Is(err, tables.ErrFile) {
		t.Errorf("a short record: %v", err)
	}
	if x, err := m.Encode(); x != nil || !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("no record: %v", err)
	}
	plain, _ := given.Trained(t)
	if x, err := plain.Encode(good); x != nil || !errors.Is(err, dpglm.ErrModel) || plain.Encoder() != nil {
		t.Errorf("records for a model of a plain matrix: %v", err)
	}
	if x, err := new(dpglm.Model).EncodeRows([]string{"age"}, []string{"70"}); x != nil || !errors.Is(err, dpglm.ErrModel) {
		t.Errorf("records for no model: %v", err)
	}
}

// A model of a matrix with named columns reads records, too: their numbers as they are, so
// that it predicts as of the matrix.
func TestRecordsOfAMatrix(t *testing.T) {
	people := dpglm.Schema{Columns: []string{"age", "town=york", "town=hull"}, Numeric: map[string][2]float64{"age": {20, 60}},
		OneHot: map[string][]string{"town": {"town=york", "town=hull"}}, Intercept: true}
	x := mat.NewDense(400, 3, slices.Repeat([]float64{20, 1, 0, 30, 0, 1, 50, 0, 0, 60, 1, 0}, 100))
	data, err := dpglm.NewDataset(x, slices.Repeat([]float64{0, 0, 1, 1}, 100), people)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Auto(ctx, data, logistic, dpglm.ApproxDP(20, 1e-2), given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if m = new(dpglm.Model); json.Unmarshal(text, m) != nil {
		t.Fatal("not decoded")
	}
	want := mat.NewDense(2, 3, []float64{30, 0, 1, -500, 0, 0})
	byName, err := m.Encode(map[string]string{"age": " 30", "town=york": "0", "town=hull": "1.0", "name": "Ada"}, map[string]string{"town=york": "0", "age": "-5e2", "town=hull": "0"})
	if err != nil || !mat.Equal(byName, want) {
		t.Errorf("%v (%v)", byName, err)
	}
	byHeader, err := m.EncodeRows([]string{"town=hull", "age", "id", "town=york"}, []string{"1", "30", "7", "0"}, []string{"0", "-500", "", "-0"})
	if err != nil || !mat.Equal(byHeader, want) {
		t.Errorf("%v (%v)", byHeader, err)
	}
	p, err := m.Means(byName)
	if again, errX := m.Means(want); err != nil || errX != nil || !slices.Equal(p, again) || p[0] == p[1] {
		t.Errorf("probabilities %v (%v), %v (%v)", p, err, again, errX)
	}
	for _, c := range []struct{ age, says string }{
		{"", `record 1, column "age": the field is empty`}, {"NaN", `"NaN" is not a finite number`}, {"1e400", `"1e400" is not a finite number`},
		{"$1,234", `"$1,234" is not a number; write 1234`}, {"old", `"old" is not a number; write one such as 12.5`}, {"\xe4", "not UTF-8"},
	} {
		if x, err := m.Encode(map[string]string{"age": c.age, "town=york": "0", "town=hull": "0"}); x != nil || !errors.Is(err, tables.ErrValue) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.age, err, c.says)
		}
	}
	if x, err := m.Encode(map[string]string{"Age": "30", "town=york": "0", "town=hull": "0"}); x != nil || !errors.Is(err, tables.ErrColumn) || !strings.Contains(err.Error(), `did you mean "Age"`) {
		t.Error(err)
	}
	if x, err := m.EncodeRows([]string{"age", "age", "town=york", "town=hull"}, []string{"1", "2", "0", "0"}); x != nil || !errors.Is(err, tables.ErrColumn) {
		t.Error(err)
	}
}

// What a model of a table says of itself.
func TestTableModelsDescribeThemselves(t *testing.T) {
	m := given.ClinicModel(t)
	if m.Label() != "readmitted = yes" || m.Loss() != "logistic" || m.Link() != losses.Logit || m.Encoder().Schema().Label != "readmitted" {
		t.Errorf("%q, %q, %q", m.Label(), m.Loss(), m.Link())
	}
	if b, ok := m.Facts().(dpglm.Bounds); !ok || b.Feature != m.Encoder().Bound() || !b.Intercept {
		t.Errorf("facts %+v", m.Facts())
	}
	if c, ok := m.Ledger().Claim(); !ok || c.Rows != 3000 || c.Epsilon != 2 || c.Delta != 1e-6 {
		t.Errorf("claim %+v", c)
	}
	plain, _ := given.Trained(t)
	if plain.Label() != "class 1" || new(dpglm.Model).Label() != "label" || plain.Facts() != (dpglm.Bounds{Feature: 2, Intercept: true}) || new(dpglm.Model).Facts() != nil {
		t.Errorf("%q, %+v", plain.Label(), plain.Facts())
	}
	if (*dpglm.Model)(nil).Loss() != "" || (*dpglm.Model)(nil).Link() != "" || (*dpglm.Model)(nil).Encoder() != nil {
		t.Error("no model has a loss, a link or an encoder")
	}
	wage := strings.Replace(given.ClinicSchema, `"kind": "binary", "positive": ["yes"], "negative": ["no"]`, `"kind": "binary", "above": 0.5`, 1)
	s, err := tables.ParseSchema([]byte(wage))
	if err != nil {
		t.Fatal(err)
	}
	read, err := tables.ReadCSV(strings.NewReader("age,days,ward,readmitted\n30,1,surgery,0.4\n40,2,eyes,0.6\n"), s)
	if err != nil || read.Label().String() != "readmitted > 0.5" || !slices.Equal(read.Labels(), []float64{0, 1}) {
		t.Errorf("%v, labels %v (%v)", read.Label(), read.Labels(), err)
	}
}

// A stored model of a table is the same model: it reads records, predicts and is stored
// again as before.
func TestTableModelRoundTrip(t *testing.T) {
	m := given.ClinicModel(t)
	record := map[string]string{"age": "70", "days": "10", "ward": "surgery"}
	x, err := m.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	given.CheckModel(t, m, x)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back dpglm.Model
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if y, err := back.Encode(record); err != nil || !mat.Equal(x, y) || back.Label() != m.Label() {
		t.Errorf("the decoded model reads a record as %v (%v)", y, err)
	}
	for _, c := range [][2]string{
		{`"columns":8`, `"columns":9`}, {`[20,100]`, `[100,20]`}, {`"square":true`, `"squared":true`}, {`"table":{`, `"bounds":{"feature":1},"table":{`}, {`"label":"readmitted"`, `"label":"age"`},
	} {
		bad := strings.Replace(string(text), c[0], c[1], 1)
		if bad == string(text) {
			t.Fatalf("%s is not in %s", c[0], text)
		}
		if err := json.Unmarshal(resealed.JSON([]byte(bad)), new(dpglm.Model)); !errors.Is(err, dpglm.ErrModel) {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

// Sparse rows of a table are read as NewSparse's are.
func TestSparseTables(t *testing.T) {
	var levels, rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&levels, `"l%d",`, i)
		fmt.Fprintf(&rows, "%d,l%d\n", i%3, 39-i)
	}
	s, err := tables.ParseSchema([]byte(`{"version": 1, "label": "y", "columns": [{"name": "y", "kind": "numeric", "range": [0, 2]}, {"name": "g", "kind": "categorical", "levels": [` + strings.TrimSuffix(levels.String(), ",") + `]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	read, err := tables.ReadCSV(strings.NewReader("y,g\n"+rows.String()), s)
	if err != nil || read.Sparse() == nil {
		t.Fatal("not sparse", err)
	}
	c := read.Sparse()
	x, err := dpglm.NewSparse(c.Rows, c.Cols, c.Indptr, c.Indices, c.Values)
	if err != nil {
		t.Fatal(err)
	}
	problem := dpglm.Problem{Loss: losses.Squared{}}
	fitted := func(d *dpglm.Dataset, err error) *dpglm.Model {
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.NoisyGD(ctx, d, problem, dpglm.GDP(5), dpglm.NoisyGDConfig{Steps: 20}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a := fitted(dpglm.NewTableDataset(read))
	b := fitted(dpglm.NewDataset(x, read.Labels(), dpglm.Bounds{Feature: read.Bound(), LabelRange: [2]float64{0, 2}, Intercept: true}))
	if !slices.Equal(a.Weights()[0], b.Weights()[0]) || !slices.Equal(given.Predicted(t, a, c), given.Predicted(t, b, x)) {
		t.Errorf("weights %v, of the same rows by NewSparse %v", a.Weights()[0], b.Weights()[0])
	}
}

// What can't be trained on is refused.
func TestTablesThatCantBeTrainedOn(t *testing.T) {
	read := given.Clinic(t, given.ClinicSchema, 10)
	header := "age,days,ward,readmitted\n"
	features, err := tables.NewCSV(strings.NewReader(header+"30,1,surgery,\n"), ',')
	if err != nil {
		t.Fatal(err)
	}
	unlabelled, err := tables.ReadFeatures(features, read.Encoder().Schema())
	if err != nil {
		t.Fatal(err)
	}
	rated, err := tables.ParseSchema([]byte(strings.Replace(strings.Replace(given.ClinicSchema, `"version": 1,`, `"version": 1, "exposure": "days",`, 1), `"log": true, "missing": "indicator"`, `"missing": "refuse"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	exposed, err := tables.ReadCSV(strings.NewReader(header+"30,1,surgery,no\n"), rated)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		t    *tables.Table
		want error
	}{"nil": {nil, dpglm.ErrConfig}, "empty": {new(tables.Table), dpglm.ErrLabel}, "no labels": {unlabelled, dpglm.ErrLabel}, "exposure": {exposed, dpglm.ErrConfig}} {
		if d, err := dpglm.NewTableDataset(c.t); d != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A loss for other labels than the schema's is refused by name, before anything is spent.
func TestLossesThatDontSuitATable(t *testing.T) {
	data, err := dpglm.NewTableDataset(given.Clinic(t, given.ClinicSchema, 50))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []losses.Loss{losses.Squared{}, losses.Poisson{}, losses.Gamma{Least: 1}, losses.Ordinal{Thresholds: []float64{0}}} {
		m, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: l}, dpglm.ApproxDP(1, 1e-6), given.Seeded(1))
		if m != nil || !errors.Is(err, dpglm.ErrLabel) || !strings.Contains(err.Error(), `"readmitted" is binary`) {
			t.Errorf("%s: %v", l.Name(), err)
		}
		if _, err := dpglm.Infer(ctx, data, dpglm.Problem{Loss: l}, dpglm.ApproxDP(1, 1e-6), dpglm.InferConfig{}, given.Seeded(1)); !errors.Is(err, dpglm.ErrLabel) {
			t.Errorf("Infer, %s: %v", l.Name(), err)
		}
	}
	for _, l := range []losses.Loss{nil, (*losses.Squared)(nil)} {
		if _, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: l}, dpglm.ApproxDP(1, 1e-6), given.Seeded(1)); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%T: %v", l, err)
		}
	}
}

// Coefficients, times what the raw columns hold, are the scores.
func TestCoefficientsAreInOriginalUnits(t *testing.T) {
	m := given.ClinicModel(t)
	values := coefficients(t, m)
	x, err := m.Encode(map[string]string{"age": "70", "days": "10", "ward": "surgery"})
	if err != nil {
		t.Fatal(err)
	}
	want := values["(Intercept)"] + 70*values["age"] + 4900*values["age^2"] + math.Log(10)*values["log(days)"] + values["ward=surgery"] + 70*values["age:ward=surgery"]
	if z, err := given.One(m.Scores(x)); err != nil || math.Abs(z[0]-want) > 1e-9*math.Abs(want) {
		t.Errorf("score %v (%v), by the coefficients %g: %v", z, err, want, values)
	}
	plain, y := given.RealRows(50)
	for name, f := range map[string]dpglm.Facts{
		"bounds":               dpglm.Bounds{Feature: 9, LabelRange: [2]float64{8, 12}},
		"bounds, intercept":    dpglm.Bounds{Feature: 9, LabelRange: [2]float64{8, 12}, Intercept: true},
		"schema":               dpglm.Schema{Columns: []string{"x1", "x2"}, Numeric: map[string][2]float64{"x1": {-3, 5}, "x2": {-9, 2}}, LabelRange: [2]float64{8, 12}},
		"schema and intercept": dpglm.Schema{Columns: []string{"x1", "x2"}, Numeric: map[string][2]float64{"x1": {-3, 5}, "x2": {-9, 2}}, LabelRange: [2]float64{8, 12}, Intercept: true},
	} {
		m, err := dpglm.NoisyGD(ctx, given.Dataset(t, plain, given.Plus(y, 10), f), dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 20}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		values := coefficients(t, m)
		z, err := given.One(m.Scores(mat.NewDense(1, 2, []float64{0.5, -0.25})))
		if want := values["(Intercept)"] + 0.5*values["x1"] - 0.25*values["x2"]; err != nil || math.Abs(z[0]-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s: score %v (%v), by the coefficients %g: %v", name, z, err, want, values)
		}
	}
}

// Inference on a table has the features' names, and the coefficients of its model.
func TestInferenceOfTables(t *testing.T) {
	data, err := dpglm.NewTableDataset(given.Clinic(t, given.ClinicSchema, 3000))
	if err != nil {
		t.Fatal(err)
	}
	found, err := dpglm.Infer(ctx, data, logistic, dpglm.ApproxDP(8, 1e-5), dpglm.InferConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	want, err := found.Model().Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	list := found.Coefficients()
	if len(list) != len(want) {
		t.Fatalf("%d coefficients, want %d", len(list), len(want))
	}
	for j, c := range list {
		if c.Name != want[j].Name || math.Abs(c.Estimate-want[j].Value) > 1e-9*(1+math.Abs(c.Estimate)) || c.Group != want[j].Group {
			t.Errorf("%+v, want %+v", c, want[j])
		}
	}
	if c := list[5]; c.Name != "ward=other" || c.Level != "other" || !(c.StandardError > 0) {
		t.Errorf("%+v", c)
	}
}

// A contrast with the level that has no column is the other's coefficient, whatever kind the
// column is of and whether the level goes by its name; a contrast says what it compares.
func TestContrastsWithReferences(t *testing.T) {
	const schema = `{
	  "version": 1,
	  "label": "again",
	  "columns": [
	    {"name": "ward", "kind": "categorical", "levels": ["medicine", "surgery", "eyes"]},
	    {"name": "floor", "kind": "categorical", "levels": ["ground", "upper"], "reference": "upper"},
	    {"name": "smokes", "kind": "binary", "positive": ["yes"], "negative": ["no", "never"]},
	    {"name": "town", "kind": "onehot", "levels": ["york", "hull"]},
	    {"name": "part", "kind": "onehot", "levels": ["east", "west"], "reference": "west"},
	    {"name": "again", "kind": "binary", "positive": ["1"], "negative": ["0"]}
	  ]
	}`
	var b strings.Builder
	b.WriteString("ward,floor,smokes,town=york,town=hull,part=east,part=west,again\n")
	for i := range 600 {
		fmt.Fprintf(&b, "%s,%s,%s,%d,%d,%d,0,%d\n", []string{"medicine", "surgery", "eyes"}[i%3], []string{"ground", "upper"}[i/3%2],
			[]string{"yes", "no", "never"}[i/6%3], i/18%2, 0, i/36%2, i*i/7%2)
	}
	data, err := dpglm.NewTableDataset(given.ReadTable(t, schema, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	found, err := dpglm.Infer(ctx, data, logistic, dpglm.GDP(20), dpglm.InferConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		group, level, base string
		name, of           string
		sign               float64
	}{
		{"ward", "surgery", "medicine", "ward: surgery − medicine", "ward=surgery", 1},
		{"ward", "surgery", "", "ward: surgery − medicine", "ward=surgery", 1},
		{"ward", "medicine", "eyes", "ward: medicine − eyes", "ward=eyes", -1},
		{"ward", "", "ward=eyes", "ward: medicine − eyes", "ward=eyes", -1},
		{"floor", "ground", "upper", "floor: ground − upper", "floor=ground", 1},
		{"smokes", "yes", "no", "smokes: yes − no", "smokes=yes", 1},
		{"smokes", "never", "yes", "smokes: never − yes", "smokes=yes", -1},
		{"town", "york", "", "town: york − no level", "town=york", 1},
		{"part", "east", "west", "part: east − west", "part=east", 1},
	} {
		got, err := found.Contrast(c.group, c.level, c.base)
		want, err2 := found.Coefficient(c.of)
		if err != nil || err2 != nil || got.Name != c.name || got.Group != c.group || got.Estimate != c.sign*want.Estimate || got.StandardError != want.StandardError {
			t.Errorf("%+v (%v)\nwant %+v, called %q (%v)", got, err, want, c.name, err2)
		}
	}
	for _, c := range []struct{ group, level, base, rule string }{
		{"ward", "medicine", "", "must differ"},
		{"ward", "ward=eyes", "eyes", "must differ"},
		{"smokes", "no", "never", "must differ"},
		{"ward", "surgery", "dental", `level = "dental" must be one of the group "ward"`},
		{"again", "1", "0", `group = "again" must be a one-hot group of the schema`},
	} {
		if _, err := found.Contrast(c.group, c.level, c.base); !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(err.Error(), c.rule) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Columns of a group are named by group and level.
func TestCoefficientsOfGroups(t *testing.T) {
	s := dpglm.Schema{Columns: []string{"town=york", "size", "hull"}, Numeric: map[string][2]float64{"size": {0, 4}}, OneHot: map[string][]string{"town": {"town=york", "hull"}}}
	x := mat.NewDense(2, 3, []float64{1, 2, 0, 0, 3, 1})
	m, err := dpglm.NoisyGD(ctx, given.Dataset(t, x, []float64{0, 1}, s), logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 5}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	w := m.Weights()[0]
	if len(c) != 4 || c[0].Columns[0] != "town" || c[0].Levels[0] != "york" || c[2].Levels[0] != "hull" || c[2].Block != c[0].Block || c[1].Block == c[0].Block ||
		c[0].Value != w[0] || c[1].Value != w[1]/2 || c[3].Value != -w[1] || c[3].Name != tables.Intercept {
		t.Errorf("coefficients %+v of weights %v", c, w)
	}
}

func coefficients(t *testing.T, m *dpglm.Model) map[string]float64 {
	t.Helper()
	list, err := m.Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, c := range list {
		values[c.Name] = c.Value
	}
	if len(values) != len(list) {
		t.Fatalf("names are repeated: %v", list)
	}
	return values
}

// A model of a table is evaluated on rows of the same table, also after it was stored, and
// not on those of another schema: features would mean something else.
func TestEvaluationOfTables(t *testing.T) {
	data, err := dpglm.NewTableDataset(given.Clinic(t, given.ClinicSchema, 3000))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(given.ClinicModel(t))
	m := new(dpglm.Model)
	if err := errors.Join(err, json.Unmarshal(stored, m)); err != nil {
		t.Fatal(err)
	}
	e, err := dpglm.Evaluate(ctx, data, m, dpglm.GDP(1), dpglm.EvaluateConfig{}, given.Seeded(1))
	if err != nil || !(given.FigureOf(e, "AUC").Low > 0.6) || e.Calibration == nil {
		t.Errorf("%v (%v)", e, err)
	}
	moved, err := dpglm.NewTableDataset(given.Clinic(t, strings.Replace(given.ClinicSchema, "[20, 100]", "[10, 100]", 1), 3000))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := dpglm.Evaluate(ctx, moved, m, dpglm.GDP(1), dpglm.EvaluateConfig{}, given.Seeded(1)); e != nil || !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("another range: %v", err)
	}
}
