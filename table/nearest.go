package table

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// inAnotherCase is how two names that fold_case would read as one differ.
const inAnotherCase = "in another case"

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
			return n, inAnotherCase
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
	if strings.ContainsFunc(s, unicode.IsMark) != strings.ContainsFunc(name, unicode.IsMark) {
		return name, "with a letter and its accent as one character here and as two there: save both as Unicode's form NFC"
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

// distance is the number of letters to insert, remove, replace or swap with the next
// between a and b, or at least most if it isn't below.
func distance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if max(len(x)-len(y), len(y)-len(x)) >= most {
		return most
	}
	width := len(y) + 1
	d := make([]int, (len(x)+1)*width) // between the first i of x and the first j of y
	for k := range d {
		i, j := k/width, k%width
		if i == 0 || j == 0 {
			d[k] = i + j
			continue
		}
		replaced := d[k-width-1]
		if x[i-1] != y[j-1] {
			replaced++
		}
		d[k] = min(replaced, d[k-1]+1, d[k-width]+1)
		if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
			d[k] = min(d[k], d[k-2*width-2]+1)
		}
	}
	return d[len(d)-1]
}
