package curator

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// threeClasses is a sample whose labels are 0, 1 or 2.
func threeClasses(r *rand.Rand, n, d int) sample {
	s := newSample(r, n, d, losses.Real)
	for i := range s.y {
		s.y[i] = float64(r.IntN(3))
	}
	return s
}

// Scores of models of classes are their losses plus public offsets, each with its own cap and
// the rounding as sensitivity; errors are counted one by one.
func TestScoresOfClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	models := []ClassScores{{Weights: [][]float64{{1, 0}, {0, 1}, {-1, 0}}}, {Weights: [][]float64{{9, 0}, {0, -9}, {-4, 3}}, Against: losses.Logistic{}}}
	caps := []float64{0.8, 3}
	moved := 0
	for k := range 100 {
		base := threeClasses(r, 7, 1)
		other := base.neighbour(r, 2, losses.Real)
		other.y[2] = float64(r.IntN(3))
		offsets := []float64{math.Ldexp(1+r.Float64(), 45+k%12), -5}
		var losses, errs [2]release.Event
		for side, s := range []sample{base, other} {
			d := s.open(t, true)
			c, err := d.Classes(ctx, 3)
			if err != nil {
				t.Fatal(err)
			}
			if c.Len() != 7 || c.Dim() != 2 {
				t.Fatalf("%d rows, %d weights", c.Len(), c.Dim())
			}
			raw := make([]float64, 2)
			if err := c.c.Losses(ctx, raw, models, caps); err != nil {
				t.Fatal(err)
			}
			answer, err := c.Losses(ctx, models, caps, offsets)
			if err != nil {
				t.Fatal(err)
			}
			losses[side] = overheardScores(t, d.Rows(), answer)
			if got := losses[side].Values; !slices.Equal(got, []float64{raw[0] + offsets[0], raw[1] + offsets[1]}) {
				t.Errorf("scores %v of losses %v and offsets %v", got, raw, offsets)
			}
			wrong := make([]float64, 2)
			if err := c.c.Errors(ctx, wrong, models); err != nil {
				t.Fatal(err)
			}
			if answer, err = c.Errors(ctx, models); err != nil {
				t.Fatal(err)
			}
			if errs[side] = overheardScores(t, d.Rows(), answer); !slices.Equal(errs[side].Values, wrong) || !slices.Equal(errs[side].Each, []float64{1, 1}) {
				t.Errorf("errors %v with sensitivities %v, want %v", errs[side].Values, errs[side].Each, wrong)
			}
		}
		for j, c := range caps {
			apart := math.Abs(losses[0].Values[j] - losses[1].Values[j])
			if room := 2.2*unit*math.Abs(offsets[j]) + 1e-9; apart > losses[0].Each[j] || losses[0].Each[j] < c || losses[0].Each[j] > c+room || losses[0].Each[j] != losses[1].Each[j] {
				t.Fatalf("offset %g: losses are %g apart, declared %g and %g for the cap %g", offsets[j], apart, losses[0].Each[j], losses[1].Each[j], c)
			}
			if apart > c {
				moved++
			}
			if apart := math.Abs(errs[0].Values[j] - errs[1].Values[j]); apart > 1 {
				t.Fatalf("errors are %g apart", apart)
			}
		}
	}
	if moved == 0 {
		t.Error("no pair shows the rounding of an offset")
	}
}

func classEnsembleOf(t *testing.T, d *Data, loss losses.Loss, parts int, seed uint64) *ClassEnsemble {
	t.Helper()
	e, err := d.ClassEnsemble(ctx, loss, 3, parts, seed, 2, 0.3, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The models of classes are the minimisers of each class against the rest on their own part, as
// the public split has it; a replaced row changes those of one part and no other, whatever it is,
// and each vote by at most one.
func TestClassEnsembleOfParts(t *testing.T) {
	const n, parts, seed = 31, 4, 5
	r := rand.New(rand.NewPCG(1, 2))
	s := threeClasses(r, n, 3)
	path := filepath.Join(t.TempDir(), "rows")
	if err := WriteFile(ctx, path, s.x, s.y, Owners{}, nil, 0, 0); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stored, err := f.Data(ctx, NewIdentity(3, sampleBound, false), 0, sampleLabel, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, loss := range []losses.Loss{losses.Logistic{}, losses.SquaredHinge{}} {
		d := s.open(t, false)
		e := classEnsembleOf(t, d, loss, parts, seed)
		split, home := d.Split(seed, evenly(n, parts)...), make([]int, n)
		place := 0
		for i, part := range split {
			for range part.Len() {
				home[permutation(n, seed)[place]] = i
				place++
			}
			for k, w := range e.models[i] {
				p, err := under(t, part.Against(k), loss).Minimiser(ctx, 2, 0.3)
				if err != nil || !near(w, p.w, 1e-5) {
					t.Errorf("%s: class %d of part %d has %v, the minimiser is %v (%v)", loss.Name(), k, i, w, p.w, err)
				}
			}
		}
		file := classEnsembleOf(t, stored, loss, parts, seed)
		for i, model := range e.models {
			for k, w := range model {
				if !slices.Equal(file.models[i][k], w) {
					t.Errorf("%s: class %d of part %d has %v in a file, %v in memory", loss.Name(), k, i, file.models[i][k], w)
				}
			}
		}
		worst := 0.0
		for row := range n {
			next := s.neighbour(r, row, losses.Real)
			next.y[row] = float64((int(s.y[row]) + 1) % 3)
			other := classEnsembleOf(t, next.open(t, false), loss, parts, seed)
			for i := range parts {
				same := slices.EqualFunc(other.models[i], e.models[i], slices.Equal[[]float64])
				if same != (i != home[row]) {
					t.Errorf("row %d of part %d is replaced: part %d stays %v", row, home[row], i, same)
				}
			}
			for range 10 {
				x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
				var votes [2]release.Event
				for side, of := range []*ClassEnsemble{e, other} {
					answer, err := of.Votes(x)
					if err != nil {
						t.Fatal(err)
					}
					votes[side] = overheardScores(t, of.origin.rows, answer)
				}
				for k, v := range votes[0].Values {
					worst = math.Max(worst, math.Abs(v-votes[1].Values[k]))
				}
			}
		}
		if worst != 1 {
			t.Errorf("%s: a vote moves by %g", loss.Name(), worst)
		}
	}
}

// Votes are less the number of models whose largest score is a class's, the first of several;
// labels and losses that are not for classes are refused.
func TestVotesOfClasses(t *testing.T) {
	d := threeClasses(rand.New(rand.NewPCG(3, 4)), 20, 2).open(t, false)
	e := classEnsembleOf(t, d, losses.Logistic{}, 2, 1)
	e.models = [][][]float64{{{1, 0}, {0, 0}, {0, 9}}, {{0, 0}, {2, 0}, {2, 0}}, {{0, 1}, {0, 1}, {0, 1}}, {{-1, 0}, {-3, 0}, {-2, 0}}, {{-1, 0}, {0.1, 0}, {math.NaN(), 0}}}
	votes, err := e.Votes([]float64{0.5, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got := overheardScores(t, d.Rows(), votes); !slices.Equal(got.Values, []float64{-3, -2, 0}) || !slices.Equal(got.Each, []float64{1, 1, 1}) || floats.Sum(got.Values) != -5 {
		t.Errorf("votes %v with sensitivities %v", got.Values, got.Each)
	}
	if _, err := e.Votes([]float64{1}); !errors.Is(err, check.ErrShape) {
		t.Errorf("votes on a short query: %v", err)
	}
	for _, y := range []float64{3, -1, 0.5} {
		other := sample{mat.NewDense(3, 1, nil), []float64{0, y, 1}}.open(t, false)
		if _, err := other.ClassEnsemble(ctx, losses.Logistic{}, 3, 2, 1, 1, 1, nil); !errors.Is(err, check.ErrLabel) {
			t.Errorf("a label of %g: %v", y, err)
		}
	}
	if _, err := d.ClassEnsemble(ctx, losses.Squared{}, 3, 2, 1, 1, 1, nil); !errors.Is(err, check.ErrConfig) {
		t.Errorf("a loss of real labels: %v", err)
	}
}
