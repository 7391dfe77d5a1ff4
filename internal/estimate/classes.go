package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
)

// startOfClasses releases how many rows each class has: with all there is, where nothing else can
// be had.
func (x *Run) startOfClasses(classes *curator.Classes) (Labels, error) {
	if err := x.Total(tuning.CountsShare); err != nil {
		return Labels{}, err
	}
	share := tuning.LeastShare
	if x.Hopeless() {
		share = x.Pool.Left
	}
	answer, err := classes.Counts(x.Task.Ctx)
	counts, err := x.Pool.Draw(share, answer, err)
	if err != nil {
		return Labels{}, err
	}
	noise := x.Problem.Facts.Positive() / (x.NMu() * math.Sqrt(share))
	floor := math.Min(math.Max(noise, 2/x.N), 1/float64(len(counts)))
	for c, v := range counts {
		counts[c] = math.Max(v/x.N, floor)
	}
	floats.Scale(1/floats.Sum(counts), counts)
	return x.Problem.ofRates(counts, noise), nil
}

// ofRates is what the rates of classes tell: as of two, of which each is 1 less the other.
func (p Problem) ofRates(rates []float64, noise float64) Labels {
	k := float64(len(rates))
	l := Labels{Steepest: 1 / k, Typical: math.Sqrt(1 - 1/k), Minority: floats.Min(rates) * k / 2, Noise: noise}
	l.Biases = make([]float64, len(rates))
	for c, q := range rates {
		l.Curvature += q * (1 - q) / (k - 1)
		if p.Facts.Intercept {
			l.Biases[c] = math.Log(q)
		}
	}
	l.Residual = l.Curvature
	return l
}
