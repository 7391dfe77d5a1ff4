package dpglm

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/losses"
)

// constant is the score of a constant model of the labels' mean; it sets the curvature there,
// which is the variance of φ' too if the loss is a likelihood, and a typical slope.
func (f *labelFacts) constant(l losses.Loss) float64 {
	q := f.mean
	if e, ok := l.(losses.Extended); ok {
		l = e.Inner
	}
	switch l := l.(type) {
	case losses.NegativeBinomial:
		f.curvature = q / (1 + float64(l.Dispersion*q))
		f.typical = f.curvature + math.Sqrt(f.curvature)
		return math.Log(q)
	case losses.Gamma:
		f.curvature, f.minority, f.typical = 1, 1, 2
		return math.Log(math.Max(q, l.Least))
	case losses.Ordinal:
		return f.middle(l)
	}
	switch link := losses.LinkOf(l); {
	case l.Labels().FromZero():
		f.curvature, f.typical = q, q+math.Sqrt(q)
		return math.Log(q)
	case link == losses.Logit:
		f.curvature = q * (1 - q)
	case link == losses.ProbitLink:
		bias := distuv.UnitNormal.Quantile(q)
		density := distuv.UnitNormal.Prob(bias)
		f.curvature, f.typical = density*density/(q*(1-q)), density/f.minority
		return bias
	default:
		f.curvature = f.steepest
		bias := math.Log(q / (1 - q))
		return math.Copysign(math.Min(1, math.Abs(bias)), bias)
	}
	return math.Log(q / (1 - q))
}

// middle is the score at which levels have their mean.
func (f *labelFacts) middle(l losses.Ordinal) float64 {
	last := float64(len(l.Thresholds))
	const far = 30 // beyond the thresholds, where all are on one side
	bias := crossing(l.Thresholds[0]-far, l.Thresholds[len(l.Thresholds)-1]+far, func(z float64) bool {
		var mean float64
		for k, p := range l.Probabilities(z) {
			mean += float64(float64(k) * p)
		}
		return mean < f.mean
	})
	f.curvature, f.minority, f.typical = 0, math.Min(f.minority, math.Max(last-f.mean, 1e-9)), 0.5
	for k, p := range l.Probabilities(bias) {
		f.curvature += float64(p * l.Curvature(bias, float64(k)))
	}
	return bias
}

// labelFacts is what the labels' mean tells of the loss.
type labelFacts struct {
	curvature float64 // φ'' under the constant model
	steepest  float64 // the largest φ'' anywhere
	minority  float64 // the rarer class's fraction, at most 1
	apart     float64 // S: the bound on φ' by which the intercept is released apart; 0 for no
	typical   float64 // the clip over √(1 + d_eff), where nothing can be measured
	residual  float64 // variance of φ', roughly
	mean      float64
	noise     float64 // standard deviation of the mean
}
