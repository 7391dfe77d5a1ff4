package release

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// flat is ½λ‖θ‖², whose minimiser with a linear term b is −b/λ.
func flat(rows *Rows, dim int) Minimand {
	const lambda = 2.0
	return Minimand{rows: rows, dim: dim, slope: 1, curvature: 0.5, lambda: lambda,
		minimise: func(_ context.Context, b []float64, _ float64) ([]float64, float64, float64, error) {
			theta := make([]float64, len(b))
			for j, v := range b {
				theta[j] = -v / lambda
			}
			return theta, 1e-9, 1e9, nil
		}}
}

// What is released is the answer with the mechanism's noise for the answer's own
// sensitivity, bit by bit: the Gaussian one's for L2, discrete Laplace's for √d·L2.
func TestAddNoiseIsTheMechanism(t *testing.T) {
	rows, values := NewRows(), []float64{1, -2, 3.5}
	for _, l2 := range []float64{0.1, 7} {
		got, err := must(Gaussian("", 0.3, 1, 3)).Allow(rows, mechanisms.NewSeededSource(4)).AddNoise(NewAnswer(rows, values, l2))
		want := make([]float64, 3)
		if err := (mechanisms.Gaussian{Mu: 0.3}).Release(want, values, l2, mechanisms.NewSeededSource(4)); err != nil {
			t.Fatal(err)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Gaussian, L2 = %g: %v, want %v (%v)", l2, got, want, err)
		}
		got, err = must(Laplace("", 0.3, 1, 3)).Allow(rows, mechanisms.NewSeededSource(4)).AddNoise(NewAnswer(rows, values, l2))
		l1 := math.Nextafter(math.Sqrt(3)*l2, math.Inf(1))
		if bound := L1(l2, 3); bound < l1 || bound > l1*(1+1e-14) {
			t.Errorf("L1 bound %g of √3·%g", bound, l2)
		}
		if e := (mechanisms.Laplace{Epsilon: 0.3}).Release(want, values, L1(l2, 3), mechanisms.NewSeededSource(4)); e != nil {
			t.Fatal(e)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Laplace, L2 = %g: %v, want %v (%v)", l2, got, want, err)
		}
	}
	if !slices.Equal(values, []float64{1, -2, 3.5}) {
		t.Errorf("the answer's own numbers became %v", values)
	}
}

// A release that fails hands out nothing: what its noise was to be added to is raw.
func TestFailedReleasesAreEmpty(t *testing.T) {
	rows := NewRows()
	far := flat(rows, 2)
	far.minimise = func(context.Context, []float64, float64) ([]float64, float64, float64, error) {
		return []float64{1, 2}, math.Inf(1), 10, nil
	}
	law := mechanisms.ObjectivePerturbation{Ratio: 0.1, LogDet: 1, OutputMu: 0.1}
	got, err := must(Objective("", law, 2)).Allow(rows, mechanisms.NewSeededSource(4)).Minimise(t.Context(), far)
	if got != nil || err == nil {
		t.Errorf("a minimiser at any distance: %v (%v)", got, err)
	}
	for _, s := range []*Schedule{gaussianOf("", 1, 2), must(Laplace("", 1, 1, 2))} {
		for name, x := range map[string]Answer{
			"no sensitivity":  NewAnswer(rows, []float64{1, 2}, 0),
			"any sensitivity": NewAnswer(rows, []float64{1, 2}, math.Inf(1)),
			"infinite":        NewAnswer(rows, []float64{1, math.Inf(1)}, 1),
		} {
			if got, err := s.Anew().Allow(rows, mechanisms.NewSeededSource(4)).AddNoise(x); got != nil || err == nil {
				t.Errorf("%s, %s: %v (%v)", s.leaf.name(), name, got, err)
			}
		}
	}
}

// Two releases of one allowance, and of two parts, have different noise.
func TestNoiseIsDrawnAnew(t *testing.T) {
	rows, src := NewRows(), mechanisms.NewSeededSource(1)
	root := must(Sequential("all", gaussianOf("a", 50, 3), gaussianOf("b", 50, 3))).Allow(rows, src)
	seen := map[float64]bool{}
	for i := range 2 {
		part, err := root.Part(i)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			v, err := part.AddNoise(NewAnswer(rows, numbers(3), 1))
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range v {
				seen[x] = true
			}
		}
	}
	if len(seen) != 300 { // of a grid of 2^40 steps a σ
		t.Errorf("300 draws have %d different values", len(seen))
	}
}

// A selection is that of its mechanism, with each score's own sensitivity where it
// takes one and the largest otherwise.
func TestSelectIsTheMechanism(t *testing.T) {
	rows, scores, each := NewRows(), []float64{0, 1, 2, 3}, []float64{0.1, 3, 0, 1}
	same := func(name string, m Selector, of func(src mechanisms.Source) (int, error)) {
		s := must(Selection(name, m))
		for seed := range uint64(40) {
			got, err := s.Anew().Allow(rows, mechanisms.NewSeededSource(seed)).Select(NewScores(rows, scores, each))
			want, errWant := of(mechanisms.NewSeededSource(seed))
			if err != nil || errWant != nil || got != want {
				t.Fatalf("%s: %d, want %d (%v, %v)", name, got, want, err, errWant)
			}
		}
	}
	g, e := mechanisms.GeneralizedExponential{Epsilon: 1, Beta: 0.1}, mechanisms.Exponential{Epsilon: 1}
	f, m := mechanisms.PermuteAndFlip{Epsilon: 1}, mechanisms.NoisyMax{Epsilon: 1}
	same("generalized", g, func(src mechanisms.Source) (int, error) { return g.Select(scores, each, src) })
	same("exponential", e, func(src mechanisms.Source) (int, error) { return e.Select(scores, 3, src) })
	same("permute", f, func(src mechanisms.Source) (int, error) { return f.Select(scores, 3, src) })
	same("noisy", m, func(src mechanisms.Source) (int, error) { return m.Select(scores, 3, src) })
	v := mechanisms.Vote{Epsilon: 0.7}
	for seed := range uint64(40) {
		got, err := must(Vote("vote", 0.7, 1)).Allow(rows, mechanisms.NewSeededSource(seed)).Vote(NewAnswer(rows, []float64{1}, 2))
		if want, _ := v.Answer(1, mechanisms.NewSeededSource(seed)); err != nil || got != want {
			t.Fatalf("vote: %v, want %v (%v)", got, want, err)
		}
	}
	if _, err := must(Selection("own", mine{})).Allow(rows, mechanisms.NewSeededSource(1)).Select(NewScores(rows, scores, each)); !errors.Is(err, check.ErrConfig) {
		t.Errorf("an unknown mechanism: %v", err)
	}
}

// A plurality is the exponential mechanism, as often as it is planned and with the ledger of so
// many bounded-range choices.
func TestPluralityIsTheMechanism(t *testing.T) {
	const releases = 40
	rows, scores, each := NewRows(), []float64{-3, -1, -4, 0}, []float64{1, 1, 1, 1}
	m := mechanisms.Exponential{Epsilon: 0.6}
	s := must(Plurality("votes", m.Epsilon, releases))
	a, src := s.Allow(rows, mechanisms.NewSeededSource(3)), mechanisms.NewSeededSource(3)
	for range releases {
		got, err := a.Select(NewScores(rows, scores, each))
		want, errWant := m.Select(scores, 1, src)
		if err != nil || errWant != nil || got != want {
			t.Fatalf("%d, want %d (%v, %v)", got, want, err, errWant)
		}
	}
	_, err := a.Select(NewScores(rows, scores, each))
	unplanned(t, err, "votes", "40 times")
	if want, err := m.Selections("votes", releases); err != nil || s.Ledger().String() != want.String() {
		t.Errorf("the ledger is %v, want %v (%v)", s.Ledger(), want, err)
	}
	b := must(Plurality("votes", m.Epsilon, 3)).Allow(rows, newRecorder())
	if err := b.Skip(2); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Select(NewScores(rows, scores, each)); err != nil || b.Made() != 3 {
		t.Errorf("%d made (%v)", b.Made(), err)
	}
	_, err = b.Select(NewScores(rows, scores, each))
	unplanned(t, err, "votes", "3 times")
	if _, err := Plurality("", 1e-9, 1); !errors.Is(err, check.ErrBudget) {
		t.Errorf("an ε too small for selections: %v", err)
	}
}

// Pluralities of two candidates have the law of a vote by the difference, and of more candidates
// probabilities proportional to exp(ε·votes/2). Each count is off by Bernstein's inequality with
// probability below 1e-6: all of them together fail with probability below 1e-4.
func TestPluralityLaw(t *testing.T) {
	const draws = 20_000
	rows, src, log := NewRows(), mechanisms.NewSeededSource(5), math.Log(2e6)
	for _, epsilon := range []float64{0.01, 0.5, 2} {
		for _, votes := range [][]float64{{0, 0}, {5, 4}, {3, 6}, {9, 0}, {1, 2, 3}, {7, 7, 6, 0}} {
			scores, each, want, total := make([]float64, len(votes)), make([]float64, len(votes)), make([]float64, len(votes)), 0.0
			for k, v := range votes {
				scores[k], each[k], want[k] = -v, 1, math.Exp(epsilon*v/2)
				total += want[k]
			}
			if len(votes) == 2 {
				p, err := (mechanisms.Vote{Epsilon: epsilon}).Probability(int(votes[0] - votes[1]))
				if err != nil || math.Abs(p-want[0]/total) > 1e-9 {
					t.Errorf("ε = %g: a vote has probability %g, want %g (%v)", epsilon, p, want[0]/total, err)
				}
			}
			a, count := must(Plurality("", epsilon, draws)).Allow(rows, src), make([]float64, len(votes))
			for range draws {
				k, err := a.Select(NewScores(rows, scores, each))
				if err != nil {
					t.Fatal(err)
				}
				count[k]++
			}
			for k, c := range count {
				p := want[k] / total
				if off := math.Abs(c - draws*p); off > math.Sqrt(2*draws*p*(1-p)*log)+log {
					t.Errorf("ε = %g, votes %v: %g choices of %d, want about %g", epsilon, votes, c, k, draws*p)
				}
			}
		}
	}
}

// mine is a selector from elsewhere.
type mine struct{}

func (mine) Ledger(label string) (*mechanisms.Ledger, error) {
	return mechanisms.NoisyMax{Epsilon: 1}.Ledger(label)
}

// A constant among scores has sensitivity 0 and leaves the others what they are.
func TestWithConstant(t *testing.T) {
	scores, each := make([]float64, 2, 9), make([]float64, 2, 9)
	scores[1], each[0], each[1] = 5, 1, 2
	x := NewScores(NewRows(), scores, each)
	y, z := x.WithConstant(7), x.WithConstant(8)
	if !slices.Equal(y.values, []float64{0, 5, 7}) || !slices.Equal(y.each, []float64{1, 2, 0}) || y.rows != x.rows {
		t.Errorf("%v with sensitivities %v", y.values, y.each)
	}
	if !slices.Equal(z.values, []float64{0, 5, 8}) || len(x.values) != 2 || len(x.each) != 2 {
		t.Errorf("one answer's constant reaches another's: %v, %v", x.values, z.values)
	}
}

// Objective perturbation is refused where its curvature or its λ isn't what was
// planned for, before anything is drawn.
func TestMinimiseRefuses(t *testing.T) {
	rows := NewRows()
	law := mechanisms.ObjectivePerturbation{Ratio: 0.1, LogDet: math.Log1p(0.25) * (1 + 1e-14), OutputMu: 0.1}
	for name, c := range map[string]struct {
		change func(m *Minimand)
		why    string
	}{
		"planned":        {func(*Minimand) {}, ""},
		"less curvature": {func(m *Minimand) { m.curvature = 0.1 }, ""},
		"more curvature": {func(m *Minimand) { m.curvature *= 1 + 1e-12 }, "log-determinant"},
		"a smaller λ":    {func(m *Minimand) { m.lambda *= 1 - 1e-12 }, "log-determinant"},
		"no λ":           {func(m *Minimand) { m.lambda = 0 }, "log-determinant"},
		"a negative λ":   {func(m *Minimand) { m.lambda = -1e9 }, "log-determinant"},
		"NaN":            {func(m *Minimand) { m.curvature = math.NaN() }, "log-determinant"},
		"infinite":       {func(m *Minimand) { m.curvature = math.Inf(1) }, "log-determinant"},
		"one coordinate": {func(m *Minimand) { m.dim = 1 }, "2 coordinates"},
		"other rows":     {func(m *Minimand) { m.rows = NewRows() }, "other rows"},
	} {
		src, m := newRecorder(), flat(rows, 2)
		c.change(&m)
		_, err := must(Objective("objective", law, 2)).Allow(rows, src).Minimise(t.Context(), m)
		if c.why == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		unplanned(t, err, "objective", c.why)
		if len(src.seen) != 0 {
			t.Errorf("%s: draws before it refuses", name)
		}
	}
}

// The linear term has standard deviation Slope/Ratio in each coordinate, and is held to
// a norm that it practically never reaches; the bounds on the sum of squares each fail
// with a probability below 1e-6.
func TestMinimiseLinearTerm(t *testing.T) {
	const dim, runs, ratio = 3, 2000, 0.2
	rows, src := NewRows(), newRecorder()
	law := mechanisms.ObjectivePerturbation{Ratio: ratio, LogDet: 1, OutputMu: 0.1}
	s, m := must(Objective("objective", law, dim)), flat(rows, dim)
	m.slope = 1.5
	var normBound float64
	inner := m.minimise
	m.minimise = func(ctx context.Context, b []float64, l float64) ([]float64, float64, float64, error) {
		normBound = l
		return inner(ctx, b, l)
	}
	for range runs {
		if _, err := s.Anew().Allow(rows, src).Minimise(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	var squares [dim]float64
	for k := 0; k < len(src.seen); k += 2 {
		e := src.seen[k]
		if e.Mechanism != "linear term" || e.L2 != m.slope || e.Label != "objective" || e.Rows != rows {
			t.Fatalf("release %d is %+v", k, e)
		}
		for j, v := range e.Values {
			squares[j] += v * v * ratio * ratio / m.slope / m.slope
		}
	}
	for j, v := range squares {
		if math.Abs(v/runs-1) > 5.2*math.Sqrt(2.0/runs) {
			t.Errorf("coordinate %d: variance %.3f times the planned", j, v/runs)
		}
	}
	if least := m.slope / ratio * (math.Sqrt(dim) + 64); normBound < least || normBound > least*1.001 {
		t.Errorf("the solver is told of norms up to %g, want σ(√d + 64) = %g", normBound, least)
	}
}

// laws are those of a linear term, with the mechanisms of its parts.
var laws = map[string]struct {
	schedule       func(dim int) (*Schedule, error)
	linear, output func(values []float64, l2 float64, src mechanisms.Source) error
}{
	"gaussian": {func(dim int) (*Schedule, error) {
		return Objective("objective", mechanisms.ObjectivePerturbation{Ratio: 0.1, LogDet: 1, OutputMu: 0.25}, dim)
	}, func(v []float64, l2 float64, src mechanisms.Source) error {
		return mechanisms.Gaussian{Mu: 0.1}.Release(v, v, l2, src) // a ratio is of one gradient
	}, func(v []float64, l2 float64, src mechanisms.Source) error {
		return mechanisms.Gaussian{Mu: 0.25}.Release(v, v, l2, src)
	}},
	"laplace": {func(dim int) (*Schedule, error) {
		return PureObjective("objective", mechanisms.PureObjectivePerturbation{Epsilon: 0.1, LogDet: 1, OutputEpsilon: 0.25}, dim)
	}, func(v []float64, l2 float64, src mechanisms.Source) error {
		return mechanisms.Laplace{Epsilon: 0.1}.Release(v, v, L1(2*l2, len(v)), src)
	}, func(v []float64, l2 float64, src mechanisms.Source) error {
		return mechanisms.Laplace{Epsilon: 0.25}.Release(v, v, L1(l2, len(v)), src)
	}},
}

// What is released is the minimiser up to half the radius, 0 from the radius on, and in
// between moves at most twice as far as the minimiser does; the linear term isn't touched.
func TestMinimiseEndsAtTheSphere(t *testing.T) {
	const radius = 4.0
	of := func(theta float64) float64 {
		rows, src := NewRows(), newRecorder()
		src.alter = func(e *Event) {
			if e.Mechanism == "linear term" {
				e.Values[0] = -2 * theta // flat's λ is 2
			}
		}
		m := flat(rows, 1)
		inner := m.minimise
		m.minimise = func(ctx context.Context, b []float64, l float64) ([]float64, float64, float64, error) {
			if b[0] != -2*theta {
				t.Errorf("the solver gets the linear term %g, not %g", b[0], -2*theta)
			}
			w, distance, _, err := inner(ctx, b, l)
			return w, distance, radius, err
		}
		if _, err := must(laws["laplace"].schedule(1)).Allow(rows, src).Minimise(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		return src.seen[1].Values[0]
	}
	const step = 1.0 / 64
	last := of(-6)
	for theta := -6 + step; theta <= 6; theta += step {
		v := of(theta)
		if inside := math.Abs(theta) <= radius/2; inside && v != theta || math.Abs(theta) >= radius && v != 0 || math.Abs(v-last) > 2*step {
			t.Errorf("%g is released for the minimiser %g, %g before", v, theta, last)
		}
		last = v
	}
	if v := of(1e9); v != 0 {
		t.Errorf("%g is released for a minimiser far outside", v)
	}
}

// A solver that fails ends the release, which counts as made: b isn't drawn again.
func TestMinimiseDrawsOnce(t *testing.T) {
	rows, src, calls := NewRows(), newRecorder(), 0
	m := flat(rows, 2)
	m.minimise = func(context.Context, []float64, float64) ([]float64, float64, float64, error) {
		calls++
		return nil, 0, 0, context.Canceled
	}
	law := mechanisms.ObjectivePerturbation{Ratio: 0.1, LogDet: 1, OutputMu: 0.1}
	a := must(Objective("objective", law, 2)).Allow(rows, src)
	if _, err := a.Minimise(t.Context(), m); !errors.Is(err, context.Canceled) || calls != 1 || len(src.seen) != 1 || a.Made() != 1 {
		t.Errorf("%v after %d calls and %d draws, %d made", err, calls, len(src.seen), a.Made())
	}
	_, err := a.Minimise(t.Context(), flat(rows, 2))
	unplanned(t, err, "objective", "1 times")
}

// The linear term is the mechanism's noise for a gradient's sensitivity, and the output noise
// that for four times the solver's distance and what b's grid can do.
func TestMinimiseOutputNoise(t *testing.T) {
	rows := NewRows()
	for name, law := range laws {
		for _, distance := range []float64{0, 1e-9, 3} {
			src, m := newRecorder(), flat(rows, 2)
			m.slope = 1.5
			inner := m.minimise
			m.minimise = func(ctx context.Context, b []float64, l float64) ([]float64, float64, float64, error) {
				theta, _, radius, err := inner(ctx, b, l)
				return theta, distance, radius, err
			}
			got, err := must(law.schedule(2)).Allow(rows, src).Minimise(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			again := mechanisms.NewSeededSource(1)
			b, want := make([]float64, 2), make([]float64, 2)
			if err := law.linear(b, m.slope, again); err != nil {
				t.Fatal(err)
			}
			scale := m.slope / 0.1 // of the Gaussian's
			if name == "laplace" {
				scale *= 2 * math.Sqrt2
			}
			grid := math.Sqrt2 * scale * 0x1p-40 / m.lambda
			e := src.seen[1]
			if least := 4*distance + 2*grid*(1-1e-9); e.Mechanism != "minimiser" || e.L2 < least || e.L2 > 4*distance+4*grid {
				t.Errorf("%s: %s of sensitivity %g, want at least %g", name, e.Mechanism, e.L2, least)
			}
			copy(want, e.Values)
			if err := law.output(want, e.L2, again); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) || !slices.Equal(src.seen[0].Values, b) {
				t.Errorf("%s, distance %g: released %v, want %v; linear term %v, want %v", name, distance, got, want, src.seen[0].Values, b)
			}
		}
	}
}

// What holds raw numbers prints its shape, whatever the verb.
func TestAnswersPrintTheirShape(t *testing.T) {
	const secret = 123456789.25
	x := NewAnswer(NewRows(), []float64{secret, secret}, secret)
	m := flat(NewRows(), 2)
	m.slope = secret
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%g", "%f"} {
		for _, value := range []any{x, &x, m, &m, []Answer{x}, struct{ X Answer }{x}, map[int]Answer{1: x}} {
			text := fmt.Sprintf(verb, value)
			if strings.Contains(text, "1234567") || strings.Contains(text, "1.2345") || strings.Contains(text, "75bcd15") || strings.Contains(text, "1.d6f345") {
				t.Errorf("%s of %T prints %s", verb, value, text)
			}
			if !strings.Contains(text, "release.") {
				t.Errorf("%s of %T prints %s, not a shape", verb, value, text)
			}
		}
	}
}

// Rows are the same set where they are split by the same words, and others otherwise.
func TestRowsSplit(t *testing.T) {
	r := NewRows()
	a, b, c := r.Split("by seed 1", 2), r.Split("by seed 1", 2), r.Split("by seed 1", 3)
	if !slices.Equal(a, b) || a[0] == a[1] || a[0] == c[0] || len(c) != 3 {
		t.Errorf("splits %p, %p, %p", a, b, c)
	}
	inner := a[0].Split("by seed 1", 2)
	for name, v := range map[string]struct{ got, want bool }{
		"part within the whole":          {inner[1].within(r), true},
		"part within its part":           {inner[1].within(a[0]), true},
		"part within another":            {inner[1].within(a[1]), false},
		"whole within a part":            {r.within(a[0]), false},
		"parts disjoint":                 {a[0].disjoint(a[1]), true},
		"parts of a part and another":    {inner[0].disjoint(a[1]), true},
		"a part of a part and that":      {inner[0].disjoint(a[0]), false},
		"parts of splits of other words": {a[0].disjoint(c[1]), false},
		"parts of other data":            {a[0].disjoint(NewRows().Split("by seed 1", 2)[1]), false},
		"the whole and a part":           {r.disjoint(a[1]), false},
	} {
		if v.got != v.want {
			t.Errorf("%s: %v", name, v.got)
		}
	}
}
