package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// judged are the mutants of equivalent.txt, a line each: its ID, a blank, and why it means the same. Lines
// that begin with # are comments.
func judged() map[string]string {
	list := map[string]string{}
	for line := range strings.Lines(equivalent) {
		if id, why, ok := strings.Cut(strings.TrimSpace(line), " "); ok && id != "#" {
			list[id] = why
		}
	}
	return list
}

// tally counts a package's mutants.
type tally struct{ made, killed, same, left int }

func (t *tally) add(r *Result, same bool) {
	switch {
	case r.Result == unbuilt:
		return
	case r.Result != survived:
		t.killed++
	case same:
		t.same++
	default:
		t.left++
	}
	t.made++
}

// report prints what survived, and a table, and returns how many did that aren't equivalent.
func report(w io.Writer, results []Result) int {
	same, of, all := judged(), map[string]*tally{}, tally{}
	for _, r := range results {
		_, equal := same[r.ID]
		if of[r.Package] == nil {
			of[r.Package] = new(tally)
		}
		of[r.Package].add(&r, equal)
		all.add(&r, equal)
		if r.Result == survived && !equal {
			fmt.Fprintf(w, "%s %s:%d %s: %s\n  - %s\n  + %s\n", r.ID, r.File, r.Line, r.Func, r.Operator, r.Before, r.After)
		}
	}
	fmt.Fprintf(w, "\n%-36s %8s %8s %10s %9s\n", "package", "mutants", "killed", "equivalent", "survived")
	for _, pkg := range slices.Sorted(maps.Keys(of)) {
		of[pkg].print(w, pkg)
	}
	all.print(w, "all")
	return all.left
}

func (t *tally) print(w io.Writer, name string) {
	rate := 0.0
	if t.made > t.same {
		rate = float64(t.left) / float64(t.made-t.same)
	}
	fmt.Fprintf(w, "%-36s %8d %8d %10d %9d  %.1f %%\n", name, t.made, t.killed, t.same, t.left, 100*rate)
}
