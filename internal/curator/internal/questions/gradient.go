package questions

import (
	"context"
	"encoding/gob"
	"math"

	"github.com/dpglm/dpglm/internal/kernel"
)

// Gradient sets dst to Σᵢ φ'(⟨w, xᵢ⟩)xᵢ, each row's term scaled down to norm
// clip where it is longer. clip = +Inf is no clip. dst and w have Dim numbers.
func (s *Sums) Gradient(ctx context.Context, dst, w []float64, clip float64) error {
	_, _, err := combine(ctx, s, dst, &gradient{w, clip})
	return err
}

// gradient asks for Gradient.
type gradient struct {
	W    []float64
	Clip float64
}

func (q *gradient) weights() []float64    { return q.W }
func (q *gradient) atOnce() atOnce        { return logisticAtOnce(q.Clip) }
func (*gradient) totals() bool            { return false }
func (*gradient) together(*Sums) together { return nil }

func (q *gradient) coefficients(s *Sums) coefficients {
	return func(z, _ []float64, lo int) {
		s.slopes(z, lo)
		if !math.IsInf(q.Clip, 1) {
			kernel.Clip(z, s.t.Norm[lo:lo+len(z)], q.Clip)
		}
	}
}

// slopes turns the scores ⟨w, xᵢ⟩ of the rows from lo on into φ' at these and the offsets.
func (s *Sums) slopes(z []float64, lo int) {
	s.offsets.add(z, lo)
	derivs(s.loss, z, s.labels[lo:lo+len(z)])
}

func init() {
	gob.Register(&gradient{})
}
