package questions

import (
	"context"
	"encoding/gob"
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// offsets are what rows' scores have beside their weights'; nil if all are 0.
type offsets []float64

// at is row i's.
func (o offsets) at(i int) float64 {
	if o == nil {
		return 0
	}
	return o[i]
}

// add adds those of the rows from lo on to scores.
func (o offsets) add(z []float64, lo int) {
	if o == nil {
		return
	}
	for k, offset := range o[lo : lo+len(z)] {
		z[k] += offset
	}
}

// Totals are the sum of the rows' shares, and of shares times a number within ±1: the offset
// over its bound, or for counts and amounts the exposure whose logarithm it is, over the
// largest one. What a person adds lies in the triangle of 0, (1, 1) and (1, −1), of which a side is 2 long and
// the others √2; without offsets it lies between 0 and (1, 0). Sums of shares are exact, that of offsets rounds.
//
// Where each row is to count, rows' weights over the most rows that a person may have are summed, too, between these,
// and take the place of shares beside offsets. What a person adds is (s, a, ao) with |o| ≤ 1 and 0 ≤ a ≤ s ≤ 1, which lies
// among 0, (1, 0, 0) and (1, 1, ±1): these are at most 2 apart, and √3 from 0, or √2 without offsets.
func (s *Sums) Totals(ctx context.Context) (values []float64, l2 float64, err error) {
	q, square := &totals{}, 1.0
	if o := s.t.Persons; o != nil && o.Each {
		q.Most = o.Most
		square++
	}
	if s.within.Largest() > 0 {
		square++
	}
	values = make([]float64, q.numbers())
	err = s.sum(ctx, values, q)
	moves := 2.0
	if s.t.Persons.Removed() {
		moves = math.Sqrt(square)
	}
	return values, float64(moves*(1+1e-15)) + float64(2.2*encoding.Unit*s.t.Layout.Chain(4)), err
}

// totals asks for Totals.
type totals struct{ Most int }

// numbers is how many there are.
func (q *totals) numbers() int {
	if q.Most > 0 {
		return 3
	}
	return 2
}

func (q *totals) cut(t *rows.Table) rows.Cut { return t.InTiles(q.numbers()) }

func (q *totals) adder(s *Sums) rows.Adder {
	beside, last := exposed(s), q.numbers()-1
	return rows.EachRow(func(i int, sum []float64) {
		share := s.t.Persons.Share(i)
		sum[0] += share
		if q.Most > 0 {
			share = blocks.ShareOf(s.t.Persons.Weight(i), q.Most)
			sum[1] += float64(share)
		}
		sum[last] += float64(share * beside(i))
	})
}

// exposed returns what row i has in Totals beside its share: a number within ±1.
func exposed(s *Sums) func(i int) float64 {
	most := s.within.Largest()
	switch {
	case most == 0:
		return func(int) float64 { return 0 }
	case s.loss.Labels().FromZero():
		return func(i int) float64 { return math.Exp(s.offsets[i] - s.within[1]) }
	}
	return func(i int) float64 { return s.offsets[i] / most }
}

func init() {
	gob.Register(&totals{})
}
