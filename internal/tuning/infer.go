package tuning

// What inference is tuned by: its shares of μ², the pilot's beginning, the wide clip, its steps, and
// when nothing is determined.
const (
	// PilotSlope: share of μ² per feature and root of PilotNear/nμ that the pilot has: more leaves
	// less for the law. Tuned on trials on made-up populations, the survey and other sets of data.
	PilotSlope = 0.25
	// PilotMost: the largest share of μ² that the pilot has. Tuned on trials on made-up
	// populations, the survey and other sets of data.
	PilotMost = 0.25
	// PilotNear: n·μ at which a feature takes PilotSlope. Tuned on trials on made-up populations,
	// the survey and other sets of data.
	PilotNear = 16.0
	// PilotNearReal: the same for real labels. Tuned on trials on made-up populations, the survey
	// and other sets of data.
	PilotNearReal = 25.0
	// PilotLeast: the least share of μ² that the pilot has. Tuned on trials on made-up
	// populations, the survey and other sets of data.
	PilotLeast = 0.09
	// PilotLeastReal: the same for real labels. Tuned on trials on made-up populations, the survey
	// and other sets of data.
	PilotLeastReal = 0.08
	// PilotFewest: features that a pilot is planned for at least. Tuned on trials on made-up
	// populations, the survey and other sets of data.
	PilotFewest = 6
	// RowBoundShare: share of μ² of each histogram of √φ”·‖x̃‖. Tuned on trials on made-up
	// populations, the survey and other sets of data.
	RowBoundShare = 0.015
	// CurveLeastShare: the least share of μ² of a Hessian. Tuned on trials on made-up populations,
	// the survey and other sets of data.
	CurveLeastShare = 0.03
	// FirstCurveMostShare: the largest share of μ² of the Hessian at the pilot. Tuned on trials on
	// made-up populations, the survey and other sets of data.
	FirstCurveMostShare = 0.06
	// CurveMostShare: the largest share of μ² of the next Hessian. Tuned on trials on made-up
	// populations, the survey and other sets of data.
	CurveMostShare = 0.25
	// WideClipShare: share of μ² of the histogram of gradients' norms, by which the wide clip is
	// chosen. Tuned on trials on made-up populations, the survey and other sets of data.
	WideClipShare = 0.04
	// ScatterShare: share of μ² of the gradients' scatter. Tuned on trials on made-up populations,
	// the survey and other sets of data.
	ScatterShare = 0.02
	// NewtonSteps: steps from the pilot. Tuned on 200 problems drawn at random, 26 November 2026.
	NewtonSteps = 4
	// TailPower: likely power of the law of the longest gradients. Tuned on made-up populations.
	TailPower = 0.6
	// LikelyDeviations: standard deviations that a likely label is off, of labels whose slopes have no bound.
	// Tuned on 200 problems drawn at random, 26 November 2026.
	LikelyDeviations = 2
	// CutPart: part of what is cut off of gradients that may lie along a direction. Tuned on 200
	// problems drawn at random, 26 November 2026.
	CutPart = 0.6
	// Misfit: what rows that count less may change of a coefficient, in coordinates in which rows are round (of real
	// labels in deviations about predictions),
	// over the part of its curvature that they had. Tuned on 200 problems drawn at random, 26 November 2026.
	Misfit = 0.15
	// WideClipEdges: half-octaves of the histogram of gradients' norms. Tuned on trials on made-up
	// populations, the survey and other sets of data.
	WideClipEdges = 26
	// WideClipMore: n·μ below which WideClipShare grows in proportion to 1/nμ. Tuned on trials on
	// made-up populations, the survey and other sets of data.
	WideClipMore = 3000
	// WideClipMost: factor by which it does at most. Tuned on trials on made-up populations, the
	// survey and other sets of data.
	WideClipMost = 3.0
	// CurvatureHidden: fraction of a direction's second moment that isn't noise, below which the
	// Hessian at the pilot is released first. Origin not recorded.
	CurvatureHidden = 0.8
	// RowTypical: edge of √φ”·‖x̃‖ to begin at, in root mean squares. Origin not recorded.
	RowTypical = 3
	// RowFar: factor between the typical edge and the far ones. Origin not recorded.
	RowFar = 8
	// RowSurely: standard deviations that tell of rows far beyond: one wrong answer in ten
	// thousand would drown the Hessian. Origin not recorded.
	RowSurely = 4
	// RowCut: rows that exceed the bound on √φ”·‖x̃‖: this times dim/μ. Origin not recorded.
	RowCut = 10
	// RowCutMost: fraction of rows that do at most. Origin not recorded.
	RowCutMost = 0.05
	// CurveNoise: mean curvature over the operator norm of a Hessian's noise, at which it has
	// enough of μ². Origin not recorded.
	CurveNoise = 5
	// ShortHessian: norm of rare levels' rows where Hessians are released, in rows' root mean
	// squares. Origin not recorded.
	ShortHessian = 1.5
	// GrowthMost: factor by which a Hessian is taken to grow or to fade, at most. Origin not
	// recorded.
	GrowthMost = 5.0
	// AverageRounds: rounds that settle the mean of steps along which the Hessian grows. Origin
	// not recorded.
	AverageRounds = 3
	// Nonlinear: part of a Hessian's change on the way that a step misses: it sees half, and half
	// again. Origin not recorded.
	Nonlinear = 0.25
	// NonlinearLog: the same for counts and amounts. Origin not recorded.
	NonlinearLog = 0.3
	// ScoresOff: error of a typical score from which on no estimate is close. Origin not recorded.
	ScoresOff = 2.0
	// ScoresOffLog: the same for counts and amounts. Origin not recorded.
	ScoresOffLog = 0.4
	// Undetermined: part of a combination that may lie in drowned directions where it is
	// determined: noise in eigenvectors brings that about. Origin not recorded.
	Undetermined = 0.3
	// HiddenVariance: variance of a combination over what drowned directions may add, at least.
	// Origin not recorded.
	HiddenVariance = 4
	// SeparatedScores: deviation of scores from the constant model's, and of their noise, from which on features tell
	// classes. Origin not recorded.
	SeparatedScores = 3
	// SeparatedCurvature: fall of the curvature below the constant model's from which on they do.
	// Origin not recorded.
	SeparatedCurvature = 6
	// ManyDrowned: directions to a drowned one, below which noise may itself hide a part. Origin
	// not recorded.
	ManyDrowned = 4
	// FlatSurely: standard deviations of the bound on drowned directions' curvature. Origin not
	// recorded.
	FlatSurely = 4
	// MeanOff: standard deviations of a mean of predictions beside the labels' that tell of rows
	// cut off. Origin not recorded.
	MeanOff = 3.5
	// MeanRoom: part of scores' spread that is allowed for there. Tuned on made-up rows, 30 November 2026.
	MeanRoom = 0.5
	// Unresolved: wide clip over the lowest edge, below which the histogram told nothing. Tuned on
	// trials on made-up populations, the survey and other sets of data.
	Unresolved = 4
)
