package persons_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/table/party"
)

// protection is whom a guarantee is for, against what, and where the rows are.
type protection struct {
	unit    string // rows, persons, or persons alike
	removed bool   // whether there is one more or less, and not another one
	place   string // memory, file, workers, or parties
}

func (p protection) String() string {
	return fmt.Sprintf("%s, removed %v, %s", p.unit, p.removed, p.place)
}

// protections are all that there might be.
func protections() (all []protection) {
	for _, unit := range []string{"rows", "persons", "persons alike"} {
		for _, removed := range []bool{false, true} {
			for _, place := range []string{"memory", "file", "workers", "parties"} {
				all = append(all, protection{unit, removed, place})
			}
		}
	}
	return all
}

// summed are the runs that ask for nothing but sums over single rows, as several parties answer them.
var summed = []string{"NoisyGD", "OneAgainstRest", "Auto", "StandardisedGD", "Infer", "Softmax", "Evaluate", "Moments"}

// refused is what a run's error says, before anything is released, where it isn't for a protection; empty where it is.
func (p protection) refused(name string, run crowdRun) string {
	switch {
	case p.place == "parties" && (p.unit != "rows" || run.weighted || run.detailed):
		return "must have no persons, weights or offsets"
	case p.place == "parties" && p.removed:
		return "must not be secret in their number"
	case p.place == "parties" && !slices.ContainsFunc(summed, func(of string) bool { return strings.HasPrefix(name, of) }):
		return "one party"
	}
	return ""
}

// neighbours are two crowds, of persons or of single rows, that differ in one of them.
func (p protection) neighbours() [2]crowd {
	c := crowdOf(60, 6)
	other := []given.Row{{X: []float64{-1}, Y: 1, Weight: given.Heavy, Offset: 2}}
	if p.unit == "rows" {
		for k := range c {
			c[k] = c[k][:min(1, len(c[k]))]
		}
		c = slices.DeleteFunc(c, func(rows []given.Row) bool { return len(rows) == 0 })
	} else {
		other = slices.Repeat(other, 10*crowdMost)
	}
	if p.removed {
		other = nil
	}
	return [2]crowd{c, c.with(map[int][]given.Row{7: other})}
}

// details are those of a crowd that is written down.
func (p protection) details(c crowd, f *given.Form) {
	persons := f.More[0].(dpglm.Persons)
	persons.Alike = p.unit == "persons alike"
	if p.removed {
		persons.Count = 0
		f.More = append(f.More, dpglm.AddRemove{AtMost: len(c)})
	}
	if f.More[0] = persons; p.unit == "rows" {
		f.More = f.More[1:]
	}
}

// dataset is a crowd's. Its error is that of who opens the rows.
func (p protection) dataset(t *testing.T, c crowd, run crowdRun) (*dpglm.Dataset, error) {
	t.Helper()
	m := c.plainly()
	f := c.form(m, run)
	p.details(c, &f)
	order := []dpglm.PersonOrder{c.placed(t, m)}
	if p.unit == "rows" && !p.removed {
		order = nil
	}
	if p.place == "memory" {
		for _, o := range order {
			f.More = append(f.More, o)
		}
		return dpglm.NewDataset(f.X, f.Y, f.Facts, f.More...)
	}
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, f.X, f.Y, f.More...); err != nil {
		t.Fatal(err)
	}
	switch p.place {
	case "file":
		return dpglm.OpenRows(ctx, path, f.Facts, order...)
	case "workers":
		return dpglm.OpenRowsOn(ctx, path, f.Facts, given.Workers{Count: 3, Dir: t.TempDir()}, order...)
	}
	one, err := party.Open(path, given.AnyPlan)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { one.Close() })
	return dpglm.OpenParties(dpglm.Parties{Rows: []int{len(f.Y)}, Columns: 1}, f.Facts, &given.Masked{Parties: []*party.Party{one}, Bits: 64, R: rand.New(rand.NewPCG(1, 2))})
}

// Each learner, search, evaluation and predictor protects rows, and persons whose rows or who count alike, against
// another one in the place of one and against one less, wherever the rows are: answers move by no more than they declare and
// nothing else moves; or it says why it doesn't before anything is released.
func TestAllProtections(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	t.Parallel()
	supported := 0
	for name, run := range crowdRuns(t) {
		for i, p := range protections() {
			if !sample.Nth(5, i, name) {
				continue
			}
			var ran [2]given.Ran
			script := []given.Heard(nil)
			for k, c := range p.neighbours() {
				d, err := p.dataset(t, c, run)
				if err != nil {
					ran[k] = given.Ran{Err: err, Tape: &given.Tape{}}
					continue
				}
				t.Cleanup(func() { d.Close() })
				if k == 0 {
					ran[k] = run.play(d, nil)
					script = ran[k].Tape.Heard
				} else {
					ran[k] = run.play(d, given.Replay(script))
				}
			}
			if want := p.refused(name, run); want != "" {
				for _, r := range ran {
					if r.Err == nil || !strings.Contains(r.Err.Error(), want) || len(r.Tape.Heard) > 0 {
						t.Errorf("%s, %v: %d releases, %v, want an error that says %q", name, p, len(r.Tape.Heard), r.Err, want)
					}
				}
				continue
			}
			supported++
			testMoved(t, fmt.Sprintf("%s, %v", name, p), ran, name == "ObjectivePerturbation")
		}
	}
	t.Logf("%d combinations are supported", supported)
}

// testMoved compares two runs on neighbours, the second of which had the answers of the first.
func testMoved(t *testing.T, name string, ran [2]given.Ran, coupled bool) {
	t.Helper()
	a, b := ran[0], ran[1]
	if a.Err != nil || len(a.Tape.Heard) == 0 {
		t.Errorf("%s: %d releases, %v", name, len(a.Tape.Heard), a.Err)
		return
	}
	if len(a.Tape.Heard) != len(b.Tape.Heard) || a.Tape.Drawn != b.Tape.Drawn || a.Out != b.Out {
		t.Errorf("%s: after the same answers something else is released: %v\n%s\n%s", name, b.Err, a.Out, b.Out)
		return
	}
	moved := 0.0
	for k, h := range a.Tape.Heard {
		g := b.Tape.Heard[k]
		if h.Label != g.Label || h.Rows != g.Rows || h.L2 != g.L2 || h.Mu != g.Mu || h.Noise != g.Noise || !slices.Equal(h.Each, g.Each) {
			t.Errorf("%s: release %d is %v and %v", name, k, h, g)
		}
		if coupled { // the proof of objective perturbation couples the linear term
			continue
		}
		by := h.Moved(g)
		if moved = max(moved, by); by > 1 {
			t.Errorf("%s: release %d, %v, moves by %g of its sensitivity", name, k, h, by)
		}
	}
	few := coupled // whether few rows decide what is released
	for _, of := range []string{"votes", "walk", "FrankWolfe of a part", "SelectModel of classes", "GridSearch of classes by errors"} {
		few = few || strings.HasPrefix(name, of)
	}
	if moved == 0 && !few {
		t.Errorf("%s: nothing moves", name)
	}
}
