package mechanisms

import (
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// unlimited is what a sampler reads where the number of words doesn't matter.
func unlimited(src Source) *words { return &words{from: src, left: math.MaxUint64} }

// cycle repeats its words for ever.
type cycle struct {
	words []uint64
	at    int
}

func (c *cycle) Uint64() uint64 {
	c.at++
	return c.words[(c.at-1)%len(c.words)]
}

// released is every way of drawing noise, and what it writes to.
func released(src Source) map[string]func() error {
	scores := []float64{3, 1, 2}
	selected := func(i int, err error) error {
		if err != nil && i != 0 {
			return errors.New("a result beside the error")
		}
		return err
	}
	vector := func(release func(dst []float64) error) error {
		dst := []float64{5, 6, 7}
		err := release(dst)
		for _, v := range dst {
			if src != nil && err != nil && v >= 5 && v <= 7 {
				return errors.New("a raw value beside the error")
			}
		}
		return err
	}
	return map[string]func() error{
		"gaussian": func() error {
			return vector(func(dst []float64) error { return Gaussian{1}.Release(dst, dst, 0.3, src) })
		},
		"laplace": func() error {
			return vector(func(dst []float64) error { return Laplace{1}.Release(dst, dst, 0.3, src) })
		},
		"exponential": func() error { return selected(Exponential{1}.Select(scores, 0.1, src)) },
		"flip":        func() error { return selected(PermuteAndFlip{1}.Select(scores, 0.1, src)) },
		"noisy max":   func() error { return selected(NoisyMax{1}.Select(scores, 0.1, src)) },
		"generalized": func() error {
			return selected(GeneralizedExponential{1, 0.1}.Select(scores, []float64{0.1, 0.2, 0.3}, src))
		},
		"vote": func() error { _, err := Vote{1}.Answer(3, src); return err },
	}
}

// A source that repeats itself ends every release: with a result, or with an error
// and none. That of zeros makes the rejection samplers reject for ever.
func TestRepeatingSourcesEnd(t *testing.T) {
	refused := map[string]int{}
	for _, w := range [][]uint64{{0}, {math.MaxUint64}, {0, math.MaxUint64}, {math.MaxUint64, 0, 0}, {1}, {1 << 63}, {1<<63 - 1, math.MaxUint64}} {
		for name := range released(nil) {
			err := released(&cycle{words: w})[name]()
			if err != nil && !errors.Is(err, check.ErrConfig) {
				t.Errorf("%s, %#x: %v", name, w, err)
			}
			if err != nil {
				refused[name]++
			}
		}
	}
	for _, name := range []string{"gaussian", "laplace", "exponential", "noisy max", "generalized", "vote"} {
		if refused[name] == 0 {
			t.Errorf("%s takes every source", name)
		}
	}
	for name, release := range released(nil) {
		if err := release(); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%s without a source gives %v", name, err)
		}
	}
}

// True sources stay far below the limits.
func TestTrueSourcesAreNotRefused(t *testing.T) {
	for seed := range uint64(300) {
		for name, release := range released(NewSeededSource(seed)) {
			if err := release(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	const n = 10_000
	for name, draw := range map[string]func(*words){
		"gaussian": func(w *words) { g := newDiscreteGaussian(1<<40 + 9); g.draw(w) },
		"laplace":  func(w *words) { discreteLaplaceParts(1<<40+9, w) },
		"narrow":   func(w *words) { discreteLaplaceParts(1, w) },
		"wide":     func(w *words) { discreteLaplaceParts(1<<62, w) },
	} {
		w := unlimited(NewSeededSource(1))
		for range n {
			draw(w)
		}
		if mean := float64(math.MaxUint64-w.left) / n; mean > 6 {
			t.Errorf("%s: %g words in the mean", name, mean)
		}
	}
}

// recorder keeps what a source gave.
type recorder struct {
	from  Source
	words []uint64
}

func (r *recorder) Uint64() uint64 {
	w := r.from.Uint64()
	r.words = append(r.words, w)
	return w
}

// Each coordinate's noise is the sampler's next draw, from words of its own: the
// sampler, run again on the recorded words, predicts the release bit by bit. A
// coordinate without noise, or with another's, fails.
func TestNoiseOfEachCoordinate(t *testing.T) {
	value := []float64{1, -2, 0, 1e6, 1, 1, -0.3}
	const sensitivity = 0.7
	for name, c := range map[string]struct {
		release func(dst []float64, src Source) error
		grid    func() (step float64, scale uint64, err error)
		draw    func(scale uint64, w *words) float64
	}{
		"gaussian": {
			func(dst []float64, src Source) error { return Gaussian{0.4}.Release(dst, value, sensitivity, src) },
			func() (float64, uint64, error) { return Gaussian{0.4}.grid(sensitivity, len(value)) },
			func(scale uint64, w *words) float64 { g := newDiscreteGaussian(scale); return float64(g.draw(w)) },
		},
		"laplace": {
			func(dst []float64, src Source) error { return Laplace{0.4}.Release(dst, value, sensitivity, src) },
			func() (float64, uint64, error) { return Laplace{0.4}.grid(sensitivity, len(value)) },
			func(scale uint64, w *words) float64 { return float64(discreteLaplace(scale, w).Int64()) },
		},
	} {
		step, scale, err := c.grid()
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(50) {
			source, out := &recorder{from: NewSeededSource(seed)}, make([]float64, len(value))
			if err := c.release(out, source); err != nil {
				t.Fatal(err)
			}
			again := unlimited(&script{t, source.words})
			for i, v := range value {
				before := again.left
				noise := c.draw(scale, again) * step
				if want := math.RoundToEven(v/step)*step + noise; out[i] != want {
					t.Fatalf("%s, seed %d, coordinate %d: %g, want %g", name, seed, i, out[i], want)
				}
				if noise == 0 || again.left == before {
					t.Fatalf("%s, seed %d, coordinate %d: noise %g from %d words", name, seed, i, noise, before-again.left)
				}
			}
			if used := math.MaxUint64 - again.left; used != uint64(len(source.words)) {
				t.Errorf("%s: %d of %d words used", name, used, len(source.words))
			}
		}
	}
}

// The same for selections: noisy max draws once for each candidate.
func TestNoiseOfEachCandidate(t *testing.T) {
	scores := []float64{0, 0.1, 0.2, 0, 0.05}
	gaps, unit, err := gapsToBest(scores, 1, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(200) {
		source := &recorder{from: NewSeededSource(seed)}
		got, err := NoisyMax{0.5}.Select(scores, 1, source)
		if err != nil {
			t.Fatal(err)
		}
		again := unlimited(&script{t, source.words})
		best, least := 0, math.Inf(1)
		for i, gap := range gaps {
			noise, _ := discreteLaplace(unit, again).Float64()
			if noisy := float64(gap) + noise; noisy < least {
				best, least = i, noisy
			}
		}
		if got != best || math.MaxUint64-again.left != uint64(len(source.words)) {
			t.Errorf("seed %d: %d, want %d", seed, got, best)
		}
	}
}
