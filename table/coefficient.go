package table

import "fmt"

// Intercept is the name of the intercept's [Coefficient].
const Intercept = "(Intercept)"

// Coefficient is a feature's part in a linear model, in the columns' own units, or the
// intercept, which has a name and a value only.
type Coefficient struct {
	Feature
	Value float64
	// Class is that of several whose score it is of; empty where there is one score.
	Class string
}

// String returns the class, if there are several, the name and the value.
func (c Coefficient) String() string {
	if c.Class != "" {
		return fmt.Sprintf("%s: %s %.6g", c.Class, c.Name, c.Value)
	}
	return fmt.Sprintf("%s %.6g", c.Name, c.Value)
}

// PerStep is the coefficient for the step that the schema states ("per"), under
// [Feature.StepName]; ok is false where it states none.
func (c Coefficient) PerStep() (per Coefficient, ok bool) {
	if c.Step == 0 {
		return Coefficient{}, false
	}
	c.Name, c.Value, c.Step = c.StepName(), c.Step*c.Value, 0
	return c, true
}

// Coefficients is [Encoder.Units] with the features' names, the intercept last. It fails for
// another number of weights than features.
func (e *Encoder) Coefficients(weights []float64, intercept float64) ([]Coefficient, error) {
	values, intercept, err := e.Units(weights, intercept)
	if err != nil {
		return nil, err
	}
	out := make([]Coefficient, 0, len(values)+1)
	for i, f := range e.Features() {
		out = append(out, Coefficient{Feature: f, Value: values[i]})
	}
	return append(out, Coefficient{Feature: Feature{Name: Intercept}, Value: intercept}), nil
}
