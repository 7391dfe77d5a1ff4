package main

import (
	"bytes"
	"context"
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
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
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
	path := filepath.Join(t.TempDir(), "schema.json")
	text := fmt.Sprintf(`{"label": %q, "label_bound": 9, "numeric": {"age": [-1, 1]}}`, label)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// compare runs the program and returns what it prints, but for the last line,
// and the picture's path.
func compare(t *testing.T, args ...string) (table, picture string) {
	t.Helper()
	picture = filepath.Join(t.TempDir(), "a.png")
	var out bytes.Buffer
	if err := run(context.Background(), append(args, "-plot", picture), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	table, last, ok := strings.Cut(out.String(), "\nThe first table as a picture: ")
	if !ok || strings.TrimSpace(last) != picture {
		t.Errorf("the output ends in %q, want %s", last, picture)
	}
	return table, picture
}

// line returns the fields of a method's first line.
func line(t *testing.T, table, method string) []string {
	t.Helper()
	for _, l := range strings.Split(table, "\n") {
		if strings.HasPrefix(l, method+" ") {
			return strings.Fields(strings.ReplaceAll(l, " ± ", "±"))
		}
	}
	t.Fatalf("no line for %s in\n%s", method, table)
	return nil
}

func TestComparesForEachKindOfLabel(t *testing.T) {
	data := people(t)
	for _, c := range []struct{ label, loss, title string }{
		{"rich", "logistic", "Held-out accuracy in %, mean ± standard deviation of 2 seeds"},
		{"rich", "logistic", "Held-out AUC"},
		{"rich", "hinge", "non-private: the loss has a kink"},
		{"pay", "squared", "Held-out R²"},
		{"visits", "poisson", "Held-out share of the Poisson deviance explained"},
	} {
		table, picture := compare(t, "-data", data, "-schema", schema(t, c.label), "-loss", c.loss, "-seeds", "2", "-methods", "objpert,noisygd", "-epsilon", "4,1")
		if !strings.Contains(table, c.title) {
			t.Errorf("%s: no %q in\n%s", c.loss, c.title, table)
		}
		if head := line(t, table, "method"); !slices.Equal(head, []string{"method", "ε", "=", "1", "ε", "=", "4", "ε", "=", "∞"}) {
			t.Errorf("%s: columns %q", c.loss, head)
		}
		for _, method := range []string{"objpert", "noisygd"} {
			if got := line(t, table, method); len(got) != 3 || !strings.Contains(got[2], "±") {
				t.Errorf("%s: %q", c.loss, got)
			}
		}
		checkPicture(t, picture)
	}
}

func checkPicture(t *testing.T, path string) {
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
	if size := img.Bounds().Size(); size.X != width || size.Y != height {
		t.Errorf("the picture is %v, want %d × %d", size, width, height)
	}
	for _, hue := range palette[:2] {
		dots := 0
		for x := range width - legendWidth {
			for y := range height {
				if near(img.At(x, y), hue) {
					dots++
				}
			}
		}
		if dots < 100 {
			t.Errorf("%d dots of the colour %v, want a curve", dots, hue)
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
	if alone, both := line(t, c, "outputpert"), line(t, a, "outputpert"); alone[2] != both[1] {
		t.Errorf("outputpert at ε = 1 has %s alone and %s in company", alone[2], both[1])
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
				seen[c.noiseSeed(seed)] = true
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
	if b != dpglm.ApproxDP(r.above, math.Pow(float64(s.Rows), -1.5)) {
		return nil, errRefusing
	}
	return dpglm.OutputPerturbationConfig{}.Plan(s, p, b)
}

func TestRefusals(t *testing.T) {
	o, err := parseOptions([]string{"-data", people(t), "-schema", schema(t, "rich"), "-epsilon", "1,2,4", "-seeds", "2"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := o.source.Load()
	if err != nil {
		t.Fatal(err)
	}
	o.methods = []method{{"first", refusing{1}}, {"second", refusing{0}}}
	e := newExperiment(o)
	var counts []int
	if err := e.run(context.Background(), sample, func(done int) { counts = append(counts, done) }); err != nil {
		t.Fatal(err)
	}
	if len(counts) != 14 || counts[13] != e.fits() {
		t.Errorf("progress %v, want 1 to %d", counts, e.fits())
	}
	var b bytes.Buffer
	if err := e.print(&b, nil); err != nil {
		t.Fatal(err)
	}
	if got := line(t, b.String(), "first"); len(got) != 4 || got[1] == "–" || got[2] != "–" || got[3] != "–" {
		t.Errorf("%q, want a number and two dashes", got)
	}
	for _, want := range []string{"first at ε = 2, 4: a learner for tests\n", "second at ε = 1, 2, 4: a learner for tests\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	o.methods = o.methods[1:]
	if err := newExperiment(o).run(context.Background(), sample, func(int) {}); !errors.Is(err, errRefusing) {
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
		{[]string{"-data", "none.csv"}, "relative paths start at"},
		{[]string{"-test", "2"}, "-test"},
		{[]string{"-bound", "1"}, "exactly one"},
		{[]string{"more"}, `"more"`},
	} {
		err := run(context.Background(), append(slices.Clone(good), c.args...), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.args, err, c.says)
		}
	}
}

func TestDefaultsOfFlags(t *testing.T) {
	o, err := parseOptions([]string{"-data", "a.csv", "-bound", "1"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.methods) != len(task.Methods()) || o.seeds != 10 || !slices.Equal(o.epsilons, []float64{.1, .5, 1, 4, 8}) || o.source.Loss != (losses.Logistic{}) {
		t.Errorf("%+v", o)
	}
}
