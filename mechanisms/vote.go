package mechanisms

// Vote answers yes or no by an integer margin v, such as the votes for minus the
// votes against: yes with probability e^{εv/2}/(1 + e^{εv/2}). It is the
// exponential mechanism with two candidates, of which the better one loses only
// if its margin is a few times 2/ε.
//
// # Privacy
//
// Replace-one. Let one row change v by at most 2. An answer is Epsilon-DP and
// Epsilon-bounded-range (see [Exponential]). The caller answers for the 2.
//
// Proof. The sampler gives the odds e^{v·2^34/unit} for an integer
// unit ≥ 2^35/ε, exactly: it proposes yes or no with equal probability and accepts
// the one that v is against with probability exp(−|v|·2^34/unit). Where v moves by
// at most 2, the logarithm of the odds moves by at most 2^35/unit ≤ ε, and it is
// the difference of the two outcomes' log-likelihood ratios, of which one is ≥ 0
// and one is ≤ 0, so that neither exceeds ε. A margin beyond ±2^28 is cut there,
// which brings no two of them further apart.
//
// # Accuracy
//
// The answer is against the sign of v with probability at most e^{−ε|v|/2}, but
// for a relative 2^-34·ε of the exponent. It takes two proposals or fewer in the
// mean.
type Vote struct {
	Epsilon float64 // ε of one answer, at least 1e-6
}

// maxMargin keeps margins in steps below 2^63.
const maxMargin = 1 << 28

// Answer draws one answer. It fails for an ε out of range.
func (m Vote) Answer(v int, src Source) (bool, error) {
	if err := selectionEpsilon(m.Epsilon); err != nil {
		return false, err
	}
	gaps := []uint64{marginInSteps(v), marginInSteps(-v)} // of no, of yes
	i, err := sampler(exponential).index(gaps, m.unit(), src)
	return i == 1, err
}

// Ledger returns the entry for the given number of answers; margins may depend on earlier
// answers. It fails for an ε out of range, and for no release.
func (m Vote) Ledger(label string, releases int) (*Ledger, error) {
	return selectionLedger(KindBoundedRange, label, m.Epsilon, releases)
}

func (m Vote) unit() uint64 { return selectionUnit(1<<scoreBits, m.Epsilon) }

// marginInSteps is max(v, 0), cut, in steps.
func marginInSteps(v int) uint64 { return uint64(min(max(v, 0), maxMargin)) << scoreBits }
