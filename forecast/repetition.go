package forecast

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// repetition is one set of made-up rows, and what fits are compared with.
type repetition struct {
	seed     uint64
	data     *dpglm.Dataset
	trial    *trial
	constant score
	plain    score
	errors   []float64 // standard errors without privacy; nil unless the learner infers
}

// score is what a model is worth on rows that it wasn't trained on.
type score struct{ loss, accuracy float64 }

// trial are rows to score models on.
type trial struct {
	truth    *truth
	x        *mat.Dense
	offsets  []float64
	outcomes [][]outcome
	base     float64 // what losses of labels have more in the mean than those of outcomes, whatever the scores are
}

// mostTrial is how many rows are scored on: what is left of the chance of who these are
// is small, as outcomes stand for all labels that a row may have.
const mostTrial = 10_000

// repeat makes the rows of the k-th repetition up, and fits them without privacy.
func (r *rehearsal) repeat(ctx context.Context, k int) (*repetition, error) {
	seed := r.scenario.Seed + uint64(k)*0x9e3779b97f4a7c15
	random := rand.New(mechanisms.NewSeededSource(seed))
	details := r.scene.details(random, r.simulated)
	x, err := r.scene.draw(random, details.rows)
	if err != nil {
		return nil, err
	}
	t := r.truth(random, x, details.offsets)
	y := t.labels(random, x, details.offsets)
	data, err := dpglm.NewDataset(x, y, r.scene.facts, r.scene.given(details, r.simulated)...)
	if err != nil {
		return nil, err
	}
	p := &repetition{seed: seed, data: data}
	if p.trial, err = r.trial(random, t); err != nil {
		return nil, err
	}
	p.constant = p.trial.constant()
	if t.classes() {
		for i, v := range y {
			y[i] = 2*v - 1
		}
	}
	best, err := (&sample{x: x, y: y, details: details, loss: r.scenario.Problem.Loss, width: t.kink()}).fit(ctx, r.scene.facts.Intercept)
	if err != nil {
		return nil, err
	}
	r.fits.step()
	p.errors, p.plain = best.errors, p.trial.plain(best)
	return p, nil
}

// fit returns a model, and the standard errors of its coefficients where the learner has
// them.
func (r *rehearsal) fit(ctx context.Context, p *repetition, l dpglm.Learner, b dpglm.Budget) (*dpglm.Model, []float64, error) {
	defer r.fits.step()
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(p.seed)}
	if cfg, ok := l.(dpglm.InferConfig); ok {
		found, err := dpglm.Infer(ctx, p.data, r.scenario.Problem, b, cfg, env)
		if err != nil {
			return nil, nil, err
		}
		var errors []float64
		for _, c := range found.Coefficients() {
			errors = append(errors, c.StandardError)
		}
		return found.Model(), errors, nil
	}
	plan, err := l.Plan(p.data.Shape(), r.scenario.Problem, b)
	if err != nil {
		return nil, nil, err
	}
	model, err := plan.Run(ctx, p.data, env)
	return model, nil, err
}

// trial makes rows up to score on.
func (r *rehearsal) trial(random *rand.Rand, law *truth) (*trial, error) {
	n := max(100, min(mostTrial, mostMadeUp/(r.scene.features+8)))
	alone := *r.scene
	alone.personRows = 0
	details := alone.details(random, n)
	x, err := r.scene.draw(random, n)
	if err != nil {
		return nil, err
	}
	t := &trial{truth: law, x: x, offsets: details.offsets}
	for _, z := range law.scores(x, t.offsets) {
		z += law.intercept
		all := law.outcomes(random, z)
		if len(all) == 1 { // the mean, beside which a loss that is linear in labels has terms of the label alone
			t.base += (law.loss.Value(z, law.label(random, z)) - law.loss.Value(z, all[0].y)) / float64(n)
		}
		t.outcomes = append(t.outcomes, all)
	}
	return t, nil
}

// score is that of a model.
func (t *trial) score(m *dpglm.Model) (score, error) {
	scores, err := m.Scores(t.x)
	if err != nil {
		return score{}, err
	}
	z := scores.RawMatrix().Data // of the one score
	if t.offsets != nil {
		floats.Add(z, t.offsets)
	}
	return t.of(z), nil
}

// plain is the score of a fit without privacy.
func (t *trial) plain(f *plain) score {
	law := truth{weights: f.weights[:len(t.truth.weights)]}
	z := law.scores(t.x, t.offsets)
	if len(f.weights) > len(law.weights) {
		floats.AddConst(f.weights[len(law.weights)], z)
	}
	return t.of(z)
}

// of is that of the rows' scores. The loss of counts beyond what numbers hold is infinite.
func (t *trial) of(z []float64) score {
	var s score
	for i, all := range t.outcomes {
		for _, o := range all {
			s.loss += o.weight * t.truth.loss.Value(z[i], o.y)
			if (z[i] > 0) == (o.y > 0) {
				s.accuracy += o.weight
			}
		}
	}
	n := float64(len(z))
	if s.loss = s.loss/n + t.base; math.IsNaN(s.loss) {
		s.loss = math.Inf(1)
	}
	if s.accuracy /= n; !t.truth.classes() {
		s.accuracy = math.NaN()
	}
	return s
}

// constant is the score of the best model that ignores the features.
func (t *trial) constant() score {
	low, high := -50.0, 50.0
	if t.truth.loss.Labels() == losses.Real {
		low, high = t.truth.low, t.truth.high
	}
	z := make([]float64, len(t.outcomes))
	for range 50 {
		middle, slope := (low+high)/2, 0.0
		for i, all := range t.outcomes {
			at := middle
			if t.offsets != nil {
				at += t.offsets[i]
			}
			for _, o := range all {
				slope += o.weight * t.truth.loss.Deriv(at, o.y)
			}
		}
		if slope < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	for i := range z {
		if z[i] = high; t.offsets != nil {
			z[i] += t.offsets[i]
		}
	}
	return t.of(z)
}

// expect forecasts the fits with one ε, and keeps what it finds.
func (r *rehearsal) expect(ctx context.Context, epsilon float64) (Expectation, error) {
	budget, err := r.scaled(epsilon)
	if err != nil {
		return Expectation{}, err
	}
	for k := len(r.repetitions); k < r.scenario.Repeats; k++ {
		p, err := r.repeat(ctx, k)
		if err != nil {
			return Expectation{}, err
		}
		r.repetitions = append(r.repetitions, p)
	}
	_, infers := r.scenario.Learner.(dpglm.InferConfig)
	var excess, lost, accuracy, widths []float64
	for _, p := range r.repetitions {
		model, errors, err := r.fit(ctx, p, r.scenario.Learner, budget)
		if err != nil {
			return Expectation{}, err
		}
		s, err := p.trial.score(model)
		if err != nil {
			return Expectation{}, err
		}
		excess = append(excess, s.loss-p.plain.loss)
		if gain := p.constant.loss - p.plain.loss; gain > 0 {
			lost = append(lost, (s.loss-p.plain.loss)/gain)
		}
		accuracy = append(accuracy, p.plain.accuracy-s.accuracy)
		if infers {
			widths = append(widths, r.widths(errors, p.errors)...)
		}
	}
	e := Expectation{Epsilon: epsilon, Excess: median(excess), Lost: median(lost), LostRange: [2]float64{math.NaN(), math.NaN()}, AccuracyLost: median(accuracy), Width: math.NaN(), Determined: math.NaN()}
	if infers {
		e.Width, e.Determined = median(widths), finite(widths)
	}
	if 2*len(lost) < len(excess) {
		e.Lost = math.NaN()
	}
	r.found = append(r.found, e)
	return e, nil
}

// widths are the ratios of standard errors, as they would be among all n rows, of the
// coefficients that rows without noise determine.
func (r *rehearsal) widths(private, plain []float64) []float64 {
	var all []float64
	for j, se := range plain {
		if !math.IsInf(se, 1) && se > 0 {
			ratio := private[j] / se
			all = append(all, math.Sqrt(math.Max(0, 1+(ratio*ratio-1)*float64(r.scenario.Rows)/float64(r.simulated))))
		}
	}
	return all
}

// median is +Inf for none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.Inf(1)
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// finite is the fraction of finite numbers, 0 for none.
func finite(v []float64) float64 {
	count := 0
	for _, x := range v {
		if !math.IsInf(x, 0) {
			count++
		}
	}
	return float64(count) / math.Max(1, float64(len(v)))
}
