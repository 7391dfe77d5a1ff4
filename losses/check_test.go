package losses

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// without returns a complete user's loss after one change.
func without(change func(*Custom)) Custom {
	l := userPoisson
	change(&l)
	return l
}

// linked is a loss with another link than its own.
type linked struct {
	Loss
	link Link
}

func (l linked) Link() Link { return l.link }

// A loss with a bad parameter is refused with the parameter's name.
func TestCheckRefuses(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		loss  Loss
		param string
	}{
		{nil, "loss"},
		{SmoothedHinge{}, "SmoothedHinge.Width"},
		{SmoothedHinge{1.01}, "SmoothedHinge.Width"},
		{SmoothedHinge{-0.5}, "SmoothedHinge.Width"},
		{SmoothedHinge{nan}, "SmoothedHinge.Width"},
		{Huber{}, "Huber.Kappa"},
		{Huber{-1}, "Huber.Kappa"},
		{Huber{inf}, "Huber.Kappa"},
		{Huber{nan}, "Huber.Kappa"},
		{Huber{1e-200}, "Huber.Kappa"},
		{Huber{1e61}, "Huber.Kappa"},
		{Quantile{1e-61}, "Quantile.Tau"},
		{SmoothedHinge{1e-61}, "SmoothedHinge.Width"},
		{without(func(l *Custom) { l.Lipschitz = 1e-61 }), "Custom.Lipschitz"},
		{Quantile{}, "Quantile.Tau"},
		{Quantile{1}, "Quantile.Tau"},
		{Quantile{nan}, "Quantile.Tau"},
		{CappedPoisson{}, "CappedPoisson.Cap"},
		{CappedPoisson{0.99}, "CappedPoisson.Cap"},
		{CappedPoisson{-2}, "CappedPoisson.Cap"},
		{CappedPoisson{1e61}, "CappedPoisson.Cap"},
		{CappedPoisson{inf}, "CappedPoisson.Cap"},
		{CappedPoisson{nan}, "CappedPoisson.Cap"},
		{NegativeBinomial{}, "NegativeBinomial.Dispersion"},
		{NegativeBinomial{-1}, "NegativeBinomial.Dispersion"},
		{NegativeBinomial{inf}, "NegativeBinomial.Dispersion"},
		{NegativeBinomial{nan}, "NegativeBinomial.Dispersion"},
		{Gamma{}, "Gamma.Least"},
		{Gamma{Least: -1}, "Gamma.Least"},
		{Gamma{Least: nan}, "Gamma.Least"},
		{Gamma{Least: 1, Ratio: 1}, "Gamma.Ratio"},
		{Gamma{Least: 1, Ratio: -2}, "Gamma.Ratio"},
		{Gamma{Least: 1, Ratio: inf}, "Gamma.Ratio"},
		{Gamma{Least: 1, Ratio: nan}, "Gamma.Ratio"},
		{Ordinal{}, "Ordinal.Thresholds"},
		{Ordinal{Thresholds: []float64{1, 1}}, "Ordinal.Thresholds"},
		{Ordinal{Thresholds: []float64{1, 0}}, "Ordinal.Thresholds"},
		{Ordinal{Thresholds: []float64{0, nan}}, "Ordinal.Thresholds"},
		{Ordinal{Thresholds: []float64{0, inf}}, "Ordinal.Thresholds"},
		{Ordinal{Thresholds: []float64{-1e7, 0}}, "Ordinal.Thresholds"},
		{Extended{}, "Extended.Inner"},
		{(*Custom)(nil), "loss"},
		{(*Logistic)(nil), "loss"},
		{extend((*Huber)(nil), 1), "Extended.Inner"},
		{extend(Huber{}, 1), "Huber.Kappa"},
		{extend(Extended{}, 1), "Extended.Inner"},
		{extend(Poisson{}, 0), "Extended.Limit"},
		{extend(Poisson{}, -1), "Extended.Limit"},
		{extend(Poisson{}, inf), "Extended.Limit"},
		{extend(Poisson{}, nan), "Extended.Limit"},
		{envelopeOf(Quantile{2}, 1), "Quantile.Tau"},
		{envelopeOf(Hinge{}, 0), "width of Envelope"},
		{envelopeOf(Hinge{}, -1), "width of Envelope"},
		{envelopeOf(Hinge{}, 1e-61), "width of Envelope"},
		{envelopeOf(Absolute{}, inf), "width of Envelope"},
		{envelopeOf(Absolute{}, nan), "width of Envelope"},
		{Custom{}, "Custom.Label"},
		{without(func(l *Custom) { l.Label = "" }), "Custom.Label"},
		{without(func(l *Custom) { l.Domain = "" }), "Custom.Domain"},
		{without(func(l *Custom) { l.Phi = nil }), "Custom.Phi, Custom.DPhi"},
		{without(func(l *Custom) { l.DPhi = nil }), "Custom.Phi, Custom.DPhi"},
		{without(func(l *Custom) { l.AtZero = nil }), "Custom.AtZero"},
		{without(func(l *Custom) { l.SlopeAtZero = nil }), "Custom.SlopeAtZero"},
		{without(func(l *Custom) { l.SmoothnessWithin = nil }), "Custom.Smoothness, Custom.SmoothnessWithin"},
		{without(func(l *Custom) { l.Smoothness = 1 }), "Custom.Smoothness, Custom.SmoothnessWithin"},
		{without(func(l *Custom) { l.SmoothnessWithin, l.Smoothness = nil, -1 }), "Custom.Smoothness"},
		{without(func(l *Custom) { l.SmoothnessWithin, l.Smoothness = nil, nan }), "Custom.Smoothness"},
		{without(func(l *Custom) { l.Lipschitz = inf }), "Custom.Lipschitz"},
		{without(func(l *Custom) { l.Lipschitz = -1 }), "Custom.Lipschitz"},
	} {
		err := check.Valid("loss", c.loss)
		var e *check.Error
		if !errors.Is(err, check.ErrConfig) || !errors.As(err, &e) || e.Param() != c.param {
			t.Errorf("%T %+v: %v, want %s", c.loss, c.loss, err, c.param)
		}
	}
}

func TestCheckAccepts(t *testing.T) {
	for _, c := range cases() {
		if err := check.Valid("loss", c.loss); err != nil {
			t.Error(err)
		}
		if err := computable(c.loss, c.z, c.y); err != nil {
			t.Error(err)
		}
	}
}

// A link that isn't known, or is for other labels, would make a model of which no reader knows what
// its scores mean.
func TestValidateRefusesLinks(t *testing.T) {
	for _, l := range []linked{{Hinge{}, Log}, {Hinge{}, ""}, {Squared{}, Logit}, {Poisson{}, ProbitLink}} {
		var e *check.Error
		if err := Validate(l, 0, 1); !errors.Is(err, check.ErrConfig) || !errors.As(err, &e) || e.Param() != "link of "+l.Name() {
			t.Errorf("%s, %q: %v", l.Name(), l.link, err)
		}
	}
	if err := Validate(linked{Hinge{}, Logit}, 0, 1); err != nil {
		t.Error(err)
	}
}

// Bounds at which a constant overflows or is no number are refused with its name.
func TestUsableRefuses(t *testing.T) {
	for _, c := range []struct {
		loss Loss
		z, y float64
		name string
	}{
		{Poisson{}, 710, 1, "poisson: Value"},
		{Poisson{}, 400, 1, "poisson: Slope"},
		{extend(Poisson{}, 400), 1e6, 1, "poisson extended at 400: Slope"},
		{Squared{}, 1e200, 1, "squared: Value"},
		{Huber{1}, math.NaN(), 1, "huber(1): Value"},
		{without(func(l *Custom) { l.AtZero = func(float64) float64 { return math.NaN() } }), 1, 1, "user's poisson: AtZero"},
		{without(func(l *Custom) { l.SlopeAtZero = func(float64) float64 { return -9 } }), 1, 1, "user's poisson: Value"},
		{without(func(l *Custom) { l.SmoothnessWithin = func(_, _ float64) float64 { return math.NaN() } }), 1, 1, "user's poisson: Value"},
	} {
		err := computable(c.loss, c.z, c.y)
		var e *check.Error
		if !errors.Is(err, check.ErrBound) || !errors.As(err, &e) || e.Param() != c.name {
			t.Errorf("%s at z = %g, y = %g: %v, want %s", c.loss.Name(), c.z, c.y, err, c.name)
		}
	}
}

// CheckConstants finds nothing wrong with the losses of this package.
func TestCheckConstantsAccepts(t *testing.T) {
	for _, c := range cases() {
		if err := CheckConstants(c.loss, c.z, c.y); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// wrong is a loss with one thing wrong.
type wrong struct {
	Loss
	value, deriv func(z, y float64) float64
	change       func(*Constants)
	diameter     float64
}

func (l wrong) Value(z, y float64) float64 {
	if l.value != nil {
		return l.value(z, y)
	}
	return l.Loss.Value(z, y)
}

func (l wrong) Deriv(z, y float64) float64 {
	if l.deriv != nil {
		return l.deriv(z, y)
	}
	return l.Loss.Deriv(z, y)
}

func (l wrong) Constants(z, y float64) Constants {
	c := l.Loss.Constants(z, y)
	if l.change != nil {
		l.change(&c)
	}
	return c
}

func (l wrong) Diameter(z, y float64) float64 {
	if l.diameter != 0 {
		return l.diameter * l.Loss.Diameter(z, y)
	}
	return l.Loss.Diameter(z, y)
}

// CheckConstants reports each claim that a few per cent make false.
func TestCheckConstantsFinds(t *testing.T) {
	nan := func(float64, float64) float64 { return math.NaN() }
	for _, c := range []struct {
		loss wrong
		what string
	}{
		{wrong{Loss: Logistic{}, change: func(c *Constants) { c.AtZero *= 0.97 }}, "AtZero"},
		{wrong{Loss: Logistic{}, change: func(c *Constants) { c.Value *= 0.97 }}, "Value"},
		{wrong{Loss: Logistic{}, change: func(c *Constants) { c.Slope *= 0.97 }}, "Slope"},
		{wrong{Loss: Logistic{}, change: func(c *Constants) { c.Smoothness *= 0.97 }}, "Smoothness"},
		{wrong{Loss: Logistic{}, change: func(c *Constants) { c.Lipschitz = 0.97 }}, "Lipschitz"},
		{wrong{Loss: Logistic{}, diameter: 0.97}, "Diameter"},
		{wrong{Loss: Poisson{}, diameter: 0.97}, "Diameter"},
		{wrong{Loss: Squared{}, value: nan}, "value and derivative"},
		{wrong{Loss: Squared{}, deriv: nan}, "value and derivative"},
		{wrong{Loss: Squared{}, value: func(z, y float64) float64 { return (z-y)*(z-y)/2 - 0.01 }}, "non-negativity"},
		{wrong{Loss: Squared{}, deriv: func(z, y float64) float64 { return 0.9 * (z - y) }}, "derivative, the least rise of φ by φ'"},
		{wrong{Loss: Squared{}, deriv: func(z, y float64) float64 { return z - y - 0.3 }, change: func(c *Constants) { c.Slope++ }}, "derivative, the largest rise of φ by φ'"},
		{wrong{
			Loss:  Squared{},
			value: func(z, _ float64) float64 { return 1.9 - z*z/20 },
			deriv: func(z, _ float64) float64 { return -z / 10 },
		}, "convexity, φ' before"},
	} {
		err := CheckConstants(c.loss, 3, 2)
		var e *check.Error
		if !errors.Is(err, check.ErrConfig) || !errors.As(err, &e) || !strings.HasSuffix(e.Param(), ": "+c.what) {
			t.Errorf("%s, wrong %s: %v", c.loss.Name(), c.what, err)
		}
	}
	for _, c := range []struct {
		loss Loss
		z, y float64
		kind error
	}{
		{nil, 1, 1, check.ErrConfig},
		{Huber{}, 1, 1, check.ErrConfig},
		{Huber{1}, 1, 0, check.ErrBound},
		{Poisson{}, 1e4, 1, check.ErrBound},
		{without(func(l *Custom) { l.SmoothnessWithin = func(z, _ float64) float64 { return math.Exp(z / 2) } }), 3, 2, check.ErrConfig},
	} {
		if err := CheckConstants(c.loss, c.z, c.y); !errors.Is(err, c.kind) {
			t.Errorf("%T: %v, want %v", c.loss, err, c.kind)
		}
	}
}
