package tuning

// What evaluations are tuned by: shares of μ², and how many cells there are.
const (
	// RangeShare: part of μ² of the histogram that finds a range. Origin not recorded.
	RangeShare = 0.15
	// LabelShare: part of μ² of labels, beside errors. Origin not recorded.
	LabelShare = 0.4
	// RangesShare: share of μ² of the histograms that find the ranges of classes' log-odds. Origin
	// not recorded.
	RangesShare = 0.12
	// RanksShare: share of μ² of classes' log-odds, among their rows and others. Origin not
	// recorded.
	RanksShare = 0.4
	// ConfusionShare: share of μ² of the confusion matrix. Origin not recorded.
	ConfusionShare = 0.2
	// OwnShare: share of μ² of the −log p of own classes. Origin not recorded.
	OwnShare = 0.17
	// BrierShare: share of μ² of the Brier score. Origin not recorded.
	BrierShare = 0.11
	// LeastCells: cells of a later histogram at least. Origin not recorded.
	LeastCells = 8
	// MostCells: cells of a later histogram at most. Origin not recorded.
	MostCells = 64
	// CellWidth: √(rows·μ) per cell and root of lists. Origin not recorded.
	CellWidth = 2.5
	// CellWidthLevels: the same of levels' scores. Origin not recorded.
	CellWidthLevels = 1.5
	// LossCellWidth: √(rows·μ) per cell of −log p. Origin not recorded.
	LossCellWidth = 5
	// LossLeastCells: cells of −log p at least. Origin not recorded.
	LossLeastCells = 4
	// LossHidden: noise in a cell over the rows that may lie beyond the range of −log p. Origin
	// not recorded.
	LossHidden = 4
	// LossShifts: how often −log p is counted, in cells moved by a part of one, to which the mean
	// is exact. Origin not recorded.
	LossShifts = 16
	// BrierShifts: how often the Brier score is counted, in cells moved by a part of one. Tuned on
	// made-up models of four classes, 30 November 2026.
	BrierShifts = 8
	// CalibrationGroups: points of a calibration curve at most. Origin not recorded.
	CalibrationGroups = 10
	// Doubtless: what may lie beyond cells over a mean square, from which on nothing is known of
	// it. Tuned on 150 problems drawn at random, 26 November 2026.
	Doubtless = 1
)
