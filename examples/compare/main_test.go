package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// people writes a CSV whose columns pay, rich and visits all depend on age, and
// returns its path.
func people(t *testing.T) string {
	t.Helper()
	r := rand.New(mechanisms.NewSeededSource(1))
	var b strings.Builder
	b.WriteString("age,pay,rich,visits\n")
	for range 400 {
		age := 2*r.Float64() - 1
		rich := 0
		if age+r.NormFloat64()/4 > 0 {
			rich = 1
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%d,%d\n", age, age+r.NormFloat64()/4, rich, int(math.Exp(2*age)+r.Float64()))
	}
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// schema writes a schema for people, with one of the labels.
func schema(t *testing.T, label string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), label+".json")
	kind := map[string]string{"rich": `"binary", "above": 0`, "pay": `"numeric", "range": [-9, 9]`, "visits": `"count", "cap": 9`}[label]
	text := fmt.Sprintf(`{"version": 1, "label": %q, "columns": [{"name": "age", "kind": "numeric", "range": [-1, 1]}, {"name": %q, "kind": %s}]}`, label, label, kind)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// compare runs the program and returns what it prints before the picture's path, and
// that path.
func compare(t *testing.T, args ...string) (table, picture string) {
	t.Helper()
	picture = filepath.Join(t.TempDir(), "a.png")
	var out bytes.Buffer
	if err := run(context.Background(), append(args, "-plot", picture), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	table, last, ok := strings.Cut(out.String(), "\nThe first metric as a picture: ")
	if !ok || strings.TrimSpace(last) != picture+"\n\n"+strings.TrimSpace(note) {
		t.Errorf("the output ends in %q, want %s and the note", last, picture)
	}
	return table, picture
}

// line returns the fields of the first line that begins with the given ones.
func line(t *testing.T, table string, first ...string) []string {
	t.Helper()
	for _, l := range strings.Split(table, "\n") {
		fields := strings.Fields(strings.ReplaceAll(l, " ± ", "±"))
		if len(fields) >= len(first) && slices.Equal(fields[:len(first)], first) {
			return fields
		}
	}
	t.Fatalf("no line for %s in\n%s", first, table)
	return nil
}

func TestComparesForEachKindOfLabel(t *testing.T) {
	data := people(t)
	for _, c := range []struct {
		label, loss string
		metrics     []string
	}{
		{"rich", "logistic", []string{"log_loss", "auc", "calibration_slope", "mean_error", "accuracy"}},
		{"rich", "hinge", []string{"accuracy", "auc", "mean_loss"}},
		{"pay", "squared", []string{"r2", "rmse", "mean_error", "mean_loss"}},
		{"visits", "poisson", []string{"deviance", "deviance_explained", "mean_error"}},
	} {
		table, picture := compare(t, "-data", data, "-schema", schema(t, c.label), "-loss", c.loss, "-seeds", "2", "-methods", "objpert,noisygd", "-epsilon", "4,1")
		if head := line(t, table, "method"); !slices.Equal(head[2:], c.metrics) {
			t.Errorf("%s: columns %q, want %q", c.loss, head[2:], c.metrics)
		}
		for _, model := range [][]string{{"objpert", "1"}, {"objpert", "4"}, {"noisygd", "1"}, {"noisygd", "4"}, {"non-private", "∞"}} {
			if got := line(t, table, model...); len(got) != 2+len(c.metrics) || !strings.Contains(got[2], "±") && !(c.loss == "hinge" && (model[0] == "objpert" || model[0] == "non-private")) {
				t.Errorf("%s: %q", c.loss, got)
			}
		}
		if got := line(t, table, "constant"); len(got) != 1+len(c.metrics) || !strings.Contains(got[1], "±") {
			t.Errorf("%s: %q", c.loss, got)
		}
		if kinked := strings.Contains(table, "non-private: the loss has a kink"); kinked != (c.loss == "hinge") {
			t.Errorf("%s: says of a kink: %v", c.loss, kinked)
		}
		parts := 1
		if c.loss == "logistic" {
			parts = 2
		}
		checkPicture(t, picture, parts, 2)
	}
}

// Several sets have a table and a picture each, then one for all, and every score in
// a file.
func TestSeveralSets(t *testing.T) {
	data, dir := people(t), t.TempDir()
	plot, scores := filepath.Join(dir, "a.png"), filepath.Join(dir, "a.csv")
	var out bytes.Buffer
	err := run(context.Background(), []string{"-methods", "noisygd", "-epsilon", "1,4", "-seeds", "3", "-plot", plot, "-csv", scores,
		"-data", data, "-schema", schema(t, "rich"), "+", "-data", data, "-schema", schema(t, "pay"), "+"}, &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"people.csv with rich.json, logistic loss", "people.csv with pay.json, squared loss", "Held-out log-loss of 1 set(s)", "Held-out R² of 1 set(s)"} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("not once: %q in\n%s", want, &out)
		}
	}
	if strings.Count(out.String(), note) != 1 || !strings.HasSuffix(out.String(), note) {
		t.Errorf("the note should come once, at the end, in\n%s", &out)
	}
	checkPicture(t, filepath.Join(dir, "a-rich-logistic.png"), 2, 1)
	checkPicture(t, filepath.Join(dir, "a-pay-squared.png"), 1, 1)
	each := line(t, out.String(), "noisygd", "4")[2]
	if all := line(t, out.String(), "rich", "noisygd"); len(all) != 6 || all[3] != each {
		t.Errorf("over all sets %q, alone %s", all, each)
	}
	checkCSV(t, scores, each)
}

// checkCSV looks for the mean log-loss at ε = 4 and counts lines.
func checkCSV(t *testing.T, path, want string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if models, seeds := 4, 3; len(lines) != 1+models*seeds*(5+4) {
		t.Errorf("%d lines", len(lines))
	}
	var values []float64
	for _, l := range lines {
		if slices.Equal(l[:4], []string{"rich", "logistic", "noisygd", "4"}) && l[5] == "log_loss" {
			v, err := strconv.ParseFloat(l[6], 64)
			if seed := fmt.Sprint(len(values) + 1); err != nil || l[4] != seed {
				t.Fatalf("%q: %v, want seed %s", l, err, seed)
			}
			values = append(values, v)
		}
	}
	if mean, _ := metrics.Summary(values); !strings.HasPrefix(want, fmt.Sprintf("%.4f", mean)) {
		t.Errorf("the file's mean log-loss is %v, the table's %s", mean, want)
	}
}

func checkPicture(t *testing.T, path string, parts, curves int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != width || size.Y != parts*height {
		t.Errorf("the picture is %v, want %d × %d", size, width, parts*height)
	}
	for i := range parts * curves {
		part, hue, dots := i/curves, palette[i%curves], 0
		for x := range width - legendWidth {
			for y := range height {
				if near(img.At(x, part*height+y), hue) {
					dots++
				}
			}
		}
		if dots < 100 {
			t.Errorf("part %d: %d dots of the colour %v, want a curve", part, dots, hue)
		}
	}
}

// near allows for the softened edges of lines.
func near(a, b color.Color) bool {
	r, g, bl, _ := a.RGBA()
	r2, g2, bl2, _ := b.RGBA()
	off := func(u, v uint32) bool { return max(u, v)-min(u, v) > 0x6000 }
	return !off(r, r2) && !off(g, g2) && !off(bl, bl2)
}

// The same seeds give the same numbers, whatever else is compared.
func TestNumbersRepeat(t *testing.T) {
	args := []string{"-data", people(t), "-schema", schema(t, "rich"), "-seeds", "2"}
	a, _ := compare(t, append(args, "-epsilon", "1", "-methods", "noisygd,outputpert")...)
	b, _ := compare(t, append(args, "-epsilon", "1", "-methods", "noisygd,outputpert")...)
	if a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
	c, _ := compare(t, append(args, "-epsilon", "0.5,1", "-methods", "outputpert")...)
	if alone, both := line(t, c, "outputpert", "1"), line(t, a, "outputpert", "1"); !slices.Equal(alone, both) {
		t.Errorf("outputpert at ε = 1 has %s alone and %s in company", alone, both)
	}
}

// Seeds are drawn anew in each fit, and none is the split's.
func TestNoiseSeedsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(5) {
		seen[seed] = true
	}
	for _, name := range []string{"a", "b"} {
		for _, epsilon := range []float64{1, 2} {
			for seed := range uint64(5) {
				c := cell{method: method{name: name}, epsilon: epsilon}
				seen[task.NoiseSeed(c.name, c.epsilon, seed)] = true
			}
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d seeds, want 25", len(seen))
	}
}

// refusing is a learner that can't be used above ε = 1.
type refusing struct{ above float64 }

var errRefusing = errors.New("a learner for tests")

func (r refusing) Plan(s dpglm.Shape, p dpglm.Problem, b dpglm.Budget) (*dpglm.Plan, error) {
	if b != dpglm.ApproxDP(r.above, task.DefaultDelta(s.Rows)) {
		return nil, errRefusing
	}
	return dpglm.OutputPerturbationConfig{}.Plan(s, p, b)
}

func TestRefusals(t *testing.T) {
	o, err := parseOptions([]string{"-data", people(t), "-schema", schema(t, "rich"), "-epsilon", "1,2,4", "-seeds", "2"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o.methods = []method{{"first", refusing{1}, nil}, {"second", refusing{0}, nil}}
	e := newExperiment(o, o.sources[0])
	count := 0
	if err := e.run(context.Background(), o.sources[0], func() { count++ }); err != nil {
		t.Fatal(err)
	}
	if count != 14 || count != e.fits() {
		t.Errorf("%d fits were counted, want %d", count, e.fits())
	}
	var b bytes.Buffer
	if err := e.print(&b); err != nil {
		t.Fatal(err)
	}
	for epsilon, dash := range map[string]bool{"1": false, "2": true, "4": true} {
		if got := line(t, b.String(), "first", epsilon); (got[2] == "–") != dash {
			t.Errorf("%q: a dash should be there: %v", got, dash)
		}
	}
	for _, want := range []string{"first at ε = 2, 4: a learner for tests\n", "second at ε = 1, 2, 4: a learner for tests\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	o.methods = o.methods[1:]
	if err := newExperiment(o, o.sources[0]).run(context.Background(), o.sources[0], func() {}); !errors.Is(err, errRefusing) {
		t.Errorf("where nothing can be used: %v, want %v", err, errRefusing)
	}
}

func TestACancelledRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := run(ctx, []string{"-data", people(t), "-schema", schema(t, "rich")}, io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

func TestBadFlags(t *testing.T) {
	good := []string{"-data", people(t), "-schema", schema(t, "rich")}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-epsilon", "1,x"}, `"x" must be a positive number`},
		{[]string{"-epsilon", "0"}, `"0" must be`},
		{[]string{"-epsilon", "nan"}, `"nan" must be`},
		{[]string{"-epsilon", "inf"}, `"inf" must be`},
		{[]string{"-epsilon", ""}, `"" must be`},
		{[]string{"-methods", "noisygd,magic"}, `"magic" is not one of`},
		{[]string{"-methods", "noisygd,noisygd"}, "noisygd twice"},
		{[]string{"-seeds", "0"}, "-seeds 0"},
		{[]string{"-plot", "a.svg"}, ".png"},
		{[]string{"-data", "none.csv"}, "-data is given twice"},
		{[]string{"-test", "2"}, "-test"},
		{[]string{"-schema", "none.json"}, "relative paths start at"},
		{[]string{"-schema", ""}, "-schema is missing"},
		{[]string{"-loss", "squared"}, "\"rich\" is binary"},
		{[]string{"more"}, `"more"`},
	} {
		err := run(context.Background(), append(slices.Clone(good), c.args...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.args, err, c.says)
		}
	}
	err := run(context.Background(), []string{"-data", "none.csv", "-schema", schema(t, "rich")}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "relative paths start at") {
		t.Errorf("data that aren't there: %v, want where relative paths start", err)
	}
}

func TestDefaultsOfFlags(t *testing.T) {
	o, err := parseOptions([]string{"-data", people(t), "-schema", schema(t, "rich")}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.methods) != len(task.Compared()) || o.seeds != 10 || !slices.Equal(o.epsilons, []float64{.1, .5, 1, 4, 8}) || o.sources[0].Loss != (losses.Logistic{}) {
		t.Errorf("%+v", o)
	}
}
