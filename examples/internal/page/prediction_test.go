package page

import (
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/forecast"
	"github.com/dpglm/dpglm/losses"
)

// foreseen is a forecast at three ε, the second of which is the page's.
func foreseen(t *testing.T, kind string) *forecast.Forecast {
	t.Helper()
	s := people(t, 10, kind).Encoder().Schema()
	p := forecast.Scenario{Table: &s, Rows: 1000, Delta: 1e-6, Repeats: 2, Problem: dpglm.Problem{Loss: losses.Squared{}}}
	if kind == "classes" {
		mean := 0.4
		p.Problem.Loss, p.LabelMean = losses.Logistic{}, &mean
	}
	f, err := p.At(t.Context(), []float64{0.3, 3, 30}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A prediction is shown as one that used no data, in a section of its own, with the
// forecast's numbers; without one the page says how to get it, and for levels it doesn't.
func TestPredictions(t *testing.T) {
	for _, kind := range []string{"classes", "numbers"} {
		c := contentOf(t, 1000, kind, false)
		without, _ := written(t, c)
		if !strings.Contains(without.text, "-mean") || strings.Contains(without.text, "a prediction") {
			t.Errorf("%s: a page without a forecast doesn't say how to get it", kind)
		}
		f := foreseen(t, kind)
		c.Forecast = f
		page, _ := written(t, c)
		checkElements(t, kind, page)
		checkSections(t, kind, page)
		var section *element
		for _, s := range page.all("section") {
			if s.attr["aria-labelledby"] == "prediction" {
				section = s
			}
		}
		if section == nil || section.attr["data-mark"] != "public" || !strings.Contains(section.text, "No data were used.") || strings.Contains(page.text, "-mean") {
			t.Fatalf("%s: no section that says what it is", kind)
		}
		charts := 1
		if kind == "classes" {
			charts = 2
		}
		if n := len(section.all("svg")); n != charts {
			t.Errorf("%s: %d charts", kind, n)
		}
		for k, e := range f.At {
			row := section.all("tr")[k+1].children
			if got := number(t, row[1].text); math.Abs(got/(f.Plain+e.Excess)-1) > 0.006 {
				t.Errorf("%s: a loss of %s, forecast %g", kind, row[1].text, f.Plain+e.Excess)
			}
			if got := len(row); got != 1+charts || charts == 2 && math.Abs(number(t, row[2].text)-100*(f.PlainAccuracy-e.AccuracyLost)) > 0.051 {
				t.Errorf("%s: %q, forecast %+v", kind, section.all("tr")[k+1].text, e)
			}
		}
		for _, svg := range section.all("svg") {
			if !strings.Contains(svg.text, "this ε") || len(svg.all("circle")) != 1 {
				t.Errorf("%s: the page's ε isn't marked", kind)
			}
		}
	}
	levels, _ := written(t, ordinalOf(t, 300))
	if strings.Contains(levels.text, "-mean") {
		t.Error("-mean isn't for levels")
	}
}

// Curves lie between the edges: what is far worse than a constant isn't drawn, nor what is no
// number, and a mark with it.
func TestCurvesStayInside(t *testing.T) {
	f := &forecast.Forecast{Rows: 10, Simulated: 5, Repeats: 2, LabelMean: 0.3, Plain: 0.5, Constant: 0.7, PlainAccuracy: math.NaN(), ConstantAccuracy: math.NaN(), At: []forecast.Expectation{
		{Epsilon: 0.25, Excess: math.Inf(1)}, {Epsilon: 0.5, Excess: 9}, {Epsilon: 1, Excess: 0.1}, {Epsilon: 2, Excess: 0.01},
	}}
	v := newPrediction(f, 0.5, "poisson")
	c := v.Charts[0]
	if len(v.Charts) != 1 || v.Of != "10" || v.Rows != "5" || v.Lines[0].Loss != "–" || len(c.Dots) != 0 {
		t.Errorf("%+v", v)
	}
	curve := strings.Fields(c.Lines[2].Points)
	if len(curve) != 3 || !strings.HasSuffix(curve[0], ",30") { // from the upper edge
		t.Errorf("the curve is %q", curve)
	}
	if marked := newPrediction(f, 1, "poisson").Charts[0]; len(marked.Dots) != 1 || marked.Dots[0].Y <= marked.Top || marked.Dots[0].Y >= marked.Bottom {
		t.Errorf("%+v", marked.Dots)
	}
}

// The axis of an accuracy ends at 100 % and begins a little below all that is drawn, also where
// features gain nothing or lose, as they do for rare classes.
func TestAccuracyEndsAtOne(t *testing.T) {
	for _, plain := range []float64{0.97, 0.969, 0.975, 1} {
		f := &forecast.Forecast{Rows: 10, Simulated: 5, Repeats: 2, LabelMean: 0.03, Plain: 0.1, Constant: 0.13, PlainAccuracy: plain, ConstantAccuracy: 0.97, At: []forecast.Expectation{
			{Epsilon: 0.25, AccuracyLost: plain - 0.74}, {Epsilon: 1, AccuracyLost: plain - 0.92}, {Epsilon: 4, AccuracyLost: plain - 0.969},
		}}
		c := newPrediction(f, 1, "logistic").Charts[1]
		last := c.YTicks[len(c.YTicks)-1]
		if c.high[1] != 1 || last.Text != "100"+space+"%" || last.At != c.Top || !(c.low[1] > 0.68 && c.low[1] < 0.74) || len(c.YTicks) < 3 {
			t.Errorf("without privacy %v: from %v to %v with ticks %v", plain, c.low[1], c.high[1], c.YTicks)
		}
		if curve := strings.Fields(c.Lines[2].Points); len(curve) != 3 {
			t.Errorf("without privacy %v: the curve is %q", plain, curve)
		}
	}
}
