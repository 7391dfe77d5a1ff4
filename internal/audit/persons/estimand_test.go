package persons_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// informed are visits whose number says something of the label: who comes often is unlike others.
func informed(persons int) (v visits, sizes []int) {
	r := rand.New(rand.NewPCG(31, 32))
	var x []float64
	for p := range persons {
		z := r.NormFloat64()
		n := 1 + int(math.Min(7, math.Exp(0.8*z)))
		for range n {
			a := 0.8 * (r.Float64()*2 - 1)
			x = append(x, a)
			label := 0.0
			if r.Float64() < 1/(1+math.Exp(-(0.6*z+(1+0.5*z)*a))) {
				label = 1
			}
			v.y, v.persons = append(v.y, label), append(v.persons, p)
		}
		sizes = append(sizes, n)
	}
	v.x = mat.NewDense(len(v.y), 1, x)
	return v, sizes
}

// minimiser is the slope and intercept of logistic regression on weighted rows, by Newton's steps.
func (v visits) minimiser(weight func(i int) float64) (w [2]float64) {
	for range 30 {
		var g, h [3]float64
		for i, y := range v.y {
			a := v.x.At(i, 0)
			p := 1 / (1 + math.Exp(-(w[0]*a + w[1])))
			c := weight(i) * p * (1 - p)
			g[0], g[1] = g[0]+weight(i)*(p-y)*a, g[1]+weight(i)*(p-y)
			h[0], h[1], h[2] = h[0]+c*a*a, h[1]+c*a, h[2]+c
		}
		det := h[0]*h[2] - h[1]*h[1]
		w[0] -= (h[2]*g[0] - h[1]*g[1]) / det
		w[1] -= (h[0]*g[1] - h[1]*g[0]) / det
	}
	return w
}

// What is estimated is what the promise's line says: as the budget grows, the fit of all rows alike, or
// of persons alike, of whom those with many rows are unlike those with few. Learners who clip nothing of persons get there too.
func TestEstimandOfPersons(t *testing.T) {
	v, sizes := informed(3000)
	each := v.minimiser(func(int) float64 { return 1 })
	alike := v.minimiser(func(i int) float64 { return 1 / float64(sizes[v.persons[i]]) })
	if math.Abs(each[0]-alike[0]) < 0.1 || math.Abs(each[1]-alike[1]) < 0.1 {
		t.Fatalf("%v and %v are too much alike", each, alike)
	}
	for name, l := range map[string]dpglm.Learner{"Auto": dpglm.AutoConfig{}, "StandardisedGD": dpglm.StandardisedGDConfig{}, "Infer": dpglm.InferConfig{},
		"NoisyGD": dpglm.NoisyGDConfig{Steps: 300, StepSize: 4, Clip: dpglm.NoClip, Output: dpglm.LastIterate}} {
		for k, want := range [][2]float64{each, alike} {
			persons := dpglm.Persons{Of: v.persons, Count: 3000, MaxRows: 8, Alike: k == 1}
			d, err := dpglm.NewDataset(v.x, v.y, dpglm.Bounds{Feature: 1, Intercept: true}, persons, given.Ordered(9))
			if err != nil {
				t.Fatal(err)
			}
			p := dpglm.Problem{Loss: losses.Logistic{}}
			if name == "NoisyGD" {
				p.Radius = 10
			}
			m, _ := given.Fit(t, l, d, p, dpglm.GDP(1e7), 3)
			w := m.Weights()[0]
			if math.Abs(w[0]-want[0]) > 0.01 || math.Abs(w[1]-want[1]) > 0.01 {
				t.Errorf("%s: %v, want %v", name, w, want)
			}
		}
	}
}

// Of the persons who are stated five in six have no rows. They are in no mean: predictions have that of labels, with
// a budget for no more than the constant model, too.
func TestPersonsWithoutRowsAreInNoMean(t *testing.T) {
	const n = 2000
	r := rand.New(rand.NewPCG(41, 42))
	x, y, of, mean := mat.NewDense(n, 1, nil), make([]float64, n), make([]int, n), 0.0
	for i := range y {
		of[i] = i
		x.Set(i, 0, r.Float64()*2-1)
		y[i] = 4 + x.At(i, 0) + 0.3*r.NormFloat64()
		mean += y[i] / n
	}
	for name, c := range map[string]struct {
		learner dpglm.Learner
		loss    losses.Loss
	}{
		"Auto": {dpglm.AutoConfig{}, losses.Squared{}}, "Auto, absolute": {dpglm.AutoConfig{}, losses.Absolute{}},
		"Noisy GD": {dpglm.NoisyGDConfig{}, losses.Squared{}}, "Frank-Wolfe": {dpglm.FrankWolfeConfig{}, losses.Squared{}},
		"Infer": {dpglm.InferConfig{}, losses.Squared{}}, "a constant": {nil, losses.Squared{}},
	} {
		for _, alike := range []bool{true, false} {
			learner, budget, draws, most := c.learner, dpglm.GDP(0.1), 12, 0.8
			if learner == nil { // 45 are what a model of features takes; the mean has noise of 3 then, and is drawn to 0 for it
				learner, budget, draws, most = dpglm.AutoConfig{}, dpglm.GDP(40.0/(6*n)), 60, 2.6
			}
			off := -mean
			for seed := range draws {
				d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 2, Label: 10, Intercept: true}, dpglm.Persons{Of: of, Count: 6 * n, MaxRows: 2, Alike: alike}, given.Ordered(9))
				if err != nil {
					t.Fatal(err)
				}
				m, _ := given.Fit(t, learner, d, dpglm.Problem{Loss: c.loss}, budget, uint64(seed))
				means, err := m.Means(x)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range means {
					off += v / float64(n*draws)
				}
			}
			if math.Abs(off) > most {
				t.Errorf("%s, alike %v: predictions are off by %.2g on average", name, alike, off)
			}
		}
	}
}

// TestInterceptsAllowForPersonsWhoAreHidden draws persons of whom one in two hundred has 50 rows and most have one, and whose labels rise with their numbers of
// rows: what the clip cuts off of the longest lies to one side, and noise hides how many there are. Of 60 intervals of an intercept 55 hold it; 46 at least are to, as do of
// intervals that hold nine of ten but for one test in a thousand. Where nothing was allowed for these persons 38 did.
func TestInterceptsAllowForPersonsWhoAreHidden(t *testing.T) {
	const fits, persons, wanted = 60, 4000, 46
	drawn := func(seed uint64, n int) (y []float64, of []int) {
		r := rand.New(rand.NewPCG(seed, 6))
		for p := range n {
			rows := min(max(math.Round(math.Exp(1.5*r.NormFloat64())), 1), 50)
			own := 1 + 0.5*math.Log(rows) + 0.7*r.NormFloat64()
			for range int(rows) {
				y, of = append(y, own+r.NormFloat64()), append(of, p)
			}
		}
		return y, of
	}
	all, _ := drawn(999, 200_000)
	truth, held := floats.Sum(all)/float64(len(all)), 0
	for seed := range uint64(fits) {
		y, of := drawn(seed, persons)
		facts := dpglm.Schema{Columns: []string{"a"}, Numeric: map[string][2]float64{"a": {-5, 5}}, LabelRange: [2]float64{-10, 10}, Intercept: true}
		x, r := mat.NewDense(len(y), 1, nil), rand.New(rand.NewPCG(seed, 7))
		for i := range y {
			x.Set(i, 0, r.NormFloat64())
		}
		d, err := dpglm.NewDataset(x, y, facts, dpglm.Persons{Of: of, Count: persons, MaxRows: 50}, given.Ordered(seed))
		if err != nil {
			t.Fatal(err)
		}
		found, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Squared{}}, dpglm.ApproxDP(4, 1e-6), dpglm.InferConfig{}, given.Seeded(seed))
		if err != nil {
			t.Fatal(err)
		}
		if c := found.Coefficients()[1]; c.Low <= truth && truth <= c.High {
			held++
		}
	}
	t.Logf("%d of %d", held, fits)
	if held < wanted {
		t.Errorf("%d of %d intervals hold an intercept of %.3g, want %d", held, fits, truth, wanted)
	}
}
