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
