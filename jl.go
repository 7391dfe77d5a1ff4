package dpglm

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/sketch"
)

var _ Learner = JLConfig{}

// JLMap is a kind of Johnson–Lindenstrauss map Φ: R^d → R^k.
type JLMap string

// The maps. The empty string means SparseMap. Gaussian and Rademacher maps store
// d·k numbers, the others O(d + k).
const (
	GaussianMap   JLMap = "gaussian"   // independent N(0, 1/k) entries
	RademacherMap JLMap = "rademacher" // independent entries ±1/√k
	SparseMap     JLMap = "sparse"     // 8 entries ±1/√8 a column: 8 operations for each nonzero of a row
	HadamardMap   JLMap = "hadamard"   // subsampled randomised Hadamard: O(d·log d) a row
)

// JLConfig holds the parameters of JL; it is the Learner.
type JLConfig struct {
	// Learner is trained on the projected rows; nil is NoisyGDConfig{}.
	Learner Learner `json:"learner"`
	// Map is the kind of map; the empty string takes SparseMap.
	Map JLMap `json:"map"`
	// K is the dimension to project to; 0 takes the one that balances the error
	// of the projection against that of the noise. From the number of features on nothing
	// is projected.
	K int `json:"k"`
	// Slack is α, from 0 to 1: rows that the map makes longer than X(1+α) are scaled to it, and the radius is B(1+α);
	// 0, no slack, shortens rows on the bound by 0.23/√k on average, and few others, where noise grows as (1+α)². The paper's doubled
	// radius is 1.
	Slack float64 `json:"slack"`
	// Seed makes the map, which is public.
	Seed uint64 `json:"seed"`
}

// JL trains in a random low-dimensional projection of the rows [AB+22,
// Algorithm 2], so that noise costs √k instead of √d:
//
//	w̃ = A({(Φxᵢ, yᵢ)}, radius B'),  released: Φᵀw̃
//
// The intercept is not projected. If k would reach d, nothing is projected, and
// the ledger is the inner learner's.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one. Φ is drawn from Seed alone. Each row depends on its own original
// only, and is scaled down to the bound X̃ again after the projection: whatever Φ
// is, the inner learner sees rows within the bound that its plan assumes, and its
// guarantee is the whole one. (The paper spends δ/2 on the event that Φ lengthens
// a row.) The map back is post-processing.
//
// # Parameters
//
// With H, G, X, B of the original problem and μ the budget's,
// k = ⌈(H·B·X²·n·μ/G)^(2/3)⌉ balances the projection error HB²X²/k against the
// noise 2GB√k/(nμ) for a smooth loss, k = ⌈nμ/2⌉ does for a Lipschitz one; the
// smaller is taken. (The paper's k has a logarithm more, which makes it exceed d
// in practice.) A projection takes O(k) to O(d·log d) a row; projected rows are
// kept up to 1 GiB, and made anew in each pass beyond.
func JL(ctx context.Context, d *Dataset, p Problem, b Budget, cfg JLConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan chooses the dimension and plans the inner learner there. It fails, by an
// [ArgumentError], where the shape, the problem, the budget or a parameter breaks its rule.
func (c JLConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	asked := p // without a radius, the inner learner takes its own default
	p, err = p.resolve(s, farScore)
	if err != nil {
		return nil, err
	}
	if c, err = c.resolve(s, asked.forSteps(s), b); err != nil {
		return nil, err
	}
	features, inner, bound := s.features(), s, s.rowBound()
	label := fmt.Sprintf("JL without projection, as k would reach d = %d", features)
	if c.K < features {
		bound *= 1 + c.Slack
		inner.Dim, inner.FeatureBound = s.Dim+c.K-features, bound
		if s.Intercept {
			inner.FeatureBound = math.Hypot(bound, 1)
		}
		label = fmt.Sprintf("JL to %d dimensions by a %s map of seed %d", c.K, c.Map, c.Seed)
	} else {
		c.K, c.Slack = features, 0
	}
	child, err := planChild(c.Learner, inner, Problem{Loss: p.Loss, Classes: p.Classes, Radius: asked.Radius * (1 + c.Slack), Prior: p.Prior}, b)
	if err != nil {
		return nil, err
	}
	if c.K == features {
		p.Radius = child.Problem.Radius
	}
	schedule, err := release.Sequential(label, child.schedule)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(c, s, p, b, schedule, func(r *run) (*fitted, error) { return c.train(r, child, bound) })
	if err != nil {
		return nil, err
	}
	if c.K < features {
		plan.asks.projects = c.projection(bound)
	}
	plan.asks.pairs = child.asks.pairs
	plan.weightBound, plan.spread, plan.Passes = child.weightBound*(1+c.Slack), child.spread, after(child, 2)
	plan.asks.joint, plan.asks.holds, plan.asks.starts = child.asks.joint, child.asks.holds, child.asks.starts
	return plan, nil
}

// train trains the inner learner on projected rows and maps its weights back.
func (c JLConfig) train(r *run, child *Plan, bound float64) (*fitted, error) {
	allow, err := r.allow.Part(0)
	if err != nil {
		return nil, err
	}
	shown, features := *r, shapeOf(r.data).features()
	shown.inner = r.progress
	if c.K == features {
		return child.inside(&shown, r.data, allow)
	}
	phi := c.phi(features)
	projected, err := c.project(r, phi, bound)
	if err != nil {
		return nil, err
	}
	shown.levels, shown.ranged = func() [][]int { return nil }, func() []int { return nil } // a projection's features are no levels, and have no ranges
	f, err := child.inside(&shown, projected, allow)
	if err != nil {
		return nil, err
	}
	for k, w := range f.weights {
		back := make([]float64, features, features+1)
		phi.Transpose(back, w[:c.K])
		f.weights[k] = append(back, w[c.K:]...)
	}
	return f, nil
}

// project returns the projected rows. The candidates of a search mostly have one
// map: they share the last projection, the same bits, made once.
func (c JLConfig) project(r *run, phi sketch.Map, bound float64) (*curator.Data, error) {
	if r.shared == nil {
		return r.data.Project(r.ctx, phi, bound)
	}
	p, last := c.projection(bound), &r.shared.projection
	if p.of, p.data = r.data, last.data; p == *last {
		return p.data, nil
	}
	*last = projection{} // lets go of its memory
	var err error
	if p.data, err = r.data.Project(r.ctx, phi, bound); err == nil {
		*last = p
	}
	return p.data, err
}

// projection is the configuration's, of no rows yet.
func (c JLConfig) projection(bound float64) projection {
	return projection{k: c.K, kind: string(c.Map), seed: c.Seed, bound: bound}
}

// phi draws the map.
func (c JLConfig) phi(features int) sketch.Map {
	switch c.Map {
	case GaussianMap:
		return sketch.NewGaussian(c.K, features, c.Seed)
	case RademacherMap:
		return sketch.NewRademacher(c.K, features, c.Seed)
	case SparseMap:
		return sketch.NewSparse(c.K, features, c.Seed)
	default:
		return sketch.NewHadamard(c.K, features, c.Seed)
	}
}

func (c JLConfig) resolve(s Shape, p Problem, b Budget) (JLConfig, error) {
	switch c.Map {
	case "":
		c.Map = SparseMap
	case GaussianMap, RademacherMap, SparseMap, HadamardMap:
	default:
		return c, check.Fail(ErrConfig, "JLConfig.Map", fmt.Sprintf("%q", c.Map), "must be gaussian, rademacher, sparse or hadamard")
	}
	if c.K < 0 {
		return c, check.Fail(ErrConfig, "JLConfig.K", c.K, "must be at least 1, or 0 for the default")
	}
	if !(c.Slack >= 0 && c.Slack <= 1) {
		return c, check.Fail(ErrConfig, "JLConfig.Slack", c.Slack, "must be from 0 to 1")
	}
	if c.Learner == nil {
		c.Learner = NoisyGDConfig{}
	}
	mu, err := b.gdp()
	if err != nil {
		return c, err
	}
	k := p.Loss.Constants(s.FeatureBound*p.Radius, s.LabelBound)
	if c.K == 0 {
		n := float64(s.Rows)
		x := s.FeatureBound
		smooth := math.Pow(k.Smoothness*p.Radius*x*n*mu/k.Slope, 2.0/3)
		lipschitz := math.Inf(1)
		if !math.IsInf(k.Lipschitz, 1) {
			lipschitz = n * mu / 2
		}
		c.K = int(math.Ceil(min(smooth, lipschitz, float64(s.features()))))
	}
	return c, nil
}
