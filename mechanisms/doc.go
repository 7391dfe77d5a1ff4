// Package mechanisms holds the noise that makes a release private and the
// accounting that says how private it is.
//
// A mechanism is a plain value, calibrated from public numbers; its Release
// method is the only place where noise meets data. Noise is drawn by exact
// integer samplers and added on a grid (see [Gaussian]), so that a guarantee
// proved for real numbers holds for the float64 values that leave the program.
// A [Ledger] lists what was released; it is a privacy profile δ(ε) and can be
// recomputed from its JSON form by anyone.
//
// # Conventions
//
// Neighbouring data sets differ in the value of one row, or in all rows of one person
// (replace-one; see [Unit]); how many there are is public. Sensitivities are L2 unless a name says otherwise.
// Each calibration errs towards more noise, each stated δ or ε towards less
// privacy. Argument errors unwrap to the sentinels of package dpglm.
//
// # Which mechanism
//
//	                        releases                 what a row may move          spends
//	Gaussian                a vector, + N(0, σ²)     its L2 norm, by Δ            μ = Δ/σ, Gaussian DP
//	Laplace                 a vector, + Laplace      its L1 norm, by Δ            ε, pure, by its own curve
//	Exponential             the index of a score     each score, by Δ             ε, bounded range
//	PermuteAndFlip          the same, and better     each score, by Δ             ε, pure
//	NoisyMax                the same                 each score, by Δ             ε, pure
//	GeneralizedExponential  the same                 score i, by its own Δ_i      ε, bounded range
//	Vote                    yes or no                a margin, by 2               ε, bounded range
//	ObjectivePerturbation   a minimiser              a gradient, of norm ≤ L      a curve of its own
//
// Take Gaussian for vectors, and Laplace where δ has to be 0. For one selection take
// PermuteAndFlip; for several in a sequence Exponential, as a bounded range of ε is Gaussian
// DP of about 0.62ε, a pure ε of about 1.23ε (at ε = 1).
//
// # How releases add up
//
//	                                                 Sequential               Parallel
//	all Gaussian                                     √(Σμ²)                   largest μ
//	all pure, at δ = 0                               Σε                       largest ε
//	else                                             numerically, from above  largest of the curves
//	groups of k rows, Ledger.GroupEpsilon            kμ, kε                   over how rows may fall
//
// Parallel is for disjoint sets of rows that were chosen without looking at them. An
// [Accountant] holds to a total what is chosen as answers come, which Sequential doesn't. Only
// ledgers of one [Unit] add up.
//
// # Sources
//
// [BW18] Balle and Wang, Improving the Gaussian Mechanism for Differential
// Privacy, ICML 2018. [DRS22] Dong, Roth and Su, Gaussian Differential Privacy,
// JRSS-B 2022. [CKS20] Canonne, Kamath and Steinke, The Discrete Gaussian for
// Differential Privacy, NeurIPS 2020. [M12] Mironov, On Significance of the
// Least Significant Bits for Differential Privacy, CCS 2012.
package mechanisms
