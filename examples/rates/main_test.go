package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFitted(t *testing.T) {
	var points []measured
	for i := range 6 {
		x := math.Exp2(float64(i))
		risk := 3 * math.Pow(x, -0.75)
		if i == 5 {
			risk = 100 // beyond the range
		}
		points = append(points, measured{x: x, mean: risk})
	}
	f, ok := fitted(points, 1, 16)
	if !ok || math.Abs(f.slope+0.75) > 1e-12 || math.Abs(f.intercept-math.Log10(3)) > 1e-12 || f.r2 < 1-1e-12 || f.halfWidth > 1e-6 {
		t.Errorf("%+v, %v", f, ok)
	}
	if _, ok := fitted(points, 1, 2); ok {
		t.Error("two points should not be fitted")
	}
	// Residuals ±0.1 around a level: by hand, slope ±0.1·(...)
	flat := []measured{{x: 1, mean: 1}, {x: 10, mean: 10}, {x: 100, mean: 1}}
	f, ok = fitted(flat, 1, 100)
	if !ok || math.Abs(f.slope) > 1e-12 || math.Abs(f.r2) > 1e-12 || math.Abs(f.halfWidth-12.706*math.Sqrt(1./3)) > 1e-2 {
		t.Errorf("%+v, %v", f, ok)
	}
}

// measure takes the factor that does worst along the curve, or a point's nearest to it, and
// averages other runs of it.
func TestMeasure(t *testing.T) {
	seeds := map[uint64]bool{}
	of := func(factor, risk float64) member {
		return member{factor, func(seed uint64) (float64, error) {
			seeds[seed] = true
			return risk, nil
		}}
	}
	runs := 0
	c := curve{name: "c", points: []point{
		{2, []member{of(1, 1), of(2, 3), of(4, 2)}},
		{3, []member{of(1, 2), of(2, 1.5), of(4, 1)}},
		{4, []member{of(1, 0.5)}},
	}}
	all, err := c.measure("a", 4, func() { runs++ })
	if err != nil || len(all) != 3 || runs != c.runs(4) || runs != 3*(3*pilots+4) {
		t.Fatalf("%v, %d runs: %v", all, runs, err)
	}
	for i, want := range []float64{3, 1.5, 0.5} { // 3·1.5 > 1·2 > 2·1
		if all[i].mean != want || all[i].stderr != 0 || all[i].x != float64(i+2) || all[i].curve != "c" || all[i].panel != "a" {
			t.Errorf("%+v, want %g", all[i], want)
		}
	}
	// Every run has noise of its own, but that the last point's only member is run for each.
	if want := 2*(3*pilots+4) + pilots + 4; len(seeds) != want {
		t.Errorf("%d seeds, want %d", len(seeds), want)
	}

	next := 0.0
	c.points = []point{{2, []member{{1, func(uint64) (float64, error) { next++; return next, nil }}}}}
	if all, err = c.measure("a", 4, func() {}); err != nil || all[0].mean != 2.5 || math.Abs(all[0].stderr-math.Sqrt(5./12)) > 1e-12 {
		t.Errorf("%+v: %v", all, err)
	}
	failing := errors.New("no")
	c.points = []point{{2, []member{{1, func(uint64) (float64, error) { return 0, failing }}}}}
	if _, err := c.measure("a", 1, func() {}); !errors.Is(err, failing) {
		t.Errorf("%v", err)
	}
}

// A panel at the smallest sizes goes all the way, twice with the same numbers.
func TestPanelsAreReproducible(t *testing.T) {
	small := func() []panel {
		p := smoothHigh()
		return shortened([]panel{{p.name, p.title, p.x, p.curves[1:]}})
	}
	var first string
	for range 2 {
		dir, out := t.TempDir(), &strings.Builder{}
		points, err := measureAll(t.Context(), small(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeCSV(filepath.Join(dir, "rates.csv"), points); err != nil {
			t.Fatal(err)
		}
		if err := drawAll(dir, small(), points); err != nil {
			t.Fatal(err)
		}
		if err := report(out, small(), points); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "rates.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines != 4 {
			t.Errorf("the table has %d lines:\n%s", lines, text)
		}
		for _, name := range []string{"rates.png", "smooth-high.png"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(out.String(), "-0.67") || !strings.Contains(out.String(), "smooth-high") {
			t.Errorf("the report lacks the expected slope:\n%s", out)
		}
		got := string(text) + out.String()
		if first == "" {
			first = got
		} else if got != first {
			t.Errorf("two runs differ:\n%s\n%s", first, got)
		}
	}
}

// Every slope has at least three points in its range, and names are unique, as the table
// of points is read by them.
func TestPanels(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range panels() {
		for _, c := range p.curves {
			if seen[p.name+c.name] {
				t.Errorf("two curves are called %s, %s", p.name, c.name)
			}
			seen[p.name+c.name] = true
			var points []measured
			for _, point := range c.points {
				if len(point.family) == 0 {
					t.Errorf("%s, %s has no instance at %g", p.name, c.name, point.x)
				}
				points = append(points, measured{x: point.x, mean: 1})
			}
			for _, s := range c.slopes {
				if _, ok := fitted(points, s.lo, s.hi); !ok {
					t.Errorf("%s, %s has too few points between %g and %g", p.name, c.name, s.lo, s.hi)
				}
			}
		}
	}
}
