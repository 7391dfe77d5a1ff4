package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// round are rows of a frame in which they are round, exactly: all of ±1 in three columns; and real labels, of which a linear function explains all
// but what is the product of two columns.
func roundRows(t *testing.T) (x *mat.Dense, y, truth []float64) {
	t.Helper()
	truth = []float64{0.7, -0.4, 0.2, 0.5} // the intercept's last
	x, y = mat.NewDense(8, 3, nil), make([]float64, 8)
	for i := range 8 {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = float64(1 - 2*(i>>j&1))
		}
		y[i] = floats.Dot(row, truth[:3]) + truth[3] + 0.3*row[0]*row[1]
	}
	return x, y, truth
}

// startOf is what n labels' mean tells of one column of scores.
func startOf(p Problem, n float64, of Mean) Labels {
	l := p.Labels(n, 0, of)
	l.Biases = []float64{l.Bias}
	return l
}

// walked is where a stage ends on round rows, without noise to speak of.
func walked(t *testing.T, s Stage) (Iterate, []float64) {
	t.Helper()
	x, y, truth := roundRows(t)
	run := openUnder(t, 1, x, y, 1e8, losses.Squared{}, 4)
	in, err := run.Frame(curator.Frame{})
	if err != nil {
		t.Fatal(err)
	}
	f := &Frame{run: run, In: in, Signal: []float64{1, 1, 1}, Effective: 4}
	d := &Descent{Run: run, Frame: f, Labels: startOf(run.Problem, 8, Mean{Value: 0.1, Noise: 1e-9})}
	s.In, s.Share, s.Effective = d.scored(), 0.5, f.Effective
	at, err := d.Walk(s, Iterate{At: d.start(), Clip: 100})
	if err != nil {
		t.Fatal(err)
	}
	return at, truth
}

// A step whose size is one over the curvature is Newton's, of the intercept, too; and of steps that begin with a size beyond that the second one is, as
// what the gradients before and after the first one differ by tells the curvature, and what momentum it had is forgotten.
func TestStepsEndAtTheLeastSquares(t *testing.T) {
	for name, s := range map[string]Stage{
		"Newton's": {Steps: 1, Averaged: 1, Size: 1, Momentum: 0.5, Intercept: 1},
		"too long": {Steps: 2, Averaged: 1, Size: 3, Momentum: 0.5, Intercept: 1},
	} {
		at, truth := walked(t, s)
		if floats.Distance(at.At[0], truth, 2) > 1e-4 || math.Abs(at.Size-1) > 1e-4 {
			t.Errorf("%s: %g after steps of %g, not %g", name, at.At[0], at.Size, truth)
		}
	}
}

// Where moments are known and the loss has one curvature steps of a descent, and along its line, have one over it; where noise would make scores vary
// by more than is bearable they are shorter by so much: by the least curvature, along which effects add up.
func TestStepsAreAsLongAsCurvatureAndNoiseAllow(t *testing.T) {
	const n, d, mu = 1000, 3, 1e4
	for _, c := range []struct {
		signal, typical float64 // the latter times the labels'
		short           bool
	}{{1, 1, false}, {1e-6, 1e9, true}} {
		x := &Descent{
			Run:   &Run{Problem: Problem{Loss: losses.Squared{}, Facts: Facts{Rows: n, Dim: d + 1, Intercept: true, LabelBound: 4}, Mu: mu}, N: n, D: d, Pool: &Pool{Left: 0.9}},
			Frame: &Frame{Signal: []float64{c.signal, c.signal, c.signal}, Effective: 1 + d},
		}
		x.Frame.run = x.Run
		x.Labels = startOf(x.Run.Problem, n, Mean{Value: 0.1, Noise: 1e-9})
		x.Labels.Typical *= c.typical
		s := x.firstStage()
		if !c.short {
			if s.Size != 1 {
				t.Errorf("steps of %g", s.Size)
			}
			x.of = new(curator.ClassFramed) // whose line takes no frame
			if _, line, err := x.lineStage(nil, nil, 1, 0.1); err != nil || line.Size != 1 {
				t.Errorf("steps along the line of %g (%v)", line.Size, err)
			}
			continue
		}
		clip := x.Labels.Typical * math.Sqrt(1+x.Frame.Effective)
		noise := 2 * clip / (n * mu * math.Sqrt(s.Share/float64(s.Steps)))
		var variance float64
		for _, effect := range s.effects(0) {
			variance += d * c.signal * math.Pow(effect*noise, 2)
		}
		if bearable := tuning.BearableNoise * math.Sqrt(x.Labels.Residual); math.Abs(math.Sqrt(variance)/bearable-1) > 0.01 {
			t.Errorf("steps of %g make scores vary by %g, and %g is bearable", s.Size, math.Sqrt(variance), bearable)
		}
	}
}

// Whatever noise would make of scores with the usual steps, and of whichever labels, it is held to what is bearable: of all directions together, and of
// the intercept a part of that.
func TestNoiseIsHeldToWhatIsBearable(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Logistic{}, losses.Poisson{}} {
		for _, mean := range []float64{0.03, 0.4} {
			for _, nmu := range []float64{50, 100, 400, 1e6} {
				const n = 1000
				x := &Descent{
					Run:   &Run{Problem: Problem{Loss: loss, Facts: Facts{Rows: n, Dim: 4, Intercept: true, LabelBound: 1}, Mu: nmu / n}, N: n, D: 3, Pool: &Pool{Left: 0.7}},
					Frame: &Frame{Signal: []float64{1, 0.7, 0.1}, Effective: 2.8},
				}
				x.Frame.run = x.Run
				x.Labels = startOf(x.Run.Problem, n, Mean{Value: mean, Noise: 1e-3})
				s := x.firstStage()
				if s.Size > 1/x.Labels.flattest() || s.Intercept > 1 {
					t.Errorf("%s, n·μ = %g: steps of %g, the intercept's %g of it", loss.Name(), nmu, s.Size, s.Intercept)
				}
				most := x.Labels.bearable(x.Run.Problem, false)
				slope := x.slope(x.Labels.Typical * math.Sqrt(1+s.Effective))
				sd, apart := s.noise(slope, x.Labels.moves(slope.Constant, x.Run.Problem.Facts), x.Run.NMu())
				b := s
				b.Size, b.Ridge = s.Intercept*s.Size, 0
				steps := slices.Repeat([]float64{sd}, s.Steps)
				intercept := b.variance(steps, x.Labels.flattest()) * apart * apart
				if got := x.noiseOfScores(s, x.Frame.Signal); got > most*(1+1e-9) || intercept > tuning.BearableIntercept*most*(1+1e-9) {
					t.Errorf("%s, n·μ = %g: noise of variance %g in scores and %g in the intercept, and %g is bearable", loss.Name(), nmu, got, intercept, most)
				}
				if nmu == 1e6 && s.Intercept != 1 {
					t.Errorf("%s: without noise the intercept's steps are %g of the others'", loss.Name(), s.Intercept)
				}
			}
		}
	}
}

// Of more signals than have moments some stand for all.
func TestTypicalSignals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	signals := make([]float64, 20_000)
	for j := range signals {
		signals[j] = math.Pow(r.Float64(), 8)
	}
	x := &Descent{
		Run:    &Run{Problem: Problem{Loss: losses.Logistic{}, Facts: Facts{Intercept: true}, Mu: 1}, N: 1000},
		Frame:  &Frame{Signal: signals, Effective: 30},
		Labels: Labels{Typical: 0.5, Curvature: 0.25, Steepest: 0.25},
	}
	s := Stage{Steps: 50, Averaged: 25, Size: 2, Momentum: 0.5, Share: 0.7, Ridge: 0.01}
	some := typical(signals)
	if a, b := x.noiseOfScores(s, some), x.noiseOfScores(s, signals); len(some) != MostFeatures || math.Abs(a/b-1) > 0.01 {
		t.Errorf("%d of them make a variance of %g, and all one of %g", len(some), a, b)
	}
}

// A pilot's coordinates are what of their way from the origin isn't noise; real labels' intercept is the mean of the origin's and its own, each by the
// inverse of its variance, and others' goes as far as coordinates do.
func TestSettle(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Logistic{}} {
		const start, known, h = 0.05, 0.8, 0.25
		x := &Descent{
			Run:    &Run{Problem: Problem{Loss: loss, Facts: Facts{Intercept: true, LabelBound: 1}}, D: 2},
			Frame:  &Frame{Signal: []float64{known, known}},
			Labels: Labels{Noise: start, Curvature: h, Steepest: h},
			origin: point([]float64{0.1, -0.2}, -1),
		}
		s := Stage{Steps: 6, Averaged: 3, Size: 2, Momentum: 0.5, Ridge: 0.01, Intercept: 0.3}
		at := Iterate{At: point([]float64{0.8, 0.4}, -0.7), Noise: []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, Slope: make([]float64, 2)}
		x.settle(s, &at)
		noise := 2 * known * s.variance(at.Noise, known*h)
		k := 1 - noise/(known*(0.7*0.7+0.6*0.6))
		of := k
		if loss.Labels() == losses.Real {
			own := Stage{Steps: 6, Averaged: 3, Size: 0.6, Momentum: 0.5}
			a, b := math.Pow(start, -2), 1/own.variance(at.Noise, h)
			of = b / (a + b)
		}
		if want := []float64{0.1 + k*0.7, -0.2 + k*0.6, -1 + of*0.3}; !(k > 0.1 && k < 0.99) || floats.Distance(at.At[0], want, 2) > 1e-12 {
			t.Errorf("%s: settles at %g, not %g", loss.Name(), at.At[0], want)
		}
	}
}

// Where counts' intercept is hidden, predictions with normal scores keep the mean that they have at the start, however far the line leads.
func TestHiddenInterceptKeepsPredictions(t *testing.T) {
	x, y := mat.NewDense(8, 3, nil), make([]float64, 8)
	rows, _, _ := roundRows(t)
	x.Copy(rows)
	for i := range y {
		y[i] = 1 + x.At(i, 0)*0.6 // 1.6 and 0.4
	}
	const bound = 1e4
	run := openUnder(t, 1, x, y, 100, losses.CappedPoisson{Cap: bound}, bound)
	d := &Descent{Run: run, Frame: &Frame{run: run, At: curator.Frame{}, Signal: []float64{1, 1, 1}, Effective: 4}}
	d.Labels = startOf(run.Problem, 8, Mean{Value: 1, Noise: 1e-3})
	if !run.interceptHidden(d.Labels) {
		t.Fatal("the intercept isn't hidden")
	}
	first := Stage{Steps: 12, Averaged: 6, Size: 1, Momentum: 0.5, Effective: 4}
	at, err := d.along(first, Iterate{At: point([]float64{0.9, 0.1, -0.2}, d.Labels.Bias), Clip: 10, Noise: make([]float64, first.Steps)})
	if err != nil {
		t.Fatal(err)
	}
	u, b := at.One()
	if square := floats.Dot(u, u); square < 0.05 || math.Abs(b+square/2-d.Labels.Bias) > 1e-9 {
		t.Errorf("predictions went from e^%g to e^%g, by scores of %g", d.Labels.Bias, b+square/2, u)
	}
}

// The square of what scores of two points differ by is its mean over rows, the intercept's part with it.
func TestSquaredIsOverRows(t *testing.T) {
	x, _, _ := roundRows(t)
	f := &Frame{run: &Run{D: 3}, Signal: []float64{1, 1, 1}}
	from, to := []float64{0.1, -0.3, 0.2, 0.9}, []float64{0.6, 0.2, -0.5, 0.4}
	var want float64
	for i := range 8 {
		row := x.RawRowView(i)
		want += math.Pow(floats.Dot(row, to[:3])+to[3]-floats.Dot(row, from[:3])-from[3], 2) / 8
	}
	if got := squared(f, [][]float64{to}, [][]float64{from}); math.Abs(got-want) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
	f.wide = true // columns that aren't centred, for which the intercept makes up
	if got := squared(f, [][]float64{to}, [][]float64{from}); math.Abs(got-want+0.25) > 1e-12 {
		t.Errorf("%g without the intercept, want %g", got, want-0.25)
	}
}

// Noise that many columns may bring into scores is a twenty-fifth of what a slope's variance makes of them, but of classes, which bear as much as of few.
func TestManyColumnsBearLittleNoise(t *testing.T) {
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Logistic{}, losses.Poisson{}} {
		p := Problem{Loss: loss, Facts: Facts{LabelBound: 1, Intercept: true}, Mu: 1}
		l := startOf(p, 1000, Mean{Value: 0.1, Noise: 1e-3})
		want := 0.04 * l.Residual / (l.flattest() * l.flattest())
		if loss.Labels() == losses.Binary {
			want = 0.04 / 0.25
		}
		if got := l.bearable(p, true); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: %g is bearable, want %g", loss.Name(), got, want)
		}
	}
}
