package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// spiked warns of amounts of which most are the same, as claims are that are mostly 0, and names the ε below which a fit of their mean may take
// nearly all of them for that; empty for others. It is made of exact counts, for the curator.
//
// Estimators hold each row's gradient to a bound that they find in noisy counts of the rows whose gradients are longer: the smallest one
// beyond which no more rows are seen than noise may hide. Where all rows beyond the value are no more, the bound is that of the rows at it,
// and so is the fitted mean, nearly. The ε is where as many may be cut off as hidden has: about there fits begin to
// miss half of the mean, or below it, where columns tell less than as many directions.
func spiked(t *table.Table, units int, loss losses.Loss) string {
	if t == nil || t.Label().Kind != table.Numeric || t.Weights() != nil || t.Encoder().Schema().Private != nil {
		return ""
	}
	switch loss.(type) {
	case losses.Squared, losses.Gamma: // of means
	default:
		return ""
	}
	y := t.Labels()
	value, times := mostFrequent(y)
	hides := hidden(y, value)
	if 2*times <= len(y) || hides == 0 {
		return ""
	}
	delta := task.DefaultDelta(units)
	schema := t.Encoder().Schema()
	epsilon := accounting.GaussianEpsilon(cutOff(float64(hides)*float64(units)/float64(len(y)), len(t.Encoder().Features()), schema.AtMost > 0), delta)
	return fmt.Sprintf("%s of the labels are exactly %g. A fit finds, by noisy counts, how far most labels are from their predictions, and rows beyond that bound count as at it: "+
		"at an ε below about %.2g (at δ = %.2g) predicted means may come near %g, and miss more than half of the %.4g by which the labels' mean is off that. "+
		"What helps: one model of whether there is an amount (kind binary, \"above\": %g) and, of the rows that have one, one of how much, whose product is the mean; "+
		"their budgets add up, and how many rows the second has is private (\"at_most\"). -loss gamma alone has the same bound",
		share(times, len(y)), value, epsilon, delta, value, math.Abs(floats.Sum(y)/float64(len(y))-value), value)
}

// mostFrequent is the label that most rows have, and how many: the least of several.
func mostFrequent(y []float64) (value float64, times int) {
	sorted := slices.Sorted(slices.Values(y))
	for i := 0; i < len(sorted); {
		end := i + 1
		for end < len(sorted) && sorted[end] == sorted[i] {
			end++
		}
		if end-i > times {
			value, times = sorted[i], end-i
		}
		i = end
	}
	return value, times
}

// hidden is the smallest number of labels that, if a bound on the distance from a value may have so many beyond it, lose more than half of what all
// distances add up to; 0 where they cancel, so that no bound does.
func hidden(y []float64, value float64) int {
	far := make([]float64, 0, len(y))
	var all float64
	for _, v := range y {
		if v != value {
			far = append(far, v-value)
			all += math.Abs(v - value)
		}
	}
	slices.SortFunc(far, func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
	var sum, signs float64 // of the farthest so far
	for k, d := range far {
		bound := math.Abs(d)
		if lost := math.Abs(sum - signs*bound); lost > all/2 {
			return k
		}
		sum, signs = sum+d, signs+math.Copysign(1, d)
	}
	if math.Abs(sum) > all/2 { // a bound of 0 would lose it
		return len(far)
	}
	return 0
}

// cutOff is the μ at which a bound may have so many persons, or rows, beyond it: those that the noise in the last cell of a later histogram of
// gradients' norms may hide, where one that is replaced moves two counts by 1 and one that is secretly there moves one; or those that a
// descent of so many columns lets a clip shorten, if these are more.
func cutOff(units float64, columns int, secret bool) float64 {
	moved := math.Sqrt2
	if secret {
		moved = 1
	}
	hidden := tuning.Surely * moved * math.Sqrt(tuning.LaterEdges) / math.Sqrt(tuning.CountsShare)
	return math.Max(hidden, tuning.ClippedRows*math.Sqrt(1+float64(columns))) / units
}
