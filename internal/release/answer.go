package release

import "github.com/dpglm/dpglm/mechanisms"

// Answer is a value that was computed from rows, together with how far it moves
// when one of them is replaced. It can't be read: an [Allowance] releases it, with
// noise for that distance. Package curator makes answers, and answers for the
// distance.
type Answer struct {
	rows   *Rows
	values []float64
	l2     float64   // bound on the L2 distance between answers on neighbours
	each   []float64 // bound on each value's own distance, for scores; else nil
	centre []float64 // public, of objective perturbation
}

// NewAnswer returns a vector of the given L2 sensitivity; it keeps the slice.
func NewAnswer(rows *Rows, values []float64, l2 float64) Answer {
	return Answer{rows: rows, values: values, l2: l2}
}

// Sensitivity is the L2 sensitivity that a vector was declared with, which is public.
func (x Answer) Sensitivity() float64 { return x.l2 }

// NewScores returns scores to select by, each with a sensitivity of its own; 0 is a
// constant's. It keeps the slices.
func NewScores(rows *Rows, scores, each []float64) Answer {
	return Answer{rows: rows, values: scores, each: each}
}

// Event is what a [Recorder] sees of a release, before noise is added.
type Event struct {
	Label     string // of the schedule's node
	Mechanism string // gaussian, laplace, selection, plurality, vote, ranking, linear term, minimiser
	Rows      *Rows
	// Values are the raw answer's. What a Recorder writes there is released in its
	// place.
	Values []float64
	L2     float64   // declared sensitivity of Values; 0 for scores
	Each   []float64 // declared sensitivity of each score
	Mu     float64   // of this release, where a pool makes it; 0 elsewhere
	Centre []float64 // that a minimiser is counted from; nil is 0
	Drawn  float64   // share of the pool's μ² that counts as used, with this release's; 0 elsewhere
}

// Recorder is a source of noise that sees each raw answer. Only tests have one:
// records of runs on neighbours show whether declared sensitivities hold, and runs
// with the same answers must end alike. No other package can implement it, since
// it can't name Event.
type Recorder interface {
	mechanisms.Source
	Record(*Event)
}

// WithConstant appends a public constant to scores.
func (x Answer) WithConstant(score float64) Answer {
	x.values = append(append([]float64(nil), x.values...), score)
	x.each = append(append([]float64(nil), x.each...), 0)
	return x
}
