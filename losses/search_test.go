package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/mechanisms"
)

// testCase is a loss within score and label bounds.
type testCase struct {
	loss Loss
	z, y float64
	// slack says that the loss's constants are bounds that nothing need attain.
	slack bool
}

func (c testCase) String() string {
	return fmt.Sprintf("%s, |z| ≤ %g, |y| ≤ %g", c.loss.Name(), c.z, c.y)
}

func (c testCase) smooth() bool { return !math.IsInf(c.loss.Constants(c.z, c.y).Smoothness, 1) }

// label maps u ∈ [−1, 1] onto the labels within the bound.
func (c testCase) label(u float64) float64 {
	switch {
	case c.loss.Labels() == Binary:
		return math.Copysign(1, u)
	case c.loss.Labels().FromZero():
		return c.y * (u + 1) / 2
	}
	return c.y * u
}

var builtin = []Loss{
	Squared{}, Logistic{}, SquaredHinge{}, SmoothedHinge{0.5}, SmoothedHinge{1}, Huber{0.3}, Huber{1.5}, Huber{4},
	Poisson{}, Hinge{}, Absolute{}, Quantile{0.1}, Quantile{0.5}, Quantile{0.8},
	envelopeOf(Hinge{}, 0.4), envelopeOf(Hinge{}, 3), envelopeOf(Absolute{}, 0.01), envelopeOf(Absolute{}, 2),
	envelopeOf(Quantile{0.8}, 4), Probit{}, NegativeBinomial{0.4}, NegativeBinomial{3}, Gamma{Least: 0.1},
}

// families are losses whose constants need not all be attained in every box.
var families = []Loss{Ordinal{Thresholds: []float64{0}}, Ordinal{Thresholds: []float64{-1, 0.5, 3}}, Ordinal{Thresholds: []float64{4, 4.01}},
	NegativeBinomial{1e-5}, NegativeBinomial{200}, Gamma{0.1, 1.5}, Gamma{0.3, 30}}

func envelopeOf(l Loss, width float64) Loss {
	e, _ := Envelope(l, width)
	return e
}

// userSquared states the squared loss by its smoothness and slope at zero,
// userLogistic is smooth and Lipschitz, userPoisson is smooth on balls only.
var (
	userSquared = Custom{
		Label: "user's squared", Domain: Real, Phi: Squared{}.Value, DPhi: Squared{}.Deriv, Smoothness: 1,
		AtZero:      func(y float64) float64 { return y * y / 2 },
		SlopeAtZero: func(y float64) float64 { return y },
	}
	userLogistic = Custom{
		Label: "user's logistic", Domain: Binary, Phi: Logistic{}.Value, DPhi: Logistic{}.Deriv, Smoothness: 0.25, Lipschitz: 1,
		AtZero: func(float64) float64 { return math.Ln2 },
	}
	userPoisson = Custom{
		Label: "user's poisson", Domain: Count, Phi: Poisson{}.Value, DPhi: Poisson{}.Deriv,
		AtZero:           func(y float64) float64 { return Poisson{}.Constants(0, y).AtZero },
		SlopeAtZero:      func(y float64) float64 { return math.Max(1, y-1) },
		SmoothnessWithin: func(z, _ float64) float64 { return math.Exp(z) },
	}
)

// cases are all losses in several boxes, also extended and as a user's own.
func cases() []testCase {
	var all []testCase
	for _, l := range builtin {
		for _, z := range []float64{0.03, 0.7, 3, 8} {
			for _, y := range []float64{0.2, 1, 5, 60} {
				all = append(all, testCase{l, z, y, false})
				for _, limit := range []float64{0.5, 3} {
					all = append(all, testCase{extend(l, limit), z, y, true})
				}
			}
		}
	}
	for _, limit := range []float64{1, 2.5, 60} {
		for _, z := range []float64{0.03, 0.7, 3, 8} {
			for _, y := range []float64{0.2, 1, 5, 60} {
				all = append(all, testCase{CappedPoisson{limit}, z, y, z > math.Log(limit)}, testCase{extend(CappedPoisson{limit}, 1.5), z, y, true})
			}
		}
	}
	for _, l := range families {
		for _, z := range []float64{0.03, 0.7, 3, 8} {
			for _, y := range []float64{0.2, 1, 5, 60} {
				all = append(all, testCase{l, z, y, true}, testCase{extend(l, 1.5), z, y, true})
			}
		}
	}
	for _, l := range []Loss{userSquared, userLogistic, userPoisson, extend(userPoisson, 2), extend(extend(Poisson{}, 2), 1)} {
		for _, z := range []float64{0.1, 2, 6} {
			all = append(all, testCase{l, z, 3, true})
		}
	}
	return all
}

// searcher maximises functions over [−1, 1]^dim.
type searcher struct{ src mechanisms.Source }

func newSearcher(seed uint64) searcher { return searcher{mechanisms.NewSeededSource(seed)} }

// uniform is uniform in [−1, 1).
func (s searcher) uniform() float64 { return float64(s.src.Uint64()>>11)*0x1p-52 - 1 }

// maximise tries corners and random points, then takes steps of shrinking length
// from the best of them. In many dimensions call it several times: with few
// random points and no corners, it climbs another hill each time.
func (s searcher) maximise(dim, tries int, f func(u []float64) float64) float64 {
	best, at := math.Inf(-1), make([]float64, dim)
	u := make([]float64, dim)
	try := func() {
		if v := f(u); v > best {
			best = v
			copy(at, u)
		}
	}
	corners, random := 1<<dim, tries
	if dim > 2 {
		corners, random = 0, 10
	}
	for k := range random {
		for j := range u {
			u[j] = s.uniform()
			if k < corners {
				u[j] = float64(k>>j&1)*2 - 1
			}
		}
		try()
	}
	for k := range 4 * tries {
		step := math.Pow(0.5, 30*float64(k)/float64(4*tries))
		for j := range u {
			u[j] = at[j]
			if s.src.Uint64()&1 == 0 {
				u[j] = math.Max(-1, math.Min(at[j]+step*s.uniform(), 1))
			}
		}
		try()
	}
	return best
}
