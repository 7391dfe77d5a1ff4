package persons_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// sameHeard reports whether all that was heard is the same, bit by bit.
func sameHeard(a, b given.Ran) bool {
	return a.Out == b.Out && a.Tape.Drawn == b.Tape.Drawn && slices.EqualFunc(a.Tape.Heard, b.Tape.Heard, func(h, g given.Heard) bool {
		return h.Label == g.Label && h.Rows == g.Rows && h.L2 == g.L2 && h.Mu == g.Mu && h.Noise == g.Noise && slices.Equal(h.Each, g.Each) && slices.Equal(h.Values, g.Values)
	})
}

// By the same order of persons all that is released is the same, bit by bit, whatever their ids are
// and in whatever order their rows stand, in memory, in a file and with workers.
func TestPersonsAreAMultiset(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	t.Parallel()
	c := crowdOf(60, 1)
	for name, run := range crowdRuns(t) {
		want := run.play(c.dataset(t, c.plainly(), run), nil)
		if want.Err != nil || len(want.Tape.Heard) == 0 {
			t.Fatalf("%s: %d releases, %v", name, len(want.Tape.Heard), want.Err)
		}
		renamed, permuted := c.plainly(), c.anyhow(3)
		renamed.ids, permuted.ids = permuted.ids, renamed.ids
		for how, m := range map[string]manner{"other ids": renamed, "another order": permuted, "both": c.anyhow(4)} {
			if how != "both" && !sample.All() {
				continue
			}
			if got := run.play(c.dataset(t, m, run), nil); !sameHeard(want, got) {
				t.Errorf("%s: %s of persons change what is released", name, how)
			}
		}
		for where, d := range c.stored(t, c.anyhow(5), run) {
			if !sample.One(3, name, where) {
				continue
			}
			if got := run.play(d, nil); !sameHeard(want, got) {
				t.Errorf("%s: rows by %s and in another order change what is released: %v", name, where, got.Err)
			}
		}
	}
}

// replacing are crowds next to another one, or k steps from it.
func (c crowd) replacing() map[string]struct {
	of crowd
	k  int
} {
	many := func(n int, x, y float64) (rows []given.Row) {
		for i := range n {
			rows = append(rows, given.Row{X: []float64{x * float64(1-2*(i%2)*(i%3))}, Y: y, Weight: given.Heavy * float64(i%3), Offset: y - x})
		}
		return rows
	}
	type step = struct {
		of crowd
		k  int
	}
	var one, more []int // who have one row, and more than count
	for p, rows := range c {
		switch {
		case len(rows) == 1:
			one = append(one, p)
		case len(rows) > crowdMost:
			more = append(more, p)
		}
	}
	reversed := slices.Clone(c[more[0]])
	reversed = append(reversed[crowdMost:], reversed[:crowdMost]...)
	return map[string]step{
		"1 row by as many as count":   {c.with(map[int][]given.Row{one[0]: many(crowdMost, -1, 1)}), 1},
		"1 row by ten times as many":  {c.with(map[int][]given.Row{one[1]: many(10*crowdMost, 1e9, 0)}), 1},
		"1 row by none":               {c.with(map[int][]given.Row{one[2]: nil}), 1},
		"many rows by one":            {c.with(map[int][]given.Row{more[1]: many(1, 1, 1)}), 1},
		"many rows by others":         {c.with(map[int][]given.Row{more[2]: many(10*crowdMost, -1, 1)}), 1},
		"rows beyond, in other order": {c.with(map[int][]given.Row{more[0]: reversed}), 1},
		"two persons made one":        {c.with(map[int][]given.Row{one[0]: append(slices.Clone(c[one[0]]), c[more[0]]...), more[0]: nil}), 2},
		"one person made two":         {c.with(map[int][]given.Row{more[0]: c[more[0]][:2], one[1]: c[more[0]][2:]}), 2},
		"three others":                {c.with(map[int][]given.Row{one[0]: many(40, 1, 0), one[1]: nil, more[1]: many(2, -1, 1)}), 3},
	}
}

// A person who is replaced by one of any number of rows moves no answer by more than it declares, and
// k persons by no more than k times that. Nothing else that leaves moves at all: after the same answers
// results, ledgers, plans and progress are the same.
func TestReplacedPersonsMoveAsDeclared(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	t.Parallel()
	c := crowdOf(60, 2)
	for name, run := range crowdRuns(t) {
		a := run.play(c.dataset(t, c.plainly(), run), nil)
		if a.Err != nil {
			t.Fatalf("%s: %v", name, a.Err)
		}
		for how, to := range c.replacing() {
			if !sample.One(3, name, how) {
				continue
			}
			b := run.play(to.of.dataset(t, to.of.anyhow(8), run), given.Replay(a.Tape.Heard))
			if len(a.Tape.Heard) != len(b.Tape.Heard) || a.Tape.Drawn != b.Tape.Drawn {
				t.Errorf("%s, %s: %d releases and %d words of noise, then %d and %d: %v", name, how, len(a.Tape.Heard), a.Tape.Drawn, len(b.Tape.Heard), b.Tape.Drawn, b.Err)
				continue
			}
			if a.Out != b.Out {
				t.Errorf("%s, %s: after the same answers something else is released:\n%s\n%s", name, how, a.Out, b.Out)
			}
			for k, h := range a.Tape.Heard {
				g := b.Tape.Heard[k]
				if h.Label != g.Label || h.Rows != g.Rows || h.L2 != g.L2 || h.Mu != g.Mu || h.Noise != g.Noise || !slices.Equal(h.Each, g.Each) {
					t.Errorf("%s, %s: release %d is %v and %v", name, how, k, h, g)
				}
				if name == "ObjectivePerturbation" { // whose proof couples the linear term
					continue
				}
				if moved := h.Moved(g); moved > float64(to.k) {
					t.Errorf("%s, %s: release %d, %v, moves by %g of its sensitivity", name, how, k, h, moved)
				}
			}
		}
	}
}

// Whoever is replaced, by however many rows, moves the answers on one part of a Split, and of a
// Split's Split, and leaves all bits of others'.
func TestReplacedPersonsStayInTheirPart(t *testing.T) {
	t.Parallel()
	c := crowdOf(24, 3)
	parts := func(c crowd) (heard [3][]float64) {
		first, last, err := c.dataset(t, c.anyhow(1), crowdRun{facts: crowdFacts}).Split(0.25, 2)
		if err != nil {
			t.Fatal(err)
		}
		train, held, err := first.Split(0.5, 3)
		if err != nil {
			t.Fatal(err)
		}
		for k, d := range []*dpglm.Dataset{train, held, last} {
			p := &given.Tape{Words: given.Words{Seed: 1}}
			if _, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: crowdLogits.Loss, Radius: 1}, crowdBudget, dpglm.NoisyGDConfig{Steps: 1, Clip: 0.1}, &dpglm.Env{NoiseForTests: p}); err != nil {
				t.Fatal(err)
			}
			heard[k] = p.Heard[0].Values
		}
		return heard
	}
	before, sizes := parts(c), [3]int{}
	for p := range c {
		after, changed := parts(c.with(map[int][]given.Row{p: {{X: []float64{0.123}, Y: 1}, {X: []float64{-0.77}, Y: 1}, {X: []float64{0.123}, Y: 1}, {X: []float64{0.123}, Y: 1}}})), 0
		for k := range before {
			if !slices.Equal(before[k], after[k]) {
				changed++
				sizes[k]++
			}
		}
		if changed != 1 {
			t.Errorf("person %d, replaced, changes answers on %d parts", p, changed)
		}
	}
	if sizes != [3]int{9, 9, 6} {
		t.Errorf("parts of %v persons", sizes)
	}
}

// Where nearly nobody has rows all is released as if everybody had: parts without rows are no error
// and no panic, in memory, in a file and with workers, which have blocks of persons without rows.
func TestPersonsWithoutRowsAreNoError(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	t.Parallel()
	c := make(crowd, 4200)
	c[5] = []given.Row{{X: []float64{1}, Y: 1}, {X: []float64{-1}, Y: 1}}
	full := c.with(nil)
	for p := range full {
		full[p] = []given.Row{{X: []float64{1}, Y: float64(p % 2)}}
	}
	for name, run := range crowdRuns(t) {
		if run.weighted || run.detailed { // no other parts
			continue
		}
		want := run.play(full.dataset(t, full.plainly(), run), nil)
		if want.Err != nil {
			t.Fatalf("%s: %v", name, want.Err)
		}
		data := c.stored(t, c.plainly(), run)
		data["memory"] = c.dataset(t, c.plainly(), run)
		for where, d := range data {
			if !sample.One(3, name, where) {
				continue
			}
			got := run.play(d, given.Replay(want.Tape.Heard))
			if got.Out != want.Out || got.Tape.Drawn != want.Tape.Drawn {
				t.Errorf("%s, %s: after the same answers something else is released:\n%s\n%s", name, where, want.Out, got.Out)
			}
		}
	}
}

// Without a PersonOrder the order is another one each time, wherever the rows lie, and the ledger
// doesn't call it the caller's.
func TestOrderIsFresh(t *testing.T) {
	c := crowdOf(60, 4)
	f := c.form(c.plainly(), crowdRun{facts: crowdFacts})
	open := map[string]func() (*dpglm.Dataset, error){
		"memory": func() (*dpglm.Dataset, error) { return dpglm.NewDataset(f.X, f.Y, f.Facts, f.More...) },
		"table": func() (*dpglm.Dataset, error) {
			return dpglm.NewTableDataset(given.ReadTable(t, staysSchema(""), staysOf("a")))
		},
	}
	path := t.TempDir() + "/x.rows"
	if err := dpglm.WriteRows(ctx, path, f.X, f.Y, f.More...); err != nil {
		t.Fatal(err)
	}
	open["file"] = func() (*dpglm.Dataset, error) { return dpglm.OpenRows(ctx, path, f.Facts) }
	open["workers"] = func() (*dpglm.Dataset, error) {
		return dpglm.OpenRowsOn(ctx, path, f.Facts, given.Workers{Count: 2, Dir: t.TempDir()})
	}
	for where, open := range open {
		seen := map[string]bool{}
		for range 3 {
			d, err := open()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			_, held, err := d.Split(0.5, 1)
			if err != nil {
				t.Fatal(err)
			}
			p := &given.Tape{Words: given.Words{Seed: 1}}
			if _, err := dpglm.NoisyGD(ctx, held, dpglm.Problem{Loss: crowdLogits.Loss, Radius: 1}, crowdBudget, dpglm.NoisyGDConfig{Steps: 1, Clip: 0.1}, &dpglm.Env{NoiseForTests: p}); err != nil {
				t.Fatal(err)
			}
			seen[fmt.Sprint(p.Heard[0].Values)] = true
		}
		if len(seen) != 3 {
			t.Errorf("%s: of three orders %d are new", where, len(seen))
		}
	}
}

// A predictor's state is of data where so many persons are stated, or of data where so many occur:
// the promises differ.
func TestStatesTellStatedPersons(t *testing.T) {
	x, y, of := mat.NewDense(12, 1, nil), make([]float64, 12), make([]int, 12)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range y {
		x.Set(i, 0, r.Float64())
		y[i], of[i] = float64(i%2), i
	}
	predictor := func(count int) *dpglm.Predictor {
		d := datasetOf(t, visits{x: x, y: y}, dpglm.Bounds{Feature: 1}, dpglm.Persons{Of: of, Count: count, MaxRows: 1})
		p, err := dpglm.NewPredictor(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, crowdBudget, dpglm.VoteConfig{Queries: 2, Parts: 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, counts := range [][2]int{{12, 0}, {0, 12}, {12, 12}, {0, 0}} {
		state, err := predictor(counts[0]).State()
		if err != nil {
			t.Fatal(err)
		}
		if err := predictor(counts[1]).Restore(state); (err == nil) != (counts[0] == counts[1]) {
			t.Errorf("a state of %d stated persons, 0 for those who occur, for a predictor of %d: %v", counts[0], counts[1], err)
		}
	}
}
