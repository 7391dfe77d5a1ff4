package main

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm"
)

// The excess risk in closed form is the mean loss over the rows less its least value.
func TestExcessIsThatOfTheRows(t *testing.T) {
	b, ok := worst(1000, 16, 2, 0.03)
	if !ok || b.count != 16 || b.rows != 30 {
		t.Fatalf("%v, %v", b, ok)
	}
	block := b.labels()
	meanLoss := func(w []float64) float64 {
		sum := 0.0
		for _, v := range w[:b.count] {
			for _, y := range block {
				sum += (v - y) * (v - y) / 2
			}
		}
		return sum / float64(b.n)
	}
	best, other := make([]float64, 16), make([]float64, 16)
	for j := range best {
		best[j], other[j] = b.mean(), 0.1*float64(j)-0.7
	}
	if got, want := b.excess(other), meanLoss(other)-meanLoss(best); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}

	v, ok := divided(1000, 16, 8, 2, 0.1)
	if !ok || v.rows != 125 || v.most != 69 {
		t.Fatalf("%v, %v", v, ok)
	}
	meanLoss = func(w []float64) float64 {
		sum := 0.0
		for _, z := range w[:v.rank] {
			for i := range v.rows {
				y := v.end()
				if i >= v.most {
					y = -y
				}
				sum += math.Abs(z - y)
			}
		}
		return sum / float64(v.n)
	}
	for j := range best {
		best[j] = v.end()
	}
	if got, want := v.excess(other), meanLoss(other)-meanLoss(best); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}

// Labels are within [-1, 1], and their mean makes the minimiser's norm exactly B.
func TestMinimisersHaveTheNorm(t *testing.T) {
	for _, radius := range []float64{0.1, 1, 3.9} {
		for _, h := range []float64{0.001, 0.02, 0.0625} {
			b, ok := worst(4000, 16, radius, h)
			if !ok {
				t.Fatalf("B = %g, h = %g: no instance", radius, h)
			}
			sum := 0.0
			for _, y := range b.labels() {
				if math.Abs(y) > 1 {
					t.Errorf("%v: a label is %g", b, y)
				}
				sum += y
			}
			mean := sum / float64(b.rows)
			if norm := math.Abs(mean) * math.Sqrt(float64(b.count)); math.Abs(norm-radius) > 1e-12 {
				t.Errorf("%v: the norm is %g, want %g", b, norm, radius)
			}
			if b.count*b.rows > b.n {
				t.Errorf("%v: more than %d rows", b, b.n)
			}
		}
	}
	if b, ok := worst(4000, 16, 5, 0.01); ok {
		t.Errorf("%v: labels of 1 can't have a minimiser of norm 5 in 16 dimensions", b)
	}
}

// Theorem 4's instance has d blocks of few rows below the corner, and all rows above it.
func TestTheorem4(t *testing.T) {
	low, ok := theorem4(4000, 16, 1, 1)
	if !ok || low.count != 16 || low.rows != 4 { // p = 64/4000
		t.Errorf("%v, %v", low, ok)
	}
	high, ok := theorem4(8000, 1024, 1, 1)
	if !ok || high.count != 400 || high.rows != 20 {
		t.Errorf("%v, %v", high, ok)
	}
	if got, want := lowerBound(8000, 1024), 1/(256*400.); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("the lower bound is %g, want %g", got, want)
	}
}

// Without noise the library's Algorithm 1 and the one written after the paper are the same.
func TestDescentIsThePapers(t *testing.T) {
	b, ok := worst(500, 8, 1, 0.03)
	if !ok {
		t.Fatal("no instance")
	}
	got, err := learn(descent(b.n, b.d), b, b.problem(), dpglm.GDP(1e8), 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := paperDescent(b, math.Inf(1), 1); math.Abs(got/want-1) > 1e-5 {
		t.Errorf("%v, want %v", got, want)
	}
}

// A sample has rows and labels in the population's shares.
func TestSampledRows(t *testing.T) {
	b, ok := worst(20_000, 4, 1, 0.2)
	if !ok {
		t.Fatal("no instance")
	}
	data, err := sampled{b, 1}.data()
	if err != nil {
		t.Fatal(err)
	}
	if s := data.Shape(); s.Rows != 20_000 || s.Dim != 4 {
		t.Errorf("%+v", s)
	}
	// Its minimiser is near the population's: each coordinate has an error of about 1/√4000.
	model, err := learn(dpglm.OutputPerturbationConfig{Lambda: 1e-6}, sampled{b, 1}, b.problem(), dpglm.GDP(1e8), 1)
	if err != nil {
		t.Fatal(err)
	}
	if model > 4*0.1/4000*5 {
		t.Errorf("the sample's minimiser has an excess risk of %g", model)
	}
}
