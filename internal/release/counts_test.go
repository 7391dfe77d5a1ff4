package release

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpglm/dpglm/mechanisms"
)

// manyCounts are numbers of releases on both sides of those at which code might go another way.
var manyCounts = []int{1, 2, 63, 64, 65, 99, 100, 101, 127, 128, 129, 255, 256, 257, 999, 1000, 1001}

// However many releases are planned, so many are made and not one more, by each kind of leaf, and each part
// of a composition of so many parts is given once.
func TestCountsAtAllSizes(t *testing.T) {
	for _, n := range manyCounts {
		rows := NewRows()
		answer := NewAnswer(rows, numbers(1), 1)
		leaves := map[string]func() func() error{
			"Gaussian": func() func() error {
				a := must(Gaussian("sums", 1, n, 1)).Allow(rows, mechanisms.NewSeededSource(1))
				return func() error { _, err := a.AddNoise(answer); return err }
			},
			"Laplace": func() func() error {
				a := must(Laplace("sums", 1, n, 1)).Allow(rows, mechanisms.NewSeededSource(1))
				return func() error { _, err := a.AddNoise(answer); return err }
			},
			"pool": func() func() error {
				a := must(Pool("sums", 1, n, 1)).Allow(rows, mechanisms.NewSeededSource(1))
				return func() error { _, err := a.Draw(0.5/float64(n+1), answer); return err }
			},
			"skipped": func() func() error {
				a := must(Gaussian("sums", 1, n, 1)).Allow(rows, mechanisms.NewSeededSource(1))
				return func() error { return a.Skip(1) }
			},
			"sequence": func() func() error {
				var parts []*Schedule
				for range n {
					parts = append(parts, gaussianOf("part", 1, 1))
				}
				a, k := must(Sequential("sums", parts...)).Allow(rows, mechanisms.NewSeededSource(1)), 0
				return func() error {
					part, err := a.Part(k)
					if k++; err != nil {
						return err
					}
					_, err = part.AddNoise(answer)
					if _, again := a.Part(k - 1); again == nil {
						return fmt.Errorf("part %d was given twice", k-1)
					}
					return err
				}
			},
		}
		for name, of := range leaves {
			next := of()
			for k := range n {
				if err := next(); err != nil {
					t.Fatalf("%s, %d planned, number %d: %v", name, n, k+1, err)
				}
			}
			for range 2 {
				if err := next(); err == nil {
					t.Errorf("%s: one more than the %d planned", name, n)
				}
			}
		}
	}
}

// Each release of many, and each number of a long one, has the noise that was planned, whichever it is in the order.
// A right program would fail this for less than one in 10^5 seeds: limits are 7 standard deviations of a
// sample of that many squares, of which there are 7000.
func TestEveryReleaseHasItsNoise(t *testing.T) {
	const releases, dim, mu = 260, 3000, 2.0
	rows := NewRows()
	sums := make([]float64, dim) // of squares, by number
	for name, of := range map[string]func() func(k int) ([]float64, error){
		"Gaussian": func() func(int) ([]float64, error) {
			a := must(Gaussian("sums", mu, releases, dim)).Allow(rows, mechanisms.NewSeededSource(5))
			return func(int) ([]float64, error) { return a.AddNoise(NewAnswer(rows, numbers(dim), 1)) }
		},
		"pool": func() func(int) ([]float64, error) {
			a := must(Pool("sums", mu*math.Sqrt(releases+1), releases, dim)).Allow(rows, mechanisms.NewSeededSource(6))
			return func(int) ([]float64, error) { return a.Draw(1.0/(releases+1), NewAnswer(rows, numbers(dim), 1)) }
		},
	} {
		clear(sums)
		next := of()
		for k := range releases {
			v, err := next(k)
			if err != nil {
				t.Fatal(err)
			}
			var square float64
			for j, x := range v {
				square += x * x
				sums[j] += x * x
			}
			if sd := math.Sqrt(square/dim) * mu; math.Abs(sd-1) > 7/math.Sqrt(2*dim) {
				t.Errorf("%s: release %d has noise of %g of what is planned", name, k+1, sd)
			}
		}
		for j, square := range sums {
			if sd := math.Sqrt(square/releases) * mu; math.Abs(sd-1) > 7/math.Sqrt(2*releases) {
				t.Errorf("%s: number %d has noise of %g of what is planned", name, j, sd)
			}
		}
	}
}

// An answer and its sensitivity times a power of two are released as the same numbers, times that.
func TestReleasesScale(t *testing.T) {
	const dim = 5
	released := func(kind string, by float64) []float64 {
		rows, v := NewRows(), numbers(dim)
		for j := range v {
			v[j] = by * (float64(j) - 1.7)
		}
		x, src := NewAnswer(rows, v, by*0.3), mechanisms.NewSeededSource(9)
		var out []float64
		var err error
		switch kind {
		case "Gaussian":
			out, err = must(Gaussian("sums", 1, 1, dim)).Allow(rows, src).AddNoise(x)
		case "Laplace":
			out, err = must(Laplace("sums", 1, 1, dim)).Allow(rows, src).AddNoise(x)
		default:
			out, err = must(Pool("sums", 1, 1, dim)).Allow(rows, src).Draw(0.4, x)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, kind := range []string{"Gaussian", "Laplace", "pool"} {
		want := released(kind, 1)
		for _, exp := range []int{-180, -40, -10, -1, 1, 10, 40, 180} {
			for j, x := range released(kind, math.Ldexp(1, exp)) {
				if math.Float64bits(x) != math.Float64bits(math.Ldexp(want[j], exp)) {
					t.Errorf("%s times 2^%d: number %d is %g, want %g", kind, exp, j, x, math.Ldexp(want[j], exp))
				}
			}
		}
	}
}
