package tuning

// What a wide clip cuts off, by kind of labels. Means are along the intercept or the weights, over the
// cosine of the angle between it and a row; variances are over its square; both of the cut length.
const (
	// CutDirections: directions that rows have beside their columns, for that cosine. Origin not
	// recorded.
	CutDirections = 4
	// CutPower: power of the law of the largest gradients that is likely. Origin not recorded.
	CutPower = 0.8
	// CutConstantVariance: variance along the intercept. Origin not recorded.
	CutConstantVariance = 0.9
	// CutAlongVariance: variance along the weights. Origin not recorded.
	CutAlongVariance = 1.1
	// CutAcross: variance along any direction. Origin not recorded.
	CutAcross = 0.006
	// CutRealConstant: real labels: mean along the intercept, per surplus of one side. Tuned on 20
	// tables of wages, prices and scores.
	CutRealConstant = 0.85
	// CutRealConstantLeast: variance there, in any case. Origin not recorded.
	CutRealConstantLeast = 0.1
	// CutRealConstantSkewed: the same per square of the surplus. Origin not recorded.
	CutRealConstantSkewed = 0.2
	// CutRealConstantDoubt: the same per variance of what is known of the surplus. Origin not
	// recorded.
	CutRealConstantDoubt = 0.7
	// CutRealAlong: real labels: mean along the weights, per surplus of one side. Tuned on 20
	// tables of wages, prices and scores (standard deviation some 0.55).
	CutRealAlong = 1.2
	// CutRealAlongLeast: variance there, in any case. Origin not recorded.
	CutRealAlongLeast = 0.4
	// CutRealAlongSkewed: the same per square of the surplus. Origin not recorded.
	CutRealAlongSkewed = 0.6
	// CutRealAlongDoubt: the same per variance of what is known of the surplus. Origin not
	// recorded.
	CutRealAlongDoubt = 1.5
	// CutRealPower: real labels: likely power. Origin not recorded.
	CutRealPower = 0.5
	// CutRealAcross: real labels: variance along any direction. Origin not recorded.
	CutRealAcross = 0.008
	// CutClassConstant: classes: mean along the intercept, per rareness. Tuned on made-up
	// populations.
	CutClassConstant = 0.8
	// CutClassConstantLeast: variance there, of even classes. Tuned on made-up populations.
	CutClassConstantLeast = 0.1
	// CutClassConstantRare: what rareness adds to it. Tuned on made-up populations.
	CutClassConstantRare = 0.2
	// CutClassAlong: classes: mean along the weights, of even ones. Tuned on made-up populations.
	CutClassAlong = 1.7
	// CutClassAlongRare: what rareness takes of it. Tuned on made-up populations.
	CutClassAlongRare = 1.3
	// CutClassAlongVariance: variance there. Tuned on made-up populations.
	CutClassAlongVariance = 0.6
	// CutClassAcross: classes: variance along any direction, for rare levels. Tuned on made-up
	// populations.
	CutClassAcross = 0.08
	// CutTailPower: counts and amounts: likely power. Origin not recorded.
	CutTailPower = 0.6
	// CutCountConstant: Poisson counts: mean along the intercept, downwards. Tuned: rounded up
	// from .7 of 14 real tables and five made-up populations of counts.
	CutCountConstant = 0.8
	// CutCountConstantVariance: variance there, of counts of a mean above 1. Origin not recorded.
	CutCountConstantVariance = 0.2
	// CutCountConstantRare: what rareness adds to it. Origin not recorded.
	CutCountConstantRare = 0.25
	// CutCountAlong: Poisson counts: mean along the weights, downwards. Tuned: between .2 of 14
	// real tables and five made-up populations of counts and .9 of made-up ones of heavy tails.
	CutCountAlong = 0.5
	// CutCountAlongVariance: variance there. Origin not recorded.
	CutCountAlongVariance = 0.3
	// CutCountAcross: Poisson counts: variance along any direction. Origin not recorded.
	CutCountAcross = 0.004
	// CutCountAcrossRare: the same of counts of few events, per rareness. Origin not recorded.
	CutCountAcrossRare = 0.04
	// CutSpreadConstant: negative binomial counts: mean along the intercept, downwards. Origin not
	// recorded.
	CutSpreadConstant = 0.95
	// CutSpreadConstantVariance: variance there. Origin not recorded.
	CutSpreadConstantVariance = 0.12
	// CutSpreadAlongVariance: variance along the weights. Origin not recorded.
	CutSpreadAlongVariance = 0.4
	// CutSpreadAcross: negative binomial counts: variance along any direction. Origin not
	// recorded.
	CutSpreadAcross = 0.01
	// CutAmountConstant: amounts: mean along the intercept, downwards. Origin not recorded.
	CutAmountConstant = 0.8
	// CutAmountConstantVariance: variance there. Origin not recorded.
	CutAmountConstantVariance = 0.25
	// CutAmountAlongVariance: variance along the weights. Origin not recorded.
	CutAmountAlongVariance = 0.6
	// CutAmountAcross: amounts: variance along any direction. Origin not recorded.
	CutAmountAcross = 0.02
)
