package evidence

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// rates are two with a parameter, even about ½.
func rates(u Unit, parameter float64) (p, q float64) {
	if u == Epsilon {
		return math.Exp(parameter) / (1 + math.Exp(parameter)), 1 / (1 + math.Exp(parameter))
	}
	return distuv.UnitNormal.CDF(parameter / 2), distuv.UnitNormal.CDF(-parameter / 2)
}

// Of 400 samples that grow to 400 runs at most 40 have a bound, at any moment, on the wrong side of the truth at α = 0.05, where 20 are
// allowed for: a right program fails this with probability 2e-5 at most for each of eight bounds. A bound that holds at one moment
// only, by the normal law's quantile, is wrong at some moment of more of them.
func TestBoundsHoldAtAllMoments(t *testing.T) {
	const samples, runs, alpha, allowed, look = 400, 400, 0.05, 40, 16
	for _, u := range []Unit{Mu, Epsilon} {
		for _, truth := range []float64{0.3, 2} {
			r := rand.New(rand.NewPCG(1, 2))
			p, q := rates(u, truth)
			above, below, naive := 0, 0, 0
			for range samples {
				var c Counts
				up, down, one := false, false, false
				for c.Runs < runs {
					c.Runs++
					c.First += count(r.Float64() < p)
					c.Second += count(r.Float64() < q)
					if c.Runs%look > 0 {
						continue
					}
					limit := c.mixed() + math.Log(alpha)
					up = up || u.most(c, truth, false) < limit    // which are Lower > truth
					down = down || u.most(c, truth, true) < limit // and Upper < truth
					a, b := float64(c.First)/float64(c.Runs), float64(c.Second)/float64(c.Runs)
					error := math.Sqrt((p*(1-p) + q*(1-q)) / float64(c.Runs))
					one = one || a-b-1.645*error > p-q
				}
				above, below, naive = above+count(up), below+count(down), naive+count(one)
			}
			t.Logf("%s, %g: %d bounds above the truth, %d below, of %d; %d without regard to when", u, truth, above, below, samples, naive)
			if above > allowed || below > allowed {
				t.Errorf("%s, %g: %d lower bounds exceed the truth and %d upper bounds fall short of it, of %d", u, truth, above, below, samples)
			}
			if naive <= allowed {
				t.Errorf("%s, %g: bounds for one moment are wrong in %d samples only: this test has no power", u, truth, naive)
			}
		}
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Bounds against the definition: the mixture's likelihood ratio on a fine grid of rates. An upper bound that the grid's edge cuts off is at least as
// large as there, and one that is beyond all parameters, as where an event always occurs on one side and never on the other, is the largest.
func TestBoundsFollowTheDefinition(t *testing.T) {
	const cells, alpha = 400, 1e-3
	for _, u := range []Unit{Mu, Epsilon} {
		for _, c := range []Counts{{30, 10, 40}, {40, 0, 40}, {10, 10, 40}, {40, 38, 40}} {
			least, most, mixed, cut := math.Inf(1), math.Inf(-1), c.mixed(), false
			for i := 1; i < cells; i++ {
				for j := 1; j < cells; j++ {
					p, q := float64(i)/cells, float64(j)/cells
					like := float64(c.First)*math.Log(p) + float64(c.Runs-c.First)*math.Log1p(-p) + float64(c.Second)*math.Log(q) + float64(c.Runs-c.Second)*math.Log1p(-q)
					if mixed-like < math.Log(1/alpha) {
						shown := u.of(p, q)
						cut = shown > most && (i == cells-1 || j == 1) || shown <= most && cut
						least, most = math.Min(least, shown), math.Max(most, shown)
					}
				}
			}
			const grid = 0.06
			if got := u.Lower(c, alpha); math.Abs(got-math.Max(0, least)) > grid {
				t.Errorf("%s, %+v: lower bound %g, by the grid %g", u, c, got, least)
			}
			if got := u.Upper(c, alpha); !cut && math.Abs(got-math.Max(0, most)) > grid || cut && got < most-grid {
				t.Errorf("%s, %+v: upper bound %g, by the grid %g, whose edge cuts it off: %v", u, c, got, most, cut)
			} else if cuts := c.Second == 0 || c.First == c.Runs; cut != cuts || c.Second == 0 && got < far-grid {
				t.Errorf("%s, %+v: upper bound %g, cut off: %v", u, c, got, cut)
			}
		}
	}
	// Jeffreys' mixture of one coin that fell on either side once each: Beta(3/2, 3/2)/Beta(1/2, 1/2) = 1/8.
	if got, want := (Counts{1, 1, 2}).mixed(), -2*math.Log(8); math.Abs(got-want) > 1e-12 {
		t.Errorf("mixture %g, want %g", got, want)
	}
}

// An audit of Gaussian noise stops with nine tenths of μ, whichever way the numbers point, and what it excludes it excludes.
func TestAuditStops(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, mu := range []float64{1, 3, -2} {
		claimed := math.Abs(mu)
		a := Audit{Unit: Mu, Alpha: 1e-6, Training: 500, Most: 40_000, Enough: 0.9 * claimed, Excluded: 1.25 * claimed}
		found, err := a.Run(func() (float64, float64, error) { return r.NormFloat64() + mu, r.NormFloat64(), nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("μ = %g: %+v", claimed, found)
		if found.Lower < a.Enough || found.Lower > claimed || found.Runs >= a.Most {
			t.Errorf("μ = %g: %+v", claimed, found)
		}
		a.Enough, a.Most = 0, 5000
		if less, err := a.Run(func() (float64, float64, error) { return r.NormFloat64() + 1.5*mu, r.NormFloat64(), nil }); err != nil || less.Lower <= claimed || less.Runs < 5000 {
			t.Errorf("μ = %g: with two thirds of the noise %+v, %v", claimed, less, err)
		}
	}
}
