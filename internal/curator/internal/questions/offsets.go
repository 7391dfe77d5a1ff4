package questions

import (
	"context"
	"encoding/gob"
	"math"

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
// the others √2; without offsets it lies between 0 and (1, 0). The first sum is exact, the second one rounds.
func (s *Sums) Totals(ctx context.Context) (values []float64, l2 float64, err error) {
	values = make([]float64, 2)
	err = s.sum(ctx, values, &totals{})
	moves := 2.0
	if s.Vectors() == 1 {
		if moves = 1; s.within.Largest() > 0 {
			moves = math.Sqrt2
		}
	}
	return values, float64(moves*(1+1e-15)) + float64(2.2*encoding.Unit*s.t.Layout.Chain(4)), err
}

// totals asks for Totals.
type totals struct{ rows.Nothing }

func (*totals) cut(t *rows.Table) rows.Cut { return t.InTiles(2) }

func (*totals) adder(s *Sums) rows.Adder {
	most := s.within.Largest()
	return rows.EachRow(func(i int, sum []float64) {
		share := s.t.Persons.Share(i)
		sum[0] += share
		switch {
		case most == 0:
		case s.loss.Labels().FromZero():
			sum[1] += float64(share * math.Exp(s.offsets[i]-s.within[1]))
		default:
			sum[1] += float64(share * (s.offsets[i] / most))
		}
	})
}

func init() {
	gob.Register(&totals{})
}
