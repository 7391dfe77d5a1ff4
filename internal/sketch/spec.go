package sketch

import (
	"fmt"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// Spec says which map it is, so that another process can make it.
type Spec struct {
	Kind string // a key of makers, or keptColumns
	K, D int
	Seed uint64 // of makers
	Kept []int  // of keptColumns
}

// keptColumns is the kind of maps that keep some columns.
const keptColumns = "columns"

// specified is a map that a Spec makes.
type specified struct {
	Map
	spec Spec
}

var makers = map[string]func(k, d int, seed uint64) Map{
	"gaussian": NewGaussian, "rademacher": NewRademacher, "sparse": NewSparse, "hadamard": NewHadamard,
}

// SpecOf returns the specification of a map of this package.
func SpecOf(m any) (s Spec, ok bool) {
	of, ok := m.(specified)
	return of.spec, ok
}

// Map makes the map.
func (s Spec) Map() (Map, error) {
	of, known := makers[s.Kind]
	switch {
	case s.K < 1 || s.D < 1:
	case known:
		return of(s.K, s.D, s.Seed), nil
	case s.Kind == keptColumns && s.K == len(s.Kept) && slices.Min(s.Kept) >= 0 && slices.Max(s.Kept) < s.D:
		return NewColumns(s.D, s.Kept), nil
	}
	return nil, check.Fail(check.ErrConfig, "map", fmt.Sprintf("%+v", s), "must be one that this build knows")
}
