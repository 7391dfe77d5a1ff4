package sketch

import (
	"slices"
	"testing"
)

// The map keeps columns of dense and sparse vectors alike, and its transpose puts them back.
func TestColumns(t *testing.T) {
	m := NewColumns(6, []int{4, 0, 4, 5})
	if k, d := m.Dims(); k != 4 || d != 6 {
		t.Errorf("it has %d×%d entries", k, d)
	}
	want := []float64{7, 3, 7, 0}
	dense, sparse := make([]float64, 4), []float64{9, 9, 9, 9}
	m.Apply(dense, []float64{3, 0, -2, 0, 7, 0})
	m.ApplySparse(sparse, []int{0, 2, 4}, []float64{3, -2, 7})
	if !slices.Equal(dense, want) || !slices.Equal(sparse, want) {
		t.Errorf("it keeps %v and %v, not %v", dense, sparse, want)
	}
	back := []float64{9, 9, 9, 9, 9, 9}
	if m.Transpose(back, []float64{1, 2, 3, 4}); !slices.Equal(back, []float64{2, 0, 0, 0, 4, 4}) {
		t.Errorf("its transpose gives %v", back)
	}
}
