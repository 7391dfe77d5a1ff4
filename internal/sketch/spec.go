package sketch

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// Spec says which map it is, of those that a seed makes, so that another process can make it.
type Spec struct {
	Kind string // a key of makers
	K, D int
	Seed uint64
}

// seeded is a map that a seed made.
type seeded struct {
	Map
	spec Spec
}

var makers = map[string]func(k, d int, seed uint64) Map{
	"gaussian": NewGaussian, "rademacher": NewRademacher, "sparse": NewSparse, "hadamard": NewHadamard,
}

// SpecOf returns the specification of a map that a seed made.
func SpecOf(m any) (s Spec, ok bool) {
	of, ok := m.(seeded)
	return of.spec, ok
}

// Map makes the map.
func (s Spec) Map() (Map, error) {
	of := makers[s.Kind]
	if of == nil || s.K < 1 || s.D < 1 {
		return nil, check.Fail(check.ErrConfig, "map", fmt.Sprintf("%+v", s), "must be one that this build knows")
	}
	return of(s.K, s.D, s.Seed), nil
}
