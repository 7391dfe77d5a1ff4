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

// aged infers from made-up rows whose schema states steps of 15 years and of 90 days.
func aged(t *testing.T) Content {
	t.Helper()
	s := table.Schema{Version: table.Version, Label: "ill", Columns: []table.Column{
		{Name: "age", Kind: table.Numeric, Range: []float64{0, 100}, Per: 15},
		{Name: "day", Kind: table.Date, Origin: "2020-01-01", From: "2020-01-01", To: "2020-12-31", Per: 90},
		{Name: "ill", Kind: table.Binary, Positive: []string{"1"}, Negative: []string{"0"}},
	}}
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("age,day,ill\n")
	for range 4000 {
		age, ill := r.IntN(100), 0
		if r.IntN(100) < age {
			ill = 1
		}
		fmt.Fprintf(&b, "%d,2020-%02d-01,%d\n", age, 1+r.IntN(12), ill)
	}
	read, err := table.ReadCSV(strings.NewReader(b.String()), s)
	if err != nil {
		t.Fatal(err)
	}
	data, err := dpglm.NewTableDataset(read)
	if err != nil {
		t.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	found, err := dpglm.Infer(t.Context(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(3, 1e-6), dpglm.InferConfig{}, env)
	if err != nil {
		t.Fatal(err)
	}
	m := found.Model()
	return Content{Data: "aged.csv", Method: "infer", Radius: 2, Shape: data.Shape(), Model: m, Inference: found, Ledger: m.Ledger()}
}

// What is drawn is for the schema's steps, and tables have a line for each beside that per unit.
func TestStepsAreShown(t *testing.T) {
	c := aged(t)
	page, _ := written(t, c)
	tables := page.all("table")
	list := c.Inference.Coefficients()
	age, _ := list[0].PerStep()
	value, interval := estimate(15*list[0].Estimate, 15*list[0].Low, 15*list[0].High)
	odds, ends := ratio(age.Estimate, age.Low, age.High, true)
	drawn := tables[0].all("tr")[1:]
	if got := drawn[0].all("th")[0].text + " " + drawn[1].all("th")[0].text; got != "age per 15 day per 90 days" {
		t.Errorf("drawn are %q", got)
	}
	if cells := drawn[0].all("td"); cells[1].text != value+" "+interval || cells[2].text != odds+" "+ends {
		t.Errorf("drawn is %q, %q, want %s %s, %s %s", cells[1].text, cells[2].text, value, interval, odds, ends)
	}
	for k, want := range [][]string{{"age", "age (per 15)", "day", "day (per 90)", "(Intercept)"}, {"age", "age (per 15)", "day", "day (per 90)"}} {
		var got []string
		for _, row := range tables[k+1].all("tr")[1:] {
			got = append(got, row.all("th")[0].text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("table %d has %q, want %q", k+1, got, want)
		}
	}
	var got []string
	for _, cell := range tables[1].all("tr")[2].all("td") {
		got = append(got, cell.text)
	}
	want := []string{value, significant(15*list[0].StandardError, 2), fixed(list[0].Z, 1), pValue(list[0].P), interval, odds + " " + ends}
	if !slices.Equal(got, want) {
		t.Errorf("per 15 years: %q, want %q", got, want)
	}
	if v, err := newEffects(c.Model, c.Inference); err != nil || v.Count() != 3 {
		t.Errorf("%d coefficients, of 2 columns and an intercept (%v)", v.Count(), err)
	}
	for _, says := range []string{"also for the step that the schema states", "or one step, on average", "coefficients shown per 15, too"} {
		if !strings.Contains(page.text, says) {
			t.Errorf("the page doesn't say %q", says)
		}
	}
}
