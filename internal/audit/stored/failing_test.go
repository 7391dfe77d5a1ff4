package stored_test

import (
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// failingOnce are workers who fail one question alone, the left-th from here.
type failingOnce struct {
	given.Workers
	left, asked *int
}

var errOnce = errors.New("a question failed")

func (f failingOnce) Ask(ctx context.Context, question []byte, pieces int, take func(reply io.Reader) error) error {
	*f.asked++
	if *f.left--; *f.left == 0 {
		return errOnce
	}
	return f.Workers.Ask(ctx, question, pieces, take)
}

// A question that fails, even one alone of all of them, is what a method returns, whichever it is: what goes on with
// what is left of a sum that failed is trained on something else than the rows.
func TestOneFailedQuestionIsAnError(t *testing.T) {
	x, y := given.Separable(600, 2, 1)
	path := filepath.Join(t.TempDir(), "rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	left, asked := 0, 0
	d, err := dpglm.OpenRowsOn(ctx, path, dpglm.Bounds{Feature: 1, Label: 2, Intercept: true}, failingOnce{given.Workers{Count: 2, Dir: t.TempDir()}, &left, &asked})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	infer := func(l losses.Loss, mu float64) func() error {
		return func() error {
			return given.Failure(dpglm.Infer(ctx, d, dpglm.Problem{Loss: l}, dpglm.GDP(mu), dpglm.InferConfig{}, given.Seeded(1)))
		}
	}
	learn := func(l dpglm.Learner) func() error {
		return func() error {
			plan, err := l.Plan(d.Shape(), logistic, dpglm.GDP(4))
			if err != nil {
				t.Fatal(err)
			}
			return given.Failure(plan.Run(ctx, d, given.Seeded(1)))
		}
	}
	for name, run := range map[string]func() error{
		"Infer, logistic": infer(losses.Logistic{}, 20), "Infer, squared": infer(losses.Squared{}, 20), "Infer, Poisson": infer(losses.Poisson{}, 20),
		"Infer, little": infer(losses.Squared{}, 2), "StandardisedGD": learn(dpglm.StandardisedGDConfig{}), "NoisyGD": learn(dpglm.NoisyGDConfig{Steps: 4}),
		"OutputPerturbation": learn(dpglm.OutputPerturbationConfig{}), "ObjectivePerturbation": learn(dpglm.ObjectivePerturbationConfig{}),
	} {
		if left, asked = math.MaxInt, 0; run() != nil {
			t.Fatal(name, run())
		}
		total := asked
		if total < 2 {
			t.Errorf("%s: only %d questions", name, total)
		}
		for at := 1; at <= min(total, 50); at++ {
			if !sample.One(4, name, at) {
				continue
			}
			left = at
			if err := run(); !errors.Is(err, errOnce) {
				t.Errorf("%s, question %d of %d: %v", name, at, total, err)
			}
		}
	}
}
