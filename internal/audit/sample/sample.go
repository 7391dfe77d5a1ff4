// Package sample chooses among the combinations that a test could try.
package sample

import (
	"flag"
	"fmt"
	"hash/fnv"
)

var all = flag.Bool("all", false, "try all combinations, in place of a part of them")

// All says whether the flag -all is set.
func All() bool { return *all }

// One says whether a combination is tried: one of so many is, and always the same ones, or each with the flag -all.
func One(of uint32, names ...any) bool {
	h := fnv.New32a()
	fmt.Fprintln(h, names...)
	return *all || h.Sum32()%of == 0
}
