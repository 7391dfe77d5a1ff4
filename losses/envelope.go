package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Envelope smooths the kink of Hinge, Absolute or Quantile over a width h: it
// returns the Moreau envelope
//
//	φ_h(z) = min_u φ(u) + (u−z)²/(2h)
//
// and true. Any other loss, also one inside [Extended], comes back as it is with
// false. The envelope is convex, non-negative and 1/h-smooth, has the minima and
// the Lipschitz constant s of φ, and
//
//	0 ≤ φ − φ_h ≤ h·s²/2.
//
// Proof. All three are φ = max(−a·r, b·r) of a residual r with |dr/dz| = 1 and
// a, b ≥ 0, so φ_h is the envelope in r. At the best u the residual moved by h
// times a subgradient v ∈ [−a, b], which gives φ_h = max over these v of
// v·r − h·v²/2. That is at most φ, and with the end v = −a or b it is at least
// φ − h·max(a, b)²/2. The best v is r/h held in [−a, b]; it is the slope.
func Envelope(l Loss, width float64) (Loss, bool) {
	switch k := l.(type) {
	case Hinge:
		return envelope{inner: l, falling: 1, rising: 0, width: width}, true
	case Absolute:
		return envelope{inner: l, falling: 1, rising: 1, width: width}, true
	case Quantile:
		return envelope{inner: l, falling: k.Tau, rising: 1 - k.Tau, width: width}, true
	}
	return l, false
}

// envelope is the envelope of max(−falling·r, rising·r). The residual r is z−y
// for real labels and yz−1 for binary ones.
type envelope struct {
	inner                  Loss
	falling, rising, width float64
}

func (l envelope) Name() string { return fmt.Sprintf("%s smoothed over %g", l.inner.Name(), l.width) }

func (l envelope) Labels() Labels { return l.inner.Labels() }

func (l envelope) Validate() error {
	if err := check.Valid("loss", l.inner); err != nil {
		return err
	}
	return check.Scale(check.ErrConfig, "width of Envelope", l.width)
}

// residual returns r and dr/dz.
func (l envelope) residual(z, y float64) (r, sign float64) {
	if l.Labels() == Binary {
		return float64(y*z) - 1, y
	}
	return z - y, 1
}

// slope is r/h held between the slopes of the kink.
func (l envelope) slope(r float64) float64 {
	return math.Max(-l.falling, math.Min(r/l.width, l.rising))
}

// at is v·r − h·v²/2 at the slope v. The bracket has no smaller size than half
// of r, and v the sign of r, so that rounding can't make it negative.
func (l envelope) at(r float64) float64 {
	v := l.slope(r)
	return v * (r - float64(l.width*v/2))
}

func (l envelope) Value(z, y float64) float64 {
	r, _ := l.residual(z, y)
	return l.at(r)
}

func (l envelope) Deriv(z, y float64) float64 {
	r, sign := l.residual(z, y)
	return sign * l.slope(r)
}

func (l envelope) Curvature(z, y float64) float64 {
	r, _ := l.residual(z, y)
	if v := r / l.width; -l.falling < v && v < l.rising {
		return 1 / l.width
	}
	return 0
}

// Constants are attained at the ends of the residuals' range: [−Z−Y, Z+Y], or
// [−Z−1, Z−1] for binary labels, of which only the lower end matters as the
// loss vanishes above 0.
func (l envelope) Constants(z, y float64) Constants {
	y = l.labelBound(y)
	steepest := math.Max(l.falling, l.rising)
	return Constants{
		AtZero:     math.Max(l.at(-y), l.at(y)),
		Value:      math.Max(l.at(-z-y), l.at(z+y)),
		Slope:      math.Min(steepest, (z+y)/l.width),
		Smoothness: 1 / l.width,
		Lipschitz:  steepest,
	}
}

// Diameter is exactly 1/h times that of the Huber loss with κ = h·max(a, b), at
// label bound 1 if labels are binary.
//
// Proof. Read −yx for the row x and −1 for its label y if labels are binary. Then
// h times a gradient is the Huber loss's at the same row and label, or a shorter
// one of the same direction where the lower of the slopes a and b holds it. Zero
// is a Huber gradient too, that of the row 0, so all lie in the convex hull of
// those gradients, whose diameter is theirs. The two rows that attain it are
// mirror images at the axis of w with one score and one slope, and can be had on
// the side of the steeper slope.
func (l envelope) Diameter(z, y float64) float64 {
	k := l.Constants(z, y)
	huber := Huber{Kappa: l.width * k.Lipschitz}.Diameter(z, l.labelBound(y)) / l.width
	return math.Min(2*k.Slope, huber*(1+1e-15))
}

// labelBound is the largest |r| at score 0.
func (l envelope) labelBound(y float64) float64 {
	if l.Labels() == Binary {
		return 1
	}
	return y
}
