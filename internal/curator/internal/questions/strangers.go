package questions

import (
	"context"
	"encoding/gob"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// allClasses refuses rows elsewhere whose labels aren't all classes.
func allClasses(ctx context.Context, t *rows.Table, k int) error {
	count := make([]float64, 1)
	err := t.Sum(ctx, count, &strangers{k})
	if err == nil && count[0] > 0 {
		err = check.Fail(check.ErrLabel, "labels of the file", nil, fmt.Sprintf("must be classes, whole numbers from 0 to %d", k-1))
	}
	return err
}

// strangers asks for the number of rows whose labels aren't classes.
type strangers struct{ Classes int }

func (*strangers) Cut(t *rows.Table) rows.Cut { return t.InTiles(1) }

func (*strangers) Shifted() bool { return false }

func (q *strangers) Add(p *rows.Part) rows.Adder {
	return rows.EachRow(func(i int, sum []float64) {
		if y := p.Labels[i]; !(y >= 0 && y < float64(q.Classes) && y == math.Trunc(y)) {
			sum[0]++
		}
	})
}

func init() { gob.Register(&strangers{}) }
