package replay_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// splitRows is the number of rows in these tests: their sums have exact bits.
const splitRows = 21

// numbered makes data whose sums tell which rows they are over: the labels are
// label(i), powers of two, and the features (1, anything). The gradient sum of the
// squared loss at zero then is −Σ label(i) in its first coordinate, and the sum of
// losses there ½·Σ label(i)², both exact.
func numbered(t *testing.T, seed uint64, label func(i int) float64) *dpglm.Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	x, y := mat.NewDense(splitRows, 2, nil), make([]float64, splitRows)
	for i := range y {
		x.SetRow(i, []float64{1, r.NormFloat64()})
		y[i] = label(i)
	}
	d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 100, Label: math.Ldexp(1, splitRows)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The labels: row i's is 2^place(i).
func rising(i int) int  { return i }
func falling(i int) int { return splitRows - 1 - i }

// rowsOf reads the rows off an exact sum of base^place(i).
func rowsOf(t *testing.T, sum float64, base int, place func(int) int) (members []int) {
	t.Helper()
	for i := range splitRows {
		digit := int(math.Round(sum)) / int(math.Pow(float64(base), float64(place(i)))) % base
		if digit == 1 {
			members = append(members, i)
		} else if digit > 1 {
			t.Fatalf("%g has row %d %d times", sum, i, digit)
		}
	}
	return members
}

// TestSplitsDependOnTheSeedOnly reads off the door which rows each part of a split
// has: the parts cover the rows once, and are the same for any features and with
// the labels in any order.
func TestSplitsDependOnTheSeedOnly(t *testing.T) {
	step := dpglm.NoisyGDConfig{Steps: 1, StepSize: 1e-55, Clip: 1e50} // weights stay at zero
	grid := dpglm.GridSearchConfig{Learner: step, Radii: []float64{1, 2}, Seed: 5}
	for name, learner := range map[string]func(seed uint64) dpglm.Learner{
		"Boost": func(seed uint64) dpglm.Learner { return dpglm.BoostConfig{Learner: step, Chunks: 3, Seed: seed} },
		"GridSearch": func(seed uint64) dpglm.Learner {
			return dpglm.GridSearchConfig{Learner: step, Radii: []float64{1, 2}, Seed: seed}
		},
		"Boost over GridSearch": func(seed uint64) dpglm.Learner {
			return dpglm.BoostConfig{Learner: grid, Chunks: 2, Seed: seed}
		},
	} {
		first := partsAtTheDoor(t, learner(1), 1, rising)
		covered := slices.Sorted(slices.Values(slices.Concat(first...)))
		if all := slices.Collect(func(yield func(int) bool) {
			for i := 0; i < splitRows && yield(i); i++ {
			}
		}); !slices.Equal(covered, all) {
			t.Errorf("%s: the parts %v don't have each row once", name, first)
		}
		if again := partsAtTheDoor(t, learner(1), 2, rising); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("%s: the parts are %v, and with other features %v: a split depends on data", name, first, again)
		}
		if again := partsAtTheDoor(t, learner(1), 1, falling); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("%s: the parts are %v, and with other labels %v: a split depends on data", name, first, again)
		}
		if other := partsAtTheDoor(t, learner(2), 1, rising); fmt.Sprint(other) == fmt.Sprint(first) {
			t.Errorf("%s: two seeds have the same parts %v", name, first)
		}
	}
}

// partsAtTheDoor returns the rows that each set of rows at the door has, in the order of
// its first release.
func partsAtTheDoor(t *testing.T, l dpglm.Learner, features uint64, place func(int) int) (parts [][]int) {
	t.Helper()
	sums := atTheDoor(t, l, numbered(t, features, func(i int) float64 { return math.Ldexp(1, place(i)) }))
	zeros := atTheDoor(t, l, numbered(t, features, func(int) float64 { return 0 })) // penalties alone
	known := map[int]bool{}
	for k, h := range sums {
		if known[h.Rows] {
			continue
		}
		known[h.Rows] = true
		if h.Mechanism == "gaussian" {
			parts = append(parts, rowsOf(t, -h.Values[0], 2, place))
		} else {
			parts = append(parts, rowsOf(t, 2*(h.Values[0]-zeros[k].Values[0]), 4, place))
		}
	}
	return parts
}

// atTheDoor records a run.
func atTheDoor(t *testing.T, l dpglm.Learner, d *dpglm.Dataset) []given.Heard {
	t.Helper()
	p := &given.Tape{Words: given.Words{Seed: 1}}
	plan, err := l.Plan(d.Shape(), dpglm.Problem{Loss: losses.Squared{}, Radius: 1}, dpglm.GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Run(context.Background(), d, &dpglm.Env{NoiseForTests: p}); err != nil {
		t.Fatal(err)
	}
	return p.Heard
}

// TestSecureSourcesHaveLongKeys draws so many fresh sources that two of them would
// agree if their keys had 32 bits or fewer, but for a probability of e^-8; with 256
// bits a false alarm has less than 2^-27.
func TestSecureSourcesHaveLongKeys(t *testing.T) {
	const sources = 1 << 18
	seen := make(map[uint64]bool, sources)
	for range sources {
		v := mechanisms.NewSecureSource().Uint64()
		if seen[v] {
			t.Fatal("two fresh sources begin with the same word")
		}
		seen[v] = true
	}
}

// TestNoiseIsFresh runs without an Env: each run draws from a source of its own.
func TestNoiseIsFresh(t *testing.T) {
	d := numbered(t, 1, func(int) float64 { return 1 })
	seen := map[string]bool{}
	for range 3 {
		m, err := dpglm.OutputPerturbation(context.Background(), d, dpglm.Problem{Loss: losses.Squared{}, Radius: 1}, dpglm.GDP(1), dpglm.OutputPerturbationConfig{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.Ledger().CallerNoise() {
			t.Error("the ledger of a run without an Env says that its noise was the caller's")
		}
		w := fmt.Sprint(m.Weights()[0])
		if seen[w] {
			t.Error("two runs have the same noise")
		}
		seen[w] = true
	}
}
