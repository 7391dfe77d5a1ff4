package questions

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/losses"
)

// After any number of questions a party answers the next one, whatever it asks, and the last one in its own words, in the same way. Another
// question of the last one's number, of an earlier one or of one beyond the next is refused, and then the last and the next one are, too.
func TestPartiesAnswerEachNumberOnce(t *testing.T) {
	const n, d, steps = 12, 2, 3
	for kind, of := range map[string]Descent{"gradients": {Clip: 0.5, Radius: 1}, "sums": {Clip: math.Inf(1), Numbers: 7}} {
		of.Steps, of.Mu = steps, 1
		table, at := partiesWith(t, randomMatrix(rand.New(rand.NewPCG(95, 96)), n, d, 1), alternating(n), nil, encoding.NewIdentity(d, 1, false), func(Terms) error { return nil })
		s, err := NewSums(table, nil, 0, 1, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		if s.t, err = Agree(ctx, s, of); err != nil {
			t.Fatal(err)
		}
		plan, party := at.message, at.parties[0]
		at.parties = nil // who would answer while messages are made
		message := func(number int, sign float64) []byte {
			partiesOfFit(s).next = number
			w := []float64{0.3 * sign, 0.1 * float64(number)}
			if kind == "gradients" {
				err = s.Gradient(ctx, make([]float64, d), w, of.Clip)
			} else {
				_, _, err = asksOf(Frame{Matrix: mat.NewDense(d, d, []float64{1, 0, 0, 1})}, w)["gradient"](s)
			}
			if err == nil {
				t.Fatal("nobody answers")
			}
			return at.message
		}
		for asked := range steps + 1 {
			for number := 1; number <= steps+1; number++ {
				for _, sign := range []float64{1, -1} {
					name := fmt.Sprintf("%s, %d asked, number %d, sign %g", kind, asked, number, sign)
					party.refuse(ctx, nil)
					var last []uint64
					for k := range asked + 1 { // the plan, and questions from 1 on
						m := plan
						if k > 0 {
							m = message(k, 1)
						}
						if last, err = party.Answer(ctx, m); err != nil {
							t.Fatalf("%s: message %d: %v", name, k, err)
						}
					}
					got, err := party.Answer(ctx, message(number, sign))
					again := number == asked && sign == 1
					if again || number == asked+1 && asked < steps {
						if err != nil || again != slices.Equal(got, last) {
							t.Errorf("%s: %v, after %v (%v)", name, got, last, err)
						}
						continue
					}
					if !errors.Is(err, check.ErrConfig) || got != nil {
						t.Errorf("%s: %v (%v)", name, got, err)
					}
					for _, k := range []int{asked, asked + 1} {
						if a, err := party.Answer(ctx, message(k, 1)); err == nil {
							t.Errorf("%s: number %d is answered afterwards: %v", name, k, a)
						}
					}
				}
			}
		}
	}
}

// partiesOfFit is what the driver knows of the fit.
func partiesOfFit(s *Sums) *agreement { return s.t.Place.Remote.(*parted).agreed }
