package page

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// number reads what the page shows.
func number(t *testing.T, text string) float64 {
	t.Helper()
	text = strings.NewReplacer(minus, "-", space, "", "%", "", ",", "").Replace(text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("%q is no number", text)
	}
	return v
}

// near reports whether a figure is what the page shows of it: to two digits of the
// interval's half width.
func near(t *testing.T, shown string, want, half float64) bool {
	return math.Abs(number(t, shown)-want) <= 0.05*half+1e-12
}

// cells are the texts of the cells of a table's row that begins with a name.
func cells(page *element, table int, name string) []string {
	for _, row := range page.all("table")[table].all("tr") {
		if len(row.children) == 0 || !strings.HasPrefix(row.children[0].text, name) {
			continue
		}
		var out []string
		for _, c := range row.children {
			out = append(out, c.text)
		}
		return out
	}
	return nil
}

// The figures are the evaluation's, and the coefficients the inference's.
func TestFiguresAreThoseReleased(t *testing.T) {
	c := contentOf(t, 8000, "classes", true)
	page, text := written(t, c)
	e := c.Evaluation
	for _, v := range e.Figures {
		name, times := v.Name, 1.0
		if v.Unit == "fraction" {
			times = 100
		}
		got := cells(page, 3, name)
		if len(got) != 3 {
			t.Fatalf("%s: %q", name, got)
		}
		low, high, _ := strings.Cut(strings.Trim(strings.TrimSuffix(got[2], space+"%"), "[]"), ","+space)
		half := times * (v.High - v.Low) / 2
		if !near(t, got[1], times*v.Value, half) || !near(t, low, times*v.Low, half) || !near(t, high, times*v.High, half) {
			t.Errorf("%s: %q, want %+v", name, got, v)
		}
	}
	if len(e.Figures) != 7 {
		t.Errorf("%d figures", len(e.Figures))
	}
	if c.Inference.Coefficients()[0].Undetermined() {
		t.Fatal("the first coefficient should be determined")
	}
	effects, err := c.Inference.MarginalEffects()
	if err != nil || len(effects) == 0 {
		t.Fatal(effects, err)
	}
	for _, k := range c.Inference.Coefficients() {
		got := cells(page, 1, k.Name)
		if k.Undetermined() {
			if len(got) != 4 || got[2] != "not determined" || got[3] != "" || !strings.Contains(text, ">"+k.Name+`</th><td class="number soft">`) { // in grey
				t.Errorf("%s: %q", k.Name, got)
			}
			continue
		}
		if len(got) != 7 || !near(t, got[1], k.Estimate, (k.High-k.Low)/2) || math.Abs(number(t, got[2])/k.StandardError-1) > 0.06 {
			t.Errorf("%s: %q, want %+v", k.Name, got, k)
		}
		if at := slices.IndexFunc(effects, func(c dpglm.Coefficient) bool { return c.Name == k.Name }); at >= 0 {
			e := k.Exp()
			odds, _, _ := strings.Cut(got[6], " ")
			marginal := cells(page, 2, k.Name)
			if !near(t, odds, e.Value, (e.High-e.Low)/2) || len(marginal) != 6 || !near(t, marginal[1], effects[at].Estimate, (effects[at].High-effects[at].Low)/2) {
				t.Errorf("%s: %q, %q, want %v and %+v", k.Name, got[6], marginal, e, effects[at])
			}
		}
	}
}

// The page says which columns have no marginal effect, and has no lines for them.
func TestEffectsLeftOut(t *testing.T) {
	c := contentOf(t, 8000, "classes", true)
	page, _ := written(t, c)
	effects, err := c.Inference.MarginalEffects()
	if err != nil {
		t.Fatal(err)
	}
	left := slices.ContainsFunc(page.all("p"), func(p *element) bool {
		return strings.HasPrefix(p.text, "Effects of "+hostile[0]+", income are left out: they stand in squares")
	})
	if !left || len(effects) != 2 || cells(page, 2, "log(income)") != nil {
		t.Errorf("effects are of %+v, and that columns are left out is said: %v", effects, left)
	}
}

// A forest plot has a point for what is determined and none for what isn't, in the place
// of its value; levels lie under their column with the reference among them.
func TestForest(t *testing.T) {
	c := contentOf(t, 6000, "classes", true)
	v, err := newEffects(c.Model, c.Inference)
	if err != nil {
		t.Fatal(err)
	}
	var shape []string
	for _, e := range v.Rows {
		kind := "value"
		switch {
		case e.Heading:
			kind = "heading"
		case e.Reference:
			kind = "reference"
		case e.Inside:
			kind = "level"
		}
		shape = append(shape, kind+" "+e.Name+" "+e.Unit)
		if e.drawn() && !e.Reference && (e.At < e.From || e.At > e.To || (e.value > 0) != (e.At > v.Zero)) {
			t.Errorf("%s: drawn at %g from %g to %g, zero at %g", e.Name, e.At, e.From, e.To, v.Zero)
		}
	}
	want := []string{"value " + hostile[0] + " per 2", "value " + hostile[0] + "² 2 squared", "heading " + hostile[2] + " ", "reference " + hostile[4] + " ",
		"level " + hostile[3] + " ", "level " + hostile[5] + " ", "value log(income) per doubling", "value income=missing against known"}
	if got := strings.Join(shape, "|"); got != strings.Join(want, "|") {
		t.Errorf("rows\n%s, want\n%s", got, strings.Join(want, "|"))
	}
	few := contentOf(t, 40, "classes", true)
	page, _ := written(t, few)
	for _, circle := range page.all("table")[0].all("circle") {
		if circle.attr["class"] == "point" {
			t.Error("a coefficient is drawn that isn't determined")
		}
	}
	if v, err = newEffects(few.Model, few.Inference); err != nil || v.Undetermined != len(v.Coefficients) {
		t.Errorf("%d of %d aren't determined (%v)", v.Undetermined, len(v.Coefficients), err)
	}
	if note := few.Inference.Note(); note == "" || v.Note != note {
		t.Errorf("the page says %q, the inference %q", v.Note, note)
	}
}

// Numbers are rounded to what their intervals carry, and bounds up.
func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{significant(0.9999999, 3), "1.00"}, {significant(-12345.6, 3), "−12346"}, {significant(2.5e-7, 2), "2.5 × 10⁻⁷"},
		{atMost(1.2341, 3), "1.24"}, {atMost(0.99999999999, 3), "1"}, {atMost(2.951e-7, 3), "2.96 × 10⁻⁷"}, {atMost(54.31, 3), "54.4"},
		{fixed(-0.0001, 2), "0.00"}, {fixed(-1.5, 1), "−1.5"}, {plain(-28155), "−28,155"}, {plain(5e9), "5,000,000,000"}, {plain(0.05), "0.05"}, {grouped(999), "999"},
	} {
		if strings.ReplaceAll(c.got, space, " ") != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if value, interval := estimate(0.352262, 0.3412, 0.3631); value != "0.352" || interval != "[0.341,"+space+"0.363]" {
		t.Errorf("%s %s", value, interval)
	}
}

// Of many coefficients a page shows the largest, in their order, and says so; without a
// schema they have names only.
func TestManyCoefficients(t *testing.T) {
	const columns = mostEffects + 50
	r := rand.New(rand.NewPCG(3, 4))
	x, y := mat.NewDense(200, columns, nil), make([]float64, 200)
	for i := range y {
		for j := range columns {
			x.Set(i, j, r.Float64())
		}
		y[i] = float64(i % 2)
	}
	d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 20, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.NoisyGD(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{Steps: 2},
		&dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	list, err := m.Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	shown := largest(list)
	least := math.Inf(1)
	for _, at := range shown {
		least = math.Min(least, math.Abs(list[at].Value))
	}
	for at, c := range list[:columns] {
		if math.Abs(c.Value) > least && !slices.Contains(shown, at) {
			t.Errorf("%s = %g isn't shown, and %g is", c.Name, c.Value, least)
		}
	}
	page, text := written(t, Content{Data: "x", Shape: d.Shape(), Model: m, Ledger: m.Ledger()})
	if rows := page.all("table")[0].all("tbody")[0].all("tr"); len(rows) != mostEffects || !slices.IsSorted(shown) || !strings.Contains(text, "200 largest of 250 coefficients") {
		t.Errorf("%d rows", len(rows))
	}
}

// A budget for groups is said to be one, with what it is for them.
func TestGroups(t *testing.T) {
	l, err := mechanisms.Gaussian{Mu: 0.2}.Ledger("g", 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	claim := mechanisms.Claim{Rows: 9, Epsilon: 2, Delta: 1e-6, Group: 3}
	g, err := newGuarantee(l.WithClaim(claim), claim, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := l.Epsilon(1e-6)
	three, _ := l.GroupEpsilon(3, 1e-6)
	if !strings.Contains(g.Group, "any 3 rows") || !strings.Contains(g.Group, "ε = "+atMost(three, 3)+" ") || g.Epsilon != atMost(one, 3) || !strings.Contains(g.Profile.Description, "the pair of one alone") {
		t.Errorf("%s; ε = %s; %s", g.Group, g.Epsilon, g.Profile.Description)
	}
}

// Persons with several rows learn what the guarantee is for all of theirs.
func TestPersons(t *testing.T) {
	l, err := mechanisms.Gaussian{Mu: 0.4}.Ledger("g", 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	claim := mechanisms.Claim{Rows: 9, Epsilon: 2, Delta: 1e-6}
	three, _ := l.GroupEpsilon(3, 1e-6)
	text, err := personOf(l, claim, table.Schema{Person: "patient", MaxRows: 3})
	if err != nil || !strings.Contains(text, "“patient”") || !strings.Contains(text, "up to 3 rows") || !strings.Contains(text, "ε = "+atMost(three, 3)+" ") {
		t.Errorf("%s (%v), want ε = %g", text, err, three)
	}
	if l, err = l.WithUnit(mechanisms.OnePerson()); err != nil {
		t.Fatal(err)
	}
	text, err = personOf(l, claim, table.Schema{Person: "patient", MaxRows: 3})
	if err != nil || !strings.Contains(text, "for all rows of one person, however many") || strings.Contains(text, "ε") || !strings.Contains(text, "Each row counts alike") {
		t.Errorf("%s (%v)", text, err)
	}
	claim.Alike = true
	if text, err = personOf(l, claim, table.Schema{Person: "patient", MaxRows: 3}); err != nil || !strings.Contains(text, "a mean over persons, not over rows") {
		t.Errorf("%s (%v)", text, err)
	}
	if text, err = personOf(l, claim, table.Schema{}); text != "" || err != nil {
		t.Errorf("%s (%v)", text, err)
	}
}

// A page about persons says persons wherever the guarantee is meant, and has no number of
// rows, which is private; one about rows says rows.
func TestPageOfPersons(t *testing.T) {
	const persons, each = 150, 3
	var b strings.Builder
	b.WriteString("who,x,y\n")
	for i := range persons * each {
		fmt.Fprintf(&b, "p%d,%d,%d\n", i/each, i%10, i%10/5)
	}
	s := table.Schema{Version: table.Version, Label: "y", Person: "who", MaxRows: 2, Columns: []table.Column{{Name: "who", Kind: table.ID},
		{Name: "x", Kind: table.Numeric, Range: []float64{0, 9}}, {Name: "y", Kind: table.Binary, Positive: []string{"1"}, Negative: []string{"0"}}}}
	for _, ofPersons := range []bool{true, false} {
		if !ofPersons {
			s.Person, s.MaxRows, s.Columns[0].Kind = "", 0, table.Ignored
		}
		read, err := table.ReadCSV(strings.NewReader(b.String()), s)
		if err != nil {
			t.Fatal(err)
		}
		d, err := dpglm.NewTableDataset(read)
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.Auto(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
		if err != nil {
			t.Fatal(err)
		}
		page, text := written(t, Content{Data: "x", Shape: d.Shape(), Model: m, Ledger: m.Ledger()})
		of := map[bool][]string{
			true: {"all rows of one of the 150 persons hold, however many", "each protected with all rows", "persons to train on", "two equally likely persons",
				"of the persons.", "a given person’s rows", "how far all rows of one person", "This holds for each person"},
			false: {"one of the 450 rows holds", "each protected", "rows to train on", "two equally likely rows", "of the rows.", "a given row", "how far one row", "This holds for each row"},
		}
		for _, want := range of[ofPersons] {
			if !strings.Contains(page.text, want) {
				t.Errorf("persons %v: no %q on the page", ofPersons, want)
			}
		}
		for k, other := range of[!ofPersons] {
			if k != 1 && strings.Contains(page.text, other) { // the second begins alike
				t.Errorf("persons %v: %q on the page", ofPersons, other)
			}
		}
		if ofPersons && strings.Contains(text, "450") {
			t.Error("the page has the number of rows, which is private")
		}
	}
}

// Every rule of a schema is said.
func TestColumnsAreDescribed(t *testing.T) {
	above := 600.0
	s := table.Schema{Label: "wage", Person: "who", MaxRows: 2}
	for want, c := range map[string]table.Column{
		"a||1 to 1,000; as logarithm|a feature of its own":                    {Name: "a", Kind: table.Numeric, Range: []float64{1, 1000}, Log: true, Missing: table.MissingIndicator},
		"b||−4 to 0.5; with its square|refused":                               {Name: "b", Kind: table.Numeric, Range: []float64{-4, 0.5}, Square: true},
		"c||0 to 9; cubic spline with knots at 3, 6|reads as 5":               {Name: "c", Kind: table.Numeric, Range: []float64{0, 9}, Knots: []float64{3, 6}, Missing: table.MissingConstant, Constant: "5"},
		"d||x, y (reference: y); others read as x|a level of its own":         {Name: "d", Kind: table.Categorical, Levels: []string{"x", "y"}, Reference: "y", Other: "x", Missing: table.MissingLevel},
		"e||yes/Y, or no; in any case of letters|refused":                     {Name: "e", Kind: table.Binary, Positive: []string{"yes", "Y"}, Negative: []string{"no"}, FoldCase: true},
		"f||2020-01-01 to 2021-01-01, in days from 2019-01-01|refused":        {Name: "f", Kind: table.Date, Origin: "2019-01-01", From: "2020-01-01", To: "2021-01-01"},
		"p||0 to 90; coefficients shown per 10, too|refused":                  {Name: "p", Kind: table.Numeric, Range: []float64{0, 90}, Per: 10},
		"h||x, y (reference: none of them); each a column of 0 and 1|refused": {Name: "h", Kind: table.OneHot, Levels: []string{"x", "y"}},
		"wage|label|yes above 600, no up to it|refused":                       {Name: "wage", Kind: table.Binary, Above: &above},
		"who|person|whose row it is; at most 2 rows of each person count|":    {Name: "who", Kind: table.ID},
		"g|not used||": {Name: "g", Kind: table.Ignored},
	} {
		d := describe(s, c)
		if got := d.Name + "|" + d.Role + "|" + d.Values + "|" + d.Missing; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
