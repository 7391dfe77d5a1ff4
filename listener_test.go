package dpglm

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// listener is a source of noise that shows each raw answer to a test, which may
// change what is released.
type listener struct {
	mechanisms.Source
	hear func(e *release.Event)
}

// Record makes a listener a release.Recorder.
func (l listener) Record(e *release.Event) { l.hear(e) }

var _ release.Recorder = listener{}

// overheard returns the numbers of an answer and their declared sensitivity, which
// nothing but a release shows.
func overheard(t *testing.T, rows *release.Rows, x release.Answer, dim int) (values []float64, l2 float64) {
	t.Helper()
	values, l2, err := overhear(rows, x, dim)
	if err != nil {
		t.Fatal(err)
	}
	return values, l2
}

func overhear(rows *release.Rows, x release.Answer, dim int) (values []float64, l2 float64, err error) {
	schedule, err := release.Gaussian("overheard", 1, 1, dim)
	if err != nil {
		return nil, 0, err
	}
	src := listener{mechanisms.NewSeededSource(1), func(e *release.Event) { values, l2 = slices.Clone(e.Values), e.L2 }}
	_, err = schedule.Allow(rows, src).AddNoise(x)
	return values, l2, err
}

// shuffled is the order in which n rows are split by a seed.
func shuffled(n int, seed uint64) []int { return rand.New(mechanisms.NewSeededSource(seed)).Perm(n) }

// alone is a run of the releases of a schedule on a data set.
func alone(d *Dataset, schedule *release.Schedule, src mechanisms.Source) *run {
	return &run{ctx: context.Background(), data: d.data, allow: schedule.Anew().Allow(d.data.Rows(), src), progress: func(int, int) {}}
}

// leaf is a leaf of a ledger, as it is stored.
type leaf struct {
	Label         string
	Mu, Ratio     float64
	Releases, Dim int
	Parts         []leaf
}

// leaves are those of a plan's ledger.
func leaves(t *testing.T, l *Ledger) []leaf {
	t.Helper()
	stored, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var root leaf
	if err := json.Unmarshal(stored, &root); err != nil {
		t.Fatal(err)
	}
	var list []leaf
	var collect func(n leaf)
	collect = func(n leaf) {
		if len(n.Parts) == 0 {
			list = append(list, n)
		}
		for _, p := range n.Parts {
			collect(p)
		}
	}
	collect(root)
	return list
}

// minimiser is a certified minimiser over the ball and its declared sensitivity.
func minimiser(t *testing.T, d *Dataset, loss losses.Loss, radius, lambda float64) (w []float64, moves float64) {
	t.Helper()
	sums, err := d.data.Under(loss)
	if err != nil {
		t.Fatal(err)
	}
	point, err := sums.Minimiser(context.Background(), radius, lambda)
	if err != nil {
		t.Fatal(err)
	}
	return overheard(t, d.data.Rows(), point.Weights(), sums.Dim())
}

// gradient is the sum of the rows' clipped gradients and its declared sensitivity.
func gradient(t *testing.T, d *Dataset, loss losses.Loss, w []float64, clip float64) (g []float64, moves float64) {
	t.Helper()
	sums, err := d.data.Under(loss)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := sums.Gradient(context.Background(), w, clip)
	if err != nil {
		t.Fatal(err)
	}
	return overheard(t, d.data.Rows(), answer, sums.Dim())
}
