// Package losses holds the losses φ_y(z) of generalized linear models, z being
// the score ⟨w, x⟩ and y the label, with the constants that sensitivities and
// step sizes are computed from.
//
// A loss is convex in z and non-negative. Its constants are functions of the
// public bounds on |z| and |y|; each is an upper bound, and tight unless its
// comment says otherwise. Symbols of [AB+22] (Arora, Bassily, Guzmán, Menart,
// Ullah, Differentially Private Generalized Linear Models Revisited, NeurIPS
// 2022, arXiv:2205.03014v2) and their names here:
//
//	‖Y‖²  sup_y φ_y(0)        Constants.AtZero (not the label bound)
//	H     sup φ''_y(z)        Constants.Smoothness
//	G     in z                Constants.Slope, Constants.Lipschitz
package losses

// Labels is a loss's label domain.
type Labels string

// The label domains.
const (
	Binary Labels = "binary" // given as 0/1 or −1/1; a fixed rule maps y > 0 to +1, the rest to −1
	Real   Labels = "real"   // clamped to [−Y, Y]
	Count  Labels = "count"  // ≥ 0, clamped to [0, Y]
	Amount Labels = "amount" // ≥ 0, such as money; clamped to [0, Y]
)

// Valid reports whether l is one of the domains above.
func (l Labels) Valid() bool { return l == Binary || l == Real || l.FromZero() }

// FromZero reports whether labels lie in [0, Y].
func (l Labels) FromZero() bool { return l == Count || l == Amount }

// Loss is a convex, non-negative loss φ_y(z); an [Extended] one may be negative
// outside its limit. Implementations are immutable and safe for concurrent
// use. One with parameters has a method Validate() error, which Validate calls.
type Loss interface {
	// Name identifies the loss with its parameters.
	Name() string
	// Labels is the domain of y.
	Labels() Labels
	// Value is φ_y(z).
	Value(z, y float64) float64
	// Deriv is φ'_y(z), or a subgradient where there is a kink.
	Deriv(z, y float64) float64
	// Constants holds for scores |z| ≤ z and labels within the bound y.
	Constants(z, y float64) Constants
	// Diameter is an upper bound on the distance between two gradients
	// φ'_y(⟨w, x⟩)x at one w, over all rows ‖x‖ ≤ 1 and labels within the bound
	// y, for ‖w‖ = z. The distance itself never decreases in z (the second
	// claim at spread), so a bound at z holds for shorter w too. At feature
	// bound X the diameter is X·Diameter(X‖w‖, y). 2·Constants(z, y).Slope is
	// always valid.
	Diameter(z, y float64) float64
}

// Constants are upper bounds on a loss for |score| ≤ Z and label bound Y.
type Constants struct {
	AtZero     float64 // sup_y φ_y(0)
	Value      float64 // sup φ_y(z)
	Slope      float64 // sup |φ'_y(z)|
	Smoothness float64 // sup φ''_y(z); +Inf where φ' jumps
	Lipschitz  float64 // sup |φ'_y(z)| over all z; +Inf where unbounded
}
