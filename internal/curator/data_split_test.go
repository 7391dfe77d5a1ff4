package curator

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// A part of a data set has the rows that were picked, in that order, each with its own
// label and its own factor, also a part of a part.
func TestPickedRowsKeepTheirLabels(t *testing.T) {
	const n = 40
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n { // rows beyond the bound 10 have factors
		x.Set(i, 0, float64(i))
		y[i] = -float64(i)
	}
	d, err := Open(x, y, NewIdentity(1, 10, false), 0, n)
	if err != nil {
		t.Fatal(err)
	}
	first := []int{30, 2, 39, 0, 5, 5, 12, 9, 10, 11}
	second := []int{9, 0, 3, 1, 1}
	for name, c := range map[string]struct {
		part *Data
		rows []int
	}{
		"part": {pick(d, first, nil), first}, "part of a part": {pick(pick(d, first, nil), second, nil), []int{11, 30, 0, 2, 2}},
	} {
		var labels, features []float64
		for _, i := range c.rows {
			labels, features = append(labels, y[i]), append(features, min(x.At(i, 0), 10))
		}
		scores := make([]float64, len(c.rows))
		rows.Scores(c.part.table, scores, []float64{1})
		for k := range scores {
			if diff := scores[k] - features[k]; diff > 1e-13 || diff < -1e-13 {
				t.Errorf("%s: row %d is %g, want row %d, %g", name, k, scores[k], c.rows[k], features[k])
			}
		}
		if !slices.Equal(c.part.labels, labels) {
			t.Errorf("%s: labels %v, want %v", name, c.part.labels, labels)
		}
	}
}
