package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"

	"gonum.org/v1/gonum/mat"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// The metrics of each kind of loss, by hand.
func TestOf(t *testing.T) {
	log2 := math.Log(2)
	left, whole := 2*(4*log2-2), 2*(math.Log(.4)+4*math.Log(1.6)) // of means 1 and 2 for counts 1 and 4
	for _, c := range []struct {
		loss losses.Loss
		z, y []float64
		want []Metric
	}{
		{losses.Logistic{}, []float64{math.Log(3), math.Log(3), -math.Log(3), -math.Log(3)}, []float64{1, 0, 0, 0}, []Metric{
			{"log_loss", (3*math.Log(4./3) + math.Log(4)) / 4}, {"auc", 5. / 6}, {"calibration_slope", math.NaN()}, {"mean_error", .25}, {"accuracy", .75}}},
		{losses.Hinge{}, []float64{2, .5, 3}, []float64{1, 1, 0}, []Metric{{"accuracy", 2. / 3}, {"auc", 0}, {"mean_loss", 4.5 / 3}}},
		{losses.Poisson{}, []float64{0, log2}, []float64{1, 4}, []Metric{{"deviance", left / 2}, {"deviance_explained", 1 - left/whole}, {"mean_error", -1}}},
		{losses.Absolute{}, []float64{1, 3, 3, 4}, []float64{1, 2, 3, 6}, []Metric{{"r2", 1 - 5./14}, {"rmse", math.Sqrt(5. / 4)}, {"mean_error", -.25}, {"mean_loss", .75}}},
	} {
		got := Of(c.loss, c.z, c.y)
		if len(got) != len(c.want) {
			t.Fatalf("%s: %v, want %v", c.loss.Name(), got, c.want)
		}
		for i, want := range c.want {
			undefined := got[i].Name == want.Name && !got[i].Defined() && !want.Defined()
			if !undefined && (got[i].Name != want.Name || !near(got[i].Value, want.Value, 1e-12)) {
				t.Errorf("%s: %v, want %v", c.loss.Name(), got[i], want)
			}
		}
		signed := Of(c.loss, c.z, signs(c.y))
		if c.loss.Labels() == losses.Binary && !slices.EqualFunc(got, signed, same) {
			t.Errorf("%s: labels 0 and 1 have %v, −1 and 1 have %v", c.loss.Name(), got, signed)
		}
		c.z[0] = math.NaN()
		for _, m := range Of(c.loss, c.z, c.y) {
			if m.Defined() {
				t.Errorf("%s: %v of a score that is no number", c.loss.Name(), m)
			}
		}
	}
}

func same(a, b Metric) bool {
	return a == b || a.Name == b.Name && !a.Defined() && !b.Defined()
}

func TestPrinting(t *testing.T) {
	for value, want := range map[float64]string{.25: "0.2500", -999: "-999.0000", 123456: "1.235e+05", math.Inf(1): "+Inf"} {
		if got := (Metric{"rmse", value}).String(); got != want {
			t.Errorf("%v prints as %s, want %s", value, got, want)
		}
	}
	if got := (Metric{"auc", math.NaN()}).String(); got != "–" {
		t.Errorf("no value prints as %s", got)
	}
}

func TestValueByName(t *testing.T) {
	m := []Metric{{"a", 1}, {"b", 2}}
	if Value(m, "b") != 2 || !math.IsNaN(Value(m, "c")) {
		t.Errorf("b is %v and c is %v, want 2 and none", Value(m, "b"), Value(m, "c"))
	}
}

func TestAccuracyTakesClassesAndScores(t *testing.T) {
	for _, c := range []struct {
		name         string
		predicted, y []float64
		want         float64
	}{
		{"classes", []float64{0, 1, 1, 0}, []float64{0, 1, 0, 0}, .75},
		{"scores and signs", []float64{-3, .1, 0, 9}, []float64{-1, 1, 1, -1}, .5},
	} {
		if got := Accuracy(c.predicted, c.y); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAUCCountsPairs(t *testing.T) {
	scores := []float64{2, 1, 1, 3, 1, 0, 2, 2, -1}
	y := []float64{1, 0, 1, 1, 0, 0, 0, 1, 1}
	var wins, pairs float64
	for i := range y {
		for j := range y {
			if y[i] == 1 && y[j] == 0 {
				pairs++
				if scores[i] > scores[j] {
					wins++
				} else if scores[i] == scores[j] {
					wins += .5
				}
			}
		}
	}
	if got := AUC(scores, y); !near(got, wins/pairs, 1e-12) {
		t.Errorf("AUC = %v, want %v", got, wins/pairs)
	}
	if got := AUC([]float64{5, 5, 5}, []float64{1, -1, 1}); got != .5 {
		t.Errorf("all ties: %v, want .5", got)
	}
	if got := AUC([]float64{1, 2}, []float64{1, 1}); !math.IsNaN(got) {
		t.Errorf("one class has no AUC, got %v", got)
	}
}

func TestLogLoss(t *testing.T) {
	z := math.Log(3) // probabilities ¾ and ¼
	if got, want := LogLoss([]float64{z, z}, []float64{1, 0}), (math.Log(4./3)+math.Log(4))/2; !near(got, want, 1e-12) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := LogLoss([]float64{-30}, []float64{1}); !near(got, 30, 1e-12) {
		t.Errorf("before saturation: %v, want 30", got)
	}
	for _, z := range []float64{1000, math.Inf(1)} {
		if got, want := LogLoss([]float64{-z, z}, []float64{1, 0}), -math.Log(1e-15); got != want {
			t.Errorf("scores of ±%v: %v, want %v", z, got, want)
		}
		if got := LogLoss([]float64{-z, z}, []float64{0, 1}); got != 0 {
			t.Errorf("scores of ±%v that are right: %v, want 0", z, got)
		}
	}
}

// Of two scores, each has its rate of ones as its fitted probability.
func TestCalibrationSlopeOfTwoScores(t *testing.T) {
	z := []float64{-2, -2, -2, -2, 1, 1, 1, 1, 1}
	y := []float64{1, 0, 0, 0, 1, 1, 1, 1, 0}
	want := (math.Log(4) - math.Log(1./3)) / 3
	if got := CalibrationSlope(z, y); !near(got, want, 1e-10) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The slope says by what scores must be multiplied, wherever they lie.
func TestCalibrationSlopeScales(t *testing.T) {
	z, y := drawn(4000, 1, 1)
	slope := CalibrationSlope(z, y)
	// One standard error of the slope is about .04; the seed is fixed.
	if !near(slope, 1, .12) {
		t.Errorf("labels drawn by the scores have the slope %v, want about 1", slope)
	}
	for _, c := range []struct{ factor, shift float64 }{{3, 0}, {-.5, 7}, {1e-4, -1e-3}, {1e6, 1e8}} {
		moved := make([]float64, len(z))
		for i, v := range z {
			moved[i] = c.factor*v + c.shift
		}
		if got := c.factor * CalibrationSlope(moved, y); !near(got, slope, 1e-6*slope) {
			t.Errorf("scores times %v plus %v: %v, want %v", c.factor, c.shift, got, slope)
		}
	}
}

// drawn are normal scores, and labels of that log-odds times a slope.
func drawn(n int, slope float64, seed uint64) (z, y []float64) {
	r := rand.New(mechanisms.NewSeededSource(seed))
	for range n {
		v := r.NormFloat64()
		z, y = append(z, v), append(y, 0)
		if r.Float64() < 1/(1+math.Exp(-slope*v)) {
			y[len(y)-1] = 1
		}
	}
	return z, y
}

// Nearly separated classes and rare ones have a slope, if a steep one.
func TestCalibrationSlopeConverges(t *testing.T) {
	z, y := make([]float64, 1000), make([]float64, 1000)
	for i := range z {
		z[i] = float64(i)
		if i >= 500 {
			y[i] = 1
		}
	}
	y[498], y[502] = 1, 0
	if got := CalibrationSlope(z, y); !(got > .1 && got < 10) {
		t.Errorf("nearly separated: %v", got)
	}
	rare := make([]float64, 1000)
	rare[700] = 1
	if got := CalibrationSlope(z, rare); !(got > 0 && got < .01) {
		t.Errorf("one in a thousand: %v", got)
	}
}

func TestNoCalibrationSlope(t *testing.T) {
	for _, c := range []struct {
		name string
		z, y []float64
	}{
		{"one class", []float64{1, 2, 3}, []float64{1, 1, 1}},
		{"equal scores", []float64{2, 2, 2}, []float64{1, 0, 1}},
		{"separated", []float64{1, 2, 3}, []float64{0, 0, 1}},
		{"separated, the wrong way", []float64{1, 2, 3}, []float64{1, 0, 0}},
		{"touching", []float64{1, 2, 2, 3}, []float64{0, 0, 1, 1}},
		{"infinite", []float64{1, math.Inf(1), 2, 3}, []float64{1, 0, 0, 1}},
		{"not a number", []float64{1, math.NaN(), 2, 3}, []float64{1, 0, 0, 1}},
		{"overflow", []float64{-1e300, 1e300, 2, 3}, []float64{1, 0, 0, 1}},
	} {
		if got := CalibrationSlope(c.z, c.y); !math.IsNaN(got) {
			t.Errorf("%s: %v, want none", c.name, got)
		}
	}
}

// On the rows it was fitted to, a maximum likelihood fit has slope 1 and no mean
// error, and a constant explains nothing.
func TestFitsAreCalibrated(t *testing.T) {
	z, y := drawn(2000, 2, 2)
	x := baseline.Dense{Dense: mat.NewDense(len(z), 1, z)}
	counts := make([]float64, len(y))
	for i := range y {
		counts[i] = y[i] + float64(i%2)
	}
	for _, c := range []struct {
		loss losses.Loss
		y    []float64
		want map[string]float64
	}{
		{losses.Logistic{}, y, map[string]float64{"calibration_slope": 1, "mean_error": 0}},
		{losses.Poisson{}, counts, map[string]float64{"mean_error": 0}},
		{losses.Squared{}, counts, map[string]float64{"mean_error": 0}},
	} {
		model, err := baseline.Fit(x, c.y, c.loss)
		if err != nil {
			t.Fatal(err)
		}
		got := Of(c.loss, model.Scores(x), c.y)
		for name, want := range c.want {
			if v := Value(got, name); !near(v, want, 1e-8) {
				t.Errorf("%s: %s is %v, want %v", c.loss.Name(), name, v, want)
			}
		}
		constant := slices.Repeat([]float64{baseline.Constant(c.y, c.loss)}, len(c.y))
		for _, m := range Of(c.loss, constant, c.y) {
			nothing := map[string]float64{"auc": .5, "r2": 0, "deviance_explained": 0, "mean_error": 0}
			if want, ok := nothing[m.Name]; ok && !near(m.Value, want, 1e-9) {
				t.Errorf("%s: the constant's %s is %v, want %v", c.loss.Name(), m.Name, m.Value, want)
			}
			if fitted := Value(got, m.Name); LowerIsBetter(m.Name) && fitted >= m.Value {
				t.Errorf("%s: the fit has %s %v, the constant %v", c.loss.Name(), m.Name, fitted, m.Value)
			}
		}
	}
}

func TestDegenerateLabels(t *testing.T) {
	if got := R2([]float64{1, 2}, []float64{4, 4}); !math.IsNaN(got) {
		t.Errorf("equal labels have R² %v, want none", got)
	}
	if got := DevianceExplained([]float64{1, 2}, []float64{4, 4}); !math.IsNaN(got) {
		t.Errorf("equal counts have a deviance explained of %v, want none", got)
	}
}

// A mean that rounds to 0 or +Inf is bad, and finite.
func TestDevianceOfExtremeMeans(t *testing.T) {
	if got, want := Deviance([]float64{0, 2}, []float64{3, 2}), 3*math.Log(3e15)-3; !near(got, want, 1e-9) {
		t.Errorf("a mean of 0: %v, want %v", got, want)
	}
	if got, want := Deviance([]float64{math.Inf(1)}, []float64{0}), 2e15; got != want {
		t.Errorf("an infinite mean: %v, want %v", got, want)
	}
	if got := Deviance([]float64{3, 1e-15}, []float64{3, 0}); !near(got, 0, 1e-14) {
		t.Errorf("means that are right: %v, want 0", got)
	}
}
