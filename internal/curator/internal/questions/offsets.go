package questions

import (
	"context"
	"encoding/gob"
	"math"

	"github.com/dpglm/dpglm/internal/check"
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
// largest one; and of that raised to a power in (0, 1], unless the power is 0. Sums of shares are exact, that of offsets rounds.
//
// Where each row is to count, two more are between these, of rows' weights: of a person's first so many over that number, and
// of all over the most that there may be, which takes the place of shares beside offsets.
//
// What a person adds are m numbers of magnitude 1 at most, so that it is √m long, where they aren't all 0 by construction:
// m is 1, 2 more where each row is to count, and 1 more with offsets, or 2 with a power. All lie between 0 and 1, so that two are √m apart at most as well, but
// for offsets of either sign. With these it lies in the triangle of 0, (1, 1) and (1, −1), of which a side is 2 long and the others √2; or it is
// (s, f, a, ao), where s is 1, but for its rounding, for all who have rows unless these have weights: such are
// at most √6 apart, or √7 with weights. (√5 and √6 would do but for that rounding.)
func (s *Sums) Totals(ctx context.Context, first int, power float64) (values []float64, l2 float64, err error) {
	if !(power >= 0 && power <= 1) {
		return nil, 0, check.Fail(check.ErrConfig, "power of exposures", power, "must be in [0, 1]")
	}
	q, square, apart := &totals{Power: power}, 1.0, 2.0
	if o := s.t.Persons; o != nil && o.Each {
		q.First, q.Most = first, o.Most
		square += 2
		if o.Weighted {
			apart++
		}
	}
	if s.within.Largest() > 0 {
		square++
		if power > 0 {
			square++
		}
		if !s.t.Persons.Removed() && !s.loss.Labels().FromZero() {
			square += apart
		}
	}
	values = make([]float64, q.numbers())
	err = s.sum(ctx, values, q)
	return values, float64(math.Sqrt(square)*(1+1e-15)) + float64(2.2*encoding.Unit*s.t.Layout.Chain(4)), err
}

// totals asks for Totals.
type totals struct {
	First, Most int
	Power       float64
}

// numbers is how many there are.
func (q *totals) numbers() int {
	numbers := 2
	if q.First > 0 {
		numbers += 2
	}
	if q.Power > 0 {
		numbers++
	}
	return numbers
}

func (q *totals) cut(t *rows.Table) rows.Cut { return t.InTiles(q.numbers()) }

func (q *totals) adder(s *Sums) rows.Adder {
	beside, last := exposed(s, 1), q.numbers()-1
	powered := func(int) float64 { return 0 }
	if q.Power > 0 {
		powered = exposed(s, q.Power)
	}
	if q.First == 0 {
		return rows.EachRow(func(i int, sum []float64) {
			share := s.t.Persons.Share(i)
			sum[0] += share
			sum[1] += float64(share * beside(i))
			if last > 1 {
				sum[last] += float64(share * powered(i))
			}
		})
	}
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		open := &a.Opens(1)[0] // whose number of rows it is
		s.t.Persons.Runs(lo, tile.Rows, func(from, to int, ends bool) {
			for i := from; i < to; i++ {
				weight := s.t.Persons.Weight(i)
				a.Sum[0] += s.t.Persons.Share(i)
				if open.Rows++; open.Rows <= q.First {
					a.Sum[1] += float64(blocks.ShareOf(weight, q.First))
				}
				part := blocks.ShareOf(weight, q.Most)
				a.Sum[2] += float64(part)
				a.Sum[3] += float64(part * beside(i))
				if last > 3 {
					a.Sum[last] += float64(part * powered(i))
				}
			}
			if ends {
				open.Rows = 0
			}
		})
	}
}

// exposed returns what row i has in Totals beside its share: a number within ±1.
func exposed(s *Sums, power float64) func(i int) float64 {
	most := s.within.Largest()
	switch {
	case most == 0:
		return func(int) float64 { return 0 }
	case s.loss.Labels().FromZero():
		return func(i int) float64 { return math.Exp(float64(power * (s.offsets[i] - s.within[1]))) }
	}
	return func(i int) float64 { return s.offsets[i] / most }
}

func init() {
	gob.Register(&totals{})
}
