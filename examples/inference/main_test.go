package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

const data = "../../testdata/cps1988.csv.gz"

func running(args ...string) (string, error) {
	var out strings.Builder
	err := run(context.Background(), append([]string{"-data", data}, args...), &out, io.Discard)
	return out.String(), err
}

// The program prints the table, a contrast, a test and the estimates without privacy.
func TestWageEquation(t *testing.T) {
	out, err := running("-seed", "1", "-epsilon", "4")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"squared regression, n = 28155, (ε = 4", "education ", "ethnicity=afam", "south less west", "χ²(3)", "Only the private columns"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "inf") {
		t.Errorf("something isn't determined:\n%s", out)
	}
}

// A short study: coverage without privacy is near 95 %, and lines say what they should.
func TestCoverageStudy(t *testing.T) {
	out, err := running("-coverage", "-populations", "survey", "-losses", "squared", "-epsilon", "1,4", "-repeats", "3")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "squared   survey         28155    1") || !strings.HasSuffix(lines[2], "1.000") {
		t.Errorf("%s", out)
	}
}

// Intervals of a rate's coefficients, known but for what clamping does to them, cover them
// where policies have exposures and weights. Of 240 some 12 don't; 34 or more are as good as
// impossible, 6e-8 for independent ones, and 19 of 96, as those of different fits are. Without offsets or
// weights some coefficients would be many standard errors off.
func TestInsuranceCoverage(t *testing.T) {
	p, loss := insurance{}, losses.Poisson{}
	many, err := fitExactly(p.sample(sample.Of(200_000, 400_000), loss, 77), capped(loss, p))
	if err != nil {
		t.Fatal(err)
	}
	truth := many.coefficients
	for j, want := range append(slices.Clone(rated), rateConstant) {
		if math.Abs(truth[j]/want-1) > 0.1 {
			t.Errorf("coefficient %d is %g in the population, and %g by which claims are drawn", j, truth[j], want)
		}
	}
	counts, fits := newTally(truth), sample.Of(12, 30)
	c := cell{p, loss, 8000, []float64{4}, false}
	for k := range fits {
		if err := c.once(t.Context(), []*tally{counts}, uint64(k)); err != nil {
			t.Fatal(err)
		}
	}
	found, finite := 0, 0
	for j := range truth {
		found, finite = found+counts.found[j], finite+counts.finite[j]
	}
	t.Logf("%d of %d intervals cover", found, finite)
	if missed := finite - found; missed >= sample.Of(19, 34) || finite < sample.Of(80, 200) {
		t.Errorf("%d of %d intervals don't cover", missed, finite)
	}
	if slices.Sort(counts.ratios); counts.ratios[len(counts.ratios)/2] > 2 {
		t.Errorf("intervals are %.2f times as wide as without privacy", counts.ratios[len(counts.ratios)/2])
	}
}

// A table is the population of its samples: coefficients of a level that too few rows have,
// and of two columns that are one, aren't counted; those of samples as large as the table scatter
// as their errors say: |z| of 12 means of 10 exceeds 4 in one case of 1300.
func TestCoverageOfATable(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var rows strings.Builder
	rows.WriteString("y,a,b,c,g\n")
	for i := range 3000 {
		a, b, g := r.NormFloat64(), r.NormFloat64(), []string{"p", "q", "rare"}[min(i%2+2*(i/2960), 2)]
		y := 1 / (1 + math.Exp(0.5-a))
		label := 0
		if r.Float64() < y {
			label = 1
		}
		fmt.Fprintf(&rows, "%d,%g,%g,%g,%s\n", label, a, b, b, g)
	}
	schema := `{"version": 1, "label": "y", "columns": [{"name": "y", "kind": "binary", "positive": ["1"], "negative": ["0"]},
		{"name": "a", "kind": "numeric", "range": [-3, 3]}, {"name": "b", "kind": "numeric", "range": [-3, 3]},
		{"name": "c", "kind": "numeric", "range": [-3, 3]}, {"name": "g", "kind": "categorical", "levels": ["p", "q", "rare"]}]}`
	path, facts := filepath.Join(dir, "t.csv"), filepath.Join(dir, "schema.json")
	if err := errors.Join(os.WriteFile(path, []byte(rows.String()), 0o600), os.WriteFile(facts, []byte(schema), 0o600)); err != nil {
		t.Fatal(err)
	}
	p, err := readPublic(path, facts, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := p.truth(losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	told := []bool{true, false, false, true, false, true} // a, b, c, q, rare, the intercept
	p.rows = 6000
	if more, err := p.truth(losses.Logistic{}); err != nil || math.IsNaN(more[4]) {
		t.Errorf("80 rows don't tell their level's coefficient: %v, %v", more, err)
	}
	z := make([]float64, len(told))
	for k := range 10 {
		f, err := fitExactly(p.sample(3000, losses.Logistic{}, uint64(k)), losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		for j := range z {
			z[j] += (f.coefficients[j] - truth[j]) / f.errors[j] / math.Sqrt(10)
		}
	}
	for j, want := range told {
		if math.IsNaN(truth[j]) == want || want && math.Abs(z[j]) > 4 {
			t.Errorf("coefficient %d is %g, and those of samples differ by %g", j, truth[j], z[j])
		}
	}
	out, err := running("-coverage", "-data", path, "-schema", facts, "-repeats", "2")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); err != nil || len(lines) != 2 || !strings.HasPrefix(lines[1], "logistic  t               3000    1") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What samples can't tell isn't counted.
func TestTallyOfWhatIsTold(t *testing.T) {
	counts := newTally([]float64{1, math.NaN()})
	counts.add([]dpglm.Coefficient{{Low: 0, High: 2, StandardError: 3}, {Low: 5, High: 6, StandardError: 1}}, &exact{[]float64{1, 9}, []float64{2, 1}})
	if got, want := counts.String(), "1.000 (1.000)          1.000                  1.50   1.50           1.000"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := newTally([]float64{math.NaN()}).String(); !strings.Contains(got, "can't tell") {
		t.Errorf("%q", got)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-epsilon", "x"}, {"-coverage", "-rows", "0"}, {"-coverage", "-epsilon", "1,a"}, {"-coverage", "-populations", "nobody"}, {"-schema", "facts.json"}, {"-coverage", "-schema", "nowhere.json"}, {"-coverage", "-schema", "facts.json", "-losses", "squared"}, {"-nonsense"}} {
		if _, err := running(args...); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	if err := run(context.Background(), []string{"-data", "nowhere.csv"}, io.Discard, io.Discard); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that doesn't exist: %v", err)
	}
}

// The exact fit is that of package baseline, and its errors those of repeated samples: of
// 100, whose standard deviation has a standard error of 7 %.
func TestExactFit(t *testing.T) {
	p := populations()[0]
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		rows := p.sample(2000, loss, 1)
		f, err := fitExactly(rows, loss)
		if err != nil {
			t.Fatal(err)
		}
		m, err := baseline.Fit(baseline.Dense{Dense: rows.x}, rows.y, loss)
		if err != nil {
			t.Fatal(err)
		}
		for j, w := range append(m.Weights, m.Intercept) {
			if math.Abs(w-f.coefficients[j]) > 0.02*f.errors[j] {
				t.Errorf("%s: coefficient %d is %g ± %g, by the baseline %g", loss.Name(), j, f.coefficients[j], f.errors[j], w)
			}
		}
		var sum, squares float64
		for k := range 100 {
			g, err := fitExactly(p.sample(2000, loss, uint64(k)), loss)
			if err != nil {
				t.Fatal(err)
			}
			sum += g.coefficients[0] / 100
			squares += g.coefficients[0] * g.coefficients[0] / 100
		}
		if ratio := math.Sqrt(squares-sum*sum) / f.errors[0]; ratio < 0.65 || ratio > 1.35 {
			t.Errorf("%s: coefficients vary %.2f times as much as their standard error says", loss.Name(), ratio)
		}
	}
	if _, err := fitExactly(&drawn{x: mat.NewDense(3, 1, []float64{1, 1, 1}), y: []float64{1, 2, 3}}, losses.Squared{}); !errors.Is(err, errNoFit) {
		t.Errorf("a singular Hessian: %v", err)
	}
}

// Rows, labels, offsets and weights of all populations lie within their public bounds.
func TestPopulationsKeepTheirBounds(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		var all []source
		for _, p := range populations() {
			all = append(all, p)
		}
		if loss.Labels() == losses.Count {
			all = append(all, insurance{})
		}
		for _, p := range all {
			facts, rows := p.facts(loss).(dpglm.Schema), p.sample(500, loss, 3)
			if _, err := dpglm.NewDataset(rows.x, rows.y, facts, rows.details()...); err != nil {
				t.Errorf("%s, %s: %v", p.name(), loss.Name(), err)
			}
			for i, v := range rows.y {
				for j, name := range facts.Columns {
					if ends, ok := facts.Numeric[name]; ok && !(rows.x.At(i, j) >= ends[0] && rows.x.At(i, j) <= ends[1]) {
						t.Fatalf("%s: %s is %g", p.name(), name, rows.x.At(i, j))
					}
				}
				if ends := facts.LabelRange; ends != [2]float64{} && !(v >= ends[0] && v <= ends[1]) {
					t.Fatalf("%s, %s: a label is %g", p.name(), loss.Name(), v)
				}
				if o := rows.offsets; o != nil && !(o.Of[i] >= o.Range[0] && o.Of[i] <= o.Range[1]) {
					t.Fatalf("%s: an offset is %g", p.name(), o.Of[i])
				}
				if w := rows.weight(i); !(w > 0 && w <= 1) {
					t.Fatalf("%s: a weight is %g of the largest", p.name(), w)
				}
			}
		}
	}
}

// The tally counts finite intervals that cover, and finds the worst coefficient.
func TestTally(t *testing.T) {
	tally := newTally([]float64{1, 2})
	plain := &exact{[]float64{1.1, 5}, []float64{0.1, 0.1}}
	near := dpglm.Coefficient{StandardError: 0.2, Low: 0.5, High: 1.5}
	far := dpglm.Coefficient{StandardError: 0.3, Low: 3, High: 4}
	tally.add([]dpglm.Coefficient{near, far}, plain)
	tally.add([]dpglm.Coefficient{near, {StandardError: math.Inf(1), Low: math.Inf(-1), High: math.Inf(1)}}, plain)
	if got, want := strings.Join(strings.Fields(tally.String()), " "), "0.667 (0.500) 0.000 2.00 3.00 0.750"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A study of problems drawn at random is the same whenever it is done, goes on where it was stopped, and compares two
// files.
func TestStudyOfProblems(t *testing.T) {
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one.jsonl"), filepath.Join(dir, "other.jsonl")
	study := func(draws, out string, more ...string) (string, error) {
		return running(append([]string{"-coverage", "-draws", draws, "-repeats", "2", "-seed", "11", "-out", out}, more...)...)
	}
	for _, c := range [][2]string{{"1", one}, {"3", one}, {"3", other}} {
		if out, err := study(c[0], c[1]); err != nil || !strings.Contains(out, c[0]+" problems") {
			t.Fatal(out, err)
		}
	}
	lines := func(path string) []string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Split(strings.TrimSpace(string(text)), "\n")
		slices.Sort(list)
		return list
	}
	if got := lines(one); len(got) != 3 || !slices.Equal(got, lines(other)) {
		t.Errorf("a study that was stopped has other results")
	}
	cut := lines(one)
	if err := os.WriteFile(other, []byte(cut[0]+"\n"+cut[1][:20]), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := study("3", other, "-against", one); err != nil || !strings.Contains(out, "1.000 times what they were") || len(lines(other)) != 3 {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := running("-coverage", "-draws", "3", "-repeats", "3", "-seed", "11", "-out", one); err == nil {
		t.Error("a file of other samples is added to")
	}
	if _, err := running("-draws", "3", "-out", one); err == nil {
		t.Error("problems are drawn without -coverage")
	}
}

// A problem fails by intervals that are printed, unmarked and don't cover: on average, or one coefficient's.
func TestFailingProblems(t *testing.T) {
	fine := about{Samples: 40, Covered: slices.Repeat([]float64{0.9, 1}, 20), Coefficients: []intervals{{Printed: 40, Covered: 36, Ratio: 1.2}, {Printed: 1, Covered: 0, Ratio: 9}}}
	if fine.fails() || fine.width() != 1.2 {
		t.Errorf("it fails: %v, width %g", fine.fails(), fine.width())
	}
	low := fine
	if low.Covered = slices.Repeat([]float64{0.8, 0.9}, 20); !low.fails() {
		t.Error("a mean coverage of .85 is taken for one of .92")
	}
	one := fine
	if one.Coefficients = []intervals{{Printed: 40, Covered: 28}}; !one.fails() {
		t.Error("a coefficient's coverage of .7 is taken for one of .85")
	}
	if printed, marked := (&about{Samples: 10, Coefficients: []intervals{{Printed: 5, Marked: 5}, {}}}).printed(); printed != 0.5 || marked != 0.5 {
		t.Errorf("%g are printed, %g of these marked", printed, marked)
	}
}
