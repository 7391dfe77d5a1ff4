package dpglm

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// A search's run keeps the projection that its candidates share, and no other; the
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
	data := all.data.Split(1, n)[0]
	own, shared := &run{ctx: ctx, data: data}, &run{ctx: ctx, data: data, shared: &shared{}}

	sum := func(c JLConfig, r *run, bound float64) []float64 {
		projected, err := c.project(r, c.phi(d), bound)
		if err != nil {
			t.Fatal(err)
		}
		g, _ := gradient(t, &Dataset{data: projected}, losses.Logistic{}, slices.Repeat([]float64{1}, c.K), NoClip)
		return g
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
		sum(base, shared, bound)
		before := shared.shared.projection.data
		c.change(&config, &bound)
		if !slices.Equal(sum(config, own, bound), sum(config, shared, bound)) {
			t.Errorf("%s: the shared projection differs", name)
		}
		if got := shared.shared.projection.data == before; got != c.same {
			t.Errorf("%s: shared with the one before: %t", name, got)
		}
	}
}
