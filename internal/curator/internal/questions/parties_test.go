package questions

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// inProcess adds up the answers of parties in this process.
type inProcess struct {
	parties []*Party
	bits    int
}

func (a inProcess) Sum(ctx context.Context, question []byte) ([]uint64, error) {
	var sum []uint64
	for _, s := range a.parties {
		answer, err := s.Answer(ctx, question)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = make([]uint64, len(answer))
		}
		for j, v := range answer {
			sum[j] = (sum[j] + v) & mask(a.bits)
		}
	}
	return sum, nil
}

// heldBy are sums over rows that two parties hold, the first of which has so many.
func heldBy(t *testing.T, x *mat.Dense, y []float64, first, bits int, enc encoding.Encoding, loss losses.Loss) *Sums {
	t.Helper()
	n, d := x.Dims()
	of := inProcess{bits: bits}
	for _, part := range [][2]int{{0, first}, {first, n}} {
		path := filepath.Join(t.TempDir(), "rows")
		if err := rows.Write(ctx, path, x.Slice(part[0], part[1], 0, d), y[part[0]:part[1]], rows.Owners{}, nil, rows.Range{}); err != nil {
			t.Fatal(err)
		}
		s, err := OpenParty(path, func(Terms) error { return nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		of.parties = append(of.parties, s)
	}
	table, err := NewParties(Parties{Aggregator: of, Rows: []int{first, n - first}, Bits: bits}, enc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSums(table, nil, 0, 1, loss)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// agreedGradient is Gradient of a fit of one question, where parties hold the rows.
func agreedGradient(s *Sums, dst, w []float64, clip float64) error {
	t, err := Agree(ctx, s, Descent{Steps: 1, Clip: clip, Radius: math.Max(norm(w), 1), Mu: 1})
	if err != nil {
		return err
	}
	of := *s
	of.t = t
	return of.Gradient(ctx, dst, w, clip)
}

// Rounding is in the sensitivity: by as many steps as it can bring two gradients apart.
func TestPartiesSensitivityHasSteps(t *testing.T) {
	const n, d = 40, 3
	x, y, enc := randomMatrix(rand.New(rand.NewPCG(53, 54)), n, d, 1), make([]float64, n), encoding.NewIdentity(d, 1, false)
	memory, err := rows.NewTable(x, enc)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := NewSums(memory, y, 0, 1, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	parties := heldBy(t, x, y, 3, 24, enc, losses.Logistic{})
	for _, clip := range []float64{math.Inf(1), 0.25} {
		more := parties.Bounds().GradientSensitivity(0, clip) - sums.Bounds().GradientSensitivity(0, clip)
		if step := partiesOf(parties.t).step(n, parties.Bounds().normBound(0, clip)); !(step > 1e-7) || more < math.Sqrt(d)*step*(1-1e-6) {
			t.Errorf("clip %g: %g more than in memory, steps are %g", clip, more, step)
		}
	}
}

// A sum that two rows bring apart by one step may come further apart when it becomes a float64,
// which 2^61 and 256 steps, and one step more, do by 512 steps.
func TestPartiesSensitivityHasTheSumsRounding(t *testing.T) {
	const n = 1000
	enc, question := encoding.NewIdentity(1, 1, false), []byte("a question")
	table, err := NewParties(Parties{Rows: []int{n}, Bits: 64}, enc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSums(table, nil, 0, 1, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	p := partiesOf(table)
	q := &partyQuestion{Step: p.step(n, s.Bounds().normBound(0, math.Inf(1)))}
	answer := func(v uint64) []uint64 {
		head := []uint64{1, n, mark(question, 64), v}
		return append(head, checksum(question, head, 64))
	}
	var sums [2][1]float64
	for k := range sums {
		v := uint64(1<<61) + 256 + uint64(k)
		if most := n * s.Bounds().normBound(0, math.Inf(1)) / q.Step; float64(v) > most {
			t.Fatalf("%d steps, of %g that rows can have", v, most)
		}
		if err := p.read(sums[k][:], answer(v), q.Step, s.Bounds().normBound(0, math.Inf(1))/q.Step, question); err != nil {
			t.Fatal(err)
		}
	}
	apart, declared := sums[1][0]-sums[0][0], summingOf(table).rounding(s.Bounds(), 0, math.Inf(1))
	if apart < 500*q.Step || declared < apart || declared > 3*apart {
		t.Errorf("one step more is %g more, declared %g", apart, declared)
	}
}

// Parties answer for all their rows, as they have them: they aren't asked for some of these, for
// others that are made of them, or for shares of persons.
func TestPartiesAnswerForAllRows(t *testing.T) {
	const n, d = 40, 3
	s := heldBy(t, randomMatrix(rand.New(rand.NewPCG(71, 72)), n, d, 1), make([]float64, n), 7, 64, encoding.NewIdentity(d, 1, false), losses.Logistic{})
	all, every := make([]int, n), make([]int, n)
	for i := range all {
		all[i], every[i] = i, i*7%n
	}
	owned, _, err := rows.Own(s.t, rows.Owners{Weights: make([]float64, n), Heavy: 1})
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, d)
	of, err := Agree(ctx, s, Descent{Steps: 20, Clip: 0.5, Radius: 1, Mu: 1})
	if err != nil {
		t.Fatal(err)
	}
	agreed := *s
	agreed.t = of
	if err := agreed.Gradient(ctx, g, make([]float64, d), 0.5); err != nil {
		t.Fatal(err)
	}
	if err := s.Gradient(ctx, g, make([]float64, d), 0.5); err != errParties {
		t.Errorf("nothing agreed: %v", err)
	}
	if err := agreed.Gradient(ctx, g, make([]float64, d), 0.4); err != errParties {
		t.Errorf("another clip: %v", err)
	}
	s = &agreed
	for name, table := range map[string]*rows.Table{
		"some": s.t.Pick(all[3:20]), "others": s.t.Pick([]int{5, 3}), "reordered": s.t.Pick(every), "rebound": s.t.Rebound(0.5, 0),
		"weighted": owned, "class": s.t.Against(1),
	} {
		of := *s
		of.t = table
		if err := of.Gradient(ctx, g, make([]float64, d), 0.5); err != errParties {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A replaced row moves the parties' sum by no more than the declared sensitivity, whatever the
// modulus, and the worst two by no less than rounding to integers leaves of it: rows at the
// bound in one direction, of opposite labels.
func TestPartiesSensitivity(t *testing.T) {
	const n, d = 40, 3
	r := rand.New(rand.NewPCG(51, 52))
	direction := []float64{0.6, -0.64, 0.48}
	for _, bits := range []int{24, 64} {
		for _, clip := range []float64{math.Inf(1), 0.25} {
			for name, enc := range map[string]encoding.Encoding{"bounds": encoding.NewIdentity(d, 1, false), "intercept": encoding.NewIdentity(d, 1, true), "schema": affine(t, d, true)} {
				w := make([]float64, enc.Dim())
				var most float64
				for trial := range 5 {
					var sums [2][]float64
					x, y := randomMatrix(r, n, d, 1), make([]float64, n)
					var declared float64
					for k := range sums {
						for j, v := range direction {
							x.Set(n/2, j, v*1000)
							if trial > 0 {
								x.Set(n/2, j, r.NormFloat64())
							}
						}
						y[n/2] = float64(k)
						s := heldBy(t, x, y, 1+r.IntN(n-1), bits, enc, losses.Logistic{})
						sums[k], declared = make([]float64, s.Dim()), s.Bounds().GradientSensitivity(norm(w), clip)
						if err := agreedGradient(s, sums[k], w, clip); err != nil {
							t.Fatal(err)
						}
					}
					moved := 0.0
					for j := range sums[0] {
						moved = math.Hypot(moved, sums[0][j]-sums[1][j])
					}
					if most = math.Max(most, moved/declared); moved > declared {
						t.Fatalf("%d bits, clip %g, %s: moved by %g, declared %g", bits, clip, name, moved, declared)
					}
				}
				// At a score of 0 a gradient is half of its row, which the clip of 0.25 halves again.
				if least := 0.98; name == "bounds" && most < least || bits == 64 && name != "schema" && most < 1-1e-6 {
					t.Errorf("%d bits, clip %g, %s: moved by %g of what is declared at most", bits, clip, name, most)
				}
			}
		}
	}
}

// Integers of any row, with any weights, are no longer than the question's bound, and none is
// left out for being longer.
func TestPartiesIntegersAreBounded(t *testing.T) {
	const d = 5
	r := rand.New(rand.NewPCG(61, 62))
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Poisson{}, losses.Squared{}, losses.Hinge{}} {
		for _, enc := range []encoding.Encoding{encoding.NewIdentity(d, 2, true), affine(t, d, true)} {
			for range 5 {
				x, y := randomMatrix(r, 60, d, 3), make([]float64, 60)
				for i := range y {
					y[i] = float64(r.IntN(2))
				}
				w := randomVector(r, enc.Dim(), 3)
				memory := sumsOf(t, x, y, 1, enc, loss)
				s := heldBy(t, x, y, 20, 64, enc, loss)
				for _, clip := range []float64{math.Inf(1), 0.1} {
					want, got := make([]float64, s.Dim()), make([]float64, s.Dim())
					if err := memory.Gradient(ctx, want, w, clip); err != nil {
						t.Fatal(err)
					}
					if err := agreedGradient(s, got, w, clip); err != nil {
						t.Fatal(err)
					}
					for j := range got {
						if math.Abs(got[j]-want[j]) > 1e-11 {
							t.Fatalf("%s: %v, want %v", loss.Name(), got, want)
						}
					}
				}
			}
		}
	}
	q := &partyQuestion{Step: 0.25, Bound: 5}
	a := &integers{sum: make([]uint64, 2)}
	a.take([]float64{3, -4}, 0.31, q) // 0.93 and −1.24: 3 and −4 steps
	a.take([]float64{3, -4}, 0.42, q) // 5 and −6, too long
	a.take([]float64{math.NaN(), 1}, 0.1, q)
	if sum := a.sum; sum[0] != 3 || int64(sum[1]) != -4 {
		t.Errorf("%d, %d", sum[0], int64(sum[1]))
	}
}

// Parties hold labels to their range, as rows in memory have them, whatever they are: one that
// held them to twice of it would leave rows out, or add more of them than the bound.
func TestPartiesClampLabels(t *testing.T) {
	const n, d, centre, bound = 60, 3, 0.25, 0.5
	r := rand.New(rand.NewPCG(63, 64))
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Huber{Kappa: 0.3}, losses.Poisson{}} {
		x, y, w, enc := randomMatrix(r, n, d, 1), make([]float64, n), randomVector(r, d, 1), encoding.NewIdentity(d, 1, false)
		for i := range y {
			if y[i] = float64(i%9) / 3; loss.Labels() == losses.Real {
				y[i]--
			}
		}
		memory, err := rows.NewTable(x, enc)
		if err != nil {
			t.Fatal(err)
		}
		sums, err := NewSums(memory, y, centre, bound, loss)
		if err != nil {
			t.Fatal(err)
		}
		parties := heldBy(t, x, y, 20, 64, enc, loss)
		parties.labelCentre, parties.labelBound = centre, bound
		for _, clip := range []float64{math.Inf(1), 0.6} {
			want, got := make([]float64, d), make([]float64, d)
			if err := sums.Gradient(ctx, want, w, clip); err != nil {
				t.Fatal(err)
			}
			if err := agreedGradient(parties, got, w, clip); err != nil {
				t.Fatal(err)
			}
			for j := range got {
				if math.Abs(got[j]-want[j]) > 1e-11 {
					t.Fatalf("%s, clip %g: %v, want %v", loss.Name(), clip, got, want)
				}
			}
		}
	}
}

// silent is an aggregator that counts what it is asked, and has no answer.
type silent struct{ asked *int }

func (s silent) Sum(context.Context, []byte) ([]uint64, error) {
	*s.asked++
	return nil, errors.New("nobody answers")
}

// A question that no text holds isn't asked, and one that nobody answers is an error.
func TestPartiesAskWhatTextHolds(t *testing.T) {
	asked := 0
	p := &Parties{Aggregator: silent{&asked}, Bits: 64, Rows: []int{1, 1}}
	for _, c := range []struct {
		weight float64
		asks   int
		kind   error
	}{{math.Inf(1), 0, check.ErrConfig}, {math.NaN(), 0, check.ErrConfig}, {1, 1, nil}} {
		asked = 0
		_, err := p.ask(ctx, make([]float64, 1), partyMessage{Question: &partyQuestion{Weights: []float64{c.weight}}})
		if err == nil || asked != c.asks || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("a weight of %g: asked %d times, %v", c.weight, asked, err)
		}
	}
}

// Around the ring of integers a folded number is what it is within what rows can come to, never beyond that, and moves by no more than 1 from one integer to the next, past
// the middle and the end, too.
func TestFoldOfEachInteger(t *testing.T) {
	const bits = 6
	for _, most := range []uint64{1, 4, 1 << (bits - idleBits)} {
		last := fold(-1<<(bits-1), most, bits)
		if first := fold(1<<(bits-1)-1, most, bits); first-last > 1 || last-first > 1 {
			t.Errorf("%d at most: %d and %d at both ends", most, first, last)
		}
		for v := int64(-1 << (bits - 1)); v < 1<<(bits-1); v++ {
			size, got := max(v, -v), fold(v, most, bits)
			if size <= int64(most) && got != v || max(got, -got) > int64(most) || got-last > 1 || last-got > 1 {
				t.Errorf("%d at most: %d is %d, after %d", most, v, got, last)
			}
			last = got
		}
	}
}
