package tabular

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSplitDealsEveryRowOnce(t *testing.T) {
	train, test := Split(101, 0.2, 7)
	if len(test) != 20 || !slices.IsSorted(train) || !slices.IsSorted(test) {
		t.Fatalf("%d test rows, want 20, both parts sorted", len(test))
	}
	all := append(slices.Clone(train), test...)
	slices.Sort(all)
	for i, v := range all {
		if i != v {
			t.Fatalf("row %d is missing or dealt twice", i)
		}
	}
	again, _ := Split(101, 0.2, 7)
	other, _ := Split(101, 0.2, 8)
	if !slices.Equal(train, again) || slices.Equal(train, other) {
		t.Error("a split must depend on its seed and on nothing else")
	}
}

func TestTakeCopiesRows(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	part := Take(x, []int{2, 0})
	if want := mat.NewDense(2, 2, []float64{5, 6, 1, 2}); !mat.Equal(part, want) {
		t.Errorf("got %v", mat.Formatted(part))
	}
	part.Set(0, 0, 9)
	if x.At(2, 0) != 5 {
		t.Error("the original changed")
	}
	if y := TakeLabels([]float64{7, 8, 9}, []int{2, 0}); !slices.Equal(y, []float64{9, 7}) {
		t.Errorf("labels %v", y)
	}
}
