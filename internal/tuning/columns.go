package tuning

// What descents with a scale for each column are tuned by.
const (
	// ColumnLengthsShare: part of what is left of μ² of each histogram of norms. Origin not
	// recorded.
	ColumnLengthsShare = 0.02
	// ColumnScalesShare: part of what is left of μ² of the columns' sums of squares. Origin not
	// recorded.
	ColumnScalesShare = 0.07
	// ColumnCut: fraction of rows that are shortened: nine in ten don't exceed the bound. Origin
	// not recorded.
	ColumnCut = 0.1
	// ColumnDamping: what is added to a column's sum of squares, over what noise comes to in the
	// largest. Origin not recorded.
	ColumnDamping = 0.5
	// ColumnRare: the same in any case, over n times the square of the bound on rows. Tuned on sets
	// of data, 25 November 2026.
	ColumnRare = 0.001
	// ColumnSpread: variance of scores that the ridge takes for given. Tuned on sets of data, 25
	// November 2026.
	ColumnSpread = 4
	// ColumnEdges: half-octaves of the scaled rows' norms. Origin not recorded.
	ColumnEdges = 24
	// ColumnClip: norm of a typical row over the clip. Origin not recorded.
	ColumnClip = 3
	// ColumnStep: step at most, over 1/(curvature of a typical row). Origin not recorded.
	ColumnStep = 128
	// ColumnLeastSteps: steps at least. Origin not recorded.
	ColumnLeastSteps = 60
	// ColumnMostSteps: steps at most. Origin not recorded.
	ColumnMostSteps = 300
	// ColumnMostMomentum: momentum at most, where so many steps don't reach far enough with the usual
	// one. Tuned on sets of data, 25 November 2026.
	ColumnMostMomentum = 0.9
)
