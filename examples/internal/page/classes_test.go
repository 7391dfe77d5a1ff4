package page

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// levelled are rows whose label has hostile levels that ascend with the first column.
func levelled(t *testing.T, rows int) *table.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	s := table.Schema{Version: table.Version, Label: hostile[1], Missing: []string{}, Columns: []table.Column{
		{Name: hostile[0], Kind: table.Numeric, Range: []float64{0, 10}},
		{Name: hostile[2], Kind: table.Categorical, Levels: []string{"north", "south"}, Missing: table.MissingLevel},
		{Name: hostile[1], Kind: table.Categorical, Levels: hostile[3:], Reference: hostile[4], Ordered: true, Shares: []float64{1, 2, 1.5}},
	}}
	var b strings.Builder
	fmt.Fprintf(&b, "%s,\"%s\",%s\n", hostile[0], strings.ReplaceAll(hostile[1], `"`, `""`), hostile[2])
	for range rows {
		x := 10 * r.Float64()
		level := min(2, max(0, int((x+3*r.NormFloat64())/3.4)))
		fmt.Fprintf(&b, "%.3f,%s,%s\n", x, hostile[3+level], []string{"north", "south", ""}[r.IntN(3)])
	}
	read, err := table.ReadCSV(strings.NewReader(b.String()), s)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// classesOf fits softmax, and evaluates it on a part of the rows.
func classesOf(t *testing.T, rows int) Content {
	t.Helper()
	all, err := dpglm.NewTableDataset(levelled(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	data, held, err := all.Split(0.4, 1)
	if err != nil {
		t.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	m, err := dpglm.Softmax(t.Context(), data, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.ApproxDP(3, 1e-6), dpglm.SoftmaxConfig{}, env)
	if err != nil {
		t.Fatal(err)
	}
	e, err := dpglm.Evaluate(t.Context(), held, m, dpglm.ApproxDP(3, 1e-6), dpglm.EvaluateConfig{}, env)
	if err != nil {
		t.Fatal(err)
	}
	return Content{Data: "people.csv", Method: "softmax", Shape: data.Shape(), Model: m, Evaluation: e, Ledger: m.Ledger()}
}

// ordinalOf fits the same rows by one score, with intervals.
func ordinalOf(t *testing.T, rows int) Content {
	t.Helper()
	data, err := dpglm.NewTableDataset(levelled(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	loss, err := losses.OrdinalFromFractions(1, 2, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	found, err := dpglm.Infer(t.Context(), data, dpglm.Problem{Loss: loss}, dpglm.ApproxDP(3, 1e-6), dpglm.InferConfig{}, env)
	if err != nil {
		t.Fatal(err)
	}
	m := found.Model()
	return Content{Data: "people.csv", Method: "infer", Radius: 2, Shape: data.Shape(), Model: m, Inference: found, Ledger: m.Ledger()}
}

// Pages about several levels are as sound as others, and say what levels are compared with.
func TestPagesOfLevels(t *testing.T) {
	for name, c := range map[string]Content{"softmax": classesOf(t, 3000), "ordinal": ordinalOf(t, 3000), "too few rows": classesOf(t, 30)} {
		page, text := written(t, c)
		checkElements(t, name, page)
		checkSections(t, name, page)
		for _, want := range append([]string{"of 3 levels", "ascending; expected in the proportions 1 : 2 : 1.5"}, hostile...) {
			if !strings.Contains(page.text, want) {
				t.Errorf("%s: %q isn't on the page", name, want)
			}
		}
		if strings.Contains(page.text, "Constant model.") != (name == "too few rows") {
			t.Errorf("%s: the page should say whether the model is constant", name)
		}
		if strings.Contains(text, "range of the label") || strings.Contains(page.text, "weights’ norm") != (name == "ordinal") {
			t.Errorf("%s: facts of another kind of label:\n%s", name, page.text)
		}
		if strings.Contains(page.text, "over that of “"+hostile[4]+"”") == (name == "ordinal") {
			t.Errorf("%s: the page should say what coefficients are", name)
		}
	}
	none := classesOf(t, 30)
	none.Model = nil
	if err := Write(new(strings.Builder), none); err == nil {
		t.Error("a page about no model")
	}
}

// The tables have the model's coefficients, the reference's column left out: for a step of
// 2 in a range of 10, and per unit.
func TestCoefficientsOfClasses(t *testing.T) {
	c := classesOf(t, 3000)
	all, err := c.Model.Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	lists := slices.Collect(slices.Chunk(all, len(all)/3))
	page, _ := written(t, c)
	tables := page.all("table")
	for k, step := range []float64{2, 1} {
		rows := tables[k].all("tr")
		if want := 3 + k; len(rows)-1 != want { // the intercept has no step
			t.Fatalf("table %d has %d rows, want %d", k, len(rows)-1, want)
		}
		var got []string
		for _, cell := range append(rows[0].all("th")[1:], rows[1].all("td")...) {
			got = append(got, cell.text)
		}
		digits := 3 + k
		want := []string{hostile[3], hostile[5], significant(step*lists[0][0].Value, digits), significant(step*lists[2][0].Value, digits)}
		if !slices.Equal(got, want) {
			t.Errorf("table %d has %q, want %q", k, got, want)
		}
	}
}

// Figures of each level are the evaluation's, and shares of each level's rows add up; figures
// that drowned in the noise are named so. An ordinal model that has no evaluation asks for one.
func TestEvaluationsOfClasses(t *testing.T) {
	c := classesOf(t, 6000)
	page, _ := written(t, c)
	tables := page.all("table")
	recall, _ := c.Evaluation.ClassFigure(hostile[4], "recall")
	value, interval := estimate(recall.Value, recall.Low, recall.High)
	if row := tables[3].all("tr")[2]; row.all("th")[0].text != hostile[4] || row.all("td")[1].text != value+" "+interval {
		t.Errorf("of level 1: %q, recall %+v", row.text, recall)
	}
	for _, row := range tables[4].all("tr")[1:] {
		sum := 0
		for _, cell := range row.all("td") {
			n := 0
			if _, err := fmt.Sscan(cell.text, &n); err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		if sum < 99 || sum > 101 { // each is rounded
			t.Errorf("shares %q", row.text)
		}
	}
	if !strings.Contains(tables[2].text, "accuracy") || !strings.Contains(page.text, "mean AUC") {
		t.Errorf("figures of all: %q", tables[2].text)
	}
	if few, _ := written(t, classesOf(t, 30)); !strings.Contains(few.text, "not determined") || !strings.Contains(few.text, "Figures withheld: ") {
		t.Error("figures of 12 rows are shown")
	}
	if ordinal, _ := written(t, ordinalOf(t, 300)); !strings.Contains(ordinal.text, "-evaluate") || !strings.Contains(ordinal.text, "Not evaluated.") {
		t.Error("the page doesn't say how levels are evaluated")
	}
}
