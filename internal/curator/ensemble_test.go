package curator

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

func ensembleOf(t *testing.T, d *Data, loss losses.Loss, parts int, seed uint64) *Ensemble {
	t.Helper()
	e, err := d.Ensemble(ctx, loss, parts, seed, 2, 0.3, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Each model is the minimiser on its own part, as the public split has it; a replaced
// row changes one model and no other, whatever it is.
func TestEnsembleOfParts(t *testing.T) {
	const n, parts, seed = 31, 4, 5
	r := rand.New(rand.NewPCG(1, 2))
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.Squared{}} {
		s := newSample(r, n, 3, loss.Labels())
		d := s.open(t, false)
		e := ensembleOf(t, d, loss, parts, seed)
		split, home := d.Split(seed, evenly(n, parts)...), make([]int, n)
		for i, part := range split {
			p, err := under(t, part, loss).Minimiser(ctx, 2, 0.3)
			if err != nil || !near(e.models[i], p.w, 1e-5) {
				t.Errorf("model %d is %v, its part's minimiser %v (%v)", i, e.models[i], p.w, err)
			}
		}
		place := 0
		for i, part := range split {
			for range part.Len() {
				home[permutation(n, seed)[place]] = i
				place++
			}
		}
		for row := range n {
			other := ensembleOf(t, s.neighbour(r, row, loss.Labels()).open(t, false), loss, parts, seed)
			for i := range parts {
				if same := slices.Equal(other.models[i], e.models[i]); same != (i != home[row]) {
					t.Errorf("row %d of part %d is replaced: model %d stays %v", row, home[row], i, same)
				}
			}
		}
		if other := ensembleOf(t, d, loss, parts, seed+1); slices.Equal(other.models[0], e.models[0]) {
			t.Error("another seed has the same first part")
		}
	}
}

// Where each row of a person counts a model is that of rows: the minimiser of these as if each were a person's only one, with λ for as many persons with the most rows that
// one may have.
func TestEnsembleOfPersonsRows(t *testing.T) {
	const n, persons, most, lambda = 60, 20, 6, 0.3
	r := rand.New(rand.NewPCG(5, 6))
	s, of := newSample(r, n, 3, losses.Binary), make([]int, n)
	for i := range of { // ten have five rows, and ten one
		of[i] = i / 5
		if i >= 50 {
			of[i] = i - 40
		}
	}
	d, err := s.open(t, false).Own(Owners{Persons: of, Count: persons, Most: most, Each: true})
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Ensemble(ctx, losses.Logistic{}, 1, 1, 2, lambda, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	want, err := under(t, s.open(t, false), losses.Logistic{}).Minimiser(ctx, 2, lambda*persons*most/n)
	if err != nil || !near(e.models[0], want.w, 1e-4) {
		t.Errorf("%v, want %v (%v)", e.models[0], want.w, err)
	}
}

// Margins count the models above 0, against the others; means hold each model's
// prediction to the labels' range, and not-a-number, too.
func TestEnsembleAnswers(t *testing.T) {
	d := newSample(rand.New(rand.NewPCG(3, 4)), 20, 2, losses.Real).open(t, false)
	e := ensembleOf(t, d, losses.Squared{}, 5, 1)
	e.models = [][]float64{{1, 0}, {9, 0}, {-1, 0}, {0, 5}, {math.NaN(), 0}}
	x := []float64{0.5, 0}
	margin, err := e.Margin(x)
	if err != nil {
		t.Fatal(err)
	}
	if got := overheard(t, d.Rows(), margin, 1); got.Values[0] != -1 || got.L2 != 2 { // 0.5, 4.5 | -0.5, 0, NaN
		t.Errorf("margin %v with sensitivity %g", got.Values, got.L2)
	}
	mean, err := e.Mean(x)
	if err != nil {
		t.Fatal(err)
	}
	want := (0.5 + sampleLabel - 0.5 + 0 - sampleLabel) / 5
	if got := overheard(t, d.Rows(), mean, 1); math.Abs(got.Values[0]-want) > 1e-15 || got.L2 < 2*sampleLabel/5 || got.L2 > 2*sampleLabel/5*(1+1e-9) {
		t.Errorf("mean %v with sensitivity %g, want %g with %g", got.Values, got.L2, want, 2*sampleLabel/5)
	}
	for name, ask := range map[string]func([]float64) (release.Answer, error){"margin": e.Margin, "mean": e.Mean} {
		if _, err := ask([]float64{1}); !errors.Is(err, check.ErrShape) {
			t.Errorf("%s of a short query: %v", name, err)
		}
	}
	counts := newSample(rand.New(rand.NewPCG(3, 4)), 20, 2, losses.Real).open(t, false)
	if _, err := counts.Ensemble(ctx, losses.Logistic{}, 2, 1, 1, 1, nil); !errors.Is(err, check.ErrLabel) {
		t.Errorf("real labels for a binary loss: %v", err)
	}
}

// The mean of r numbers of which one changes: roundings never exceed the declared
// sensitivity, where the numbers lie at the ends of their range.
func TestMeanSensitivityCoversRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	beyond := 0
	for range 20_000 {
		low := r.NormFloat64()
		high, k := low+math.Exp2(-60*r.Float64()), 1+r.IntN(40)
		if !(high > low) {
			continue
		}
		values := make([]float64, k)
		for i := range values {
			if values[i] = low; r.IntN(2) == 0 {
				values[i] = high
			}
		}
		values[0] = low
		before := floats.Sum(values) / float64(k)
		values[0] = high
		apart, declared := math.Abs(floats.Sum(values)/float64(k)-before), MeanSensitivity(low, high, k)
		if apart > declared {
			t.Fatalf("mean of %d in [%g, %g] moves by %g, declared %g", k, low, high, apart, declared)
		}
		if apart > (high-low)/float64(k)*(1+1e-15) {
			beyond++
		}
	}
	if beyond == 0 {
		t.Error("no mean shows the rounding")
	}
}

// raw is a source of noise that sees the last raw answer.
type raw struct {
	mechanisms.Source
	values []float64
}

func (r *raw) Record(e *release.Event) { r.values = append([]float64(nil), e.Values...) }

// Predictions are held to the labels' range, whatever the models are: the claimed
// sensitivity is for no other.
func TestMeanIsWithinTheLabelsRange(t *testing.T) {
	for _, c := range []struct {
		loss losses.Loss
		want float64 // the mean at scores of 500, −500 and NaN, labels being within 3
	}{{losses.Squared{}, -1}, {losses.Poisson{}, 1}, {losses.Logistic{}, 1 / 3.}, {losses.Hinge{}, 1 / 3.}} {
		rows := release.NewRows()
		e := &Ensemble{models: [][]float64{{500}, {-500}, {math.NaN()}}, origin: origin{rows, NewIdentity(1, 1, false)}, predict: prediction(c.loss)}
		e.low, e.high = LabelRange(c.loss.Labels(), 3)
		mean, err := e.Mean([]float64{7}) // bounded to 1
		if err != nil {
			t.Fatal(err)
		}
		s, err := release.Gaussian("mean", 1, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen := &raw{Source: mechanisms.NewSeededSource(1)}
		if _, err := s.Anew().Allow(rows, seen).AddNoise(mean); err != nil {
			t.Fatal(err)
		}
		if math.Abs(seen.values[0]-c.want) > 1e-15 {
			t.Errorf("%s: mean %g, want %g", c.loss.Name(), seen.values[0], c.want)
		}
	}
}

// Progress is told after each part, of all.
func TestEnsembleTellsProgress(t *testing.T) {
	const parts = 3
	d := newSample(rand.New(rand.NewPCG(1, 2)), 20, 2, losses.Binary).open(t, false)
	var told [][2]int
	if _, err := d.Ensemble(ctx, losses.Logistic{}, parts, 1, 2, 0.3, func(done, total int) { told = append(told, [2]int{done, total}) }); err != nil {
		t.Fatal(err)
	}
	if want := [][2]int{{1, parts}, {2, parts}, {3, parts}}; !slices.Equal(told, want) {
		t.Errorf("progress %v, want %v", told, want)
	}
}
