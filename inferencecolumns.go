package dpglm

import (
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/table"
)

// tableUnits are the rows that turn weights of a table's features into coefficients of its
// columns, the intercept's last, with their names: [table.Encoder.Units] is linear.
func tableUnits(e *table.Encoder) (*mat.Dense, []Coefficient, error) {
	features := e.Features()
	d := len(features)
	raw, names := mat.NewDense(d+1, d+1, nil), make([]Coefficient, d+1)
	for j := range d + 1 {
		unit := make([]float64, d+1)
		unit[j] = 1
		coefficients, intercept, err := e.Units(unit[:d], unit[d])
		if err != nil {
			return nil, nil, err
		}
		raw.SetCol(j, append(coefficients, intercept))
	}
	for j, f := range features {
		names[j] = Coefficient{Name: f.Name, Group: f.Group}
		if f.OneHot {
			names[j].Level = strings.Join(f.Levels, ":")
		}
	}
	names[d].Name = InterceptName
	return raw, names, nil
}
