package labelsonly

import (
	"testing"

	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/losses"
)

// Sums of labels suit classes, real labels and counts of rows that count 1 each, of as many features as have moments and of no more weights, of all classes but one, than these.
func TestSuits(t *testing.T) {
	const most = estimate.MostFeatures
	logistic, squared := losses.Logistic{}, losses.Squared{}
	for name, c := range map[string]struct {
		asked   losses.Loss
		classes int
		facts   estimate.Facts
		want    bool
	}{
		"two classes":     {logistic, 0, estimate.Facts{Dim: most + 1, Intercept: true}, true},
		"reals":           {squared, 0, estimate.Facts{Dim: most}, true},
		"many features":   {squared, 0, estimate.Facts{Dim: most + 1}, false},
		"counts":          {losses.Poisson{}, 0, estimate.Facts{Dim: most}, true},
		"uneven counts":   {losses.NegativeBinomial{Dispersion: 1}, 0, estimate.Facts{Dim: 3}, false},
		"weights":         {squared, 0, estimate.Facts{Dim: 3, Weighted: true}, false},
		"persons":         {squared, 0, estimate.Facts{Dim: 3, PersonRows: 1}, false},
		"secret number":   {squared, 0, estimate.Facts{Dim: 3, AddRemove: true}, false},
		"three classes":   {logistic, 3, estimate.Facts{Dim: most / 2, Intercept: true}, true},
		"many weights":    {logistic, 3, estimate.Facts{Dim: most/2 + 1, Intercept: true}, false},
		"weighed classes": {logistic, 3, estimate.Facts{Dim: 3, Weighted: true}, false},
	} {
		if got := Suits(estimate.Problem{Asked: c.asked, Loss: c.asked, Classes: c.classes, Facts: c.facts}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
