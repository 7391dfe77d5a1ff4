package inference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// Columns whose ranges are so wide that nothing is determined of them have scores all the same, which the others' coefficients lack, so that these are
// nearer to 0 for classes: 1.57 for 2. Intervals allow for it: of 16 or 40 fits' at most a tenth doesn't cover, which more doesn't in one study of 20 at .95, and
// these seeds' doesn't; an eighth is stated at least, and they reach to .9 of the estimates at most, on average. Marginal effects don't
// depend on it, and reach to .71 of the estimates, .75 in 16 fits; and a sum is as uncertain where it is read from a file.
func TestWhatScoresLack(t *testing.T) {
	const n, wide, most = 20_000, 8, 2000.0
	fits := sample.Of(16, 40)
	truth := []float64{2, -1.5}
	facts := dpglm.Schema{Numeric: map[string][2]float64{"a": {-4, 4}, "b": {-4, 4}}, Columns: []string{"a", "b"}, Intercept: true}
	for j := range wide {
		name := fmt.Sprint("wide", j)
		facts.Columns, facts.Numeric[name] = append(facts.Columns, name), [2]float64{-most, most}
	}
	var weights, effects of
	stored := 0.0 // standard error of a sum
	for seed := range uint64(fits) {
		r, steep := rand.New(rand.NewPCG(seed, 23)), 0.0
		x, y := mat.NewDense(n, 2+wide, nil), make([]float64, n)
		for i := range n {
			z := -1.0
			for j := range 2 + wide {
				v := math.Max(-4, math.Min(4, r.NormFloat64()))
				if x.Set(i, j, v); j < 2 {
					z += truth[j] * v
				} else {
					z += v / 2
				}
			}
			p := 1 / (1 + math.Exp(-z))
			if steep += p * (1 - p) / n; r.Float64() < p {
				y[i] = 1
			}
		}
		d, err := dpglm.NewDataset(x, y, facts)
		if err != nil {
			t.Fatal(err)
		}
		f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(0.5, 1e-6), dpglm.InferConfig{}, given.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		marginal, err := f.MarginalEffects()
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range f.Coefficients()[:2] {
			weights.add(c, truth[j])
			effects.add(marginal[j], truth[j]*steep)
		}
		if read := new(dpglm.Inference); weights.stated > 0 && stored == 0 {
			text, err := json.Marshal(f)
			if err := cmp.Or(err, json.Unmarshal(text, read)); err != nil {
				t.Fatal(err)
			}
			sum := map[string]float64{"a": 1, "b": 0.5}
			was, _ := f.Combination("sum", sum)
			if stored = was.StandardError; math.IsInf(stored, 1) {
				t.Fatal("a sum isn't determined")
			}
			if is, err := read.Combination("sum", sum); err != nil || is.StandardError != was.StandardError {
				t.Errorf("a sum has a standard error of %g where it is read, for %g: %v", is.StandardError, was.StandardError, err)
			}
		}
	}
	t.Logf("coefficients %+v, effects %+v", weights, effects)
	if weights.short(fits, 0.9) || effects.short(fits, sample.Of(0.75, 0.71)) {
		t.Errorf("of %d coefficients %+v, of their effects %+v", 2*fits, weights, effects)
	}
}

// of are intervals: those stated, those that miss, and the sum of how far they reach, over estimates.
type of struct {
	stated, missed int
	width          float64
}

func (o *of) add(c dpglm.Coefficient, truth float64) {
	if c.Undetermined() {
		return
	}
	o.stated++
	o.width += (c.High - c.Low) / 2 / math.Abs(c.Estimate)
	if c.Low > truth || c.High < truth {
		o.missed++
	}
}

// short reports whether few are stated, many miss, or they reach farther than they should.
func (o *of) short(fits int, most float64) bool {
	return 4*o.stated < fits || 10*o.missed > o.stated || o.width > most*float64(o.stated)
}

// TestInterceptIsMarkedWhereRowsMayBeFar wants an intercept to be marked where a column's range hides how much it varies, as that of a log-normal one here, whose mean
// is .8 of its deviations above 0: it is that of rows there. It isn't marked where all columns are determined, nor where what noise hides is what tells a column from
// another one, or one that is 0 in all rows.
func TestInterceptIsMarkedWhereRowsMayBeFar(t *testing.T) {
	const rows, fits, columns, truth = 20_000, 10, 6, 1.0
	logNormal := func(r *rand.Rand, _ float64) float64 { return math.Min(12, math.Exp(r.NormFloat64())) }
	for _, c := range []struct {
		name           string
		of             func(r *rand.Rand, a float64) float64
		within         [2]float64
		marked, unheld bool
	}{
		{"too wide a range", logNormal, [2]float64{0, 1e5}, true, true},
		{"a range that fits", logNormal, [2]float64{0, 12}, false, false},
		{"alike", func(r *rand.Rand, a float64) float64 { return a + 1e-4*r.NormFloat64() }, [2]float64{-4, 4}, false, false},
		{"nobody's", func(*rand.Rand, float64) float64 { return 0 }, [2]float64{0, 1}, false, false},
	} {
		facts := dpglm.Schema{Numeric: map[string][2]float64{}, Intercept: true, LabelRange: [2]float64{-20, 20}}
		for j := range columns {
			name := fmt.Sprint("x", j)
			facts.Columns, facts.Numeric[name] = append(facts.Columns, name), [2]float64{-4, 4}
		}
		facts.Numeric["x0"] = c.within
		marked, printed, held := 0, 0, 0
		for seed := range uint64(fits) {
			r := rand.New(rand.NewPCG(seed, 3))
			x, y := mat.NewDense(rows, columns, nil), make([]float64, rows)
			for i := range rows {
				y[i] = truth + r.NormFloat64()
				for j := 1; j < columns; j++ {
					x.Set(i, j, math.Max(-4, math.Min(r.NormFloat64(), 4)))
					y[i] += 0.5 * x.At(i, j)
				}
				x.Set(i, 0, c.of(r, x.At(i, 1)))
				y[i] += 0.3 * x.At(i, 0)
			}
			d, err := dpglm.NewDataset(x, y, facts)
			if err != nil {
				t.Fatal(err)
			}
			f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Squared{}}, dpglm.ApproxDP(2, 1e-6), dpglm.InferConfig{}, given.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			intercept := f.Coefficients()[columns]
			if intercept.Undetermined() {
				continue
			}
			printed++
			if strings.Contains(intercept.Mark, "where columns are 0") {
				marked++
			}
			if intercept.Low <= truth && truth <= intercept.High {
				held++
			}
		}
		t.Logf("%s: %d of %d marked, %d hold", c.name, marked, printed, held)
		if printed == 0 || c.marked && marked < printed || c.unheld && held > 0 || !c.marked && marked > 0 {
			t.Errorf("%s: %d of %d intercepts are marked, %d hold", c.name, marked, printed, held)
		}
	}
}
