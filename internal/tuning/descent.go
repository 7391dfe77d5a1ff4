package tuning

// What descents are tuned by: the labels' mean that they begin with, their shares of μ², steps and
// clips, and what is made of their results.
const (
	// LeastNMu: n·μ below which there is only the constant model. Origin not recorded.
	LeastNMu = 45.0
	// MeanKnown: 1 over the noise in the labels' mean, in their range, at which it has enough of
	// μ², and of counts over their mean; and 1 over that at which the slope of counts' intercept is hidden. Origin not recorded.
	MeanKnown = 25
	// LeastShare: share of μ² at least of the labels' mean, and of what weighs a prior. Origin not recorded.
	LeastShare = 0.005
	// MeanLeastSharePilot: the same of a pilot, which has but a part of μ². Origin not recorded.
	MeanLeastSharePilot = 0.1
	// MeanLeastShareClasses: the same of a pilot for classes. Origin not recorded.
	MeanLeastShareClasses = 0.03
	// MostShare: share of μ² at most of the labels' mean, and of a second total. Origin not recorded.
	MostShare = 0.2
	// RareKnown: the rarer class's fraction, or counts' mean, over the noise of the labels' mean, at least.
	// Tuned on sets of data, 25 November 2026.
	RareKnown = 4
	// MeansLeast: least bound on the means that a model says of counts, over the labels' mean. Tuned on made-up counts, 30 November 2026.
	MeansLeast = 4
	// MeansOver: n·μ over that bound where it is larger. Tuned on made-up counts, 30 November 2026.
	MeansOver = 400.0
	// MeansLess: the bound on φ' over that bound, at least, for means to be released in the place of φ'. Tuned on made-up counts, 30 November 2026.
	MeansLess = 3
	// RealResidual: range of real labels over their deviation, roughly. Origin not recorded.
	RealResidual = 20
	// StepCurvature: curvature that a step is safe for, over the constant model's. Origin not
	// recorded.
	StepCurvature = 4
	// StepCurvatureCount: the same for counts, and for bounds on √φ”·‖x̃‖. Origin not recorded.
	StepCurvatureCount = 8
	// BearableNoise: deviation that noise may bring into scores of real labels, counts and amounts, over a slope's. Tuned on sets of data,
	// 30 November 2026.
	BearableNoise = 0.8
	// BearableClasses: the same of classes, times the root of the largest curvature. Tuned on sets of data, 30 November 2026.
	BearableClasses = 0.2
	// BearableIntercept: part of that variance that the intercept's noise may bring. Tuned on sets of data, 30 November 2026.
	BearableIntercept = 0.2
	// Momentum: part of a step that goes on in the next. Origin not recorded.
	Momentum = 0.5
	// LineShare: share of μ² of the last steps, along one line, and of those along a prior at most. Tuned on sets of data, 25 November 2026.
	LineShare = 0.05
	// LineSteps: steps along the line. Tuned on sets of data, 25 November 2026.
	LineSteps = 8
	// LineCounts: part of what a line has of each histogram. Tuned on sets of data, 25 and 27 November 2026.
	LineCounts = 0.1
	// LineDoubt: the same that nothing tells of. Tuned on sets of data, 25 November 2026.
	LineDoubt = 0.2
	// PriorKnown: n·μ over which the root of that share is, where that is less: scores of a slope's deviation have a
	// length known to about a tenth by eight steps then. Tuned on sets of data, 27 November 2026.
	PriorKnown = 100.0
	// PriorDoubt: deviation of a prior's number on its line from 1. Tuned on sets of data, 27 November 2026.
	PriorDoubt = 0.5
	// PriorScores: standard deviation of log-odds by a prior at most, of two classes on average, where labels alone are private: longer ones are shortened
	// beforehand. Tuned on made-up data, 28 November 2026.
	PriorScores = 3.0
	// PriorTop: score that the histogram begins at, or twice and so on as much up to rows' bound; of real labels it is their range.
	// Tuned on sets of data, 27 November 2026.
	PriorTop = 8.0
	// PriorEdges: edges of the histogram from there on, each half the last. Tuned on sets of data, 27 November 2026.
	PriorEdges = 6
	// LeastSteps: steps at least. Origin not recorded.
	LeastSteps = 12.0
	// StepsMore: steps more for each doubling of n·μ over the effective dimension. Origin not recorded.
	StepsMore = 3
	// MostSteps: steps at most. Tuned: see docs/tuning.md.
	MostSteps = 33
	// Ridge: ridge over (d_eff/nμ)² and the curvature. Origin not recorded.
	Ridge = 32.0
	// ClippedRows: fraction of gradients that a clip may shorten: this times √d_eff over n·μ.
	// Origin not recorded.
	ClippedRows = 40
	// FirstEdges: octaves of the first histogram of gradients' norms. Origin not recorded.
	FirstEdges = 15
	// LaterEdges: half-octaves of later histograms of gradients' norms. Origin not recorded.
	LaterEdges = 8
	// ClipFrom: n·μ/d up to which a clip is that of typical gradients. Tuned on sets of data, 25
	// November 2026.
	ClipFrom = 25
	// ClipRare: clip over a rare row's gradient, where the class is too small to be seen. Origin
	// not recorded.
	ClipRare = 0.8
	// JointLeastShare: share of μ² of rows by level and by a model's score, at least. Origin not
	// recorded.
	JointLeastShare = 0.04
	// JointMostShare: the same at most, and share of μ² of a model by the first thresholds, for the order of the rows' scores. Origin not recorded.
	JointMostShare = 0.15
	// JointHides: that share over levels/nμ between these. Origin not recorded.
	JointHides = 150
	// WideExposures: logarithm of the largest exposure that there may be over the least, from which on a power of exposures is asked for, too. Tuned on
	// made-up counts, so that exposures of a hundredth to 1 have their sum alone, 1 December 2026.
	WideExposures = 5.0
)

// What estimates are tuned by where labels alone are private.
const (
	// FirstLabels: part of μ² of the first of two sums of real labels or counts, by whose estimate the second one's are less.
	// Tuned on the 11 sets of real labels in dev and hard, 26 November 2026.
	FirstLabels = 0.3
	// ResidualsShare: part of a sum's μ² that a histogram of residuals takes. Tuned on the 11 sets of real labels in
	// dev and hard, 26 November 2026.
	ResidualsShare = 0.1
	// ProductsShare: part of μ² that products of gradients take for standard errors. Tuned on telco_churn and nass_crash,
	// 26 November 2026.
	ProductsShare = 0.1
	// LeastCutReal: least cut of rows for intervals of real labels, over what rows are long: a model of these is hardly ever
	// true far out. Tuned on the survey of wages, 26 November 2026.
	LeastCutReal = 2.0
	// ConstantOff: units that a constant is likely to be off the constant model's. Tuned on digits and satellite,
	// 26 November 2026.
	ConstantOff = 2.0
)
