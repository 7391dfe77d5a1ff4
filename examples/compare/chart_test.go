package main

import (
	"math"
	"path/filepath"
	"testing"
)

// A model that is far worse than the mean doesn't flatten the other curves, in
// either direction, and one that has no score at all doesn't end the drawing.
func TestRangeOfThePicture(t *testing.T) {
	e := example("r2", 1)
	lo, hi := e.yRange("r2")
	if lo > -.4 || lo < -.5 || hi < .85 || hi > 1 {
		t.Errorf("from %v to %v, want about -0.4 to 0.85 and a margin", lo, hi)
	}
	if down, up := example("log_loss", -1).yRange("log_loss"); down != -hi || up != -lo {
		t.Errorf("where less is better: from %v to %v, want %v to %v", down, up, -hi, -lo)
	}
	e.cells[2] = scored("much longer", .5, "r2", -9, 9)
	if _, hi := e.yRange("r2"); hi < 1 || hi > 1.1 {
		t.Errorf("up to %v, want about 1 and a margin", hi)
	}
	e.cells[0] = scored("good", .5, "r2", math.Inf(-1), 1)
	path := filepath.Join(t.TempDir(), "a.png")
	if err := e.draw(path); err != nil {
		t.Fatal(err)
	}
	e.cells, e.epsilons = e.cells[:1], e.epsilons[:1]
	e.plain, e.constant = *scored("", 0, "r2"), *scored("", 0, "r2", 0)
	if err := e.draw(path); err != nil {
		t.Errorf("nothing to draw: %v", err)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi      float64
		first, last string
		count       int
	}{
		{59.2, 73.9, "60", "72", 7},
		{-.03, .97, "0", "0.8", 5},
		{-1.2, -.4, "-1.2", "-0.4", 9},
		{0, 8, "0", "8", 9},
		{0, 9, "0", "8", 5},
		{1e-9, 3e-9, "1e-09", "3e-09", 5},
	} {
		got := ticks(c.lo, c.hi)
		if len(got) != c.count || got[0].Label != c.first || got[len(got)-1].Label != c.last {
			t.Errorf("%v to %v: %v, want %d from %s to %s", c.lo, c.hi, got, c.count, c.first, c.last)
		}
	}
}
