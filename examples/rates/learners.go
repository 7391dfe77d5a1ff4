package main

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// delta is that of every run.
const delta = 1e-6

// instance is a data set with a known excess risk.
type instance interface {
	data() (*dpglm.Dataset, error)
	problem() dpglm.Problem
	excess(w []float64) float64
}

// learn returns the excess risk of one seeded run of a learner.
func learn(l dpglm.Learner, in instance, problem dpglm.Problem, budget dpglm.Budget, seed uint64) (float64, error) {
	data, err := in.data()
	if err != nil {
		return 0, err
	}
	plan, err := l.Plan(data.Shape(), problem, budget)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", in, err)
	}
	model, err := plan.Run(context.Background(), data, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
	if err != nil {
		return 0, fmt.Errorf("%v: %w", in, err)
	}
	return in.excess(model.Weights()[0]), nil
}

// unclipped is longer than any gradient. Unlike dpglm.NoClip it has each step read the
// rows, one nonzero each, in place of second moments, d².
const unclipped = 1e6

// descent is the paper's Algorithm 1 with the schedule of Theorem 1.
func descent(n, d int) dpglm.Learner {
	c := dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1}
	if d*d > 8*n {
		c.Clip = unclipped
	}
	return c
}

// rankDescent is Algorithm 1 for a Lipschitz loss, with noise counted in the directions
// that rows have [Song et al. 2020]: η = B/√(T(G² + rank·σ²)), T the number of steps from
// which on the noise is the larger term. Its ball is wide enough never to matter.
func rankDescent(n, rank int, radius, epsilon float64) dpglm.NoisyGDConfig {
	sensitivity := 2 * noise(epsilon) / float64(n) // of the mean gradient, times the noise
	r := float64(rank)
	steps := max(10, math.Ceil(1/(r*sensitivity*sensitivity)))
	step := radius / math.Sqrt(steps*(1+r*steps*sensitivity*sensitivity))
	return dpglm.NoisyGDConfig{Steps: int(steps), StepSize: step, Clip: unclipped, Output: dpglm.FullAverage}
}

// projected is Algorithm 2 around Algorithm 1.
func projected(seed uint64) dpglm.Learner {
	return dpglm.JLConfig{Learner: dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1}, Seed: seed}
}

// noise is the standard deviation of Gaussian noise at sensitivity 1.
func noise(epsilon float64) float64 {
	mu, err := mechanisms.GaussianMu(epsilon, delta)
	if err != nil {
		panic(err) // the budgets are written in panels.go
	}
	return 1 / mu
}

// sensitivity is the largest diameter of the squared loss's gradients on the ball.
func sensitivity(radius float64) float64 { return losses.Squared{}.Diameter(radius, 1) }

// slowest is the curvature below which Algorithm 1 with Theorem 1's step has not arrived
// after its n steps: 1/(ηT).
func slowest(n, d int, radius, sigma float64) float64 {
	gradient := max(math.Sqrt(smooth*atZero), sigma*math.Sqrt(float64(d)))
	return max(gradient/(radius*math.Sqrt(float64(n))), 4*smooth/float64(n))
}

// stepNoise is σ of Theorem 1's schedule, T = n.
func stepNoise(n int, radius, epsilon float64) float64 {
	return sensitivity(radius) * noise(epsilon) / math.Sqrt(float64(n))
}

// regulariser is output perturbation's λ for the squared loss (Theorem 3).
func regulariser(n int, radius, epsilon float64) float64 {
	ratio := sensitivity(radius) * noise(epsilon) / (float64(n) * radius)
	return math.Cbrt(2 * ratio * ratio)
}

// dimension is what JL projects to for the squared loss.
func dimension(n int, radius, epsilon float64) int {
	return int(math.Ceil(math.Pow(radius*float64(n)/(noise(epsilon)*(1+radius)), 2.0/3)))
}
