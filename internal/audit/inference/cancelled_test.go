package inference_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// Infer is cancelled wherever it looks whether it is, and returns that: an error of a question that is
// dropped would give an estimate made of what another question left, or none of it.
func TestInferIsCancelledAnywhere(t *testing.T) {
	const looks = 40 // places that are tried, spread over the run
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}, losses.Ordinal{Levels: 3}} {
		s := newShops(300, losses.Logistic{}, false, 7)
		for i := range s.y {
			s.y[i] = float64(i % 2)
		}
		if s.schema.LabelRange = [2]float64{0, 2}; loss.Labels() == losses.Binary {
			s.schema.LabelRange = [2]float64{}
		}
		d := given.Dataset(t, s.x, s.y, s.schema)
		run := func(at int64) (int64, error) {
			inner, stop := context.WithCancel(ctx)
			defer stop()
			polled := &given.Polled{Context: inner, Stop: stop}
			polled.N.Store(at)
			_, err := dpglm.Infer(polled, d, dpglm.Problem{Loss: loss}, dpglm.GDP(20), dpglm.InferConfig{}, given.Seeded(1))
			return at - polled.N.Load(), err
		}
		total, err := run(math.MaxInt64)
		if err != nil || total < looks {
			t.Fatalf("%s: asked %d times, %v", loss.Name(), total, err)
		}
		for k := range int64(looks) {
			at := 1 + k*(total-1)/(looks-1)
			if _, err := run(at); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled at look %d of %d: %v", loss.Name(), at, total, err)
			}
		}
	}
}
