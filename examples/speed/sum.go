package main

//go:generate sh -c "cd ../../internal/kernel/gen && go run . -op sum -pkg main -out ../../../examples/speed/sum_amd64.s -stubs ../../../examples/speed/sum_asm_amd64.go"

// sum adds the numbers of x, in 32 partial sums. It does as little as a function can
// that reads all of x.
func sum(x []float64) (total float64) {
	const parts = 32
	var s [parts]float64
	whole := len(x) &^ (parts - 1)
	if whole > 0 {
		addParts(&s, x[:whole])
	}
	for i, v := range x[whole:] {
		s[i] += v
	}
	for _, v := range s {
		total += v
	}
	return total
}

func addPartsGo(s *[32]float64, x []float64) {
	for ; len(x) >= 32; x = x[32:] {
		for i, v := range (*[32]float64)(x) {
			s[i] += v
		}
	}
}
