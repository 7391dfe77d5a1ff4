// Package page writes a page about a private model that its curator hands to a reviewer:
// the guarantee, the releases, the coefficients, how well it predicts, and the public
// facts. It is one HTML file with its style and pictures inside, for screens and paper.
//
// # Privacy
//
// A [Content] has no rows, and no figure that was computed from them without a mechanism:
// what the page shows follows from released and from public values, so it costs nothing
// more. Each section says which of both it is. A forecast is of made-up rows, and can't be
// given others.
package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/forecast"
	"github.com/dpglm/dpglm/mechanisms"
)

// Content is what a page is made of.
type Content struct {
	Data   string // what the rows are called
	Method string
	Begins string      // the public model where the fit begins; empty for none
	Radius float64     // 0 where there is none
	Shape  dpglm.Shape // of the rows that were trained on
	Model  *dpglm.Model

	Inference  *dpglm.Inference      // of the model; nil if it was trained without
	Classes    *dpglm.ClassInference // of a model of several classes; nil if it was trained without
	Evaluation *dpglm.Evaluation     // of the model; nil if there was none

	// Forecast is of fits at this and other ε, by made-up rows; nil if there was none.
	Forecast *forecast.Forecast

	// Ledger is of all that was released, and claims (ε, δ).
	Ledger *dpglm.Ledger

	// Origin says what made the page.
	Origin Origin
}

// view is what the template shows.
type view struct {
	Style                     template.CSS
	Label, Kind, Data, Method string
	Units                     string // what is protected
	Persons, AddRemove        bool
	LabelsOnly                bool     // whether all but the labels is public
	Count                     string   // of the units
	Notes                     []string // about the budget
	Tiles                     []tile
	Guarantee                 *guarantee
	Effects                   *effects      // of a model of one score
	Classes                   *classEffects // of one of several
	Evaluation                *evaluation
	Prediction                *prediction
	Foreseeable               bool // by -mean
	Releases                  []release
	Scaling                   string
	Facts                     *facts
	Review                    Review
	LedgerText                string
}

// tile is a number that comes first.
type tile struct{ Name, Value, Note string }

//go:embed page.html
var source string

//go:embed page.css
var style string

var sheet = template.Must(template.New("page").Funcs(template.FuncMap{"capital": capital}).Parse(source))

// capital begins a heading.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Write writes the page, or nothing but an error.
func Write(w io.Writer, c Content) error {
	v, err := c.view()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := sheet.Execute(&b, v); err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

func (c Content) view() (*view, error) {
	claim, ok := c.Ledger.Claim()
	if !ok || c.Ledger.Unit() == (mechanisms.Unit{}) || c.Model == nil || !(claim.Delta > 0) {
		return nil, fmt.Errorf("a page is about one model and a ledger of a unit that claims (ε, δ), not about %v", c.Ledger)
	}
	m := c.Model
	v := &view{Style: template.CSS(style), Label: m.Label(), Kind: c.kind(), Data: c.Data, Method: c.Method,
		Units: unitsOf(c.Ledger), Persons: persons(c.Ledger), AddRemove: secret(c.Ledger), LabelsOnly: c.Ledger.Unit().Of == mechanisms.Label, Count: grouped(claim.Rows)}
	v.Notes, v.Review = c.notes(), c.Review()
	text, err := json.Marshal(c.Ledger)
	if err != nil {
		return nil, err
	}
	v.LedgerText = string(text)
	if v.Guarantee, err = newGuarantee(c.Ledger, claim, m.Encoder()); err != nil {
		return nil, err
	}
	if c.classes() > 0 {
		v.Classes, err = newClassEffects(m, c.Classes)
	} else {
		v.Effects, err = newEffects(m, c.Inference)
	}
	if err != nil {
		return nil, err
	}
	if c.Evaluation != nil {
		v.Evaluation = newEvaluation(c.Evaluation, c)
	}
	v.Foreseeable = m.Levels() == nil
	if c.Forecast != nil {
		v.Prediction = newPrediction(c.Forecast, claim.Epsilon, c.loss())
	}
	if v.Releases, err = releasesOf(c.Ledger); err != nil {
		return nil, err
	}
	v.Scaling = scaling(c.Ledger, claim)
	v.Facts = newFacts(c, v.Units)
	v.Tiles = []tile{
		{"ε", v.Guarantee.Epsilon, "privacy loss, at most"},
		{"δ", v.Guarantee.Delta, "but for this probability"},
		{v.Units, v.Count, protected(v)},
	}
	if v.Evaluation != nil {
		v.Tiles = append(v.Tiles, v.Evaluation.headline()...)
	}
	return v, nil
}

// secret reports whether how many there are is.
func secret(l *dpglm.Ledger) bool { return l.Unit().Neighbours == mechanisms.AddRemove }

// counted is how many there are, or the bound on it where that is secret.
func counted(l *dpglm.Ledger, n int) string {
	if secret(l) {
		return "at most " + grouped(n)
	}
	return grouped(n)
}

// persons reports whether the ledger protects persons, not rows.
func persons(l *dpglm.Ledger) bool { return l.Unit().Of == mechanisms.Person }

// unitsOf are those that the ledger protects.
func unitsOf(l *dpglm.Ledger) string {
	if persons(l) {
		return "persons"
	}
	return "rows"
}

func protected(v *view) string {
	switch {
	case v.Persons:
		return "each protected with all rows, however many"
	case v.LabelsOnly:
		return "of each the label protected, and nothing else"
	}
	return "each protected"
}

// classes is how many have a score each, 0 for a model of one score.
func (c Content) classes() int {
	if k := len(c.Model.Weights()); k > 1 {
		return k
	}
	return 0
}

// loss is the loss's name without thresholds.
func (c Content) loss() string {
	if c.classes() == 0 && c.Model.Levels() != nil {
		return "ordinal"
	}
	return c.Model.Loss()
}

// kind names the model by its loss.
func (c Content) kind() string {
	levels := len(c.Model.Levels())
	if c.classes() > 0 && c.Model.Reference() < 0 {
		return fmt.Sprintf("Models of each of %d levels against the rest", levels)
	}
	switch loss := c.loss(); loss {
	case "softmax":
		return fmt.Sprintf("Softmax regression of %d levels", levels)
	case "ordinal":
		return fmt.Sprintf("Ordinal regression (proportional odds) of %d levels", levels)
	case "logistic":
		return "Logistic regression"
	case "probit":
		return "Probit regression"
	case "squared":
		return "Linear regression"
	case "poisson":
		return "Poisson regression"
	default:
		return "Linear model with the " + loss + " loss"
	}
}
