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

	scores := func(c JLConfig, data *Dataset, bound float64) []float64 {
		table, err := c.project(ctx, data, c.phi(d), bound)
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float64, n)
		table.Scores(z, slices.Repeat([]float64{1}, c.K))
		return z
	}
	base := JLConfig{K: 5, Map: SparseMap, Learner: NoisyGDConfig{Steps: 3}}
	for name, c := range map[string]struct {
		change func(*JLConfig, *float64)
		same   bool
	}{
		"no change":     {func(*JLConfig, *float64) {}, true},
		"other learner": {func(c *JLConfig, _ *float64) { c.Learner = NoisyGDConfig{Steps: 5} }, true},
		"other seed":    {func(c *JLConfig, _ *float64) { c.Seed = 7 }, false},
		"other k":       {func(c *JLConfig, _ *float64) { c.K = 6 }, false},
		"other map":     {func(c *JLConfig, _ *float64) { c.Map = HadamardMap }, false},
		"other bound":   {func(_ *JLConfig, bound *float64) { *bound = 2 }, false},
	} {
		config, bound := base, 1.0
		scores(base, shared, bound)
		before := shared.projected.table
		c.change(&config, &bound)
		if !slices.Equal(scores(config, alone, bound), scores(config, shared, bound)) {
			t.Errorf("%s: the shared projection differs", name)
		}
		if got := shared.projected.table == before; got != c.same {
			t.Errorf("%s: shared with the one before: %t", name, got)
		}
	}
}
