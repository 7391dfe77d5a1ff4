package blocks

import (
	"reflect"
	"slices"
	"testing"
)

// Picked persons are what they were among all: all of them in their order are the same, to the last field, and some of them in
// another order have their own rows, shares and weights. So are a part's.
func TestPickedPersonsStayWhatTheyAre(t *testing.T) {
	all := &Persons{Start: []int{0, 2, 2, 3, 6}, Most: 3, Shares: []float64{0.5, 0.25, 1, 0.125, 0.25, 0.0625}, Weights: []float64{1, 0.5, 0.75, 0.25, 0.5, 0.125},
		Each: true, Given: true, Weighted: true, Occur: true, Places: true}
	of := reflect.ValueOf(*all)
	for k := range of.NumField() {
		if of.Field(k).IsZero() {
			t.Errorf("%s is nothing here, so that it may be lost", of.Type().Field(k).Name)
		}
	}
	if got := all.Pick([]int{0, 1, 2, 3}); !reflect.DeepEqual(got, all) {
		t.Errorf("all are %+v, want %+v", got, all)
	}
	some := *all
	some.Start, some.Shares, some.Weights = []int{0, 3, 5, 5}, slices.Concat(all.Shares[3:6], all.Shares[:2]), slices.Concat(all.Weights[3:6], all.Weights[:2])
	if got := all.Pick([]int{3, 0, 1}); !reflect.DeepEqual(got, &some) {
		t.Errorf("some are %+v, want %+v", got, &some)
	}
	part := all.Part(1, 5) // which knows where persons end, and not how many there are
	want := &Persons{Start: []int{1, 1, 2}, Most: 3, Shares: all.Shares[1:5], Weights: all.Weights[1:5], Each: true, Given: true, Weighted: true}
	if !reflect.DeepEqual(part, want) {
		t.Errorf("a part is %+v, want %+v", part, want)
	}
	alike := &Persons{Start: all.Start, Most: 3, Weights: all.Weights, Given: true, Weighted: true, Occur: true, Places: true}
	for _, w := range all.Weights {
		alike.Shares = append(alike.Shares, ShareOf(w, 3))
	}
	if got := all.ByRows(); !reflect.DeepEqual(got, alike) {
		t.Errorf("by rows they are %+v, want %+v", got, alike)
	}
}
