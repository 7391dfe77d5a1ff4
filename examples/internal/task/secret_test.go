package task

import (
	"slices"
	"testing"
)

// What is left without some places is the rest, in its order.
func TestWithout(t *testing.T) {
	rows := [][]string{{"0"}, {"1"}, {"2"}, {"3"}}
	left := without(rows, []int{0, 2})
	if !slices.EqualFunc(left, [][]string{{"1"}, {"3"}}, slices.Equal) {
		t.Errorf("of rows 0 to 3 without 0 and 2 these are left: %v", left)
	}
}
