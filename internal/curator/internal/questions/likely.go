package questions

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/losses"
)

// likely sets l to how large |φ'| is taken to be at scores z of the rows from lo on, whatever their labels
// are: to the largest of all labels where a loss bounds it for all scores, else to so many of the standard
// deviations that the loss's likelihood has there.
func (s *Sums) likely(l, z []float64, lo int, many float64) {
	copy(l, z)
	s.offsets.add(l, lo)
	least, most := -1.0, 1.0 // labels of two classes
	switch o := s.loss.(type) {
	case losses.Ordinal:
		least, most = 0, float64(len(o.Thresholds))
	default:
		if s.loss.Labels() != losses.Binary {
			for k, score := range l {
				l[k] = many * math.Sqrt(variance(s.loss, score))
			}
			return
		}
	}
	for k, score := range l {
		l[k] = math.Max(math.Abs(s.loss.Deriv(score, least)), math.Abs(s.loss.Deriv(score, most)))
	}
}

// variance is that of φ' at a score by the likelihood that a loss is, 1 where that has a scale of its own.
func variance(l losses.Loss, z float64) float64 {
	switch l := l.(type) {
	case losses.Extended:
		return variance(l.Inner, l.Hold(z))
	case losses.CappedPoisson:
		return math.Exp(l.Hold(z, 0))
	case losses.Poisson:
		return math.Exp(z)
	case losses.NegativeBinomial:
		return 1 / (math.Exp(-z) + l.Dispersion)
	}
	return 1
}

// weighed turns scores z of the rows from lo on into φ', or where the slope asks for what is likely into φ' times a
// factor that depends on features alone: with a likely label no gradient is longer than the clip. So where
// labels have the mean that the model says, no direction is favoured by what is shortened
// (Künsch, Stefanski and Carroll 1989; Cantoni and Ronchetti 2001).
func (s *Sums) weighed(z, l []float64, lo int, norms []float64, p Slope) {
	if p.Likely > 0 {
		s.likely(l, z, lo, p.Likely)
	}
	if p.Plain {
		lessLabels(s, z, lo)
	} else {
		s.slopes(z, lo)
	}
	if p.Middle != 0 {
		floats.AddConst(p.Middle, z)
	}
	if p.Cut > 0 {
		cutRows(z, norms[lo:], p)
	}
	if !(p.Likely > 0) { // l is what was left there else
		return
	}
	for k, most := range l {
		if factor := weight(most, norms[lo+k], p.Clip); factor < 1 {
			z[k] *= factor
		}
		if math.IsNaN(z[k]) { // where scores are beyond what numbers hold
			z[k] = 0
		}
	}
}

// weight is the factor by which a row counts whose |φ'| is likely so large.
func weight(likely, norm, clip float64) float64 {
	if w := clip / (likely * norm); w < 1 {
		return w
	}
	return 1
}

// lessLabels sets z to less the labels of the rows from lo on, of which those of two classes are 0 and 1.
func lessLabels(s *Sums, z []float64, lo int) {
	binary := s.loss.Labels() == losses.Binary
	for k := range z {
		y := s.labels[lo+k]
		if binary {
			y = (y + 1) / 2
		}
		z[k] = -y
	}
}

// cutRows holds what labels say and multiplies it by what rows count.
func cutRows(z, norms []float64, p Slope) {
	holdTo(z, p.Clip/p.Cut)
	for k := range z {
		if factor := p.Cut / norms[k]; factor < 1 {
			z[k] *= factor
		}
		if math.IsNaN(z[k]) { // where scores are beyond what numbers hold
			z[k] = 0
		}
	}
}
