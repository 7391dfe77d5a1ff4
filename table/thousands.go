package table

import (
	"strconv"
	"strings"
)

// separators are those of thousands that are known.
var separators = []string{",", "'", " "}

// parse reads a number as the column has them.
func (c *Column) parse(text string) (float64, error) {
	if c.Thousands != "" {
		text = withoutThousands(text, c.Thousands)
	}
	return strconv.ParseFloat(text, 64)
}

// withoutThousands removes the separators of a number that is written with groups of three
// digits before its point: "-1,893.06" becomes "-1893.06". Any other text stays as it is, and
// so does "0,125", whose comma is no separator of thousands.
func withoutThousands(text, separator string) string {
	if !strings.Contains(text, separator) { // most have none
		return text
	}
	whole, fraction, _ := strings.Cut(text, ".")
	groups := strings.Split(strings.TrimLeft(whole, "+-"), separator)
	if len(groups) < 2 || len(groups[0]) > 3 || groups[0] == "" || groups[0][0] == '0' || !digits(fraction) {
		return text
	}
	for i, g := range groups {
		if i > 0 && len(g) != 3 || !digits(g) {
			return text
		}
	}
	return strings.ReplaceAll(text, separator, "")
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
