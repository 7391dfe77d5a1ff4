package mechanisms

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Compositions that Google's dp-accounting computed, by privacy loss distributions rounded down and up: none of ours is below the
// former, and none above the latter by more than a thousandth (and a hundred-thousandth of itself, for our own grids), but where there are
// exponential mechanisms. Of these only the range of losses is known, and an adversary may choose where it lies anew at each release, by
// what was released before: ours are counted by what such a one gains. dp-accounting's all lie alike, which is less. dpaccounting.py says how
// they were made.
func TestDPAccounting(t *testing.T) {
	const chosen = 0.04 // of ε, which choosing is worth at most here
	data, err := os.ReadFile("../testdata/accounting/dpaccounting.json")
	if err != nil {
		t.Fatal(err)
	}
	var records []struct {
		Ledger           *Ledger
		Delta, Low, High []float64
	}
	if err := json.Unmarshal(data, &records); err != nil {
		t.Fatal(err)
	}
	if len(records) != 150 {
		t.Fatalf("%d records", len(records))
	}
	kinds, priciest := map[Kind]int{}, 0.0
	for _, r := range records {
		ranges := false
		for _, part := range r.Ledger.children {
			kinds[part.node.Kind]++
			ranges = ranges || part.node.Kind == KindBoundedRange
		}
		for i, delta := range r.Delta {
			got := epsilonOf(t, r.Ledger, delta)
			if got < r.Low[i]*(1-1e-9) {
				t.Errorf("%v: ε(%g) = %g, and is at least %g", r.Ledger, delta, got, r.Low[i])
			}
			most := (r.High[i] + 1e-3) * (1 + 1e-5)
			if ranges {
				priciest = math.Max(priciest, got/r.High[i]-1)
				most *= 1 + chosen
			}
			if got > most {
				t.Errorf("%v: ε(%g) = %g, and is at most %g", r.Ledger, delta, got, r.High[i])
			}
		}
	}
	for _, kind := range []Kind{KindGaussian, KindLaplace, KindPure, KindBoundedRange} {
		if kinds[kind] < 40 {
			t.Errorf("%d parts are %s", kinds[kind], kind)
		}
	}
	t.Logf("exponential mechanisms cost up to %.1f %% of ε more than where all ranges lie alike", 100*priciest)
}

// An adversary who chooses at each of k releases of range ε where it lies, by the loss so far, gains at most
//
//	δ_k(x) = max_t p·δ_{k−1}(x − t) + (1 − p)·δ_{k−1}(x − t + ε),  p = (1 − e^{t−ε})/(1 − e^{−ε}),
//
// δ_0(x) = (1 − e^x)₊, two outcomes of losses t and t − ε being the worst. On a grid of t and x, both multiples of a part of ε, this is
// what some adversary gains: no ledger may be below.
func TestRangesThatAnAdversaryChooses(t *testing.T) {
	const parts = 60
	for _, c := range []struct {
		epsilon  float64
		releases int
	}{{0.1879, 20}, {0.0317, 5}, {0.8272, 2}, {0.5, 1}} {
		h := c.epsilon / parts
		size := parts * c.releases
		at := func(delta []float64, i int) float64 { // at i steps
			switch i += size; {
			case i < 0:
				return -math.Expm1(float64(i-size) * h)
			case i < len(delta):
				return delta[i]
			}
			return 0
		}
		delta := make([]float64, 2*size+1)
		for i := range delta {
			delta[i] = math.Max(0, -math.Expm1(float64(i-size)*h))
		}
		for range c.releases {
			next := make([]float64, len(delta))
			for j := range parts + 1 {
				p := math.Expm1(float64(j-parts)*h) / math.Expm1(-c.epsilon)
				for i := range next {
					next[i] = math.Max(next[i], p*at(delta, i-size-j)+(1-p)*at(delta, i-size-j+parts))
				}
			}
			delta = next
		}
		l := built(t)(epsilonLedger(KindBoundedRange, "", c.epsilon, c.releases))
		for i := size; i < len(delta); i++ {
			x := float64(i-size) * h
			got := deltaOf(t, l, x)
			if got < delta[i]*(1-1e-9) {
				t.Errorf("%d of range %g: δ(%g) = %g, and an adversary gains %g", c.releases, c.epsilon, x, got, delta[i])
			}
		}
		for _, least := range []float64{1e-4, 1e-7} {
			i := size
			for i < len(delta)-1 && delta[i] > least {
				i++
			}
			gains := float64(i-1-size) * h // at least
			above := epsilonOf(t, l, least)/gains - 1
			most := 0.01
			if c.releases < 5 { // of which three steps of the grid here are more
				most = 3. / parts
			}
			if above > most {
				t.Errorf("%d of range %g: ε(%g) is %.1f %% above what an adversary gains", c.releases, c.epsilon, least, 100*above)
			}
			t.Logf("%d of range %g: ε(%g) is %.1f %% above what an adversary gains", c.releases, c.epsilon, least, 100*above)
		}
	}
}
