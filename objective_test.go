package dpglm

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// What Auto plans fits its budget when the ledger composes it again, in another
// order and with other roundings than the calibration.
func TestAutoFitsEveryBudget(t *testing.T) {
	for k := range 150 {
		u := float64(k)
		epsilon, delta := 0.05*math.Pow(1.05, u), math.Pow(10, -3-math.Mod(u*0.61, 12))
		s := Shape{Rows: 2000 + 500*k, Dim: 1 + k%20, FeatureBound: 1, LabelBound: 1}
		p := Problem{Loss: []losses.Loss{losses.Logistic{}, losses.Squared{}}[k%2]}
		if _, err := (AutoConfig{}).Plan(s, p, ApproxDP(epsilon, delta)); err != nil {
			t.Errorf("ε = %g, δ = %g, n = %d: %v", epsilon, delta, s.Rows, err)
		}
	}
}
