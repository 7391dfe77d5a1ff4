package dpglm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rows"
	"github.com/dpglm/dpglm/internal/solve"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// StableConfig holds the parameters of NewStable.
type StableConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int
	// Lambda is the weight λ of the regulariser (λ/2)‖w‖²; 0 takes the one that
	// minimises the predicted risk of an answer.
	Lambda float64
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool
}

// NewStable trains one regularised model on all rows, without noise, and answers a
// query by its score plus noise [DF18, Theorem 4.9, Corollaries 4.10 and 4.11]:
//
//	w̃ = argmin_{‖w‖≤B} L̂(w) + (λ/2)‖w‖²,  answer of x: ⟨w̃, x⟩ + noise
//
// of which the class is given for binary losses and the mean for counts, as by
// Model.Predict. The noise does not grow with the dimension, as
// OutputPerturbation's does, but with the number of answers.
//
// # Privacy
//
// Replace-one. The minimiser moves by at most Δ + 2τ (see OutputPerturbation; the
// paper has 2G in place of the gradients' diameter), so a score at a row of norm
// X moves by at most X(Δ + 2τ), plus the rounding of two scalar products. Laplace
// or Gaussian noise is added by package mechanisms, whichever varies less for
// Queries answers within the budget. All else is done to the noisy score, which
// is first clamped to the largest possible one, XB.
//
// # Parameters
//
// The default radius is OutputPerturbation's, and so is λ, since a score's noise
// has the standard deviation X·Δ·s there too; s is that of an answer.
func NewStable(ctx context.Context, d *Dataset, p Problem, b Budget, cfg StableConfig, env *Env) (*Predictor, error) {
	if d == nil {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must not be nil")
	}
	s := d.Shape()
	p, noise, err := stablePlan("StableConfig", cfg.Queries, s, p, b)
	if err != nil {
		return nil, err
	}
	trained := smoothed(p.Loss, s.FeatureBound*p.Radius, s.LabelBound)
	cache := cfg.Cache
	cfg.Cache = false
	if cfg.Lambda == 0 {
		cfg.Lambda = regularisation(s, trained, p.Radius, noise.perSensitivity())
	}
	if err := check.Scale(ErrConfig, "StableConfig.Lambda", cfg.Lambda); err != nil {
		return nil, err
	}
	if err := solvable(trained, s, p, cfg.Lambda); err != nil {
		return nil, err
	}
	x := service{plan: facts("stable", cfg, s, p, b), queries: cfg.Queries, cache: cache,
		ledger: func(answers int) (*Ledger, error) { return noise.ledger("scores of a regularised minimiser", answers) }}
	if err := x.affordable(b); err != nil {
		return nil, err
	}
	sums, err := d.sums(trained)
	if err != nil {
		return nil, err
	}
	w, moves, err := minimiser(ctx, sums, p.Radius, cfg.Lambda)
	if err != nil {
		return nil, err
	}
	return x.serve(d, p, w, moves, noise, env)
}

// DescentConfig holds the parameters of NewDescent.
type DescentConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int
	// Steps is T; 0 takes ⌈H̃/λ⌉, at most 1000, for NewStable's default λ.
	Steps int
	// StepSize is η, at most 2/H̃; 0 takes 1/H̃, or 1/(λT) if that is less.
	StepSize float64
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool
}

// NewDescent is NewStable with T steps of projected gradient descent on all rows,
// from 0, in place of the minimiser: stopping early makes it stable, not a
// regulariser [DF18, Theorem 4.12 and Corollary 4.13, there with single rows].
//
// # Privacy
//
// Replace-one. On the ball the mean loss is convex and H̃-smooth, so that a step
// w ↦ Π_B(w − η∇L̂(w)) with η ≤ 2/H̃ brings no two points further apart. At one
// point the gradients of neighbouring data sets differ by at most D/n, D their
// diameter, hence T steps lead to weights at most T·η·D/n apart, plus the rounding
// of each step on either side. The rest is as for NewStable. A loss with kinks is
// replaced by its Moreau envelope, as for OutputPerturbation.
//
// # Parameters
//
// H̃ = X²·sup φ”. The optimisation error is at most B²/(2ηT) for η ≤ 1/H̃, so ηT
// takes the place of 1/λ. T passes over the rows.
func NewDescent(ctx context.Context, d *Dataset, p Problem, b Budget, cfg DescentConfig, env *Env) (*Predictor, error) {
	if d == nil {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must not be nil")
	}
	s := d.Shape()
	p, noise, err := stablePlan("DescentConfig", cfg.Queries, s, p, b)
	if err != nil {
		return nil, err
	}
	trained := smoothed(p.Loss, s.FeatureBound*p.Radius, s.LabelBound)
	cache := cfg.Cache
	cfg.Cache = false
	if cfg, err = cfg.resolve(s, trained, p.Radius, noise.perSensitivity()); err != nil {
		return nil, err
	}
	x := service{plan: facts("descent", cfg, s, p, b), queries: cfg.Queries, cache: cache,
		ledger: func(answers int) (*Ledger, error) {
			return noise.ledger(fmt.Sprintf("scores after %d steps of descent", cfg.Steps), answers)
		}}
	if err := x.affordable(b); err != nil {
		return nil, err
	}
	sums, err := d.sums(trained)
	if err != nil {
		return nil, err
	}
	w, moves, err := cfg.descend(ctx, sums, p.Radius, env)
	if err != nil {
		return nil, err
	}
	return x.serve(d, p, w, moves, noise, env)
}

// stablePlan checks what both predictors ask for and calibrates the noise.
func stablePlan(config string, queries int, s Shape, p Problem, b Budget) (Problem, additive, error) {
	if err := checkQueries(config+".Queries", queries); err != nil {
		return p, nil, err
	}
	p, err := p.withDefault(s, 10).resolve(s)
	if err != nil {
		return p, nil, err
	}
	if err := solvable(smoothed(p.Loss, s.FeatureBound*p.Radius, s.LabelBound), s, p, 0); err != nil {
		return p, nil, err
	}
	noise, err := b.numbers(queries)
	return p, noise, err
}

// serve makes the predictor that answers by the scores of w, which one row moves
// by at most the given distance.
func (x service) serve(d *Dataset, p Problem, w []float64, moves float64, noise additive, env *Env) (*Predictor, error) {
	s := d.Shape()
	sensitivity := s.scoreSensitivity(p.Radius*(1+1e-12), moves)
	if err := noise.check(sensitivity); err != nil {
		return nil, err
	}
	limit, labels, link := s.FeatureBound*p.Radius, p.Loss.Labels(), losses.LinkOf(p.Loss)
	x.value = func(u []float64) float64 { return floats.Dot(u, w) }
	x.release = func(value float64, src mechanisms.Source) (float64, error) {
		score, err := addTo(value, sensitivity, noise, src)
		return prediction(labels, link, math.Max(-limit, math.Min(limit, score))), err
	}
	return newPredictor(d, x, env), nil
}

func (c DescentConfig) resolve(s Shape, trained losses.Loss, radius, noise float64) (DescentConfig, error) {
	smoothness := s.FeatureBound * s.FeatureBound * trained.Constants(s.FeatureBound*radius, s.LabelBound).Smoothness
	lambda := regularisation(s, trained, radius, noise)
	if c.Steps == 0 {
		c.Steps = int(min(max(math.Ceil(smoothness/lambda), 1), maxSteps))
	}
	if c.Steps < 1 {
		return c, check.Fail(ErrConfig, "DescentConfig.Steps", c.Steps, "must be at least 1, or 0 for the default")
	}
	if c.StepSize == 0 {
		c.StepSize = min(1/(lambda*float64(c.Steps)), 1/smoothness)
	}
	if !(c.StepSize > 0 && c.StepSize <= 2/smoothness) {
		return c, check.Fail(ErrConfig, "DescentConfig.StepSize", c.StepSize, fmt.Sprintf("must be positive and at most 2/H̃ = %g, or 0 for the default", 2/smoothness))
	}
	return c, nil
}

// descend returns the last iterate and how far one row can move it. Each step
// adds η(D + 2E)/n for the gradients' diameter D and the error E of a computed
// sum, and twice the rounding of the update and the projection.
func (c DescentConfig) descend(ctx context.Context, sums *rows.Sums, radius float64, env *Env) ([]float64, float64, error) {
	n, d, t := float64(sums.Rows()), float64(sums.Dim()), float64(c.Steps)
	held := radius * (1 + (d+16)*0x1p-52) // of what Project returns
	eta := min(c.StepSize, 2/sums.GradientSmoothness(held)*(1-1e-15))
	w, g := make([]float64, sums.Dim()), make([]float64, sums.Dim())
	for k := range c.Steps {
		if err := sums.Gradient(ctx, g, w, math.Inf(1)); err != nil {
			return nil, 0, err
		}
		floats.AddScaled(w, -eta/n, g)
		solve.Project(w, radius)
		env.progress(k+1, c.Steps)
	}
	slope := sums.FeatureBound() * sums.Constants(held).Slope
	rounding := 2 * 0x1p-53 * ((d+16)*held + 8*eta*slope)
	apart := t * (eta*(sums.Diameter(held)+2*sums.GradientError(held, math.Inf(1)))/n + rounding) * (1 + 4e-16*(t+8))
	return w, math.Min(apart, 2*held), nil
}
