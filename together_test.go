package dpglm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// restarting is a source of noise that begins anew for each release, so that a release's
// noise doesn't depend on those before.
type restarting struct {
	mechanisms.Source
	gradients [][]float64 // raw sums of Noisy GD
}

func (r *restarting) Record(e *release.Event) {
	r.Source = mechanisms.NewSeededSource(1)
	if strings.HasPrefix(e.Label, "Noisy GD") {
		r.gradients = append(r.gradients, slices.Clone(e.Values))
	}
}

// searchable is a data set of 800 rows for searches.
func searchable(t *testing.T) *Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(51, 52))
	const n, d = 800, 20
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, r.NormFloat64()/4)
		}
		if x.At(i, 0)+r.NormFloat64()/4 > 0 {
			y[i] = 1
		}
	}
	data, err := NewDataset(x, y, Bounds{Feature: 1, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// gradientsOf are the raw gradient sums of a search.
func gradientsOf(t *testing.T, data *Dataset, candidates ...Candidate) [][]float64 {
	t.Helper()
	src := &restarting{Source: mechanisms.NewSeededSource(1)}
	_, err := GridSearch(context.Background(), data, Problem{Loss: losses.Logistic{}}, GDP(1), GridSearchConfig{Candidates: candidates}, &Env{NoiseForTests: src})
	if err != nil {
		t.Fatal(err)
	}
	return src.gradients
}

// Candidates that train together get the answers, bit by bit, that each gets where it is the
// only one that descends, step by step in the order of the candidates.
func TestTrainedTogetherAsAlone(t *testing.T) {
	data := searchable(t)
	step := func(steps int, clip float64) Learner { return NoisyGDConfig{Steps: steps, Clip: clip} }
	projected := func(seed uint64, steps int) Learner { return JLConfig{K: 5, Seed: seed, Learner: step(steps, 0.3)} }
	other := Candidate{Learner: ObjectivePerturbationConfig{}, Radius: 1}
	for name, candidates := range map[string][]Candidate{
		"Noisy GD":         {{step(3, 0.2), 2}, {step(6, 1), 1}, {step(4, NoClip), 4}, {step(2, 0.4), 1}, {step(6, 0.1), 9}},
		"JL":               {{projected(1, 4), 1}, {projected(1, 2), 3}},
		"beside others":    {{step(3, 0.2), 2}, other, {StandardisedGDConfig{}, 1}, {step(5, 0.2), 3}},
		"a search in each": {{step(3, 0.2), 2}, {GridSearchConfig{Candidates: []Candidate{{step(2, 1), 1}}}, 1}},
	} {
		var own [][][]float64
		for i := range candidates {
			if _, descends := candidates[i].Learner.(StandardisedGDConfig); descends || candidates[i].Learner == other.Learner {
				own = append(own, nil)
				continue
			}
			beside := slices.Repeat([]Candidate{other}, len(candidates))
			beside[i] = candidates[i]
			own = append(own, gradientsOf(t, data, beside...))
		}
		var want [][]float64
		if name == "a search in each" { // which trains on other rows, alone
			want = slices.Concat(own...)
		} else {
			for k := range 6 {
				for _, gradients := range own {
					if k < len(gradients) {
						want = append(want, gradients[k])
					}
				}
			}
		}
		got := gradientsOf(t, data, candidates...)
		if len(got) != len(want) || len(got) == 0 {
			t.Fatalf("%s: %d gradients, alone %d", name, len(got), len(want))
		}
		for k := range got {
			for j, v := range got[k] {
				if math.Float64bits(v) != math.Float64bits(want[k][j]) {
					t.Fatalf("%s: coordinate %d of gradient %d is %b, alone %b", name, j, k, v, want[k][j])
				}
			}
		}
	}
}

// Plans are cut into those that may share readings, none of which holds too much.
func TestBatches(t *testing.T) {
	plan := func(joint, holds, k int) *Plan {
		return &Plan{asks: asks{joint: joint, holds: holds, projects: projection{k: k}}}
	}
	gd, solver, held, image := plan(5, 0, 0), plan(0, 0, 0), plan(4, 10, 0), plan(5, 0, 3)
	got := batches([]*Plan{gd, solver, held, image, gd, solver, held, held, image})
	want := [][]int{{0, 2, 4, 6}, {1}, {3, 8}, {5}, {7}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("batches %v, want %v", got, want)
	}
	for i, p := range []*Plan{gd, solver, held, image} {
		p.Passes = []int{5, 7, 9, 6}[i]
	}
	// 5 and 4 joint ones share; 5 of 9 are its own; 1 of 6 is.
	if got := passes([]*Plan{gd, solver, held, image, image}); got != 5+5+7+5+1+1 {
		t.Errorf("%d passes", got)
	}
	solver.Passes = 0
	if got := passes([]*Plan{gd, solver}); got != 0 {
		t.Errorf("%d passes with a solver's", got)
	}
}

// The first error ends all trainings, and is the one that is returned.
func TestAnErrorEndsAll(t *testing.T) {
	data := searchable(t)
	broken := errors.New("broken")
	var ends []error
	asks := func(r *run) error {
		sums, err := r.under(losses.Logistic{})
		if err == nil {
			_, err = sums.Gradient(r.ctx, make([]float64, sums.Dim()), 1)
		}
		return err
	}
	endless := &Plan{shape: data.Shape(), train: func(r *run) (*fitted, error) {
		for {
			if err := asks(r); err != nil {
				ends = append(ends, err)
				return nil, err
			}
		}
	}}
	failing := &Plan{shape: data.Shape(), train: func(r *run) (*fitted, error) {
		for range 3 {
			if err := asks(r); err != nil {
				return nil, err
			}
		}
		return nil, broken
	}}
	r := &run{ctx: context.Background(), data: data.data, progress: func(int, int) {}, shared: &shared{}}
	_, err := together(r, []*Plan{endless, failing, endless}, data.data, make([]*release.Allowance, 3), func() { t.Error("one has finished") })
	if err != broken || len(ends) != 2 || ends[0] != errStopped || ends[1] != errStopped {
		t.Errorf("returned %v, the others %v", err, ends)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.ctx, ends = ctx, nil
	cancel()
	if _, err = together(r, []*Plan{endless, endless}, data.data, make([]*release.Allowance, 2), func() {}); !errors.Is(err, context.Canceled) || len(ends) != 2 {
		t.Errorf("cancelled, it returned %v, and %d ended", err, len(ends))
	}
}

// Labels are mapped once for plans that train together, whatever losses they have.
func TestLabelsAreShared(t *testing.T) {
	data := searchable(t)
	r := &run{data: data.data, shared: &shared{}, ask: func(*curator.Question) error { return nil }}
	var first *curator.Sums
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Hinge{}} {
		if _, err := r.under(loss); err != nil {
			t.Fatal(err)
		}
		if r.shared.sums == nil || first != nil && r.shared.sums != first {
			t.Fatal("labels are mapped for each")
		}
		first = r.shared.sums
	}
	if _, err := r.under(losses.Squared{}); err == nil && r.shared.sums == first {
		t.Error("real labels are those of a binary loss")
	}
}

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
