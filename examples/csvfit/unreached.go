package main

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
)

// unreached warns of a method that begins at means of 1 and, even without noise, doesn't come
// near those of the labels' scale: to a fourth of a tenth of their range, as most lie near 0.
// Either the radius keeps it from there, or the loss is so steep in so large a ball that steps
// are tiny.
func (b *budget) unreached(s dpglm.Shape, source *task.Source, radius float64) string {
	if source.Levels() != nil || !source.Loss.Labels().FromZero() || !b.slow() {
		return ""
	}
	most := s.LabelCentre + s.LabelBound
	mean := most / 10
	p, err := dpglm.NoisyGDConfig{}.Plan(s, dpglm.Problem{Loss: source.Loss, Radius: radius}, b.total())
	if err != nil {
		return ""
	}
	score := quiet(p.Learner.(dpglm.NoisyGDConfig), p.Problem, mean)
	if math.Exp(score) >= mean/4 {
		return ""
	}
	other := "a cap that is smaller, if counts are publicly known to be"
	if source.Loss.Labels() == losses.Amount {
		other = "labels in a larger unit, such as thousands"
	}
	return fmt.Sprintf("-method %s begins at means of 1: by radius %.4g, and steps that suit it, the intercept comes to %.2g even without noise, a mean of %.3g; "+
		"labels reach %.6g by the schema, and means of a tenth of that take an intercept of %.2g. What helps: -method auto, which has no radius, or %s",
		b.method, radius, score, math.Exp(score), most, math.Log(mean), other)
}

// slow reports whether the method is noisy GD, trains by it, or has noise for the same ball.
func (b *budget) slow() bool {
	switch b.learner.(type) {
	case dpglm.NoisyGDConfig, dpglm.OutputPerturbationConfig, dpglm.JLConfig, dpglm.BoostConfig, dpglm.GridSearchConfig:
		return true
	}
	return false
}

// quiet is the intercept that noisy GD comes to without noise, where all labels are the same.
func quiet(c dpglm.NoisyGDConfig, p dpglm.Problem, label float64) (score float64) {
	for range c.Steps {
		slope := p.Loss.Deriv(score, label)
		slope = math.Max(-c.Clip, math.Min(slope, c.Clip))
		score = math.Max(-p.Radius, math.Min(score-float64(c.StepSize*slope), p.Radius))
	}
	return score
}
