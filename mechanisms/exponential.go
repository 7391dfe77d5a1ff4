package mechanisms

// Exponential selects one of N candidates by scores that are to be small: the
// exponential mechanism of McSherry and Talwar (FOCS 2007). Candidate i is
// chosen with probability proportional to exp(−ε·q_i/(2Δ)).
//
// # Privacy
//
// Replace-one. Let one row change each score by at most Δ, in any direction. A
// selection is Epsilon-DP and, more strongly, Epsilon-bounded-range: over the
// candidates, log P(i)/P'(i) varies by at most Epsilon. (Sequences of
// bounded-range selections compose better than pure ones.) The caller answers
// for Δ.
//
// Proof. Scores are rounded to integers k_i on a public grid; a row moves them
// by at most D steps, rounding included. The weights exp(−k_i/unit) with
// unit ≥ 2D/ε have log-ratios within ±D/unit, two of them differ by at most
// 2D/unit ≤ ε, and normalising shifts all alike. The sampler's only randomness
// are uniform integers and exact coins; it proposes a candidate uniformly and
// accepts it with probability exp(−(k_i − min_j k_j)/unit). How many proposals
// that takes depends on the scores: time is outside of the guarantee.
//
// # Accuracy
//
// With probability at least 1−β: q_î ≤ min_i q_i + 2Δ·log(N/β)/ε. The grid
// adds at most 2^-30·Δ·log(N/β)·(1 + 1/ε), and the bound must stay below 2^18·Δ,
// where differences are capped. A selection takes O(N) time and at most N
// proposals in the mean. [PermuteAndFlip]'s expected distance from the best score is
// never larger, and may be half of this one's.
type Exponential struct {
	Epsilon float64 // ε of one selection, at least 1e-6
}

// Select returns the index of the chosen candidate. Scores must be finite; an
// error about one goes to the curator and is not part of the guarantee. The
// sensitivity Δ is common to all scores; 0 says that they are constants, of which
// the smallest is taken, a tie at random.
func (m Exponential) Select(scores []float64, sensitivity float64, src Source) (int, error) {
	return sampler(exponential).best(scores, sensitivity, m.Epsilon, src)
}

// Ledger returns the entry of one selection. It fails for an ε out of range.
func (m Exponential) Ledger(label string) (*Ledger, error) {
	return selectionLedger(KindBoundedRange, label, m.Epsilon, 1)
}

// exponential draws i with probability proportional to exp(−gaps[i]/unit), by
// rejection; it is quick where the smallest gap is 0.
func exponential(gaps []uint64, unit uint64, src *words) int {
	for {
		i := uniform(uint64(len(gaps)), src)
		if coinExp(gaps[i], unit, src) {
			return int(i)
		}
	}
}
