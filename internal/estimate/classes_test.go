package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var logisticLoss = losses.Logistic{}

// The gradient along a line of several classes is the derivative of their mean log-loss in its coordinate;
// below the least factor it is the one there. Each row's part is held to the clip.
func TestFactoredGradient(t *testing.T) {
	const n, d, k, r = 60, 3, 4, 1.7
	random := rand.New(rand.NewPCG(6, 1))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, random.NormFloat64())
		}
		y[i] = float64(random.IntN(k))
	}
	schedule, err := release.Pool("line", 1e9, 64, 64) // without noise to speak of
	if err != nil {
		t.Fatal(err)
	}
	data, err := curator.Open(x, y, curator.NewIdentity(d, 20, true), k-1, 0)
	if err != nil {
		t.Fatal(err)
	}
	allow := schedule.Allow(data.Rows(), mechanisms.NewSeededSource(1))
	classes, err := data.Classes(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	framed, err := classes.Frame(t.Context(), curator.Frame{})
	if err != nil {
		t.Fatal(err)
	}
	start, to := make([][]float64, k), make([][]float64, k)
	for c := range to {
		for range d + 1 {
			start[c] = append(start[c], random.NormFloat64()/2)
			to[c] = append(to[c], random.NormFloat64())
		}
	}
	loss := func(factor float64, i int) float64 {
		at, z := between(start, to, factor), make([]float64, k)
		for c, of := range at {
			z[c] = floats.Dot(of[:d], x.RawRowView(i)) + of[d]
		}
		return floats.LogSumExp(z) - z[int(y[i])]
	}
	for _, c := range []struct{ factor, clip float64 }{{0.3, 1e3}, {1, 1e3}, {2.2, 1e3}, {-1, 1e3}, {0.3, 0.4}, {1, 0.4}, {2.2, 0.4}} {
		factor := c.factor
		a, by, err := factored{framed, start, to, r}.gradient(t.Context(), point([]float64{factor * r}, 0), curator.Slope{Clip: c.clip})
		if err != nil {
			t.Fatal(err)
		}
		g, err := allow.Draw(0.1, a)
		if err != nil {
			t.Fatal(err)
		}
		at, h := math.Max(factor, leastFactor), 1e-5
		want := 0.0
		for i := range n {
			want += math.Min(math.Max((loss(at+h, i)-loss(at-h, i))/(2*h*r), -c.clip), c.clip) / n
		}
		if got := by * g[0] / n; math.Abs(got-want) > 1e-4 {
			t.Errorf("%+v: %g, want %g", c, got, want)
		}
	}
}

// The mean of rare labels is known to a quarter of the rarer class's fraction, for as much of the
// budget as that takes up to a fifth, and all is spent where that isn't half enough.
func TestMeanOfRareLabels(t *testing.T) {
	const n = 20_000
	for _, c := range []struct {
		ones  int
		mu    float64
		spent bool
	}{{8000, 0.05, false}, {400, 0.05, false}, {60, 0.05, true}, {60, 2, false}} {
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		for i := range c.ones {
			y[i] = 1
		}
		run := open(t, 5, x, y, c.mu)
		l, err := run.Start()
		if err != nil {
			t.Fatal(err)
		}
		if spent := run.Pool.Spent(); spent != c.spent || !spent && (l.Noise > l.Minority/2 || 1-run.Pool.Left > 0.2001) || l.Noise > l.Minority/4 && !spent && 1-run.Pool.Left < 0.1999 {
			t.Errorf("%+v: %g of the budget is left, a fraction of %g with noise of %g", c, run.Pool.Left, l.Minority, l.Noise)
		}
	}
}
