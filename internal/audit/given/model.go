package given

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
)

// MustBeArgument wants an error that says which argument is wrong.
func MustBeArgument(t *testing.T, err error) {
	t.Helper()
	var argument dpglm.ArgumentError
	if !errors.As(err, &argument) {
		t.Errorf("not an error about an argument: %v", err)
	}
}

// CheckModel predicts, and encodes and decodes.
func CheckModel(t *testing.T, m *dpglm.Model, x mat.Matrix) {
	t.Helper()
	weights := slices.Concat(m.Weights()...)
	for _, w := range weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			t.Fatalf("weights %v", weights)
		}
	}
	want, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	first, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back dpglm.Model
	if err := json.Unmarshal(first, &back); err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	second, err := json.Marshal(&back)
	if err != nil || string(first) != string(second) {
		t.Fatalf("encodes as\n%s\nthen as\n%s (%v)", first, second, err)
	}
	got, err := back.Predict(x)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("the decoded model predicts %v, %v, want %v", got, err, want)
	}
	if _, err := back.Probabilities(x); err != nil {
		MustBeArgument(t, err)
	}
	if c, err := back.Coefficients(); err != nil || len(c) < len(weights) {
		t.Fatalf("%d coefficients of %d weights: %v", len(c), len(weights), err)
	}
}

// FigureOf is a figure of all rows, zero where there is none.
func FigureOf(e *dpglm.Evaluation, name string) dpglm.Interval {
	f, _ := e.Figure(name)
	return f.Interval
}

// EvaluatedNumbers are all numbers of an evaluation of classes that are computed from what was
// released.
func EvaluatedNumbers(e *dpglm.Evaluation) (list []float64) {
	for _, name := range []string{"accuracy", "log-loss", "Brier score", "mean AUC"} {
		v := FigureOf(e, name)
		list = append(list, v.Value, v.Low, v.High)
	}
	for _, class := range e.Classes {
		for _, name := range []string{"rate", "recall", "precision", "AUC"} {
			f, _ := e.ClassFigure(class, name)
			list = append(list, f.Value)
		}
	}
	return append(list, slices.Concat(e.Confusion...)...)
}
