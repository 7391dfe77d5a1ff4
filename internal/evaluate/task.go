package evaluate

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/tuning"
)

// Task is who releases histograms, with shares of one μ².
type Task struct {
	Ctx        context.Context
	Allow      *release.Allowance
	Mu         float64 // of all releases
	Rows       int     // or persons, as public facts have it
	Whole      bool    // whether each row counts as 1, so that counts add up to Rows
	Confidence float64 // of the intervals
}

// Size is what has to be planned: how many releases there are at most, and of how many numbers.
type Size struct{ Releases, Dim int }

// mostListed is the largest number of cells of one list of a later histogram, with the cells beyond
// the range and those that public cuts add.
const mostListed = tuning.MostCells + 4

// Cells holds a number of cells to what a histogram may have.
func Cells(cells float64) int { return min(max(int(cells), tuning.LeastCells), tuning.MostCells) }

// cells is the number of a histogram's that has μ² for so many lists: the fewer rows and the
// less μ, the wider.
func (t Task) cells(lists, per float64) int {
	return Cells(math.Sqrt(float64(t.Rows)*t.Mu/lists) / per)
}

// count releases histograms, each row being in so many of them, with a share of μ². Where the
// number of rows is public, what noise adds to it is taken away. spread is the noise's standard
// deviation.
func (t Task) count(share, in float64, answer release.Answer) (counts []float64, spread float64, err error) {
	if counts, err = t.Allow.Draw(share, answer); err != nil {
		return nil, 0, err
	}
	spread = math.Sqrt(2*in) / (t.Mu * math.Sqrt(share))
	if !t.Whole {
		return counts, spread, nil
	}
	excess := -float64(float64(t.Rows) * in)
	for _, v := range counts {
		excess += v
	}
	for k := range counts {
		counts[k] -= excess / float64(len(counts))
	}
	return counts, spread, nil
}

// asked is a question: counts between decreasing edges.
type asked func(edges []float64) (release.Answer, error)

// firstDim is the number of counts of the first histogram of scores.
func firstDim() int { return len(histogram.ScoreEdges(1)) + 1 }

func reversed(list []float64) []float64 {
	out := make([]float64, len(list))
	for k, v := range list {
		out[len(list)-1-k] = v
	}
	return out
}
