package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/histogram"
)

// sampled are histograms of the same n rows, with noise of known spreads.
type sampled struct {
	confidence float64
	whole      bool // whether their totals are public, so that noise was taken away from these
	counts     [][]float64
	spreads    []float64
	shifts     []int // how many grids each is overlaid of, nil for one
}

// sampling is what counts are added to.
func (t Task) sampling() *sampled { return &sampled{confidence: t.Confidence, whole: t.Whole} }

// sample is one histogram.
func (t Task) sample(counts []float64, spread float64) *sampled {
	of := t.sampling()
	of.counts, of.spreads = [][]float64{counts}, []float64{spread}
	return of
}

// simulations are as many as make the ends of 95 % intervals certain to a tenth of their
// width.
const simulations = 600

// simulated are figures of counts as they were released, and of counts that may be instead.
type simulated struct {
	confidence float64
	released   []reading
	may        [][]float64
}

// figures are those of counts, always the same ones.
type figures func(counts [][]float64) []reading

// simulate makes figures of the counts as they were released, which noise doesn't bias as far
// as they are sums, and of these less errors such as theirs: a figure of counts less their own error is the rows', so that these hold it as
// often as they should, whatever function it is of sums. For the errors rows are drawn from the counts made nonnegative, and noise
// is added. A drawn count is normal, as the noise is, and errors have either sign alike. All of this is drawn from a public seed.
func (r *sampled) simulate(of figures) *simulated {
	s, pure, public := &simulated{r.confidence, of(r.counts), nil}, r.pure(), rand.New(rand.NewPCG(0, 0))
	s.may = make([][]float64, len(s.released))
	for range simulations {
		counts := make([][]float64, len(pure))
		for i, x := range r.counts {
			counts[i] = r.draw(i, pure[i], public)
			floats.Sub(counts[i], pure[i])
			floats.Add(counts[i], x)
		}
		for k, v := range of(counts) {
			s.may[k] = append(s.may[k], v.value)
		}
	}
	return s
}

// pure are the counts made nonnegative.
func (r *sampled) pure() [][]float64 {
	list := make([][]float64, len(r.counts))
	for i, x := range r.counts {
		list[i] = histogram.Nonnegative(x, math.Max(1, floats.Sum(x)))
	}
	return list
}

// tail is how many simulations lie beyond an end of an interval, with the one at it.
func (s *simulated) tail() int {
	return min(max(int(math.Round((1-s.confidence)/2*simulations)), 1), simulations/2)
}

// at is the place of a figure.
func (s *simulated) at(m measure) int {
	return slices.IndexFunc(s.released, func(r reading) bool { return r.of.name == m.name })
}

// interval holds the k-th figure of all counts that may be but for a tail on either side. It is held to a range. Where a figure isn't
// known of some of them they are in both tails. It has drowned, and the interval says nothing, where they are more than a tail,
// or where all others miss its range: noise made counts negative that it is a ratio of.
func (s *simulated) interval(k int) Interval {
	v, low, high, at := s.released[k].value, s.released[k].of.low, s.released[k].of.high, s.tail()
	may, none := slices.Clone(s.may[k]), 0
	slices.Sort(may) // NaN first
	for none < at && math.IsNaN(may[none]) {
		none++
	}
	if none == at || math.IsNaN(v) || may[none] > high || may[simulations-1] < low {
		return Interval{}
	}
	x := Interval{v, math.Min(v, may[at-1]), math.Max(v, may[simulations-at+none])}
	if math.IsInf(x.Low, 0) || math.IsInf(x.High, 0) {
		return Interval{}
	}
	return x.within(low, high)
}

// intervals are those of all figures of the counts.
func (r *sampled) intervals(of figures) []Figure {
	s := r.simulate(of)
	list := make([]Figure, len(s.released))
	for k, v := range s.released {
		list[k] = v.of.figure(s.interval(k))
	}
	return list
}

// draw returns the i-th counts of as many new rows, with noise.
func (r *sampled) draw(i int, counts []float64, public *rand.Rand) []float64 {
	out, sum, n := make([]float64, len(counts)), 0.0, floats.Sum(counts)
	for k, c := range counts {
		out[k] = float64(math.Sqrt(c) * public.NormFloat64())
		sum += out[k]
	}
	noise := r.noise(i, public)
	for k, c := range counts {
		out[k] += c - float64(c/n*sum) + noise[k]
	}
	return out
}

// noise is that of the i-th counts: it moves their totals only where these aren't public.
func (r *sampled) noise(i int, public *rand.Rand) []float64 {
	lists := make([][]float64, 1)
	if r.shifts != nil {
		lists = make([][]float64, r.shifts[i])
	}
	for k := range lists {
		lists[k] = make([]float64, (len(r.counts[i])+1)/len(lists)-1)
		for j := range lists[k] {
			lists[k][j] = float64(r.spreads[i] * public.NormFloat64())
		}
		if r.whole {
			floats.AddConst(-floats.Sum(lists[k])/float64(len(lists[k])), lists[k])
		}
	}
	return histogram.Overlay(lists)
}
