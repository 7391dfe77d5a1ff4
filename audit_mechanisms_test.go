package dpglm

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/mechanisms"
)

// repeated is a stream of draws, each of which may use the source. Each neighbour
// has a seed of its own.
func repeated(draw func(side int, src mechanisms.Source) (float64, error)) stream {
	return func(t *testing.T, side int) func() float64 {
		t.Helper()
		src := mechanisms.NewSeededSource(uint64(100 + side))
		return func() float64 {
			v, err := draw(side, src)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
}

// auditedMechanisms are the mechanisms on values and scores that one row moves as
// far as it can. Scores are far enough apart for the whole ε to show, which holds
// where the losing candidate starts even and falls behind by twice the
// sensitivity.
func auditedMechanisms(t *testing.T) []audited {
	t.Helper()
	const epsilon, sensitivity = 1.0, 0.7
	scores := [][]float64{{0, 0}, {-sensitivity, sensitivity}}
	selection := func(name string, reachable float64, choose func(q []float64, src mechanisms.Source) (int, error)) audited {
		return audited{name, evidence.Epsilon, epsilon, reachable, 100_000, repeated(func(side int, src mechanisms.Source) (float64, error) {
			i, err := choose(scores[side], src)
			return float64(i), err
		})}
	}
	vector := []float64{0}
	release := func(name string, unit evidence.Unit, of func(dst, v []float64, src mechanisms.Source) error) audited {
		return audited{name, unit, 1, 1, 100_000, repeated(func(side int, src mechanisms.Source) (float64, error) {
			vector[0] = 3.3 + sensitivity*float64(side)
			err := of(vector, vector, src)
			return vector[0], err
		})}
	}
	unequal := mechanisms.GeneralizedExponential{Epsilon: epsilon, Beta: 0.2}
	first, second := []float64{-sensitivity, 0.5}, []float64{sensitivity, 0.5}
	return []audited{
		release("mechanisms.Gaussian", evidence.Mu, func(dst, v []float64, src mechanisms.Source) error {
			return mechanisms.Gaussian{Mu: 1}.Release(dst, v, sensitivity, src)
		}),
		release("mechanisms.Laplace", evidence.Epsilon, func(dst, v []float64, src mechanisms.Source) error {
			return mechanisms.Laplace{Epsilon: epsilon}.Release(dst, v, sensitivity, src)
		}),
		selection("mechanisms.Exponential", math.Log((1+math.Exp(epsilon))/2), func(q []float64, src mechanisms.Source) (int, error) {
			return mechanisms.Exponential{Epsilon: epsilon}.Select(q, sensitivity, src)
		}),
		selection("mechanisms.PermuteAndFlip", epsilon, func(q []float64, src mechanisms.Source) (int, error) {
			return mechanisms.PermuteAndFlip{Epsilon: epsilon}.Select(q, sensitivity, src)
		}),
		selection("mechanisms.NoisyMax", noisyMaxRatio(epsilon), func(q []float64, src mechanisms.Source) (int, error) {
			return mechanisms.NoisyMax{Epsilon: epsilon}.Select(q, sensitivity, src)
		}),
		{"mechanisms.GeneralizedExponential", evidence.Epsilon, epsilon,
			generalizedRatio(unequal, first, second, []float64{sensitivity, 0}), 100_000,
			repeated(func(side int, src mechanisms.Source) (float64, error) {
				i, err := unequal.Select([][]float64{first, second}[side], []float64{sensitivity, 0}, src)
				return float64(i), err
			})},
	}
}

// noisyMaxRatio is the log-ratio between the probabilities that the second of two
// even candidates wins and that it does when it falls behind by twice the
// sensitivity, ε noise scales: a difference of two Laplace variables exceeds ε
// with probability ½e^-ε(1 + ε/2).
func noisyMaxRatio(epsilon float64) float64 { return epsilon - math.Log1p(epsilon/2) }

// generalizedRatio is the largest log-ratio over candidates between the laws of
// the generalized exponential mechanism on two lists of scores, by its
// definition.
func generalizedRatio(m mechanisms.GeneralizedExponential, first, second, sens []float64) float64 {
	law := func(q []float64) []float64 {
		t, p, total := 2*math.Log(float64(len(q))/m.Beta)/m.Epsilon, make([]float64, len(q)), 0.0
		for i := range q {
			s := 0.0
			for j := range q {
				if sens[i]+sens[j] > 0 {
					s = math.Max(s, (q[i]+t*sens[i]-q[j]-t*sens[j])/(sens[i]+sens[j]))
				}
			}
			p[i] = math.Exp(-m.Epsilon * s / 2)
			total += p[i]
		}
		for i := range p {
			p[i] /= total
		}
		return p
	}
	p, q, worst := law(first), law(second), 0.0
	for i := range p {
		worst = math.Max(worst, math.Abs(math.Log(p[i]/q[i])))
	}
	return worst
}
