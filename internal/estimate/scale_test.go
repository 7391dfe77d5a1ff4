package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// stoppedShort is a point of scores b + rZ in whitened coordinates, and what the gradients
// of a logistic loss tell there where scores should be b + goal·Z.
func stoppedShort(r, goal, b, noise float64) (*Descent, Stage, Iterate) {
	const d = 8
	x := &Descent{Run: &Run{Problem: Problem{Loss: losses.Logistic{}}, D: d}, Frame: &Frame{Signal: make([]float64, d)}}
	s := Stage{Steps: 10, Averaged: 5, Size: 4, Momentum: 0.5}
	at := Iterate{U: make([]float64, d), B: b, Noise: make([]float64, s.Steps), Slope: make([]float64, d)}
	for t := range at.Noise {
		at.Noise[t] = noise
	}
	for j := range at.U {
		x.Frame.Signal[j] = 1
		at.U[j] = r / math.Sqrt(d)
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
		x, s, at := stoppedShort(c.r, c.goal, c.b, c.noise)
		x.Run.Problem.Loss = c.loss
		x.lengthen(s, &at)
		scale := floats.Norm(at.U, 2) / c.r
		if !(scale >= c.least && scale <= c.most) {
			t.Errorf("%s: scaled by %.6g, want %g to %g", c.name, scale, c.least, c.most)
		}
		if c.changed == 0 && at.B != c.b {
			t.Errorf("%s: the intercept moved to %g", c.name, at.B)
		}
		if before, after := (logistic{c.b, c.r}).mean(), (logistic{at.B, c.r * scale}).mean(); math.Abs(after-before) > 1e-6 {
			t.Errorf("%s: the mean prediction went from %.6g to %.6g", c.name, before, after)
		}
	}
}

// The mean of clipped gradients is 0 where scores are too long, by which they are multiplied.
func TestUnclipped(t *testing.T) {
	const d, rows = 8, 15_000
	r := rand.New(rand.NewPCG(1, 1))
	bounded := func(v, most float64) float64 { return math.Max(-most, math.Min(v, most)) }
	for _, c := range []struct{ length, b, clip float64 }{{0.5, 0, 1.3}, {1.5, 0, 1.3}, {1, -1.5, 1.7}, {1.5, 0, 9}} {
		x, _, at := stoppedShort(1, 1, c.b, 0)
		x.Frame.Effective, at.Clip = d+1, c.clip
		features, labels := make([][d]float64, rows), make([]float64, rows)
		for i := range features {
			z := c.b
			for j := range features[i] {
				features[i][j] = r.NormFloat64()
				z += features[i][j] * c.length / math.Sqrt(d)
			}
			labels[i] = -1
			if r.Float64()*(1+math.Exp(-z)) < 1 {
				labels[i] = 1
			}
		}
		for range 70 { // a descent whose intercept's slope is not clipped
			var g [d]float64
			var slopes, cut float64
			for i, f := range features {
				slope := losses.Logistic{}.Deriv(at.B+floats.Dot(at.U, f[:]), labels[i])
				slopes += slope
				most := c.clip / floats.Norm(f[:], 2)
				floats.AddScaled(g[:], bounded(slope, most), f[:])
				if math.Abs(slope) > most {
					cut++
				}
			}
			at.Cut = cut / rows
			floats.AddScaled(at.U, -6.0/rows, g[:])
			at.B -= 4.0 / rows * slopes
		}
		long := floats.Norm(at.U, 2)
		short := long * x.unclipped(at, 1)
		t.Logf("%+v: %.3g, and %.3g of it", c, long, short)
		if math.Abs(short/c.length-1) > 0.16 {
			t.Errorf("%+v: scores of %.3g are made %.3g", c, long, short)
		}
	}
	for name, change := range map[string]func(x *Descent, at *Iterate){
		"another loss":    func(x *Descent, at *Iterate) { x.Run.Problem.Loss = losses.Squared{} },
		"drowned moments": func(x *Descent, at *Iterate) { x.Frame.Signal = nil },
		"a pilot":         func(x *Descent, at *Iterate) { x.Run.Pilot = true },
		"the origin":      func(x *Descent, at *Iterate) { clear(at.U) },
		"classes apart":   func(x *Descent, at *Iterate) { floats.Scale(30, at.U) },
		"nothing cut":     func(x *Descent, at *Iterate) { at.Cut = 0 },
	} {
		x, _, at := stoppedShort(1, 1, 0, 0)
		x.Frame.Effective, at.Clip, at.Cut = d+1, 1.3, 0.3
		change(x, &at)
		if k := x.unclipped(at, 1); !(k > 0.99 && k <= 1) {
			t.Errorf("%s: a factor of %.4g", name, k)
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

// Moments count as round where only noise tells their directions apart: in 40 draws of
// noise at most a few are missed, and a direction with a tenth of the whole, or noise in
// which it could hide, is always seen.
func TestRoundMoments(t *testing.T) {
	const d, draws = 40, 40
	r := rand.New(rand.NewPCG(3, 1))
	count := func(mean, large, sd float64) (n int) {
		rho := math.Sqrt(2*d) * sd
		for range draws {
			m := mat.NewSymDense(d, nil)
			for i := range d {
				for j := i; j < d; j++ {
					v := sd * r.NormFloat64()
					if i != j {
						v /= math.Sqrt2
					} else {
						v += mean
					}
					m.SetSym(i, j, v)
				}
			}
			m.SetSym(0, 0, m.At(0, 0)+large)
			var e mat.EigenSym
			e.Factorize(m, false)
			if round(e.Values(nil), rho) {
				n++
			}
		}
		return n
	}
	if n := count(10, 0, 1); n < draws*3/4 {
		t.Errorf("round moments: %d of %d", n, draws)
	}
	if n := count(10, 40, 1); n != 0 {
		t.Errorf("a tenth in one direction: %d of %d are round", n, draws)
	}
	if n := count(10, 0, 10); n != 0 {
		t.Errorf("drowned: %d of %d are round", n, draws)
	}
	if round(make([]float64, 10), 0) {
		t.Error("ten directions are too few to tell")
	}
}
