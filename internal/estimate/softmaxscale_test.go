package estimate

import (
	"math"
	"testing"
)

// A look at a small factor has much noise. It doesn't halve scores by chance, as it did where the
// last two looks were all that counted.
func TestFactorBy(t *testing.T) {
	lucky := []look{{1, 0.005}, {0.5, 0.018}, {0.25, -0.134}}
	if f := factorBy(lucky, 0.015, 0.35); !(f > 0.96 && f < 1) {
		t.Errorf("a factor of %.3g by looks of little but noise", f)
	}
	if f := factorBy([]look{{1, 0.02}, {0.5, -0.03}}, 0.015, 0.8); !(f > 0.8 && f < 0.83) {
		t.Errorf("a factor of %.3g, where looks say .7 and 1 was likelier before", f)
	}
	if f := factorBy(lucky[:1], 0.015, 0); !(math.Abs(f-1) < 0.01) {
		t.Errorf("a factor of %.3g where scores are all alike", f)
	}
	// A slope that flattens, as the softmax loss's does.
	for _, root := range []float64{0.4, 0.9, 1.3, 2.5} {
		slope := func(f float64) float64 { return 0.1 * math.Tanh(f-root) }
		for _, noise := range []float64{1e-9, 1e-4} {
			seen := []look{{1, slope(1)}, {2, slope(2)}}
			if slope(1) > 0 {
				seen[1] = look{0.5, slope(0.5)}
			}
			third := factorBy(seen, noise, 1)
			seen = append(seen, look{third, slope(third)})
			if f := factorBy(seen, noise, 1); math.Abs(f-root) > 0.04 {
				t.Errorf("noise %g: a factor of %.3g, not %g", noise, f, root)
			}
		}
	}
}
