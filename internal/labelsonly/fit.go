package labelsonly

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/losses"
)

// Suits reports whether there is an estimate of a problem from sums of labels: of classes, real labels and counts, of rows that count 1 each, with no
// more features than have moments.
func Suits(p estimate.Problem) bool {
	f := p.Facts
	if f.Weighted || f.PersonRows > 0 || f.AddRemove || f.Features() > estimate.MostFeatures {
		return false
	}
	if p.Classes > 0 {
		return (p.Classes-1)*f.Dim <= estimate.MostFeatures
	}
	switch p.Asked.(type) {
	case losses.Logistic, losses.Squared, losses.Poisson:
		return true
	}
	return false
}

// fit is one that has begun.
type fit struct {
	run    *estimate.Run
	space  *space
	labels estimate.Labels
	family family
	public public
	in     *curator.Framed
	of     *curator.ClassFramed // where there are several classes
	infers bool                 // whether intervals are made, which allow for what rows that count less may change
	kept   float64              // of μ², that isn't for sums
	least  float64              // cut that is tried, over what rows are long
	limit  float64              // that products' statistics are held to
	cutOff float64              // the sum of what that cut off
	lost   float64              // part of rows whose statistics it held
	unread bool                 // whether noise hid how far they go
	missed *mat.SymDense        // what rows that count less may change, in units of scores
}

// Fit is the weights of encoded rows.
func Fit(p estimate.Problem, t estimate.Task) ([]float64, error) {
	x, constant, err := begin(p, t, nil, aim{least: half})
	if err != nil {
		return nil, err
	}
	if constant != nil {
		return constant[0], nil
	}
	at, _, err := x.estimate()
	if err != nil {
		return nil, err
	}
	return x.weights(at.theta, at.times, 0), nil
}

// FitClasses is those of each class.
func FitClasses(p estimate.Problem, t estimate.Task, classes *curator.Classes) ([][]float64, error) {
	x, constant, err := begin(p, t, classes, aim{least: half})
	if err != nil || constant != nil {
		return constant, err
	}
	at, _, err := x.ofClasses()
	if err != nil {
		return nil, err
	}
	return x.weightsOfClasses(at.theta, at.times), nil
}

// weightsOfClasses are each class's, of all columns' points one after another.
func (x *fit) weightsOfClasses(theta []float64, times float64) (list [][]float64) {
	contrasts, dim := x.family.(several).contrasts, x.space.dim()
	for k := range contrasts.RawMatrix().Rows {
		of := make([]float64, dim)
		for c, v := range contrasts.RawRowView(k) {
			floats.AddScaled(of, v, theta[c*dim:(c+1)*dim])
		}
		list = append(list, x.weights(of, times, k))
	}
	return list
}

// aim is what a fit is for.
type aim struct {
	infers bool    // intervals
	kept   float64 // part of μ² that isn't for sums
	least  float64 // cut that is tried, over what rows are long
}

// begin releases labels' mean, and finds coordinates and the cut; the constant model's weights where that is all there is.
func begin(p estimate.Problem, t estimate.Task, classes *curator.Classes, to aim) (x *fit, constant [][]float64, err error) {
	run, err := estimate.Begin(p, t)
	if err != nil {
		return nil, nil, err
	}
	x = &fit{run: run, infers: to.infers, least: to.least}
	if x.space, err = newSpace(t.Ctx, curator.FeaturesOf(run.Sums), t.Data.Facts()); err != nil {
		return nil, nil, err
	}
	if classes != nil {
		x.of, err = classes.Frame(t.Ctx, x.space.at)
	} else {
		x.in, err = run.Frame(x.space.at)
	}
	if err != nil {
		return nil, nil, err
	}
	if x.labels, err = run.StartOf(classes); err != nil {
		return nil, nil, err
	}
	x.family = x.familyOf(p)
	if err := expose(x); err != nil {
		return nil, nil, err
	}
	if run.Pool.Spent() || len(x.space.moments) == 0 {
		return nil, run.Constant(x.labels), nil
	}
	x.kept = to.kept * run.Pool.Left
	x.public = newPublic(x.space, x.family, p.Prior, largestOf(x.family, p))
	return x, nil, x.chooseCut()
}

// expose has the constant model of counts have the labels' mean at the rows' offsets, which are public: what is released of them, for all budgets alike, may be all
// noise where their range is wide.
func expose(x *fit) error {
	f, counted := x.family.(counts)
	if !counted || !x.space.constant || x.run.Problem.Facts.OffsetRange == [2]float64{} {
		return nil
	}
	for range rateRounds {
		means, err := meansOf(x.space, f, x.start())
		if err != nil {
			return err
		}
		move := math.Log(x.space.n * x.labels.Mean / floats.Sum(means))
		if math.IsNaN(move) || math.IsInf(move, 0) { // numbers that don't hold it
			return nil
		}
		x.labels.Bias += move
		x.labels.Biases = []float64{x.labels.Bias}
		if math.Abs(move) < rateNear {
			break
		}
	}
	return nil
}

// A rate is found in one round, but for means that a loss holds.
const (
	rateRounds = 30
	rateNear   = 1e-6
)

func (x *fit) familyOf(p estimate.Problem) family {
	if p.Classes > 0 {
		return newSeveral(p.Classes)
	}
	switch l := p.Loss.(type) {
	case losses.Squared:
		return numbers{}
	case losses.CappedPoisson:
		return counts{l.Cap}
	}
	return twoClasses{}
}

// weights are those of encoded rows, of a score's point, and of a public model's along which no row varies times its number, which is held between 0 and 1 there:
// labels tell nothing of these, neither that they are of another sign nor that they are larger.
func (x *fit) weights(theta []float64, times float64, score int) []float64 {
	w, b := x.space.weights(theta)
	if x.public.rest != nil {
		times = math.Min(math.Max(times, 0), 1)
		rest := x.public.rest[score]
		floats.AddScaled(w, times, rest)
		b -= times * floats.Dot(rest, x.space.centre)
	}
	if x.space.constant {
		w = append(w, b)
	}
	return estimate.Clamp(w)
}

// start is the constant model.
func (x *fit) start() []float64 {
	dim := x.space.dim()
	theta := make([]float64, x.family.columns()*dim)
	if x.space.constant {
		for c, v := range constantScores(x.family, x.labels) {
			theta[(c+1)*dim-1] = v
		}
	}
	return theta
}

// constantScores are the columns' scores under the constant model.
func constantScores(of family, l estimate.Labels) []float64 {
	f, classes := of.(several)
	if !classes {
		return []float64{l.Bias}
	}
	scores := make([]float64, f.columns())
	for k, bias := range l.Biases {
		floats.AddScaled(scores, bias, f.contrasts.RawRowView(k))
	}
	return scores
}

// mu is that of a share of μ².
func (x *fit) mu(share float64) float64 { return x.run.Problem.Mu * math.Sqrt(share) }

// estimate releases what sums it takes, and returns the mode and what it was made of.
func (x *fit) estimate() (*state, observation, error) {
	if _, binary := x.family.(twoClasses); !binary {
		return x.inTwo()
	}
	o := observation{scale: 1, unit: 1}
	var err error
	o.sum, o.noise, err = x.gradient(x.start(), half, half, x.run.Pool.Left-x.kept, true)
	if err != nil {
		return nil, o, err
	}
	floats.Scale(-1, o.sum)
	at, err := x.space.solve(x.family, o, x.belief(x.start()), x.start())
	return at, o, err
}

// split is a point's coordinates and the constant's.
func (x *fit) split(at []float64) (u []float64, b float64) {
	k := len(x.space.moments)
	if x.space.constant {
		b = at[k]
	}
	return at[:k], b
}
