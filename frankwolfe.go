package dpglm

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/frankwolfe"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = FrankWolfeConfig{}

// FrankWolfeOutput chooses what FrankWolfe makes of the columns that it selects.
type FrankWolfeOutput string

// The outputs. The empty string means Refit.
const (
	// Refit selects a column at most once, with 7/10 of μ², and fits those that were
	// selected by StandardisedGD, with the rest. Its weights need not lie in the ball.
	Refit FrankWolfeOutput = "refit"
	// WithinBall returns the point of the L1 ball that the steps lead to.
	WithinBall FrankWolfeOutput = "within-ball"
)

// FrankWolfeConfig holds the parameters of [FrankWolfe]; it is the Learner.
type FrankWolfeConfig struct {
	Output FrankWolfeOutput `json:"output"` // the empty string takes Refit
	// Steps is T, the number of selections, at most 10,000 and with Refit at most the number
	// of features. 0 takes ⌈(nμ√share/log(2d))^(2/3)/5⌉, share being the selections' part of μ², and twice
	// as many within the ball, at most 100.
	Steps int `json:"steps"`
	// EntryBound bounds each feature's magnitude, a public fact: noise is proportional to
	// it. Larger ones are held to it where columns are selected. 0 takes the bound on a
	// row's norm; under a Schema, and for rows of zeros and ones, 1 is right.
	EntryBound float64 `json:"entry_bound"`
	// Clip bounds the magnitude of each row's φ'. 0 takes the largest at w = 0, or a quarter
	// of it for labels that aren't binary.
	Clip float64 `json:"clip"`
}

// FrankWolfe selects a few of many columns: the private Frank–Wolfe method over an L1 ball
// (Talwar, Thakurta and Zhang 2015) for up to a million columns and more, of sparse rows.
// Weights of columns that were never selected are exactly 0. It is for truths that are
// sparse; where many columns count a little, as words of a text do, [Auto] does better.
//
//	v_t = the vertex ±eⱼ with the smallest ⟨G(w), v⟩, privately,   w ← w + (R/T)·v_t,   t = 1..T
//
// where G is the sum of gradients, each φ' held to ±Clip, and R is Problem.Radius, here that
// of the ball ‖w‖₁ ≤ R. This is the Frank–Wolfe step of size 1/t in a ball of radius
// R·t/T, known as incremental forward stagewise regression (Efron, Hastie, Johnstone and
// Tibshirani 2004; Freund, Grigas and Mazumder 2017): a step changes one weight and shrinks
// no other, so that only the rows with an entry in column j change their part of G. The
// step rule looks at no data. R is T·0.5/EntryBound unless it is given, and T/8 label
// bounds over EntryBound for real labels.
//
// With an intercept, the labels' noisy mean begins it, and before the steps 3, 5, 9, 17 and
// so on the noisy sum of φ' moves it; the other weights are selected beside it.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one.
//
//   - Sensitivity. A row adds cᵢxᵢⱼ to Gⱼ, |cᵢ| ≤ Clip and |xᵢⱼ| ≤ EntryBound whatever the row
//     is, and cᵢ depends on that row and on what was released only. So a replaced row
//     moves each of the 2d scores ±Gⱼ by at most Δ = 2·Clip·EntryBound. Sums are kept in
//     whole numbers of steps, 2^30 or more to Clip·EntryBound, so that they are exact, and
//     rounding adds one step to each row's part (curator.Coordinates).
//   - Mechanism. A step is an exact exponential mechanism ([mechanisms.Exponential.Rank]):
//     ε₀-DP and ε₀-bounded-range. Nothing else leaves: not the score of what was selected.
//   - The intercept. The labels' sums and Σcᵢ are released with Gaussian noise for the sensitivity
//     that StandardisedGD has of these and for 2·Clip; weights and offsets are summed as for StandardisedGD.
//   - Refit. Selected columns are a public map of the rows, and the releases of
//     [StandardisedGD] on these come from one Gaussian pool with the intercept's.
//   - Composition. T bounded-range selections and the pool compose adaptively; ε₀ is fixed
//     in advance, calibrated so that the ledger's numerical composition, or under a GDP
//     budget their Gaussian bound √T·μ(ε₀), keeps to the budget.
//
// All of that is enforced for every input. The caller must take bounds, Problem and
// configuration from public knowledge.
//
// # Parameters
//
// x is n×d, dense or sparse. For sparse rows the first pass takes time proportional to their
// entries, and with it an index of the columns' rows is made; a step takes time proportional
// to the entries of the rows with one in the selected column, and a selection's doesn't
// grow with d (as in Raff, Khanna and Lu 2023, whose sampler this is not: it is exact). An
// intercept's moves are passes over all rows, log₂T of them. Dense rows, and sparse ones with
// a range that isn't symmetric about 0, take a pass of O(n·d) a step. Beside the data it
// holds 8 bytes a row, 4 an entry and some 60 a column. Rows in a file, and rows that workers read, take a pass over
// all entries a step, which makes scores anew of the weights so far; nothing is held of a row, and the sums are the
// same. Refit is StandardisedGD on n×T numbers.
func FrankWolfe(ctx context.Context, d *Dataset, p Problem, b Budget, cfg FrankWolfeConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// frankWolfe is a planned run.
type frankWolfe struct {
	FrankWolfeConfig
	shape  Shape
	radius float64
	by     mechanisms.Exponential
	// rest is planned for all columns that may be selected; its pool isn't where nothing is
	// left to it.
	rest   *standardised
	pooled bool
}

// selectingShare is the selections' part of μ².
func (c FrankWolfeConfig) selectingShare(s Shape) float64 {
	switch {
	case c.Output == Refit:
		return tuning.SelectShareRefit
	case s.Intercept:
		return tuning.SelectShare
	}
	return 1
}

// What is planned of a refit.
const (
	refitPasses = 42   // over the rows
	leastRest   = 0.05 // of μ², where nothing is left to it and its pool isn't used
)

// Plan calibrates the selections and the pool. It fails, by an [ArgumentError], where the shape,
// the problem, the budget, which may not be pure, or a parameter breaks its rule.
func (c FrankWolfeConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	given := p.Radius
	if p, err = p.resolve(s, nearScore); err != nil {
		return nil, err
	}
	if s.Rows > curator.MostCoordinateRows { // beyond which whole numbers are too large
		return nil, check.Fail(ErrShape, "Shape.Rows", s.Rows, fmt.Sprintf("must be at most %d", curator.MostCoordinateRows))
	}
	whole, err := b.gaussian(1, 1) // refuses a pure budget
	if err != nil {
		return nil, err
	}
	if c, err = c.resolve(s, p, whole.Mu); err != nil {
		return nil, err
	}
	if given == 0 {
		p.Radius = float64(c.Steps) * c.step(p.Loss.Labels(), s.LabelBound)
		if err := check.Bound("Problem.Radius", p.Radius); err != nil {
			return nil, err
		}
	}
	f := &frankWolfe{FrankWolfeConfig: c, shape: s, radius: p.Radius}
	schedule, err := f.schedule(p, b, whole.Mu)
	if err != nil {
		return nil, err
	}
	plan, err := planScore(c, s, p, b, schedule, f.train)
	if err != nil {
		return nil, err
	}
	plan.weightBound = weightRadii * f.rest.problem.Radius // an expectation, as for StandardisedGD
	plan.Passes = c.Steps + c.moves() + 2
	if c.Output == Refit {
		plan.Passes += refitPasses
		plan.Note = f.rest.note() // of what selections leave
	}
	return plan, nil
}

// schedule plans the releases: the selections, then the pool.
func (f *frankWolfe) schedule(p Problem, b Budget, mu float64) (*release.Schedule, error) {
	share := f.selectingShare(f.shape)
	inner := f.selected(f.Steps)
	var err error
	if f.rest, err = newStandardised(inner, Problem{Loss: p.Loss}, GDP(mu*math.Sqrt(max(1-share, leastRest))*(1-poolRoom)), inner.Dim); err != nil {
		return nil, err
	}
	var parts []*release.Schedule
	if f.pooled = share < 1; f.pooled {
		pool, err := release.Pool("intercept and refit", f.rest.mu, f.rest.releases, f.rest.dim)
		if err != nil {
			return nil, err
		}
		parts = append(parts, pool)
	}
	if f.by, err = b.selections(f.Steps, share, parts); err != nil {
		return nil, err
	}
	choices, err := release.Rankings("Frank–Wolfe, vertices", f.by, f.Steps)
	if err != nil {
		return nil, err
	}
	return release.Sequential("Frank–Wolfe", append([]*release.Schedule{choices}, parts...)...)
}

// resolve checks the configuration and fills in the defaults from public numbers; mu is the
// whole budget's.
func (c FrankWolfeConfig) resolve(s Shape, p Problem, mu float64) (FrankWolfeConfig, error) {
	switch c.Output {
	case "":
		c.Output = Refit
	case Refit, WithinBall:
	default:
		return c, check.Fail(ErrConfig, "FrankWolfeConfig.Output", fmt.Sprintf("%q", c.Output), "must be refit or within-ball")
	}
	most := maxSelections
	if c.Output == Refit {
		most = min(most, s.features())
	}
	if c.Steps < 0 || c.Steps > most {
		return c, check.Fail(ErrConfig, "FrankWolfeConfig.Steps", c.Steps, fmt.Sprintf("must lie between 1 and %d, or be 0 for the default", most))
	}
	if c.EntryBound == 0 {
		c.EntryBound = s.rowBound()
	}
	if c.Clip == 0 {
		c.Clip = smooth.Descended(p.Loss, s.LabelBound, s.exposed()).Constants(0, s.LabelBound).Slope
		if p.Loss.Labels() != losses.Binary {
			c.Clip /= tuning.SelectClip
		}
	}
	if err := check.Scale(ErrConfig, "FrankWolfeConfig.EntryBound", c.EntryBound); err != nil {
		return c, err
	}
	if err := check.Scale(ErrConfig, "FrankWolfeConfig.Clip", c.Clip); err != nil {
		return c, err
	}
	c.EntryBound = math.Min(c.EntryBound, s.rowBound())
	if c.Steps == 0 {
		signal := float64(s.Rows) * mu * math.Sqrt(c.selectingShare(s)) / math.Log(2*float64(s.features()))
		steps := math.Pow(signal, tuning.SelectPower) / tuning.SelectPace
		if c.Output == WithinBall {
			steps *= 2
		}
		c.Steps = int(min(math.Ceil(steps), tuning.SelectMost, float64(most)))
	}
	return c, nil
}

// maxSelections keeps the composition of so many selections quick.
const maxSelections = 10_000

// step is R/T unless a radius is given.
func (c FrankWolfeConfig) step(labels losses.Labels, labelBound float64) float64 {
	if labels == losses.Real {
		return labelBound / tuning.SelectStepReal / c.EntryBound
	}
	return tuning.SelectStep / c.EntryBound
}

// moves is how often the intercept is moved.
func (c FrankWolfeConfig) moves() int {
	count := 0
	for t := 2; t < c.Steps; t *= 2 {
		count++
	}
	return count
}

// selected is the shape of so many columns of the rows.
func (f *frankWolfe) selected(columns int) Shape {
	s := f.shape
	s.Dim, s.FeatureBound = columns, f.selectedBound(columns)
	if s.Intercept {
		s.Dim, s.FeatureBound = columns+1, math.Hypot(s.FeatureBound, 1)
	}
	return s
}

// selectedBound is the bound on a row of so many columns.
func (f *frankWolfe) selectedBound(columns int) float64 {
	return math.Min(f.shape.rowBound(), f.EntryBound*math.Sqrt(float64(columns)))
}

// train releases what the comment of FrankWolfe lists.
func (f *frankWolfe) train(r *run) ([]float64, error) {
	return frankwolfe.Walk{
		Rest: f.rest.estimate, Rows: r.byRows().task(), Pooled: f.pooled, Features: f.shape.features(), Steps: f.Steps, Moves: f.moves(),
		Clip: f.Clip, EntryBound: f.EntryBound, Radius: f.radius, By: f.by, Refit: f.Output == Refit, BoundOn: f.selectedBound,
	}.Fit(r.task())
}
