package dpglm

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// The long form of the audits: go test . -run Audit -v -audit
var longAudit = flag.Bool("audit", false, "run the audits with full power")

// auditAlpha is the probability that an audit of a correct mechanism claims a
// violation.
const auditAlpha = 1e-6

// unit is what a guarantee is measured in.
type unit string

const (
	inMu      unit = "μ" // Gaussian differential privacy
	inEpsilon unit = "ε" // pure differential privacy
)

// audited is a computation on its worst pair of neighbours.
type audited struct {
	name      string
	unit      unit
	claimed   float64 // by the ledger
	reachable float64 // by the best test on this pair, in theory; an upper bound
	// runs is the size of the long form's two samples.
	runs int
	// sample runs on one of the neighbours and returns a number for each run, on
	// which an adversary puts a threshold.
	sample func(t *testing.T, side, runs int) []float64
}

// The least part of what is there to be found that an audit must find, in the short
// form and in the long one.
const (
	shortPower = 0.4
	longPower  = 0.8
)

// shortRuns is the size of the short form's samples where a parameter of 1 can be
// found; it grows where less can, as the width of a confidence interval falls by its
// root.
const shortRuns = 5000

func (a audited) shortRuns() int {
	return shortRuns * int(math.Ceil(math.Pow(math.Min(1, a.reachable), -1.5)))
}

// measure returns a lower confidence bound on the privacy of a, of confidence
// 1−auditAlpha, from the given number of runs on either neighbour.
func (a audited) measure(t *testing.T, runs int) float64 {
	t.Helper()
	first, second := a.sample(t, 0, runs), a.sample(t, 1, runs)
	if a.unit == inMu {
		return lowerBound(first, second, muOf)
	}
	return lowerBound(first, second, epsilonOf)
}

// TestAudit runs every learner and mechanism on its worst pair of neighbours. No
// adversary may tell the two apart better than claimed, nor better than the planned
// noise lets him on this pair; and the audit finds at least 0.4 of what is there to be
// found, in the long form 0.8.
func TestAudit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-48s %12s %12s %12s\n", "", "claimed", "reachable", "audited")
	for _, a := range slices.Concat(auditedMechanisms(t), auditedLearners(t), auditedCombinators(t), auditedClasses(t)) {
		runs, power := a.shortRuns(), shortPower
		if *longAudit {
			runs, power = a.runs, longPower
		}
		got := a.measure(t, runs)
		row := fmt.Sprintf("%-48s %10.4f %s %10.4f %s %10.4f %s", a.name, a.claimed, a.unit, a.reachable, a.unit, got, a.unit)
		table.WriteString(row + "\n")
		switch {
		case got > a.claimed:
			t.Errorf("the claim is exceeded: %s", row)
		case a.reachable > a.claimed*(1+1e-9):
			t.Errorf("this pair exceeds the claim: %s", row)
		case got > a.reachable:
			t.Errorf("there is less noise than planned: %s", row)
		case got < power*a.reachable:
			t.Errorf("the audit has lost its power: %s", row)
		}
	}
	t.Log(table.String())
}

// lowerBound returns a lower confidence bound on a privacy parameter from two
// samples on neighbouring inputs. The first halves choose a threshold, a
// direction and the order of the neighbours; the second halves bound the error
// rates. of turns counts of positives among n, on either side, into the bound.
func lowerBound(a, b []float64, of func(onA, onB, n int, alpha float64) float64) float64 {
	half := len(a) / 2
	train := slices.Concat(a[:half], b[:half])
	slices.Sort(train)
	best := math.Inf(-1)
	var chosen func() float64
	for k := range 99 {
		t := train[(k+1)*len(train)/100]
		for _, swap := range []bool{false, true} {
			for _, below := range []bool{false, true} {
				p, q := a, b
				if swap {
					p, q = b, a
				}
				at := func(lo, hi int, alpha float64) float64 {
					return of(positives(p[lo:hi], t, below), positives(q[lo:hi], t, below), hi-lo, alpha)
				}
				if v := at(0, half, auditAlpha); v > best {
					best = v
					chosen = func() float64 { return at(half, len(a), auditAlpha) }
				}
			}
		}
	}
	return chosen()
}

// positives counts what lies above t, or not above it.
func positives(v []float64, t float64, below bool) (count int) {
	for _, x := range v {
		if (x > t) != below {
			count++
		}
	}
	return count
}

// upperRate is the one-sided Clopper–Pearson bound on a rate from k positives among
// n: the p at which at most k of them have probability alpha, found by bisection,
// as mathext's inverse fails in the tails.
func upperRate(k, n int, alpha float64) float64 {
	if k >= n {
		return 1
	}
	lo, hi := 0.0, 1.0
	for range 45 {
		p := lo + (hi-lo)/2
		if mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p) > alpha {
			lo = p
		} else {
			hi = p
		}
	}
	return hi
}

// muOf bounds μ: μ-GDP allows no test with Φ⁻¹(1−α) − Φ⁻¹(β) > μ.
func muOf(onA, onB, n int, alpha float64) float64 {
	fpr, fnr := upperRate(onB, n, alpha/2), upperRate(n-onA, n, alpha/2)
	if fpr == 1 || fnr == 1 {
		return 0
	}
	return distuv.UnitNormal.Quantile(1-fpr) - distuv.UnitNormal.Quantile(fnr)
}

// epsilonOf bounds ε: ε-DP allows no event with P_A(E) > e^ε·P_B(E).
func epsilonOf(onA, onB, n int, alpha float64) float64 {
	low := 1 - upperRate(n-onA, n, alpha/2)
	if low <= 0 {
		return 0
	}
	return math.Log(low / upperRate(onB, n, alpha/2))
}
