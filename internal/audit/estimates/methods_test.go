package estimates_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// plainSet is made-up rows to train on, and as many again to judge by.
type plainSet struct {
	name    string
	loss    losses.Loss
	n, d    int
	epsilon float64
	label   [2]float64
	draw    func(score float64, r *rand.Rand) float64
	length  float64 // of the true weights
}

func bernoulli(intercept float64) func(float64, *rand.Rand) float64 {
	return func(z float64, r *rand.Rand) float64 {
		if r.Float64() < 1/(1+math.Exp(-z-intercept)) {
			return 1
		}
		return 0
	}
}

func plainSets() []plainSet {
	poisson := func(z float64, r *rand.Rand) float64 {
		return distuv.Poisson{Lambda: 0.3 * math.Exp(z), Src: r}.Rand()
	}
	high := func(z float64, r *rand.Rand) float64 { return math.Min(95+4*z+4*r.NormFloat64(), 100) }
	return []plainSet{
		{"classes", losses.Logistic{}, 2000, 10, 0.5, [2]float64{}, bernoulli(0), 3},
		{"a mean near an end", losses.Squared{}, 2000, 10, 0.5, [2]float64{0, 100}, high, 1},
		{"a rare class", losses.Logistic{}, 3000, 8, 0.5, [2]float64{}, bernoulli(-4.4), 2},
		{"counts", losses.Poisson{}, 2000, 5, 0.5, [2]float64{0, 10}, poisson, 1},
		{"no signal", losses.Logistic{}, 2000, 10, 0.5, [2]float64{}, bernoulli(1), 0},
	}
}

// rows makes rows with features of 0 to 1, as one-hot columns and shares have them, and labels.
func (s plainSet) rows(seed uint64) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(seed, 9))
	x, y := mat.NewDense(s.n, s.d, nil), make([]float64, s.n)
	for i := range y {
		z := 0.0
		for j := range s.d {
			v := r.Float64()
			x.Set(i, j, v)
			z += s.length * math.Sqrt(12/float64(s.d)) * float64(1-2*(j%2)) * (v - 0.5)
		}
		y[i] = s.draw(z, r)
	}
	return x, y
}

// judge is the mean loss of scores.
func (s plainSet) judge(z, y []float64) float64 {
	var sum float64
	for i, v := range y {
		if s.loss.Labels() == losses.Binary {
			v = 2*v - 1
		}
		sum += s.loss.Value(z[i], v)
	}
	return sum / float64(len(y))
}

// constant is the score of the best constant model of the labels.
func (s plainSet) constant(y []float64) float64 {
	switch m := stat.Mean(y, nil); s.loss.Labels() {
	case losses.Binary:
		return math.Log(m / (1 - m))
	case losses.Count:
		return math.Log(m)
	default:
		return m
	}
}

// excesses are how much worse than the constant a learner's models are at its defaults, for
// several seeds, over the constant's loss.
func (s plainSet) excesses(t *testing.T, l dpglm.Learner, seeds uint64) []float64 {
	t.Helper()
	var all []float64
	names, numeric := make([]string, s.d), map[string][2]float64{}
	for j := range names {
		names[j] = fmt.Sprintf("x%d", j)
		numeric[names[j]] = [2]float64{0, 2} // a range that is too wide, as they are
	}
	facts := dpglm.Schema{Columns: names, Numeric: numeric, LabelRange: s.label, Intercept: true}
	x, y := s.rows(1)
	data, err := dpglm.NewDataset(x, y, facts)
	if err != nil {
		t.Fatal(err)
	}
	other, truth := s.rows(2)
	same := make([]float64, s.n)
	for i := range same {
		same[i] = s.constant(y)
	}
	base := s.judge(same, truth)
	plan, err := l.Plan(data.Shape(), dpglm.Problem{Loss: s.loss}, dpglm.ApproxDP(s.epsilon, 1e-5))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range seeds {
		m, err := plan.Run(ctx, data, given.Seeded(seed+1))
		if err != nil {
			t.Fatal(err)
		}
		z, err := given.One(m.Scores(other))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, (s.judge(z, truth)-base)/base)
	}
	return all
}

// At its defaults no method is worse than the constant model: over four seeds its mean loss is
// not larger by more than 2 % of the constant's, in which the noise of a private mean has room,
// and two standard errors. A method that is as good as the constant fails by chance with
// a probability below 5 % in each case; the seeds are fixed.
func TestMethodsAreNoWorseThanAConstant(t *testing.T) {
	for _, s := range plainSets() {
		for name, l := range map[string]dpglm.Learner{
			"NoisyGD": dpglm.NoisyGDConfig{}, "OutputPerturbation": dpglm.OutputPerturbationConfig{},
			"JL": dpglm.JLConfig{}, "GridSearch": dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}},
			"Boost": dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}},
		} {
			seeds := uint64(4)
			if s.n > 5000 {
				seeds = 2
			}
			all := s.excesses(t, l, seeds)
			mean, sd := stat.MeanStdDev(all, nil)
			t.Logf("%s, %s: %+.4f ± %.4f", s.name, name, mean, sd/math.Sqrt(float64(seeds)))
			if !(mean < 0.02+2*sd/math.Sqrt(float64(seeds))) {
				t.Errorf("%s, %s: worse than the constant by %.3f of its loss, standard error %.3f", s.name, name, mean, sd/math.Sqrt(float64(seeds)))
			}
		}
	}
}

// Noisy GD's own schedule is no worse than that of Theorem 1.
func TestPracticalIsNoWorseThanTheorem1(t *testing.T) {
	s := plainSets()[0]
	ours, theirs := s.excesses(t, dpglm.NoisyGDConfig{}, 4), s.excesses(t, dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1}, 4)
	a, sa := stat.MeanStdDev(ours, nil)
	b, sb := stat.MeanStdDev(theirs, nil)
	t.Logf("%+.4f against %+.4f", a, b)
	if !(a < b+math.Hypot(sa, sb)) {
		t.Errorf("%.4f over the constant's loss, and %.4f by Theorem 1", a, b)
	}
	if !(b < 0.02+sb) {
		t.Errorf("Theorem 1 is worse than the constant by %.3f of its loss", b)
	}
}
