package dpglm

import (
	"slices"

	"github.com/dpglm/dpglm/table"
)

// levelsOf are the columns of each group of levels, by public facts, in ascending order.
func levelsOf(facts Facts) [][]int {
	switch f := facts.(type) {
	case Schema:
		return f.levels()
	case tableFacts:
		return levelsOfTable(f.encoder.Features())
	}
	return nil
}

func (s Schema) levels() (groups [][]int) {
	at := s.places()
	for _, names := range s.OneHot {
		group := make([]int, len(names))
		for k, name := range names {
			group[k] = at[name]
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	slices.SortFunc(groups, slices.Compare)
	return groups
}

func levelsOfTable(features []table.Feature) (groups [][]int) {
	at := map[int]int{} // by block
	for j, f := range features {
		if !f.OneHot {
			continue
		}
		k, ok := at[f.Block]
		if !ok {
			k = len(groups)
			at[f.Block], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], j)
	}
	return groups
}

// levelsAmong are those of some of the columns, in ascending order, by their places there.
func levelsAmong(groups [][]int, columns []int) (out [][]int) {
	for _, group := range groups {
		var left []int
		for _, j := range group {
			if k, found := slices.BinarySearch(columns, j); found {
				left = append(left, k)
			}
		}
		out = append(out, left)
	}
	return out
}

// places are those of the columns, by their names; none without groups of levels.
func (s Schema) places() map[string]int {
	if len(s.OneHot) == 0 {
		return nil
	}
	at := make(map[string]int, len(s.Columns))
	for j, name := range s.Columns {
		at[name] = j
	}
	return at
}
