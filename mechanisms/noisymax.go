package mechanisms

// NoisyMax selects one of N candidates by scores that are to be small: it adds
// Laplace noise of scale 2Δ/ε to each and reports whose noisy score is smallest,
// never the score itself. (It is "report noisy max" for the negative scores;
// Dwork and Roth 2014, section 3.3.)
//
// # Privacy
//
// Replace-one. Let one row change each score by at most Δ, in any direction. A
// selection is Epsilon-DP, ties included. The caller answers for Δ.
//
// Proof. Scores are rounded to integers k_i on a public grid; a row moves them by
// at most D steps, rounding included. Noise Y_i is discrete Laplace,
// P(y) ∝ exp(−|y|/unit), with the integer unit ≥ 2D/ε; equal noisy scores are
// decided by the lower index. Fix the others' noise. Then i wins if and only if
// k_i + Y_i ≤ T, where T is the least of the noisy scores after i and of those
// before i less one. A row raises k_i by at most D and lowers T by at most D, and
// for an integer shift 2D
//
//	P(Y ≤ x − 2D) = Σ_{y ≤ x} P(y − 2D) ≥ exp(−2D/unit)·P(Y ≤ x),
//
// so i keeps at least exp(−ε) of its probability, for any fixed noise of the
// others and hence on average. Ties are part of T and cost nothing.
//
// # Accuracy
//
// With probability at least 1−β: q_î ≤ min_i q_i + 4Δ·log(N/β)/ε, with the
// same allowance for the grid as [Exponential]'s. [PermuteAndFlip], which amounts to
// one-sided noise, is the better default. Time O(N).
type NoisyMax struct {
	Epsilon float64 // ε of one selection, at least 1e-6
}

// Select returns the index of the chosen candidate. Scores must be finite; an
// error about one goes to the curator and is not part of the guarantee. The
// sensitivity Δ is common to all scores; 0 says that they are constants, of which
// a smallest is taken.
func (m NoisyMax) Select(scores []float64, sensitivity float64, src Source) (int, error) {
	return sampler(noisyMin).best(scores, sensitivity, m.Epsilon, src)
}

// Ledger returns the entry of one selection. It fails for an ε out of range.
func (m NoisyMax) Ledger(label string) (*Ledger, error) {
	return selectionLedger(KindPure, label, m.Epsilon, 1)
}

// noisyMin returns the index of the smallest gap + discrete Laplace noise of
// scale unit, the lower one of equals.
func noisyMin(gaps []uint64, unit uint64, src *words) int {
	best, least := 0, noisyGap{}
	for i, gap := range gaps {
		if g := drawNoisyGap(gap, unit, src); i == 0 || g.less(least) {
			best, least = i, g
		}
	}
	return best
}

// noisyGap is the integer units·unit + rest, 0 ≤ rest < unit. Kept apart, the
// parts can't overflow, however large the noise: units counts coins.
type noisyGap struct {
	units int64
	rest  uint64
}

func drawNoisyGap(gap, unit uint64, src *words) noisyGap {
	u, v, negative := discreteLaplaceParts(unit, src)
	g := noisyGap{units: int64(gap / unit), rest: gap % unit}
	if negative {
		g.units -= int64(v)
		if g.rest < u {
			g.units--
			g.rest += unit
		}
		g.rest -= u
		return g
	}
	g.units += int64(v)
	g.rest += u
	if g.rest >= unit {
		g.units++
		g.rest -= unit
	}
	return g
}

func (g noisyGap) less(h noisyGap) bool {
	return g.units < h.units || (g.units == h.units && g.rest < h.rest)
}
