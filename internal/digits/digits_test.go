package digits

import (
	"strconv"
	"testing"
)

// What is printed isn't less than what is promised, and hardly more.
func TestRoundedUp(t *testing.T) {
	for _, v := range []float64{1, 1.0000004, 0.12345649, 9.999994e-7, 1234.5674, 1.0 / 3} {
		if back, err := strconv.ParseFloat(RoundedUp(v), 64); err != nil || back < v*(1-1e-12) || back > v*(1+2e-5) {
			t.Errorf("%.12g prints as %s (%v)", v, RoundedUp(v), err)
		}
	}
	for v, want := range map[float64]string{7.290601466e-7: "7.29061e-07", 9.9999901: "10", 9.9999901e-8: "1e-07", 2.116736e-7: "2.11674e-07", 28.15500001: "28.1551", 4: "4", 1e-6: "1e-06", 0: "0"} {
		if s := RoundedUp(v); s != want {
			t.Errorf("%.12g prints as %s, want %s", v, s, want)
		}
	}
}
