package dpglm

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpglm/dpglm/internal/evaluate"
	"github.com/dpglm/dpglm/losses"
)

// Evaluation is what [Evaluate] released of a model: figures by name, and
// what else was made of the same counts. It prints as a table.
//
// Of two classes there are "accuracy", "AUC", the area under the ROC curve, and "rate of ones";
// where the model has probabilities also "log-loss", the mean of −log of the class's own,
// "Brier score", the mean squared error, and "calibration intercept" and "calibration slope" of a
// logistic regression of the classes on the log-odds that were predicted, 0 and 1 if all is well.
//
// Of real labels, counts and amounts there are "mean error", of prediction less label, "RMSE",
// the root of the mean square of that, and "R²", 1 less the latter's square over the labels'
// variance. The interval of R² takes errors and labels to be independent; with heavy tails, which
// errors and labels share, it may miss. All three have drowned where rows that noise hides may
// matter most (see Accuracy in [Evaluate]), and R² where the labels' variance may be none, as far as noise
// lets see.
//
// Of several classes, and of levels, there are "accuracy", the part of the rows whose class is
// predicted, "log-loss", "Brier score", the mean of Σ(p_k − 1[k = y])², at most 2, and "mean AUC",
// the mean of the classes', where all are known; and of each class against the rest "rate", the part of the rows that
// are of it, "recall", the part of these that are predicted to be, "precision", the part of those
// predicted that are of it, and "AUC", of its probability.
//
// All are held to what they can be, such as fractions to [0, 1]. One that drowned in the noise
// isn't there, but for a class's rate, which may be 0 as far as is known. What is printed leaves out those that say nothing
// ([Figure.Vacuous]), and has why ([Evaluation.Withheld]).
type Evaluation struct {
	Rows       int     `json:"rows"`       // n, or the number of persons; a bound on it where it is secret
	Confidence float64 `json:"confidence"` // of the intervals

	// Figures are those of all rows, then those of each class, in the order above.
	Figures []Figure `json:"figures"`

	// ROC has false positive rates across and true positive rates up, at thresholds that
	// decrease; Calibration mean probabilities across and rates of ones up, of groups of rows
	// by score. Both are of two classes. What drowned is zero.
	ROC         []CurvePoint `json:"roc,omitempty"`
	Calibration []CurvePoint `json:"calibration,omitempty"`

	// Band holds what the label of a new row has more than its prediction with a probability of at least Confidence, up
	// to 1 of 20 evaluations whose rows or noise were odd, of real labels, counts and amounts: a split-conformal
	// interval (Vovk et al. 2005; Lei et al. 2018), with noise allowed for. That is on average over rows: where
	// errors are larger for some, as those of high counts are, these are held less often, and others more. Its
	// value is 0. It is nil where noise hides it.
	Band *Interval `json:"band,omitempty"`
	// Labels is the range of labels that Band is for, in which they lie.
	Labels *Interval `json:"labels,omitempty"`

	// Classes are the names of several, as Model.Levels has them. Confusion
	// has how many rows of each were predicted to be of each, in this order, as far as noise lets
	// see: no count is negative, and they add up to the number of rows.
	Classes   []string    `json:"classes,omitempty"`
	Confusion [][]float64 `json:"confusion,omitempty"`

	Ledger *Ledger `json:"ledger"` // what the evaluation spent
}

// Figure is an estimate with an interval of the level of its [Evaluation].
type Figure struct {
	Name  string `json:"name"`
	Class string `json:"class,omitempty"` // that it is of; empty for all rows
	// Unit is "fraction", of rows, "nats", natural units of information, or "label", the label's
	// own; plain numbers have none.
	Unit string `json:"unit,omitempty"`
	Interval
}

// PredictionInterval holds the label of a new row of which the model predicts a mean, by the Band; both are held to
// Labels. It isn't known without them, and for what isn't a number.
func (e *Evaluation) PredictionInterval(mean float64) (in Interval, known bool) {
	if e == nil || e.Band == nil || e.Labels == nil || math.IsNaN(mean) {
		return Interval{}, false
	}
	hold := func(v float64) float64 { return math.Max(e.Labels.Low, math.Min(v, e.Labels.High)) }
	mean = hold(mean)
	return Interval{mean, hold(mean + e.Band.Low), hold(mean + e.Band.High)}, true
}

// banded adds the band of errors of prediction, where labels' own range doesn't say as much.
func (e *Evaluation) banded(errors [2]float64, s Shape, labels losses.Labels) {
	least, most := s.labelEnds(labels)
	if width := errors[1] - errors[0]; width > 0 && width < most-least {
		e.Band, e.Labels = &Interval{Low: -errors[1], High: -errors[0]}, &Interval{s.LabelCentre, least, most}
	}
}

// Interval is an estimate and the ends of its interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// CurvePoint is a point of a curve.
type CurvePoint struct {
	Across Interval `json:"across"`
	Up     Interval `json:"up"`
}

func newEvaluation(found *evaluate.Result, rows int, confidence float64, classes []string, ledger *Ledger) *Evaluation {
	e := &Evaluation{
		Rows: rows, Confidence: confidence, Classes: classes, Confusion: found.Confusion,
		ROC: curveOf(found.ROC), Calibration: curveOf(found.Calibration), Ledger: ledger,
	}
	for _, f := range found.Figures {
		of := Figure{Name: f.Name, Unit: f.Unit, Interval: Interval(f.Of)}
		if f.Class > 0 {
			of.Class = classes[f.Class-1]
		}
		e.Figures = append(e.Figures, of)
	}
	return e
}

func curveOf(points []evaluate.Point) (list []CurvePoint) {
	for _, p := range points {
		list = append(list, CurvePoint{Interval(p.X), Interval(p.Y)})
	}
	return list
}

// Figure returns a figure of all rows by its name, and whether there is one: it may have drowned
// in the noise, or be one of other labels.
func (e *Evaluation) Figure(name string) (Figure, bool) { return e.ClassFigure("", name) }

// ClassFigure returns a figure of a class by both names, and whether there is one.
func (e *Evaluation) ClassFigure(class, name string) (Figure, bool) {
	if e != nil {
		for _, f := range e.Figures {
			if f.Class == class && f.Name == name {
				return f, true
			}
		}
	}
	return Figure{}, false
}

// String prints the figures as a table, and the ledger.
func (e *Evaluation) String() string {
	if e == nil {
		return "no evaluation"
	}
	var b strings.Builder
	width := 22
	for _, name := range e.Classes {
		width = max(width, len("class : rate")+utf8.RuneCountInString(name))
	}
	fmt.Fprintf(&b, "%-*s%s%18.4g %% interval\n", width, nOf(e.Ledger, e.Rows), "estimate", 100*e.Confidence)
	class := ""
	for _, f := range e.Figures {
		if f.Vacuous() {
			continue
		}
		name := f.Name
		switch {
		case f.Class != class:
			name = fmt.Sprintf("class %s: %s", f.Class, f.Name)
		case class != "":
			name = "         " + f.Name
		}
		class = f.Class
		fmt.Fprintf(&b, "%-*s %9.4g   [%.4g, %.4g]\n", width, name, f.Value, f.Low, f.High)
	}
	if e.Band != nil {
		fmt.Fprintf(&b, "at least %.4g %% of labels lie from %.4g below to %.4g above their prediction\n", 100*e.Confidence, -e.Band.Low, e.Band.High)
	}
	if _, known := e.Figure("RMSE"); known {
		b.WriteString("RMSE, R²: rows too rare to be seen count as the others' tails let expect; very heavy tails have more\n")
	}
	for _, reason := range e.Withheld() {
		b.WriteString(reason + "\n")
	}
	fmt.Fprintf(&b, "%v", e.Ledger)
	return b.String()
}

// Vacuous reports whether the interval is all that such a figure can be, so that it says nothing, or zero, as that of a class's rate is which
// drowned in the noise.
func (f Figure) Vacuous() bool {
	most := 1.0
	switch {
	case f.Interval == (Interval{}):
		return true
	case f.Name == "Brier score" && f.High > 1: // of several classes
		most = 2
	case f.Unit != "fraction" && f.Name != "AUC" && f.Name != "mean AUC" && f.Name != "Brier score":
		return false
	}
	return f.Low <= 0 && f.High >= most
}

// Withheld says, in a sentence for each reason, which figures that the model could have aren't known or are vacuous, the Band among them; nil where there are none.
// They follow from what was released.
func (e *Evaluation) Withheld() (sentences []string) {
	if e == nil {
		return nil
	}
	say := func(names []string, why string) {
		if len(names) > 0 {
			sentences = append(sentences, "Figures withheld: "+few(names)+", as "+why)
		}
	}
	const hidden = "noise hides them; more rows or a larger ε would tell"
	switch {
	case e.Classes != nil:
		say(e.unknown("", "accuracy", "log-loss", "Brier score", "mean AUC"), hidden)
		var classes []string
		for _, class := range e.Classes {
			if e.unknown(class, "rate", "recall", "precision", "AUC") != nil {
				classes = append(classes, class)
			}
		}
		say(classes, "noise hides some of each of these classes")
	case len(e.ROC) > 0:
		names := []string{"accuracy", "AUC", "rate of ones"}
		if len(e.Calibration) > 0 { // there are probabilities
			names = append(names, "log-loss", "Brier score", "calibration intercept", "calibration slope")
		}
		say(e.unknown("", names...), hidden)
	default:
		sums := e.unknown("", "mean error", "RMSE")
		part := e.unknown("", "R²")
		if slices.Contains(sums, "RMSE") {
			sums, part = append(sums, part...), nil
		}
		say(sums, "a few rows that noise hides may make up most of them; more rows, a larger ε or labels whose range is tight would tell")
		say(part, "the labels' variance may be none as far as noise lets see; more rows or a larger ε would tell")
		if e.Band == nil {
			say([]string{"how far labels lie from their prediction"}, "noise hides it, or bounds it no closer than the labels' range; more rows or a larger ε would tell")
		}
	}
	return sentences
}

// unknown are those of a class's figures, or of all rows', that aren't there or are vacuous.
func (e *Evaluation) unknown(class string, names ...string) (list []string) {
	for _, name := range names {
		if f, known := e.ClassFigure(class, name); !known || f.Vacuous() {
			list = append(list, name)
		}
	}
	return list
}

const mostNamed = 8 // that a sentence lists

// few lists names, the first of many.
func few(names []string) string {
	text := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
