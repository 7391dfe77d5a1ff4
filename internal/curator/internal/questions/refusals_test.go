package questions

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// What a question's numbers may not be is refused, by its kind of error, and what they may is asked.
func TestNumbersOfQuestionsAreHeldTo(t *testing.T) {
	const n, d = 6, 2
	x, enc := mat.NewDense(n, d, nil), encoding.NewIdentity(d, 1, false)
	table := mustTable(t, x, enc)
	framed := func(f Frame) *Framed {
		r, err := NewFramed(ctx, sumsOf(t, x, make([]float64, n), 1, enc, losses.Logistic{}), whole, f)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		for _, loss := range []losses.Loss{losses.Squared{}, losses.Poisson{}, losses.Gamma{Least: 0.1}} {
			if _, err := NewSums(table, make([]float64, n), 0, v, loss); !errors.Is(err, check.ErrBound) {
				t.Errorf("%s, labels up to %g: %v", loss.Name(), v, err)
			}
		}
		if _, err := NewSums(table, make([]float64, n), 0, v, losses.Logistic{}); err != nil {
			t.Errorf("two classes, labels up to %g: %v", v, err)
		}
	}
	if _, err := NewSums(table, make([]float64, n-1), 0, 1, losses.Logistic{}); !errors.Is(err, check.ErrShape) {
		t.Errorf("a label fewer: %v", err)
	}
	classes, err := NewClasses(ctx, table, make([]float64, n), 2)
	if err != nil {
		t.Fatal(err)
	}
	c, err := classes.Frame(ctx, whole, Frame{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []ClassSlope{{Clip: 1, Constant: -1}, {Clip: -1, Constant: 1}, {Clip: math.NaN(), Constant: 1}, {Clip: 1, Constant: math.NaN()}, {Clip: math.Inf(1), Constant: 1}, {Clip: 1, Constant: math.Inf(1)}, {Clip: 1, Constant: 1}, {Clip: 1}} {
		_, err := c.Gradient(ctx, ClassPoint{U: [][]float64{make([]float64, d), make([]float64, d)}, B: make([]float64, 2)}, p)
		if taken := p.Clip == 1 && (p.Constant == 1 || p.Constant == 0); taken != (err == nil) || err != nil && !errors.Is(err, check.ErrBound) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if of, err := classes.Frame(ctx, whole, Frame{Each: 1}); err != nil {
		t.Error(err)
	} else if _, err := of.Gradient(ctx, ClassPoint{U: [][]float64{make([]float64, d), make([]float64, d)}, B: make([]float64, 2)}, ClassSlope{Clip: 1, LabelAlone: true}); !errors.Is(err, check.ErrConfig) {
		t.Errorf("labels alone of persons whose rows count each: %v", err)
	}
	if _, err := Fourth(ctx, framed(Frame{Each: 1}), 1); !errors.Is(err, check.ErrConfig) {
		t.Errorf("fourth moments of persons: %v", err)
	}
	if values, _, err := heard(Fourth(ctx, framed(Frame{}), 1)); err != nil || len(values) != 3 {
		t.Errorf("fourth moments of rows: %v (%v)", values, err)
	}
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), x, make([]float64, n))
	for _, columns := range []int{d - 1, d, d + 1} {
		if _, err := NewRemote(ctx, f, encoding.NewIdentity(columns, 1, false), here{t.TempDir()}); (err == nil) != (columns == d) || err != nil && !errors.Is(err, check.ErrShape) {
			t.Errorf("%d columns of %d: %v", columns, d, err)
		}
	}
}

// A question to parties that is cut off, or lacks what it is about, is refused, at any byte.
func TestPartiesRefuseHalvesOfQuestions(t *testing.T) {
	fit := anyFit(t)
	real := sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}
	whole := sentOf(t, sentAsked{Class: -1, Of: &asking{Labels: real, Of: &framedSquares{}}})
	try := func(asked []byte) error {
		return fit.takesSum(&partyQuestion{Number: 1, Step: 1, Bound: 1, Numbers: 3, Asked: asked})
	}
	for k := range whole {
		if err := try(whole[:k]); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%d bytes of %d: %v", k, len(whole), err)
		}
	}
	for name, of := range map[string]sentAsked{"nothing": {Class: -1}, "no question": {Class: -1, Of: &asking{Labels: real}}, "steps alone": {Class: -1, Steps: []rows.Step{{Bound: 1}}}} {
		if err := try(sentOf(t, of)); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := try(whole); err != nil {
		t.Error(err)
	}
}

// Once rows are closed no copy of them is made.
func TestNoCopiesOfClosedRows(t *testing.T) {
	r, dir := &remote{copies: new(copies)}, t.TempDir()
	made, err := r.copies.create(dir)
	if err != nil || len(r.copies.dirs) != 1 {
		t.Fatal(made, err)
	}
	if err := r.Close(); err != nil || len(r.copies.dirs) != 0 {
		t.Error(err, r.copies.dirs)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) != 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
	if made, err := r.copies.create(dir); err != errClosed || made != "" {
		t.Errorf("%q (%v)", made, err)
	}
	if _, err := (&copies{}).create(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory was made where there is none")
	}
}
