package mechanisms

// PermuteAndFlip selects one of N candidates by scores that are to be small
// (McKenna and Sheldon, NeurIPS 2020): it goes through the candidates in random
// order and takes the first one whose coin, of probability
// exp(−ε(q_i − min_j q_j)/(2Δ)), shows heads.
//
// # Privacy
//
// Replace-one. Let one row change each score by at most Δ, in any direction. A
// selection is Epsilon-DP. It isn't Epsilon-bounded-range: within a
// sequence of selections [Exponential] composes better. The caller answers for Δ.
//
// Proof, for the integer scores k_i on a public grid, which a row moves by at
// most D steps, rounding included, and unit ≥ 2D/ε. The output has the law of
// argmin_i (k_i − unit·E_i) with independent standard exponential E_i (Ding,
// Kifer and others, arXiv:2105.07260). Given the others' noise and their minimum m,
// i wins with probability min(1, exp(−(k_i − m)/unit)); its logarithm is
// 1/unit-Lipschitz in k_i − m, which a row moves by at most 2D, hence it moves by
// at most 2D/unit ≤ ε. The sampler's only randomness are uniform integers and
// exact coins.
//
// # Accuracy
//
// The expected score is at most that of Exponential, for every score vector. With
// probability at least 1−β: q_î ≤ min_i q_i + 2Δ·log(N/β)/ε, with the same allowance
// for the grid as there. A selection takes O(N) time and at most N coins.
type PermuteAndFlip struct {
	Epsilon float64 // ε of one selection, at least 1e-6
}

// Select returns the index of the chosen candidate. Scores must be finite; an
// error about one goes to the curator and is not part of the guarantee. The
// sensitivity Δ is common to all scores; 0 says that they are constants, of which
// the smallest is taken, a tie at random.
func (m PermuteAndFlip) Select(scores []float64, sensitivity float64, src Source) (int, error) {
	return sampler(permuteAndFlip).best(scores, sensitivity, m.Epsilon, src)
}

// Ledger returns the entry of one selection. It fails for an ε out of range.
func (m PermuteAndFlip) Ledger(label string) (*Ledger, error) {
	return selectionLedger(KindPure, label, m.Epsilon, 1)
}

// permuteAndFlip draws the permutation as it goes. One gap is 0, and its coin
// always shows heads, so the loop ends before the candidates do.
func permuteAndFlip(gaps []uint64, unit uint64, src *words) int {
	left := make([]int, len(gaps))
	for i := range left {
		left[i] = i
	}
	for {
		at := uniform(uint64(len(left)), src)
		i := left[at]
		if coinExp(gaps[i], unit, src) {
			return i
		}
		left[at] = left[len(left)-1]
		left = left[:len(left)-1]
	}
}
