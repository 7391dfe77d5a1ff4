package tuning

// What learners beside standardised descent are tuned by, and how their losses are smoothed.
const (
	// StartKnown: 1 over the noise in the labels' mean, in their range, at which the start has
	// enough of μ². Tuned: see docs/tuning.md.
	StartKnown = 100
	// StartReal: how much less real labels vary in their range. Tuned: see docs/tuning.md.
	StartReal = 2.0
	// StartLeastShare: share of μ² of the start at least. Tuned: see docs/tuning.md.
	StartLeastShare = 0.01
	// StartMostShare: the same at most. Tuned: see docs/tuning.md.
	StartMostShare = 0.25
	// StartMostShareCount: the same for counts. Tuned: see docs/tuning.md.
	StartMostShareCount = 0.5
	// WitnessShare: share of μ² of the gradient that the steps don't see. Tuned: see
	// docs/tuning.md.
	WitnessShare = 0.1
	// ClipClasses: clip of classes over the slope at 0, around a start. Tuned: see docs/tuning.md.
	ClipClasses = 1.0
	// ClipOthers: clip of other labels over the slope at 0, around a start: they, too, are usually
	// shorter than their bound. Tuned: see docs/tuning.md.
	ClipOthers = 0.125
	// ClipBall: clip of classes in a given ball. Origin not recorded.
	ClipBall = 0.5
	// ClipBallOthers: clip of other labels in a given ball: they, too, are shorter than their
	// bound. Origin not recorded.
	ClipBallOthers = 0.25
	// ClipFree: clip over the slope at 0 at most: that of no clip for a Lipschitz loss. Tuned: see
	// docs/tuning.md.
	ClipFree = 2
	// LettingGo: n·μ/√d at which a default clip begins to let go. Origin not recorded.
	LettingGo = 150
	// ForStepsNoise: noise over the deviation of typical scores that steps are planned for. Tuned:
	// see docs/tuning.md.
	ForStepsNoise = 0.5
	// PracticalLeastSteps: steps at least. Origin not recorded.
	PracticalLeastSteps = 10
	// PracticalStep: step over 1/H̃ at most: below 2 descent converges for any rows. Origin not
	// recorded.
	PracticalStep = 1.5
	// PracticalStepLipschitz: the same of a Lipschitz loss, whose gradients can't blow up; longer
	// ones overstate scores. Origin not recorded.
	PracticalStepLipschitz = 4
	// EnvelopeWidth: scores on the ball over the width that kinks are smoothed over. Origin not
	// recorded.
	EnvelopeWidth = 100
	// KinkWidth: width that kinks are smoothed over, of labels that aren't real. Origin not
	// recorded.
	KinkWidth = 0.5
	// KinkWidthReal: bound of real labels, or how far these are from the constant model, over that width. Origin not recorded.
	KinkWidthReal = 30
	// GammaRatio: amount over its mean from which on the gamma loss is linear, and where histograms of gradients begin: hardly any of a
	// gamma law's variance or less is. Origin not recorded.
	GammaRatio = 30
	// SelectShare: share of μ² of selections within the ball, beside an intercept. Origin not
	// recorded.
	SelectShare = 0.95
	// SelectShareRefit: the same before a refit. Origin not recorded.
	SelectShareRefit = 0.7
	// SelectClip: slope at 0 over the clip of labels that aren't binary. Origin not recorded.
	SelectClip = 4
	// SelectPower: power of the selections' signal by which their number grows. Origin not
	// recorded.
	SelectPower = 2.0 / 3
	// SelectPace: that power of the signal over the number of selections. Origin not recorded.
	SelectPace = 5
	// SelectMost: selections at most, by default. Origin not recorded.
	SelectMost = 100
	// SelectStep: score by which a step moves. Origin not recorded.
	SelectStep = 0.5
	// SelectStepReal: label bound over that, for real labels. Origin not recorded.
	SelectStepReal = 8
	// SelectInterceptShare: part of the pool of the intercept, where the rest is for a refit.
	// Origin not recorded.
	SelectInterceptShare = 0.06
	// SelectMeanShare: part of what the intercept has that the labels' mean takes. Origin not
	// recorded.
	SelectMeanShare = 0.3
	// SelectCurvature: steepest curvature over the least that an intercept's step divides by.
	// Origin not recorded.
	SelectCurvature = 50
)
