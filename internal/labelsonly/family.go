package labelsonly

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/tuning"
)

// family is what a likelihood says of the statistic that is summed, for a row's scores, one for each column: its mean
// less the middle of its range, the mean's derivatives, columns × columns, and its variance, but for a scale where it
// has one.
type family interface {
	columns() int
	tell(scores, mean, slope, variance []float64)
	// off is how far scores may be off for slopes to tell what means do.
	off() float64
}

// single is a family of one column.
type single interface {
	family
	// growth is the derivative of a mean's slope.
	growth(mean, slope float64) float64
}

// twoClasses are labels 0 and 1 with log-odds.
type twoClasses struct{}

func (twoClasses) columns() int { return 1 }

func (twoClasses) tell(scores, mean, slope, variance []float64) {
	p := 1 / (1 + math.Exp(-scores[0]))
	mean[0], slope[0], variance[0] = p-half, p*(1-p), p*(1-p)
}

func (twoClasses) off() float64 { return tuning.ScoresOff }

func (twoClasses) growth(mean, slope float64) float64 { return -2 * slope * mean }

// numbers are real labels, whose middle is 0.
type numbers struct{}

func (numbers) columns() int { return 1 }

func (numbers) tell(scores, mean, slope, variance []float64) {
	mean[0], slope[0], variance[0] = scores[0], 1, 1
}

func (numbers) off() float64 { return math.Inf(1) }

func (numbers) growth(float64, float64) float64 { return 0 }

// counts are labels whose mean is the exponential of their score, as far as the loss lets it grow, and whose variance is a multiple of it.
type counts struct{ most float64 }

func (counts) columns() int { return 1 }

func (c counts) tell(scores, mean, slope, variance []float64) {
	m := math.Exp(scores[0])
	mean[0], slope[0], variance[0] = m, m, m
	if !(m <= c.most) {
		mean[0], slope[0], variance[0] = c.most, 0, c.most
	}
}

func (counts) off() float64 { return tuning.ScoresOffLog }

func (counts) growth(_, slope float64) float64 { return slope }

const (
	half = 0.5
	tiny = 1e-300
)

// several are classes, by scores along orthonormal contrasts, as all of the classes' scores may move together.
type several struct {
	contrasts *mat.Dense // classes × columns
}

func newSeveral(k int) several {
	b := mat.NewDense(k, k-1, nil)
	for j := range k - 1 { // Helmert's
		norm := math.Sqrt(float64((j + 1) * (j + 2)))
		for i := range j + 1 {
			b.Set(i, j, 1/norm)
		}
		b.Set(j+1, j, -float64(j+1)/norm)
	}
	return several{b}
}

func (c several) columns() int { return c.contrasts.RawMatrix().Cols }

func (several) off() float64 { return tuning.ScoresOff }

func (c several) tell(scores, mean, slope, variance []float64) {
	b := c.contrasts.RawMatrix()
	p, most := make([]float64, b.Rows), math.Inf(-1)
	for k := range p {
		for j, s := range scores {
			p[k] += b.Data[k*b.Stride+j] * s
		}
		most = math.Max(most, p[k])
	}
	sum := 0.0
	for k, v := range p {
		p[k] = math.Exp(v - most)
		sum += p[k]
	}
	clear(mean)
	clear(slope)
	for k := range p {
		p[k] /= sum
		row := b.Data[k*b.Stride : k*b.Stride+b.Cols]
		for i, v := range row {
			mean[i] += p[k] * v
			for j, w := range row {
				slope[i*b.Cols+j] += p[k] * v * w
			}
		}
	}
	for i, v := range mean {
		for j, w := range mean {
			slope[i*b.Cols+j] -= v * w
		}
	}
	copy(variance, slope)
}
