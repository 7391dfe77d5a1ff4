package mechanisms

import (
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// The noise at unit sensitivity and δ = 1e-6, computed with 60 digits.
func TestGaussianMuReferenceValues(t *testing.T) {
	for _, c := range []struct{ epsilon, sigma float64 }{{0.1, 36.304690}, {1, 4.2246789}, {4, 1.1935186}} {
		mu, err := GaussianMu(c.epsilon, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if got := 1 / mu; math.Abs(got-c.sigma) > 1e-6 {
			t.Errorf("ε = %g: σ = %.8g, want %.8g", c.epsilon, got, c.sigma)
		}
	}
}

// The papers' closed forms against what they spend. [AB+22, Theorem 1] has
// σ² = 8G²T log(1/δ)/(n²ε²) at sensitivity 2G/n, so μ = ε/√(2 log(1/δ)) for any T;
// [AB+22, Theorem 5] has σ² = 4G²X² log(1/δ)/(λ²n²ε²) at sensitivity 2GX/(λn),
// so μ = ε/√(log(1/δ)).
func TestPaperConstants(t *testing.T) {
	const delta = 1e-6
	theorem1 := func(e float64) float64 { return e / math.Sqrt(2*math.Log(1/delta)) }
	theorem5 := func(e float64) float64 { return e / math.Sqrt(math.Log(1/delta)) }
	for _, c := range []struct {
		name         string
		mu           func(float64) float64
		asked, spent float64
		tolerance    float64
	}{
		{"Theorem 1", theorem1, 16, 18.5, 0.05},
		{"Theorem 5", theorem5, 1, 1.148, 0.0005},
		{"Theorem 5", theorem5, 4, 5.3, 0.05},
	} {
		spent, err := GaussianEpsilon(c.mu(c.asked), delta)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(spent-c.spent) > c.tolerance {
			t.Errorf("%s at ε = %g spends %.5g, want %.5g", c.name, c.asked, spent, c.spent)
		}
	}
	exact, err := GaussianMu(1, delta)
	if err != nil {
		t.Fatal(err)
	}
	if waste := exact/theorem1(1) - 1; math.Abs(waste-0.244) > 0.005 {
		t.Errorf("Theorem 1 at ε = 1 adds %.3f too much noise, want 0.244", waste)
	}
	breaks := func(mu func(float64) float64, e float64) bool {
		spent, err := GaussianEpsilon(mu(e), delta)
		if err != nil {
			t.Fatal(err)
		}
		return spent > e
	}
	if breaks(theorem1, 8.2) || !breaks(theorem1, 8.4) {
		t.Error("Theorem 1 should break its promise above ε ≈ 8.3")
	}
	if breaks(theorem5, 0.13) || !breaks(theorem5, 0.15) {
		t.Error("Theorem 5 should break its promise above ε ≈ 0.14")
	}
}

// Both directions evaluate upper bounds, so a round trip may exceed its start by
// the margins that each adds.
func TestCalibrationRoundTrip(t *testing.T) {
	for _, eps := range []float64{1e-4, 1e-2, 0.1, 1, 10, 100, 1000} {
		for _, delta := range []float64{1e-300, 1e-100, 1e-12, 1e-6, 1e-3, 0.4} {
			mu, err := GaussianMu(eps, delta)
			if err != nil {
				t.Fatalf("GaussianMu(%g, %g): %v", eps, delta, err)
			}
			d, err := GaussianDelta(mu, eps)
			if err != nil {
				t.Fatal(err)
			}
			if d > delta*(1+1e-8) || d < delta*(1-1e-6) {
				t.Errorf("δ(μ(%g, %g)) = %g", eps, delta, d)
			}
			e, err := GaussianEpsilon(mu, delta)
			if err != nil {
				t.Fatal(err)
			}
			if e > eps*(1+1e-8) || e < eps*(1-1e-6) {
				t.Errorf("ε(μ(%g, %g)) = %g", eps, delta, e)
			}
		}
	}
}

func TestArgumentErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][2]float64{{0, 0.1}, {-1, 0.1}, {nan, 0.1}, {inf, 0.1}, {1, 0}, {1, 1}, {1, -1}, {1, nan}} {
		if _, err := GaussianMu(c[0], c[1]); !errors.Is(err, check.ErrBudget) {
			t.Errorf("GaussianMu(%v) gives %v", c, err)
		}
		if _, err := CalibrateGaussian(c[0], c[1], 1, 1); !errors.Is(err, check.ErrBudget) {
			t.Errorf("CalibrateGaussian(%v) gives %v", c, err)
		}
	}
	for _, mu := range []float64{0, -1, nan, inf, 1e155, 1e-160} {
		if _, err := GaussianDelta(mu, 1); !errors.Is(err, check.ErrBudget) {
			t.Errorf("GaussianDelta(%v) gives %v", mu, err)
		}
		if _, err := GaussianEpsilon(mu, 0.1); !errors.Is(err, check.ErrBudget) {
			t.Errorf("GaussianEpsilon(%v) gives %v", mu, err)
		}
		if _, err := (Gaussian{mu}).Ledger("", 1, 1); !errors.Is(err, check.ErrBudget) {
			t.Errorf("Gaussian{%v}.Ledger gives %v", mu, err)
		}
	}
	v := make([]float64, 2)
	src := NewSeededSource(1)
	for _, s := range []float64{0, -1, nan, inf} {
		if err := (Gaussian{1}).Release(v, v, s, src); !errors.Is(err, check.ErrBound) {
			t.Errorf("sensitivity %v gives %v", s, err)
		}
	}
	if err := (Gaussian{1e-15}).Release(make([]float64, 10_000), make([]float64, 10_000), 1, src); !errors.Is(err, check.ErrBudget) {
		t.Errorf("a grid coarser than the sensitivity gives %v", err)
	}
	if err := (Gaussian{1}).Release(v, []float64{0, nan}, 1, src); !errors.Is(err, check.ErrValue) {
		t.Errorf("NaN gives %v", err)
	}
	if err := (Gaussian{1}).Release(v[:1], v, 1, src); !errors.Is(err, check.ErrShape) {
		t.Errorf("unequal lengths give %v", err)
	}
	if _, err := CalibrateGaussian(1, 0.1, 0, 1); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no releases give %v", err)
	}
}
