package forecast

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// truth is the law that labels are drawn by.
type truth struct {
	loss      losses.Loss
	weights   []float64
	intercept float64
	deviation float64 // of real labels from their means
	low, high float64 // the labels' range
}

// The standard deviations of scores.
const (
	classScores = 1.5
	countScores = 0.5
	// realLabels is that of labels over the width of their range; scores and deviations
	// have half of the variance each.
	realLabels = 1.0 / 8
)

// truth draws weights, and finds an intercept for the mean.
func (r *rehearsal) truth(random *rand.Rand, x *mat.Dense, offsets []float64) *truth {
	shape, _ := r.scene.shape(1) // checked before
	t := &truth{loss: r.scenario.Problem.Loss, weights: make([]float64, r.scene.features), low: shape.LabelCentre - shape.LabelBound, high: shape.LabelCentre + shape.LabelBound}
	for j := range t.weights {
		t.weights[j] = random.NormFloat64()
	}
	kind, spread := t.loss.Labels(), countScores
	switch kind {
	case losses.Binary:
		spread, t.low, t.high = classScores, 0, 1
	case losses.Real:
		spread = realLabels * (t.high - t.low) / math.Sqrt2
		t.deviation = spread
	default:
		t.low = 0
	}
	if ordinal, ok := t.loss.(losses.Ordinal); ok {
		spread, t.high = classScores, float64(len(ordinal.Filled().Thresholds))
	}
	z := t.scores(x, offsets)
	if sd := stat.StdDev(z, nil); sd > 0 {
		for j := range t.weights {
			t.weights[j] *= r.strength * spread / sd
		}
		z = t.scores(x, offsets)
	}
	if _, ordinal := t.loss.(losses.Ordinal); !ordinal {
		t.intercept = t.level(z, r.mean)
	}
	return t
}

// scores are those of rows, without the intercept.
func (t *truth) scores(x *mat.Dense, offsets []float64) []float64 {
	n, _ := x.Dims()
	z := make([]float64, n)
	mat.NewVecDense(n, z).MulVec(x, mat.NewVecDense(len(t.weights), t.weights))
	for i, o := range offsets {
		z[i] += o
	}
	return z
}

// level is the intercept with which labels of scores have a mean.
func (t *truth) level(z []float64, mean float64) float64 {
	low, high := -50.0, 50.0
	if t.loss.Labels() == losses.Real {
		return mean - stat.Mean(z, nil)
	}
	for range 60 {
		middle, sum := (low+high)/2, 0.0
		for _, v := range z {
			sum += t.mean(v + middle)
		}
		if sum < mean*float64(len(z)) {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// mean is that of a label with the given score.
func (t *truth) mean(z float64) float64 {
	switch kind := t.loss.Labels(); {
	case kind == losses.Real:
		return z
	case kind.FromZero():
		return math.Exp(z)
	case losses.LinkOf(t.loss).Probability():
		return losses.LinkOf(t.loss).Mean(z)
	}
	return losses.Logit.Mean(z)
}

// labels draws those of rows.
func (t *truth) labels(random *rand.Rand, x *mat.Dense, offsets []float64) []float64 {
	y := t.scores(x, offsets)
	for i, z := range y {
		y[i] = t.label(random, z+t.intercept)
	}
	return y
}

// label draws one.
func (t *truth) label(random *rand.Rand, z float64) float64 {
	mean := t.mean(z)
	var y float64
	switch l := t.loss.(type) {
	case losses.Ordinal:
		y = float64(cumulative(l.Probabilities(z)).draw(random))
	case losses.NegativeBinomial:
		shape := 1 / l.Dispersion
		y = poisson(random, distuv.Gamma{Alpha: shape, Beta: shape / mean, Src: random}.Rand())
	default:
		switch l.Labels() {
		case losses.Binary:
			if random.Float64() < mean {
				y = 1
			}
		case losses.Count:
			y = poisson(random, mean)
		case losses.Amount:
			y = mean * random.ExpFloat64()
		default:
			y = mean + t.deviation*random.NormFloat64()
		}
	}
	return math.Max(t.low, math.Min(t.high, y))
}

func poisson(random *rand.Rand, mean float64) float64 {
	if !(mean > 0) {
		return 0
	}
	return distuv.Poisson{Lambda: mean, Src: random}.Rand()
}

// cumulative turns probabilities into odds.
func cumulative(p []float64) odds {
	out, sum := make(odds, len(p)), 0.0
	for j, v := range p {
		sum += v
		out[j] = sum
	}
	return out
}

// outcome is a label that a row may have, as a loss takes it, and its weight.
type outcome struct{ y, weight float64 }

// outcomes stand for the law of a row's label: all there are of classes and levels, a pair
// around the mean of real labels, and the mean itself where the loss is linear in labels,
// as those of counts and amounts are.
func (t *truth) outcomes(random *rand.Rand, z float64) []outcome {
	mean := t.mean(z)
	if l, ok := t.loss.(losses.Ordinal); ok {
		var all []outcome
		for level, p := range l.Probabilities(z) {
			all = append(all, outcome{float64(level), p})
		}
		return all
	}
	switch t.loss.Labels() {
	case losses.Binary:
		return []outcome{{1, mean}, {-1, 1 - mean}}
	case losses.Real:
		e := t.deviation * random.NormFloat64()
		return []outcome{{math.Max(t.low, math.Min(t.high, mean-e)), 0.5}, {math.Max(t.low, math.Min(t.high, mean+e)), 0.5}}
	}
	return []outcome{{math.Min(mean, t.high), 1}}
}

// kink is a width that is small beside what scores vary by.
func (t *truth) kink() float64 {
	if t.loss.Labels() == losses.Real {
		return t.deviation / 10
	}
	return classScores / 10
}

// classes reports whether labels have two classes.
func (t *truth) classes() bool { return t.loss.Labels() == losses.Binary }

// details are the exposures, weights and persons of n rows, or those of n persons.
type details struct {
	persons []int
	offsets []float64
	weights []float64
	rows    int
}

func (c *scene) details(random *rand.Rand, n int) details {
	d := details{rows: n}
	if c.personRows > 0 {
		d.rows = 0
		for person := range n {
			for range 1 + random.IntN(c.personRows) {
				d.persons = append(d.persons, person)
				d.rows++
			}
		}
	}
	if lo, hi := c.exposure[0], c.exposure[1]; hi > 0 {
		d.offsets = make([]float64, d.rows)
		for i := range d.offsets {
			d.offsets[i] = math.Log(lo + (hi-lo)*random.Float64())
		}
	}
	if lo, hi := c.weight[0], c.weight[1]; hi > 0 {
		d.weights = make([]float64, d.rows)
		for i := range d.weights {
			d.weights[i] = lo + (hi-lo)*random.Float64()
		}
	}
	return d
}

// given are the details as a data set takes them.
func (c *scene) given(d details, persons int) []dpglm.RowDetail {
	var out []dpglm.RowDetail
	if d.persons != nil {
		out = append(out, dpglm.Persons{Of: d.persons, Count: persons, MaxRows: c.personRows, Alike: c.alike})
	}
	if d.weights != nil {
		out = append(out, dpglm.Weights{Of: d.weights, Max: c.weight[1]})
	}
	if d.offsets != nil {
		out = append(out, dpglm.Offsets{Of: d.offsets, Range: c.offsets()})
	}
	return out
}
