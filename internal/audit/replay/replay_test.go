package replay_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/release"
)

// The long form of the search: go test ./internal/audit/replay -run Replay -audit
var longAudit = flag.Bool("audit", false, "search for neighbours with full power")

// pairs are enough to find what is wrong on most neighbours; .ci/run tries more.
var pairs = flag.Int("pairs", 6, "neighbours that the search draws for each trial, and as many to climb from")

// Record and replay (Cebere et al. 2026, "Re:cord-play"). A run on some rows is
// recorded at the door: each raw answer before noise, with its declared
// sensitivity. Then a run on neighbouring rows gets the same noise, and each of its
// raw answers is overwritten with the recorded one. Hence all that the two runs
// have released is the same, at every moment: each raw answer may differ from the
// recorded one by no more than its sensitivity, and whatever else differs has left
// the rows by another way than the door.

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

// play runs a trial on rows.
func (c *trial) play(t *testing.T, rows table, seed uint64, overwrite func(int, *release.Event)) given.Ran {
	t.Helper()
	d, err := rows.dataset(c.design)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	p := &given.Tape{Words: given.Words{Seed: seed}, Overwrite: overwrite}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var calls [][2]int
	out, err := c.run(ctx, d, &dpglm.Env{NoiseForTests: p, Progress: func(done, total int) {
		if calls = append(calls, [2]int{done, total}); len(calls) == c.stopAt {
			cancel()
		}
	}})
	return given.Ran{Out: fmt.Sprintf("%s\nprogress %v", given.Describe(out, err), calls), Result: out, Err: err, Tape: p}
}

// neighbours runs a trial on two tables that differ in one row, the second run
// after the first one's record. It reports the ratio of measured to declared
// sensitivity, by label and, of each label, by number.
func (c *trial) neighbours(t *testing.T, first, second table, seed uint64) map[string]float64 {
	t.Helper()
	a := c.play(t, first, seed, nil)
	if a.Err != nil && c.stopAt == 0 {
		t.Fatalf("%s: after %d releases: %v, on %v", c.name, len(a.Tape.Heard), a.Err, first)
	}
	ratios, count := map[string]float64{}, map[string]int{}
	b := c.play(t, second, seed, given.Replay(a.Tape.Heard))
	if c.slope != nil {
		b = c.play(t, second, seed, c.coupling(t, a, b.Tape.Heard, first, second, ratios))
	}
	for k := range min(len(a.Tape.Heard), len(b.Tape.Heard)) {
		h, g := a.Tape.Heard[k], b.Tape.Heard[k]
		if h.Label != g.Label || h.Mechanism != g.Mechanism || h.Rows != g.Rows || len(h.Values) != len(g.Values) {
			t.Fatalf("%s: release %d is %v of %d numbers from rows %d on one table, and %v of %d from rows %d on its neighbour: the order of releases depends on a row",
				c.name, k, h, len(h.Values), h.Rows, g, len(g.Values), g.Rows)
		}
		if h.Noise != g.Noise {
			t.Fatalf("%s: before release %d, %v, %d words of noise were drawn on one table and %d on its neighbour: noise depends on a row", c.name, k, h, h.Noise, g.Noise)
		}
		if h.L2 != g.L2 || h.Mu != g.Mu || !slices.Equal(h.Each, g.Each) {
			t.Fatalf("%s: release %d, %v, declares the sensitivity %g %g on one table and %g %g on its neighbour: it depends on a row", c.name, k, h, h.L2, h.Each, g.L2, g.Each)
		}
		moved := h.Moved(g)
		if moved > 1 {
			t.Errorf("%s: release %d, %v, moves by %.17g of its declared sensitivity %g %g between\n%v and\n%v", c.name, k, h, moved, h.L2, h.Each, first, second)
		}
		count[h.Label]++
		ratios[fmt.Sprintf("%s #%d", h.Label, count[h.Label])] = moved
	}
	if len(a.Tape.Heard) != len(b.Tape.Heard) {
		t.Fatalf("%s: %d releases on one table, %d on its neighbour: their number depends on a row", c.name, len(a.Tape.Heard), len(b.Tape.Heard))
	}
	if a.Tape.Drawn != b.Tape.Drawn {
		t.Fatalf("%s: %d words of noise on one table, %d on its neighbour: noise depends on a row", c.name, a.Tape.Drawn, b.Tape.Drawn)
	}
	if a.Out != b.Out {
		t.Fatalf("%s: with the same answers at the door, results, errors or progress differ on neighbours: something leaves by another way\n%s\n%s", c.name, a.Out, b.Out)
	}
	return ratios
}

// required is the label of a release and what the search has to reach for it.
func (c *trial) required(release string) (string, float64) {
	if want, ok := c.reaches[release]; ok {
		return release, want
	}
	label, _, _ := strings.Cut(release, " #")
	return label, c.reaches[label]
}

// short reports whether a search has reached less than theory says.
func (c *trial) short(best map[string]float64) bool {
	if testing.Short() {
		return false
	}
	for release, got := range best {
		if _, want := c.required(release); got < want {
			return true
		}
	}
	return false
}

// TestReplay searches for neighbours on which some release moves by more than it
// declares, or anything leaves beside the releases. Where theory says how far a row
// can move a release, the search must get there: a sensitivity that is twice too
// large, or taken at another point, fails too. Tables whose rows are all alike come first.
func TestReplay(t *testing.T) {
	t.Parallel()
	for i, c := range sample.Each(3, trials(t), learnerOf) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.rowsAlike(t, i)
			best := c.search(t, uint64(i+1))
			for again := uint64(1); again < 3 && c.short(best); again++ { // of luck, or of power
				for release, got := range c.search(t, uint64(i+1)+1000*again) {
					best[release] = max(best[release], got)
				}
			}
			found := map[string]bool{}
			for release, got := range best {
				label, want := c.required(release)
				if found[label] = true; got < want && !testing.Short() {
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
