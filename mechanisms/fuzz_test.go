package mechanisms

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// ledgerSeeds are ledgers of every kind, and some that must be refused.
var ledgerSeeds = []string{
	`{"version":1,"kind":"gaussian","label":"a","mu":0.5,"releases":3,"dim":4}`,
	`{"version":1,"kind":"pure","epsilon":1,"releases":2}`,
	`{"version":1,"kind":"bounded-range","epsilon":0.1,"releases":1000}`,
	`{"version":1,"kind":"objective","mu":0.1,"ratio":0.4,"log_det":0.2,"releases":1,"dim":5}`,
	`{"version":1,"kind":"objective","mu":1e60,"ratio":1e-60,"log_det":700,"releases":1,"dim":1}`,
	`{"version":1,"kind":"sequential","parts":[{"kind":"gaussian","mu":1e-60,"releases":9000000000000000000,"dim":9000000000000000000},{"kind":"pure","epsilon":1e-100,"releases":1}]}`,
	`{"version":1,"kind":"parallel","caller_noise":true,"parts":[{"kind":"sequential","parts":[{"kind":"objective","mu":0.1,"ratio":0.4,"log_det":0.2,"releases":1,"dim":5},{"kind":"pure","epsilon":0.3,"releases":7}]},{"kind":"gaussian","mu":1e60,"releases":1,"dim":1}]}`,
	`{"version":1,"kind":"gaussian","mu":-0,"releases":1,"dim":1}`,
	`{"version":1,"kind":"sequential","parts":[null]}`,
	`{"parts":[{}]}`, `null`, `[]`, `{"version":1,"kind":"gaussian","mu":1e400}`,
}

// A decoded ledger is refused, or it is consistent: it encodes as itself, its
// curves are valid and fall, and it says that it spends what its parts spend.
func FuzzLedgerJSON(f *testing.F) {
	for _, s := range ledgerSeeds {
		f.Add([]byte(s), 1.0, 1e-6)
	}
	f.Fuzz(func(t *testing.T, data []byte, epsilon, delta float64) {
		var l Ledger
		if err := json.Unmarshal(data, &l); err != nil {
			if _, err := l.Delta(1); !errors.Is(err, check.ErrModel) {
				t.Errorf("a failed decoding leaves a ledger: %v", err)
			}
			return
		}
		if again := reencode(t, &l, new(Ledger)); again.String() != l.String() {
			t.Errorf("prints as\n%v\nthen as\n%v", &l, again)
		}
		checkCurves(t, &l, epsilon, delta)
		l.CallerNoise()
		if _, err := Sequential("twice", &l, l.WithCallerNoise()); err != nil && !errors.Is(err, check.ErrModel) {
			t.Errorf("composing it with itself gives %v", err)
		}
	})
}

// reencode encodes v, decodes that into back and encodes it again: the two
// encodings must be the same.
func reencode[T any](t *testing.T, v, back T) T {
	t.Helper()
	first, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("decoded but doesn't encode: %v", err)
	}
	if err := json.Unmarshal(first, back); err != nil {
		t.Fatalf("%s doesn't decode: %v", first, err)
	}
	second, err := json.Marshal(back)
	if err != nil || string(first) != string(second) {
		t.Fatalf("encodes as\n%s\nthen as\n%s (%v)", first, second, err)
	}
	return back
}

// checkCurves asks a ledger for its curves at sane places and at the given ones.
func checkCurves(t *testing.T, l *Ledger, epsilon, delta float64) {
	t.Helper()
	places := []float64{0, 0.1, 1, 10, 1e3}
	last := 1.0
	for _, e := range places {
		d, err := l.Delta(e)
		if err != nil || !(d >= 0 && d <= 1) {
			t.Fatalf("δ(%g) = %g, %v", e, d, err)
		}
		if d > last*(1+1e-3)+1e-14 {
			t.Fatalf("δ(%g) = %g rises from %g", e, d, last)
		}
		last = d
	}
	if d, err := l.Delta(epsilon); err == nil && !(d >= 0 && d <= 1) {
		t.Fatalf("δ(%g) = %g", epsilon, d)
	} else if err != nil && !errors.Is(err, check.ErrBudget) {
		t.Fatal(err)
	}
	e, err := l.Epsilon(delta)
	if err != nil && !errors.Is(err, check.ErrBudget) {
		t.Fatal(err)
	}
	if err == nil && !(e >= 0) {
		t.Fatalf("ε(%g) = %g", delta, e)
	}
	if err == nil && e > 0 && !math.IsInf(e, 1) && !l.Within(e, delta) {
		t.Fatalf("is not within its own ε(%g) = %g", delta, e)
	}
	if m := l.Mu(); !(m > 0) {
		t.Fatalf("μ = %g", m)
	}
}

// A decoded accountant is refused, or it has kept to its total and does so.
func FuzzAccountantJSON(f *testing.F) {
	f.Add([]byte(`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":0}`))
	f.Add([]byte(`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":0.2,"reserve":{"mu":0.05,"coordinates":1e6,"spent_mu":0.04,"spent_coordinates":20,"ledgers":1}},"ledgers":2}`))
	f.Add([]byte(`{"version":1,"unit":{"of":"person","neighbours":"replace-one"},"group":3,"epsilon":0,"delta":0,"mu":0.3,"spent":{"epsilon":0,"reserve":{"mu":0.3,"coordinates":1e6,"spent_mu":0,"spent_coordinates":0,"ledgers":0}},"ledgers":0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a Accountant
		if json.Unmarshal(data, &a) != nil {
			if a.Ledgers() != 0 || a.Spend(rowLeaf(t, 1e-9, 1)) == nil {
				t.Error("a failed decoding leaves an accountant")
			}
			return
		}
		reencode(t, &a, new(Accountant))
		before, err := a.Remaining()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := a.Charge(rowLeaf(t, 0.1, 3)); err == nil {
			if !a.keeps() || before.Mu < 0.173 {
				t.Errorf("lets itself be overspent: %v of %v", &a, before)
			}
			if err := a.GiveBack(c); err != nil || !a.keeps() {
				t.Errorf("%+v isn't given back: %v", c, err)
			}
		}
	})
}

// Additive noise of any parameters is refused, or leaves multiples of the grid,
// finite and within what noise can do.
func FuzzRelease(f *testing.F) {
	f.Add(0.5, 1.0, 0.3, -0.2, uint64(1))
	f.Add(1e60, 1e-60, 1e300, 5e-324, uint64(2))
	f.Add(1e-60, 1e60, math.MaxFloat64, -math.MaxFloat64, uint64(3))
	f.Add(math.Inf(1), math.NaN(), math.NaN(), 0.0, uint64(4))
	f.Fuzz(func(t *testing.T, parameter, sensitivity, v0, v1 float64, seed uint64) {
		src, value := NewSeededSource(seed), []float64{v0, v1}
		var argument *check.Error
		out := make([]float64, 2)
		if err := (Gaussian{parameter}).Release(out, value, sensitivity, src); err == nil {
			step, scale, _ := Gaussian{parameter}.grid(sensitivity, 2)
			checkReleased(t, out, value, step, scale)
		} else if !errors.As(err, &argument) {
			t.Error(err)
		}
		if err := (Laplace{parameter}).Release(out, value, sensitivity, src); err == nil {
			step, scale, _ := Laplace{parameter}.grid(sensitivity, 2)
			checkReleased(t, out, value, step, scale)
		} else if !errors.As(err, &argument) {
			t.Error(err)
		}
	})
}

func checkReleased(t *testing.T, out, value []float64, step float64, scale uint64) {
	t.Helper()
	for i, o := range out {
		room := 100 * float64(scale) * step // exceeded with probability e^-100
		if !(math.Abs(o-value[i]) <= room+math.Abs(value[i])*0x1p-52) {
			t.Errorf("%g became %g, noise scale %g", value[i], o, float64(scale)*step)
		}
		if r := o / step; !math.IsInf(r, 0) && r != math.Trunc(r) {
			t.Errorf("%g is not a multiple of %g", o, step)
		}
	}
}

// Every selection is refused or returns a candidate, whatever the scores.
func FuzzSelect(f *testing.F) {
	f.Add(1.0, 0.05, 0.3, 0.2, 0.1, 1.0, 0.5, 0.0, uint64(1))
	f.Add(1e-6, 1e-300, 1e308, -1e308, 5e-324, 1e60, 1e-60, 0.0, uint64(2))
	f.Add(700.0, 0.999, math.NaN(), 0.0, math.Inf(1), -1.0, math.NaN(), 1e61, uint64(3))
	f.Fuzz(func(t *testing.T, epsilon, beta, q0, q1, q2, d0, d1, d2 float64, seed uint64) {
		scores := []float64{q0, q1, q2}
		var argument *check.Error
		for name, choose := range map[string]func(src Source) (int, error){
			"exponential":      func(src Source) (int, error) { return Exponential{epsilon}.Select(scores, d0, src) },
			"permute-and-flip": func(src Source) (int, error) { return PermuteAndFlip{epsilon}.Select(scores, d0, src) },
			"noisy max":        func(src Source) (int, error) { return NoisyMax{epsilon}.Select(scores, d0, src) },
			"generalized": func(src Source) (int, error) {
				return GeneralizedExponential{epsilon, beta}.Select(scores, []float64{d0, d1, d2}, src)
			},
		} {
			if i, err := choose(NewSeededSource(seed)); err == nil && (i < 0 || i > 2) {
				t.Errorf("%s: selects %d of 3", name, i)
			} else if err != nil && !errors.As(err, &argument) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
