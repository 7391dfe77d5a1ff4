package task

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// source writes a file of eight labels and its schema, and returns its source.
func source(t *testing.T, label string, args ...string) (*Source, *bytes.Buffer, error) {
	t.Helper()
	dir := t.TempDir()
	data, schema := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.json")
	for path, text := range map[string]string{
		data:   "y,x,z\n0,1,1\n1,2,1\n2,3,1\n4,4,1\n8,5,1\n16,6,1\n32,7,1\n64,8,1\n",
		schema: `{"version": 1, "label": "y", "columns": [{"name": "x", "kind": "numeric", "range": [0, 9]}, {"name": "y", ` + label + `}]}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, stderr := flag.NewFlagSet("test", flag.ContinueOnError), new(bytes.Buffer)
	s := NewSource(f)
	if _, err := Parse(f, append([]string{"-data", data, "-schema", schema}, args...), io.Discard); err != nil {
		t.Fatal(err)
	}
	s.HeldOut = 0.25
	return s, stderr, s.ResolveData("test", stderr)
}

// The constant is that of the training rows, scored on the others; the same seed has the
// same split, and what is odd about the file is said once.
func TestConstantIsFittedToTrainingRows(t *testing.T) {
	s, stderr, err := source(t, `"kind": "numeric", "range": [0, 64]`)
	if err != nil {
		t.Fatal(err)
	}
	const sum = 127.0
	var held []float64
	for range 2 {
		trial, err := s.Trial(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(trial.Held) != 2 || trial.Train.Shape().Rows != 6 || trial.Delta != 0.0680414 || held != nil && !slices.Equal(trial.Held, held) {
			t.Fatalf("%v of %v, before %v", trial.Held, trial.Train, held)
		}
		held = trial.Held
		if got, want := metrics.Value(trial.Constant(), "mean_error"), (sum-held[0]-held[1])/6-(held[0]+held[1])/2; math.Abs(got-want) > 1e-9 {
			t.Errorf("labels %v held out: mean error %v, want %v", held, got, want)
		}
	}
	if strings.Count(stderr.String(), `left out: "z"`) != 1 {
		t.Errorf("on stderr: %s", stderr)
	}
}

// The loss is for the label's kind, or refused before the data are read.
func TestLossSuitsTheLabel(t *testing.T) {
	for _, c := range []struct{ label, loss, want, says string }{
		{`"kind": "numeric", "range": [0, 64]`, "", "squared", ""},
		{`"kind": "count", "cap": 64`, "", "poisson", ""},
		{`"kind": "binary", "above": 4`, "", "logistic", ""},
		{`"kind": "binary", "above": 4`, "hinge", "hinge", ""},
		{`"kind": "count", "cap": 64`, "squared", "squared", ""},
		{`"kind": "count", "cap": 64`, "logistic", "", `"y" is count`},
		{`"kind": "numeric", "range": [0, 64]`, "logistic", "", `"y" is numeric`},
		{`"kind": "numeric", "range": [0, 64]`, "poisson", "", `"cap"`},
		{`"kind": "numeric", "range": [0, 64]`, "gamma", "gamma above 0.01", ""},
		{`"kind": "count", "cap": 64`, "gamma", "gamma above 0.01", ""},
		{`"kind": "numeric", "range": [2, 64]`, "gamma", "", "begins at 0"},
		{`"kind": "binary", "above": 4`, "gamma", "", `"y" is binary`},
		{`"kind": "count", "cap": 64`, "negbinomial", "negative binomial(1)", ""},
		{`"kind": "numeric", "range": [0, 64]`, "negbinomial", "", `"cap"`},
		{`"kind": "binary", "above": 4`, "probit", "probit", ""},
		{`"kind": "binary", "above": 4`, "squared", "", `"y" is binary`},
		{`"kind": "count", "cap": 64`, "ordinal", "", `declare the label as categorical with its "levels" and "ordered": true`},
		{`"kind": "categorical", "levels": ["1", "2", "3"]`, "", "", `the label "y" has several levels, which test doesn't do`},
		{`"kind": "binary", "above": 4`, "cubic", "", "poisson, probit, quantile"},
	} {
		s, _, err := source(t, c.label, "-loss", c.loss)
		switch {
		case c.says == "" && (err != nil || s.Loss.Name() != c.want):
			t.Errorf("%+v: %v", c, err)
		case c.says != "" && (!errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The two parts of a split are all rows, in order, and depend on the seed.
func TestSplit(t *testing.T) {
	a, b := Split(1000, 0.2004, 1), Split(1000, 0.2004, 2)
	if len(a) != 200 || !slices.IsSorted(a) || len(slices.Compact(slices.Clone(a))) != 200 || a[0] < 0 || a[199] > 999 {
		t.Errorf("%v", a)
	}
	if slices.Equal(a, b) || !slices.Equal(a, Split(1000, 0.2004, 1)) {
		t.Error("the seed doesn't decide")
	}
}

// weighed writes a file of 80 rows in two groups, with so many times their weights, and returns a trial of it.
func weighed(t *testing.T, times int, label string, args ...string) *Trial {
	t.Helper()
	dir := t.TempDir()
	data, schema := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.json")
	var b strings.Builder
	b.WriteString("y,x,w\n")
	for i := range 80 {
		fmt.Fprintf(&b, "%d,%d,%d\n", 1+i%3, i/2%2, times*(1+4*(i%3/2)+i%2))
	}
	facts := `{"version": 1, "label": "y", "weight": "w", "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]}, {"name": "w", "kind": "numeric", "range": [0, 9]}, {"name": "y", ` + label + `}]}`
	for path, text := range map[string]string{data: b.String(), schema: facts} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	s := NewSource(f)
	s.TakesLevels = true
	if _, err := Parse(f, append([]string{"-data", data, "-schema", schema}, args...), io.Discard); err != nil {
		t.Fatal(err)
	}
	s.HeldOut = 0.25
	if err := s.ResolveData("test", io.Discard); err != nil {
		t.Fatal(err)
	}
	trial, err := s.Trial(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

// The fits without privacy count rows by their weights, as private ones do: means of numbers, shares of levels, and thresholds of levels that ascend.
func TestNonPrivateFitsAreWeighted(t *testing.T) {
	level := func(trial *Trial, i int) int { return int(trial.train.Labels()[i]) }
	group := func(of *table.Table, i int) int { // scaled to −1 and 1
		return int(1+of.Matrix().At(i, 0)) / 2
	}
	for name, c := range map[string]struct {
		label string
		args  []string
		alike bool // in either group
	}{
		"numbers": {`"kind": "numeric", "range": [0, 9]`, nil, false},
		"counts":  {`"kind": "count", "cap": 9`, nil, false},
		"levels":  {`"kind": "categorical", "levels": ["1", "2", "3"]`, nil, false},
		"ordinal": {`"kind": "categorical", "levels": ["1", "2", "3"], "ordered": true`, []string{"-loss", "ordinal"}, true},
	} {
		trial := weighed(t, 1, c.label, c.args...)
		sums, all := [3]float64{}, [3]float64{} // by group, and of both
		shares := [3][3]float64{}
		for i, w := range trial.train.Weights() {
			for _, g := range []int{group(trial.train, i), 2} {
				sums[g] += w * trial.train.Labels()[i]
				all[g] += w
				if trial.levels != nil {
					shares[g][level(trial, i)] += w
				}
			}
		}
		plain, err := trial.NonPrivate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wants := [2]float64{} // of the constant, and of the fit
		for i, y := range trial.Held {
			for k, g := range []int{2, group(trial.test, i)} {
				if trial.levels != nil {
					wants[k] -= math.Log(shares[g][int(y)]/all[g]) / float64(len(trial.Held))
				} else {
					wants[k] += (sums[g]/all[g] - y) / float64(len(trial.Held))
				}
			}
		}
		metric, tolerance := "mean_error", 1e-6
		if trial.levels != nil {
			metric = "log_loss"
		}
		if c.alike { // a score moves all thresholds by as much, which these groups' shares are not
			tolerance = 0.01
		}
		for k, got := range [][]metrics.Metric{trial.Constant(), plain} {
			if v := metrics.Value(got, metric); !(math.Abs(v-wants[k]) <= tolerance) {
				t.Errorf("%s, %s of %d: %g, want %g", name, metric, k, v, wants[k])
			}
		}
	}
}

// Thresholds of levels that ascend are fitted with the slopes, where the schema states no shares: those of the levels' shares alone are too close where slopes are steep.
func TestNonPrivateThresholdsAreFitted(t *testing.T) {
	data, schema := filepath.Join(t.TempDir(), "d.csv"), filepath.Join(t.TempDir(), "s.json")
	r := rand.New(rand.NewPCG(1, 2))
	text := "x,y\n"
	for range 4000 {
		x, u := r.Float64(), r.Float64()
		level := 0
		for _, threshold := range []float64{2, 4, 5} {
			if 8*x+math.Log(u/(1-u)) > threshold {
				level++
			}
		}
		text += fmt.Sprintf("%g,%d\n", x, level)
	}
	facts := `{"version": 1, "label": "y", "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]}, {"name": "y", "kind": "categorical", "levels": ["0", "1", "2", "3"], "ordered": true}]}`
	for path, text := range map[string]string{data: text, schema: facts} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	s := NewSource(f)
	s.TakesLevels, s.HeldOut = true, 0.25
	if _, err := Parse(f, []string{"-data", data, "-schema", schema, "-loss", "ordinal"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := s.ResolveData("test", io.Discard); err != nil {
		t.Fatal(err)
	}
	trial, err := s.Trial(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := trial.NonPrivate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shares := make([]float64, 4)
	for _, y := range trial.train.Labels() {
		shares[int(y)]++
	}
	if trial.loss, err = losses.OrdinalFromFractions(shares...); err != nil {
		t.Fatal(err)
	}
	given, err := trial.NonPrivate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := metrics.Value(fitted, "log_loss"), metrics.Value(given, "log_loss"); !(a < b-0.05) {
		t.Errorf("log-loss %v, by the thresholds of the shares %v", a, b)
	}
}

// Where all weights are 0 rows count alike: the constant is the mean label.
func TestNonPrivateFitsOfNoWeight(t *testing.T) {
	trial := weighed(t, 0, `"kind": "numeric", "range": [0, 9]`)
	plain, err := trial.NonPrivate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := stat.Mean(trial.train.Labels(), nil) - stat.Mean(trial.Held, nil)
	for k, got := range [][]metrics.Metric{trial.Constant(), plain} {
		if v := metrics.Value(got, "mean_error"); !(math.Abs(v-want) < []float64{1e-6, 0.1}[k]) {
			t.Errorf("%d: mean error %g, want %g", k, v, want)
		}
	}
}

// The constant of a private mean loses, by the squared loss, the variance of that mean; and a model whose intercept is off by anything scores, centred, as the
// constant where it has no slopes.
func TestPrivateConstantAndCentred(t *testing.T) {
	s, _, err := source(t, `"kind": "numeric", "range": [0, 64]`)
	if err != nil {
		t.Fatal(err)
	}
	trial, err := s.Trial(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	const mu = 10.0 // 64 / (6 · 10) of noise
	square := func(m []metrics.Metric) float64 { return math.Pow(metrics.Value(m, "rmse"), 2) }
	bias := metrics.Value(trial.Constant(), "mean_error")
	if got, want := metrics.Value(trial.PrivateConstant(mu), "mean_error"), bias; math.Abs(got-want) > 1e-9 {
		t.Errorf("a private mean errs by %g on average, the mean by %g", got, want)
	}
	wide := trial.moved(1 / mu)
	if got, want := stat.Mean(wide, nil)-stat.Mean(trial.train.Labels(), nil), 64.0/(6*mu); math.Abs(got-want) > 1e-9 {
		t.Errorf("one standard deviation of noise is %g, want %g", got, want)
	}
	for _, intercept := range []float64{-40, 3, 200} {
		if m := trial.centred([]float64{intercept, intercept}); math.Abs(square(m)-square(trial.Constant())) > 1e-6 {
			t.Errorf("intercept %g: %v; the constant %v", intercept, m, trial.Constant())
		}
	}
	if slopes := trial.centred([]float64{trial.Held[0] - 30, trial.Held[1] - 30}); math.Abs(square(slopes)-bias*bias) > 1e-6 {
		t.Errorf("slopes that tell all: %v, and are off by %g", slopes, bias)
	}
}
