package frankwolfe

import (
	"fmt"
	"testing"
)

func TestLevelsAmong(t *testing.T) {
	if got := fmt.Sprint(levelsAmong([][]int{{0, 3}, {2, 4}, {5}}, []int{1, 3, 4, 6})); got != "[[1] [2] []]" {
		t.Errorf("levels among columns are %s", got)
	}
}
