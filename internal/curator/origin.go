package curator

import "github.com/dpglm/dpglm/internal/release"

// origin is what a model keeps of the data set that it was trained on: whom its
// answers belong to, and how queries are encoded and bounded. It holds no row.
type origin struct {
	rows     *release.Rows
	encoding Encoding
}

func (d *Data) origin() origin { return origin{d.rows, *d.table.Encoding()} }

// answer is what f makes of a query x, encoded and bounded as rows are.
func (o *origin) answer(x []float64, l2 float64, f func(u []float64) float64) (release.Answer, error) {
	u, err := o.encoding.Encode(x)
	if err != nil {
		return release.Answer{}, err
	}
	return release.NewAnswer(o.rows, []float64{f(u)}, l2), nil
}
