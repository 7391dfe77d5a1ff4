package questions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/losses"
)

// carried is an engine in this process that takes all replies first and hands over what carry makes of
// them.
type carried struct {
	here
	carry *func(replies [][]byte) [][]byte
	asked *int // questions with replies that carry changed
}

func (c carried) Ask(ctx context.Context, question []byte, pieces int, take func(io.Reader) error) error {
	var replies [][]byte
	for k := range pieces {
		r, err := Reply(ctx, question, k)
		if err != nil {
			return err
		}
		replies = append(replies, r)
	}
	if *c.carry != nil {
		replies = (*c.carry)(replies)
		*c.asked++
	}
	for _, r := range replies {
		if err := take(bytes.NewReader(r)); err != nil {
			return err
		}
	}
	return nil
}

// resealed is a reply whose byte numbers at a place are others, under a checksum that is right: as a
// worker sends it that is wrong, and not one whose reply was damaged on the way.
func resealed(reply []byte, change func(body []byte) []byte) []byte {
	return summed(change(slices.Clone(reply[:len(reply)-sha256.Size])))
}

// counting adds to a number of a reply.
func counting(reply []byte, at int, more uint64) []byte {
	return resealed(reply, func(b []byte) []byte {
		binary.LittleEndian.PutUint64(b[at:], binary.LittleEndian.Uint64(b[at:])+more)
		return b
	})
}

// faultyReplies are the ways in which a transport or a worker may go wrong, with every worker's replies or
// one of them: the first, the last, one within.
func faultyReplies(pieces int) map[string]func([][]byte) [][]byte {
	all := map[string]func([][]byte) [][]byte{
		"none":        func([][]byte) [][]byte { return nil },
		"reversed":    func(r [][]byte) [][]byte { slices.Reverse(r); return r },
		"all twice":   func(r [][]byte) [][]byte { return append(r, r...) },
		"one is left": func(r [][]byte) [][]byte { return r[:1] },
	}
	const piece, counted = sha256.Size, sha256.Size + 8
	for k := range pieces {
		one := func(name string, change func(reply []byte) []byte) {
			all[fmt.Sprintf("%s %d", name, k)] = func(r [][]byte) [][]byte { r[k] = change(r[k]); return r }
		}
		one("a row fewer in", func(r []byte) []byte { return counting(r, counted, math.MaxUint64) })
		one("a row more in", func(r []byte) []byte { return counting(r, counted, 1) })
		one("no rows in", func(r []byte) []byte {
			return resealed(r, func(b []byte) []byte { clear(b[counted : counted+8]); return b })
		})
		one("the number before of", func(r []byte) []byte { return counting(r, piece, math.MaxUint64) })
		one("the number after of", func(r []byte) []byte { return counting(r, piece, 1) })
		one("another question of", func(r []byte) []byte { return counting(r, 0, 1) })
		one("a number fewer in", func(r []byte) []byte { return resealed(r, func(b []byte) []byte { return b[:len(b)-8] }) })
		one("a number more in", func(r []byte) []byte {
			return resealed(r, func(b []byte) []byte { return append(b, make([]byte, 8)...) })
		})
		one("no checksum of", func(r []byte) []byte { return r[:len(r)-sha256.Size] })
		one("a byte fewer in", func(r []byte) []byte { return r[:len(r)-1] })
		one("a byte more in", func(r []byte) []byte { return append(slices.Clone(r), 0) })
		one("nothing in", func([]byte) []byte { return nil })
		one("half of", func(r []byte) []byte { return r[:len(r)/2] })
		one("a change of", func(r []byte) []byte { r[len(r)-sha256.Size-1] ^= 1; return r })
		all[fmt.Sprintf("without %d", k)] = func(r [][]byte) [][]byte { return slices.Delete(r, k, k+1) }
		all[fmt.Sprintf("twice, at once, %d", k)] = func(r [][]byte) [][]byte { return slices.Insert(r, k, r[k]) }
		all[fmt.Sprintf("again at the end %d", k)] = func(r [][]byte) [][]byte { return append(r, r[k]) }
		all[fmt.Sprintf("instead of the next %d", k)] = func(r [][]byte) [][]byte { r[(k+1)%pieces] = r[k]; return r }
	}
	return all
}

// Whatever a transport loses, doubles, mixes or cuts, and whatever a worker says that counted other rows, the
// sum is refused, as one of a damaged file, with words that don't depend on rows: both are tried on tables whose
// rows and labels are all different.
func TestFaultyRepliesAreRefused(t *testing.T) {
	const n, d, pieces = 3*4096 + 1, 3, 3 // several blocks
	said := map[string]string{}
	for _, seed := range []uint64{81, 82} {
		var carry func([][]byte) [][]byte
		asked := 0
		engine := carried{here{t.TempDir()}, &carry, &asked}
		r := rand.New(rand.NewPCG(seed, 1))
		y := make([]float64, n)
		for i := range y {
			y[i] = float64(r.IntN(2))
		}
		f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), randomMatrix(r, n, d, 1), y)
		table, err := NewRemote(ctx, f, encoding.NewIdentity(d, 1, false), engine)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSums(table, nil, 0, 1, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		questions := map[string]func() error{
			"gradient": func() error { return s.Gradient(ctx, make([]float64, d), make([]float64, d), 1) },
			"labels":   func() error { _, _, err := s.LabelSum(ctx); return err },
		}
		for what, ask := range questions {
			carry = nil
			if err := ask(); err != nil {
				t.Fatal(what, err)
			}
			for fault, of := range faultyReplies(pieces) {
				carry, asked = of, 0
				err := ask()
				key := what + ", " + fault
				if asked != 1 || !errors.Is(err, check.ErrRowFile) {
					t.Errorf("%s: %d questions, %v", key, asked, err)
				} else if before, ok := said[key]; ok && before != err.Error() {
					t.Errorf("%s: %q, of other rows %q", key, before, err)
				} else {
					said[key] = err.Error()
				}
			}
		}
	}
	if want := 2 * len(faultyReplies(pieces)); len(said) != want {
		t.Errorf("%d of %d faults were tried", len(said), want)
	}
}

// mixing is an aggregator that adds up other answers than it should, by mix.
type mixing struct {
	inProcess
	mix *func(answers [][]uint64, message []byte) [][]uint64
}

func (a mixing) Sum(ctx context.Context, message []byte) ([]uint64, error) {
	var answers [][]uint64
	for _, p := range a.parties {
		of, err := p.Answer(ctx, message)
		if err != nil {
			return nil, err
		}
		answers = append(answers, of)
	}
	if *a.mix != nil {
		answers = (*a.mix)(answers, message)
	}
	var sum []uint64
	for _, of := range answers {
		if sum == nil {
			sum = make([]uint64, len(of))
		}
		for j := range min(len(sum), len(of)) {
			sum[j] = (sum[j] + of[j]) & mask(a.bits)
		}
	}
	return sum, nil
}

// faultyAnswers are the ways in which an aggregator, or one party of two, may go wrong.
func faultyAnswers(bits int) map[string]func(answers [][]uint64, message []byte) [][]uint64 {
	type answers = [][]uint64
	all := map[string]func(answers, []byte) answers{
		"none":    func(answers, []byte) answers { return nil },
		"half":    func(a answers, _ []byte) answers { return a[:1] },
		"a third": func(a answers, _ []byte) answers { return append(a, a[1]) },
	}
	// resealed is a whole answer, whose checksum goes with what it says.
	resealed := func(of []uint64, message []byte) []uint64 {
		last := len(of) - answerTail
		of[last] = checksum(message, of[:last], bits)
		return of
	}
	for k := range 2 {
		one := func(name string, change func(of []uint64, message []byte) []uint64) {
			all[fmt.Sprintf("%s %d", name, k)] = func(a answers, m []byte) answers { a[k] = change(a[k], m); return a }
		}
		one("a row fewer of", func(of []uint64, m []byte) []uint64 { of[1]--; return resealed(of, m) })
		one("a row more of", func(of []uint64, m []byte) []uint64 { of[1]++; return resealed(of, m) })
		one("two parties in", func(of []uint64, m []byte) []uint64 { of[0]++; return resealed(of, m) })
		one("no party in", func(of []uint64, m []byte) []uint64 { of[0]--; return resealed(of, m) })
		one("another mark of", func(of []uint64, m []byte) []uint64 { of[2] ^= 1; return resealed(of, m) })
		one("another message's checksum of", func(of []uint64, m []byte) []uint64 { return resealed(of, append(m[:len(m):len(m)], ' ')) })
		for j := range 4 {
			one(fmt.Sprintf("damage at the end − %d of", j), func(of []uint64, _ []byte) []uint64 {
				of[len(of)-1-j] = (of[len(of)-1-j] + 1) & mask(bits)
				return of
			})
		}
		all[fmt.Sprintf("twice %d", k)] = func(a answers, _ []byte) answers { return answers{a[k], a[k]} }
		all[fmt.Sprintf("without %d", k)] = func(a answers, _ []byte) answers { return slices.Delete(a, k, k+1) }
	}
	cut := func(name string, change func(of []uint64) []uint64) {
		all[name] = func(a answers, _ []byte) answers {
			for k := range a {
				a[k] = change(a[k])
			}
			return a
		}
		all[name+", resealed"] = func(a answers, m []byte) answers {
			for k := range a {
				a[k] = resealed(change(a[k]), m)
			}
			return a
		}
	}
	cut("an integer fewer", func(of []uint64) []uint64 { return of[:len(of)-1] })
	cut("an integer more", func(of []uint64) []uint64 { return append(of, 0) })
	cut("heads alone", func(of []uint64) []uint64 { return of[:answerHead] })
	return all
}

// What isn't the sum of each party's answer to this message, over all its rows, is refused, to the plan and to
// questions, with words that don't depend on rows, and leaves no numbers behind.
func TestFaultySumsOfPartiesAreRefused(t *testing.T) {
	const n, d, first = 40, 3, 7
	said := map[string]string{}
	for _, bits := range []int{24, 64} {
		for _, seed := range []uint64{83, 84} {
			r, y := rand.New(rand.NewPCG(seed, 1)), make([]float64, n)
			for i := range y {
				y[i] = float64(r.IntN(2))
			}
			s := heldBy(t, randomMatrix(r, n, d, 1), y, first, bits, encoding.NewIdentity(d, 1, false), losses.Logistic{})
			var mix func([][]uint64, []byte) [][]uint64
			p := partiesOf(s.t)
			p.Aggregator = mixing{p.Aggregator.(inProcess), &mix}
			for fault, of := range faultyAnswers(bits) {
				for _, toPlan := range []bool{true, false} {
					mix = nil
					if toPlan {
						mix = of
					}
					dst := make([]float64, d)
					table, err := Agree(ctx, s, Descent{Steps: 1, Clip: 0.5, Radius: 1, Mu: 1})
					if !toPlan {
						if err != nil {
							t.Fatal(err)
						}
						mix = of
						agreed := *s
						agreed.t = table
						err = agreed.Gradient(ctx, dst, make([]float64, d), 0.5)
					}
					key := fmt.Sprint(bits, " bits, plan ", toPlan, ", ", fault)
					if !errors.Is(err, check.ErrRowFile) || !slices.Equal(dst, make([]float64, d)) {
						t.Errorf("%s: %v, %v", key, err, dst)
					} else if before, ok := said[key]; ok && before != err.Error() {
						t.Errorf("%s: %q, of other rows %q", key, before, err)
					} else {
						said[key] = err.Error()
					}
				}
			}
		}
	}
	if want := 4 * len(faultyAnswers(24)); len(said) != want {
		t.Errorf("%d of %d faults were tried", len(said), want)
	}
}
