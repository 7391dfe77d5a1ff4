package attacks_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/audit/sample"
)

// The long form: go test ./internal/audit/attacks -run Attacks -v -audit
var longAudit = flag.Bool("audit", false, "attack with full power")

// alpha is the probability that an attack on what keeps its promise ever claims that it doesn't, for each
// bound; and that noise which is as planned is called less.
const alpha = 1e-6

// The runs on either data set: of the short form, in which all that is released must show shortPower of what
// the canary moves, and of the long one, that stops as soon as longPower is shown and more than excluded isn't.
const (
	shortRuns  = 100
	longRuns   = 10_000
	shortPower = 0.2
	leastMoved = 0.5 // of what is claimed, by a canary
	longPower  = 0.9
	excluded   = 1.1
)

// The most runs of attacks that see only what is published, in the short form, in the long one, and where each is slow.
const (
	shortDirect = 1000
	longDirect  = 20_000
	slowRuns    = 200

	slowShadows, allShadows = 100, 600
)

// result is what an attack found, in its unit.
type result struct {
	*attack
	moved, released, final float64
	runs                   int
}

// row is a line of the table, with parts of the claim.
func (r result) row() string {
	share := func(v float64) string {
		if v == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2f (%.0f %%)", v, 100*v/r.claimed)
	}
	return fmt.Sprintf("| %s | %s = %.2f | %s | %s | %s | %d |", r.name, r.unit(), r.claimed, share(r.moved), share(r.released), share(r.final), r.runs)
}

// rounds are an attack's runs, which both adversaries look at.
type rounds struct {
	*attack
	made [2][]round
}

// at is the i-th run on one of the two data sets. No seed is used twice.
func (r *rounds) at(t *testing.T, side, i int) *round {
	for len(r.made[side]) <= i {
		seed := uint64(2*len(r.made[side]) + side + 1)
		if r.direct {
			r.made[side] = append(r.made[side], round{numbers: r.publish(t, side, seed)})
		} else {
			r.made[side] = append(r.made[side], r.play(t, side, seed))
		}
	}
	return &r.made[side][i]
}

// TestAttacks runs whole fits, evaluations and predictors on two data sets that differ in a canary. Nothing that is released may
// tell the two apart better than claimed, nor better than the planned noise lets it; no canary may move an answer
// by more than is declared, and no noise be less than planned. What the canary moves must be found: 0.2 of it, in the long
// form 0.9. Prints a table.
func TestAttacks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector, and has nothing for it")
	}
	var found []result
	for _, a := range attacks(t) {
		if !sample.One(3, a.name) {
			continue
		}
		if a.lengthy && !*longAudit {
			t.Logf("%s is left to the long form: intervals are simulated between its releases", a.name)
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			r := a.audit(t)
			t.Log(r.row())
			found = append(found, r)
		})
	}
	slices.SortStableFunc(found, func(a, b result) int {
		return cmp.Compare(max(a.released, a.final)/a.claimed, max(b.released, b.final)/b.claimed)
	})
	var table strings.Builder
	fmt.Fprintf(&table, "\n| attack | claimed | moved | all releases | the model, or what is published | runs |\n|---|---|---|---|---|---|\n")
	for _, r := range found {
		table.WriteString(r.row() + "\n")
	}
	t.Log(table.String())
}

// audit looks at all that is released and, in the long form or where this is the same, at what is published.
func (a *attack) audit(t *testing.T) result {
	t.Helper()
	a.begin(t)
	r, out := &rounds{attack: a}, result{attack: a}
	if !a.direct {
		out.released = r.released(t, &out)
	}
	if *longAudit || a.direct {
		if a.slow { // what was published is not known of those that stopped
			whole := *a
			whole.direct = true
			r = &rounds{attack: &whole}
		}
		out.final = r.published(t, &out)
	}
	if got := max(out.released, out.final); got > a.claimed {
		t.Errorf("%s: the claim is exceeded: %g %s of %g", a.name, got, a.unit(), a.claimed)
	}
	return out
}

// released audits the log-likelihood ratio of all that was released, whose sign is the event: the best there
// is half-way between two Gaussian laws.
func (r *rounds) released(t *testing.T, out *result) float64 {
	audit := evidence.Audit{Unit: r.unit(), Alpha: alpha, Most: shortRuns, Enough: math.Inf(1), Event: &evidence.Event{}}
	if *longAudit { // stops when it has found what the first runs moved
		audit.Most, audit.Enough, audit.Excluded = longRuns, longPower*r.moved(t, shortRuns), excluded*r.moved(t, shortRuns)
	}
	next := 0
	found, err := audit.Run(func() (float64, float64, error) {
		next++
		return r.at(t, 0, next-1).ratio, r.at(t, 1, next-1).ratio, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out.runs, out.moved = found.Runs, r.moved(t, found.Runs)
	power := shortPower
	if *longAudit {
		power = longPower - 0.03 // the first runs may have moved less than all have
	}
	if out.moved < leastMoved*r.claimed {
		t.Errorf("%s: the canary moves %.3f of %.3f", r.name, out.moved, r.claimed)
	}
	if found.Lower < power*out.moved {
		t.Errorf("%s: %.3f %s of %.3f that the canary moves: the attack has lost its power", r.name, found.Lower, r.unit(), out.moved)
	}
	r.held(t)
	r.noise(t)
	return found.Lower
}

// moved is the root mean square of what the canary moved in so many runs.
func (r *rounds) moved(t *testing.T, runs int) float64 {
	total := 0.0
	for side := range r.made {
		for i := range runs {
			total += r.at(t, side, i).moved
		}
	}
	return math.Sqrt(total / float64(2*runs))
}

// held requires that in no run so far the canary moved an answer by more than it declares, nor all of them by more than is
// claimed.
func (r *rounds) held(t *testing.T) {
	t.Helper()
	one, all := 0.0, 0.0
	for side := range r.made {
		for _, run := range r.made[side] {
			one, all = max(one, run.most), max(all, math.Sqrt(run.moved))
		}
	}
	if one > 1 {
		t.Errorf("%s: the canary moves an answer by %g of what it declares", r.name, one)
	}
	if all > r.claimed*(1+1e-9) {
		t.Errorf("%s: the canary moves %g %s in all, and %g are claimed", r.name, all, r.unit(), r.claimed)
	}
}

// noise holds the squares of the noise in all runs so far against the law of a sum of so many squares of normal variables, here
// nearly normal: less has a probability of alpha.
func (r *rounds) noise(t *testing.T) {
	square, count := 0.0, 0
	for side := range r.made {
		for _, one := range r.made[side] {
			square, count = square+one.square, count+one.count
		}
	}
	const quantile = 4.75 // of the normal law at alpha
	if z := (square - float64(count)) / math.Sqrt(2*float64(count)); z < -quantile {
		t.Errorf("%s: the noise of %d numbers has %.4f of the planned variance: there is less noise than planned", r.name, count, square/float64(count))
	}
}

// published audits what the caller is given, by the linear function of it that tells the shadows apart best,
// of runs that are counted for nothing else.
func (r *rounds) published(t *testing.T, out *result) float64 {
	along := r.direction(t)
	first, most := r.shadows(), shortDirect
	if *longAudit {
		most = longDirect
	}
	if out.runs > 2*first && !r.direct {
		most = out.runs - first // those that are made already
	}
	if r.slow {
		most = slowRuns
	}
	audit := evidence.Audit{Unit: r.unit(), Alpha: alpha, Training: first, Most: most, Enough: longPower * out.claimed, Excluded: excluded * out.claimed}
	next := 0 // the shadows come first, of which the event is chosen too
	found, err := audit.Run(func() (float64, float64, error) {
		next++
		return along(r.at(t, 0, next-1)), along(r.at(t, 1, next-1)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out.runs = max(out.runs, found.Runs)
	if power := r.directPower(); found.Lower < power*out.claimed {
		t.Errorf("%s: %.3f %s of %.3f that are claimed: the attack has lost its power", r.name, found.Lower, r.unit(), out.claimed)
	}
	return found.Lower
}

// shadows are how many runs on either data set choose how to look at what is published.
func (r *rounds) shadows() int {
	if r.slow {
		return slowShadows
	}
	return allShadows
}

// directPower is the part of a claim that must be found where what is published is all that is released: these pairs reach nearly all.
// A model, or figures, needn't tell anything.
func (r *rounds) directPower() float64 {
	switch {
	case r.slow || !r.direct:
		return 0
	case *longAudit:
		return 0.75
	}
	return shortPower
}

// direction is Fisher's discriminant of the shadows' numbers.
func (r *rounds) direction(t *testing.T) func(*round) float64 {
	d, shadows := len(r.at(t, 0, 0).numbers), r.shadows()
	means, spread := [2]*mat.VecDense{mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)}, mat.NewSymDense(d, nil)
	for side := range means {
		for i := range shadows {
			means[side].AddScaledVec(means[side], 1/float64(shadows), mat.NewVecDense(d, r.at(t, side, i).numbers))
		}
		for i := range shadows {
			var off mat.VecDense
			off.SubVec(mat.NewVecDense(d, r.at(t, side, i).numbers), means[side])
			spread.SymRankOne(spread, 1/float64(shadows), &off)
		}
	}
	along := discriminant(means, spread)
	return func(one *round) float64 { return mat.Dot(along, mat.NewVecDense(d, one.numbers)) }
}

// discriminant is the inverse of a spread times the difference of two means; numbers may be functions of one another.
func discriminant(means [2]*mat.VecDense, spread *mat.SymDense) *mat.VecDense {
	const least, all = 1e-6, 1e-9 // of a number's own spread, and of the mean one
	d, trace := spread.SymmetricDim(), mat.Trace(spread)
	for j := range d {
		spread.SetSym(j, j, spread.At(j, j)*(1+least)+all*trace/float64(d)+math.SmallestNonzeroFloat64)
	}
	var apart, along mat.VecDense
	apart.SubVec(means[0], means[1])
	var chol mat.Cholesky
	if !chol.Factorize(spread) || chol.SolveVecTo(&along, &apart) != nil {
		return &apart
	}
	return &along
}
