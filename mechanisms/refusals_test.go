package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// bounded is an argument with the values at the ends of what is taken, and those beyond.
type bounded struct {
	name        string
	try         func(v float64) error
	taken, left []float64
}

// whole is a number as an int: the largest one on a machine that has none as large.
func whole(x float64) int {
	if x >= math.MaxInt {
		return math.MaxInt
	}
	return int(x)
}

// beyond are the numbers next to both ends.
func beyond(low, high float64) []float64 {
	return []float64{math.Nextafter(low, 0), math.Nextafter(high, math.Inf(1)), -low, math.NaN(), math.Inf(1)}
}

// selects are the mechanisms that select, by their ε.
func selects(scores []float64, sensitivity float64) map[string]func(epsilon float64) error {
	src, each := NewSeededSource(1), make([]float64, len(scores))
	for i := range each {
		each[i] = sensitivity
	}
	if len(each) > 1 {
		each[1] /= 2
	}
	choice := func(_ int, err error) error { return err }
	return map[string]func(epsilon float64) error{
		"Exponential":            func(e float64) error { return choice(Exponential{e}.Select(scores, sensitivity, src)) },
		"PermuteAndFlip":         func(e float64) error { return choice(PermuteAndFlip{e}.Select(scores, sensitivity, src)) },
		"NoisyMax":               func(e float64) error { return choice(NoisyMax{e}.Select(scores, sensitivity, src)) },
		"GeneralizedExponential": func(e float64) error { return choice(GeneralizedExponential{e, 0.1}.Select(scores, each, src)) },
	}
}

// releases are bounded arguments of what releases.
func releases() (list []bounded) {
	src, v := NewSeededSource(1), []float64{0}
	for name, do := range selects([]float64{0, 1}, 1) {
		list = append(list, bounded{name + ", ε", do, []float64{minSelectionEpsilon}, beyond(minSelectionEpsilon, math.MaxFloat64)[:1]})
	}
	for name := range selects(nil, 0) {
		list = append(list, bounded{name + ", sensitivity", func(x float64) error { return selects([]float64{0, 1}, x)[name](1) },
			[]float64{check.MinScale * 2, check.MaxScale}, beyond(check.MinScale, check.MaxScale)},
			bounded{name + ", scores", func(x float64) error { return selects(make([]float64, whole(x)), 1)[name](1) }, []float64{1, 2}, []float64{0}})
	}
	return append(list,
		bounded{"a vote's ε", func(x float64) error { _, err := Vote{x}.Answer(1, src); return err }, []float64{minSelectionEpsilon}, beyond(minSelectionEpsilon, math.MaxFloat64)[:1]},
		bounded{"β", func(x float64) error {
			_, err := GeneralizedExponential{1, x}.Select([]float64{0, 1}, []float64{1, 2}, src)
			return err
		}, []float64{0x1p-1000, math.Nextafter(1, 0)}, []float64{0, 1, math.NaN()}},
		bounded{"a ranking's sensitivity", func(x float64) error { _, err := Exponential{1}.Rank([]int64{0}, uint64(x)); return err }, []float64{1, 1 << 36}, []float64{0, 1<<36 + 1}},
		bounded{"a ranking's ε", func(x float64) error { _, err := Exponential{x}.Rank([]int64{0}, 1); return err }, []float64{minSelectionEpsilon}, beyond(minSelectionEpsilon, 1)[:1]},
		bounded{"μ", func(x float64) error { return Gaussian{x}.Release(v, v, 1, src) }, []float64{1e-13, check.MaxScale}, append(beyond(check.MinScale, check.MaxScale), 1e-14)},
		bounded{"deviation", func(x float64) error { return Gaussian{1}.Release(v, v, x, src) }, []float64{math.Nextafter(1e-200, 1), math.Nextafter(1e200, 0)}, []float64{1e-200, 1e200, 0, -1, math.NaN()}},
		bounded{"Laplace's sensitivity", func(x float64) error { return Laplace{1}.Release(v, v, x, src) }, []float64{check.MinScale, check.MaxScale}, beyond(check.MinScale, check.MaxScale)},
		bounded{"Laplace's scale", func(x float64) error { return Laplace{x}.Release(v, v, check.MinScale, src) }, []float64{1, 9.9e139}, []float64{1.01e140, 1e300}},
		bounded{"Laplace's ε", func(x float64) error { return Laplace{x}.Release(v, v, 1, src) }, []float64{1e-18}, []float64{1e-19, 0, -1, math.NaN(), math.Inf(1)}},
	)
}

// leaves are bounded arguments of ledgers' entries.
func leaves() (list []bounded) {
	entry := func(_ *Ledger, err error) error { return err }
	var tooMany []float64
	if math.MaxInt > maxReleases { // else no int is too large
		tooMany = []float64{maxReleases + 1}
	}
	for name, of := range map[string]func(epsilon float64, releases int) error{
		"pure":          func(e float64, n int) error { return entry(epsilonLedger(KindPure, "", e, n)) },
		"Laplace":       func(e float64, n int) error { return entry(Laplace{e}.Ledger("", n)) },
		"bounded range": func(e float64, n int) error { return entry(epsilonLedger(KindBoundedRange, "", e, n)) },
	} {
		list = append(list, bounded{name + ", ε", func(x float64) error { return of(x, 1) }, []float64{1e-100, 1e100}, beyond(1e-100, 1e100)},
			bounded{name + ", releases", func(x float64) error { return of(1, whole(x)) }, []float64{1, min(maxReleases, math.MaxInt)}, append([]float64{0, -1}, tooMany...)})
	}
	const least, most = 1e-12, 1e6
	objective := func(ratio, logDet, mu float64) error {
		return entry(ObjectivePerturbation{ratio, logDet, mu}.Ledger("", 1))
	}
	pure := func(e, logDet, output float64) error {
		return entry(PureObjectivePerturbation{e, logDet, output}.Ledger(""))
	}
	return append(list,
		bounded{"Gaussian, μ", func(x float64) error { return entry(Gaussian{x}.Ledger("", 1, 1)) }, []float64{check.MinScale, check.MaxScale}, beyond(check.MinScale, check.MaxScale)},
		bounded{"Gaussian, releases", func(x float64) error { return entry(Gaussian{1}.Ledger("", whole(x), 1)) }, []float64{1, 1 << 50}, []float64{0, -1}},
		bounded{"Gaussian, coordinates", func(x float64) error { return entry(Gaussian{1}.Ledger("", 1, whole(x))) }, []float64{1, 1 << 50}, []float64{0, -1}},
		bounded{"objective, ratio", func(x float64) error { return objective(x, 1, 1) }, []float64{least, most}, beyond(least, most)},
		bounded{"objective, log det", func(x float64) error { return objective(1, x, 1) }, []float64{0, most}, []float64{math.Nextafter(0, -1), math.Nextafter(most, most+1), math.NaN()}},
		bounded{"objective, output", func(x float64) error { return objective(1, 1, x) }, []float64{least, most}, beyond(least, most)},
		bounded{"objective, coordinates", func(x float64) error { return entry(ObjectivePerturbation{1, 1, 1}.Ledger("", whole(x))) }, []float64{1}, []float64{0}},
		bounded{"pure objective, ε", func(x float64) error { return pure(x, 1, 1) }, []float64{1e-300, 1e300}, []float64{0, -1, math.NaN(), math.Inf(1)}},
		bounded{"pure objective, log det", func(x float64) error { return pure(1, x, 1) }, []float64{0, 1e300}, []float64{math.Nextafter(0, -1), math.NaN(), math.Inf(1)}},
		bounded{"pure objective, output", func(x float64) error { return pure(1, 1, x) }, []float64{1e-300, 1e300}, []float64{0, -1, math.NaN(), math.Inf(1)}},
		bounded{"pure objective, sum", func(x float64) error { return pure(x, x, x) }, []float64{math.MaxFloat64 / 4}, []float64{math.MaxFloat64 / 2}},
	)
}

// totals are bounded arguments of what asks a ledger, or keeps one to a total.
func totals(t *testing.T) []bounded {
	t.Helper()
	l, account := leaf(t, 1, 1), func(x *Accountant, err error) error { return err }
	number := func(_ float64, err error) error { return err }
	positive, wrong := []float64{1e-300, math.MaxFloat64}, []float64{0, -1, math.NaN(), math.Inf(1)}
	fractions, none := []float64{1e-300, math.Nextafter(1, 0)}, []float64{0, 1, -1, math.NaN()}
	return []bounded{
		{"accountant, ε", func(x float64) error { return account(NewAccountant(OneRow(), x, 0.1)) }, positive, wrong},
		{"accountant, δ", func(x float64) error { return account(NewAccountant(OneRow(), 1, x)) }, append([]float64{0}, fractions...), none[1:]},
		{"accountant, group", func(x float64) error { return account(NewGroupAccountant(OneRow(), whole(x), 1, 0)) }, []float64{1, 2}, []float64{0, -1}},
		{"ledger, ε", func(x float64) error { return number(l.Delta(x)) }, []float64{0, 1e300}, []float64{math.Nextafter(0, -1), math.NaN(), math.Inf(1)}},
		{"ledger, δ", func(x float64) error { return number(l.Epsilon(x)) }, fractions, none},
		{"ledger, rows and ε", func(x float64) error { return number(l.GroupDelta(whole(x), 1)) }, []float64{1, 2}, []float64{0, -1}},
		{"ledger, rows and δ", func(x float64) error { return number(l.GroupEpsilon(int(x), 0.1)) }, []float64{1, 2}, []float64{0, -1}},
		{"δ of μ", func(x float64) error { return number(GaussianDelta(x, 1)) }, []float64{check.MinScale, check.MaxScale}, beyond(check.MinScale, check.MaxScale)},
		{"δ of ε", func(x float64) error { return number(GaussianDelta(1, x)) }, []float64{-1e300, 1e300}, []float64{math.Inf(-1), math.Inf(1), math.NaN()}},
		{"ε of μ", func(x float64) error { return number(GaussianEpsilon(x, 0.1)) }, []float64{check.MinScale, check.MaxScale}, beyond(check.MinScale, check.MaxScale)},
		{"ε of δ", func(x float64) error { return number(GaussianEpsilon(1, x)) }, fractions, none},
		{"μ of ε", func(x float64) error { return number(GaussianMu(x, 1e-6)) }, []float64{1e-4, 1000}, wrong},
		{"μ of ε and δ", func(x float64) error { return number(GaussianMu(x, x)) }, []float64{1e-250}, []float64{1e-270}},
		{"calibrated, ε and δ", func(x float64) error { _, err := CalibrateGaussian(x, x, 1, 1); return err }, nil, []float64{1e-250, 1e-270}},
		{"μ of δ", func(x float64) error { return number(GaussianMu(1, x)) }, fractions[1:], none},
		{"calibrated, releases", func(x float64) error { _, err := CalibrateGaussian(1, 1e-6, whole(x), 1); return err }, []float64{1, 2}, []float64{0, -1}},
		{"calibrated, coordinates", func(x float64) error { _, err := CalibrateGaussian(1, 1e-6, 1, whole(x)); return err }, []float64{1, 2}, []float64{0, -1}},
		{"calibrated, ε", func(x float64) error { _, err := CalibrateGaussian(x, 1e-6, 1, 1); return err }, []float64{1e-4, 1000}, wrong},
	}
}

// Arguments are taken up to their bounds, and refused next to these, as errors that name the argument.
func TestArgumentsAreBounded(t *testing.T) {
	for _, b := range append(append(releases(), leaves()...), totals(t)...) {
		for _, v := range b.taken {
			if err := b.try(v); err != nil {
				t.Errorf("%s = %g is refused: %v", b.name, v, err)
			}
		}
		for _, v := range b.left {
			var argument interface{ Param() string }
			if err := b.try(v); !errors.As(err, &argument) || argument.Param() == "" {
				t.Errorf("%s = %g: %v", b.name, v, err)
			}
		}
	}
}

// A node of a kind has the numbers of that kind, and no other's: a number that isn't counted would be lost, or read as another one.
func TestNodesHaveTheirOwnNumbers(t *testing.T) {
	part := leaf(t, 1, 1)
	own := map[Kind]node{
		KindGaussian: {Mu: 1, Releases: 2, Dim: 3}, KindPure: {Epsilon: 1, Releases: 2}, KindLaplace: {Epsilon: 1, Releases: 2}, KindBoundedRange: {Epsilon: 1, Releases: 2},
		KindObjective: {Ratio: 1, LogDet: 1, Mu: 1, Releases: 1, Dim: 3}, KindPureObjective: {Epsilon: 1, LogDet: 1, Output: 1, Releases: 1},
		KindSequential: {}, KindParallel: {}, "another": {},
	}
	for kind, n := range own {
		parts := []*Ledger(nil)
		if n == (node{}) {
			parts = []*Ledger{part}
		}
		n.Kind = kind
		if err := n.validate(parts); (err == nil) != (kind != "another") {
			t.Errorf("%s: %v", kind, err)
		}
		if other := []*Ledger{part}; parts == nil && n.validate(other) == nil {
			t.Errorf("%s has a part", kind)
		} else if parts != nil && n.validate(nil) == nil {
			t.Errorf("%s has no part", kind)
		}
		if parts != nil && n.validate([]*Ledger{part, {}}) == nil {
			t.Errorf("%s has an empty part", kind)
		}
		for field, set := range map[string]func(n *node) bool{ // which report whether the kind has that number
			"mu":      func(n *node) bool { own := n.Mu != 0; n.Mu = 1; return own },
			"epsilon": func(n *node) bool { own := n.Epsilon != 0; n.Epsilon = 1; return own },
			"output":  func(n *node) bool { own := n.Output != 0; n.Output = 1; return own },
			"ratio":   func(n *node) bool { own := n.Ratio != 0; n.Ratio = 1; return own },
			"log det": func(n *node) bool { own := n.LogDet != 0; n.LogDet = 1; return own },
			"dim":     func(n *node) bool { own := n.Dim != 0; n.Dim = 1; return own },
			"releases": func(n *node) bool {
				own := n.Releases > 1 || n.Releases == 0 && kind == "another"
				n.Releases = 2
				return own
			},
		} {
			changed := n
			if own := set(&changed); !own && changed.validate(parts) == nil {
				t.Errorf("%s has a number for %s", kind, field)
			}
		}
	}
}

// A ledger's claim has no negative number, no delta of 1, and a person's rows where persons are protected.
func TestClaimsAreBounded(t *testing.T) {
	for _, c := range []struct {
		claim Claim
		unit  Unit
		taken bool
	}{
		{Claim{Epsilon: 1, Delta: math.Nextafter(1, 0), Rows: 1, Group: 1}, OneRow(), true}, {Claim{}, OneRow(), true}, {Claim{PersonRows: 1, Occur: true, Alike: true}, OnePerson(), true},
		{Claim{Delta: 1}, OneRow(), false}, {Claim{Epsilon: -1}, OneRow(), false}, {Claim{Delta: -1}, OneRow(), false}, {Claim{Mu: -1}, OneRow(), false},
		{Claim{Epsilon: math.NaN()}, OneRow(), false}, {Claim{Delta: math.NaN()}, OneRow(), false}, {Claim{Mu: math.NaN()}, OneRow(), false},
		{Claim{Rows: -1}, OneRow(), false}, {Claim{Group: -1}, OneRow(), false}, {Claim{PersonRows: -1}, OnePerson(), false},
		{Claim{PersonRows: 1}, OneRow(), false}, {Claim{Occur: true}, OneRow(), false}, {Claim{Alike: true}, OneLabel(), false},
	} {
		if err := c.claim.validate(c.unit); (err == nil) != c.taken {
			t.Errorf("%s of %v: %v", fmt.Sprintf("%+v", c.claim), c.unit, err)
		}
	}
}

// What is set aside is spent to its end, and no further: by μ and by coordinates.
func TestReservesAreSpentWhole(t *testing.T) {
	mu, coordinates := accounting.SumOfSquares(0.25, 0.5), accounting.Sum(2, 3)
	for _, c := range []struct {
		mu, coordinates float64
		fits            bool
	}{
		{mu, coordinates, true}, {math.Nextafter(mu, 1), coordinates + 1, true},
		{math.Nextafter(mu, 0), coordinates, false}, {mu, math.Nextafter(coordinates, 0), false},
	} {
		s := state{Reserve: &reserve{Mu: c.mu, Coordinates: c.coordinates, SpentMu: 0.25, SpentCoordinates: 2, Ledgers: 1}}
		next, charge, fits := s.spend(0.5, 3)
		if fits != c.fits || next.Reserve.Ledgers != 2 || next.Reserve.SpentMu != mu || charge != (Charge{Mu: 0.5, Coordinates: 3}) {
			t.Errorf("of μ = %g and %g coordinates: fits %t, want %t; %+v, %+v", c.mu, c.coordinates, fits, c.fits, *next.Reserve, charge)
		}
		if s.Reserve.Ledgers != 1 {
			t.Error("what was there before has changed")
		}
	}
}
