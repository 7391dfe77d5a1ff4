package vector

// Sum adds numbers up, in four partial sums that don't wait for each other: a number passes
// through fewer roundings than there are numbers.
func Sum(z []float64) float64 {
	var a, b, c, d float64
	for ; len(z) >= 4; z = z[4:] {
		a, b, c, d = a+z[0], b+z[1], c+z[2], d+z[3]
	}
	for _, v := range z {
		a += v
	}
	return (a + b) + (c + d)
}
