package table

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// otherLetters is the most that two names which are near may differ in.
const otherLetters = "with other letters"

// nearest returns the name that s was most likely meant to be and how they differ; an
// empty name if none is near.
func nearest(s string, names []string) (name, how string) {
	latin := s
	if !utf8.ValidString(s) {
		latin = fromLatin1(s)
	}
	for _, n := range names {
		switch {
		case strings.TrimFunc(s, unicode.IsSpace) == n || strings.ReplaceAll(s, "\u00a0", " ") == n:
			return n, "without the spaces around it"
		case strings.EqualFold(s, n):
			return n, "in another case"
		case latin != s && strings.EqualFold(latin, n):
			return n, "in another encoding: save the file as UTF-8"
		}
	}
	want := skeleton(latin)
	for _, n := range names {
		if want != "" && skeleton(n) == want {
			return n, "with other spaces, signs or case"
		}
	}
	best := 1 + min(2, 2*len(want)/5) // no near name for one or two letters
	for _, n := range names {
		if d := distance(want, skeleton(n), best); d < best {
			best, name = d, n
		}
	}
	return name, otherLetters
}

// didYouMean is a question to add to a message; empty if no name is near.
func didYouMean(s string, names []string) string {
	if name, _ := nearest(s, names); name != "" {
		return " (did you mean " + quote(name) + "?)"
	}
	return ""
}

// fromLatin1 reads the bytes of s as ISO 8859-1.
func fromLatin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// skeleton is s in lower case, its letters and digits only, of a length that is cheap
// to compare.
func skeleton(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() > maxQuoted {
			break
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// distance is the number of letters to insert, remove or replace between a and b, or
// at least most if it isn't below.
func distance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if max(len(x)-len(y), len(y)-len(x)) >= most {
		return most
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		before := row[0] // of row i, column j
		row[0] = i + 1
		for j, s := range y {
			replaced := before
			if r != s {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, before+1)
		}
	}
	return row[len(y)]
}
