package dpglm_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/losses"
)

var (
	ctx      = context.Background()
	inf, nan = math.Inf(1), math.NaN()
	logistic = dpglm.Problem{Loss: losses.Logistic{}}
	squared  = dpglm.Problem{Loss: losses.Squared{}}

	separable, dataset, seeded = given.Separable, given.Dataset, given.Seeded
)

func TestBadData(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	y := []float64{0, 1}
	b := dpglm.Bounds{Feature: 1}
	schema := func(f func(*dpglm.Schema)) dpglm.Schema {
		s := dpglm.Schema{Columns: []string{"a", "b"}, Numeric: map[string][2]float64{"a": {0, 9}},
			OneHot: map[string][]string{"g": {"b"}}}
		f(&s)
		return s
	}
	for name, c := range map[string]struct {
		x     mat.Matrix
		y     []float64
		facts dpglm.Facts
		want  error
	}{
		"nil matrix":        {nil, y, b, dpglm.ErrConfig},
		"nil facts":         {x, y, nil, dpglm.ErrConfig},
		"pointer":           {x, y, &b, dpglm.ErrConfig},
		"nil pointer":       {x, y, (*dpglm.Schema)(nil), dpglm.ErrConfig},
		"empty":             {&mat.Dense{}, nil, b, dpglm.ErrShape},
		"short labels":      {x, y[:1], b, dpglm.ErrShape},
		"long labels":       {x, []float64{0, 1, 0}, b, dpglm.ErrShape},
		"NaN feature":       {mat.NewDense(2, 2, []float64{1, 2, nan, 4}), y, b, dpglm.ErrValue},
		"infinite feature":  {mat.NewDense(2, 2, []float64{1, inf, 3, 4}), y, b, dpglm.ErrValue},
		"NaN label":         {x, []float64{0, nan}, b, dpglm.ErrValue},
		"infinite label":    {x, []float64{-inf, 1}, b, dpglm.ErrValue},
		"zero bound":        {x, y, dpglm.Bounds{}, dpglm.ErrBound},
		"negative bound":    {x, y, dpglm.Bounds{Feature: -1}, dpglm.ErrBound},
		"infinite bound":    {x, y, dpglm.Bounds{Feature: inf}, dpglm.ErrBound},
		"NaN bound":         {x, y, dpglm.Bounds{Feature: nan}, dpglm.ErrBound},
		"negative labels Y": {x, y, dpglm.Bounds{Feature: 1, Label: -1}, dpglm.ErrBound},
		"infinite labels Y": {x, y, dpglm.Bounds{Feature: 1, Label: inf}, dpglm.ErrBound},
		"unknown column": {x, y, schema(func(s *dpglm.Schema) {
			s.Numeric["wage"] = [2]float64{0, 1}
		}), dpglm.ErrSchema},
		"unknown level": {x, y, schema(func(s *dpglm.Schema) {
			s.OneHot["g"] = []string{"b", "c"}
		}), dpglm.ErrSchema},
		"undescribed":   {x, y, schema(func(s *dpglm.Schema) { s.Numeric = nil }), dpglm.ErrSchema},
		"twice":         {x, y, schema(func(s *dpglm.Schema) { s.OneHot["g"] = []string{"a", "b"} }), dpglm.ErrSchema},
		"same name":     {x, y, schema(func(s *dpglm.Schema) { s.Columns[1] = "a" }), dpglm.ErrSchema},
		"too few names": {x, y, schema(func(s *dpglm.Schema) { s.Columns = s.Columns[:1] }), dpglm.ErrSchema},
		"empty group":   {x, y, schema(func(s *dpglm.Schema) { s.OneHot["h"] = nil }), dpglm.ErrSchema},
		"empty range":   {x, y, schema(func(s *dpglm.Schema) { s.Numeric["a"] = [2]float64{3, 3} }), dpglm.ErrBound},
		"NaN range":     {x, y, schema(func(s *dpglm.Schema) { s.Numeric["a"] = [2]float64{nan, 3} }), dpglm.ErrBound},
		"endless range": {x, y, schema(func(s *dpglm.Schema) { s.Numeric["a"] = [2]float64{0, inf} }), dpglm.ErrBound},
		"far and narrow": {x, y, schema(func(s *dpglm.Schema) {
			s.Numeric["a"] = [2]float64{1e9, 1e9 + 1}
		}), dpglm.ErrSchema},
	} {
		d, err := dpglm.NewDataset(c.x, c.y, c.facts)
		if !errors.Is(err, c.want) || d != nil {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestBadArguments(t *testing.T) {
	shape := dpglm.Shape{Rows: 100, Dim: 3, FeatureBound: 1, LabelBound: 1}
	good := dpglm.ApproxDP(1, 1e-6)
	type args struct {
		s dpglm.Shape
		p dpglm.Problem
		b dpglm.Budget
		c dpglm.NoisyGDConfig
	}
	for name, c := range map[string]struct {
		args
		want error
	}{
		"no rows":           {args{dpglm.Shape{Dim: 3, FeatureBound: 1}, logistic, good, dpglm.NoisyGDConfig{}}, dpglm.ErrShape},
		"no columns":        {args{dpglm.Shape{Rows: 3, FeatureBound: 1}, logistic, good, dpglm.NoisyGDConfig{}}, dpglm.ErrShape},
		"no bound":          {args{dpglm.Shape{Rows: 3, Dim: 3}, logistic, good, dpglm.NoisyGDConfig{}}, dpglm.ErrBound},
		"no label bound":    {args{dpglm.Shape{Rows: 3, Dim: 3, FeatureBound: 1}, squared, good, dpglm.NoisyGDConfig{}}, dpglm.ErrBound},
		"nil loss":          {args{shape, dpglm.Problem{}, good, dpglm.NoisyGDConfig{}}, dpglm.ErrConfig},
		"negative radius":   {args{shape, dpglm.Problem{Loss: losses.Logistic{}, Radius: -1}, good, dpglm.NoisyGDConfig{}}, dpglm.ErrBound},
		"infinite radius":   {args{shape, dpglm.Problem{Loss: losses.Logistic{}, Radius: inf}, good, dpglm.NoisyGDConfig{}}, dpglm.ErrBound},
		"no budget":         {args{shape, logistic, dpglm.Budget{}, dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"ε = 0":             {args{shape, logistic, dpglm.ApproxDP(0, 1e-6), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"ε < 0":             {args{shape, logistic, dpglm.ApproxDP(-1, 1e-6), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"ε NaN":             {args{shape, logistic, dpglm.ApproxDP(nan, 1e-6), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"ε infinite":        {args{shape, logistic, dpglm.ApproxDP(inf, 1e-6), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"δ = 0":             {args{shape, logistic, dpglm.ApproxDP(1, 0), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"δ = 1":             {args{shape, logistic, dpglm.ApproxDP(1, 1), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"δ NaN":             {args{shape, logistic, dpglm.ApproxDP(1, nan), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"swapped":           {args{shape, logistic, dpglm.ApproxDP(1e-6, 1), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"μ < 0":             {args{shape, logistic, dpglm.GDP(-1), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"μ infinite":        {args{shape, logistic, dpglm.GDP(inf), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"T < 1":             {args{shape, logistic, good, dpglm.NoisyGDConfig{Steps: -1}}, dpglm.ErrConfig},
		"clip < 0":          {args{shape, logistic, good, dpglm.NoisyGDConfig{Clip: -1}}, dpglm.ErrConfig},
		"clip NaN":          {args{shape, logistic, good, dpglm.NoisyGDConfig{Clip: nan}}, dpglm.ErrConfig},
		"clip tiny":         {args{shape, logistic, good, dpglm.NoisyGDConfig{Clip: 1e-300}}, dpglm.ErrConfig},
		"ε tiny":            {args{shape, logistic, dpglm.ApproxDP(1e-250, 1e-300), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"μ tiny":            {args{shape, logistic, dpglm.GDP(1e-250), dpglm.NoisyGDConfig{}}, dpglm.ErrBudget},
		"step size < 0":     {args{shape, logistic, good, dpglm.NoisyGDConfig{StepSize: -1}}, dpglm.ErrConfig},
		"step size NaN":     {args{shape, logistic, good, dpglm.NoisyGDConfig{StepSize: nan}}, dpglm.ErrConfig},
		"step size too big": {args{shape, logistic, good, dpglm.NoisyGDConfig{StepSize: 1e300}}, dpglm.ErrConfig},
		"schedule":          {args{shape, logistic, good, dpglm.NoisyGDConfig{Schedule: "fast"}}, dpglm.ErrConfig},
		"output":            {args{shape, logistic, good, dpglm.NoisyGDConfig{Output: "best"}}, dpglm.ErrConfig},
	} {
		plan, err := c.c.Plan(c.s, c.p, c.b)
		if !errors.Is(err, c.want) || plan != nil {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		var named dpglm.ArgumentError
		if !errors.As(err, &named) || named.Param() == "" || named.Rule() == "" {
			t.Errorf("%s: %v does not name parameter and rule", name, err)
		}
	}
}

// Labels meet the loss before anything is spent.
func TestLabelDomain(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	for _, c := range []struct {
		y    []float64
		want error
	}{
		{[]float64{0, 1, 1}, nil}, {[]float64{-1, 1, -1}, nil}, {[]float64{0, 2, 1}, dpglm.ErrLabel}, {[]float64{0.5, 1, 0}, dpglm.ErrLabel},
	} {
		d := dataset(t, x, c.y, dpglm.Bounds{Feature: 3})
		_, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{Steps: 2}, seeded(1))
		if !errors.Is(err, c.want) {
			t.Errorf("labels %v: got %v", c.y, err)
		}
		var spent *dpglm.Interrupted
		if errors.As(err, &spent) {
			t.Errorf("labels %v spent budget", c.y)
		}
	}
}

// Row scaling and label clamping are enforced, not assumed: a row beyond the
// bound counts as the row on the bound.
func TestBoundsAreEnforced(t *testing.T) {
	x, _ := separable(50, 2, 1)
	y := make([]float64, 50)
	big, small := mat.DenseCopyOf(x), mat.DenseCopyOf(x)
	big.SetRow(3, []float64{3e9, 4e9})
	small.SetRow(3, []float64{0.6, 0.8})
	yBig, ySmall := slices.Clone(y), slices.Clone(y)
	yBig[3], ySmall[3] = -1e12, -2
	fit := func(x mat.Matrix, y []float64) []float64 {
		m, err := dpglm.NoisyGD(ctx, dataset(t, x, y, dpglm.Bounds{Feature: 1, Label: 2}), squared,
			dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		return m.Weights()[0]
	}
	a, b := fit(big, yBig), fit(small, ySmall)
	for j := range a {
		if math.Abs(a[j]-b[j]) > 1e-12*math.Abs(b[j]) {
			t.Fatalf("weights %v with a huge row, %v with it on the bound", a, b)
		}
	}
}

func TestSchemaEncoding(t *testing.T) {
	s := dpglm.Schema{
		Columns:   []string{"red", "age", "blue"},
		Numeric:   map[string][2]float64{"age": {20, 60}},
		OneHot:    map[string][]string{"colour": {"red", "blue"}},
		Intercept: true,
	}
	x := mat.NewDense(3, 3, []float64{1, 20, 0, 0, 40, 1, 0, 1000, 0})
	d := dataset(t, x, []float64{0, 1, 1}, s)
	if got, want := d.Shape(), (dpglm.Shape{Rows: 3, Dim: 4, FeatureBound: math.Sqrt(3)}); got.Rows != 3 || got.Dim != 4 || math.Abs(got.FeatureBound-want.FeatureBound) > 1e-12 {
		t.Errorf("shape %+v, want %+v", got, want)
	}
	m, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	w := m.Weights()[0]
	z, err := given.One(m.Scores(x))
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{w[0] - w[1] + w[3], w[2] + w[3], w[1] + w[3]} // ages −1, 0 and, clamped, 1
	for i := range z {
		if math.Abs(z[i]-want[i]) > 1e-12*(1+math.Abs(want[i])) {
			t.Errorf("row %d scores %g, want %g", i, z[i], want[i])
		}
	}
}

func TestModelRoundTrip(t *testing.T) {
	m, x := given.Trained(t)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back dpglm.Model
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	for _, f := range []func(*dpglm.Model) ([]float64, error){
		func(m *dpglm.Model) ([]float64, error) { return given.One(m.Scores(x)) },
		func(m *dpglm.Model) ([]float64, error) { return m.Predict(x) },
		func(m *dpglm.Model) ([]float64, error) {
			p, err := m.Probabilities(x.T().T())
			return p.RawMatrix().Data, err
		},
	} {
		a, errA := f(m)
		b, errB := f(&back)
		if errA != nil || errB != nil || !slices.Equal(a, b) {
			t.Errorf("predictions differ after a round trip (%v, %v)", errA, errB)
		}
	}
	if m.Ledger().String() != back.Ledger().String() || !back.Ledger().CallerNoise() {
		t.Errorf("ledger after a round trip:\n%v", back.Ledger())
	}
	if !slices.Equal(m.Weights()[0], back.Weights()[0]) || back.String() != m.String() {
		t.Errorf("%v after a round trip, before %v", &back, m)
	}
}

// What a model stores is its weights, its ledger and public facts that were known
// before training: nothing else, and each where it belongs.
func TestModelStoresPublicFactsOnly(t *testing.T) {
	m, _ := given.Trained(t)
	ledger, err := json.Marshal(m.Ledger())
	if err != nil {
		t.Fatal(err)
	}
	weights, err := json.Marshal(m.Weights()[0])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"format": `"dpglm model"`, "version": "1", "library": `"0.1.0"`, "rows": "400", "unit": `{"of":"row","neighbours":"replace-one"}`, "epsilon": "1", "delta": "0.000001",
		"loss": `"logistic"`, "labels": `"binary"`, "link": `"logit"`, "columns": "3",
		"bounds": `{"feature":2,"intercept":true}`, "weights": string(weights), "ledger": string(ledger),
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "sum") // of all this
	for field, v := range got {
		if string(v) != want[field] {
			t.Errorf("%s is stored as %s, want %s", field, v, want[field])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d fields, want %d: %s", len(got), len(want), data)
	}
}

func TestModelRefusesNonsense(t *testing.T) {
	m, _ := given.Trained(t)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"columns":3`, `"columns":4`}, {`"columns":3`, `"columns":-1`}, {`"columns":3`, `"columns":0`},
		{`"weights":[`, `"weights":[1,`}, {`"link":"logit"`, `"link":"cauchit"`}, {`"labels":"binary"`, `"labels":""`},
		{`"feature":2`, `"feature":-2`}, {`"feature":2`, `"feature":2,"label":-5`}, {`"link":"logit"`, `"link":"log"`}, {`"loss":"logistic"`, `"loss":""`}, {`"bounds"`, `"bonds"`}, {`"ledger"`, `"ledgers"`}, {`"kind":"gaussian"`, `"kind":"none"`},
		{`"format":"dpglm model"`, `"format":"model"`}, {`"version":1`, `"version":2`}, {`"version":1,`, ``}, {`"loss"`, `"comment":"","loss"`}, {`"columns":3`, `"columns":3,"columns":3`},
		{`"rows":400`, `"rows":401`}, {`"unit":{"of":"row"`, `"unit":{"of":"person"`}, {`"unit":{"of":"row"`, `"unit":{"of":"rows"`}, {`"unit":{"of":"row","neighbours":"replace-one"},"rows"`, `"rows"`}, {`"unit":{"of":"row","neighbours":"replace-one"},"claim"`, `"claim"`}, {`"epsilon":1`, `"epsilon":0.1`}, {`"delta":0.000001`, `"delta":0`}, {`"columns"`, `"mu":1,"columns"`},
		{`"claim":{"rows":400,"epsilon":1,"delta":0.000001}`, `"claim":null`}, {`"bounds":{`, `"bounds":{"norm":3,`}, {`"weights":[`, `"weights":[null,`},
	} {
		bad := strings.Replace(string(data), c[0], c[1], 1)
		if bad == string(data) {
			t.Fatalf("%s is not in %s", c[0], data)
		}
		var back dpglm.Model
		if err := json.Unmarshal(resealed.JSON([]byte(bad)), &back); !errors.Is(err, dpglm.ErrModel) || strings.Count(err.Error(), dpglm.ErrModel.Error()) != 1 && c[0] != `"kind":"gaussian"` {
			t.Errorf("%s: got %v", c[1], err)
		}
	}
}

// A model that was neither trained nor decoded is an error, not a panic.
func TestEmptyModel(t *testing.T) {
	x := mat.NewDense(1, 1, nil)
	for _, m := range []*dpglm.Model{nil, new(dpglm.Model)} {
		_, scores := m.Scores(x)
		_, predict := m.Predict(x)
		_, probabilities := m.Probabilities(x)
		_, encoded := m.MarshalJSON()
		for _, err := range []error{scores, predict, probabilities, encoded, m.UnmarshalJSON([]byte("{}"))} {
			if !errors.Is(err, dpglm.ErrModel) {
				t.Error(err)
			}
		}
		if m.Weights() != nil || m.Ledger() != nil || m.String() != "empty model" {
			t.Errorf("%v has weights or a ledger", m)
		}
	}
}

// What the caller does to a schema after training does not reach the model.
func TestModelOwnsItsSchema(t *testing.T) {
	s := dpglm.Schema{Columns: []string{"a"}, Numeric: map[string][2]float64{"a": {0, 1}}}
	x := mat.NewDense(2, 1, []float64{0, 1})
	m, err := dpglm.NoisyGD(ctx, dataset(t, x, []float64{0, 1}, s), logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	before, errA := given.One(m.Scores(x))
	s.Numeric["a"], s.Columns[0] = [2]float64{0, 50}, "b"
	after, errB := given.One(m.Scores(x))
	if errA != nil || errB != nil || !slices.Equal(before, after) {
		t.Errorf("scores changed from %v to %v (%v, %v)", before, after, errA, errB)
	}
}

// A matrix that panics when it is first read is an error, and nothing hangs.
func TestPanickingMatrix(t *testing.T) {
	_, err := dpglm.NewDataset(broken{mat.NewDense(9000, 3, nil)}, make([]float64, 9000), dpglm.Bounds{Feature: 1})
	if !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("returned %v", err)
	}
}

type broken struct{ mat.Matrix }

func (broken) At(i, _ int) float64 {
	if i == 8000 {
		panic("broken")
	}
	return 0
}

func TestPredictBadInput(t *testing.T) {
	if _, err := new(dpglm.Model).Scores(mat.NewDense(1, 1, nil)); !errors.Is(err, dpglm.ErrModel) {
		t.Errorf("an empty model gives %v", err)
	}
	m, _ := given.Trained(t)
	for name, c := range map[string]struct {
		x    mat.Matrix
		want error
	}{
		"nil": {nil, dpglm.ErrConfig}, "width": {mat.NewDense(1, 2, nil), dpglm.ErrShape},
		"NaN": {mat.NewDense(1, 3, []float64{0, nan, 0}), dpglm.ErrValue},
	} {
		if _, err := m.Predict(c.x); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := m.Probabilities(c.x); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
