package party_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table/party"
)

// Answers are added modulo a power of two, so that masks which cancel leave no trace.
func TestAdd(t *testing.T) {
	for bits, want := range map[int][]uint64{64: {2, math.MaxUint64}, 8: {2, 255}} {
		sum := []uint64{5, 1}
		if err := party.Add(sum, []uint64{math.MaxUint64 - 2, math.MaxUint64 - 1}, bits); err != nil || !slices.Equal(sum, want) {
			t.Errorf("%d bits: %d, want %d (%v)", bits, sum, want, err)
		}
	}
	for _, bits := range []int{0, 65} {
		if err := party.Add([]uint64{1}, []uint64{1}, bits); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
	if err := party.Add([]uint64{1}, nil, 64); !errors.Is(err, dpglm.ErrShape) {
		t.Error(err)
	}
}

// Plans are agreed to as long as the squares of their μ are within the total's, but for rounding, and one that isn't agreed to counts nothing.
func TestWithinEndsAtItsTotal(t *testing.T) {
	const room = 1e-12 // relative, of squares
	of := func(squares float64) party.Plan { return party.Plan{Mu: math.Sqrt(squares)} }
	for _, c := range []struct {
		beyond float64
		taken  bool
	}{{-room, true}, {0, true}, {room * 0.99, true}, {room * 1.01, false}, {1e-9, false}, {1, false}, {math.Inf(1), false}, {math.NaN(), false}} {
		for _, before := range []float64{0, 0.36, 0.64} {
			within := party.Within(1)
			if before > 0 {
				if err := within(of(before)); err != nil {
					t.Fatal(err)
				}
			}
			if err := within(of(1 - before + c.beyond)); (err == nil) != c.taken || err != nil && !errors.Is(err, dpglm.ErrSpent) {
				t.Errorf("%g after %g: %v", c.beyond, before, err)
			}
			if err := within(of(1 - before)); (err == nil) != !c.taken {
				t.Errorf("%g after %g, and the rest: %v", c.beyond, before, err)
			}
		}
	}
	for _, mu := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if err := party.Within(mu)(of(1e-9)); !errors.Is(err, dpglm.ErrBudget) {
			t.Errorf("within %g: %v", mu, err)
		}
	}
}

func TestNoParty(t *testing.T) {
	if _, err := party.Open(t.TempDir()+"/none.rows", party.Within(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	var none *party.Party
	for _, p := range []*party.Party{none, {}} {
		if _, err := p.Answer(context.Background(), nil); !errors.Is(err, dpglm.ErrConfig) {
			t.Error(err)
		}
	}
}

// What a message asks for, and the checksum of an answer to it, are what a party makes of both.
func TestRead(t *testing.T) {
	const plan = `{"protocol":"dpglm parties 1","plan":{"rows":{"Columns":2,"Bound":1,"Magnitude":1,"Intercept":true,"Constant":1}}}`
	const question = `{"protocol":"dpglm parties 1","question":{"plan":"x","number":1,"step":0.5,"bound":7.5,"weights":[1,2]}}`
	for text, want := range map[string]party.Message{plan: {Plan: true, Dim: 3}, question: {Dim: 2, Bound: 7.5}} {
		if got, err := party.Read([]byte(text)); err != nil || got != want {
			t.Errorf("%+v, want %+v (%v)", got, want, err)
		}
	}
	for _, text := range []string{"", "{}", `{"protocol":"dpglm parties 1"}`, `{"protocol":"dpglm parties 2","question":{}}`, `{"protocol":"dpglm parties 1","plan":{"rows":{"Columns":-1}}}`} {
		if m, err := party.Read([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

func TestSetChecksum(t *testing.T) {
	message := []byte("question")
	for _, bits := range []int{24, 64} {
		a, b := []uint64{1, 5, 3, 7, 0}, []uint64{1, 6, 3, 9, 0}
		both := make([]uint64, len(a))
		for _, answer := range [][]uint64{a, b} {
			if err := party.SetChecksum(message, answer, bits); err != nil || answer[len(answer)-1] == 0 || answer[len(answer)-1]>>(bits-1)>>1 != 0 {
				t.Fatalf("%d bits: %d (%v)", bits, answer, err)
			}
			if err := party.Add(both, answer, bits); err != nil {
				t.Fatal(err)
			}
		}
		added := both[len(both)-1]
		if err := party.SetChecksum(message, both, bits); err != nil || both[len(both)-1] != added {
			t.Errorf("%d bits: the checksums add up to %d, and that of the sum is %d (%v)", bits, added, both[len(both)-1], err)
		}
	}
	if err := party.SetChecksum(message, make([]uint64, 4), 64); !errors.Is(err, dpglm.ErrShape) {
		t.Error(err)
	}
	for _, bits := range []int{0, 65} {
		if err := party.SetChecksum(message, make([]uint64, 5), bits); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
}
