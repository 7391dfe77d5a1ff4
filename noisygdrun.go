package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// noisyGD is a planned run.
type noisyGD struct {
	NoisyGDConfig
	shape   Shape
	ball    Problem // with the loss that was asked for
	problem Problem // the same with the loss to train with
	sized   Problem // with the radius that T and η are for
	mu      float64 // of the whole budget
	around  bool    // whether the ball is around the constant model
	sizes   bool    // whether the step size is the practical schedule's
	start   *start  // nil where that isn't released here
	step    mechanisms.Gaussian
	witness mechanisms.Gaussian // of the gradient that the steps don't see
}

// schedule plans the releases; own says that the start is released here, if there is one.
func (g *noisyGD) schedule(b Budget, own bool) (*release.Schedule, error) {
	s, dim := g.shape, g.shape.Dim
	if !g.around {
		var err error
		if g.step, err = b.gaussian(g.Steps, dim); err != nil {
			return nil, err
		}
		return release.Gaussian("Noisy GD, gradient sums", g.step.Mu, g.Steps, dim)
	}
	if own && s.Intercept && !s.begun {
		var err error
		if g.start, err = newStart(s, g.problem.Loss, b, g.questions(), dim, 1); err != nil {
			return nil, err
		}
		if _, squared := g.ball.Loss.(losses.Squared); squared && g.Clip < NoClip {
			if err := g.start.beside(false); err != nil {
				return nil, err
			}
		}
		b = g.start.rest
	}
	each, err := b.gaussian(g.questions(), dim)
	if err != nil {
		return nil, err
	}
	all := each.Mu * math.Sqrt(float64(g.questions())) * (1 - splitRoom)
	g.witness.Mu = all * math.Sqrt(tuning.WitnessShare)
	g.step.Mu = all * math.Sqrt((1-tuning.WitnessShare)/float64(g.Steps))
	witness, err := release.Gaussian("gradient sum at the start", g.witness.Mu, 1, dim)
	if err != nil {
		return nil, err
	}
	steps, err := release.Gaussian("Noisy GD, gradient sums", g.step.Mu, g.Steps, dim)
	if err != nil {
		return nil, err
	}
	return release.Sequential("Noisy GD around the constant model", g.start.around(witness, steps)...)
}

// questions is the number of sums of gradients.
func (g *noisyGD) questions() int {
	if g.around {
		return g.Steps + 1
	}
	return g.Steps
}

// train runs the steps and returns the chosen function of the iterates.
func (g *noisyGD) train(r *run) ([]float64, error) {
	r = r.byRows()
	if !g.around {
		sums, err := r.under(g.problem.Loss)
		if err != nil {
			return nil, err
		}
		gradient, err := sums.Gradients(r.ctx, g.Clip, g.Steps)
		if err != nil {
			return nil, err
		}
		way, err := g.descend(r, sums, gradient, make([]float64, sums.Dim()), r.allow)
		return way.to, err
	}
	return g.start.run(r, func(r *run, part func() (*release.Allowance, error)) ([]float64, error) {
		sums, err := r.under(g.problem.Loss)
		if err != nil {
			return nil, err
		}
		gradient, err := sums.Gradients(r.ctx, g.Clip, g.questions())
		if err != nil {
			return nil, err
		}
		centre := r.centre(sums.Dim())
		witness, err := g.ask(gradient, centre, part)
		if err != nil {
			return nil, err
		}
		allow, err := part()
		if err != nil {
			return nil, err
		}
		steps := *g
		steps.StepSize = g.sizeAround(r)
		way, err := steps.descend(r, sums, gradient, centre, allow)
		if err != nil {
			return nil, err
		}
		floats.Scale(g.worth(r, witness, way), way.to)
		floats.Add(way.to, centre)
		return way.to, g.start.recalibrate(r, way.to, part)
	})
}

// sizeAround is the step size for the constant model that was released: counts' curvature grows with their mean, which a plan takes for 1, and
// steps that are too long for it never settle.
func (g *noisyGD) sizeAround(r *run) float64 {
	x := g.shape.FeatureBound
	if r.start == nil || !g.sizes || g.problem.Loss.Labels() != losses.Count {
		return g.StepSize
	}
	mean := math.Max(0, r.start.score+r.start.shifted) // its logarithm
	k := g.problem.Loss.Constants(mean+float64(x*g.sized.Radius), g.shape.LabelBound)
	return math.Min(g.StepSize, practicalStep(k)/(k.Smoothness*x*x))
}

// ask releases the gradient sum at w by the next part.
func (g *noisyGD) ask(gradient func([]float64) (release.Answer, error), w []float64, part func() (*release.Allowance, error)) ([]float64, error) {
	answer, err := gradient(w)
	if err != nil {
		return nil, err
	}
	allow, err := part()
	if err != nil {
		return nil, err
	}
	return allow.AddNoise(answer)
}

// way is where a descent led, from its centre, and the mean of ⟨∇L̂(w_t) + ξ_t, w_t − centre⟩
// over the averaged steps.
type way struct {
	to    []float64
	slope float64
}

// descend runs the steps from the centre of the ball.
func (g *noisyGD) descend(r *run, sums *curator.Sums, gradient func([]float64) (release.Answer, error), centre []float64, allow *release.Allowance) (way, error) {
	first, n := g.firstAveraged(), float64(sums.Len())
	w, v, of := slices.Clone(centre), make([]float64, len(centre)), way{to: make([]float64, len(centre))}
	averaged := float64(g.Steps - first + 1)
	for t := 1; t <= g.Steps; t++ {
		answer, err := gradient(w)
		if err != nil {
			return of, err
		}
		sum, err := allow.AddNoise(answer)
		if err != nil {
			return of, err
		}
		if t >= first {
			of.slope += floats.Dot(sum, v) / (n * averaged)
		}
		vector.AddScaled(v, -g.StepSize/n, sum)
		vector.Project(v, g.problem.Radius)
		floats.AddTo(w, centre, v)
		if t >= first {
			floats.Add(of.to, v)
		}
		r.progress(t, g.Steps)
	}
	floats.Scale(1/averaged, of.to)
	return of, nil
}

// worth is how far to go on a way, of 1, for the loss to be least: where the line through its
// slopes at the centre and at the end crosses zero. The former is that of the gradient which
// the steps haven't seen, so that its noise is independent of the way's, less as many
// standard deviations as let a way through on which the loss doesn't fall with a probability
// of 5 %. The latter is the steps' own, each with fresh noise.
func (g *noisyGD) worth(r *run, witness []float64, of way) float64 {
	n := float64(g.shape.Rows)
	sd := g.sensitivityAt(r) / (g.witness.Mu * n) * floats.Norm(of.to, 2)
	start := floats.Dot(witness, of.to)/n + float64(estimate.Quantile95*sd)
	switch {
	case start >= 0:
		return 0
	case of.slope <= 0:
		return 1
	}
	return start / (start - of.slope)
}

// sensitivityAt is that of the gradient sum at the centre, but for rounding.
func (g *noisyGD) sensitivityAt(r *run) float64 {
	score := 0.0
	if r.start != nil {
		score = math.Abs(r.start.score)
	}
	x := g.shape.FeatureBound
	if g.shape.AddRemove {
		return math.Min(x*g.problem.Loss.Constants(x*score, g.shape.LabelBound).Slope, g.Clip)
	}
	return math.Min(x*g.problem.Loss.Diameter(x*score, g.shape.LabelBound), 2*g.Clip)
}

// noisePart is 1 over the part of the squared radius that noise has in the average of the last half, at
// most ⅔.
const noisePart = 1.5

// forSteps is the problem with the radius that T and η are for where it isn't given: that at
// which noise makes out half of the deviation that scores of typical rows would have
// under the best weights. In the average of the last half, noise has up to ⅔ of the squared
// radius, in d directions alike.
func (p Problem) forSteps(s Shape) Problem {
	if p.Radius == 0 {
		t := estimate.TypicalOf(p.Loss, s.FeatureBound, s.LabelBound)
		p.Radius = tuning.ForStepsNoise * math.Sqrt(noisePart*float64(s.Dim)*t.Variance) / t.Row
	}
	return p
}

// heldMeans is the loss of counts or amounts, continued linearly where means exceed the largest
// label, so that steps needn't be short for the largest means that a ball has.
func heldMeans(l losses.Loss, s Shape) losses.Loss {
	if l.Labels().FromZero() {
		return smooth.Everywhere(l, 1+math.Log1p(s.LabelBound), s.LabelBound, s.exposed())
	}
	return l
}

// firstAveraged is the first step after which the iterate enters the average.
// The full average is that of w₂ … w_{T+1} where the paper has w₁ … w_T: the
// same bound holds, and the last gradient is not wasted.
func (c NoisyGDConfig) firstAveraged() int {
	switch c.Output {
	case FullAverage:
		return 1
	case TailAverage:
		return c.Steps/2 + 1
	default:
		return c.Steps
	}
}
