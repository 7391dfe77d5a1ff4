package sketch

import (
	"reflect"
	"slices"
	"testing"
)

// A map that is made anew of its specification is the same.
func TestSpec(t *testing.T) {
	x := []float64{1, -2, 0.5, 0, 7}
	specs := []Spec{{Kind: keptColumns, K: 3, D: 5, Kept: []int{4, 0, 4}}}
	for kind := range makers {
		specs = append(specs, Spec{Kind: kind, K: 3, D: 5, Seed: 9})
	}
	for _, want := range specs {
		m, err := want.Map()
		if err != nil {
			t.Fatal(err)
		}
		s, ok := SpecOf(m)
		if !ok || !reflect.DeepEqual(s, want) {
			t.Errorf("%+v, want %+v", s, want)
		}
		again, err := s.Map()
		if err != nil {
			t.Fatal(err)
		}
		var images [2][]float64
		for k, m := range []Map{m, again} {
			images[k] = make([]float64, 3)
			m.Apply(images[k], x)
		}
		if !slices.Equal(images[0], images[1]) {
			t.Errorf("%s: %v, want %v", want.Kind, images[1], images[0])
		}
	}
	for name, s := range map[string]Spec{
		"another kind": {Kind: "other", K: 1, D: 1}, "a column less": {Kind: keptColumns, K: 2, D: 3, Kept: []int{1}},
		"no column": {Kind: keptColumns, D: 3}, "a column too far": {Kind: keptColumns, K: 1, D: 3, Kept: []int{3}}, "a negative column": {Kind: keptColumns, K: 1, D: 3, Kept: []int{-1}},
	} {
		if _, err := s.Map(); err == nil {
			t.Errorf("a map of %s", name)
		}
	}
}
