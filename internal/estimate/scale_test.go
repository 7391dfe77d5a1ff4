package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/losses"
)

// stoppedShort is a point of scores b + rZ in whitened coordinates, and what the gradients
// of a logistic loss tell there where scores should be b + goal·Z.
func stoppedShort(r, goal, b, noise float64) (*Descent, Stage, Iterate) {
	const d = 8
	x := &Descent{Run: &Run{Problem: Problem{Loss: losses.Logistic{}}, D: d}, Frame: &Frame{Signal: make([]float64, d)}}
	s := Stage{Steps: 10, Averaged: 5, Size: 4, Momentum: 0.5}
	at := Iterate{At: point(make([]float64, d), b), Noise: make([]float64, s.Steps), Slope: make([]float64, d)}
	u, _ := at.One()
	for t := range at.Noise {
		at.Noise[t] = noise
	}
	for j := range u {
		x.Frame.Signal[j] = 1
		u[j] = r / math.Sqrt(d)
		at.Slope[j] = (logistic{b, r}.projection() - logistic{b, goal}.projection()) / math.Sqrt(d)
	}
	return x, s, at
}

// A point is scaled to where the gradients vanish, but not by more than they say beyond
// their noise, nor more than twice, never down, and not for other losses; its mean
// prediction stays.
func TestLengthen(t *testing.T) {
	for _, c := range []struct {
		name                 string
		r, goal, b, noise    float64
		loss                 losses.Loss
		least, most, changed float64 // bounds on the scale
	}{
		{"short", 2, 3, 0, 0, losses.Logistic{}, 1.499, 1.501, 1},
		{"short, rare", 2, 3, -2, 0, losses.Logistic{}, 1.499, 1.501, 1},
		{"far too short", 2, 9, 1, 0, losses.Logistic{}, 2 * (1 - 1e-9), 2, 1},
		{"some noise", 2, 3, 0.5, 0.02, losses.Logistic{}, 1.02, 1.4, 1},
		{"much noise", 2, 3, 0.5, 0.2, losses.Logistic{}, 1, 1, 0},
		{"long", 3, 2, 0.5, 0, losses.Logistic{}, 1, 1, 0},
		{"another loss", 2, 3, 0.5, 0, losses.Squared{}, 1, 1, 0},
	} {
		const shifted = 0.6 // of scores, beside the intercept
		x, s, at := stoppedShort(c.r, c.goal, c.b, c.noise)
		x.Run.Problem.Loss, x.Labels.Shifted = c.loss, shifted
		at.At[0][x.Run.D] -= shifted
		x.lengthen(s, &at)
		u, b := at.One()
		b += shifted
		scale := floats.Norm(u, 2) / c.r
		if !(scale >= c.least && scale <= c.most) {
			t.Errorf("%s: scaled by %.6g, want %g to %g", c.name, scale, c.least, c.most)
		}
		if c.changed == 0 && math.Abs(b-c.b) > 1e-15 {
			t.Errorf("%s: the intercept moved to %g", c.name, b)
		}
		if before, after := (logistic{c.b, c.r}).mean(), (logistic{b, c.r * scale}).mean(); math.Abs(after-before) > 1e-6 {
			t.Errorf("%s: the mean prediction went from %.6g to %.6g", c.name, before, after)
		}
	}
}

// The effects of noise on the average are those of the recursion, played through for one
// unit of noise in one step.
func TestEffectsOfNoise(t *testing.T) {
	s := Stage{Steps: 7, Averaged: 3, Size: 1.5, Momentum: 0.4, Ridge: 0.05}
	const h = 0.3
	effects := s.effects(h)
	for noisy := range s.Steps {
		var u, v, average float64
		for t := range s.Steps {
			g := h * u
			if t == noisy {
				g++
			}
			next := (u + s.Momentum*v - s.Size*g) / (1 + s.Size*s.Ridge)
			v, u = next-u, next
			if t >= s.Steps-s.Averaged {
				average += u / float64(s.Averaged)
			}
		}
		if math.Abs(effects[noisy]+average) > 1e-12 {
			t.Errorf("step %d: effect %g, want %g", noisy, effects[noisy], -average)
		}
	}
}

// The forecast is the variance of scores in recursions that are played through: of 20,000 the ratio
// has a standard deviation below 1 %, and one in 10,000 draws would fail.
func TestForecast(t *testing.T) {
	const runs, h = 20_000, 0.2
	r := rand.New(rand.NewPCG(7, 1))
	s := Stage{Steps: 9, Averaged: 4, Size: 3, Momentum: 0.5, Ridge: 0.02}
	x := &Descent{Run: new(Run), Labels: Labels{Curvature: h, Steepest: 0.25}, Frame: &Frame{Signal: []float64{1, 0.6, 0.1}}}
	at := Iterate{Noise: make([]float64, s.Steps)}
	for k := range at.Noise {
		at.Noise[k] = 0.1 + 0.02*float64(k)
	}
	var square float64
	for range runs {
		for _, signal := range x.Frame.Signal {
			var u, v, average float64
			for k, sd := range at.Noise {
				next := (u + s.Momentum*v - s.Size*(signal*h*u+sd*r.NormFloat64())) / (1 + s.Size*s.Ridge)
				v, u = next-u, next
				if k >= s.Steps-s.Averaged {
					average += u / float64(s.Averaged)
				}
			}
			square += signal * average * average / runs
		}
	}
	if ratio := square / x.forecast(s, at); math.Abs(ratio-1) > 0.04 {
		t.Errorf("scores vary by %.4g times the forecast", ratio)
	}
}
