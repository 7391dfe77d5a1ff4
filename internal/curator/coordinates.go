package curator

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/mechanisms"
)

// MostCoordinateRows is of how many rows, or persons, there are [Coordinates].
const MostCoordinateRows = questions.MostCoordinateRows

// Coordinates answers questions about the gradient sum Gⱼ = Σ cᵢxᵢⱼ at weights that change
// one at a time ([rows.Coordinates]). The weights, intercept and bounds must be public or
// released. It is for one goroutine.
type Coordinates struct {
	c       *questions.Coordinates
	ranking *release.Ranking
	data    *Data
	taken   map[int]bool // columns that are candidates no longer
}

// Coordinates returns the sums at weights of 0 beside an intercept, slopes held to ±clip and
// features to ±entry, for choices by the given mechanism.
func (s *Sums) Coordinates(ctx context.Context, clip, entry, intercept float64, by mechanisms.Exponential) (*Coordinates, error) {
	c, err := questions.NewCoordinates(ctx, s.s, clip, entry, intercept)
	if err != nil {
		return nil, err
	}
	v := &Coordinates{c: c, data: s.data, taken: map[int]bool{}}
	scores := make([]int64, 2*len(c.Sums()))
	for j, g := range c.Sums() {
		scores[2*j], scores[2*j+1] = g, -g
	}
	v.ranking, err = release.NewRanking(s.data.rows, by, scores, c.Sensitivity())
	return v, err
}

// Ranking are the scores ⟨G, ±eⱼ⟩ of the cross-polytope's vertices, 2j standing for eⱼ and
// 2j + 1 for −eⱼ: those in whose direction the loss falls most are smallest. A replaced row
// moves each by at most the sensitivity of Gⱼ. It follows Move and Shift.
func (v *Coordinates) Ranking() *release.Ranking { return v.ranking }

// Total is Σ cᵢ, the gradient sum's part in the direction of the intercept.
func (v *Coordinates) Total() release.Answer {
	sum, sensitivity := v.c.Total()
	return release.NewAnswer(v.data.rows, []float64{sum}, sensitivity)
}

// Move adds delta to the weight of column j.
func (v *Coordinates) Move(ctx context.Context, j int, delta float64) error {
	return v.c.Move(ctx, j, delta, v.rank)
}

// Shift changes the intercept.
func (v *Coordinates) Shift(ctx context.Context, intercept float64) error {
	err := v.c.Shift(ctx, intercept)
	for j := range v.c.Sums() {
		v.rank(j)
	}
	return err
}

// rank gives column j's vertices their present scores.
func (v *Coordinates) rank(j int) {
	if v.taken[j] {
		return
	}
	g := v.c.Sums()[j]
	v.ranking.Set(2*j, g)
	v.ranking.Set(2*j+1, -g)
}

// Take gives both vertices of column j, which was selected, a score beyond all others, for
// good: a constant.
func (v *Coordinates) Take(j int) {
	v.taken[j] = true
	v.ranking.Set(2*j, math.MaxInt64)
	v.ranking.Set(2*j+1, math.MaxInt64)
}

// Format prints the shape, whatever the verb.
func (v *Coordinates) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.Coordinates of %d columns", len(v.c.Sums()))
}
