package questions

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// The bounds of this package are sums of terms that their doc comments derive. Most
// terms are tiny beside the exact sensitivity and rarely attained, so that a search
// for neighbours doesn't miss one that is dropped. Here each bound is computed again,
// term by term, from the formulas of the comments and from quantities that are
// measured rather than asked for, at shapes where each term in turn counts.

// term is a part of a bound.
type term struct {
	name  string
	value float64
}

// checkTerms compares a bound with the sum of its terms, and names the term that is
// dropped or halved where it is short. It keeps count of the terms that were large
// enough to tell.
func checkTerms(t *testing.T, what string, got float64, told map[string]bool, terms []term) {
	t.Helper()
	want := total(terms)
	tolerance := 64 * encoding.Unit * want
	for _, p := range terms {
		told[p.name] = told[p.name] || p.value > 100*tolerance
	}
	if math.Abs(got-want) <= tolerance {
		return
	}
	closest, said := 0.02, ""
	for i := range terms { // one term, or some that stand side by side
		for j := i; j < len(terms); j++ {
			for _, change := range []struct {
				verb string
				part float64
			}{{"lacks", 1}, {"has half of", 0.5}, {"has twice", -1}} {
				missing := change.part * total(terms[i:j+1])
				if off := math.Abs((want - got - missing) / missing); off < closest {
					closest, said = off, change.verb+" the term for "+terms[i].name
					if j > i {
						said += " and those up to " + terms[j].name
					}
				}
			}
		}
	}
	if said != "" {
		t.Errorf("%s %s: %.17g, want %.17g", what, said, got, want)
		return
	}
	t.Errorf("%s is %.17g, want %.17g, the sum of %v", what, got, want, terms)
}

// shape is a table without rows: bounds depend on public numbers only.
type shape struct {
	name                  string
	n, columns            int
	bound                 float64
	intercept             bool
	centre, width         float64 // of each column's range; width 0 for rows as they are
	constant              float64 // after Rebound to half of the bound, where it isn't 0
	loss                  losses.Loss
	label, radius, clip   float64
	sparse                bool
	encoding              encoding.Encoding
	table                 *rows.Table
	sums                  *Sums
	magnitude, x, s0      float64
	block, blocks         float64 // rows of the longest block, blocks
	momentsRows, momentsB float64 // the same of second moments
}

func termShapes() []*shape {
	inf, squared, logistic := math.Inf(1), losses.Squared{}, losses.Logistic{}
	list := []*shape{
		{name: "few rows", n: 3, columns: 2, bound: 1, loss: logistic, radius: 1, clip: inf},
		{name: "many rows", n: 3_000_000, columns: 2, bound: 1, loss: logistic, radius: 1, clip: inf},
		{name: "many sparse rows", n: 2_000_000, columns: 700, bound: 1, loss: logistic, radius: 1, clip: inf, sparse: true},
		{name: "wide rows", n: 50, columns: 40_000, bound: 3, loss: squared, label: 2, radius: 2, clip: inf},
		{name: "intercept", n: 40_000, columns: 9, bound: 0.5, intercept: true, loss: logistic, radius: 3, clip: inf},
		{name: "a large offset", n: 10_000, columns: 5, bound: math.Sqrt(5), centre: 1e6, width: 2, loss: squared, label: 3, radius: 2, clip: inf},
		{name: "a large offset, intercept, clip", n: 10_000, columns: 5, bound: math.Sqrt(5), intercept: true, centre: -3e5, width: 4, loss: squared, label: 3, radius: 2, clip: 0.1},
		{name: "a large offset, clip", n: 10_000, columns: 5, bound: math.Sqrt(5), centre: 2e5, width: 2, loss: squared, label: 3, radius: 2, clip: 0.1},
		{name: "a clip that binds", n: 100_000, columns: 20, bound: 2, loss: squared, label: 5, radius: 10, clip: 1e-2},
		{name: "a clip that binds, intercept", n: 100_000, columns: 20, bound: 2, intercept: true, loss: squared, label: 5, radius: 10, clip: 1e-2},
		{name: "long weights", n: 10, columns: 3, bound: 1, loss: squared, label: 1, radius: 1e8, clip: inf},
		{name: "a steep score", n: 10, columns: 3, bound: math.Sqrt(3), centre: 1e9, width: 2, loss: losses.Huber{Kappa: 1e-3}, label: 1, radius: 1e6, clip: inf},
		{name: "a kink", n: 1000, columns: 3, bound: 1, loss: losses.Hinge{}, radius: 1, clip: inf},
		{name: "rebound", n: 1000, columns: 4, bound: 2, centre: 1e4, width: 2, intercept: true, constant: 0.25, loss: squared, label: 1, radius: 1, clip: 0.2},
	}
	for _, s := range list {
		s.prepare()
	}
	return list
}

// prepare measures what the formulas need.
func (s *shape) prepare() {
	fill := func(v float64) []float64 {
		x := make([]float64, s.columns)
		for j := range x {
			x[j] = v
		}
		return x
	}
	constant, raw := 0.0, s.bound
	if s.intercept {
		constant = 1
	}
	if s.width == 0 {
		s.encoding = encoding.NewIdentity(s.columns, s.bound, s.intercept)
	} else {
		scale, shift := 2/s.width, -2*s.centre/s.width
		lo, hi := s.centre-s.width/2, s.centre+s.width/2
		s.encoding = encoding.NewAffine(s.bound, s.intercept, fill(scale), fill(shift), fill(lo), fill(hi))
		root := math.Sqrt(float64(s.columns))
		raw = root*scale*math.Max(math.Abs(lo), math.Abs(hi)) + root*math.Abs(shift)
	}
	s.table = &rows.Table{Enc: s.encoding, Layout: blocks.NewLayout(s.n, s.columns, s.sparse, nil)}
	if s.constant != 0 {
		s.bound, constant = s.bound/2, s.constant
		s.encoding = s.encoding.Rebound(s.bound, constant)
		s.table.Enc = s.encoding
	}
	s.magnitude, s.x = raw+constant, math.Sqrt(s.bound*s.bound+constant*constant)
	s.block, s.blocks = measureBlocks(s.table.Layout)
	s.momentsRows, s.momentsB = measureBlocks(s.table.Layout.Moments(s.table.Enc.Dim()))
	s.sums = &Sums{t: s.table, loss: s.loss, labelBound: s.label}
	s.s0 = s.loss.Constants(0, s.label).Slope
}

// measureBlocks counts the blocks of a layout and the rows of the longest.
func measureBlocks(l blocks.Layout) (rows, blocks float64) {
	total := 0
	for b := range l.Blocks {
		here := 0
		l.EachTile(b, func(lo, hi int) { here += hi - lo })
		total += here
		rows = math.Max(rows, float64(here))
		if here > 0 {
			blocks++
		}
	}
	if total != l.N {
		panic("blocks don't cover the rows")
	}
	return rows, blocks
}

// slack is the relative error of a row's norm, factor and clip limit.
func (s *shape) slack() []term {
	p := 8 * encoding.Unit * s.magnitude / s.x
	return []term{{"the columns in slack", p * float64(s.columns)}, {"sixteen roundings in slack", p * 16}}
}

func total(terms []term) (sum float64) {
	for _, p := range terms {
		sum += p.value
	}
	return sum
}

// scaled multiplies terms, and says in whose name.
func scaled(what string, factor float64, terms []term) []term {
	out := make([]term, len(terms))
	for i, p := range terms {
		out[i] = term{what + p.name, factor * p.value}
	}
	return out
}

// row are the terms of one row's gradient.
func (s *shape) row() (terms []term, normBound, x float64) {
	slack := total(s.slack())
	x = s.x * (1 + slack)
	c := s.loss.Constants(x*s.radius*(1+slack), s.label)
	normBound = math.Min(x*c.Slope, s.clip*(1+slack))
	terms = scaled("a row's gradient: ", normBound, s.slack())
	if math.IsInf(c.Smoothness, 1) {
		return terms, normBound, x
	}
	score := x * c.Smoothness * encoding.Unit * s.radius * s.magnitude
	if score*(float64(s.columns)+8) > 2*normBound {
		return append(terms, term{"a score that is all rounding", 2 * normBound}), normBound, x
	}
	return append(terms, term{"the columns in a score", score * float64(s.columns)},
		term{"eight roundings of a score", score * 8}), normBound, x
}

// coefficient is S, the largest factor of a raw row in a gradient sum.
func (s *shape) coefficient(normBound, x float64) float64 {
	slack := total(s.slack())
	slope := s.loss.Constants(x*s.radius*(1+slack), s.label).Slope
	switch {
	case s.intercept:
		return math.Min(slope, s.clip/s.encoding.Constant*(1+slack))
	case s.width == 0:
		return math.Min(slope, normBound/x)
	}
	return slope
}

// gradient are the terms of GradientSensitivity.
func (s *shape) gradient(clip float64) []term {
	at := *s
	at.clip = clip
	row, normBound, x := at.row()
	slack, sum, n := total(s.slack()), 2.2*encoding.Unit*at.coefficient(normBound, x)*s.magnitude, float64(s.n)
	exact := math.Min(x*s.loss.Diameter(x*s.radius*(1+slack), s.label), 2*clip*(1+slack))
	return append(scaled("two rows, ", 2, row),
		term{"the exact distance", exact},
		term{"the block with the row", sum * s.block * s.block},
		term{"the merges", sum * s.blocks * n},
		term{"the change of coordinates", sum * 8 * n})
}

// moments are the terms of the rounding of second moments of rows of norm x.
func (s *shape) moments(x, slack float64) []term {
	sum := x * x * 2.2 * encoding.Unit
	return append(scaled("two encoded rows: ", x*x*slack, s.slack()),
		term{"the moments' block with the row", sum * s.momentsRows * s.momentsRows},
		term{"the moments' merges", sum * s.momentsB * float64(s.n)})
}

// Each bound is the sum of its terms.
func TestTermsOfBounds(t *testing.T) {
	bounds := []struct {
		name  string
		got   func(s *shape) float64
		terms func(s *shape) []term
		every int // that must tell at some shape
	}{
		{"Encoding.slack", func(s *shape) float64 { return s.encoding.Slack() }, (*shape).slack, 2},
		{"GradientSensitivity", func(s *shape) float64 { return s.sums.Bounds().GradientSensitivity(s.radius, s.clip) },
			func(s *shape) []term { return s.gradient(s.clip) }, 9},
		{"GradientError", func(s *shape) float64 { return s.sums.Bounds().GradientError(s.radius, s.clip) }, func(s *shape) []term {
			row, normBound, x := s.row()
			n := float64(s.n)
			sum := 1.1 * encoding.Unit * s.coefficient(normBound, x) * s.magnitude * n
			return append(scaled("every row, ", n, row), term{"the rows of a block", sum * s.block},
				term{"the merges", sum * s.blocks}, term{"the change of coordinates", sum * 8})
		}, 8},
		{"LossSensitivity", func(s *shape) float64 { return s.sums.Bounds().LossSensitivity(0.7) }, func(s *shape) []term {
			sum := 0.7 * 2.2 * encoding.Unit
			return []term{{"the cap", 0.7}, {"the block with the row", sum * s.block * s.block}, {"the merges", sum * s.blocks * float64(s.n)}}
		}, 3},
		{"momentsRounding", func(s *shape) float64 { return (&Sums{t: s.table}).Bounds().momentsRounding() },
			func(s *shape) []term { return s.moments(s.x, 4.1) }, 4},
		{"GradientSmoothness", func(s *shape) float64 { return s.sums.Bounds().GradientSmoothness(s.radius) }, func(s *shape) []term {
			slack := total(s.slack())
			x := s.x * (1 + slack)
			return []term{{"the square of the rows' bound", x * x * s.loss.Constants(x*s.radius*(1+slack), s.label).Smoothness}}
		}, 1},
	}
	for _, b := range bounds {
		t.Run(b.name, func(t *testing.T) {
			told := map[string]bool{}
			for _, s := range termShapes() {
				if want := total(b.terms(s)); math.IsInf(want, 1) {
					if got := b.got(s); got != want {
						t.Errorf("%s is %g, want +Inf", s.name, got)
					}
					continue
				}
				checkTerms(t, fmt.Sprintf("%s (%s)", b.name, s.name), b.got(s), told, b.terms(s))
			}
			checkTold(t, told, b.every)
		})
	}
}

// checkTold fails where a term was never large enough to be missed.
func checkTold(t *testing.T, told map[string]bool, every int) {
	t.Helper()
	if len(told) != every {
		t.Errorf("%d terms, want %d: %v", len(told), every, told)
	}
	for name, ok := range told {
		if !ok {
			t.Errorf("no shape would tell that the term for %s is dropped", name)
		}
	}
}

// The quadratic's bound has those of the gradient and of the moments for terms.
func TestTermsOfQuadratic(t *testing.T) {
	told := map[string]bool{}
	for _, s := range termShapes() {
		if s.loss != (losses.Squared{}) {
			continue
		}
		n, dim := float64(s.n), float64(s.encoding.Dim())
		product := 2.2 * encoding.Unit * n * s.x
		terms := append(s.gradient(math.Inf(1)), scaled("w times ", s.radius, s.moments(s.x, 4.1))...)
		for _, p := range []term{{"the columns in the product", dim * s.x * s.radius}, {"two roundings of the product", 2 * s.x * s.radius},
			{"the columns beside the sum at zero", dim * s.s0}, {"two roundings beside the sum at zero", 2 * s.s0}} {
			terms = append(terms, term{p.name, product * p.value})
		}
		checkTerms(t, "Quadratic.Sensitivity ("+s.name+")", (&Quadratic{s: s.sums}).Sensitivity(s.radius), told, terms)
	}
	checkTold(t, told, 16)
}

// Offsets make the sum at zero longer, as labels do, and the rounding of what is added to it.
func TestQuadraticRoundsOffsets(t *testing.T) {
	s := shape{n: 3_000_000, columns: 4, bound: 1, loss: losses.Squared{}}
	s.prepare()
	added := func(s *Sums) float64 {
		return (&Quadratic{s: s}).Sensitivity(0) - s.Bounds().GradientSensitivity(0, math.Inf(1))
	}
	labels, offsets := *s.sums, *s.sums
	labels.labelBound, offsets.labelBound = 100, 1
	got, want := added(offsets.Shift(nil, rows.Range{-99, 2})), added(&labels)
	if !(want > 1e-7 && math.Abs(got-want) < 1e-3*want) {
		t.Errorf("offsets of 99 beside labels of 1 add %g, labels of 100 %g", got, want)
	}
}

// The norm that a clip goes by has room for the rounding of raw terms, and for the
// constant.
func TestTermsOfReach(t *testing.T) {
	for _, s := range termShapes() {
		for _, length := range []float64{0, s.bound} {
			features := []term{{"the features", length}, {"the rounding of raw terms", 0}}
			if s.width != 0 {
				features[1].value = 3 * encoding.Unit * s.magnitude
			}
			c, got := s.encoding.Constant, s.encoding.NormBound(length)
			if want := math.Sqrt(total(features)*total(features) + c*c); math.Abs(got-want) > 8*encoding.Unit*want {
				t.Errorf("%s, length %g: reach is %.17g, want %.17g from %v and the constant %g", s.name, length, got, want, features, c)
			}
		}
	}
}

// The magnitude of raw terms, which all rounding is relative to, is at least the sum of
// its parts, and no more than that by much.
func TestTermsOfMagnitude(t *testing.T) {
	for _, s := range termShapes() {
		if got := s.encoding.Magnitude; got < s.magnitude*(1-8*encoding.Unit) || got > s.magnitude*(1+1e-12) {
			t.Errorf("%s: the magnitude of raw terms is %.17g, want %.17g", s.name, got, s.magnitude)
		}
		if got := s.encoding.FeatureBound(); math.Abs(got-s.x) > 4*encoding.Unit*s.x {
			t.Errorf("%s: the feature bound is %.17g, want %.17g", s.name, got, s.x)
		}
	}
}
