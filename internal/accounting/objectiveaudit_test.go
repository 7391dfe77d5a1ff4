package accounting

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// line is a problem in one dimension: rows with feature 1 and Huber's loss, φ' =
// clamp(θ − y, ±1), so that the gradient bound and H are 1, and a ridge.
type line struct {
	labels []float64
	ridge  float64
}

// derivatives returns those of the objective without noise.
func (p line) derivatives(theta float64) (first, second float64) {
	first, second = p.ridge*theta, p.ridge
	for _, y := range p.labels {
		switch r := theta - y; {
		case r > 1:
			first++
		case r < -1:
			first--
		default:
			first += r
			second++
		}
	}
	return first, second
}

// density is that of θ̂ with noise of standard deviation sigma in the objective.
func (p line) density(theta, sigma float64) float64 {
	b, jacobian := p.derivatives(theta)
	return normalDensity(b/sigma) / sigma * jacobian
}

// minimise solves first(θ) + b = 0 by bisection.
func (p line) minimise(b float64) float64 {
	lo, hi := -1e3, 1e3
	for range 60 {
		mid := (lo + hi) / 2
		if first, _ := p.derivatives(mid); first+b > 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// Pairs that differ in the last label.
var neighbours = []struct {
	name  string
	p, q  line
	sigma float64
}{
	{"opposite gradients", line{[]float64{0.3, -0.5, 40}, 5}, line{[]float64{0.3, -0.5, -40}, 5}, 8},
	{"another curvature", line{[]float64{0}, 1}, line{[]float64{30}, 1}, 5},
	{"both", line{[]float64{-1, 1, 1.5}, 2}, line{[]float64{-1, 1, -1.5}, 2}, 4},
	{"little noise", line{[]float64{0.3, -0.5, 40}, 5}, line{[]float64{0.3, -0.5, -40}, 5}, 0.5},
}

// The exact profile in one dimension, from the densities of θ̂, is below the
// bound in both orders, and somewhere close to it.
func TestObjectiveAgainstExactDensities(t *testing.T) {
	for _, c := range neighbours {
		o := newObjective(1/c.sigma, math.Log1p(1/c.p.ridge))
		closest := 0.0
		for _, x := range []float64{-1, -0.2, 0, 0.1, 0.3, 0.6, 1, 2, 5, 10} {
			for _, pair := range [][2]line{{c.p, c.q}, {c.q, c.p}} {
				exact := simpson(func(theta float64) float64 {
					return math.Max(0, pair[0].density(theta, c.sigma)-math.Exp(x)*pair[1].density(theta, c.sigma))
				}, -30, 30, 60_000)
				bound := o.delta(x)
				if exact > bound*(1+1e-6)+1e-9 {
					t.Errorf("%s: δ(%g) = %g exceeds %g", c.name, x, exact, bound)
				}
				if x >= 0 && bound > 1e-9 {
					closest = math.Max(closest, exact/bound)
				}
			}
		}
		if !(closest > 0.29) {
			t.Errorf("%s: the bound is never closer than %g", c.name, closest)
		}
	}
}

// The release with output noise, simulated on neighbours, minimisers moved
// by as much as the output noise allows for. Outcomes are sorted into the bins
// of a histogram; the bins where P > e^ε·Q in a first run make the event on which
// a second one is judged (α = 1e-6).
func TestObjectiveAudit(t *testing.T) {
	const (
		draws   = 300_000
		z       = 4.76 // standard normal quantile of 1 − 1e-6
		ridge   = 50
		sigma   = 6
		epsilon = 0.6
		shift   = 0.001
		out     = 0.05
	)
	normal := distuv.Normal{Mu: 0, Sigma: 1, Src: rand.NewPCG(41, 0)}
	histogram := func(p line, shift float64) map[int]float64 {
		bins := map[int]float64{}
		for range draws {
			theta := p.minimise(sigma*normal.Rand()) + shift + out*normal.Rand()
			bins[int(math.Floor(theta*50))]++
		}
		return bins
	}
	p, q := line{[]float64{0.3, -0.5, 40}, ridge}, line{[]float64{0.3, -0.5, -40}, ridge}
	event := map[int]bool{}
	first, second := histogram(p, shift), histogram(q, -shift)
	for b, n := range first {
		event[b] = n > math.Exp(epsilon)*second[b]
	}
	var inP, inQ float64
	first, second = histogram(p, shift), histogram(q, -shift)
	for b := range event {
		if event[b] {
			inP += first[b] / draws
			inQ += second[b] / draws
		}
	}
	excess := inP - math.Exp(epsilon)*inQ
	deviation := math.Sqrt((inP*(1-inP) + math.Exp(2*epsilon)*inQ*(1-inQ)) / draws)
	claimed := fit(1.0/sigma, math.Log1p(1.0/ridge), 2*shift/out).Delta(epsilon)
	if excess-z*deviation > claimed {
		t.Errorf("seed 41: P − e^ε·Q = %g ± %g, claimed δ = %g", excess, deviation, claimed)
	}
	if excess+z*deviation < claimed/4 {
		t.Errorf("seed 41: P − e^ε·Q = %g ± %g, far below the claimed δ = %g", excess, deviation, claimed)
	}
}
