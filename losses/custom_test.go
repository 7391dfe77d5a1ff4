package losses

import (
	"math"
	"testing"
)

// The constants that follow from a user's statement, by hand, at Z = 3, Y = 2.
func TestCustomConstants(t *testing.T) {
	inf := math.Inf(1)
	selfBounded := userSquared
	selfBounded.SlopeAtZero = nil
	logistic := math.Sqrt(math.Ln2 / 2)
	for _, c := range []struct {
		loss Custom
		want Constants
	}{
		{userSquared, Constants{AtZero: 2, Value: 2 + 3*2 + 4.5, Slope: 5, Smoothness: 1, Lipschitz: inf}},
		{selfBounded, Constants{AtZero: 2, Value: 2 + 3*2 + 4.5, Slope: 5, Smoothness: 1, Lipschitz: inf}},
		{userLogistic, Constants{AtZero: math.Ln2, Value: math.Ln2 + 3*(logistic+0.375), Slope: 1, Smoothness: 0.25, Lipschitz: 1}},
		{userPoisson, Constants{AtZero: 1, Value: 1 + 3*(1+math.Exp(3)*1.5), Slope: 1 + 3*math.Exp(3), Smoothness: math.Exp(3), Lipschitz: inf}},
	} {
		got := c.loss.Constants(3, 2)
		for _, v := range [][2]float64{{got.AtZero, c.want.AtZero}, {got.Value, c.want.Value}, {got.Slope, c.want.Slope}, {got.Smoothness, c.want.Smoothness}} {
			if math.Abs(v[0]-v[1]) > 1e-14*v[1] {
				t.Errorf("%s: %+v, want %+v", c.loss.Name(), got, c.want)
			}
		}
		if got.Lipschitz != c.want.Lipschitz || c.loss.Diameter(3, 2) != 2*got.Slope {
			t.Errorf("%s: %+v, diameter %g", c.loss.Name(), got, c.loss.Diameter(3, 2))
		}
	}
}
