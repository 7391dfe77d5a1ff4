package tuning

// What descents with a scale for each column are tuned by.
const (
	// ColumnCut: fraction of rows that are shortened: nine in ten don't exceed the bound. Origin not recorded.
	ColumnCut = 0.1
	// ColumnRare: the same in any case, over n times the square of the bound on rows. Tuned on sets
	// of data, 25 November 2026.
	ColumnRare = 0.002
	// ColumnSpread: variance of scores that the ridge takes for given. Tuned on sets of data, 25
	// November 2026.
	ColumnSpread = 2
	// ColumnSteps: steps. Tuned on sets of data, 25 November 2026.
	ColumnSteps = 50
	// ColumnMostMomentum: momentum at most, where so many steps don't reach far enough with the usual
	// one. Tuned on sets of data, 25 November 2026.
	ColumnMostMomentum = 0.9
)
