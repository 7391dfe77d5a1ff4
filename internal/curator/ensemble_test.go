package curator

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// raw is a source of noise that sees the last raw answer.
type raw struct {
	mechanisms.Source
	values []float64
}

func (r *raw) Record(e *release.Event) { r.values = append([]float64(nil), e.Values...) }

// Predictions are held to the labels' range, whatever the models are: the claimed
// sensitivity is for no other.
func TestMeanIsWithinTheLabelsRange(t *testing.T) {
	for _, c := range []struct {
		loss losses.Loss
		want float64 // the mean at scores of 500, −500 and NaN, labels being within 3
	}{{losses.Squared{}, -1}, {losses.Poisson{}, 1}, {losses.Logistic{}, 1 / 3.}, {losses.Hinge{}, 1 / 3.}} {
		rows := release.NewRows()
		e := &Ensemble{models: [][]float64{{500}, {-500}, {math.NaN()}}, origin: origin{rows, NewIdentity(1, 1, false)}, predict: prediction(c.loss)}
		e.low, e.high = LabelRange(c.loss.Labels(), 3)
		mean, err := e.Mean([]float64{7}) // bounded to 1
		if err != nil {
			t.Fatal(err)
		}
		s, err := release.Gaussian("mean", 1, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen := &raw{Source: mechanisms.NewSeededSource(1)}
		if _, err := s.Allow(rows, seen).AddNoise(mean); err != nil {
			t.Fatal(err)
		}
		if math.Abs(seen.values[0]-c.want) > 1e-15 {
			t.Errorf("%s: mean %g, want %g", c.loss.Name(), seen.values[0], c.want)
		}
	}
}
