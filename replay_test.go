package dpglm_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/release"
)

// Record and replay (Cebere et al. 2026, "Re:cord-play"). A run on some rows is
// recorded at the door: each raw answer before noise, with its declared
// sensitivity. Then a run on neighbouring rows gets the same noise, and each of its
// raw answers is overwritten with the recorded one. Hence all that the two runs
// have released is the same, at every moment: each raw answer may differ from the
// recorded one by no more than its sensitivity, and whatever else differs has left
// the rows by another way than the door.

// heard is a release, as its Event said before noise.
type heard struct {
	label, mechanism string
	rows             int // number of the set of rows, in the order of their first release
	values, each     []float64
	l2, mu           float64 // mu of a pool's release
	noise            uint64  // words of noise drawn before
}

func (h heard) String() string { return fmt.Sprintf("%q (%s)", h.label, h.mechanism) }

// words is a source of noise, a counter's hashes, whose place can be taken up again.
type words struct{ seed, drawn uint64 }

// Uint64 is SplitMix64 (Steele, Lea and Flood 2014).
func (w *words) Uint64() uint64 {
	w.drawn++
	z := (w.seed*0x2545f4914f6cdd1d + w.drawn) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// tape is a source of noise that hears every release.
type tape struct {
	words
	heard []heard
	// overwrite may change the values of the k-th release; nil records only.
	overwrite func(k int, e *release.Event)
	rows      []*release.Rows
}

// Record implements release.Recorder.
func (t *tape) Record(e *release.Event) {
	k := slices.Index(t.rows, e.Rows)
	if k < 0 {
		k, t.rows = len(t.rows), append(t.rows, e.Rows)
	}
	t.heard = append(t.heard, heard{e.Label, e.Mechanism, k, slices.Clone(e.Values), slices.Clone(e.Each), e.L2, e.Mu, t.drawn})
	if t.overwrite != nil {
		t.overwrite(len(t.heard)-1, e)
	}
}

// replay overwrites values by recorded ones, where there are as many.
func replay(script []heard) func(int, *release.Event) {
	return func(k int, e *release.Event) {
		if k < len(script) && len(script[k].values) == len(e.Values) {
			copy(e.Values, script[k].values)
		}
	}
}

// trial is a computation that releases, on data of some design.
type trial struct {
	name   string
	design design
	// run returns what the computation gives to its caller.
	run func(context.Context, *dpglm.Dataset, *dpglm.Env) (any, error)
	// slope is the loss's derivative in the score, for objective perturbation, clip
	// the bound on a row's gradient, and features are the row that it sees; nil is the
	// encoded one.
	slope    func(score, y float64) float64
	clip     float64
	features func(encoded []float64) []float64
	// stopAt interrupts the run at this call of Progress, from 1 on.
	stopAt int
	// reaches lists, by label or by label and number, which part of a declared
	// sensitivity the search has to reach: what theory says that a row can do.
	reaches map[string]float64
}

// ran is all that leaves a run.
type ran struct {
	out    string // all of it, bit by bit
	result any
	err    error
	tape   *tape
}

// play runs a trial on rows.
func (c *trial) play(t *testing.T, rows table, seed uint64, overwrite func(int, *release.Event)) ran {
	t.Helper()
	d, err := rows.dataset(c.design)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	p := &tape{words: words{seed: seed}, overwrite: overwrite}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var calls [][2]int
	out, err := c.run(ctx, d, &dpglm.Env{NoiseForTests: p, Progress: func(done, total int) {
		if calls = append(calls, [2]int{done, total}); len(calls) == c.stopAt {
			cancel()
		}
	}})
	return ran{fmt.Sprintf("%s\nprogress %v", describe(out, err), calls), out, err, p}
}

// describe writes down a result with all its bits.
func describe(out any, err error) string {
	var stopped *dpglm.Interrupted
	if errors.As(err, &stopped) {
		return fmt.Sprintf("%v\n%v", err, stopped.Ledger)
	}
	if err != nil {
		return "error: " + err.Error()
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(text)
}

// neighbours runs a trial on two tables that differ in one row, the second run
// after the first one's record. It reports the ratio of measured to declared
// sensitivity, by label and, of each label, by number.
func (c *trial) neighbours(t *testing.T, first, second table, seed uint64) map[string]float64 {
	t.Helper()
	a := c.play(t, first, seed, nil)
	if a.err != nil && c.stopAt == 0 {
		t.Fatalf("%s: after %d releases: %v, on %v", c.name, len(a.tape.heard), a.err, first)
	}
	ratios, count := map[string]float64{}, map[string]int{}
	b := c.play(t, second, seed, replay(a.tape.heard))
	if c.slope != nil {
		b = c.play(t, second, seed, c.coupling(t, a.tape.heard, b.tape.heard, first, second, ratios))
	}
	for k := range min(len(a.tape.heard), len(b.tape.heard)) {
		h, g := a.tape.heard[k], b.tape.heard[k]
		if h.label != g.label || h.mechanism != g.mechanism || h.rows != g.rows || len(h.values) != len(g.values) {
			t.Fatalf("%s: release %d is %v of %d numbers from rows %d on one table, and %v of %d from rows %d on its neighbour: the order of releases depends on a row",
				c.name, k, h, len(h.values), h.rows, g, len(g.values), g.rows)
		}
		if h.noise != g.noise {
			t.Fatalf("%s: before release %d, %v, %d words of noise were drawn on one table and %d on its neighbour: noise depends on a row", c.name, k, h, h.noise, g.noise)
		}
		if h.l2 != g.l2 || h.mu != g.mu || !slices.Equal(h.each, g.each) {
			t.Fatalf("%s: release %d, %v, declares the sensitivity %g %g on one table and %g %g on its neighbour: it depends on a row", c.name, k, h, h.l2, h.each, g.l2, g.each)
		}
		moved := h.moved(g)
		if moved > 1 {
			t.Errorf("%s: release %d, %v, moves by %.17g of its declared sensitivity %g %g between\n%v and\n%v", c.name, k, h, moved, h.l2, h.each, first, second)
		}
		count[h.label]++
		ratios[fmt.Sprintf("%s #%d", h.label, count[h.label])] = moved
	}
	if len(a.tape.heard) != len(b.tape.heard) {
		t.Fatalf("%s: %d releases on one table, %d on its neighbour: their number depends on a row", c.name, len(a.tape.heard), len(b.tape.heard))
	}
	if a.tape.drawn != b.tape.drawn {
		t.Fatalf("%s: %d words of noise on one table, %d on its neighbour: noise depends on a row", c.name, a.tape.drawn, b.tape.drawn)
	}
	if a.out != b.out {
		t.Fatalf("%s: with the same answers at the door, results, errors or progress differ on neighbours: something leaves by another way\n%s\n%s", c.name, a.out, b.out)
	}
	return ratios
}

// reach is the label of a release and what the search has to reach for it.
func (c *trial) reach(release string) (string, float64) {
	if want, ok := c.reaches[release]; ok {
		return release, want
	}
	label, _, _ := strings.Cut(release, " #")
	return label, c.reaches[label]
}

// moved is how far two answers are apart, in units of the declared sensitivity. It
// is rounded by a few units in the last place, which count for the declaration.
func (h heard) moved(g heard) float64 {
	if h.mechanism == "linear term" {
		return 0 // noise alone; the coupling compares gradients
	}
	room := 1 + 2e-16*float64(len(h.values)+4)
	if h.each == nil {
		return floats.Distance(h.values, g.values, 2) / h.l2 / room
	}
	worst := 0.0
	for j, e := range h.each {
		if d := math.Abs(h.values[j] - g.values[j]); d > 0 {
			worst = math.Max(worst, d/e/room)
		}
	}
	return worst
}

// audits reports whether the searches run in their long form: go test . -audit.
func audits() bool {
	f := flag.Lookup("audit")
	return f != nil && f.Value.String() == "true"
}

// short reports whether a search has reached less than theory says.
func (c *trial) short(best map[string]float64) bool {
	for release, got := range best {
		if _, want := c.reach(release); got < want {
			return true
		}
	}
	return false
}

// TestReplay searches for neighbours on which some release moves by more than it
// declares, or anything leaves beside the releases. Where theory says how far a row
// can move a release, the search must get there: a sensitivity that is twice too
// large, or taken at another point, fails too.
func TestReplay(t *testing.T) {
	t.Parallel()
	for i, c := range trials(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			best := c.search(t, uint64(i+1))
			for again := uint64(1); again < 3 && c.short(best); again++ { // of luck, or of power
				for release, got := range c.search(t, uint64(i+1)+1000*again) {
					best[release] = max(best[release], got)
				}
			}
			found := map[string]bool{}
			for release, got := range best {
				label, want := c.reach(release)
				if found[label] = true; got < want {
					t.Errorf("release %q: the worst neighbours found move it by %.4f of its declared sensitivity, less than %.4f, which a row can do: the declaration is too large, or the search has lost its power", release, got, want)
				}
			}
			for label := range c.reaches {
				if !found[label] {
					t.Errorf("no release is called %q; there are %v", label, best)
				}
			}
			t.Log(best)
		})
	}
}
