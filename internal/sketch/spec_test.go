package sketch

import (
	"slices"
	"testing"
)

// A map that is made anew of its specification is the same.
func TestSpec(t *testing.T) {
	x := []float64{1, -2, 0.5, 0, 7}
	for kind, of := range makers {
		m := of(3, 5, 9)
		s, ok := SpecOf(m)
		if want := (Spec{kind, 3, 5, 9}); !ok || s != want {
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
			t.Errorf("%s: %v, want %v", kind, images[1], images[0])
		}
	}
	if _, ok := SpecOf(NewColumns(3, []int{1})); ok {
		t.Error("columns were made by a seed")
	}
	if _, err := (Spec{Kind: "other", K: 1, D: 1}).Map(); err == nil {
		t.Error("a map of another kind")
	}
}
