// Package accounting computes how private releases are: privacy profiles, their
// compositions and bounds for groups of rows. It knows numbers about noise, not
// the noise: package mechanisms draws that, keeps the ledgers and imports this
// package, never the other way round.
//
// In come the numbers of releases: [Gaussian], [Pure], [BoundedRange], [Objective]; out come
// [Sequence] values, which [Compose] and [Parallel] put together, and their δ, ε and μ.
//
// Read profile.go and sequence.go first: what accounting knows of one release, and of several.
// gaussian.go, pure.go, objective*.go and parallel.go are the profiles; composition.go, pld.go
// and convolve.go compose them numerically; group.go is for neighbours that differ in several
// rows.
//
// Every number errs towards less privacy. The files calibrate*.go search for the
// largest ratio of sensitivity to noise that fits a budget. Nothing rests on them:
// the ledger of what they found is held against the budget afterwards.
//
// # Sources
//
// [BW18] Balle and Wang, Improving the Gaussian Mechanism for Differential
// Privacy, ICML 2018. [DRS22] Dong, Roth and Su, Gaussian Differential Privacy,
// JRSS-B 2022. [KOV17] Kairouz, Oh and Viswanath, The Composition Theorem for
// Differential Privacy, IEEE Trans. IT 2017. [DDR20] Dong, Durfee and Rogers,
// Optimal Differential Privacy Composition for Exponential Mechanisms, ICML 2020.
// [KJPH21] Koskela, Jälkö, Prediger and Honkela, Tight Differential Privacy for
// Discrete-Valued Mechanisms and for the Subsampled Gaussian Mechanism Using
// FFT, AISTATS 2021. [GLW21] Gopi, Lee and Wutschitz, Numerical Composition of
// Differential Privacy, NeurIPS 2021. [DGKKM22] Doroshenko, Ghazi, Kamath, Kumar
// and Manurangsi, Connect the Dots: Tighter Discrete Approximations of Privacy
// Loss Distributions, PETS 2022. [ZDW22] Zhu, Dong and Wang, Optimal Accounting
// of Differential Privacy via Characteristic Function, AISTATS 2022.
package accounting
