package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/mechanisms"
)

// Budget is how much privacy may be spent. There is no default: make one with
// [ApproxDP], [PureDP] or [GDP]. It protects one row, or with ForGroups several.
type Budget struct {
	epsilon, delta, mu float64
	pure               bool
	parts              int  // a share: one of parts equal ones, composed in sequence
	byMu               bool // a share by μ alone, which composes whatever the parts are
	group              int  // how many rows are protected together
	addRemove          bool // whether neighbours have one row more or less
	labelsOnly         bool // whether neighbours differ in one row's label alone
}

// ApproxDP is (ε, δ)-differential privacy, for a positive and finite ε and a δ strictly
// between 0 and 1. The plan that is given other numbers refuses them ([ErrBudget]).
func ApproxDP(epsilon, delta float64) Budget {
	return Budget{epsilon: epsilon, delta: delta, parts: 1, group: 1}
}

// PureDP is ε-differential privacy, for a positive and finite ε, with learners whose noise
// need not be Gaussian: [ObjectivePerturbation], [Auto], which then is that, [OutputPerturbation], [GridSearch],
// [Boost], [JL] and [OneAgainstRest] around these, predictors and [SelectModel]. Others refuse
// it ([ErrBudget]).
func PureDP(epsilon float64) Budget { return Budget{epsilon: epsilon, pure: true, parts: 1, group: 1} }

// GDP is μ-Gaussian differential privacy, for μ from 1e-60 to 1e60.
func GDP(mu float64) Budget { return Budget{mu: mu, parts: 1, group: 1} }

// String writes the budget as (ε, δ)-DP, ε-DP or μ-GDP, and for whom where that is a group.
func (b Budget) String() string {
	var s string
	switch {
	case b.mu != 0:
		s = fmt.Sprintf("%.6g-GDP", b.mu)
	case b.pure:
		s = fmt.Sprintf("%.6g-DP", b.epsilon)
	default:
		s = fmt.Sprintf("(ε = %.6g, δ = %.6g)-DP", b.epsilon, b.delta)
	}
	if b.group > 1 {
		s += fmt.Sprintf(" for groups of %d", b.group)
	}
	if b.addRemove {
		s += ", add/remove"
	}
	if b.labelsOnly {
		s += ", labels only"
	}
	if b.parts > 1 {
		s = fmt.Sprintf("1/%d of %s", b.parts, s)
	}
	return s
}

// share is one of k equal shares. Gaussian releases get μ/√k; pure ones get ε/k or
// what μ/√k allows if that is more, which fits as long as all parts are pure, or
// all are Gaussian.
func (b Budget) share(k int) Budget {
	b.parts *= k
	return b
}

// shareByMu is one of k equal shares for mixtures: all releases get what μ/√k
// allows.
func (b Budget) shareByMu(k int) Budget {
	b = b.share(k)
	b.byMu = true
	return b
}

func (b Budget) validate() error {
	switch {
	case b.parts < 1:
		return check.Fail(ErrBudget, "budget", nil, "must be made by ApproxDP, PureDP or GDP")
	case b.group < 1 || b.group > maxGroup:
		return check.Fail(ErrBudget, "rows of a group", b.group, fmt.Sprintf("must lie between 1 and %d", maxGroup))
	case b.pure:
		return check.Epsilon(b.epsilon)
	case b.epsilon == 0 && b.delta == 0:
		return check.Mu(b.mu)
	}
	if err := check.Epsilon(b.epsilon); err != nil {
		return err
	}
	return check.Delta(b.delta)
}

// times says what budget has a multiple of the μ that this one comes to.
func (b Budget) times(factor, mu float64) string {
	epsilon := math.NaN()
	if b.mu == 0 && b.group == 1 {
		epsilon = accounting.GaussianEpsilon(factor*mu, b.delta)
	}
	if !(epsilon <= 1e3) {
		return fmt.Sprintf("%.3g times the μ", factor)
	}
	return fmt.Sprintf("ε = %.3g", epsilon)
}

// gaussian splits the budget over releases of dim coordinates each.
func (b Budget) gaussian(releases, dim int) (mechanisms.Gaussian, error) {
	if err := b.validate(); err != nil {
		return mechanisms.Gaussian{}, err
	}
	if b.pure {
		return mechanisms.Gaussian{}, check.Fail(ErrBudget, "delta", 0, "must be positive, as the noise is Gaussian; use ApproxDP or GDP")
	}
	if b.mu != 0 {
		return mechanisms.Gaussian{Mu: b.mu / float64(b.group) / math.Sqrt(float64(releases)*float64(b.parts)) * (1 - 1e-11)}, nil
	}
	if b.group > 1 {
		return b.groupGaussian(releases, dim)
	}
	return mechanisms.CalibrateGaussian(b.epsilon, b.delta, releases*b.parts, dim)
}

// pureEpsilon is the ε of a pure ε-DP release that fits the budget.
func (b Budget) pureEpsilon() (float64, error) {
	if err := b.validate(); err != nil {
		return 0, err
	}
	parts := float64(b.parts) * float64(b.group)
	switch {
	case b.pure && parts == 1:
		return b.epsilon, nil
	case b.pure:
		return b.epsilon / parts * (1 - 1e-11), nil // for the rounding of their sum
	}
	mu, err := b.gdp()
	if err != nil {
		return 0, err
	}
	within := accounting.PureEpsilonWithin(mu)
	if b.byMu {
		return within, nil
	}
	return math.Max(b.epsilon/parts*(1-1e-11), within), nil
}

// objectiveRatio is the largest ratio for objective perturbation with the given
// log-determinant and output noise. Several parts of an ε beyond 1000 get one that fits
// their μ, as loss distributions would take seconds.
func (b Budget) objectiveRatio(law mechanisms.ObjectivePerturbation, dim int) (float64, error) {
	o := accounting.Objective{LogDet: law.LogDet, OutputMu: law.OutputMu, Dim: dim, Releases: 1}
	if b.inMu() || b.parts > 1 && b.epsilon > 1000 {
		mu, err := b.gdp()
		if err != nil {
			return 0, err
		}
		return o.RatioForGDP(mu)
	}
	if b.group > 1 {
		return o.RatioForGroup(b.epsilon, b.delta, float64(b.group))
	}
	o.Releases = b.parts
	return o.RatioFor(b.epsilon, b.delta)
}

// inMu reports whether the budget is one of Gaussian differential privacy, or planned
// as one, as shares for groups are: Gaussian curves scale with their rows.
func (b Budget) inMu() bool { return b.mu != 0 || b.byMu || b.group > 1 && b.parts > 1 }

// gdp is the μ of the budget's Gaussian releases together, for one row; what Gaussian noise
// pure ε-DP would allow, if it did, where the budget is pure.
func (b Budget) gdp() (float64, error) {
	if err := b.validate(); err != nil {
		return 0, err
	}
	parts := math.Sqrt(float64(b.parts)) * float64(b.group)
	switch {
	case b.mu != 0:
		return b.mu / parts, nil
	case b.pure:
		return b.epsilon / parts, nil
	}
	mu, err := mechanisms.GaussianMu(b.epsilon, b.delta)
	return mu / parts, err
}

// covers holds a ledger against the budget. A share is not held against anything
// here: whoever shares a budget composes the parts and holds the whole against it.
func (b Budget) covers(l *Ledger) error {
	switch {
	case b.parts > 1:
		return nil
	case b.mu != 0 && l.GroupMu(b.group) > b.mu:
		return check.Fail(ErrBudget, "ledger", fmt.Sprintf("%.6g-GDP", l.GroupMu(b.group)), fmt.Sprintf("must not exceed the budget of %v", b))
	case b.mu == 0 && !l.GroupWithin(b.group, b.epsilon, b.delta):
		return check.Fail(ErrBudget, "ledger", nil, fmt.Sprintf("must not exceed the budget of %v", b))
	}
	return nil
}

// ledger holds a schedule for data of the given shape against the budget, and
// returns its ledger, which says for whom, for what budget and among how many it was planned.
func (b Budget) ledger(schedule *release.Schedule, s Shape) (*Ledger, error) {
	if err := b.suits(s); err != nil {
		return nil, err
	}
	if err := b.covers(schedule.Ledger()); err != nil {
		return nil, err
	}
	claim := mechanisms.Claim{Rows: s.Rows, PersonRows: s.PersonRows, Alike: s.PersonRows > 1 && !s.EachRow, Occur: s.PersonsOccur, Epsilon: b.epsilon, Delta: b.delta, Mu: b.mu}
	if b.group > 1 {
		claim.Group = b.group
	}
	l, err := schedule.Ledger().WithUnit(b.unit(s))
	return l.WithClaim(claim), err
}

// unit is what guarantees of the budget protect for data of a shape.
func (b Budget) unit(s Shape) mechanisms.Unit {
	if b.labelsOnly {
		return mechanisms.OneLabel()
	}
	return s.unit()
}

// ofPersons is a ledger that says that each person counts alike, of what each row doesn't.
func ofPersons(l *Ledger, s Shape) *Ledger {
	claim, ok := l.Claim()
	if !ok || !s.EachRow {
		return l
	}
	claim.Alike = true
	return l.WithClaim(claim)
}

// suits refuses data of which the number of rows is public where neighbours have one more or less, and such of
// which it is secret where they don't.
func (b Budget) suits(s Shape) error {
	switch {
	case b.labelsOnly && (b.addRemove || s.AddRemove || s.PersonRows > 0):
		return check.Fail(ErrBudget, "budget", b, "must be for rows or persons, not for labels only, where rows are persons' or how many there are is secret")
	case b.addRemove && !s.AddRemove:
		return check.Fail(ErrBudget, "budget", b, "must be one of replace-one, as the number of rows is public: data of which it is secret are made with AddRemove")
	case s.AddRemove && !b.addRemove:
		return check.Fail(ErrBudget, "budget", b, "must be one of add/remove, by Budget.AddRemove, as the number of rows is secret")
	}
	return nil
}

// votes calibrates k answers of a vote, which compose as bounded-range releases:
// under an (ε, δ) budget the best of the sum of all ε, of their Gaussian bound and
// of numerical composition, which the ledger evaluates too.
func (b Budget) votes(k int) (mechanisms.Vote, error) {
	if err := b.validate(); err != nil {
		return mechanisms.Vote{}, err
	}
	simple := b.epsilon / (float64(k) * float64(b.group)) * (1 - 1e-15)
	if b.pure {
		return mechanisms.Vote{Epsilon: simple}, nil
	}
	mu, err := b.gdp()
	if err != nil {
		return mechanisms.Vote{}, err
	}
	low := math.Max(simple, 2*accounting.PureEpsilonWithin(mu/math.Sqrt(float64(k))*(1-1e-11)))
	if b.mu != 0 {
		return mechanisms.Vote{Epsilon: low}, nil
	}
	return mechanisms.Vote{Epsilon: b.grown(low, 0.8, func(epsilon float64) (*Ledger, error) {
		return mechanisms.Vote{Epsilon: epsilon}.Ledger("", k)
	})}, nil
}

// grown returns an ε of releases, at least the given one, for which an (ε, δ) budget covers
// the ledger that they are part of. The budget's ε grows with about 1/power of theirs.
func (b Budget) grown(low, power float64, ledger func(epsilon float64) (*Ledger, error)) float64 {
	together := func(epsilon float64) float64 {
		l, err := ledger(epsilon)
		if err != nil {
			return math.Inf(1)
		}
		e, err := l.GroupEpsilon(b.group, b.delta)
		if err != nil {
			return math.Inf(1)
		}
		return e
	}
	// The total grows a little faster than its share.
	for step := math.Pow(b.epsilon/together(low), power); step > 1.003; {
		if total := together(low * step); total <= b.epsilon {
			low *= step
			step = math.Pow(b.epsilon/total, power)
		} else {
			step = math.Sqrt(step)
		}
	}
	return low
}

// selections calibrates k selections, which compose as bounded-range releases, to a share
// of μ² beside other parts: under an (ε, δ) budget by their Gaussian bound or by numerical
// composition, which the ledger evaluates too.
func (b Budget) selections(k int, share float64, others []*release.Schedule) (mechanisms.Exponential, error) {
	mu, err := b.gdp()
	if err != nil {
		return mechanisms.Exponential{}, err
	}
	epsilon := 2 * accounting.PureEpsilonWithin(mu*math.Sqrt(share/float64(k))*(1-1e-9))
	if b.inMu() || b.parts > 1 || b.epsilon > 100 { // where loss distributions take long
		return mechanisms.Exponential{Epsilon: epsilon}, nil
	}
	return mechanisms.Exponential{Epsilon: b.grown(epsilon, 0.8/share, func(epsilon float64) (*Ledger, error) {
		chosen, err := release.Rankings("", mechanisms.Exponential{Epsilon: epsilon}, k)
		if err != nil {
			return nil, err
		}
		all, err := release.Sequential("", append([]*release.Schedule{chosen}, others...)...)
		if err != nil {
			return nil, err
		}
		return all.Ledger(), nil
	})}, nil
}

// numbers calibrates noise for k answers that are numbers: discrete Laplace or,
// unless the budget is pure, Gaussian, whichever varies less.
func (b Budget) numbers(k int) (additive, error) {
	epsilon, err := b.share(k).pureEpsilon()
	if err != nil {
		return nil, err
	}
	l := laplace{mechanisms.Laplace{Epsilon: epsilon * (1 - 1e-15)}, 1}
	if b.pure {
		return l, nil
	}
	m, err := b.gaussian(k, 1)
	if g := (gaussian{m, 1}); err != nil || g.perSensitivity() < l.perSensitivity() {
		return g, err
	}
	return l, nil
}

// additive calibrates noise for one vector of dim coordinates: discrete Laplace
// under a pure budget, Gaussian otherwise.
func (b Budget) additive(dim int) (additive, error) {
	if b.pure {
		epsilon, err := b.pureEpsilon()
		return laplace{mechanisms.Laplace{Epsilon: epsilon}, dim}, err
	}
	g, err := b.gaussian(1, dim)
	return gaussian{g, dim}, err
}

// AddRemove returns the same budget against neighbours that have one row more or less, or one person with all rows, in
// place of another one: for data that are made with the detail [AddRemove], and for these only. It is the
// weaker promise: what is (ε, δ) here is about what others call (2ε, δ) where one is replaced, and ledgers say so in their first line. In
// return noise is about half. Conventions elsewhere: most libraries quote add/remove, some without a word.
func (b Budget) AddRemove() Budget {
	b.addRemove = true
	return b
}

// LabelsOnly returns the same budget against neighbours that differ in the label of one row, and in nothing else. It is for tables whose
// features everyone may know, and the weakest promise: who is in the table, and all else about them, features,
// offsets and weights, is public, and may show in what is released. Ledgers say so in their first line. A changed feature, or a row
// more or less, is no change that it speaks of.
//
// In return [Auto], [Softmax], [Infer] and [InferClasses] read features as they are and ask labels for one sum or two, where these are
// classes or numbers, of rows that this process reads. Else, and with other learners, it protects rows, and so labels, but for
// ranges and levels that table.Observe took from the rows. Data with
// [Persons] or [AddRemove] are refused: a label there is one of several of a person, or tells that there is a row. An
// interrupted fit goes on with the rows in the same order only, as sensitivities follow from sums over features.
func (b Budget) LabelsOnly() Budget {
	b.labelsOnly = true
	return b
}

// maxGroup limits the rows of a group, far beyond what a budget can be shared among.
const maxGroup = 1 << 30

// groupGaussian is gaussian for an (ε, δ) budget of groups.
func (b Budget) groupGaussian(releases, dim int) (mechanisms.Gaussian, error) {
	if err := check.Releases(releases, dim); err != nil {
		return mechanisms.Gaussian{}, err
	}
	mu, err := mechanisms.GaussianMu(b.epsilon, b.delta)
	if err != nil {
		return mechanisms.Gaussian{}, err
	}
	mu /= math.Sqrt(float64(releases)*float64(b.parts)) * float64(b.group)
	// Margins are for the ledger's rounding, and for the slack of many coordinates.
	for margin := 1e-11; margin < 1; margin *= 2 {
		g := mechanisms.Gaussian{Mu: mu * (1 - margin)}
		l, err := g.Ledger("", releases*b.parts, dim)
		if err != nil {
			return mechanisms.Gaussian{}, err
		}
		if l.GroupWithin(b.group, b.epsilon, b.delta) {
			return g, nil
		}
	}
	return mechanisms.Gaussian{}, check.Fail(ErrBudget, "budget", b, fmt.Sprintf("is too small to calibrate Gaussian noise in %d coordinates", dim))
}

// ForGroups returns the same budget for any group of up to the given number of rows, from 1
// to 2^30, such as those of one person: neighbours then differ in the values of that many rows. A plan
// holds its ledger's curve for groups against the budget, and the ledger's first line
// names them. Noise grows about as the rows of a group do. That nobody has more rows is
// for the caller to see to.
//
// # Privacy
//
// Replace-one, for groups of k: along a chain of k replacements a μ-GDP release is
// kμ-GDP, and an ε-DP one kε-DP. So for one row a plan takes the k-th part of μ or ε; for
// [ObjectivePerturbation] under an (ε, δ) budget, what its curve for groups allows. The
// ledger then proves the whole, see [mechanisms.Ledger.GroupDelta].
func (b Budget) ForGroups(rows int) Budget {
	b.group = rows
	return b
}

// beside is the budget of what runs on rows that other releases don't use. The rows of a
// group may lie in both parts, and together these must fit: so for groups each gets what
// composes with anything.
func (b Budget) beside() Budget {
	b.byMu = b.byMu || b.group > 1 && !b.pure
	return b
}
