// Package sample chooses among the combinations that a test could try.
package sample

import (
	"flag"
	"fmt"
	"hash/fnv"
	"iter"
)

var all = flag.Bool("all", false, "try all combinations, in place of a part of them")

// All says whether the flag -all is set.
func All() bool { return *all }

// Of is how many repetitions there are, or a limit that goes with them: a few, or with the flag -all those of the whole test.
func Of[T any](few, whole T) T {
	if All() {
		return whole
	}
	return few
}

// One says whether a combination is tried: one of so many is, and always the same ones, or each with the flag -all.
func One(of uint32, names ...any) bool { return Nth(of, 0, names...) }

// Nth says whether the i-th of some combinations is tried, of which one of so many is, from one on that a name decides.
func Nth(of uint32, i int, names ...any) bool {
	h := fnv.New32a()
	fmt.Fprintln(h, names...)
	return *all || (h.Sum32()%of+uint32(i))%of == 0
}

// Each are those of several combinations that are tried, with their places: of each kind the first, and one of so many.
func Each[T any](of uint32, list []T, kind func(T) string) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		seen := map[string]int{}
		for i, v := range list {
			k := kind(v)
			if tried := seen[k] == 0 || Nth(of, seen[k], k); tried && !yield(i, v) {
				return
			}
			seen[k]++
		}
	}
}
