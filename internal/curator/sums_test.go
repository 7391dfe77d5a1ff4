package curator

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// question is asked of data; its answer has so many numbers.
type question struct {
	dim int
	ask func(t *testing.T, s *Sums) release.Answer
}

// rowEdges lie where rows do, and their gradients.
var rowEdges = []float64{0.8, 0.5, 0.35, 0.2}

var testSlope = Slope{Clip: 0.3, Constant: 0.5}

func gradientAt(w []float64, clip float64) question {
	return question{len(w), func(t *testing.T, s *Sums) release.Answer {
		a, err := s.Gradient(ctx, w, clip)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}}
}

// vectors are all vectors that can be asked of three columns under a loss.
func vectors(loss losses.Loss, dim int) map[string]question {
	w := make([]float64, dim)
	w[0], w[1] = 0.5, -0.4
	list := map[string]question{
		"gradient":          gradientAt(w, noClip),
		"gradient, clip":    gradientAt(w, 0.3),
		"gradient at 0":     gradientAt(make([]float64, dim), noClip),
		"labels":            labelsAsked(len(LabelSteps(loss.Labels(), sampleLabel))),
		"lengths":           framed(5, func(r *Framed) (release.Answer, error) { return r.Lengths(ctx, rowEdges) }),
		"gradient norms":    framed(5, func(r *Framed) (release.Answer, error) { return r.GradientNorms(ctx, rowEdges, w[:3], 0.1, testSlope) }),
		"slopes":            framed(5, func(r *Framed) (release.Answer, error) { return r.Slopes(ctx, rowEdges, w[:3], 0.1, Ends{}) }),
		"framed gradient":   framed(4, func(r *Framed) (release.Answer, error) { return r.Gradient(ctx, w[:3], 0.1, testSlope) }),
		"sum":               framed(3, func(r *Framed) (release.Answer, error) { return r.Sum(ctx, 0.4) }),
		"squares":           framed(3, func(r *Framed) (release.Answer, error) { return r.Squares(ctx) }),
		"moments":           framed(6, func(r *Framed) (release.Answer, error) { return r.Moments(ctx, 0.5) }),
		"moments, no bound": framed(6, func(r *Framed) (release.Answer, error) { return r.Moments(ctx, sampleBound) }),
	}
	if _, ok := loss.(losses.Squared); ok {
		list["gradients by moments"] = question{dim, func(t *testing.T, s *Sums) release.Answer {
			f, err := s.Gradients(ctx, noClip, 1000)
			if err != nil {
				t.Fatal(err)
			}
			a, err := f(w)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}}
	}
	return list
}

// framed asks of the rows as they are.
func framed(dim int, ask func(r *Framed) (release.Answer, error)) question {
	return question{dim, func(t *testing.T, s *Sums) release.Answer {
		r, err := s.Frame(ctx, Frame{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := ask(r)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}}
}

// No replaced row moves an answer by more than it declares, which is the same for
// either neighbour; and some row moves each by a good part of that.
func TestDeclaredSensitivities(t *testing.T) {
	for _, loss := range every {
		for _, intercept := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, 8))
			base := newSample(r, 12, 3, loss.Labels())
			dim := base.open(t, intercept).Facts().Dim
			all := vectors(loss, dim)
			maps.Copy(all, framedQuestions())
			for name, q := range all {
				r := rand.New(rand.NewPCG(7, 9)) // one for each, as a map has no order
				worst, declared := 0.0, math.NaN()
				for k := range 60 {
					a, b := base, base.neighbour(r, k%12, loss.Labels())
					if k%2 == 1 {
						a = base.neighbour(r, k%12, loss.Labels()) // two far rows
					}
					var e [2]release.Event
					for side, s := range []sample{a, b} {
						d := s.open(t, intercept)
						e[side] = overheard(t, d.Rows(), q.ask(t, under(t, d, loss)), q.dim)
					}
					if e[0].L2 != e[1].L2 {
						t.Fatalf("%s, %s: sensitivities %g and %g of neighbours", loss.Name(), name, e[0].L2, e[1].L2)
					}
					declared = e[0].L2
					worst = math.Max(worst, floats.Distance(e[0].Values, e[1].Values, 2))
				}
				if worst > declared || worst < 0.3*declared {
					t.Errorf("%s, %s, intercept %v: neighbours move it by %g, declared %g", loss.Name(), name, intercept, worst, declared)
				}
			}
		}
	}
}

// Sensitivities are those at the w and for the clip that are asked about, by the loss's
// own constants: for real labels they grow with ‖w‖.
func TestGradientSensitivityIsOfTheQuestion(t *testing.T) {
	d := newSample(rand.New(rand.NewPCG(1, 2)), 9, 3, losses.Real).open(t, false)
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Huber{Kappa: 0.7}} {
		s := under(t, d, loss)
		for _, r := range []float64{0, 0.5, 4} {
			for _, clip := range []float64{0.1, 0.5, 3, noClip} {
				e := overheard(t, d.Rows(), gradientAt([]float64{0, r, 0}, clip).ask(t, s), 3)
				want := math.Min(2*clip, sampleBound*loss.Diameter(sampleBound*r, sampleLabel))
				if e.L2 < want || e.L2 > want*(1+1e-9) {
					t.Errorf("%s, ‖w‖ = %g, clip %g: sensitivity %g, want %g", loss.Name(), r, clip, e.L2, want)
				}
			}
		}
	}
	by, err := under(t, d, losses.Squared{}).Gradients(ctx, noClip, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []float64{4, 0, 0.5} { // in any order
		answer, err := by([]float64{0, r, 0})
		if err != nil {
			t.Fatal(err)
		}
		want := sampleBound * losses.Squared{}.Diameter(sampleBound*r, sampleLabel)
		if e := overheard(t, d.Rows(), answer, 3); e.L2 < want || e.L2 > want*(1+1e-9) {
			t.Errorf("by moments, ‖w‖ = %g: sensitivity %g, want %g", r, e.L2, want)
		}
	}
}

// Gradients by second moments read no rows, and end with their context all the same.
func TestGradientsByMomentsEnd(t *testing.T) {
	d := newSample(rand.New(rand.NewPCG(1, 2)), 9, 3, losses.Real).open(t, false)
	begun, end := context.WithCancel(t.Context())
	by, err := under(t, d, losses.Squared{}).Gradients(begun, noClip, 1000)
	if err != nil {
		t.Fatal(err)
	}
	end()
	if _, err := by([]float64{0, 1, 0}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// However many questions are announced, gradients with a clip are clipped.
func TestManyGradientsAreClipped(t *testing.T) {
	d := newSample(rand.New(rand.NewPCG(1, 2)), 9, 3, losses.Real).open(t, false)
	s, w := under(t, d, losses.Squared{}), []float64{0.5, -0.4, 2}
	for _, clip := range []float64{0.05, 0.3} {
		by, err := s.Gradients(ctx, clip, 1000)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := by(w)
		if err != nil {
			t.Fatal(err)
		}
		got, want := overheard(t, d.Rows(), answer, 3), overheard(t, d.Rows(), gradientAt(w, clip).ask(t, s), 3)
		if !near(got.Values, want.Values, 1e-12) || got.L2 != want.L2 {
			t.Errorf("clip %g: %v moves by %g, one question %v by %g", clip, got.Values, got.L2, want.Values, want.L2)
		}
	}
}

// Answers are what loops over the bounded rows say.
func TestAnswersByLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, loss := range every {
		for _, intercept := range []bool{false, true} {
			s, constant := newSample(r, 40, 3, loss.Labels()), 0.0
			if intercept {
				constant = 1
			}
			d := s.open(t, intercept)
			x, y := s.bounded(loss.Labels(), sampleBound, constant, sampleLabel)
			dim := len(x[0])
			want := map[string][]float64{}
			add := func(name string, v []float64, size int) {
				if want[name] == nil {
					want[name] = make([]float64, size)
				}
				if v != nil {
					floats.Add(want[name], v)
				}
			}
			count := func(name string, v float64) {
				k := 0
				for k < len(rowEdges) && v <= rowEdges[k] {
					k++
				}
				one := make([]float64, 5)
				one[k] = 1
				add(name, one, 5)
			}
			w := make([]float64, dim)
			w[0], w[1] = 0.5, -0.4
			for i, row := range x {
				for name, at := range map[string][]float64{"gradient": w, "gradient, clip": w, "gradient at 0": make([]float64, dim), "gradients by moments": w} {
					g := make([]float64, dim)
					vector.AddScaled(g, loss.Deriv(floats.Dot(row, at), y[i]), row)
					if n := floats.Norm(g, 2); name == "gradient, clip" && n > 0.3 {
						floats.Scale(0.3/n, g)
					}
					add(name, g, dim)
				}
				label := y[i]
				if loss.Labels() == losses.Binary {
					label = math.Max(label, 0)
				}
				places := []float64{label}
				if loss.Labels() == losses.Count { // in steps of 1 and .5
					places = []float64{math.Min(label, 1), math.Max(label-1, 0) / (sampleLabel - 1)}
				}
				add("labels", places, len(places))
				features := row[:3]
				length := floats.Norm(features, 2)
				count("lengths", length)
				slope := loss.Deriv(floats.Dot(features, w[:3])+0.1, y[i])
				whole := math.Abs(slope) * math.Hypot(length, testSlope.Constant)
				count("gradient norms", whole)
				count("slopes", slope)
				g := append(append([]float64(nil), features...), testSlope.Constant)
				floats.Scale(slope*math.Min(1, testSlope.Clip/whole), g)
				add("framed gradient", g, 4)
				short, squares := append([]float64(nil), features...), make([]float64, 3)
				floats.Scale(math.Min(1, 0.4/length), short)
				add("sum", short, 3)
				floats.MulTo(squares, features, features)
				add("squares", squares, 3)
				for name, normBound := range map[string]float64{"moments": 0.5, "moments, no bound": sampleBound} {
					short := math.Min(1, normBound/length)
					var packed []float64
					for j := range features {
						for k := j; k < len(features); k++ {
							v := row[j] * row[k] * short * short
							if k > j {
								v *= math.Sqrt2
							}
							packed = append(packed, v)
						}
					}
					add(name, packed, len(packed))
				}
			}
			for name, q := range vectors(loss, dim) {
				e := overheard(t, d.Rows(), q.ask(t, under(t, d, loss)), q.dim)
				if !near(e.Values, want[name], 1e-10) {
					t.Errorf("%s, %s, intercept %v: %v, want %v", loss.Name(), name, intercept, e.Values, want[name])
				}
			}
		}
	}
}

// Packed moments unpack to the matrix that they are of.
func TestUnpack(t *testing.T) {
	m := Unpack([]float64{1, 2 * math.Sqrt2, 3 * math.Sqrt2, 4, 5 * math.Sqrt2, 6}, 3)
	for i, row := range [][]float64{{1, 2, 3}, {2, 4, 5}, {3, 5, 6}} {
		for j, want := range row {
			if math.Abs(m.At(i, j)-want) > 1e-14 {
				t.Errorf("entry %d, %d is %g, want %g", i, j, m.At(i, j), want)
			}
		}
	}
}

// Scores are sums of capped losses, plus public offsets, each with its own cap as
// sensitivity; errors are counted one by one.
func TestScoresByLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, loss := range every {
		s := newSample(r, 25, 3, loss.Labels())
		d := s.open(t, true)
		x, y := s.bounded(loss.Labels(), sampleBound, 1, sampleLabel)
		models := [][]float64{{0, 0, 0, 0}, {1, -2, 0.5, 3}, {-40, 30, 20, -10}}
		caps, offsets := []float64{0.3, 2, 50}, []float64{0, 17, -3}
		want, wrong := append([]float64(nil), offsets...), make([]float64, 3)
		for i, row := range x {
			for j, w := range models {
				z := floats.Dot(row, w)
				want[j] += math.Max(0, math.Min(caps[j], loss.Value(z, y[i])))
				if (z > 0) != (y[i] > 0) {
					wrong[j]++
				}
			}
		}
		sums := under(t, d, loss)
		answer, err := sums.Losses(ctx, models, caps, offsets)
		if err != nil {
			t.Fatal(err)
		}
		e := overheardScores(t, d.Rows(), answer)
		if !near(e.Values, want, 1e-9) {
			t.Errorf("%s: scores %v, want %v", loss.Name(), e.Values, want)
		}
		for j, c := range caps {
			if e.Each[j] < c || e.Each[j] > c*(1+1e-9) {
				t.Errorf("%s: score %d moves by %g, declared for the cap %g", loss.Name(), j, e.Each[j], c)
			}
		}
		if loss.Labels() != losses.Binary {
			continue
		}
		if answer, err = sums.Errors(ctx, models); err != nil {
			t.Fatal(err)
		}
		if e := overheardScores(t, d.Rows(), answer); !near(e.Values, wrong, 0) || !near(e.Each, []float64{1, 1, 1}, 0) {
			t.Errorf("%s: %v errors with sensitivities %v, want %v", loss.Name(), e.Values, e.Each, wrong)
		}
	}
}

// An offset that is large beside the losses rounds their sum: neighbours' scores are
// as far apart as the roundings, which the sensitivity has room for.
func TestOffsetsRound(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	loss, models, caps := losses.Squared{}, [][]float64{{0.5, 1, 0}}, []float64{0.8}
	moved := 0
	for k := range 200 {
		base := newSample(r, 6, 3, losses.Real)
		offset := []float64{math.Ldexp(1+r.Float64(), 50+k%8)}
		var e [2]release.Event
		for side, s := range []sample{base, base.neighbour(r, 2, losses.Real)} {
			d := s.open(t, false)
			answer, err := under(t, d, loss).Losses(ctx, models, caps, offset)
			if err != nil {
				t.Fatal(err)
			}
			e[side] = overheardScores(t, d.Rows(), answer)
		}
		apart := math.Abs(e[0].Values[0] - e[1].Values[0])
		if apart > e[0].Each[0] {
			t.Fatalf("offset %g: scores are %g apart, declared %g", offset[0], apart, e[0].Each[0])
		}
		if apart > caps[0] {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no pair shows the rounding")
	}
}

func labelsAsked(dim int) question {
	return question{dim, func(t *testing.T, s *Sums) release.Answer {
		a, err := s.Labels(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}}
}
