package table

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// checkHeader asks for names, each once.
func checkHeader(header []string) error {
	if len(header) == 0 {
		return columnError("the header has no column")
	}
	numbers := 0
	seen := map[string]int{}
	for i, name := range header {
		switch first, dup := seen[name]; {
		case name == "":
			return columnError("column %d of the header has no name; give it one, even if it is an index to be ignored%s", i+1, noHeader(header))
		case dup:
			return columnError("columns %d and %d of the header are both named %s; rename one%s", first+1, i+1, quote(name), noHeader(header))
		case !utf8.ValidString(name):
			return columnError("column %d of the header, %s, is not UTF-8; save the file as UTF-8", i+1, quote(name))
		}
		seen[name] = i
		if isFloat(name) {
			numbers++
		}
	}
	if numbers == len(header) {
		return columnError("the header has numbers only, %s; put a line with the columns' names before the first row", list(quoted(header), "and"))
	}
	return nil
}

// noHeader asks for a header where the first line seems to be a row, as it has a number,
// or something that programs write before the header.
func noHeader(names []string) string {
	if slices.ContainsFunc(names, isFloat) || len(names) > 0 && (strings.HasPrefix(names[0], "#") || strings.HasPrefix(names[0], "sep=")) {
		return "; the first line must be the header, with the columns' names: put it there, and remove what comes before it"
	}
	return ""
}

// absentColumn is the error of a column that isn't there.
func absentColumn(name string, names []string, where string) error {
	return columnError("column %s is not in %s%s, which has %s; add it, or correct its name%s", quote(name), where, didYouMean(name, names), list(quoted(names), "and"), noHeader(names))
}
