package tuning

// What frames are tuned by: their shares of μ², what their histograms span, how long rows may be, and
// from where on moments and Hessians are worth releasing.
const (
	// LengthsShare: share of μ² of each histogram of norms. Origin not recorded.
	LengthsShare = 0.01
	// CentreShare: share of μ² of the features' mean. Origin not recorded.
	CentreShare = 0.04
	// MomentsShare: share of μ² of second moments. Origin not recorded.
	MomentsShare = 0.10
	// AgainShare: share of μ² of the second round of moments, and of the mean of labels whose
	// intercept is hidden. Origin not recorded.
	AgainShare = 0.07
	// MomentsFrom: n·μ/√d below which second moments drown, for inference and for several classes:
	// 2/(0.15·√MomentsShare), noise being 0.15 of the squared bound on rows. Origin not recorded.
	MomentsFrom = 42
	// NormEdges: half-octaves of a histogram of norms. Origin not recorded.
	NormEdges = 20
	// FineEdges: octaves between edges of a histogram of norms that is to be read finely. Origin
	// not recorded.
	FineEdges = 0.25
	// RowEdges: fine edges of a histogram of √φ”·‖x̃‖. Origin not recorded.
	RowEdges = 10
	// EdgeSurely: standard deviations that noise may hide beyond a clip, or a bound on rows for
	// their Hessian. Origin not recorded.
	EdgeSurely = 3
	// FadingFirst: fraction of rows that may be longer than the bound for moments: this times √d
	// over n·μ. Origin not recorded.
	FadingFirst = 200
	// FadingAgain: the same in the second round. Origin not recorded.
	FadingAgain = 100
	// FadingMost: that fraction at most. Tuned on sets of data, 25 November 2026.
	FadingMost = 0.4
	// BoundsFree: n·μ/d^1.5 from which on noise can't matter and bounds let go. Origin not
	// recorded.
	BoundsFree = 10_000
	// FreeMoments: noise over second moments, or over curvature, up to which a bound on rows lets
	// go. Origin not recorded.
	FreeMoments = 0.01
	// TracePart: part of moments' trace that a direction which noise hides may have at most. Tuned on
	// sets of data, 25 November 2026.
	TracePart = 0.2
	// AlikeShare: share of μ² over 1/nμ of the histogram of norms that is read before moments. Origin
	// not recorded.
	AlikeShare = 4
	// AlikeMostShare: that share at most. Origin not recorded.
	AlikeMostShare = 0.05
	// MomentsTop: highest edge of rows' norms after the first round, over √d. Origin not recorded.
	MomentsTop = 32
	// AgainNoise: noise over moments, up to which a second round promises something. Origin not
	// recorded.
	AgainNoise = 0.3
	// AgainEffective: effective dimension over d, up to which a second round does. Tuned on sets of
	// data, 25 November 2026.
	AgainEffective = 0.7
	// NewtonFrom: n·μ/d^1.5 from which on an estimate ends with an inference's steps. Tuned on sets of
	// data, 25 November 2026.
	NewtonFrom = 2_000
	// CurvatureSteepest: φ” over that of the constant model that bounds on √φ”·‖x̃‖ are looked for
	// by, at most. Origin not recorded.
	CurvatureSteepest = 8
	// LevelNormMost: norm of a level's rows, on average, at most. Tuned on sets of data and made-
	// up levels of 1 to 5 %.
	LevelNormMost = 3
	// LevelFree: factor of that bound over μ·√rows, by which it lets go as noise fades. Tuned on
	// sets of data and made-up levels of 1 to 5 %.
	LevelFree = 0.001
	// MeansShare: share of μ² of columns' means beside moments for regressions. Tuned by hand: .05, .1 and .2 were tried.
	MeansShare = 0.10
	// SquaresShare: share of μ² of mean squares beside these. Tuned by hand, as FourthShare.
	SquaresShare = 0.03
	// FourthShare: share of μ² of the fourth moments that standard errors of regressions on moments are made of. Tuned by
	// hand: their noise is a hundredth of them where second moments' is a fifth.
	FourthShare = 0.03
	// LongerCost: what a row that is scaled down in moments for regressions costs, where the operator norm of their
	// noise per row costs 1. Tuned by hand on eight sets of data, 27 November 2026: 1, 4 and 16 were tried.
	LongerCost = 4
)
