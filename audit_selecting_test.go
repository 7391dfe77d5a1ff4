package dpglm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// auditedSelecting are FrankWolfe's selections, by the point of the ball that they lead to,
// and the sums that move the intercept. On a row (1) of either label the two vertices have
// the scores ±½: the choice is a randomized response, which a bounded-range claim allows for.
func auditedSelecting(t *testing.T) []audited {
	t.Helper()
	within := func(steps int) pair { // in a ball so small that scores stay what they are
		return lone(FrankWolfeConfig{Output: WithinBall, Steps: steps}, Problem{losses.Logistic{}, 1e-6}, GDP(1), 0, 1)
	}
	sparse := within(1)
	row, err := NewSparse(1, 1, []int{0, 1}, []int{0}, []float64{7})
	if err != nil {
		t.Fatal(err)
	}
	sparse.x[0], sparse.x[1] = row, row
	moved := func(x *estimate.Run) (release.Answer, error) {
		v, err := x.Sums.Coordinates(x.Task.Ctx, 0.5, 1, 0, mechanisms.Exponential{Epsilon: 1})
		if err != nil {
			return release.Answer{}, err
		}
		return v.Total(), nil
	}
	up := func(w []float64) float64 { return w[0] }
	return []audited{
		{"FrankWolfe, a selection", inMu, 1, 1, 100_000, within(1).sample(up)},
		{"FrankWolfe, a selection, sparse row", inMu, 1, 1, 100_000, sparse.sample(up)},
		{"FrankWolfe, a selection, persons", inMu, 1, 1, 100_000, within(1).ofPersons().sample(up)},
		{"FrankWolfe, 5 selections", inMu, 1, responses(5, 1), 100_000, within(5).sample(up)},
		{"FrankWolfe, an intercept's move", inMu, 1, 1, 100_000, drawn(t, losses.Logistic{}, 1, moved, 1)},
	}
}

// responses is what the best threshold on the sum of so many randomized responses tells, each
// of μ/√k.
func responses(k int, mu float64) float64 {
	right := distuv.UnitNormal.CDF(mu / math.Sqrt(float64(k)) / 2)
	yes, no := distuv.Binomial{N: float64(k), P: right}, distuv.Binomial{N: float64(k), P: 1 - right}
	best := 0.0
	for at := range k {
		detected, falsely := yes.Survival(float64(at)), no.Survival(float64(at))
		best = math.Max(best, distuv.UnitNormal.Quantile(detected)-distuv.UnitNormal.Quantile(falsely))
	}
	return best
}
