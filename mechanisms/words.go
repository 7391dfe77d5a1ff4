package mechanisms

import (
	"fmt"
	"math"
	mrand "math/rand/v2"

	"github.com/dpglm/dpglm/internal/check"
)

// words hands a source's words to a sampler, and counts them. Samplers reject until
// a draw fits, which takes for ever on a source that repeats itself. After more words
// than a true source needs, but for a probability of 2^-1000, words come from a fixed
// generator instead, so that the sampler ends, and the release returns an error in
// place of its result.
//
// The limits: let W be the words of one draw. For the discrete Gaussian E 2^W < 4,
// since 95 draws in 100 are kept and nearly all need one word or two; for the discrete
// Laplace law E 1.2^W < 1.2^16. By Markov's inequality n draws exceed 16n + 4000 words
// with probability below 1.2^-4000 < 2^-1000. A selection among n proposes the best
// candidate with probability 1/n, so it makes more than 800n proposals with
// probability below e^-800, and these need more than 2400n + 4000 words with
// probability below 1.2^-4000.
type words struct {
	from Source
	left uint64
	over bool
}

// newWords allows the given number of words.
func newWords(src Source, limit uint64) (*words, error) {
	if src == nil {
		return nil, check.Fail(check.ErrConfig, "source", nil, "must not be nil")
	}
	return &words{from: src, left: limit}, nil
}

func (w *words) Uint64() uint64 {
	if w.left == 0 {
		w.end()
	}
	w.left--
	return w.from.Uint64()
}

func (w *words) end() {
	w.from, w.left, w.over = mrand.NewPCG(1, 2), 1<<63, true
}

// spent reports a source that gave too many words, after clearing what was made of
// them.
func (w *words) spent(result []float64) error {
	if !w.over {
		return nil
	}
	clear(result)
	return check.Fail(check.ErrConfig, "source", nil, "must give random words; a sampler rejected all it got")
}

// vectorWords checks what Release is given, and allows the words for as many coordinates.
func vectorWords(dst, value []float64, src Source) (*words, error) {
	if len(dst) != len(value) {
		return nil, check.Fail(check.ErrShape, "len(dst)", len(dst), fmt.Sprintf("must equal len(value) = %d", len(value)))
	}
	if err := allFinite("value", value); err != nil {
		return nil, err
	}
	return newWords(src, 16*uint64(len(value))+4000)
}

// allFinite asks for finite numbers; the error names the place, not the number.
func allFinite(param string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return check.Fail(check.ErrValue, fmt.Sprintf("%s[%d]", param, i), nil, "must be finite")
		}
	}
	return nil
}
