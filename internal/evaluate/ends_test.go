package evaluate

import (
	"testing"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
)

// Errors are looked for as far as held scores lie from labels, whichever side of a model's range scores and labels are on.
func TestRangeOfHeldScores(t *testing.T) {
	for _, c := range []struct {
		ends curator.Ends
		most float64
	}{{curator.Ends{9, 11}, 10}, {curator.Ends{-11, -9}, 10}, {curator.Ends{-1, 1}, 1.5}, {curator.Ends{-.25, .125}, 1.25}, {curator.Ends{}, 1.5}} {
		m := Numbers{Score: Score{Weights: []float64{0}, Bound: .5}, Loss: losses.Squared{}, LabelBound: 1, Ends: c.ends}
		if of := m.errors(nil).number; of.Low != -c.most || of.High != c.most {
			t.Errorf("ends %v: from %g to %g, want ±%g", c.ends, of.Low, of.High, c.most)
		}
	}
}
