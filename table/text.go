package table

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// trim removes the spaces around a field, of which most have none.
func trim(s string) string {
	if n := len(s); n > 0 && (s[0] <= ' ' || s[n-1] <= ' ') {
		return strings.TrimSpace(s)
	}
	return s
}

// fold maps texts that differ in the case of letters only to the same one, as
// strings.EqualFold has it.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}

const (
	ten = 10
	// exactDigits is how many digits a whole number may have that float64 holds for sure.
	exactDigits = 15
)

// powers are 10^0, 10^1, …, each as it is.
var powers = func() (list [exactDigits + 1]float64) {
	list[0] = 1
	for i := range exactDigits {
		list[i+1] = ten * list[i]
	}
	return list
}()

// plainDecimal reads a number as strconv.ParseFloat does, to the last bit, if it is what most are:
// a few digits, maybe with a sign and a point. It is a quotient of two numbers that float64 holds,
// which is rounded once.
func plainDecimal(text string) (x float64, ok bool) {
	number := strings.TrimPrefix(text, "-")
	whole, count, point := int64(0), 0, len(number)-1
	for i := range len(number) {
		switch c := number[i]; {
		case c >= '0' && c <= '9' && count < exactDigits:
			whole = ten*whole + int64(c-'0')
			count++
		case c == '.' && point == len(number)-1:
			point = i
		default:
			return 0, false
		}
	}
	if count == 0 {
		return 0, false
	}
	x = float64(whole) / powers[len(number)-1-point]
	if len(number) < len(text) {
		x = -x
	}
	return x, true
}

// parseFloat reads a number as data have them: the forms of programs' sources, as 0x1p3 and 1_000, are none.
func parseFloat(text string) (float64, error) {
	if strings.ContainsAny(text, "_xX") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

func isFloat(text string) bool {
	_, err := parseFloat(text)
	return err == nil
}

func tooLarge(text string) bool {
	x, err := parseFloat(text)
	return err != nil && math.IsInf(x, 0)
}

// separators are those of thousands that are known.
var separators = []string{",", "'", " ", "."}

// typographic are the signs that programs print for a space or an apostrophe between thousands.
var typographic = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2019", "'")

// plainSeparators has signs between thousands as keyboards write them.
func plainSeparators(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= ascii }) < 0 { // most have none
		return text
	}
	return typographic.Replace(text)
}

// withoutThousands removes the separators of a number that is written with groups of three
// digits before its point, or what stands for it: "-1,893.06" becomes "-1893.06". Any other text stays as it is, and
// so does "0,125", whose comma is no separator of thousands.
func withoutThousands(text, separator, point string) string {
	if separator == point || !strings.Contains(text, separator) { // most have none
		return text
	}
	whole, fraction, _ := strings.Cut(text, point)
	groups := strings.Split(strings.TrimLeft(whole, "+-"), separator)
	if len(groups) < 2 || len(groups[0]) > 3 || groups[0] == "" || groups[0][0] == '0' || !digits(fraction) {
		return text
	}
	for i, g := range groups {
		if i > 0 && len(g) != 3 || !digits(g) {
			return text
		}
	}
	return strings.ReplaceAll(whole, separator, "") + text[len(whole):]
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
