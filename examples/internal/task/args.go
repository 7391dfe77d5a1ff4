package task

import (
	"slices"
	"strings"
)

// PublicArgs are a program's arguments as a page tells them, each after a blank: without those about one machine only, which are -data, whose
// folder has a word in its place, -cache, -store and -out.
func PublicArgs(args []string) string {
	text := ""
	for i := 0; i < len(args); i++ {
		name, _, whole := strings.Cut(args[i], "=")
		name = strings.TrimLeft(name, "-")
		if !slices.Contains([]string{"data", "cache", "store", "out"}, name) {
			text += " " + args[i]
			continue
		}
		if !whole {
			i++
		}
		if name == "data" {
			text += " -data FOLDER"
		}
	}
	return text
}
