// Package labelsonly estimates where labels alone are private: who is in the table, and all features, are public. What
// depends on features is told exactly, and labels are asked for one sum, or two:
//
//	s = Σ aᵢ·yᵢ·zᵢ + noise,   aᵢ = min(1, K/‖zᵢ‖)
//
// The coordinates z are those in which the second moments of standardised columns are their square roots, so that noise that
// is alike in all is the least in sum for rows of one length (the best ellipsoid for such rows: noise whose variance
// is the root of their moments), and a row counts a, so that a label moves s by its range times K at most, whatever
// the features are. K makes a forecast of the risk least. Under a canonical link s is all that labels tell of the
// weights, but for what rows that count less would have said.
//
// The estimate is the mode of weights whose law before s is that of independent normal ones, one for each standardised
// column, of the variance that makes s most likely: empirical Bayes, or ridge regression with
// the penalty found from what was released. As rows grow it tends to the minimiser of the loss; with few rows it stays drawn, whatever the
// budget is.
package labelsonly
