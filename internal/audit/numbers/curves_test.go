package numbers_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/internal/accounting"
)

// leaves are releases of each kind, small and large, one and many.
func leaves() map[string]*accounting.Sequence {
	all := map[string]*accounting.Sequence{"Gaussian, of much": accounting.Noise(0.5, 3e30)}
	for _, mu := range []float64{1e-6, 0.3, 1, 40} {
		for _, releases := range []int{1, 7} {
			for _, dim := range []int{1, 1 << 30} {
				all[fmt.Sprintf("Gaussian, μ = %g, %d of %d", mu, releases, dim)] = accounting.Gaussian(mu, releases, dim)
			}
		}
	}
	for _, epsilon := range []float64{0.01, 1, 20} {
		for _, releases := range []int{1, 2, 33} {
			all[fmt.Sprintf("pure, ε = %g, %d", epsilon, releases)] = accounting.Pure(epsilon, releases)
			all[fmt.Sprintf("range, ε = %g, %d", epsilon, releases)] = accounting.BoundedRange(epsilon, releases)
			all[fmt.Sprintf("Laplace, ε = %g, %d", epsilon, releases)] = accounting.Laplace(epsilon, releases)
		}
	}
	for _, o := range objectives() {
		all[fmt.Sprintf("objective %v", o)] = o.Profile()
	}
	return all
}

// objectives are of little and much noise, with more or less from the determinant, one and several.
func objectives() (list []accounting.Objective) {
	for _, ratio := range []float64{0.01, 0.5, 4} {
		for _, logDet := range []float64{0, 0.02, 1.5} {
			list = append(list, accounting.Objective{Ratio: ratio, LogDet: logDet, OutputMu: ratio / 3, Dim: 5, Releases: 1})
		}
	}
	return append(list, accounting.Objective{Ratio: 0.5, LogDet: 0.1, OutputMu: 0.2, Dim: 3, Releases: 3})
}

// mixtures are compositions of releases of several kinds.
func mixtures() map[string]*accounting.Sequence {
	gauss, pure, ranged, laplace := accounting.Gaussian(0.4, 2, 9), accounting.Pure(0.3, 2), accounting.BoundedRange(0.5, 4), accounting.Laplace(0.2, 5)
	objective := accounting.Objective{Ratio: 0.3, LogDet: 0.1, OutputMu: 0.1, Dim: 3, Releases: 1}.Profile()
	all := map[string]*accounting.Sequence{
		"Gaussian and pure": accounting.Compose(gauss, pure), "pure and range": accounting.Compose(pure, ranged), "Laplace and range": accounting.Compose(laplace, ranged),
		"objective and Gaussian": accounting.Compose(objective, gauss), "objective and pure": accounting.Compose(objective, pure),
		"all":                     accounting.Compose(gauss, pure, ranged, laplace, objective),
		"parallel, pure or range": accounting.Parallel(accounting.Pure(0.5, 1), ranged),
		"parallel, Gaussian":      accounting.Parallel(gauss, accounting.Gaussian(0.1, 2, 1<<30)),
		"parallel, all":           accounting.Parallel(gauss, pure, ranged, laplace, objective),
	}
	all["parallel in sequence"] = accounting.Compose(all["parallel, all"], pure)
	all["sequences in parallel"] = accounting.Parallel(all["pure and range"], all["Gaussian and pure"])
	return all
}

// told are the numbers that a sequence tells, and those of groups.
func told(s *accounting.Sequence, x ...float64) (list []float64) {
	for _, x := range x {
		list = append(list, s.Delta(x), s.Epsilon(math.Exp(-9*(1+math.Abs(x)))))
	}
	mu, coordinates := s.Above()
	return append(list, s.Mu(), s.Loss(), s.GroupMu(2.5), s.GroupLoss(3), mu, coordinates, float64(s.Size()))
}

// Profiles, what they compose to, and calibrations stay as they are, to the bit where the machine rounds as that of the file:
// a margin for rounding that changes moves last digits alone.
func TestCurvesStay(t *testing.T) {
	all := map[string][]float64{}
	for name, s := range leaves() {
		all[name] = told(s, -3, 0, 0.1, 1, 7, 60)
	}
	for name, s := range mixtures() {
		all[name] = told(s, 0, 1.5)
		all[name+", of three"] = told(s.Group(3), 2)
	}
	for _, mu := range []float64{1e-9, 1e-3, 0.2, 1, 3, 25, 400} {
		for _, x := range []float64{-0.7, 0, 1e-4, 0.6, 5, 90, 1e4} {
			name := fmt.Sprintf("μ = %g", mu)
			all[name] = append(all[name], accounting.GaussianDelta(mu, x), accounting.Sum(mu, math.Abs(x)/3), accounting.SumOfSquares(mu, x/3), accounting.Less(math.Abs(x)/3, mu), accounting.LessOfSquares(math.Abs(x)/3, mu))
			if x > 0 {
				all[name] = append(all[name], accounting.GaussianEpsilon(mu, math.Exp(-1/x)/2), accounting.PureEpsilonWithin(mu))
			}
		}
	}
	for _, epsilon := range []float64{1e-4, 0.3, 2, 50, 1000} {
		for _, delta := range []float64{1e-300, 1e-9, 1e-5, 0.3} {
			name := fmt.Sprintf("ε = %g, δ = %g", epsilon, delta)
			mu, err := accounting.GaussianMu(epsilon, delta)
			all[name] = []float64{mu, refused(err)}
			for _, o := range objectives() {
				one, err := o.RatioFor(epsilon, delta)
				if o.Releases > 1 && (epsilon != 2 || delta != 1e-5) {
					continue
				}
				all[name] = append(all[name], one, refused(err))
			}
		}
	}
	for _, o := range objectives() {
		name := fmt.Sprintf("calibrated, %v", o)
		for _, mu := range []float64{0.05, 1, 6} {
			ratio, err := o.RatioForGDP(mu)
			all[name] = append(all[name], ratio, refused(err))
		}
	}
	for _, o := range objectives()[4:6] {
		ratio, err := o.RatioForGroup(3, 1e-6, 3)
		all[fmt.Sprintf("of a group, %v", o)] = []float64{ratio, refused(err)}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(all[name], math.IsNaN) {
			t.Errorf("%s: %v", name, all[name])
		}
	}
	stays(t, "curves", all, true)
}

// Without a δ, ε is the largest loss, of whatever kind and of groups, too.
func TestEpsilonWithoutDeltaIsTheLoss(t *testing.T) {
	all := leaves()
	maps.Copy(all, mixtures())
	for name, s := range all {
		for _, k := range []float64{1, 3} {
			g := s.Group(k)
			if epsilon := g.Epsilon(0); epsilon != g.Loss() {
				t.Errorf("%s, %g: ε = %g at δ = 0, and the largest loss is %g", name, k, epsilon, g.Loss())
			}
		}
	}
}

// refused is 1 where there is an error.
func refused(err error) float64 {
	if err != nil {
		return 1
	}
	return 0
}
