package page

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
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

// line is the text of the cells of a table's row that begins with a name.
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
	c := contentOf(t, 6000, "classes", true)
	page, _ := written(t, c)
	e := c.Evaluation
	for name, of := range map[string]struct {
		v     dpglm.Interval
		times float64
	}{"accuracy": {e.Accuracy, 100}, "AUC": {e.AUC, 1}, "rate": {e.Rate, 100}, "log-loss": {e.LogLoss, 1}, "Brier": {e.Brier, 1},
		"calibration intercept": {e.CalibrationIntercept, 1}, "calibration slope": {e.CalibrationSlope, 1}} {
		got := cells(page, 2, name)
		if len(got) != 3 {
			t.Fatalf("%s: %q", name, got)
		}
		low, high, _ := strings.Cut(strings.Trim(strings.TrimSuffix(got[2], space+"%"), "[]"), ","+space)
		half := of.times * (of.v.High - of.v.Low) / 2
		if !near(t, got[1], of.times*of.v.Value, half) || !near(t, low, of.times*of.v.Low, half) || !near(t, high, of.times*of.v.High, half) {
			t.Errorf("%s: %q, want %+v", name, got, of.v)
		}
	}
	if c.Inference.Coefficients()[0].Undetermined() {
		t.Fatal("the first coefficient should be determined")
	}
	for _, k := range c.Inference.Coefficients() {
		got := cells(page, 1, k.Name)
		if k.Undetermined() {
			if len(got) != 3 || got[2] != "not determined" {
				t.Errorf("%s: %q", k.Name, got)
			}
			continue
		}
		if len(got) != 6 || !near(t, got[1], k.Estimate, (k.High-k.Low)/2) || math.Abs(number(t, got[2])/k.StandardError-1) > 0.06 {
			t.Errorf("%s: %q, want %+v", k.Name, got, k)
		}
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
}

// Numbers are rounded to what their intervals carry, and bounds up.
func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{significant(0.9999999, 3), "1.00"}, {significant(-12345.6, 3), "−12346"}, {significant(2.5e-7, 2), "2.5 × 10⁻⁷"},
		{atMost(1.2341, 3), "1.24"}, {atMost(0.99999999999, 3), "1"}, {atMost(2.951e-7, 3), "2.96 × 10⁻⁷"}, {atMost(54.31, 3), "54.4"},
		{fixed(-0.0001, 2), "0.00"}, {fixed(-1.5, 1), "−1.5"}, {plain(-28155), "−28,155"}, {plain(0.05), "0.05"}, {grouped(999), "999"},
	} {
		if strings.ReplaceAll(c.got, space, " ") != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if value, interval := estimate(0.352262, 0.3412, 0.3631); value != "0.352" || interval != "[0.341,"+space+"0.363]" {
		t.Errorf("%s %s", value, interval)
	}
}
