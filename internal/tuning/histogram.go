package tuning

// What the reading of histograms is tuned by: which cells are trusted, and the laws of long tails.
const (
	// Outstanding: standard deviations by which a cell stands out from noise: noise alone rarely
	// does in any. Origin not recorded.
	Outstanding = 4
	// ScoreHalves: half-octaves of the first histogram of scores. Origin not recorded.
	ScoreHalves = 21
	// RangeHalves: octaves of the first histogram of errors and labels. Origin not recorded.
	RangeHalves = 25
	// SpanSteps: equal steps on either side of 0 in that of labels, which may lie far from it.
	// Origin not recorded.
	SpanSteps = 32
	// CellsBeyond: how far rows beyond cells are taken to lie, in deviations: as a normal law's
	// last two or three hundredths do. Origin not recorded.
	CellsBeyond = 0.75
	// TailPart: part of rows, or half or a quarter of it, that a law of the largest is fitted to:
	// a twelfth. Origin not recorded.
	TailPart = 0.08
	// TailSeen: standard deviations that such a part stands out by. Origin not recorded.
	TailSeen = 2.5
	// TailCloseness: part of a cell that no law is closer than. Origin not recorded.
	TailCloseness = 0.05
	// TailDepth: depth of a law's first edge beyond which it is hardly one of what is above.
	// Origin not recorded.
	TailDepth = 27
	// PowerDoubt: deviation of a power's logarithm from the likely one's, where noise hides it.
	// Origin not recorded.
	PowerDoubt = 0.6
	// GroupCells: cells that a group beyond a law is looked for in. Origin not recorded.
	GroupCells = 4
	// ReadableRows: rows to one that noise may hide where a histogram is read. Origin not
	// recorded.
	ReadableRows = 4
	// SlowerFrom: power of which a slower law has twice what a law has above it: normal laws' are
	// about 1.35, exponential ones' 1 become ½. Origin not recorded.
	SlowerFrom = 0.75
	// SlowerLeast: power of a slower law at least. Origin not recorded.
	SlowerLeast = 0.05
	// MayHide: standard deviations of noise that rows may be hidden by beyond a grid. Tuned on 150 problems drawn at
	// random, 26 November 2026.
	MayHide = 1
	// PowerLeast: power of a law at least. Origin not recorded.
	PowerLeast = 0.3
	// PowerMost: power of a law at most. Origin not recorded.
	PowerMost = 3
	// SpanStretch: part of a range that stands out that is added on either side, for the tail that
	// doesn't. Origin not recorded.
	SpanStretch = 0.4
	// FarLeast: grid's end over the nearest distance that a law is seen at. Origin not recorded.
	FarLeast = 5
)
