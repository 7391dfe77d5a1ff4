package records_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// refused checks that an error is of a parameter, and names it and its rule.
func refused(t *testing.T, what string, err error, kind error) {
	t.Helper()
	var a dpglm.ArgumentError
	if !errors.Is(err, kind) || !errors.As(err, &a) || a.Param() == "" || a.Rule() == "" {
		t.Errorf("%s: %v, want %v with a parameter and its rule", what, err, kind)
	}
}

// unfinished are losses that lack what they must be given.
var unfinished = map[string]losses.Loss{
	"nil": nil, "nil pointer": (*losses.Logistic)(nil), "nil Custom": (*losses.Custom)(nil),
	"Extended": losses.Extended{}, "pointer": &losses.Extended{}, "nested": losses.Extended{Inner: losses.Extended{}, Limit: 1},
	"nil inside": losses.Extended{Inner: (*losses.Custom)(nil), Limit: 1}, "zero inside": losses.Extended{Inner: losses.Ordinal{}, Limit: 1},
	"Custom": losses.Custom{}, "binary Custom": losses.Custom{Domain: losses.Binary}, "Ordinal": losses.Ordinal{},
	"Gamma": losses.Gamma{}, "Huber": losses.Huber{}, "Quantile": losses.Quantile{}, "CappedPoisson": losses.CappedPoisson{},
	"NegativeBinomial": losses.NegativeBinomial{}, "SmoothedHinge": losses.SmoothedHinge{},
}

// Every plan refuses a loss that isn't finished, for few columns and for many, and so does a
// data set of a table, which compares the loss with its schema.
func TestUnfinishedLosses(t *testing.T) {
	data, err := dpglm.NewTableDataset(given.Clinic(t, given.ClinicSchema, 50))
	if err != nil {
		t.Fatal(err)
	}
	b := dpglm.ApproxDP(1, 1e-6)
	for name, l := range unfinished {
		p := dpglm.Problem{Loss: l}
		if losses.LinkOf(l) == "" {
			t.Errorf("%s has no link", name)
		}
		_, err := dpglm.Infer(ctx, data, p, b, dpglm.InferConfig{}, nil)
		refused(t, name+" for Infer", err, dpglm.ErrConfig)
		_, err = dpglm.Auto(ctx, data, p, b, nil)
		refused(t, name+" of a table", err, dpglm.ErrConfig)
		for _, dim := range []int{3, 1500} {
			s := dpglm.Shape{Rows: 2000, Dim: dim, FeatureBound: 1, LabelBound: 1}
			for _, c := range []dpglm.Learner{dpglm.AutoConfig{}, dpglm.StandardisedGDConfig{}, dpglm.InferConfig{}, dpglm.NoisyGDConfig{},
				dpglm.ObjectivePerturbationConfig{}, dpglm.OutputPerturbationConfig{}, dpglm.FrankWolfeConfig{}, dpglm.JLConfig{Learner: dpglm.AutoConfig{}},
				dpglm.BoostConfig{Learner: dpglm.AutoConfig{}}, dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}} {
				if _, infers := c.(dpglm.InferConfig); infers && dim > 3 {
					continue // which has too many columns, first of all
				}
				plan, err := c.Plan(s, p, b)
				if refused(t, name, err, dpglm.ErrConfig); plan != nil {
					t.Errorf("%s: %T made a plan", name, c)
				}
			}
			_, err := dpglm.OneAgainstRestConfig{}.Plan(s, given.OfClasses(p, 3), b)
			refused(t, name+" for OneAgainstRest", err, dpglm.ErrConfig)
			_, err = dpglm.EvaluateConfig{}.Ledger(s, dpglm.Problem{Loss: l}, b)
			refused(t, name+" for Evaluate", err, dpglm.ErrConfig)
			_, err = dpglm.AverageConfig{Queries: 3}.Plan(s, p, b)
			refused(t, name+" for AverageConfig", err, dpglm.ErrConfig)
		}
	}
}

// The zero values of what constructors make are empty, or say which constructor to use.
func TestZeroValues(t *testing.T) {
	var s dpglm.Sparse
	if r, c := s.Dims(); r != 0 || c != 0 {
		t.Errorf("a zero Sparse has the shape %d×%d", r, c)
	}
	for name, f := range map[string]func() error{
		"sparse rows":    func() error { _, err := dpglm.NewDataset(&s, nil, dpglm.Bounds{Feature: 1}); return err },
		"transposed":     func() error { _, err := dpglm.NewDataset(s.T(), nil, dpglm.Bounds{Feature: 1}); return err },
		"rows of a file": func() error { return dpglm.WriteRows(ctx, filepath.Join(t.TempDir(), "rows"), &s, nil) },
	} {
		refused(t, name, f(), dpglm.ErrShape)
	}
	for name, f := range map[string]func() error{
		"plan":           func() error { _, err := new(dpglm.Plan).Run(ctx, &dpglm.Dataset{}, nil); return err },
		"predictor plan": func() error { _, err := new(dpglm.PredictorPlan).Run(ctx, &dpglm.Dataset{}, nil); return err },
		"data set":       func() error { _, err := dpglm.Auto(ctx, &dpglm.Dataset{}, logistic, dpglm.GDP(1), nil); return err },
		"learner": func() error {
			_, err := dpglm.BoostConfig{Learner: (*dpglm.AutoConfig)(nil)}.Plan(dpglm.Shape{Rows: 99, Dim: 2, FeatureBound: 1}, logistic, dpglm.GDP(1))
			return err
		},
	} {
		refused(t, name, f(), dpglm.ErrConfig)
	}
	if m := new(dpglm.Inference).Covariance(); !m.IsEmpty() {
		t.Errorf("the covariance of nothing has %d rows", m.SymmetricDim())
	}
}
