package page

import (
	"math"
	"strconv"
	"strings"
)

const (
	minus = "−"      // as wide as a plus
	space = "\u00a0" // that no line breaks at
)

// signed writes a decimal number with a true minus sign.
func signed(s string) string { return strings.Replace(s, "-", minus, 1) }

// fixed writes v to as many decimals.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" { // no −0
		s = strings.TrimPrefix(s, "-")
	}
	return signed(s)
}

// significant writes v to n significant digits, with a power of ten where it is far from 1.
func significant(v float64, n int) string {
	switch size := math.Abs(v); {
	case math.IsInf(v, 0):
		return signed(strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "+Inf", "∞", 1))
	case v == 0:
		return "0"
	case size >= 1e7 || size < 1e-4:
		mantissa, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', n-1, 64), "e")
		return signed(mantissa) + space + "×" + space + "10" + raised(power)
	}
	return signed(strconv.FormatFloat(v, 'f', max(0, n-1-magnitude(v, n)), 64))
}

// magnitude is the power of ten of the leading digit of v, rounded to n digits.
func magnitude(v float64, n int) int {
	_, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', n-1, 64), "e")
	k, _ := strconv.Atoi(power)
	return k
}

// atMost writes a bound to n significant digits, rounded up, without zeros at its end.
func atMost(v float64, n int) string {
	if !(v > 0) || math.IsInf(v, 0) {
		return significant(v, n)
	}
	unit := math.Pow(10, float64(magnitude(v, 15)-n+1))
	return plain(tidy(math.Ceil(v/unit*(1-1e-9)) * unit))
}

// raised writes an exponent.
func raised(power string) string {
	n, _ := strconv.Atoi(power)
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
}

// plain writes all digits of v.
func plain(v float64) string {
	size := math.Abs(v)
	switch {
	case size >= 1e10 || size < 1e-4 && v != 0:
		mantissa, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
		return signed(mantissa) + space + "×" + space + "10" + raised(power)
	case v == math.Trunc(v) && v < 0:
		return minus + commas(fixed(-v, 0))
	case v == math.Trunc(v):
		return commas(fixed(v, 0))
	}
	return signed(strconv.FormatFloat(v, 'f', -1, 64))
}

// plains writes several, with a text between.
func plains(list []float64, between string) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = plain(v)
	}
	return strings.Join(texts, between)
}

// tidy undoes the rounding of multiples of a decimal step.
func tidy(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	return v
}

// grouped writes 28155 as 28,155.
func grouped(n int) string { return commas(strconv.Itoa(n)) }

func commas(s string) string {
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// percent writes a share.
func percent(v float64, decimals int) string { return fixed(100*v, decimals) + space + "%" }

// level writes that of an interval, such as 99.9 %.
func level(v float64) string { return strconv.FormatFloat(100*v, 'g', 6, 64) + space + "%" }

// estimate writes a value and its interval, to two digits of the interval's half width.
func estimate(v, low, high float64) (value, interval string) {
	half := (high - low) / 2
	if !(half > 0) || math.IsInf(half, 0) {
		return significant(v, 3), ""
	}
	if largest := math.Max(math.Abs(low), math.Abs(high)); largest >= 1e7 || half < 1e-5 {
		return significant(v, 3), between(significant(low, 3), significant(high, 3))
	}
	decimals := max(0, 1-magnitude(half, 2))
	return fixed(v, decimals), between(fixed(low, decimals), fixed(high, decimals))
}

func between(low, high string) string { return "[" + low + "," + space + high + "]" }

// niceSteps returns round numbers from low to high, some count of them.
func niceSteps(low, high float64, count int) []float64 {
	step := round125((high - low) / float64(count))
	if !(step > 0) || math.IsInf(step, 0) {
		return nil
	}
	var out []float64
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*step; k++ {
		out = append(out, k*step)
	}
	return out
}

// round125 returns the smallest of 1, 2 and 5 times powers of ten that is at least v.
func round125(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 5} {
		if k*base >= v*(1-1e-9) {
			return k * base
		}
	}
	return 10 * base
}
