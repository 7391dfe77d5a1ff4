package dpglm

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/audit/sample"
)

// The long form of the audits: go test . -run Audit -v -audit
var longAudit = flag.Bool("audit", false, "run the audits with full power")

// auditAlpha is the probability that an audit of a correct mechanism claims a
// violation.
const auditAlpha = 1e-6

// stream are the runs on one of two neighbours. Each gives a number, on which an adversary puts a
// threshold.
type stream func(t *testing.T, side int) func() float64

// audited is a computation on its worst pair of neighbours.
type audited struct {
	name      string
	unit      evidence.Unit
	claimed   float64 // by the ledger
	reachable float64 // by the best test on this pair, in theory; an upper bound
	runs      int     // on either neighbour, at most, of the long form
	sample    stream
}

// The least part of what is there to be found that an audit must find, in the short
// form and in the long one; and where it may end: once it has found enough, and excluded
// that there is more than so much.
const (
	shortPower, longPower       = 0.4, 0.8
	shortEnough, longEnough     = 0.6, 0.9
	shortExcluded, longExcluded = 1.25, 1.05
)

// nearly is the least part of what is reachable in theory that a pair must really show.
const nearly = 0.9

// shortRuns is the most in the short form where a parameter of 1 can be
// found; it grows where less can, as the width of a confidence interval falls by its
// root.
const shortRuns = 5000

// Of so many runs one chooses the threshold.
const trained = 10

func (a audited) shortRuns() int {
	return shortRuns * int(math.Ceil(math.Pow(math.Min(1, a.reachable), -1.5)))
}

// measure returns a lower confidence bound on the privacy of a, of confidence
// 1−auditAlpha, from at most the given number of runs on either neighbour: fewer where
// they show enough and exclude more than that.
func (a audited) measure(t *testing.T, runs int, enough, excluded float64) evidence.Found {
	t.Helper()
	first, second := a.sample(t, 0), a.sample(t, 1)
	audit := evidence.Audit{Unit: a.unit, Alpha: auditAlpha, Training: runs / trained, Most: runs, Enough: enough, Excluded: excluded}
	found, err := audit.Run(func() (float64, float64, error) { return first(), second(), nil })
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestAudit runs every learner and mechanism on its worst pair of neighbours. No
// adversary may tell the two apart better than claimed, nor better than the planned
// noise lets him on this pair; and the audit finds at least 0.4 of what is there to be
// found, in the long form 0.8, and can't exclude that there are 0.9 of it.
func TestAudit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-48s %12s %12s %12s %8s\n", "", "claimed", "reachable", "audited", "runs")
	for _, a := range slices.Concat(auditedMechanisms(t), auditedLearners(t), auditedCombinators(t), auditedClasses(t)) {
		if !sample.One(3, a.name) {
			continue
		}
		runs, power, enough, excluded := a.shortRuns(), shortPower, shortEnough, shortExcluded
		if *longAudit {
			runs, power, enough, excluded = a.runs, longPower, longEnough, longExcluded
		}
		found := a.measure(t, runs, enough*a.reachable, excluded*a.reachable)
		got := found.Lower
		row := fmt.Sprintf("%-48s %10.4f %s %10.4f %s %10.4f %s %8d", a.name, a.claimed, a.unit, a.reachable, a.unit, got, a.unit, found.Runs)
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
		case found.Upper < nearly*a.reachable:
			t.Errorf("this pair shows less than theory says: %s, %.4f at most", row, found.Upper)
		}
	}
	t.Log(table.String())
}

// lowerBound is a lower confidence bound on a privacy parameter from two samples on neighbours.
func lowerBound(t *testing.T, first, second []float64, unit evidence.Unit) float64 {
	t.Helper()
	k := -1
	audit := evidence.Audit{Unit: unit, Alpha: auditAlpha, Training: len(first) / trained, Most: len(first) - len(first)/trained, Enough: math.Inf(1)}
	found, err := audit.Run(func() (float64, float64, error) { k++; return first[k], second[k], nil })
	if err != nil {
		t.Fatal(err)
	}
	return found.Lower
}
