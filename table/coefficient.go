package table

import "fmt"

// Intercept is the name of the intercept's [Coefficient].
const Intercept = "(Intercept)"

// Coefficient is a feature's part in a linear model, in the columns' own units, or the
// intercept, which has a name and a value only.
type Coefficient struct {
	Feature
	Value float64
}

// String returns the name and the value.
func (c Coefficient) String() string { return fmt.Sprintf("%s %.6g", c.Name, c.Value) }

// Coefficients is [Encoder.Units] with the features' names, the intercept last. It fails for
// another number of weights than features.
func (e *Encoder) Coefficients(weights []float64, intercept float64) ([]Coefficient, error) {
	values, intercept, err := e.Units(weights, intercept)
	if err != nil {
		return nil, err
	}
	out := make([]Coefficient, 0, len(values)+1)
	for i, f := range e.Features() {
		out = append(out, Coefficient{f, values[i]})
	}
	return append(out, Coefficient{Feature{Name: Intercept}, intercept}), nil
}
