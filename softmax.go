package dpglm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// SoftmaxConfig configures [Softmax].
type SoftmaxConfig struct {
	// Classes is how many there are, from 2 to 1000: labels are 0 to Classes−1. It is public.
	// Of a table it is the number of the label's levels.
	Classes int `json:"classes"`
}

// Softmax trains a model of several classes, with probabilities that sum to 1: noisy
// gradient descent on −log p_y, p_k = e^{z_k}/Σe^{z_j}, in coordinates that are centred and
// whitened privately, as in [StandardisedGD].
//
// Errors are those of [SoftmaxConfig.Ledger], and of labels that aren't classes 0 to K−1
// ([ErrLabel]), before anything is released; a run that stops later has an [Interrupted].
// [Offsets] are refused: a number added to the scores of all classes changes no probability.
//
// # Privacy
//
// Replace-one. All releases are Gaussian, from one pool of μ. How many rows each class has
// moves by √2; norms, mean and moments of rows are [StandardisedGD]'s. The gradient of a
// row is (p − e_y) ⊗ (x̃, 1), held to the norm C for all classes together, so that the sum
// moves by 2C. For the factor it is ⟨p − e_y, z⟩, a number held to ±L, whose sum moves by 2L.
// Everything else follows from what was released and from public facts.
//
// # Parameters
//
// Second moments are those of StandardisedGD, but released from n·μ = 42√d on, and of more than
// 200 columns from 126√d on; all columns have one scale otherwise. Rows of rare levels are kept
// short, as for two classes. Steps are as long as the
// curvature at the classes' rates allows where these are even, and shorter where noise in a
// typical score would come to exceed 1: probabilities near 0 or 1 have no curvature that holds
// noise. The clip may shorten three tenths of the rows, and where noise makes steps short it is
// half or seven tenths of that. From n·μ = 310 on a factor of all scores is fitted at last, by
// three looks at the loss's slope, so that probabilities are calibrated; L is some 6 standard
// deviations of the scores, and more the less noise there is. Below that number of more than 200
// columns, and below max(45, 8.5√(d(K−1))) of fewer, there is nothing but the constant model,
// fitted with the whole budget.
//
// x is n×d, d at most 1000, K classes. It makes some 45 passes over the rows, of O(n·d·K) flops
// each; a model has K·(d+1) weights. Noise is that of one model for classes in two: K models of one class
// against the rest, in place of this one, would have √K times as much.
func Softmax(ctx context.Context, d *Dataset, b Budget, cfg SoftmaxConfig, env *Env) (*ClassModel, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := d.suitsClasses("SoftmaxConfig.Classes", cfg.Classes); err != nil {
		return nil, err
	}
	o, schedule, ledger, err := cfg.plan(d.Shape(), b)
	if err != nil {
		return nil, err
	}
	classes, err := d.data.Classes(ctx, cfg.Classes)
	if err != nil {
		return nil, err
	}
	ledger = env.mark(ledger, d)
	allow, err := env.allow(schedule, d, ledger, cfg)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, data: d.data.Against(0), allow: allow, progress: env.progress, levels: d.levels()}
	weights, err := o.trainClasses(r, classes, cfg.Classes)
	if err != nil {
		return nil, stopped(allow, ledger, err)
	}
	return newClassModel(weights, d, nil, ledger), nil
}

// Ledger is what [Softmax] would spend on data of the given shape: a dry run. It fails, by an
// [ArgumentError], where the shape, the budget or the number of classes breaks its rule.
func (c SoftmaxConfig) Ledger(s Shape, b Budget) (*Ledger, error) {
	_, _, ledger, err := c.plan(s, b)
	return ledger, err
}

func (c SoftmaxConfig) plan(s Shape, b Budget) (*standardised, *release.Schedule, *Ledger, error) {
	if err := ofClasses("SoftmaxConfig.Classes", c.Classes, s); err != nil {
		return nil, nil, nil, err
	}
	if s.features() > standardisedDim {
		return nil, nil, nil, check.Fail(ErrShape, "features", s.features(), fmt.Sprintf("must be at most %d", standardisedDim))
	}
	o, err := newStandardised(s, Problem{Loss: losses.Logistic{}}, b, c.Classes*s.Dim)
	if err != nil {
		return nil, nil, nil, err
	}
	schedule, err := release.Pool("softmax", o.mu, o.releases, o.dim)
	if err != nil {
		return nil, nil, nil, err
	}
	ledger, err := b.ledger(schedule, o.shape)
	return o, schedule, ledger, err
}

// ratesShare is what the classes' counts have of μ².
const ratesShare = 0.01

// trainClasses returns the weights of each class.
func (o *standardised) trainClasses(r *run, classes *curator.Classes, k int) ([][]float64, error) {
	begun, err := o.begin(r, 1)
	if err != nil {
		return nil, err
	}
	x := &softmaxing{standardising: begun, classes: classes, k: k}
	if err := x.total(); err != nil {
		return nil, err
	}
	if x.clear = 42 * math.Sqrt(float64(x.d)); x.d > whitenedDim {
		x.clear *= 3
	}
	x.scaled = x.nmu() >= scaledFrom
	hopeless := x.nmu() < x.enough()
	share := ratesShare
	if hopeless {
		share = x.pool.left
	}
	if err := x.count(share); err != nil {
		return nil, err
	}
	start := curator.ClassPoint{U: make([][]float64, k), B: make([]float64, k)}
	for c := range k {
		start.U[c] = make([]float64, x.d)
		if start.B[c] = math.Log(x.rates[c]); !x.shape.Intercept {
			start.B[c] = 0
		}
	}
	if hopeless {
		x.frame = curator.Frame{Scale: make([]float64, x.d)}
		return x.weights(start), nil
	}
	few, err := x.standardise()
	if err != nil {
		return nil, err
	}
	if few { // nothing stands out: one scale
		x.frame.Matrix, x.known = nil, nil
		if err := x.roundFrame(2 / x.data.Facts().Bound); err != nil {
			return nil, err
		}
	}
	if x.shortens() {
		if x.short, err = x.standardising.shorten(x.longestLevel(1.2)); err != nil {
			return nil, err
		}
	}
	if x.in, err = classes.Frame(x.ctx, x.frame); err != nil {
		return nil, err
	}
	at, err := x.walkClasses(start)
	if err != nil {
		return nil, err
	}
	return x.weights(at), nil
}

// enough is the n·μ that a model of the features takes. Many columns seldom vary in as many
// directions, and what noise there is in scores the factor takes away.
func (x *softmaxing) enough() float64 {
	if x.d > whitenedDim {
		return scaledFrom
	}
	return math.Max(45, 8.5*math.Sqrt(float64(x.d*(x.k-1))))
}

// count releases the classes' rates.
func (x *softmaxing) count(share float64) error {
	answer, err := x.classes.Counts(x.ctx)
	counts, err := x.pool.draw(share, answer, err)
	if err != nil {
		return err
	}
	floor := math.Max(math.Sqrt2/(x.nmu()*math.Sqrt(share)), 2/x.n)
	x.rates = make([]float64, x.k)
	for c, v := range counts {
		x.rates[c] = math.Max(v/x.n, math.Min(floor, 1/float64(x.k)))
	}
	floats.Scale(1/floats.Sum(x.rates), x.rates)
	return nil
}

// weights maps a point back, class by class.
func (x *softmaxing) weights(at curator.ClassPoint) [][]float64 {
	list := make([][]float64, x.k)
	for c := range list {
		list[c] = x.back(iterate{u: at.U[c], b: at.B[c]})
	}
	return list
}
