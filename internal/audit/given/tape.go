package given

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/release"
)

// Heard is a release, as its Event said before noise.
type Heard struct {
	Label, Mechanism string
	Rows             int // number of the set of rows, in the order of their first release
	Values, Each     []float64
	L2, Mu, Drawn    float64 // μ of a pool's release, and what of its μ² counts as used
	Noise            uint64  // words of noise drawn before
	Centre           []float64
}

func (h Heard) String() string { return fmt.Sprintf("%q (%s)", h.Label, h.Mechanism) }

// Words is a source of noise, a counter's hashes, whose place can be taken up again.
type Words struct{ Seed, Drawn uint64 }

// Uint64 is SplitMix64 (Steele, Lea and Flood 2014).
func (w *Words) Uint64() uint64 {
	w.Drawn++
	z := (w.Seed*0x2545f4914f6cdd1d + w.Drawn) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Tape is a source of noise that hears every release.
type Tape struct {
	Words
	Heard []Heard
	// overwrite may change the values of the k-th release; nil records only.
	Overwrite func(k int, e *release.Event)
	rows      []*release.Rows
}

// Record implements release.Recorder.
func (t *Tape) Record(e *release.Event) {
	k := slices.Index(t.rows, e.Rows)
	if k < 0 {
		k, t.rows = len(t.rows), append(t.rows, e.Rows)
	}
	t.Heard = append(t.Heard, Heard{e.Label, e.Mechanism, k, slices.Clone(e.Values), slices.Clone(e.Each), e.L2, e.Mu, e.Drawn, t.Drawn, e.Centre})
	if t.Overwrite != nil {
		t.Overwrite(len(t.Heard)-1, e)
	}
}

// Replay overwrites values by recorded ones, where there are as many.
func Replay(script []Heard) func(int, *release.Event) {
	return func(k int, e *release.Event) {
		if k < len(script) && len(script[k].Values) == len(e.Values) {
			copy(e.Values, script[k].Values)
		}
	}
}

// Ran is all that leaves a run.
type Ran struct {
	Out    string // all of it, bit by bit
	Result any
	Err    error
	Tape   *Tape
}

// Describe writes down a result with all its bits.
func Describe(out any, err error) string {
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

// Moved is how far two answers are apart, in units of the declared sensitivity. It
// is rounded by a few units in the last place, which count for the declaration.
func (h Heard) Moved(g Heard) float64 {
	if h.Mechanism == "linear term" {
		return 0 // noise alone; the coupling compares gradients
	}
	room := 1 + 2e-16*float64(len(h.Values)+4)
	if h.Each == nil {
		return floats.Distance(h.Values, g.Values, 2) / h.L2 / room
	}
	worst := 0.0
	for j, e := range h.Each {
		if d := math.Abs(h.Values[j] - g.Values[j]); d > 0 {
			worst = math.Max(worst, d/e/room)
		}
	}
	return worst
}
