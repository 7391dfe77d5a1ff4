package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
)

// In coordinates in which rows are round, those of a level of a fraction q are √((1−q)/q) long on
// average. Shortened, none is longer than the bound, and scores are as they were.
func TestShorten(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(3, 4))
	x, y := mat.NewDense(n, 4, nil), make([]float64, n)
	for i := range n {
		age := r.Float64()
		x.Set(i, 0, age)
		switch u := r.Float64(); {
		case u < 0.01:
			x.Set(i, 1, 1)
		case u < 0.4+0.2*age: // levels and numbers go together
			x.Set(i, 2, 1)
		case u < 0.98:
			x.Set(i, 3, 1)
		}
	}
	enc, err := curator.NewSchema([]string{"age", "a", "b", "c"}, map[string][2]float64{"age": {0, 1}}, map[string][]string{"g": {"a", "b", "c"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	d, err := curator.Open(x, y, enc, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := d.Under(losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	centre, encoded := make([]float64, 4), mat.NewDense(n, 4, nil)
	encoded.Copy(x)
	for i := range n {
		encoded.Set(i, 0, 2*x.At(i, 0)-1) // as the schema maps it
		floats.AddScaled(centre, 1.0/n, encoded.RawRowView(i))
	}
	moments := mat.NewSymDense(4, nil)
	for i := range n {
		floats.Sub(encoded.RawRowView(i), centre)
		moments.SymRankOne(moments, 1.0/n, mat.NewVecDense(4, encoded.RawRowView(i)))
	}
	var e mat.EigenSym
	if !e.Factorize(moments, true) {
		t.Fatal("no eigenvectors")
	}
	axes := new(mat.Dense)
	e.VectorsTo(axes)
	for k, v := range e.Values(nil) {
		for j := range 4 {
			axes.Set(j, k, axes.At(j, k)/math.Sqrt(v))
		}
	}
	task := Task{Ctx: t.Context(), Levels: func() [][]int { return [][]int{{1, 2, 3}} }}
	run := &Run{Problem: Problem{Mu: 0.1}, Task: task, Sums: sums, N: n, D: 4}
	s := &Frame{run: run, At: curator.Frame{Centre: centre, Matrix: axes}, Signal: []float64{1, 1, 1, 1}}
	lengths := func() (list []float64) {
		rows, err := s.levelRows()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range rows {
			list = append(list, floats.Norm(a, 2))
		}
		return list
	}
	before := lengths()
	for k, q := range []float64{centre[1], centre[2], centre[3], 1 - centre[1] - centre[2] - centre[3]} {
		if want := math.Sqrt((1 - q) / q); math.Abs(before[k]-want) > 1e-6*want {
			t.Errorf("rows of level %d, of %.3g of all, are %.4g long, not %.4g", k, q, before[k], want)
		}
	}
	weights := []float64{1, -2, 0.5, 3}
	score := func(u []float64) float64 { // of a row of the rare level
		var z mat.VecDense
		z.MulVec(s.At.Matrix, mat.NewVecDense(4, u))
		return z.AtVec(1)
	}
	was := score(weights)
	short, err := s.Shorten(3)
	if err != nil {
		t.Fatal(err)
	}
	if now := score(short.Stretch(weights)); math.Abs(now-was) > 1e-9*math.Abs(was) {
		t.Errorf("a score was %g and is %g", was, now)
	}
	// In coordinates that aren't round levelRows doesn't tell: rows themselves do.
	var means [4][]float64
	var count [4]float64
	for k := range means {
		means[k] = make([]float64, 4)
	}
	for i := range n {
		k := 3
		for j := range 3 {
			if x.At(i, j+1) == 1 {
				k = j
			}
		}
		var at mat.VecDense
		at.MulVec(s.At.Matrix.T(), mat.NewVecDense(4, encoded.RawRowView(i)))
		floats.Add(means[k], at.RawVector().Data)
		count[k]++
	}
	for k := range means {
		floats.Scale(1/count[k], means[k])
		if length, want := floats.Norm(means[k], 2), math.Min(before[k], 3); length > want*(1+1e-6) || length < 0.9*want {
			t.Errorf("rows of level %d are %.4g long, not %.4g", k, length, want)
		}
	}
	if again, err := s.Shorten(1e3); again != nil || err != nil {
		t.Errorf("nothing is longer than 1000: %v (%v)", again, err)
	}
}
