package curator

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// onceFailing is a context of which one look fails, and no other.
type onceFailing struct {
	context.Context
	left, looks atomic.Int64
}

var errLook = errors.New("one look failed")

func (o *onceFailing) Err() error {
	o.looks.Add(1)
	if o.left.Add(-1) == 0 {
		return errLook
	}
	return nil
}

func quietly(int, int) {}

// Whatever is asked of rows ends with the error of the context, at whichever look at it that comes.
func TestQuestionsEndWithTheirContext(t *testing.T) {
	const n, d = 60, 2
	r := rand.New(rand.NewPCG(61, 62))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range y {
		x.SetRow(i, []float64{r.Float64(), -r.Float64()})
		y[i] = float64(i % 2)
	}
	data, err := Open(x, y, NewIdentity(d, 1, true), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := data.Under(losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	w, caps := make([]float64, d+1), []float64{1, 1}
	models, classModels := [][]float64{w, w}, []ClassScores{{Weights: [][]float64{w, w}}, {Weights: [][]float64{w, w}}}
	for name, ask := range map[string]func(ctx context.Context) error{
		"labels":    func(ctx context.Context) error { _, err := sums.Labels(ctx); return err },
		"gradient":  func(ctx context.Context) error { _, err := sums.Gradient(ctx, w, 1); return err },
		"losses":    func(ctx context.Context) error { _, err := sums.Losses(ctx, models, caps, caps); return err },
		"errors":    func(ctx context.Context) error { _, err := sums.Errors(ctx, models); return err },
		"minimiser": func(ctx context.Context) error { _, err := sums.Minimiser(ctx, 1, 1); return err },
		"clipped":   func(ctx context.Context) error { _, err := sums.ClippedMinimiser(ctx, w, 1, 1); return err },
		"descent":   func(ctx context.Context) error { _, err := sums.Descend(ctx, 1, 3, 0.1, quietly); return err },
		"totals":    func(ctx context.Context) error { _, err := sums.Totals(ctx, 1, 0); return err },
		"walk":      func(ctx context.Context) error { _, err := data.Walk(ctx, 5); return err },
		"ensemble": func(ctx context.Context) error {
			_, err := data.Ensemble(ctx, losses.Logistic{}, 3, 1, 1, 1, quietly)
			return err
		},
		"classes' ensemble": func(ctx context.Context) error {
			_, err := data.ClassEnsemble(ctx, losses.Logistic{}, 2, 3, 1, 1, 1, quietly)
			return err
		},
		"coordinates": func(ctx context.Context) error {
			_, err := sums.Coordinates(ctx, 1, 1, 0, mechanisms.Exponential{Epsilon: 1})
			return err
		},
		"counts": func(ctx context.Context) error {
			c, err := data.Classes(ctx, 2)
			if err == nil {
				_, err = c.Counts(ctx)
			}
			return err
		},
		"classes' errors": func(ctx context.Context) error {
			c, err := data.Classes(ctx, 2)
			if err == nil {
				_, err = c.Errors(ctx, classModels)
			}
			return err
		},
	} {
		all := &onceFailing{Context: t.Context()}
		if err := ask(all); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		looks := all.looks.Load()
		if looks == 0 {
			t.Errorf("%s: no look at the context", name)
		}
		for k := range looks {
			of := &onceFailing{Context: t.Context()}
			of.left.Store(k + 1)
			if err := ask(of); !errors.Is(err, errLook) && of.looks.Load() > k {
				t.Errorf("%s: look %d of %d: %v", name, k+1, looks, err)
			}
		}
	}
}

// Rows are opened with a finite label each, and columns as they are described.
func TestOpenRefuses(t *testing.T) {
	x, enc := mat.NewDense(2, 1, []float64{0.5, 1}), NewIdentity(1, 1, false)
	for name, c := range map[string]struct {
		x    mat.Matrix
		y    []float64
		kind error
		says string
	}{
		"as described": {x, []float64{0, 1}, nil, ""}, "a label less": {x, []float64{0}, check.ErrShape, "2 rows"}, "a label more": {x, []float64{0, 1, 1}, check.ErrShape, "2 rows"},
		"no number": {x, []float64{0, math.NaN()}, check.ErrValue, "row 2 "}, "infinite": {x, []float64{math.Inf(-1), 0}, check.ErrValue, "row 1 "},
		"two columns": {mat.NewDense(2, 2, nil), []float64{0, 1}, check.ErrShape, "1 described"}, "an empty matrix": {&mat.Dense{}, nil, check.ErrShape, ""},
	} {
		if _, err := Open(c.x, c.y, enc, 0, 1); (err == nil) != (c.kind == nil) || !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	data, err := Open(x, []float64{0, 3}, enc, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := data.Walk(t.Context(), 1); !errors.Is(err, check.ErrLabel) {
		t.Errorf("a walk by labels that aren't binary: %v", err)
	}
}
