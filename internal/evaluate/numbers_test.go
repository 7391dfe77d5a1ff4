package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpglm/dpglm/internal/histogram"
)

// readings are a mean square of errors and a variance of labels.
func readings(rest, all float64) []reading {
	return []reading{{meanSquare, rest}, {variance, all}}
}

// Where the variance of labels doesn't stand out from noise R² isn't known, and where it barely
// does its interval is wide.
func TestExplainedDrowns(t *testing.T) {
	spread := func(about, of float64) (list []float64) {
		public := rand.New(rand.NewPCG(0, 0))
		for range simulations {
			list = append(list, about+of*public.NormFloat64())
		}
		return list
	}
	rest := spread(0.9, 0.01)
	for of, want := range map[float64]bool{0.01: true, 0.4: true, 0.7: false, 5: false} {
		s := &simulated{0.95, readings(0.9, 1), [][]float64{rest, spread(1, of)}}
		v := s.explained()
		if known := v != (Interval{}); known != want || known && !(v.Low < v.Value && v.Value < v.High && v.High < 1) {
			t.Errorf("a spread of %g: %+v", of, v)
		}
		if of == 0.4 && v.Low > -1 || of == 0.01 && (v.Low < 0.05 || v.High > 0.15) {
			t.Errorf("a spread of %g: %+v", of, v)
		}
	}
	for _, released := range [][2]float64{{0.9, -1}, {-0.9, 1}, {0.9, math.NaN()}} {
		s := &simulated{0.95, readings(released[0], released[1]), [][]float64{rest, spread(1, 0.01)}}
		if v := s.explained(); v != (Interval{}) {
			t.Errorf("sums %v: %+v", released, v)
		}
	}
}

// Intervals are wider by what may lie beyond the cells, and where most of the square may lie
// there it isn't known.
func TestHiddenTailsWiden(t *testing.T) {
	about := Interval{1, 0.9, 1.1}
	f, released := ofErrors{about, about, about}, sums{1, 1, 1, 2}
	f = f.widened(released, sums{1, 1.5, 1.9, 2.5}, 0, hidden{histogram.Added{ByLaw: 0.02, AtMost: 9}, histogram.Added{ByLaw: 0.05, AtMost: 9}, 0.5, 0})
	if x := f.root; x.Value != 1 || x.Low != 0.9 || math.Abs(x.High-1.1-math.Sqrt(1.9)+1) > 1e-12 || math.Abs(f.mean.High-1.15) > 1e-12 || math.Abs(f.mean.Low-0.88) > 1e-12 ||
		f.part.High != 1 || math.Abs(f.part.Low-0.45) > 1e-12 {
		t.Errorf("%+v", f)
	}
	if f := f.widened(released, released, 0.5, hidden{}); f.root.known() { // by sampling from there
		t.Errorf("%+v", f)
	}
	if f := f.widened(released, released, 0, hidden{histogram.Added{ByLaw: 0.2, AtMost: 9}, histogram.Added{ByLaw: 0.05, AtMost: 9}, 0.5, 0}); math.Abs(f.mean.Low-0.88+9) > 1e-12 || math.Abs(f.mean.High-1.2) > 1e-12 || !f.root.known() {
		t.Errorf("%+v", f)
	}
	f.part = Interval{0.5, 0.4, 0.6}
	if x := f.widened(released, released, 0, hidden{variance: 1}).part; x.Low != 0.4 || math.Abs(x.High-0.6-1.0/6) > 1e-12 {
		t.Errorf("%+v", x)
	}
	f = f.widened(released, released, 0, hidden{square: 1.1})
	if f.root.known() || f.part.known() || !f.mean.known() {
		t.Errorf("%+v", f)
	}
}

// What lies beyond the cells counts by the law that is seen: of an exponential law, of which cells reach as far as its mean, mean, mean square and variance are those of
// the whole law.
func TestSumsOfWhatLiesBeyond(t *testing.T) {
	g := histogram.Grid{High: 1, Step: 0.01, Cells: 101, Shifts: 1, Least: 0, Most: 60}
	counts, exceed := make([]float64, g.Cells+2), func(v float64) float64 { return 1e6 * math.Exp(-math.Max(0, v)) }
	last := 0.0
	for k, edge := range g.Edges(0) {
		counts[k], last = exceed(edge)-last, exceed(edge)
	}
	c := counted{of: &sampled{spreads: []float64{1, 1}}, errors: g, labels: g}
	s := c.sums([][]float64{counts, counts}, false)
	if math.Abs(s.mean-1) > 0.01 || math.Abs(s.root-math.Sqrt2) > 0.01 || math.Abs(s.square-2) > 0.03 || math.Abs(s.variance-1) > 0.02 {
		t.Errorf("%+v, want a mean of 1, a mean square of 2 and a variance of 1", s)
	}
}
