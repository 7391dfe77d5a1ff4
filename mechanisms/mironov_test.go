package mechanisms

import (
	"math"
	"testing"
)

// A release is attacked as in [M12]: two neighbouring values, and for each output
// the question which of them could have led to it. An output that only one can
// lead to tells with certainty, whatever ε is.

// naiveLaplace is the textbook sampler in float64: the sign times the logarithm
// of a uniform number with 53 bits, added to the value.
func naiveLaplace(value, scale float64, src Source) float64 {
	noise := scale * math.Log(float64(1+src.Uint64()>>11)*0x1p-53)
	if src.Uint64()>>63 == 1 {
		noise = -noise
	}
	return value + noise
}

// naiveReaches reports whether naiveLaplace can lead from value to out: near the
// noise out − value, the uniform numbers that could have made it are tried one
// by one.
func naiveReaches(out, value, scale float64) bool {
	noise := out - value
	size := math.Abs(noise)
	near := math.RoundToEven(math.Exp(-size/scale) * 0x1p53)
	// Within a unit in the last place of out, uniform numbers around near map to
	// noise that rounds to the same sum; those further away cannot.
	width := math.Ceil(4*(math.Nextafter(math.Abs(out), math.Inf(1))-math.Abs(out)+0x1p-52*size)/scale*near) + 4
	if width > 1e4 {
		return true // many uniform numbers lead there
	}
	for u := math.Max(1, near-width); u <= math.Min(0x1p53, near+width); u++ {
		made := math.Abs(scale * math.Log(u*0x1p-53))
		if value+math.Copysign(made, noise) == out {
			return true
		}
	}
	return false
}

// told returns the fraction of n releases of value that rule out the neighbour, and
// the share that rule out the value itself, which an attack may never claim.
func told(n int, value, neighbour float64, release func(v float64) float64, reaches func(out, v float64) bool) (caught, wrong float64) {
	for range n {
		out := release(value)
		if !reaches(out, neighbour) {
			caught++
		}
		if !reaches(out, value) {
			wrong++
		}
	}
	return caught / float64(n), wrong / float64(n)
}

// The attack succeeds on naive noise: at ε = 0.5 a pure ε-DP mechanism leaves it
// nothing, but a large share of the outputs give the value away.
func TestMironovOnNaiveLaplace(t *testing.T) {
	src := NewSeededSource(20)
	release := func(v float64) float64 { return naiveLaplace(v, 2, src) }
	reaches := func(out, v float64) bool { return naiveReaches(out, v, 2) }
	for _, c := range [][2]float64{{0, 1}, {1, 0}, {1e-3, 1.001}} {
		caught, wrong := told(4000, c[0], c[1], release, reaches)
		t.Logf("naive Laplace, value %g beside %g: %.0f %% of the outputs give it away", c[0], c[1], 100*caught)
		if wrong > 0 {
			t.Errorf("the attack rules out the true value %g in %.1f %% of its outputs", c[0], 100*wrong)
		}
		if caught < 0.1 {
			t.Errorf("the attack has lost its power on %g beside %g: %.2f %%", c[0], c[1], 100*caught)
		}
	}
}

// attacked are the mechanisms of this package, at sensitivity 1, with the grid and
// the scale of their noise.
func attacked(t *testing.T) map[string]struct {
	release func(v float64, src Source) float64
	step    float64
	scale   uint64
} {
	t.Helper()
	laplaceStep, laplaceScale, err := Laplace{0.5}.grid(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	gaussianStep, gaussianScale, err := Gaussian{0.5}.grid(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	one := func(release func(dst, value []float64, sensitivity float64, src Source) error) func(float64, Source) float64 {
		return func(v float64, src Source) float64 {
			out := []float64{v}
			if err := release(out, out, 1, src); err != nil {
				t.Fatal(err)
			}
			return out[0]
		}
	}
	return map[string]struct {
		release func(v float64, src Source) float64
		step    float64
		scale   uint64
	}{
		"Laplace":  {one(Laplace{0.5}.Release), laplaceStep, laplaceScale},
		"Gaussian": {one(Gaussian{0.5}.Release), gaussianStep, gaussianScale},
	}
}

// It fails on the mechanisms of this package: between two neighbouring values the
// noise that leads to an output is a whole number of steps for either, and each
// such number is drawn with positive probability.
func TestMironovFails(t *testing.T) {
	values := [][2]float64{{0, 1}, {1, 0}, {1e-3, 1.001}, {math.Pi, math.Pi - 1}, {0x1p-40 / 3, 1 - 0x1p-53}, {5e-324, 0}}
	for name, m := range attacked(t) {
		src := NewSeededSource(21)
		release := func(v float64) float64 { return m.release(v, src) }
		reaches := func(out, v float64) bool {
			noise := (out - math.RoundToEven(v/m.step)*m.step) / m.step // exact: all are multiples of the step below 2^53 of them
			return noise == math.Trunc(noise) && math.Abs(noise) < 64*float64(m.scale)
		}
		for _, c := range values {
			if caught, wrong := told(2000, c[0], c[1], release, reaches); caught+wrong > 0 {
				t.Errorf("%s: %g beside %g: %.2f %% of the outputs give it away (%.2f %% are impossible)", name, c[0], c[1], 100*caught, 100*wrong)
			}
		}
	}
}

// The same outputs are reached from either value, not only the same grid: with
// the noise word by word the same, the outputs of two values differ by the
// difference of the rounded values, bit by bit.
func TestReachableSetIsTranslated(t *testing.T) {
	for name, m := range attacked(t) {
		for _, c := range [][2]float64{{0, 1}, {math.Pi, math.Pi - 1}, {-1e-9, 0.3}, {1e6, 1e6 + 1}} {
			a, b := math.RoundToEven(c[0]/m.step), math.RoundToEven(c[1]/m.step)
			for seed := range uint64(500) {
				x := m.release(c[0], NewSeededSource(seed)) / m.step
				y := m.release(c[1], NewSeededSource(seed)) / m.step
				if x != math.Trunc(x) || y != math.Trunc(y) {
					t.Fatalf("%s: %v leave the grid", name, c)
				}
				if x-y != a-b && math.Max(math.Abs(x), math.Abs(y)) < 0x1p53 {
					t.Fatalf("%s: %v move by %g steps, their roundings by %g", name, c, x-y, a-b)
				}
			}
		}
	}
}

// Where an output has more than 53 bits it is rounded, for either value alike: the
// step that neighbours' outputs keep to then depends on the output alone.
func TestLargeOutputsKeepNoLowBits(t *testing.T) {
	for name, m := range attacked(t) {
		src := NewSeededSource(22)
		for _, v := range []float64{1e5, 1e5 + 1, 0x1p40 + 0.7, 0x1p40 - 0.3} {
			for range 500 {
				out := m.release(v, src)
				unit := math.Max(m.step, math.Nextafter(out, math.Inf(1))-out)
				if r := out / unit; r != math.Trunc(r) {
					t.Fatalf("%s: %g from %g keeps bits below %g", name, out, v, unit)
				}
			}
		}
	}
}
