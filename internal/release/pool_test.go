package release

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/mechanisms"
)

func poolOf(mu float64, releases, dim int) *Schedule { return must(Pool("moments", mu, releases, dim)) }

// A pool makes at most as many releases as planned, of at most as many numbers, and
// their shares add up to 1 at most; what is refused takes nothing of any of these, shows
// nothing and draws no noise.
func TestPoolIsNotOverdrawn(t *testing.T) {
	rows, src := NewRows(), newRecorder()
	a := poolOf(1, 4, 3).Allow(rows, src)
	answer := func(dim int) Answer { return NewAnswer(rows, numbers(dim), 1) }
	refused := func(share float64, x Answer, why string) {
		t.Helper()
		made, seen := a.Made(), len(src.seen)
		_, err := a.Draw(share, x)
		unplanned(t, err, "moments", why)
		if a.Made() != made || len(src.seen) != seen {
			t.Errorf("a refused release counts: %d made, %d recorded", a.Made()-made, len(src.seen)-seen)
		}
	}
	for _, share := range []float64{0, -0.1, 1.1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		refused(share, answer(2), "too little")
	}
	refused(0.1, answer(4), "at most 3 coordinates")
	refused(0.1, NewAnswer(NewRows(), numbers(2), 1), "other rows")
	for k, share := range []float64{0.5, 0.2} {
		if _, err := a.Draw(share, answer(3-k)); err != nil {
			t.Fatal(err)
		}
	}
	refused(0.31, answer(2), "too little")
	for _, share := range []float64{0.1, 0.1} {
		if _, err := a.Draw(share, answer(1)); err != nil {
			t.Fatal(err)
		}
	}
	refused(0.05, answer(1), "4 times")
	_, err := a.AddNoise(answer(3))
	unplanned(t, err, "moments", "as a vector")
	_, err = gaussianOf("sums", 1, 1).Allow(rows, src).Draw(0.1, answer(1))
	unplanned(t, err, "sums", "as a pool")
}

// Shares add up to 1 and the room for rounding, and to no more: whatever was drawn before.
func TestPoolsEndAtOne(t *testing.T) {
	const room = 1e-12
	rows := NewRows()
	for _, drawn := range []float64{0, 0.25, 0.5, 0.9} {
		for _, c := range []struct {
			beyond float64 // of 1
			taken  bool
		}{{-room, true}, {0, true}, {room * 0.99, true}, {room * 1.01, false}, {2 * room, false}, {1e-9, false}} {
			a := poolOf(1, 2, 1).Allow(rows, mechanisms.NewSeededSource(1))
			if drawn > 0 {
				if _, err := a.Draw(drawn, NewAnswer(rows, numbers(1), 1)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := a.Draw(1-drawn+c.beyond, NewAnswer(rows, numbers(1), 1))
			if !c.taken {
				unplanned(t, err, "moments", "too little")
			} else if err != nil {
				t.Errorf("%g drawn, up to 1 + %g: %v", drawn, c.beyond, err)
			}
		}
	}
}

// The μ² of many releases with odd shares add up to no more than the ledger's, in floating
// point too, and to nearly all of it.
func TestPoolKeepsToItsLedger(t *testing.T) {
	for _, mu := range []float64{0.01, 0.236704, 1, 77} {
		for _, n := range []int{1, 3, 128, 1001} {
			rows, src := NewRows(), newRecorder()
			schedule := poolOf(mu, n, 2)
			a := schedule.Allow(rows, src)
			for range n {
				if _, err := a.Draw(1/float64(n), NewAnswer(rows, numbers(2), 1)); err != nil {
					t.Fatalf("%d shares: %v", n, err)
				}
			}
			sum := 0.0
			for _, e := range src.seen {
				sum += e.Mu * e.Mu
			}
			stored, err := json.Marshal(schedule.Ledger())
			if err != nil {
				t.Fatal(err)
			}
			var leaf struct {
				Mu            float64
				Releases, Dim int
				Label         string
			}
			if err := json.Unmarshal(stored, &leaf); err != nil {
				t.Fatal(err)
			}
			claimed := float64(leaf.Releases) * leaf.Mu * leaf.Mu
			if leaf.Releases != n || leaf.Dim != 2 || leaf.Label != "at most, moments" || sum > claimed || sum < claimed*(1-1e-9) || schedule.Ledger().Mu() > mu*(1+1e-12) {
				t.Errorf("μ = %g: %d releases take %.17g of μ², the ledger %s has %.17g", mu, n, sum, stored, claimed)
			}
		}
	}
}

// What is released is the answer with the Gaussian mechanism's noise for its share, bit
// by bit, as the recorder is told.
func TestDrawIsTheMechanism(t *testing.T) {
	rows, values := NewRows(), []float64{1, -2, 3.5}
	for _, share := range []float64{0.01, 0.3, 1} {
		src := newRecorder()
		got, err := poolOf(0.4, 5, 7).Allow(rows, src).Draw(share, NewAnswer(rows, values, 0.7))
		if err != nil {
			t.Fatal(err)
		}
		mu := 0.4 * math.Sqrt(share)
		want := make([]float64, 3)
		if err := (mechanisms.Gaussian{Mu: src.seen[0].Mu}).Release(want, values, 0.7, mechanisms.NewSeededSource(1)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) || src.seen[0].Mu > mu || src.seen[0].Mu < mu*(1-1e-10) {
			t.Errorf("share %g: %v with μ = %.17g, want %v with %.17g", share, got, src.seen[0].Mu, want, mu)
		}
	}
}

// Each coordinate of each draw has its own noise, of the standard deviation L2/(μ√share).
// Sums of squares are within five standard errors: α < 1e-6 each.
func TestDrawsNoiseHasItsLaw(t *testing.T) {
	const runs = 4000
	rows, src := NewRows(), mechanisms.NewSeededSource(3)
	shares, sums := []float64{0.05, 0.25, 0.7}, make([][3]float64, 3)
	var products float64 // of the first two draws' first coordinates
	for range runs {
		a := poolOf(0.4, 3, 3).Allow(rows, src)
		first := 1.0
		for k, share := range shares {
			v, err := a.Draw(share, NewAnswer(rows, []float64{5, -1, 0}, 0.7))
			if err != nil {
				t.Fatal(err)
			}
			sd := 0.7 / (0.4 * math.Sqrt(share))
			for j, c := range []float64{5, -1, 0} {
				sums[k][j] += math.Pow((v[j]-c)/sd, 2)
			}
			if first *= (v[0] - 5) / sd; k == 1 {
				products += first
			}
		}
	}
	room := 5 * math.Sqrt(2*runs)
	for k, list := range sums {
		for j, s := range list {
			if math.Abs(s-runs) > room {
				t.Errorf("share %g, coordinate %d: noise of %.3f times the planned standard deviation", shares[k], j, math.Sqrt(s/runs))
			}
		}
	}
	if math.Abs(products) > 5*math.Sqrt(runs) {
		t.Errorf("two draws' noise has a correlation of %.3f", products/runs)
	}
}

// A pool without μ, releases or coordinates isn't planned.
func TestPoolRefuses(t *testing.T) {
	for _, c := range []struct {
		mu            float64
		releases, dim int
	}{{0, 1, 1}, {-1, 1, 1}, {math.NaN(), 1, 1}, {math.Inf(1), 1, 1}, {1, 0, 1}, {1, -3, 1}, {1, 1, 0}} {
		if s, err := Pool("moments", c.mu, c.releases, c.dim); err == nil || s != nil {
			t.Errorf("%+v: planned", c)
		}
	}
}
