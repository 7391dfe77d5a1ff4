// Package digits writes numbers of guarantees, which must not be told smaller than they are.
package digits

import (
	"math"
	"strconv"
	"strings"
)

// RoundedUp writes a number of at least 0 with six digits, rounded up; the last bits of a sum
// don't change them.
func RoundedUp(v float64) string {
	s := strconv.FormatFloat(v, 'e', 5, 64)
	back, err := strconv.ParseFloat(s, 64)
	if err == nil && back < v*(1-1e-12) {
		exponent, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
		back += math.Pow10(exponent - 5) // a unit of the sixth digit
	}
	return strconv.FormatFloat(back, 'g', 6, 64)
}
