package questions

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// listening are parties in this process, whose last message and sum are kept.
type listening struct {
	inProcess
	message []byte
	sum     []uint64
}

func (l *listening) Sum(ctx context.Context, question []byte) (_ []uint64, err error) {
	l.message = question
	l.sum, err = l.inProcess.Sum(ctx, question)
	return slices.Clone(l.sum), err
}

// partiesWith hold rows that are cut at the given ones, and are told terms.
func partiesWith(t *testing.T, x *mat.Dense, y []float64, cuts []int, enc encoding.Encoding, agree func(Terms) error) (*rows.Table, *listening) {
	t.Helper()
	n, d := x.Dims()
	of, lo, held := &listening{inProcess: inProcess{bits: 64}}, 0, []int{}
	for _, hi := range append(slices.Clone(cuts), n) {
		path := filepath.Join(t.TempDir(), "rows")
		if err := rows.Write(ctx, path, x.Slice(lo, hi, 0, d), y[lo:hi], rows.Owners{}, nil, rows.Range{}); err != nil {
			t.Fatal(err)
		}
		p, err := OpenParty(path, agree, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		of.parties, held, lo = append(of.parties, p), append(held, hi-lo), hi
	}
	table, err := NewParties(Parties{Aggregator: of, Rows: held, Bits: of.bits}, enc)
	if err != nil {
		t.Fatal(err)
	}
	return table, of
}

// classOfParties asks the parties for a class's gradient against the rest, by a fit of one question.
func classOfParties(table *rows.Table, loss losses.Loss, of Descent, class int, w []float64) (g []float64, agreed *Sums, err error) {
	if class >= 0 {
		table = table.Against(class)
	}
	s, err := NewSums(table, nil, 0, 1, loss)
	if err != nil {
		return nil, nil, err
	}
	of.Steps, of.Radius, of.Mu = max(of.Steps, 1), math.Max(norm(w), 1), 1
	t, err := Agree(ctx, s, of)
	if err != nil {
		return nil, nil, err
	}
	as := *s
	as.t = t
	g = make([]float64, len(w))
	return g, &as, as.Gradient(ctx, g, w, of.Clip)
}

// against are labels of a class against the rest.
func against(y []float64, class int) []float64 {
	one := make([]float64, len(y))
	for i, v := range y {
		if v == float64(class) {
			one[i] = 1
		}
	}
	return one
}

// Three parties' sums for a class are those of one party, to the last bit, and those of the rows
// with labels of that class against the rest, up to the rounding to integers. Parties are told
// the class, and the classes.
func TestPartiesOfAClass(t *testing.T) {
	const n, d, k = 300, 3, 4
	r := rand.New(rand.NewPCG(91, 1))
	x, y := randomMatrix(r, n, d, 1), make([]float64, n)
	for i := range y {
		y[i] = float64(r.IntN(k))
	}
	for name, enc := range map[string]encoding.Encoding{"bounds": encoding.NewIdentity(d, 1, true), "schema": affine(t, d, true)} {
		var told []Terms
		agree := func(of Terms) error { told = append(told, of); return nil }
		one, heardOne := partiesWith(t, x, y, nil, enc, agree)
		three, heardThree := partiesWith(t, x, y, []int{40, 170}, enc, agree)
		w := randomVector(r, enc.Dim(), 1)
		for _, loss := range []losses.Loss{losses.Logistic{}, losses.Hinge{}} {
			for class := range k {
				told = nil
				of := Descent{Clip: 0.6, Classes: k}
				a, _, err := classOfParties(one, loss, of, class, w)
				if err != nil {
					t.Fatal(err)
				}
				b, _, err := classOfParties(three, loss, of, class, w)
				if err != nil {
					t.Fatal(err)
				}
				last := len(heardOne.sum) - answerTail
				if !slices.Equal(a, b) || !slices.Equal(heardOne.sum[answerHead:last], heardThree.sum[answerHead:last]) {
					t.Errorf("%s, %s, class %d: %v of one party, %v of three", name, loss.Name(), class, a, b)
				}
				want := make([]float64, len(w))
				if err := sumsOf(t, x, against(y, class), 1, enc, loss).Gradient(ctx, want, w, 0.6); err != nil {
					t.Fatal(err)
				}
				if !(distance(a, want) < 1e-11) || norm(want) < 1 {
					t.Errorf("%s, %s, class %d: %v, in memory %v", name, loss.Name(), class, a, want)
				}
				if len(told) != 4 || told[0].Classes != k || told[0].Class != class || !reflect.DeepEqual(told[1].Loss, loss) {
					t.Errorf("told were %+v", told)
				}
			}
		}
	}
}

// A party whose labels aren't classes refuses a fit of one before it agrees to it, whatever the
// class, and so does one that others of the classes would be left out of. Labels as they are, and
// the rest of what it holds, are as before.
func TestPartiesCheckClasses(t *testing.T) {
	const n, d = 60, 2
	x := randomMatrix(rand.New(rand.NewPCG(92, 1)), n, d, 1)
	enc, w := encoding.NewIdentity(d, 1, false), make([]float64, d)
	for name, c := range map[string]struct {
		label float64
		of    Descent
		class int
		want  error
	}{
		"three":             {2, Descent{Classes: 3}, 1, nil},
		"a class more":      {3, Descent{Classes: 3}, 1, check.ErrLabel},
		"below 0":           {-1, Descent{Classes: 3}, 0, check.ErrLabel},
		"half a class":      {0.5, Descent{Classes: 3}, 2, check.ErrLabel},
		"two of three":      {2, Descent{Classes: 2}, 1, check.ErrLabel},
		"as they are":       {1, Descent{}, -1, nil},
		"three as they are": {2, Descent{}, -1, check.ErrLabel},
		"no classes":        {2, Descent{}, 1, check.ErrConfig},
		"no class":          {2, Descent{Classes: 3}, -1, check.ErrConfig},
		"beyond":            {2, Descent{Classes: 3}, 3, check.ErrConfig},
		"one class":         {0, Descent{Classes: 1}, 0, check.ErrConfig},
		"very many":         {0, Descent{Classes: 1001}, 0, check.ErrConfig},
	} {
		y := alternating(n)
		y[n-3] = c.label // the last party's
		agreed := make([]int, 2)
		table, of := partiesWith(t, x, y, []int{20}, enc, func(terms Terms) error {
			if terms.Classes != c.of.Classes || terms.Class != max(c.class, 0) {
				t.Errorf("%s: told %+v", name, terms)
			}
			agreed[1]++
			return nil
		})
		of.parties[0].agree = func(Terms) error { agreed[0]++; return nil }
		c.of.Clip = math.Inf(1)
		_, _, err := classOfParties(table, losses.Logistic{}, c.of, c.class, w)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if c.want != nil && agreed[1] != 0 || c.want == check.ErrConfig && (agreed[0] != 0 || of.message != nil) || c.want == nil && !slices.Equal(agreed, []int{1, 1}) {
			t.Errorf("%s: agreed %d times, asked %s", name, agreed, of.message)
		}
		if c.want == check.ErrLabel && len(of.parties[1].fits) != 0 {
			t.Errorf("%s: the fit goes on", name)
		}
	}
}

// A plan with a class that isn't one, or with a loss of other labels, is refused and ends all fits;
// one without says nothing of classes, as before there were any.
func TestPartyRefusesClasses(t *testing.T) {
	const n, d = 30, 2
	x, y := randomMatrix(rand.New(rand.NewPCG(93, 1)), n, d, 1), alternating(n)
	told := 0
	table, of := partiesWith(t, x, y, nil, encoding.NewIdentity(d, 1, false), func(Terms) error { told++; return nil })
	plan := func(d Descent, class int) (message []byte) {
		d.Steps, d.Clip, d.Radius, d.Mu = 2, 0.5, 1, 1
		tbl := table
		if class >= 0 {
			tbl = table.Against(class)
		}
		s, err := NewSums(tbl, nil, 0, 1, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Agree(ctx, s, d); err != nil {
			t.Fatal(err)
		}
		return of.message
	}
	plain, ofClass := plan(Descent{}, -1), plan(Descent{Classes: 2}, 0)
	if strings.Contains(string(plain), "class") || !strings.Contains(string(ofClass), `"classes":2,"class":0`) {
		t.Errorf("plans are %s and %s", plain, ofClass)
	}
	p := of.parties[0]
	for _, fields := range []string{`"classes":2,"class":2`, `"classes":2,"class":-1`, `"classes":2`, `"class":0`, `"classes":1,"class":0`, `"classes":0,"class":0`, `"classes":-3,"class":0`,
		`"classes":1001,"class":0`, `"classes":2,"class":null`, `"classes":2,"class":0.5`, `"classes":"2","class":0`} {
		if _, err := p.Answer(ctx, ofClass); err != nil || len(p.fits) == 0 {
			t.Fatal(err)
		}
		told = 0
		if a, err := p.Answer(ctx, []byte(strings.Replace(string(ofClass), `"classes":2,"class":0`, fields, 1))); !errors.Is(err, check.ErrConfig) || a != nil || told != 0 || len(p.fits) != 0 {
			t.Errorf("%s: %v, told %d times, %d fits go on (%v)", fields, a, told, len(p.fits), err)
		}
	}
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Poisson{}} {
		var m partyMessage
		if err := json.Unmarshal(ofClass, &m); err != nil {
			t.Fatal(err)
		}
		raw, err := encodeLoss(loss)
		if err != nil {
			t.Fatal(err)
		}
		m.Plan.Loss, told = raw, 0
		message, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := p.Answer(ctx, message); !errors.Is(err, check.ErrConfig) || told != 0 {
			t.Errorf("%s: %v, told %d times (%v)", loss.Name(), a, told, err)
		}
	}
}

// What is agreed to is for one class: rows of another one, of none, and some of them are refused.
func TestPartiesAgreeToOneClass(t *testing.T) {
	const n, d = 30, 2
	x, y := randomMatrix(rand.New(rand.NewPCG(94, 1)), n, d, 1), alternating(n)
	table, _ := partiesWith(t, x, y, []int{9}, encoding.NewIdentity(d, 1, false), func(Terms) error { return nil })
	g, s, err := classOfParties(table, losses.Logistic{}, Descent{Steps: 9, Clip: 0.5, Classes: 2}, 1, make([]float64, d))
	if err != nil {
		t.Fatal(err)
	}
	if s.t.Place.Class != 1 {
		t.Errorf("agreed is class %d", s.t.Place.Class)
	}
	for name, of := range map[string]*rows.Table{"another": s.t.Against(0), "the same": s.t.Against(1), "some": s.t.Pick([]int{3, 4}), "rebound": s.t.Rebound(0.5, 0), "of all": table} {
		other := *s
		other.t = of
		if err := other.Gradient(ctx, g, make([]float64, d), 0.5); err != errParties {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Gradient(ctx, g, make([]float64, d), 0.5); err != nil {
		t.Error(err)
	}
	rebound, agreed, err := classOfParties(table.Against(1).Rebound(0.5, 0), losses.Logistic{}, Descent{Clip: math.Inf(1), Classes: 2}, -1, make([]float64, d))
	want := make([]float64, d)
	if e := sumsOf(t, x, against(y, 1), 1, encoding.NewIdentity(d, 0.5, false), losses.Logistic{}).Gradient(ctx, want, make([]float64, d), math.Inf(1)); e != nil {
		t.Fatal(e)
	}
	if err != nil || agreed.t.Place.Class != 1 || !(distance(rebound, want) < 1e-11) {
		t.Errorf("bounded rows of a class: %v, want %v (%v)", rebound, want, err)
	}
	classes, err := NewClasses(ctx, table, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := classes.Counts(ctx, whole); err != errParties {
		t.Errorf("counts of classes: %v", err)
	}
}

// A replaced row, of any features and class, moves the parties' sum for a class by no more than the
// declared sensitivity, and one that leaves the class by nearly that.
func TestPartiesSensitivityOfAClass(t *testing.T) {
	const n, d, k = 40, 3, 3
	r := rand.New(rand.NewPCG(95, 1))
	for _, clip := range []float64{math.Inf(1), 0.25} {
		most := 0.0
		for trial := range 12 {
			x, y := randomMatrix(r, n, d, 1), make([]float64, n)
			for i := range y {
				y[i] = float64(r.IntN(k))
			}
			enc := encoding.NewIdentity(d, 1, trial%2 == 0)
			w := make([]float64, enc.Dim())
			if trial > 5 {
				w = randomVector(r, enc.Dim(), 1)
			}
			var sums [2][]float64
			var declared float64
			for side := range sums {
				y[n/2] = float64((1 + side + trial%2*r.IntN(2)) % k)
				for j, v := range []float64{0.6, -0.64, 0.48} {
					x.Set(n/2, j, v*1000)
					if trial > 3 {
						x.Set(n/2, j, 3*r.NormFloat64())
					}
				}
				table, _ := partiesWith(t, x, y, []int{1 + r.IntN(n/2), n/2 + 1 + r.IntN(n/2-2)}, enc, func(Terms) error { return nil })
				g, s, err := classOfParties(table, losses.Logistic{}, Descent{Clip: clip, Classes: k}, 1, w)
				if err != nil {
					t.Fatal(err)
				}
				sums[side], declared = g, s.Bounds().GradientSensitivity(norm(w), clip)
			}
			moved := distance(sums[0], sums[1])
			if most = math.Max(most, moved/declared); moved > declared {
				t.Errorf("clip %g: moved by %g, declared %g", clip, moved, declared)
			}
		}
		if most < 0.98 {
			t.Errorf("clip %g: moved by %g of what is declared at most", clip, most)
		}
	}
}
