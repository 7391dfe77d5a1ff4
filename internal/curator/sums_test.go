package curator

import (
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

func halvings(top float64) []float64 {
	return []float64{top, top / 2, top / 4, top / 8}
}

// rowEdges lie where rows do, with the constant 1 and without.
var rowEdges = []float64{1.5, 1.2, 1.05, 0.5}

func gradientAt(w []float64, clip float64) question {
	return question{len(w), func(t *testing.T, s *Sums) release.Answer {
		a, err := s.Gradient(ctx, w, clip)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}}
}

// questions are all vectors that can be asked of three columns under a loss.
func questions(loss losses.Loss, dim int) map[string]question {
	w := make([]float64, dim)
	w[0], w[1] = 0.5, -0.4
	list := map[string]question{
		"gradient":       gradientAt(w, noClip),
		"gradient, clip": gradientAt(w, 0.3),
		"gradient at 0":  gradientAt(make([]float64, dim), noClip),
		"gradient norms": {5, func(_ *testing.T, s *Sums) release.Answer { return s.GradientNorms(halvings(1), w) }},
		"row norms":      {5, func(_ *testing.T, s *Sums) release.Answer { return s.RowNorms(rowEdges) }},
		"lengths":        {4, func(_ *testing.T, s *Sums) release.Answer { return s.Lengths(halvings(sampleBound), nil) }},
		"lengths, labels": {8, func(_ *testing.T, s *Sums) release.Answer {
			return s.Lengths(halvings(sampleBound), halvings(sampleLabel))
		}},
		"moments":           momentsTo(dim, 0.5),
		"moments, no bound": momentsTo(dim, 9),
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

func momentsTo(dim int, longest float64) question {
	return question{dim * (dim + 1) / 2, func(t *testing.T, s *Sums) release.Answer {
		a, err := s.Moments(ctx, longest)
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
			all := questions(loss, dim)
			maps.Copy(all, framedQuestions())
			for name, q := range all {
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
			count := func(name string, bins, offset, size int, edges []float64, v float64) {
				k := 0
				for k < bins-1 && v <= edges[k] {
					k++
				}
				one := make([]float64, size)
				one[offset+k] = 1
				add(name, one, size)
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
				norm := floats.Norm(row, 2)
				count("gradient norms", 5, 0, 5, halvings(1), math.Abs(loss.Deriv(floats.Dot(row, w), y[i]))*norm)
				count("row norms", 5, 0, 5, rowEdges, norm)
				length := floats.Norm(row[:3], 2)
				count("lengths", 4, 0, 4, halvings(sampleBound)[1:], length)
				count("lengths, labels", 4, 0, 8, halvings(sampleBound)[1:], length)
				if loss.Labels() != losses.Binary {
					count("lengths, labels", 4, 4, 8, halvings(sampleLabel)[1:], math.Abs(y[i]))
				}
				for name, longest := range map[string]float64{"moments": 0.5, "moments, no bound": 9} {
					short := math.Min(1, longest/norm)
					var packed []float64
					for j := range dim {
						for k := j; k < dim; k++ {
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
			for name, q := range questions(loss, dim) {
				if name == "lengths, labels" && loss.Labels() == losses.Binary {
					continue // nobody asks
				}
				e := overheard(t, d.Rows(), q.ask(t, under(t, d, loss)), q.dim)
				if !near(e.Values, want[name], 1e-10) {
					t.Errorf("%s, %s, intercept %v: %v, want %v", loss.Name(), name, intercept, e.Values, want[name])
				}
			}
		}
	}
}

// A replaced row takes 1 from one count and adds it to another: √2, and 2 for two
// histograms, neither less by a rounding.
func TestHistogramSensitivities(t *testing.T) {
	d := newSample(rand.New(rand.NewPCG(1, 2)), 9, 3, losses.Real).open(t, false)
	for name, q := range questions(losses.Squared{}, 3) {
		want := map[string]float64{"gradient norms": math.Sqrt2, "row norms": math.Sqrt2, "lengths": math.Sqrt2, "lengths, labels": 2}[name]
		if want == 0 {
			continue
		}
		if e := overheard(t, d.Rows(), q.ask(t, under(t, d, losses.Squared{})), q.dim); e.L2 < want || e.L2*e.L2 < math.Round(want*want) || e.L2 > want*(1+1e-12) {
			t.Errorf("%s: sensitivity %.17g, want %.17g", name, e.L2, want)
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
