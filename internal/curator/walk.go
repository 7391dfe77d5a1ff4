package curator

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Walk is the exponential projected walk over rows sorted by their one feature
// [DF18, Figure 1]: v₀ = 0, v_i = clamp(v_{i−1} ± 1, −limit, limit), up for a positive
// label. It can't be read.
type Walk struct {
	features []float64 // sorted
	values   []int     // after each number of steps
	origin   origin
}

// Walk makes the walk. Rows of equal features stand in the order of their numbers,
// so that replacing a row doesn't change the order of the others. A label that is
// not binary is an error of intake. Of a person with several rows it takes one, and weights
// don't matter.
func (d *Data) Walk(ctx context.Context, limit int) (*Walk, error) {
	if err := d.Check(losses.Logistic{}); err != nil {
		return nil, err
	}
	if d.table.Persons.MostRows() > 1 {
		table, order := rows.Single(d.table)
		d = with(d, table, order, d.rows)
	}
	features, labels, err := firstAndLabels(ctx, d)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(features))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(features[i], features[j]) })
	w := &Walk{make([]float64, len(order)), make([]int, len(order)+1), originOf(d)}
	for k, i := range order {
		step := -1
		if labels[i] > 0 {
			step = 1
		}
		w.features[k] = features[i]
		w.values[k+1] = min(max(w.values[k]+step, -limit), limit)
	}
	return w, nil
}

// firstAndLabels are the rows' one feature and their labels.
func firstAndLabels(ctx context.Context, d *Data) (features, labels []float64, err error) {
	if d.Stored() {
		return questions.FirstAndLabels(ctx, d.table)
	}
	features, err = rows.First(ctx, d.table)
	return features, d.labels, err
}

// Margin is the value after the last row whose feature is not above the query's,
// which is encoded as the rows are. Remove the replaced row from both walks: they then
// take the same steps up to the query, hence end at the same value. Putting one step
// back moves a walk by at most 1 where the row stands, and each later step, a shift
// and a projection, brings no two walks further apart: the value moves by at most 1
// for either row, by 2 in all [DF18, Lemma 5.1].
func (w *Walk) Margin(x []float64) (release.Answer, error) {
	return w.origin.answer(x, 2, func(u []float64) float64 { return float64(w.at(u[0])) })
}

// at is the value after the last row whose feature is not above the given one.
func (w *Walk) at(feature float64) int {
	return w.values[sort.Search(len(w.features), func(k int) bool { return w.features[k] > feature })]
}
