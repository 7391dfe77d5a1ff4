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
//
// A public model that the problem names is where weights are drawn to in place of 0: their law is about its weights times a number k, which is
// 1 give or take ½ beforehand, and k is found with the variance, or is 0 where labels are likelier without the model. They are asked nothing for it. Models whose scores vary by more
// than labels tell are shortened first, and what no row varies along is left at k times the model's, with k held between 0 and 1.
//
// Of real labels each sum is of residuals between two ends, where noise and what is cut off of the longest rows are least together, and counts by one over these's squares. The labels' mean
// tells the constant, too, by inverse variances; what noise hides beyond the ends is in its error, as labels may be skewed.
//
// Of counts each sum is of means less labels between two ends. What labels go beyond these is put back as the law of their means says: counts of Poisson's law whose variance is as many times
// as large as the residuals' is. The labels' mean, of which nothing is cut off, tells the constant too, and how much more was cut off than that. Where scores vary by V means are
// e^(V/2) times as large, so that noise costs more than of other labels: that V is 1 is taken to be likely.
//
// # Privacy
//
// Neighbours differ in the label of one row. All releases are Gaussian, from one pool of μ, as those of package estimate: each takes a share of
// μ², which may depend on earlier results. Sensitivities are of the sum 2BK, labels'
// statistics held to ±B ([curator.Slope]), or of classes √2·K, which is for a replaced label alone ([curator.ClassSlope]), and √2·(BK)² of
// products; √2 of a histogram of residuals; a label's range of their mean. These others are for a replaced row, which bounds a label's. All else follows from features, offsets and n, which are public, and from what was released.
package labelsonly
