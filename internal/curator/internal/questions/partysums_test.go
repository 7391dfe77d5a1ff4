package questions

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// anySums are sums over rows that two parties hold, who have agreed to a fit of any.
func anySums(t *testing.T, x *mat.Dense, y []float64, classes, first int, enc encoding.Encoding, loss losses.Loss) *Sums {
	t.Helper()
	s := heldBy(t, x, y, first, 64, enc, loss)
	s.labelBound = searchLabel
	return agreedToAny(t, s, classes)
}

func agreedToAny(t *testing.T, s *Sums, classes int) *Sums {
	t.Helper()
	table, err := Agree(ctx, s, Descent{Steps: 1e6, Clip: math.Inf(1), Mu: 1, Numbers: 1000, Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	of := *s
	of.t = table
	return &of
}

// lying is an aggregator to whose sums a party adds what it likes.
type lying struct {
	Aggregator
	of *neighbour
}

func (l lying) Sum(ctx context.Context, question []byte) ([]uint64, error) {
	sum, err := l.Aggregator.Sum(ctx, question)
	if err != nil || l.of.lie == nil {
		return sum, err
	}
	last := len(sum) - answerTail
	for j := range sum[answerHead:last] {
		sum[answerHead+j] += l.of.lie()
	}
	sum[last] = checksum(question, sum[:last], 64)
	return sum, nil
}

// classQuestions are those about classes in a frame, and what rows add, which must have labels 0 to 2.
func classQuestions(u []float64) map[string]func(c *ClassFramed) ([]float64, float64, error) {
	at := ClassPoint{U: [][]float64{u, u, make([]float64, len(u))}, B: []float64{0.1, -0.2, 0}}
	from := ClassPoint{U: [][]float64{make([]float64, len(u)), u, u}, B: make([]float64, 3)}
	edges := [][]float64{{1, 0, -1}, {0.5, -0.5}, {0}}
	questions := map[string]func(c *ClassFramed) ([]float64, float64, error){
		"gradient": func(c *ClassFramed) ([]float64, float64, error) {
			return heard(c.Gradient(ctx, at, ClassSlope{Clip: 0.1}))
		},
		"with constant": func(c *ClassFramed) ([]float64, float64, error) {
			return heard(c.Gradient(ctx, at, ClassSlope{Clip: 0.1, Constant: 0.25}))
		},
		"norms": func(c *ClassFramed) ([]float64, float64, error) {
			return heard(c.GradientNorms(ctx, []float64{1, 0.5, 0.1}, at, ClassSlope{Clip: 1, Constant: 1}))
		},
		"scale":     func(c *ClassFramed) ([]float64, float64, error) { return heard(c.ScaleSlope(ctx, at, from, 0.2)) },
		"confusion": func(c *ClassFramed) ([]float64, float64, error) { return heard(c.Confusion(ctx, at)) },
		"own": func(c *ClassFramed) ([]float64, float64, error) {
			return heard(c.OwnLogOdds(ctx, []float64{1, 0, -1}, at, losses.Hinge{}))
		},
		"Brier": func(c *ClassFramed) ([]float64, float64, error) {
			return heard(c.Brier(ctx, []float64{1, 0.5, 0.1}, at, nil))
		},
	}
	for name, of := range map[string]Counted{"own odds": Own, "others' odds": Others, "every odds": Every} {
		questions[name] = func(c *ClassFramed) ([]float64, float64, error) { return heard(c.LogOdds(ctx, of, edges, at, nil)) }
	}
	return questions
}

// asksOf are all questions that parties answer with any sums, of rows in a frame, as functions of sums under a loss, and for classes
// without one.
func asksOf(f Frame, u []float64) map[string]func(s *Sums) ([]float64, float64, error) {
	all := map[string]func(s *Sums) ([]float64, float64, error){
		"labels": func(s *Sums) ([]float64, float64, error) { return s.LabelSum(ctx) },
	}
	for name, q := range framedQuestions(u) {
		all[name] = func(s *Sums) ([]float64, float64, error) {
			r, err := NewFramed(ctx, s, whole, f)
			if err != nil {
				return nil, 0, err
			}
			return q.ask(r)
		}
	}
	return all
}

func classAsksOf(f Frame, u []float64) map[string]func(s *Sums) ([]float64, float64, error) {
	all := map[string]func(s *Sums) ([]float64, float64, error){
		"counts": func(s *Sums) ([]float64, float64, error) { return heard((&Classes{s, 3}).Counts(ctx, whole)) },
	}
	for name, q := range classQuestions(u) {
		all[name] = func(s *Sums) ([]float64, float64, error) {
			c, err := (&Classes{s, 3}).Frame(ctx, whole, f)
			if err != nil {
				return nil, 0, err
			}
			return q(c)
		}
	}
	return all
}

// Parties' sums are those of the same rows in memory, up to rounding: no row is left out. A replaced row moves them by no more than
// they declare, also where a party adds what it likes, so that numbers of the sum are folded at will; which whoever mapped the sum to
// other coordinates afterwards couldn't say.
func TestPartiesAnySums(t *testing.T) {
	const n, d = 60, searchColumns
	u := []float64{0.5, -0.4, 0.3}
	lies := []func(r *rand.Rand) uint64{
		(*rand.Rand).Uint64, func(r *rand.Rand) uint64 { return uint64(1)<<(r.IntN(3)+61) - uint64(r.IntN(4)) },
		func(r *rand.Rand) uint64 { return uint64(r.IntN(2)) << 63 }, func(r *rand.Rand) uint64 { return n - 1 + uint64(r.IntN(9)) },
	}
	asked := 0
	for kind, enc := range map[string]encoding.Encoding{"bounds": encoding.NewIdentity(d, 1, true), "schema": affine(t, d, true)} {
		for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.CappedPoisson{Cap: searchLabel}, nil} {
			pair := newNeighbours(t, n, enc, loss)
			for frame, f := range testFrames(d) { // whose bounds shorten some rows
				asks := asksOf(f, u[:f.dim(d)])
				if loss == nil {
					asks = classAsksOf(f, u[:f.dim(d)])
				}
				for question, ask := range asks {
					name := kind + ", " + frame + ", " + question
					if loss != nil {
						name += ", " + loss.Name()
					}
					if asked++; !sample.One(3, name) {
						continue
					}
					for lie, of := range map[string]func(r *rand.Rand) uint64{"": nil, fmt.Sprintf(", lie %d", asked%len(lies)): lies[asked%len(lies)]} {
						var sums [2][]float64
						var claimed float64
						for k, at := range pair {
							at.lie = nil
							if of != nil {
								r := rand.New(rand.NewPCG(83, 84))
								at.lie = func() uint64 { return of(r) }
							}
							var err error
							if sums[k], claimed, err = ask(at.parties); err != nil {
								t.Fatal(name, err)
							}
							if of != nil {
								continue
							}
							want, _, err := ask(at.memory)
							if err != nil || len(want) != len(sums[k]) || !(distance(sums[k], want) <= 1e-9*math.Max(1, norm(want))) {
								t.Fatalf("%s: %v, in memory %v (%v)", name, sums[k], want, err)
							}
						}
						if moved := distance(sums[0], sums[1]); !(moved <= claimed) {
							t.Errorf("%s%s: moved by %g, declared %g", name, lie, moved, claimed)
						}
					}
				}
			}
		}
	}
}

// neighbour is one of two tables that differ in a row, in memory and of two parties, whose sums have a lie added to each number.
type neighbour struct {
	memory, parties *Sums
	lie             func() uint64
}

func newNeighbours(t *testing.T, n int, enc encoding.Encoding, loss losses.Loss) (pair [2]*neighbour) {
	r := rand.New(rand.NewPCG(81, 82))
	x, y := randomMatrix(r, n, enc.Columns, 1), make([]float64, n)
	for i := range y {
		y[i] = float64(r.IntN(3))
		if loss != nil && loss.Labels() == losses.Binary {
			y[i] = float64(r.IntN(2))
		}
	}
	for k := range pair {
		of, classes := &neighbour{}, 0
		bound := loss
		if loss == nil {
			bound, classes = losses.Squared{}, 3
		}
		of.memory, of.parties = sumsOf(t, x, y, searchLabel, enc, bound), anySums(t, x, y, classes, 1+r.IntN(n-1), enc, bound)
		if loss == nil {
			of.memory, of.parties = &Sums{t: of.memory.t, labels: y}, &Sums{t: of.parties.t}
		}
		p := partiesOf(of.parties.t)
		p.Aggregator = lying{p.Aggregator, of}
		pair[k] = of
		x, y = mat.DenseCopyOf(x), slices.Clone(y)
		for j := range enc.Columns {
			x.Set(n/2, j, 5*r.NormFloat64())
		}
		y[n/2] = 1 - min(1, y[n/2])
	}
	return pair
}

// asker keeps the steps of the last question.
type asker struct {
	Aggregator
	last *partyQuestion
}

func (a *asker) Sum(ctx context.Context, message []byte) ([]uint64, error) {
	of, err := readMessage(message)
	if err != nil {
		return nil, err
	}
	a.last = of.Question
	return a.Aggregator.Sum(ctx, message)
}

// What is declared of parties' sums is what is in memory and a step for each number, with what a sum of all bits is rounded by when it
// becomes a float64; of counts, whose steps are 1, it is the same as in memory. A search for neighbours sees neither: rows that are rounded
// towards zero are seldom further apart.
func TestPartiesDeclareSteps(t *testing.T) {
	const n = 12
	u := []float64{0.5, -0.4, 0.3}
	enc := encoding.NewIdentity(searchColumns, 1, true)
	x, y := randomMatrix(rand.New(rand.NewPCG(87, 88)), n, enc.Columns, 1), make([]float64, n)
	for _, bits := range []int{24, 64} {
		for _, loss := range []losses.Loss{losses.Squared{}, nil} {
			memory, parties, classes := sumsOf(t, x, y, searchLabel, enc, losses.Squared{}), heldBy(t, x, y, 5, bits, enc, losses.Squared{}), 0
			parties.labelBound = searchLabel
			asks := asksOf(Frame{}, u)
			if loss == nil {
				asks, classes = classAsksOf(Frame{}, u), 3
			}
			if parties = agreedToAny(t, parties, classes); loss == nil {
				memory, parties = &Sums{t: memory.t, labels: y}, &Sums{t: parties.t}
			}
			p := partiesOf(parties.t)
			asked := &asker{Aggregator: p.Aggregator}
			p.Aggregator = asked
			for question, ask := range asks {
				sum, declared, err := ask(parties)
				if err != nil {
					t.Fatal(question, err)
				}
				_, of, err := ask(memory)
				if err != nil {
					t.Fatal(question, err)
				}
				if asked.last.Step != 1 {
					of += math.Sqrt(float64(len(sum))) * asked.last.Step * (1 + math.Ldexp(1, bits-54))
				}
				if !(math.Abs(declared/of-1) <= 1e-14) {
					t.Errorf("%d bits, %s: declared %g, want %g", bits, question, declared, of)
				}
			}
		}
	}
}

// anyFit is a party's fit of any sums of rows with labels of three classes.
func anyFit(t *testing.T) *agreed {
	t.Helper()
	s := anySums(t, randomMatrix(rand.New(rand.NewPCG(85, 86)), 9, 3, 1), make([]float64, 9), 3, 4, encoding.NewIdentity(3, 1, false), losses.Squared{})
	for _, fit := range partiesOf(s.t).Aggregator.(inProcess).parties[0].fits {
		return fit
	}
	t.Fatal("no fit was agreed to")
	return nil
}

func sentOf(t *testing.T, of sentAsked) []byte {
	t.Helper()
	sent, err := of.encode()
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// A question that lacks a part, or whose matrix says that it has 2^62 rows more, is refused, and ends no process.
func TestPartiesRefuseWhatPanics(t *testing.T) {
	fit := anyFit(t)
	matrix := mat.NewDense(3, 1, []float64{1, 2, 3})
	squares := sentOf(t, sentAsked{Class: -1, Of: &asking{Labels: sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}, Of: &framedSquares{InFrame{Frame: Frame{Matrix: matrix}}}}})
	q := &partyQuestion{Number: 1, Step: 1, Bound: 1, Numbers: 3, Asked: squares}
	if err := fit.takesSum(q); err != nil {
		t.Fatal(err)
	}
	sent, err := matrix.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.Index(sent, binary.LittleEndian.AppendUint64(nil, 3))
	at := bytes.Index(squares, sent)
	if first < 0 || at < 0 {
		t.Fatal("the matrix wasn't found in the question")
	}
	squares[at+first+7] = 1 << 6
	for name, asked := range map[string][]byte{
		"matrix":  squares,
		"classes": sentOf(t, sentAsked{Class: -1, Of: &asking{Of: &classCoordinates{Dim: 3}}}),
		"frame":   sentOf(t, sentAsked{Class: -1, Of: &asking{Of: &inCoordinates{Dim: 3}}}),
		"none":    sentOf(t, sentAsked{Class: -1, Of: &asking{}}),
	} {
		q.Asked = asked
		if err := fit.takesSum(q); !errors.Is(err, check.ErrConfig) && !errors.Is(err, rows.ErrNotAsked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A bound beyond the modulus is refused, also where the row's length that it stands for overflows: else numbers that an int64 doesn't
// hold would be added.
func TestPartiesRefuseBoundsBeyondIntegers(t *testing.T) {
	fit := anyFit(t)
	asked := sentOf(t, sentAsked{Class: -1, Of: &asking{Labels: sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}, Of: &framedSquares{}}})
	for _, step := range []float64{1, 4, 1 << 50} {
		for _, bound := range []float64{math.Ldexp(1, 63), 1e300, math.MaxFloat64} {
			q := &partyQuestion{Number: 1, Step: step, Bound: bound, Numbers: 3, Asked: asked}
			if err := fit.takesSum(q); !errors.Is(err, check.ErrConfig) {
				t.Errorf("step %g, bound %g: %v", step, bound, err)
			}
		}
	}
}

// Questions that aren't the plan's are refused: each differs in one thing from one that is taken.
func TestPartiesRefuseMisfits(t *testing.T) {
	fit := anyFit(t)
	enc := fit.table.Enc
	real := sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}
	ask := func(l sentLabels, of asked) sentAsked { return sentAsked{Class: -1, Of: &asking{Labels: l, Of: of}} }
	after := func(steps ...rows.Step) sentAsked {
		of := ask(real, &framedSquares{})
		of.Steps = steps
		return of
	}
	half := rows.Step{Bound: enc.Bound / 2}
	of := func(class int) sentAsked {
		of := ask(real, &framedSquares{})
		of.Class = class
		return of
	}
	for name, c := range map[string]struct {
		of    sentAsked
		taken bool
	}{
		"counts":                   {ask(sentLabels{}, &classCounts{3}), true},
		"counts of other classes":  {ask(sentLabels{}, &classCounts{2}), false},
		"counts of a loss":         {ask(real, &classCounts{3}), false},
		"a class":                  {of(2), true},
		"no class":                 {of(3), false},
		"steps":                    {after(half, half), true},
		"too many steps":           {after(half, half, half, half, half), false},
		"all steps":                {after(half, half, half, half), true},
		"a step to rows as long":   {after(rows.Step{Bound: enc.Bound}), true},
		"a step to longer rows":    {after(rows.Step{Bound: 2 * enc.Bound}), false},
		"a step up again":          {after(half, rows.Step{Bound: enc.Bound}), false},
		"a step to nothing":        {after(rows.Step{}), false},
		"a step to no number":      {after(rows.Step{Bound: math.NaN()}), false},
		"a constant":               {after(rows.Step{Bound: enc.Bound, Constant: 1}), true},
		"a constant below 0":       {after(rows.Step{Bound: enc.Bound, Constant: -1}), false},
		"a constant of no number":  {after(rows.Step{Bound: enc.Bound, Constant: math.NaN()}), false},
		"a step to persons":        {after(rows.Step{Bound: enc.Bound, ByRows: 1}), false},
		"no loss":                  {ask(sentLabels{}, &labelSum{}), false},
		"offsets":                  {ask(sentLabels{Loss: real.Loss, Bound: 1, Offsets: rows.Range{0, 1}}, &framedSquares{}), false},
		"persons":                  {ask(real, &framedSquares{InFrame{Frame: Frame{Each: 1}}}), false},
		"coordinates":              {ask(real, &framedMoments{Packing{Coordinates: 3}, 1}), true},
		"others than a frame's":    {ask(real, &framedMoments{Packing{Coordinates: 2}, 1}), false},
		"no coordinates":           {ask(real, &framedMoments{Packing{}, 1}), false},
		"a question to one holder": {ask(real, &lossSums{make([][]float64, 3), make([]float64, 3)}), false},
	} {
		for width := range 8 {
			q := &partyQuestion{Number: 1, Step: 1, Bound: 1, Numbers: width, Asked: sentOf(t, c.of)}
			err := fit.takesSum(q)
			if err != nil && !errors.Is(err, check.ErrConfig) {
				t.Errorf("%s: %v", name, err)
			}
			wide := 3
			if name == "coordinates" {
				wide = 6
			}
			if taken := err == nil; taken != (c.taken && width == wide) {
				t.Errorf("%s, %d numbers: %v", name, width, err)
			}
		}
	}
}

// Norms in a frame that a party has kept are of the rows as they are shortened.
func TestPartiesKeepNormsOfSteps(t *testing.T) {
	const n = 9
	s := anySums(t, randomMatrix(rand.New(rand.NewPCG(85, 86)), n, 3, 1), make([]float64, n), 0, 4, encoding.NewIdentity(3, 1, false), losses.Squared{})
	for _, bound := range []float64{1, 1e-3, 1} {
		of := *s
		if bound < 1 {
			of.t = s.t.Rebound(bound, 0)
		}
		shortBy(t, &of, n, bound)
	}
}

// shortBy fails where not all of n rows in a frame are short if their bound is, or any else.
func shortBy(t *testing.T, s *Sums, n, bound float64) {
	t.Helper()
	r, err := NewFramed(ctx, s, whole, Frame{Scale: []float64{1, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	counts, _, err := heard(r.Lengths(ctx, []float64{2e-3}))
	if err != nil {
		t.Fatal(err)
	}
	if short := counts[1] == n; short != (bound < 1) {
		t.Errorf("bound %g: %v", bound, counts)
	}
}

// Norms in a frame that a party has kept are those of a fit's own bound on rows, of several.
func TestPartiesKeepNormsOfBounds(t *testing.T) {
	const n = 9
	x := randomMatrix(rand.New(rand.NewPCG(85, 86)), n, 3, 1)
	_, at := partiesWith(t, x, make([]float64, n), nil, encoding.NewIdentity(3, 1, false), func(Terms) error { return nil })
	for _, bound := range []float64{1, 1e-3, 1} {
		table, err := NewParties(Parties{Aggregator: at, Rows: []int{n}, Bits: at.bits}, encoding.NewIdentity(3, bound, false))
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSums(table, nil, 0, 1, losses.Squared{})
		if err != nil {
			t.Fatal(err)
		}
		shortBy(t, agreedToAny(t, s, 0), n, bound)
	}
}

// A party takes steps in which a sum of all rows has the plan's bits, and coarser ones; others are refused, and so are bounds that no
// row's integers have.
func TestPartiesRefuseSteps(t *testing.T) {
	fit := anyFit(t)
	asked := sentOf(t, sentAsked{Class: -1, Of: &asking{Labels: sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}, Of: &framedSquares{}}})
	own := fit.plan.step(1)
	for _, c := range []struct {
		step, length float64
		taken        bool
	}{{own, 1, true}, {own / 2, 1, true}, {own / 4, 1, false}, {2 * own, 1, true}, {1, 1, true}, {3 * own, 1, false}, {0, 1, false}, {-own, 1, false},
		{math.Inf(1), 1, false}, {own, 0, false}, {own, -1, false}, {own, math.NaN(), false}, {own, math.Inf(1), false}, {own, 9, false}} {
		q := &partyQuestion{Number: 1, Step: c.step, Bound: c.length / c.step, Numbers: 3, Asked: asked}
		if err := fit.takesSum(q); (err == nil) != c.taken || err != nil && !errors.Is(err, check.ErrConfig) {
			t.Errorf("steps of %g, rows of length %g: %v", c.step, c.length, err)
		}
	}
}

// Of one party's one row, integers may have all bits of the plan but the sign's: a bound below that is taken, and the next one refused,
// also where another rule doesn't see it, as lengths overflow.
func TestPartiesTakeBoundsBelowTheSign(t *testing.T) {
	fit := anyFit(t)
	asked := sentOf(t, sentAsked{Class: -1, Of: &asking{Labels: sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}, Of: &framedSquares{}}})
	for _, bits := range []int{24, 64} {
		plan, most := *fit.plan, math.Ldexp(1, bits-1)
		plan.Bits, plan.Parties = bits, []int{1}
		any := &agreed{plan: &plan, sums: fit.sums, table: fit.table}
		for _, c := range []struct {
			step, bound float64
			taken       bool
		}{{1, math.Nextafter(most, 0), true}, {1, most, false}, {math.Ldexp(1, 1022), most, false}} {
			q := &partyQuestion{Number: 1, Step: c.step, Bound: c.bound, Numbers: 3, Asked: asked}
			if err := any.takes(q); (err == nil) != c.taken || err != nil && !errors.Is(err, check.ErrConfig) {
				t.Errorf("%d bits, a sum's bound of %g steps of %g: %v", bits, c.bound, c.step, err)
			}
		}
		descent := plan
		descent.Numbers, descent.Radius = 0, 1
		const short = 1e-10 // by which a gradient falls short of a power of two: less than the bound may be off by
		s, length := sumsOf(t, mat.NewDense(1, 1, nil), []float64{0}, 1, encoding.NewIdentity(1, 100, false), losses.Logistic{}), 1-short
		gradients := &agreed{plan: &descent, sums: s, clip: length / s.Bounds().normBound(0, 1)}
		own := (&Parties{Bits: bits}).step(1, s.Bounds().normBound(0, gradients.clip))
		for bound, taken := range map[float64]bool{math.Nextafter(most, 0): true, most: false} {
			q := &partyQuestion{Number: 1, Step: own / 2, Bound: bound, Weights: []float64{0}}
			if err := gradients.takes(q); (err == nil) != taken || err != nil && !errors.Is(err, check.ErrConfig) {
				t.Errorf("%d bits, a gradient's bound of %g: %v", bits, bound, err)
			}
		}
	}
}

// A question for a gradient is taken up to where rules say, and refused beyond: in its number, its weights' number and norm, its step, a
// power of two about the party's own, and its bound, which may be off by 1e-9.
func TestPartiesTakeGradientsUpToTheirRules(t *testing.T) {
	const n, d, bits, asked, steps, radius = 5, 2, 64, 3, 6, 2.0
	s := sumsOf(t, mat.NewDense(n, d, nil), make([]float64, n), 1, encoding.NewIdentity(d, 1, false), losses.Logistic{})
	fit := &agreed{plan: &partyPlan{Bits: bits, Parties: []int{n}, Radius: radius, Steps: steps}, sums: s, clip: math.Inf(1), asked: asked}
	of := func(w []float64) partyQuestion {
		bound := s.Bounds().normBound(norm(w), math.Inf(1))
		own := (&Parties{Bits: bits}).step(n, bound)
		return partyQuestion{Number: asked + 1, Step: own, Bound: bound / own, Weights: w}
	}
	inside := of([]float64{0.5, 0})
	number := func(k int) partyQuestion { q := inside; q.Number = k; return q }
	step := func(f float64) partyQuestion { q := inside; q.Step *= f; q.Bound /= f; return q }
	bound := func(f float64) partyQuestion { q := inside; q.Bound *= f; return q }
	for name, c := range map[string]struct {
		q     partyQuestion
		taken bool
	}{
		"inside": {inside, true}, "the last number": {number(asked), false}, "the number after": {number(asked + 2), false},
		"as long": {of([]float64{radius, 0}), true}, "a rounding longer": {of([]float64{radius * (1 + 5e-10), 0}), true}, "longer": {of([]float64{radius * (1 + 2e-9), 0}), false},
		"one weight": {of([]float64{0.5}), false}, "three weights": {of([]float64{0.5, 0, 0}), false}, "no numbers": {of([]float64{math.NaN(), 0}), false},
		"half a step": {step(0.5), true}, "two steps": {step(2), true}, "a quarter": {step(0.25), false}, "four steps": {step(4), false},
		"another step": {step(1 + 0x1p-52), false}, "a step down": {step(-1), false},
		"more": {bound(1 + 5e-10), true}, "less": {bound(1 - 5e-10), true}, "too much": {bound(1 + 2e-9), false}, "too little": {bound(1 - 2e-9), false},
		"no bound": {bound(math.NaN()), false}, "a bound below": {bound(-1), false},
	} {
		if err := fit.takes(&c.q); (err == nil) != c.taken || err != nil && !errors.Is(err, check.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	asks := number(asked + 1)
	if asks.Asked = []byte{0}; fit.takes(&asks) == nil {
		t.Error("a sum was taken in a fit of gradients")
	}
	sums, plan := *fit, *fit.plan
	plan.Numbers, sums.plan = 1, &plan
	for _, asked := range [][]byte{nil, {0}} { // a gradient, or a sum with weights
		q := inside
		if q.Asked = asked; sums.takes(&q) == nil {
			t.Errorf("weights were taken in a fit of sums, beside %d bytes", len(asked))
		}
	}
	fit.asked = steps - 1
	last := number(steps)
	if err := fit.takes(&last); err != nil {
		t.Error("the last one:", err)
	}
	fit.asked = steps
	for _, k := range []int{steps, steps + 1} {
		beyond := number(k)
		if err := fit.takes(&beyond); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%d of %d: %v", k, steps, err)
		}
	}
}

// A plan is taken up to the ends of what each of its numbers may be, and refused beyond.
func TestPlansAreTakenUpToTheirEnds(t *testing.T) {
	loss, err := encodeLoss(losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	gradients := partyPlan{Bits: 64, Parties: []int{2, 3}, Rows: encoding.NewIdentity(2, 1, false), Loss: loss, Labels: [2]float64{0, 1}, Radius: 1, Steps: 2, Mu: 1}
	sums := gradients
	sums.Radius, sums.Numbers = 0, 7
	class := gradients
	class.Classes, class.Class = 3, new(int)
	every := sums
	every.Classes = 3
	tiny := math.SmallestNonzeroFloat64
	bits := func(q *partyPlan, v float64) { q.Bits = int(v) }
	steps := func(q *partyPlan, v float64) { q.Steps = int(v) }
	numbers := func(q *partyPlan, v float64) { q.Numbers = int(v) }
	clip := func(q *partyPlan, v float64) { q.Clip = &v }
	radius := func(q *partyPlan, v float64) { q.Radius = v }
	classes := func(q *partyPlan, v float64) { q.Classes = int(v) }
	which := func(q *partyPlan, v float64) { k := int(v); q.Class = &k }
	party := func(q *partyPlan, v float64) { q.Parties = []int{2, int(v)} }
	for _, c := range []struct {
		name           string
		of             partyPlan
		set            func(*partyPlan, float64)
		taken, refused []float64
	}{
		{"bits", gradients, bits, []float64{24, 25, 63, 64}, []float64{23, 65, 0, -64}},
		{"steps", gradients, steps, []float64{1, 2, 1e9}, []float64{0, -1}},
		{"numbers", sums, numbers, []float64{1, 1<<22 - 1, 1 << 22}, []float64{0, -1, 1<<22 + 1}},
		{"clip", gradients, clip, []float64{tiny, 1}, []float64{0, -tiny, math.NaN()}},
		{"clip of sums", sums, clip, nil, []float64{tiny, 1}},
		{"radius", gradients, radius, []float64{1e-9, 1}, []float64{0, -1, math.NaN(), math.Inf(1)}},
		{"radius of sums", sums, radius, []float64{0}, []float64{tiny, -tiny, 1, math.NaN()}},
		{"classes of one", class, classes, []float64{2, 3, 999, 1000}, []float64{0, 1, -2, 1001}},
		{"classes of all", every, classes, []float64{0, 2, 1000}, []float64{1, -1, 1001}},
		{"class", class, which, []float64{0, 1, 2}, []float64{-1, 3}},
		{"rows", gradients, party, []float64{1, 2, math.MaxInt32 - 2}, []float64{0, -1, math.MaxInt32 - 1}},
	} {
		for k, v := range slices.Concat(c.taken, c.refused) {
			q := c.of
			c.set(&q, v)
			if _, err := q.check(); (err == nil) != (k < len(c.taken)) || err != nil && !errors.Is(err, check.ErrConfig) && !errors.Is(err, check.ErrShape) {
				t.Errorf("%s of %g: %v", c.name, v, err)
			}
		}
	}
	counts, err := encodeLoss(losses.Poisson{})
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(q *partyPlan){
		"no loss": func(q *partyPlan) { q.Loss = nil }, "an unknown loss": func(q *partyPlan) { q.Loss = []byte(`{"type":"none of these"}`) },
		"counts for classes": func(q *partyPlan) { q.Loss = counts }, "no parties": func(q *partyPlan) { q.Parties = nil },
		"no columns": func(q *partyPlan) { q.Rows.Columns = 0 }, "no noise": func(q *partyPlan) { q.Mu = math.NaN() }, "no class": func(q *partyPlan) { q.Class = nil },
	} {
		q := class
		spoil(&q)
		if _, err := q.check(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	// Sums of so many rows leave each of them ten bits, beside the sign and one more.
	for _, bits := range []int{24, 32, 40} {
		q := gradients
		q.Bits, q.Parties = bits, []int{1 << (bits - 2 - 10)}
		if _, err := q.check(); err != nil {
			t.Errorf("%d bits: %v", bits, err)
		}
		q.Parties[0]++
		if _, err := q.check(); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%d bits, a row more: %v", bits, err)
		}
	}
}
