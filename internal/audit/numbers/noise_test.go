package numbers_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/mechanisms"
)

// scales are the arguments of a mechanism: its ε or μ, and a sensitivity.
var scales = [][2]float64{{0.01, 1}, {0.3, 2.7}, {1, 1e-9}, {5, 3e12}, {40, 0.11}}

// vectors adds releases of vectors, with the deviations that are told, and the words that were drawn.
func vectors(t *testing.T, all map[string][]float64) {
	t.Helper()
	for _, c := range scales {
		for _, dim := range []int{1, 3, 40} {
			value := make([]float64, dim)
			for i := range value {
				value[i] = c[1] * math.Sin(float64(3*i+1)) * math.Pow(10, float64(i%7-3))
			}
			src, dst := &given.Words{Seed: 3}, make([]float64, dim)
			name, g, l := fmt.Sprintf("%v, %d", c, dim), mechanisms.Gaussian{Mu: c[0]}, mechanisms.Laplace{Epsilon: c[0]}
			sigma, failed := g.Sigma(c[1], dim)
			err := g.Release(dst, value, c[1], src)
			all["Gaussian, "+name] = append([]float64{sigma, refused(failed), refused(err), float64(src.Drawn)}, dst...)
			scale, failed := l.Scale(c[1], dim)
			err = l.Release(dst, value, c[1], src)
			all["Laplace, "+name] = append([]float64{scale, refused(failed), refused(err), float64(src.Drawn)}, dst...)
		}
	}
}

// selections adds choices of one of a few scores, many times.
func selections(t *testing.T, all map[string][]float64) {
	t.Helper()
	for _, c := range scales {
		scores, each := make([]float64, 9), make([]float64, 9)
		for i := range scores {
			scores[i], each[i] = c[1]*(math.Sin(float64(2*i))+1)/c[0], c[1]*(0.3+float64(i%4)/3)
		}
		each[8] = 0
		for name, choose := range map[string]func(src mechanisms.Source) (int, error){
			"Exponential": func(src mechanisms.Source) (int, error) {
				return mechanisms.Exponential{Epsilon: c[0]}.Select(scores, c[1], src)
			},
			"PermuteAndFlip": func(src mechanisms.Source) (int, error) {
				return mechanisms.PermuteAndFlip{Epsilon: c[0]}.Select(scores, c[1], src)
			},
			"NoisyMax": func(src mechanisms.Source) (int, error) {
				return mechanisms.NoisyMax{Epsilon: c[0]}.Select(scores, c[1], src)
			},
			"constants": func(src mechanisms.Source) (int, error) {
				return mechanisms.Exponential{Epsilon: c[0]}.Select(scores, 0, src)
			},
			"GeneralizedExponential": func(src mechanisms.Source) (int, error) {
				return mechanisms.GeneralizedExponential{Epsilon: c[0], Beta: 0.1}.Select(scores, each, src)
			},
		} {
			src := &given.Words{Seed: 4}
			for range 40 {
				i, err := choose(src)
				if err != nil {
					t.Fatalf("%s, %v: %v", name, c, err)
				}
				key := fmt.Sprintf("%s, %v", name, c)
				all[key] = append(all[key], float64(i))
			}
			key := fmt.Sprintf("%s, %v", name, c)
			all[key] = append(all[key], float64(src.Drawn))
		}
	}
	votes(t, all)
}

// votes adds votes and choices from a ranking, of which scores change.
func votes(t *testing.T, all map[string][]float64) {
	t.Helper()
	for _, epsilon := range []float64{0.01, 0.5, 3} {
		src, name := &given.Words{Seed: 5}, fmt.Sprintf("ε = %g", epsilon)
		for margin := -7; margin <= 7; margin++ {
			p, err := mechanisms.Vote{Epsilon: epsilon}.Probability(margin)
			yes, failed := mechanisms.Vote{Epsilon: epsilon}.Answer(margin, src)
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			one := 0.0
			if yes {
				one = 1
			}
			all["votes, "+name] = append(all["votes, "+name], p, one)
		}
		scores := []int64{0, 9, -40, 1000, 17, 17, 3, 1 << 40}
		ranked, err := mechanisms.Exponential{Epsilon: epsilon}.Rank(scores, 5)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 60 {
			i, err := ranked.Select(src)
			if err != nil {
				t.Fatal(err)
			}
			all["ranking, "+name] = append(all["ranking, "+name], float64(i))
			ranked.Set(i, int64(k*k%97-30))
		}
		all["ranking, "+name] = append(all["ranking, "+name], float64(src.Drawn), float64(ranked.Len()))
	}
}

// accounts adds what accountants are charged, have left and give back.
func accounts(t *testing.T, all map[string][]float64) {
	t.Helper()
	for name, total := range map[string][3]float64{"pure": {3, 0, 1}, "both": {2, 1e-6, 1}, "a group": {4, 1e-7, 3}} {
		a, err := mechanisms.NewGroupAccountant(mechanisms.OneRow(), int(total[2]), total[0], total[1])
		if err != nil {
			t.Fatal(err)
		}
		shares, err := a.Split(1, 2, 0.5)
		all[name] = append(all[name], refused(err))
		b, err := mechanisms.NewGroupAccountant(mechanisms.OneRow(), int(total[2]), total[0], total[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range append(shares, a, b) {
			all[name] = append(all[name], charged(t, of)...)
		}
	}
}

// charged are an accountant's numbers while ledgers are charged, until it has taken or refused each, and one is given back.
func charged(t *testing.T, a *mechanisms.Accountant) (list []float64) {
	t.Helper()
	for k, l := range costs(t) {
		c, err := a.Charge(l)
		list = append(list, refused(err), c.Epsilon, c.Mu, c.Coordinates, float64(a.Ledgers()))
		if err == nil && k%3 == 1 {
			list = append(list, refused(a.GiveBack(c)))
		}
		left, err := a.Remaining()
		list = append(list, refused(err))
		text, err := json.Marshal(left)
		list = append(list, found(t, json.RawMessage(text), err)...)
		state, err := json.Marshal(a)
		list = append(list, found(t, json.RawMessage(state), err)...)
	}
	return list
}

// costs are ledgers of rows, in the order in which they are charged.
func costs(t *testing.T) (list []*mechanisms.Ledger) {
	t.Helper()
	add := func(l *mechanisms.Ledger, err error) {
		if err == nil {
			l, err = l.WithUnit(mechanisms.OneRow())
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l)
	}
	add(mechanisms.Laplace{Epsilon: 0.2}.Ledger("a", 2))
	add(mechanisms.PermuteAndFlip{Epsilon: 0.1}.Ledger("b"))
	add(mechanisms.Gaussian{Mu: 0.05}.Ledger("c", 3, 10))
	add(mechanisms.Exponential{Epsilon: 0.1}.Ledger("d"))
	add(mechanisms.Gaussian{Mu: 0.1}.Ledger("e", 1, 7))
	add(mechanisms.ObjectivePerturbation{Ratio: 0.02, LogDet: 0.01, OutputMu: 0.02}.Ledger("f", 3))
	add(mechanisms.Gaussian{Mu: 50}.Ledger("g", 1, 1))
	add(mechanisms.PureObjectivePerturbation{Epsilon: 0.02, LogDet: 0.03, OutputEpsilon: 0.01}.Ledger("h"))
	return list
}

// Seeded noise, the words that it takes, choices, and what accountants count stay as they are, to the bit.
func TestNoiseStays(t *testing.T) {
	all := map[string][]float64{}
	vectors(t, all)
	selections(t, all)
	accounts(t, all)
	for _, c := range [][4]float64{{1, 1e-6, 1, 10}, {0.1, 1e-9, 100, 1}, {8, 1e-3, 3, 1 << 30}} {
		g, err := mechanisms.CalibrateGaussian(c[0], c[1], int(c[2]), int(c[3]))
		all["calibrated"] = append(all["calibrated"], g.Mu, refused(err))
	}
	stays(t, "noise", all, true)
}
