package dpglm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Steps fall from the bound, by a quarter octave down to an eighth, to where the
// comment of Auto says that the histograms end.
func TestSteps(t *testing.T) {
	for _, bound := range []float64{1, 1e-60, 1e60, math.Sqrt(13)} {
		edges := steps(bound)
		if len(edges) != cells || edges[0] != bound {
			t.Fatalf("%d steps from %g, want %d from %g", len(edges), edges[0], cells, bound)
		}
		for k, e := range edges[1:] {
			ratio, want := edges[k]/e, math.Exp2(0.25)
			if edges[k] < bound/8*(1+1e-9) {
				want = math.Sqrt2
			}
			if math.Abs(ratio-want) > 1e-9 {
				t.Errorf("step %d is a factor of %g, want %g", k+1, ratio, want)
			}
		}
		if last := bound / edges[cells-1]; last < 350 || last > 500 {
			t.Errorf("the last step is a %g-th of the bound", last)
		}
	}
}

// By exact counts the quantile is the smallest edge that enough values don't exceed.
func TestQuantileOfExactCounts(t *testing.T) {
	r, edges := rand.New(rand.NewPCG(61, 62)), steps(3)
	for range 300 {
		n, q := 1+r.IntN(200), r.Float64()
		values, counts := make([]float64, n), make([]float64, cells)
		for i := range values {
			values[i] = 3 * math.Exp2(-10*r.Float64()*r.Float64())
			k := 0
			for k+1 < cells && values[i] <= edges[k+1] {
				k++
			}
			counts[k]++
		}
		want := edges[0]
		for _, e := range edges {
			below := 0.0
			for _, v := range values {
				if v <= e {
					below++
				}
			}
			if below >= q*float64(n) {
				want = e
			}
		}
		if got := quantile(counts, edges, float64(n), q); got != want {
			t.Fatalf("quantile %g of %d values: %g, want %g", q, n, got, want)
		}
	}
}

// Noisy counts of rows that are all in one cell. A cumulated count, after they were
// moved to sum to n, has the standard deviation of at most 7 % of the rows that
// planScales aims at where the budget suffices, and not much less: the sum of squares
// of 400 errors follows a χ² law, and each of the two bounds fails with probability
// 1e-6. A quantile is off by more than a step only where a count near the middle is
// off by 40 % of the rows, or one near the end, which has half the noise, by 25 %:
// with probability below 1e-8 each time.
func TestNoisyQuantile(t *testing.T) {
	const runs, row = 400, 3.0
	shape := Shape{Rows: 2000, Dim: 3, FeatureBound: row}
	m := planScales(shape, losses.Real, 0.2)
	if m.mu > 0.06 || m.mu < 0.03 {
		t.Fatalf("takes %g", m.mu)
	}
	n, edges, src, sum := float64(shape.Rows), steps(row), mechanisms.NewSeededSource(63), 0.0
	for range runs {
		for _, c := range []struct {
			at int
			q  float64
		}{{11, 0.6}, {22, 0.75}} {
			counts := make([]float64, m.cells())
			counts[c.at] = n
			if err := (mechanisms.Gaussian{Mu: m.mu}).Release(counts, counts, m.sensitivity(), src); err != nil {
				t.Fatal(err)
			}
			counts = counts[:cells]
			if got := quantile(counts, edges, n, c.q); got < edges[c.at+1] || got > edges[c.at-1] {
				t.Errorf("all rows between %g and %g, quantile %g", edges[c.at+1], edges[c.at], got)
			}
			if c.at < cells/2 {
				off := (floats.Sum(counts[:cells/2]) - floats.Sum(counts[cells/2:]) - n) / 2 / (0.07 * n)
				sum += off * off
			}
		}
	}
	law := distuv.ChiSquared{K: runs}
	if sum > law.Quantile(1-1e-6) || sum < 0.9*0.9*law.Quantile(1e-6) {
		t.Errorf("the standard deviation is %.3f of the documented one", math.Sqrt(sum/runs))
	}
}

// The measurement takes between a tenth and 35 % of the budget's μ, more of a
// smaller one, or nothing where that would be too noisy.
func TestPlanScales(t *testing.T) {
	measured, least, most := 0, 1.0, 0.0
	for _, labels := range []losses.Labels{losses.Binary, losses.Real, losses.Count} {
		for _, mu := range []float64{1e-6, 0.01, 0.1, 1, 30} {
			for _, n := range []int{1, 10, 100, 1000, 30_000, 1e9} {
				s := Shape{Rows: n, Dim: 2, FeatureBound: 1, LabelBound: 1}
				m := planScales(s, labels, mu)
				want := 2
				if labels == losses.Binary {
					want = 1
				}
				sd := 2.45 * math.Sqrt(2*float64(want)) / mu / 0.35 / float64(n) // of a cumulated count, at the most that may be taken
				switch {
				case m == scales{}:
					if sd < 0.19 {
						t.Errorf("%v, μ = %g, n = %d: nothing measured, though to %.2f of the rows", labels, mu, n, sd)
					}
					continue
				case sd > 0.22:
					t.Errorf("%v, μ = %g, n = %d: measured to %.2f of the rows only", labels, mu, n, sd)
				case m.mu < 0.1*mu || m.mu > 0.35*mu || m.histograms != want || m.cells() != want*cells:
					t.Errorf("%v, μ = %g, n = %d: takes %g for %d histograms of %d cells", labels, mu, n, m.mu, m.histograms, m.cells())
				}
				measured, least, most = measured+1, min(least, m.mu/mu), max(most, m.mu/mu)
			}
		}
	}
	if measured < 30 || least > 0.1*1.001 || most < 0.35*0.999 {
		t.Errorf("%d measured, which take between %g and %g", measured, least, most)
	}
}

// What measure derives from histograms without noise: the scales of the rows and
// the labels, within a step above them, and bounds that never exceed the public
// ones.
func TestReleasedScales(t *testing.T) {
	const n, bound, label = 1000, 50.0, 40.0
	step := math.Exp2(0.25) * (1 + 1e-9)
	for _, c := range []struct {
		loss                 losses.Loss
		row, size            float64
		labelBound, typicalY float64 // in units of size
	}{
		{losses.Logistic{}, 2, 1, label, 0},
		{losses.Squared{}, 2, 3, 4, 1},
		{losses.Squared{}, 49, 39, label / 39, 1},
		{losses.Poisson{}, 2, 9, math.Exp2(0.25), 1},
		{losses.Poisson{}, 30, 0.2, 5, 5}, // held to 1
	} {
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		for i := range n {
			x.Set(i, i%2, c.row)
			y[i] = c.size
		}
		d, err := NewDataset(x, y, Bounds{Feature: bound, Label: label, Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		m := scales{mu: 1e6, histograms: 2}
		if c.loss.Labels() == losses.Binary {
			m.histograms = 1
		}
		got := measuredBy(t, m, d, c.loss, 64)
		within := func(what string, v, want float64) {
			if v < want*(1-1e-9) || v > want*step {
				t.Errorf("%s, rows of %g, labels of %g: %s %g, want between %g and %g", c.loss.Name(), c.row, c.size, what, v, want, want*step)
			}
		}
		within("typical row", got.typical.row, c.row)
		within("bound", got.bound, min(c.row*math.Exp2(0.25), bound/step))
		within("typical label", got.typical.label, c.typicalY*c.size)
		if c.loss.Labels() != losses.Binary {
			within("label bound", got.labelBound, min(c.labelBound*c.size, label))
		}
		if got.bound > bound || got.labelBound > label {
			t.Errorf("%s: bounds %g and %g beyond the public ones", c.loss.Name(), got.bound, got.labelBound)
		}
	}
}

// Scales of empty histograms, or of rows at zero, are the last step's: positive.
func TestScalesOfNothing(t *testing.T) {
	d, err := NewDataset(mat.NewDense(100, 1, nil), make([]float64, 100), Bounds{Feature: 1, Label: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := measuredBy(t, scales{mu: 1e6, histograms: 2}, d, losses.Squared{}, 65)
	if last := steps(1)[cells-1]; got.typical.row != last || got.bound <= last || got.labelBound != 4*last {
		t.Errorf("rows at zero: %s", fmt.Sprint(got))
	}
}

// measuredBy are the scales of a data set by a schedule of their own.
func measuredBy(t *testing.T, m scales, d *Dataset, loss losses.Loss, seed uint64) measured {
	t.Helper()
	schedule, err := m.schedule()
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.measure(d.data, d.Shape(), loss, schedule.Allow(d.data.Rows(), mechanisms.NewSeededSource(seed)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}
