package mechanisms

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// GeneralizedExponential selects one of N candidates by scores that are to be
// small and that have sensitivities Δ_i of their own: the generalized exponential
// mechanism of Raskhodnikova and Smith (FOCS 2016). A candidate of small
// sensitivity isn't drowned in the noise that a sensitive one needs.
//
// With t = 2·log(N/β)/ε, candidate i is chosen with probability proportional to
// exp(−ε·s_i/2),
//
//	s_i = max_j ((q_i + tΔ_i) − (q_j + tΔ_j)) / (Δ_i + Δ_j).
//
// Where all Δ_i are equal, [Exponential] is used instead: s_i is then
// (q_i − min_j q_j)/(2Δ), which would waste half of ε. Which of the
// two it is depends on the sensitivities only, which are public. Candidates with
// Δ_i = 0 are constants: one that loses to another constant is excluded; a tie
// contributes 0 to the maximum.
//
// # Privacy
//
// Replace-one. Let one row change q_i by at most Δ_i, each in any direction. A
// selection is Epsilon-DP and Epsilon-bounded-range (see [Exponential]). The caller
// answers for the Δ_i; for a constant, also for its not depending on the data.
//
// Proof. Scores are rounded to integers k_i on a public grid; a row moves them by
// at most D_i steps, rounding included. A difference k_i − k_j, capped, moves by
// at most D_i + D_j, the offsets that stand for tΔ_i are public integers, so each
// fraction, an exact rational, moves by at most 1; so does their maximum s_i, and
// ⌊2^34·s_i⌋, capped, by at most D = 2^34. (Excluded candidates are so on either
// neighbour. A pair with D_i + D_j = 0 is a tie.) The rest is [Exponential]'s proof
// for these integers. The factor ½ is needed, since one s_i can rise by 1 while
// another falls by 1: without it a search finds neighbours at 1.6·ε.
//
// # Accuracy
//
// With probability at least 1−β: q_î ≤ min_i (q_i + 4Δ_i·log(N/β)/ε), because
// s_î ≤ t then, by [Exponential]'s bound, min_i s_i = 0, and all fractions of î are
// at most t. With Δ the largest Δ_i, the grid adds at most
// 2^-28·Δ·log(N/β)·(1 + 1/ε), and the bound must stay below 2^18·Δ, where
// differences are capped. A selection takes O(N²) time, 7 ms for N = 1000.
type GeneralizedExponential struct {
	Epsilon float64 // ε of one selection, at least 1e-6
	Beta    float64 // failure probability of the accuracy bound, 0 < β < 1; privacy doesn't depend on it
}

// Select returns the index of the chosen candidate; sensitivities[i] ≥ 0 belongs
// to scores[i]. Scores must be finite; an error about one goes to the curator and
// is not part of the guarantee.
func (m GeneralizedExponential) Select(scores, sensitivities []float64, src Source) (int, error) {
	if err := m.validate(scores, sensitivities); err != nil {
		return 0, err
	}
	if slices.Min(sensitivities) == slices.Max(sensitivities) {
		return Exponential{Epsilon: m.Epsilon}.Select(scores, sensitivities[0], src)
	}
	kept := withoutLosingConstants(scores, sensitivities)
	gaps, unit := m.gaps(scores, sensitivities, kept)
	i, err := sampler(exponential).index(gaps, unit, src)
	if err != nil {
		return 0, err
	}
	return kept[i], nil
}

// Ledger returns the entry of one selection. It fails for an ε out of range.
func (m GeneralizedExponential) Ledger(label string) (*Ledger, error) {
	return selectionLedger(KindBoundedRange, label, m.Epsilon, 1)
}

func (m GeneralizedExponential) validate(scores, sensitivities []float64) error {
	if err := selectionEpsilon(m.Epsilon); err != nil {
		return err
	}
	if !(m.Beta > 0 && m.Beta < 1) {
		return check.Fail(check.ErrConfig, "beta", m.Beta, "must lie strictly between 0 and 1")
	}
	if err := selectionScores(scores); err != nil {
		return err
	}
	if len(sensitivities) != len(scores) {
		return check.Fail(check.ErrShape, "len(sensitivities)", len(sensitivities), fmt.Sprintf("must equal len(scores) = %d", len(scores)))
	}
	for i, d := range sensitivities {
		if err := scoreSensitivity(fmt.Sprintf("sensitivities[%d]", i), d); err != nil {
			return err
		}
	}
	return nil
}

// withoutLosingConstants returns the indices of the candidates that aren't
// excluded.
func withoutLosingConstants(scores, sensitivities []float64) []int {
	least := math.Inf(1)
	for i, d := range sensitivities {
		if d == 0 {
			least = math.Min(least, scores[i])
		}
	}
	var kept []int
	for i, d := range sensitivities {
		if d > 0 || scores[i] == least {
			kept = append(kept, i)
		}
	}
	return kept
}

// gaps returns ⌊2^scoreBits·s_i⌋ of the kept candidates and the unit that goes
// with it. One gap is 0: offsets differ by at most maxGap, so for the candidate
// with the least score + offset the cap changes no sign of a fraction.
func (m GeneralizedExponential) gaps(scores, sensitivities []float64, kept []int) ([]uint64, uint64) {
	step := scoreStep(slices.Max(sensitivities))
	t := 2 * (math.Log(float64(len(scores))) - math.Log(m.Beta)) / m.Epsilon
	candidates := make([]candidate, len(kept))
	for i, at := range kept {
		d := sensitivityInSteps(sensitivities[at], step)
		offset := int64(math.Min(maxGap, t*float64(d)))
		candidates[i] = candidate{score: toSteps(scores[at], step), sensitivity: d, offset: offset}
	}
	gaps := make([]uint64, len(kept))
	for i, c := range candidates {
		gaps[i] = c.normalised(candidates)
	}
	return gaps, selectionUnit(1<<scoreBits, m.Epsilon)
}

// candidate holds k_i, D_i and the offset for tΔ_i, in steps.
type candidate struct {
	score       float64 // an integer
	sensitivity uint64
	offset      int64
}

// normalised returns ⌊2^scoreBits·s⌋, at most maxGap. The maximum includes the
// candidate itself, whose fraction is 0.
func (c candidate) normalised(all []candidate) uint64 {
	var s uint64
	for _, o := range all {
		if num := stepsApart(c.score, o.score) + c.offset - o.offset; num > 0 {
			s = max(s, scaledQuotient(uint64(num), c.sensitivity+o.sensitivity))
		}
	}
	return s
}

// scaledQuotient returns min(⌊2^scoreBits·num/den⌋, maxGap), for den > 0.
func scaledQuotient(num, den uint64) uint64 {
	hi, lo := bits.Mul64(num, 1<<scoreBits)
	if hi >= den {
		return maxGap
	}
	q, _ := bits.Div64(hi, lo, den)
	return min(q, maxGap)
}
