package mechanisms

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// The mechanisms that select (Exponential, [PermuteAndFlip], [NoisyMax] and
// [GeneralizedExponential]) share what is in this file: a score becomes an
// integer, and a difference of scores a coin that is exact.
//
// With D the largest change of an integer score between neighbours, each of them
// uses only the gaps c_i = min(k_i − min_j k_j, maxGap) and the integer
// unit ≥ 2D/ε. Capped gaps belong to the scores min(k_i, min_j k_j + maxGap),
// which one row moves by at most D too, as a minimum of quantities that do.

const (
	// scoreBits is the resolution of scores: a sensitivity, or the largest of
	// several, spans at least 2^scoreBits steps of the grid.
	scoreBits = 34

	// maxGap caps a difference of scores, in steps. Below it a difference of
	// integer-valued float64 numbers is exact, and rounding is monotone, so the
	// capped difference is exact for scores of any size. At equal sensitivities
	// Δ the cap stands for at least 2^18·Δ.
	maxGap = 1 << 53

	// minSelectionEpsilon keeps unit below 2^57.
	minSelectionEpsilon = 1e-6
)

func selectionEpsilon(epsilon float64) error {
	if err := check.Epsilon(epsilon); err != nil {
		return err
	}
	if epsilon < minSelectionEpsilon {
		return check.Fail(check.ErrBudget, "epsilon", epsilon, fmt.Sprintf("must be at least %g to select", minSelectionEpsilon))
	}
	return nil
}

func selectionScores(scores []float64) error {
	if len(scores) == 0 {
		return check.Fail(check.ErrShape, "len(scores)", 0, "must be at least 1")
	}
	return allFinite("scores", scores)
}

func scoreSensitivity(param string, v float64) error {
	if v == 0 || (v >= check.MinScale && v <= check.MaxScale) {
		return nil
	}
	return check.Fail(check.ErrConfig, param, v, fmt.Sprintf("must be 0 or lie in [%g, %g]", check.MinScale, check.MaxScale))
}

// scoreStep returns the grid's step for a largest sensitivity Δ > 0, a power of
// two with 2^scoreBits ≤ Δ/step < 2^(scoreBits+1).
func scoreStep(sensitivity float64) float64 {
	_, exp := math.Frexp(sensitivity)
	return math.Ldexp(1, exp-1-scoreBits)
}

// toSteps returns a score as an integer number of steps, nearest to it. Scores
// beyond ±2^1000 steps are clamped, which brings no two of them further apart.
func toSteps(score, step float64) float64 {
	return math.RoundToEven(math.Max(-0x1p1000, math.Min(0x1p1000, score/step)))
}

// sensitivityInSteps bounds the change of toSteps of a score that changes by at
// most the sensitivity: rounding adds half a step at either end. A constant
// stays one.
func sensitivityInSteps(sensitivity, step float64) uint64 {
	if sensitivity == 0 {
		return 0
	}
	return uint64(math.Ceil(sensitivity/step)) + 1
}

// stepsApart returns a − b, capped to ±maxGap, for integer-valued a and b.
func stepsApart(a, b float64) int64 {
	return int64(math.Max(-maxGap, math.Min(maxGap, a-b)))
}

// selectionUnit returns an integer unit ≥ 2D/ε: the coins exp(−c/unit) then
// spend at most ε on a change of 2D steps.
func selectionUnit(sensitivity uint64, epsilon float64) uint64 {
	return uint64(math.Ceil(2 * float64(sensitivity) / epsilon * (1 + 1e-15)))
}

// gapsToBest checks a selection's arguments and returns each score's distance
// from the smallest one, in steps, and the unit that goes with it. Scores of
// sensitivity 0 are constants, of which only the smallest count: exp(−maxGap)
// is nothing.
func gapsToBest(scores []float64, sensitivity, epsilon float64) (gaps []uint64, unit uint64, err error) {
	if err := selectionEpsilon(epsilon); err != nil {
		return nil, 0, err
	}
	if err := selectionScores(scores); err != nil {
		return nil, 0, err
	}
	if err := scoreSensitivity("sensitivity", sensitivity); err != nil {
		return nil, 0, err
	}
	best := slices.Min(scores)
	gaps = make([]uint64, len(scores))
	if sensitivity == 0 {
		for i, q := range scores {
			if q > best {
				gaps[i] = maxGap
			}
		}
		return gaps, 1, nil
	}
	step := scoreStep(sensitivity)
	for i, q := range scores {
		gaps[i] = uint64(stepsApart(toSteps(q, step), toSteps(best, step)))
	}
	return gaps, selectionUnit(sensitivityInSteps(sensitivity, step), epsilon), nil
}

// sampler draws one of n candidates by their gaps.
type sampler func(gaps []uint64, unit uint64, src *words) int

// best draws by scores that have one sensitivity.
func (draw sampler) best(scores []float64, sensitivity, epsilon float64, src Source) (int, error) {
	gaps, unit, err := gapsToBest(scores, sensitivity, epsilon)
	if err != nil {
		return 0, err
	}
	return draw.index(gaps, unit, src)
}

// index draws with words for a selection among so many candidates (see words).
func (draw sampler) index(gaps []uint64, unit uint64, src Source) (int, error) {
	random, err := newWords(src, 2400*uint64(len(gaps))+4000)
	if err != nil {
		return 0, err
	}
	i := draw(gaps, unit, random)
	if err := random.spent(nil); err != nil {
		return 0, err
	}
	return i, nil
}

// selectionLedger is the entry of selections.
func selectionLedger(kind Kind, label string, epsilon float64, releases int) (*Ledger, error) {
	if err := selectionEpsilon(epsilon); err != nil {
		return nil, err
	}
	return epsilonLedger(kind, label, epsilon, releases)
}
