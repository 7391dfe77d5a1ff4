package curator

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var (
	ctx    = context.Background()
	noClip = math.Inf(1)
)

// listener is a source that sees an answer before its noise.
type listener struct {
	mechanisms.Source
	heard *release.Event
}

func (l listener) Record(e *release.Event) {
	*l.heard = *e
	l.heard.Values = slices.Clone(e.Values)
}

// overheard is what the door says of a vector of dim numbers from rows: the numbers
// and their declared sensitivity.
func overheard(t *testing.T, rows *release.Rows, x release.Answer, dim int) release.Event {
	t.Helper()
	schedule, err := release.Gaussian("overheard", 1, 1, dim)
	if err != nil {
		t.Fatal(err)
	}
	l := listener{mechanisms.NewSeededSource(1), new(release.Event)}
	if _, err := schedule.Anew().Allow(rows, l).AddNoise(x); err != nil {
		t.Fatal(err)
	}
	return *l.heard
}

// overheardScores is the same for scores to select by.
func overheardScores(t *testing.T, rows *release.Rows, x release.Answer) release.Event {
	t.Helper()
	schedule, err := release.Selection("overheard", mechanisms.GeneralizedExponential{Epsilon: 1, Beta: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	l := listener{mechanisms.NewSeededSource(1), new(release.Event)}
	if _, err := schedule.Anew().Allow(rows, l).Select(x); err != nil {
		t.Fatal(err)
	}
	return *l.heard
}

// sample is n rows with labels that suit any loss of the kind.
type sample struct {
	x *mat.Dense
	y []float64
}

const (
	sampleBound = 1.3
	sampleLabel = 1.5
)

// labelOf maps any number to a label of the kind.
func labelOf(kind losses.Labels, v float64) float64 {
	switch kind {
	case losses.Binary:
		if v > 0 {
			return 1
		}
		return 0
	case losses.Count:
		return math.Abs(v)
	}
	return v
}

func newSample(r *rand.Rand, n, d int, kind losses.Labels) sample {
	s := sample{mat.NewDense(n, d, nil), make([]float64, n)}
	for i := range n {
		for j := range d {
			s.x.Set(i, j, r.NormFloat64())
		}
		s.y[i] = labelOf(kind, 2*r.NormFloat64())
	}
	return s
}

// neighbour is the sample with another row, of any length, in place of the i-th.
func (s sample) neighbour(r *rand.Rand, i int, kind losses.Labels) sample {
	c := sample{mat.DenseCopyOf(s.x), slices.Clone(s.y)}
	_, d := c.x.Dims()
	length := 4 * math.Exp2(-4*r.Float64())
	for j := range d {
		c.x.Set(i, j, length*r.NormFloat64())
	}
	c.y[i] = labelOf(kind, 4*r.NormFloat64())
	return c
}

func (s sample) open(t *testing.T, intercept bool) *Data {
	t.Helper()
	_, d := s.x.Dims()
	data, err := Open(s.x, s.y, NewIdentity(d, sampleBound, intercept), 0, sampleLabel)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bounded returns the rows and labels as every question must see them: held to the
// bounds, with the constant where there is an intercept.
func (s sample) bounded(kind losses.Labels, bound, constant, labelBound float64) (x [][]float64, y []float64) {
	for i, label := range s.y {
		row := mat.Row(nil, i, s.x)
		if r := floats.Norm(row, 2); r > bound {
			floats.Scale(bound/r, row)
		}
		if constant != 0 {
			row = append(row, constant)
		}
		if kind == losses.Binary {
			label = 2*labelOf(kind, label) - 1
		} else {
			label = math.Max(-labelBound, math.Min(labelBound, label))
		}
		x, y = append(x, row), append(y, label)
	}
	return x, y
}

func under(t *testing.T, d *Data, loss losses.Loss) *Sums {
	t.Helper()
	s, err := d.Under(loss)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(got, want []float64, tolerance float64) bool {
	return len(got) == len(want) && floats.EqualApprox(got, want, tolerance)
}

// every holds losses of each kind, all of them smooth.
var every = []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.SquaredHinge{}, losses.Huber{Kappa: 0.7}, losses.Extended{Inner: losses.Poisson{}, Limit: 2}}
