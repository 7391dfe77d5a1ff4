package tuning

// What frames are tuned by: their shares of μ², what their histograms span, how long rows may be, and
// from where on moments and Hessians are worth releasing.
const (
	// CountsShare: share of μ² of each release of counts that others are planned by: histograms of norms, and of what rows come to. Origin
	// not recorded.
	CountsShare = 0.01
	// CentreShare: share of μ² of the features' mean. Origin not recorded.
	CentreShare = 0.04
	// MomentsShare: share of μ² of second moments. Origin not recorded.
	MomentsShare = 0.10
	// AgainShare: share of μ² of the second round of moments, and of the mean of counts where it is all that is known of the
	// intercept. Origin not recorded.
	AgainShare = 0.07
	// NormEdges: half-octaves of a histogram of norms. Origin not recorded.
	NormEdges = 20
	// FineEdges: octaves between edges of a histogram of norms that is to be read finely. Origin
	// not recorded.
	FineEdges = 0.25
	// RowEdges: fine edges of a histogram of √φ”·‖x̃‖. Origin not recorded.
	RowEdges = 10
	// Surely: standard deviations that noise, or labels about their mean, hardly ever exceed. Origin not recorded.
	Surely = 3
	// Fading: fraction of rows that may be longer than the bound on them for moments, where that is less than half: this times √d over n·μ.
	// Origin not recorded.
	Fading = 100
	// TracePart: part of moments' trace that a direction which noise hides may have at most. Tuned on
	// sets of data, 25 November 2026.
	TracePart = 0.2
	// AlikeShare: share of μ² over 1/nμ of the histogram of norms that is read before moments, where that is more than others'. Origin
	// not recorded.
	AlikeShare = 4
	// AgainNoise: noise over moments up to which a second round promises something, where more was hidden. Origin not recorded.
	AgainNoise = 0.3
	// QuietFrom: n·μ/d^1.5 from which on an estimate ends with an inference's steps, and bounds let go. Tuned on sets of
	// data, 25 November 2026.
	QuietFrom = 2_000
	// LevelNormMost: norm of a level's rows, on average, at most. Tuned on sets of data and made-
	// up levels of 1 to 5 %.
	LevelNormMost = 3
	// LetGo: factor over μ·√rows by which that bound and caps of counts' means let go as noise fades. Tuned on sets of data and made-
	// up levels of 1 to 5 %.
	LetGo = 0.001
	// MeansShare: share of μ² of columns' means beside moments for regressions. Tuned by hand: .05, .1 and .2 were tried.
	MeansShare = 0.10
	// BesideShare: share of μ² of each release beside moments for regressions: mean squares, and the fourth moments that standard errors are made of. Tuned by
	// hand: their noise is a hundredth of them where second moments' is a fifth.
	BesideShare = 0.03
	// LongerCost: what a row that is scaled down in moments for regressions costs, where the operator norm of their
	// noise per row costs 1. Tuned by hand on eight sets of data, 27 November 2026: 1, 4 and 16 were tried.
	LongerCost = 4
)
