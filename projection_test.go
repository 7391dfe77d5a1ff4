package dpglm

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A search's data keep the projection that its candidates share, and no other; the
// rows are those of a projection of its own.
func TestCandidatesShareAProjection(t *testing.T) {
	ctx, r := context.Background(), rand.New(rand.NewPCG(41, 42))
	const n, d = 200, 30
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, r.NormFloat64())
		}
		y[i] = float64(r.IntN(2))
	}
	all, err := NewDataset(x, y, Bounds{Feature: 1})
	if err != nil {
		t.Fatal(err)
	}
	alone, shared := all.pick(permutation(n, 1)), all.pick(permutation(n, 1))
	shared.projected = new(projection)

	base := JLConfig{K: 5, Map: SparseMap, Learner: NoisyGDConfig{Steps: 3}}
	last := projection{}
	for _, c := range []struct {
		change func(*JLConfig, *float64)
		same   bool // as the one before
	}{
		{func(*JLConfig, *float64) {}, false},
		{func(c *JLConfig, _ *float64) { c.Learner = NoisyGDConfig{Steps: 5} }, true},
		{func(c *JLConfig, _ *float64) { c.Seed = 7 }, false},
		{func(c *JLConfig, _ *float64) { c.K = 6 }, false},
		{func(c *JLConfig, _ *float64) { c.Map = HadamardMap }, false},
		{func(_ *JLConfig, bound *float64) { *bound = 2 }, false},
		{func(*JLConfig, *float64) {}, false},
	} {
		config, bound := base, 1.0
		c.change(&config, &bound)
		var scores [2][]float64
		for k, data := range []*Dataset{alone, shared} {
			table, err := config.project(ctx, data, config.phi(d), bound)
			if err != nil {
				t.Fatal(err)
			}
			scores[k] = make([]float64, n)
			table.Scores(scores[k], slices.Repeat([]float64{1}, config.K))
		}
		if !slices.Equal(scores[0], scores[1]) {
			t.Errorf("%+v, bound %g: the shared projection differs", config, bound)
		}
		if got := shared.projected.table == last.table; got != c.same {
			t.Errorf("%+v, bound %g: shared with the one before: %t", config, bound, got)
		}
		last = *shared.projected
	}
}
