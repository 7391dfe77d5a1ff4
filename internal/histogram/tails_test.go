package histogram

import (
	"math"
	"math/rand/v2"
	"testing"
)

// counted is the histogram of numbers, with noise.
func counted(r *rand.Rand, numbers []float64, noise float64) Tails {
	h := Tails{Edges: Geometric(256, math.Sqrt2, 26), Noise: noise, Rows: float64(len(numbers))}
	var added float64
	for _, e := range h.Edges {
		above := 0.0
		for _, v := range numbers {
			if v > e {
				above++
			}
		}
		added += noise * r.NormFloat64()
		h.Above = append(h.Above, above+added)
	}
	return h
}

// A law that is fitted to a noisy histogram tells about how much lies beyond a point that
// one number of a hundred exceeds, on average over 40 histograms with the noise of ε = 1
// and 10,000 rows. One says it within some 60 %, so that their mean has an error of 10 %:
// bounds are five of these from what the law is known to miss, more where tails are short.
// Counts of a group of its own are found, too, of which the bulk tells nothing.
func TestUpperLaw(t *testing.T) {
	const n, draws = 10_000, 40
	for _, c := range []struct {
		name string
		most float64 // of what it says over what there is
		draw func(r *rand.Rand) float64
	}{
		{"exponential", 1.5, func(r *rand.Rand) float64 { return 1.3 * r.ExpFloat64() }},
		{"normal", 2.3, func(r *rand.Rand) float64 { return 2 * math.Abs(r.NormFloat64()) }},
		{"longer tails", 1.3, func(r *rand.Rand) float64 { return math.Pow(r.ExpFloat64(), 1.6) }},
		{"a group far above", 4, func(r *rand.Rand) float64 {
			if r.Float64() < 0.05 {
				return 2.5 + 0.4*r.NormFloat64()
			}
			return 0.1 * r.ExpFloat64()
		}},
	} {
		r := rand.New(rand.NewPCG(7, 8))
		var got, want float64
		for range draws {
			numbers := make([]float64, n)
			for i := range numbers {
				numbers[i] = c.draw(r)
			}
			at := quantileOf(numbers, 0.99)
			for _, v := range numbers {
				want += math.Max(v-at, 0) / draws
			}
			l, low := counted(r, numbers, 26).FromSeen().Upper(1, 0.8)
			if low > at {
				t.Errorf("%s: the law begins at %g, beyond %g", c.name, low, at)
			}
			got += l.Excess(at) / draws
		}
		t.Logf("%s: %.1f beyond the point, want %.1f", c.name, got, want)
		if got < 0.5*want || got > c.most*want {
			t.Errorf("%s: %.1f beyond the point, want %.1f", c.name, got, want)
		}
	}
}

func quantileOf(numbers []float64, q float64) float64 {
	low, high := 0.0, 256.0
	for range 50 {
		middle, below := (low+high)/2, 0.0
		for _, v := range numbers {
			if v < middle {
				below++
			}
		}
		if below < q*float64(len(numbers)) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Where few rows have events, and gradients that are long for it, the law is that of the
// largest of these: one of the largest of all rows has the shape of where they begin, and
// tells less than two thirds of what lies beyond a point that one in 250 exceeds. Noise is
// that of ε = 1 and 50,000 rows.
func TestUpperLawOfFewEvents(t *testing.T) {
	const n, draws, events = 10_000, 40, 0.12
	r := rand.New(rand.NewPCG(7, 9))
	var few, all, want float64
	for range draws {
		numbers := make([]float64, n)
		for i := range numbers {
			if numbers[i] = 0.1 * r.ExpFloat64(); r.Float64() < events {
				numbers[i] = 1.5 * math.Exp(0.25*math.Abs(r.NormFloat64())+0.2*r.ExpFloat64())
			}
		}
		at := quantileOf(numbers, 0.996)
		for _, v := range numbers {
			want += math.Max(v-at, 0) / draws
		}
		h := counted(r, numbers, 6).FromSeen()
		one, _ := h.Upper(events, 0.8)
		other, _ := h.Upper(1, 0.8)
		few, all = few+one.Excess(at)/draws, all+other.Excess(at)/draws
	}
	t.Logf("%.1f beyond the point, by all rows %.1f, want %.1f", few, all, want)
	if few < 0.7*want || few > 1.5*want || all > 0.67*want {
		t.Errorf("%.1f beyond the point, by all rows %.1f, want %.1f", few, all, want)
	}
}

// Excess is the integral of Above, and a clip grows as noise falls and as more of what it
// cuts off is left.
func TestBalancedClip(t *testing.T) {
	l := Law{500, 2, 1, 0.8}
	var sum float64
	const step = 1e-3
	for x := 3 + step/2; x < 200; x += step {
		sum += step * l.Above(x)
	}
	if got := l.Excess(3); math.Abs(got-sum) > 1e-5*sum {
		t.Errorf("%g lies beyond 3, want %g", got, sum)
	}
	clip := func(noise, fraction float64) float64 { return l.Balanced(1, 1000, noise, fraction) }
	if quiet, loud, left := clip(1, 0.3), clip(30, 0.3), clip(30, 0.6); !(loud < left && left < quiet) {
		t.Errorf("clips %g for little noise, %g for much and %g where more is left", quiet, loud, left)
	}
	best := clip(10, 0.3)
	total := func(c float64) float64 { return math.Pow(10*c, 2) + math.Pow(0.3*l.Excess(c), 2) }
	for _, factor := range []float64{0.9, 1.1} {
		if total(factor*best) < total(best) {
			t.Errorf("%g is no better than %g", best, factor*best)
		}
	}
}

// A histogram without anything in it leads to a law nevertheless.
func TestUpperLawOfNothing(t *testing.T) {
	h := Tails{Edges: Geometric(64, math.Sqrt2, 26), Above: make([]float64, 27), Noise: 1, Rows: 1000}
	l, low := h.FromSeen().Upper(1, 0.8)
	if clip := l.Balanced(low, 64, 1, 0.3); !(clip > 0 && clip <= 64) || !(l.Excess(clip) >= 0) {
		t.Errorf("clip %g of %+v from %g on", clip, l, low)
	}
}

// A covering edge is the lowest above which there is no row, as far as single ones would be seen.
func TestCovering(t *testing.T) {
	edges := []float64{8, 4, 2, 1}
	for name, c := range map[string]struct {
		above []float64
		noise float64
		want  float64
	}{
		"a row between":         {[]float64{0.1, -0.1, 1.1, 9}, 0.05, 4},
		"none at all":           {[]float64{0, 0, 0, 0}, 0.05, 1},
		"a row beyond":          {[]float64{0.9, 1, 1.1, 9}, 0.05, math.Inf(1)},
		"noise hides a row":     {[]float64{0, 0, 0, 0}, 0.4, math.Inf(1)},
		"noise adds up to more": {[]float64{0, 0, 0, 0}, 0.2, 4}, // 3·0.2·√3 > 1
	} {
		if got := (Tails{Edges: edges, Above: c.above, Noise: c.noise, Rows: 100}).Covering(); got != c.want {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}
