package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/page"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/forecast"
	"github.com/dpglm/dpglm/internal/digits"
	"github.com/dpglm/dpglm/mechanisms"
)

const curatorNote = "metrics by -test, and times, are computed from raw data: they are for the curator, not for release"

// report is the outcome of a fit, with scores where rows were held out.
type report struct {
	*fitting
	env        *dpglm.Env
	model      *dpglm.Model
	inference  inferred          // by -method infer
	evaluation *dpglm.Evaluation // by -evaluate, of held
	data, held *dpglm.Dataset
	trial      *task.Trial // by -test
	plan       *dpglm.Plan
	planned    *dpglm.Ledger // of the fit and the evaluation
	charge     *charge
	origin     page.Origin
	foreseen   *forecast.Forecast // for the page, by -mean
	ledger     *dpglm.Ledger      // of all that was released

	shape    dpglm.Shape
	testRows int
	radius   float64
	warnings []string // about the budget
	seconds  float64

	private, nonPrivate, constant []metrics.Metric
	levels                        *task.LevelFigures // with private, for a label of several levels
}

// guarantee is what the ledger says, which is at most what was asked for.
func (r *report) guarantee() (string, error) {
	epsilon, err := r.ledger.GroupEpsilon(r.group, r.delta)
	if err != nil {
		return "", err
	}
	replaced := "one"
	if r.group > 1 {
		replaced = fmt.Sprintf("up to %d", r.group)
	}
	whom := fmt.Sprintf("replacing %s of %d %s", replaced, r.rows(), units(r.shape))
	if r.shape.AddRemove {
		whom = fmt.Sprintf("%s more or less of at most %d %s", replaced, r.rows(), units(r.shape))
	}
	if r.ledger.Unit() == mechanisms.OneLabel() {
		whom = fmt.Sprintf("replacing the labels of %s of %d rows; who is in the table, and all else about them, is public", replaced, r.rows())
	}
	s := fmt.Sprintf("(ε = %.4g, δ = %s)-differential privacy for %s", epsilon, digits.RoundedUp(r.delta), whom)
	if r.ledger.CallerNoise() {
		s += ", VOID against those who know the noise's seed"
	}
	return s, nil
}

// rows are those that the ledger is about.
func (r *report) rows() int { return r.shape.Rows + r.evaluatedRows() }

func (r *report) evaluatedRows() int { return r.held.Shape().Rows }

func (r *report) print(w io.Writer) error {
	guarantee, err := r.guarantee()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "data\t%s%d training %s, %d held out, %s weights, feature bound %.4g\n", atMost(r.shape), r.shape.Rows, units(r.shape), r.testRows+r.evaluatedRows(), weights(r.source, r.shape), r.shape.FeatureBound)
	fmt.Fprintf(t, "fit\t%s of %s%s, %.1f s\n", r.named(r.source), r.model.Label(), radiusOf(r.radius), r.seconds)
	if r.beginning != "" {
		fmt.Fprintf(t, "begins at\t%s\n", r.beginning)
	}
	fmt.Fprintf(t, "guarantee\t%s\n", guarantee)
	if r.output != "" {
		fmt.Fprintf(t, "model\t%s\n", r.output)
	}
	if r.page != "" {
		fmt.Fprintf(t, "report\t%s\n", r.page)
	}
	if r.registry != "" {
		fmt.Fprintf(t, "registry\t%s\n", r.registry)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n\n", explained(r.ledger))
	if err := errors.Join(printFound(w, r.model, r.inference), noteModel(w, r.model, r.inference)); err != nil {
		return err
	}
	if figures := r.figures(); figures != "" {
		fmt.Fprintf(w, "\nevaluation, private: its figures may be published with the model\n%s", figures)
	}
	return r.printTest(w)
}

// printTest prints what is for the curator, if rows were held out for that.
func (r *report) printTest(w io.Writer) error {
	if r.private == nil {
		return nil
	}
	fmt.Fprintln(w)
	err := metrics.Print(w, "hold-out", metrics.Row{Name: "private", Metrics: r.private},
		metrics.Row{Name: "non-private", Metrics: r.nonPrivate, Reason: noBaseline},
		metrics.Row{Name: "constant", Metrics: r.constant})
	if err != nil {
		return err
	}
	if err := printLevels(w, r.levels); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nNote: %s.\n", curatorNote)
	return err
}

const noBaseline = "not fitted: the loss has a kink"

func (r *report) printJSON(w io.Writer) error {
	guarantee, err := r.guarantee()
	if err != nil {
		return err
	}
	coefficients, err := coefficientsOf(r.model)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(struct {
		Data         string              `json:"data"`
		Model        string              `json:"model,omitempty"`
		Report       string              `json:"report,omitempty"`
		Registry     string              `json:"registry,omitempty"`
		TrainingRows int                 `json:"training_rows"`
		Evaluated    int                 `json:"evaluation_rows,omitempty"`
		TestRows     int                 `json:"test_rows"`
		Weights      int                 `json:"weights"`
		FeatureBound float64             `json:"feature_bound"`
		Label        string              `json:"label"`
		Loss         string              `json:"loss"`
		Method       string              `json:"method"`
		Begins       string              `json:"begins_at,omitempty"`
		Radius       float64             `json:"radius,omitempty"` // that holds the weights
		Epsilon      float64             `json:"epsilon"`
		Delta        float64             `json:"delta"`
		Group        int                 `json:"group"`
		Guarantee    string              `json:"guarantee"`
		Warnings     []string            `json:"warnings,omitempty"`
		Ledger       *dpglm.Ledger       `json:"ledger"`
		Coefficients []coefficient       `json:"coefficients"`
		Baseline     *baseline           `json:"baseline,omitempty"` // of hazards
		Notes        []string            `json:"notes,omitempty"`    // on the coefficients
		Inference    any                 `json:"inference,omitempty"`
		Evaluation   *dpglm.Evaluation   `json:"evaluation,omitempty"`
		Seconds      float64             `json:"fit_seconds"`
		Private      map[string]*float64 `json:"private,omitempty"`
		NonPrivate   map[string]*float64 `json:"non_private,omitempty"`
		Constant     map[string]*float64 `json:"constant,omitempty"`
		Levels       *levelFigures       `json:"levels,omitempty"` // of the private model
		Review       page.Review         `json:"review"`           // of what is released, as on the page
		Note         string              `json:"note"`
	}{
		r.source.Path, r.output, r.page, r.registry, r.shape.Rows, r.evaluatedRows(), r.testRows, scores(r.source) * r.shape.Dim, r.shape.FeatureBound, r.model.Label(), lossOf(r.model), r.method, r.beginning, r.radius,
		r.epsilon, r.delta, r.group, guarantee, r.warnings, r.ledger, coefficients, baselineOf(r.model, r.inference.one), modelNotes(r.model, r.inference), r.inference.none(), r.evaluation, r.seconds,
		named(r.private), named(r.nonPrivate), named(r.constant), levelsJSON(r.levels), r.content().Review(), curatorNote,
	})
}

// named has null where a metric isn't a finite number.
func named(scores []metrics.Metric) map[string]*float64 {
	if scores == nil {
		return nil
	}
	m := make(map[string]*float64, len(scores))
	for _, s := range scores {
		m[s.Name] = nil
		if !math.IsNaN(s.Value) && !math.IsInf(s.Value, 0) {
			m[s.Name] = &s.Value
		}
	}
	return m
}

// atMost says of a number of rows that it is but a bound, where how many there are is secret.
func atMost(s dpglm.Shape) string {
	if s.AddRemove {
		return "at most "
	}
	return ""
}
