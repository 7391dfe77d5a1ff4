package release

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// Both laws of objective perturbation have noise for slopes, and for distances of what they release, up to the largest sensitivity that there
// is noise for, and refuse what is beyond, or no number, each where it is asked: for the scale, the linear term and the output.
func TestLawsRefuseWhatNoNoiseIsFor(t *testing.T) {
	src := mechanisms.NewSeededSource(1)
	for name, of := range map[string]struct {
		law  law
		most float64 // the largest slope in one dimension
		out  float64 // and the largest distance of outputs
	}{
		"Gaussian": {gaussianLaw{mechanisms.ObjectivePerturbation{Ratio: 1, OutputMu: 1}}, 1e200, 1e200},
		"Laplace":  {laplaceLaw{mechanisms.PureObjectivePerturbation{Epsilon: 1, OutputEpsilon: 1}}, check.MaxScale / 2, check.MaxScale},
	} {
		asks := map[string]struct {
			ask  func(v float64) error
			most float64
		}{
			"scale":  {func(v float64) error { _, _, err := of.law.scale(v, 1); return err }, of.most},
			"linear": {func(v float64) error { return of.law.linear([]float64{0}, v, src) }, of.most},
			"output": {func(v float64) error { return of.law.output([]float64{0}, v, src) }, of.out},
		}
		for what, c := range asks {
			for v, taken := range map[float64]bool{1: true, c.most * (1 - 1e-9): true, c.most * (1 + 1e-9): false, math.MaxFloat64: false, math.Inf(1): false, math.NaN(): false} {
				if err := c.ask(v); (err == nil) != taken {
					t.Errorf("%s, %s of %g: %v", name, what, v, err)
				}
			}
		}
	}
}
