package dpglm

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// auditedStandardised are the kinds of releases of StandardisedGD and Infer, each on its own worst
// pair: its constant model as a whole, and the others alone, each with all of μ.
func auditedStandardised(t *testing.T) []audited {
	t.Helper()
	binary, real := constantPair(losses.Logistic{}, 0, 1), constantPair(losses.Squared{}, -2, 2)
	lengths := func(x *estimate.Run) (release.Answer, error) {
		plain, err := x.Sums.Frame(x.Task.Ctx, curator.Frame{})
		if err != nil {
			return release.Answer{}, err
		}
		return plain.Lengths(context.Background(), []float64{2, 1, 0.5})
	}
	moments := func(x *estimate.Run) (release.Answer, error) {
		plain, err := x.Sums.Frame(x.Task.Ctx, curator.Frame{})
		if err != nil {
			return release.Answer{}, err
		}
		return plain.Moments(x.Task.Ctx, 1)
	}
	scatter := func(x *estimate.Run) (release.Answer, error) {
		plain, err := x.Sums.Frame(x.Task.Ctx, curator.Frame{})
		if err != nil {
			return release.Answer{}, err
		}
		return plain.Scatter(x.Task.Ctx, make([]float64, 2), 0, curator.Slope{Clip: 0.3})
	}
	labels := func(x *estimate.Run) (release.Answer, error) { return x.Sums.Labels(x.Task.Ctx) } // of three steps to 5
	k := constantOf(stepClip)                                                                    // logistic slopes go from −½ to ½ at zero, which clips the features' part and not the constant's
	apart := math.Hypot(2*stepClip, k) / (2 * math.Hypot(stepClip, k))
	return []audited{
		{"StandardisedGD, constant model, classes", evidence.Mu, 1, 1, 100_000, binary.sample(firstOf(1))},
		{"StandardisedGD, constant model, real labels", evidence.Mu, 1, 1, 100_000, real.sample(firstOf(1))},
		{"StandardisedGD, constant model, persons", evidence.Mu, 1, 1, 100_000, binary.ofPersons().whoOccur().sample(firstOf(1))},
		{"StandardisedGD, counts' steps", evidence.Mu, 1, 1, 100_000, drawn(t, losses.Poisson{}, 1, labels, 1, 1, 1)},
		{"StandardisedGD, histogram", evidence.Mu, 1, 1, 100_000, drawn(t, losses.Logistic{}, 1, lengths, 1, -1, 0, 0)},
		{"StandardisedGD, second moments", evidence.Mu, 1, 1, 100_000, drawn(t, losses.Logistic{}, 1, moments, 1, 0, -1)},
		{"Infer, gradients' products", evidence.Mu, 1, 1, 100_000, drawn(t, losses.Logistic{}, 1, scatter, 1, 0, -1)},
		{"StandardisedGD, a step, classes", evidence.Mu, 1, apart, 100_000, stepped(t, losses.Logistic{}, 1)},
		{"StandardisedGD, a step, real labels", evidence.Mu, 1, 1, 100_000, stepped(t, losses.Squared{}, 1)},
	}
}

// firstOf is the k-th weight.
func firstOf(k int) func(w []float64) float64 { return func(w []float64) float64 { return w[k] } }

// constantPair has 40 rows, of which half have either label and one changes its own. At
// μ = 1 the model is the constant one.
func constantPair(loss losses.Loss, low, high float64) pair {
	const n = 40
	p := pair{learner: StandardisedGDConfig{}, problem: Problem{Loss: loss}, budget: GDP(1), facts: Bounds{Feature: 1, Label: 2, Intercept: true}}
	for side := range p.x {
		y := make([]float64, n)
		for i := range y {
			y[i] = []float64{low, high}[i%2]
		}
		y[0] = []float64{low, high}[side]
		p.x[side], p.y[side] = mat.NewDense(n, 1, nil), y
	}
	return p
}

// standardisingAlone is a run before its first release, by a pool of its own.
func standardisingAlone(t *testing.T, d *Dataset, loss losses.Loss, mu float64, src mechanisms.Source) (*estimate.Run, error) {
	t.Helper()
	schedule, err := release.Pool("standardised GD", mu, 1, 32)
	if err != nil {
		return nil, err
	}
	p := estimate.Problem{Facts: d.Shape().facts(), Loss: loss, Mu: mu, Fraction: 1}
	return estimate.Begin(p, alone(d, schedule, src).task())
}

// lastRow are two data sets of 100 rows that differ in the last one: it is (2, 0) with
// the lowest label, or (0, ½) with the highest; alike tells to change the label alone.
func lastRow(t *testing.T, loss losses.Loss, alike bool) (data [2]*Dataset) {
	t.Helper()
	const n = 100
	for side := range data {
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		x.SetRow(n-1, [][]float64{{2, 0}, {0, 1}}[side])
		if alike {
			x.SetRow(n-1, []float64{2, 0})
		}
		switch y[n-1] = float64(side); loss.Labels() {
		case losses.Real:
			y[n-1] = 10*float64(side) - 5
		case losses.Count:
			y[n-1] = 5 * float64(side)
		}
		d, err := NewDataset(x, y, Bounds{Feature: 2, Label: 5, Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		data[side] = d
	}
	return data
}

// drawn samples a release of an answer by a pool of μ, seen along a direction.
func drawn(t *testing.T, loss losses.Loss, mu float64, ask func(*estimate.Run) (release.Answer, error), along ...float64) stream {
	t.Helper()
	data := lastRow(t, loss, false)
	return repeated(func(side int, src mechanisms.Source) (float64, error) {
		x, err := standardisingAlone(t, data[side], loss, mu, src)
		if err != nil {
			return 0, err
		}
		answer, err := ask(x)
		v, err := x.Pool.Draw(1, answer, err)
		if err != nil {
			return 0, err
		}
		return floats.Dot(v, along), nil
	})
}

// stepClip is the clip of a step that is audited alone.
const stepClip = 0.3

// constantOf is the length of the constant's coordinate where it is apart: with one signal for both, k² = C/√2.
func constantOf(clip float64) float64 { return math.Sqrt(clip / math.Sqrt2) }

// stepped samples a step of the descent from zero by a pool of μ, at a clip that the
// last row's gradient exceeds with either label.
func stepped(t *testing.T, loss losses.Loss, mu float64) stream {
	t.Helper()
	data := lastRow(t, loss, true)
	return repeated(func(side int, src mechanisms.Source) (float64, error) {
		x, err := standardisingAlone(t, data[side], loss, mu, src)
		if err != nil {
			return 0, err
		}
		along := []float64{2, 1} // of feature and constant, as the clip has them
		way := estimate.Descent{Run: x, Frame: &estimate.Frame{Effective: 2}}
		if loss.Labels() == losses.Binary {
			way.Frame.Signal = []float64{1, 1} // else the intercept stays
			k := constantOf(stepClip)          // the constant's part is k long, and 1/k of its release moves the intercept
			way.Labels.Apart, along = 1, []float64{2 * stepClip, k * k}
		}
		framed, err := x.Sums.Frame(x.Task.Ctx, curator.Frame{})
		if err != nil {
			return 0, err
		}
		at, err := way.Walk(estimate.Stage{In: estimate.One(framed), Steps: 1, Averaged: 1, Size: 1, Intercept: 1, Share: 1}, estimate.Iterate{At: [][]float64{{0, 0, 0}}, Clip: stepClip})
		if err != nil {
			return 0, err
		}
		u, b := at.One()
		return along[0]*u[0] + along[1]*b, nil
	})
}

// Variants with bugs are caught: a pool that gives away more μ than it claims, a
// histogram whose noise is that of sensitivity 1, and a clip chosen without noise.
func TestAuditCatchesBrokenStandardisedGD(t *testing.T) {
	t.Parallel()
	const runs = 10_000
	wrong := func(name string, sample stream) {
		t.Run(name, func(t *testing.T) { caught(t, audited{name, evidence.Mu, 1, math.Inf(1), runs, sample}) })
	}
	histogram := func(x *estimate.Run) (release.Answer, error) {
		plain, err := x.Sums.Frame(x.Task.Ctx, curator.Frame{})
		if err != nil {
			return release.Answer{}, err
		}
		return plain.Lengths(context.Background(), []float64{2, 1, 0.5})
	}
	wrong("sensitivity 1 for √2", drawn(t, losses.Logistic{}, math.Sqrt2, histogram, 1, -1, 0, 0))
	wrong("a step with half the noise", stepped(t, losses.Logistic{}, 2))
	wrong("a clip chosen without noise", chosenClip(t, 1e6))
	t.Run("a clip chosen with noise", func(t *testing.T) {
		missed(t, audited{"clip", evidence.Mu, 1, math.Inf(1), runs, chosenClip(t, 1)})
	})
}

// chosenClip samples the clip where one row's label decides between two edges: with the
// row's gradient one too many are long.
func chosenClip(t *testing.T, mu float64) stream {
	t.Helper()
	const n = 200
	var data [2]*Dataset
	for side := range data {
		x, y := mat.NewDense(n, 1, nil), make([]float64, n)
		for i := range n {
			if y[i] = 0.1; i < 20+side {
				y[i] = 4
			}
		}
		d, err := NewDataset(x, y, Bounds{Feature: 1, Label: 5, Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		data[side] = d
	}
	return repeated(func(side int, src mechanisms.Source) (float64, error) {
		x, err := standardisingAlone(t, data[side], losses.Squared{}, mu, src)
		if err != nil {
			return 0, err
		}
		x.N = float64(n) / mu // so that no clip lets go
		framed, err := x.Sums.Frame(x.Task.Ctx, curator.Frame{})
		if err != nil {
			return 0, err
		}
		way := estimate.Descent{Run: x, Labels: estimate.Labels{Minority: 1, Typical: 5}, Frame: &estimate.Frame{Signal: []float64{1}}} // else the clip is a typical one at most
		at := estimate.Iterate{}
		err = way.ChooseClip(estimate.Stage{In: estimate.One(framed), Choose: []int{0}, Clips: 1, Allowed: 20}, &at, [][]float64{{0, 0}}, true)
		return at.Clip, err
	})
}
