package tuning

// What descents of several classes are tuned by, beside what others are.
const (
	// RatesShare: share of μ² of the classes' counts. Origin not recorded.
	RatesShare = 0.01
	// ClassCurvatureRare: curvature that a step is safe for, over the constant model's, where a
	// class is rare. Origin not recorded.
	ClassCurvatureRare = 4
	// ClassCurvatureEven: what of that goes where classes are even. Origin not recorded.
	ClassCurvatureEven = 3
	// ClassClipped: fraction of gradients that a clip may shorten at most, of even classes. Origin
	// not recorded.
	ClassClipped = 0.3
	// ClassMostSteps: steps at most, and where moments drown. Origin not recorded.
	ClassMostSteps = 32
	// ClassLeastSteps: steps at least. Origin not recorded.
	ClassLeastSteps = 20
	// ClassTight: factor of the clip where noise makes steps short. Origin not recorded.
	ClassTight = 0.7
	// ClassTightDrowned: the same where columns weren't whitened. Origin not recorded.
	ClassTightDrowned = 0.5
	// ClassDrownedStep: step there, over 1/(curvature of a typical row). Origin not recorded.
	ClassDrownedStep = 3
	// QuietMomentum: momentum where noise doesn't make steps short. Origin not recorded.
	QuietMomentum = 0.75
	// ClassEdges: half-octaves of the first histogram of gradients' norms. Origin not recorded.
	ClassEdges = 24
	// ClassTop: its highest edge, over √(d+1). Origin not recorded.
	ClassTop = 4
	// ClassAlikeEdges: half-octaves of it where moments drown. Origin not recorded.
	ClassAlikeEdges = 16
	// ClassAlikeTop: its highest edge there. Origin not recorded.
	ClassAlikeTop = 8
	// ClassRowsLeast: mean square of rows at least. Origin not recorded.
	ClassRowsLeast = 0.25
	// FactorShare: share of μ² of the factor of the scores. Origin not recorded.
	FactorShare = 0.03
	// FactorLooks: slopes of the loss in it that are released. Origin not recorded.
	FactorLooks = 3
	// FactorFrom: n·μ from which on the factor can be told. Origin not recorded.
	FactorFrom = 310
	// FactorLimit: bound on a row's slope in the factor at least. Origin not recorded.
	FactorLimit = 3
	// FactorLimitNoise: that bound over n·μ of a look, up to which it is free. Origin not
	// recorded.
	FactorLimitNoise = 0.015
	// FactorLimitSpread: that bound over the scores' deviation. Origin not recorded.
	FactorLimitSpread = 6
	// FactorLimitGrowth: root of n·μ of a look per unit of that. Origin not recorded.
	FactorLimitGrowth = 4
	// FactorMost: factor at most. Origin not recorded.
	FactorMost = 4
	// FactorLeast: factor at least. Origin not recorded.
	FactorLeast = 0.25
	// FactorUsual: deviation of the factor from 1 beforehand, at most. Tuned on sets of data and
	// made-up classes.
	FactorUsual = 0.5
	// FactorSteep: steepness of the slope over the scores' variance beforehand, known up to a
	// factor of e. Tuned on sets of data and made-up classes.
	FactorSteep = 0.2
	// FactorCurved: part of the way to a look that the slope isn't a line by. Tuned on sets of
	// data and made-up classes.
	FactorCurved = 0.15
)
