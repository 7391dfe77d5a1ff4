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
