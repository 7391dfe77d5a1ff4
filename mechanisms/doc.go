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
// Neighbouring data sets differ in the value of one row (replace-one); the
// number of rows is public. Sensitivities are L2 unless a name says otherwise.
// Each calibration errs towards more noise, each stated δ or ε towards less
// privacy. Argument errors unwrap to the sentinels of package dpglm.
//
// # Sources
//
// [BW18] Balle and Wang, Improving the Gaussian Mechanism for Differential
// Privacy, ICML 2018. [DRS22] Dong, Roth and Su, Gaussian Differential Privacy,
// JRSS-B 2022. [CKS20] Canonne, Kamath and Steinke, The Discrete Gaussian for
// Differential Privacy, NeurIPS 2020. [M12] Mironov, On Significance of the
// Least Significant Bits for Differential Privacy, CCS 2012.
package mechanisms
