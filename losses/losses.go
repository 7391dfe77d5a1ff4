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
//
// # Which loss
//
// H bounds the second derivative of φ and L the first one's size, both on the whole line ("ball": only within a
// ball, e^Z there); Y is the label bound, m = yz a margin, r = z − y a residual. The last
// column is what the score becomes: Model.Means, or else Model.Predict.
//
//	                                                   labels  H           L            means
//	Squared           r²/2                             Real    1           –            z
//	Huber             r²/2 to |r| = κ, then linear     Real    1           κ            z
//	Absolute          |r|                              Real    – (kink)    1            z, a median
//	Quantile          max(−τr, (1−τ)r)                 Real    – (kink)    max(τ, 1−τ)  z, a quantile
//	Logistic          log(1 + e^−m)                    Binary  ¼           1            1/(1 + e^−z)
//	Probit            −log Φ(m)                        Binary  1           –            Φ(z)
//	Hinge             max(0, 1−m)                      Binary  – (kink)    1            class
//	SmoothedHinge     the same, rounded over h         Binary  1/h         1            class
//	SquaredHinge      max(0, 1−m)²                     Binary  2           –            class
//	Poisson           e^z − yz + …                     Count   ball        –            e^z
//	CappedPoisson     the same, linear beyond a cap    Count   max(Cap,Y)  max(Cap,Y)   e^z
//	NegativeBinomial  (y+1/α)log(1+αe^z) − yz + …      Count   (Y+1/α)/4   max(Y,1/α)   e^z
//	Ordinal           −log P(level y)                  Count   ½           1            z; Probabilities
//	Gamma             ye^−z + z − …                    Amount  Ratio       max(1,       e^z
//	                                                                       Ratio − 1)
//	Custom            the user's                       any     as stated   as stated    z, or class
//
// Take Logistic for yes or no where probabilities matter, Squared for numbers, Huber or
// Quantile where a few labels are far out or a quantile is wanted, Poisson for counts,
// NegativeBinomial where these vary more than Poisson's law does, Gamma for amounts above 0,
// and Ordinal for grades. A loss with a kink needs more steps than its smooth neighbour and
// is no better for it. One that isn't Lipschitz has noise that grows with the radius.
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
	// claim at spread, in diameter.go), so a bound at z holds for shorter w too. At feature
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
