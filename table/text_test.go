package table

import (
	"math"
	"strconv"
	"testing"
)

// Numbers are those of strconv.ParseFloat to the last bit, or left to it.
func FuzzPlainDecimal(f *testing.F) {
	for _, text := range []string{"0", "-0", "-0.0", "1", "12.50", ".5", "5.", "-.5", "", "-", ".", "-.", "1..2", "1.2.3", "..", "+1", "1e5", "0x1p3", "1_000", "NaN",
		"0.1", "0.000000000000001", "999999999999999", "9999999999999999", "123456789012345.", "12345678901234.5", "1234567890123456.7", "000000000000000001", "٣"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, ok := plainDecimal(text)
		if !ok {
			return
		}
		if want, err := strconv.ParseFloat(text, 64); err != nil || math.Float64bits(x) != math.Float64bits(want) {
			t.Errorf("%q is %v, want %v (%v)", text, x, want, err)
		}
	})
}

// Most numbers are plain.
func TestPlainDecimal(t *testing.T) {
	for _, text := range []string{"7", "-7", "0.25", "-12.5", ".5", "5.", "123456789012345", "0.00000000000001"} {
		if _, ok := plainDecimal(text); !ok {
			t.Errorf("%q isn't plain", text)
		}
	}
}
