package rows

import (
	"context"
	"encoding/gob"
	"fmt"
	"github.com/dpglm/dpglm/internal/check"
	"math"
)

// allClasses refuses rows elsewhere whose labels aren't all classes.
func allClasses(ctx context.Context, t *Table, k int) error {
	count := make([]float64, 1)
	err := t.sum(ctx, count, &strangers{k})
	if err == nil && count[0] > 0 {
		err = check.Fail(check.ErrLabel, "labels of the file", nil, fmt.Sprintf("must be classes, whole numbers from 0 to %d", k-1))
	}
	return err
}

// strangers asks for the number of rows whose labels aren't classes.
type strangers struct{ Classes int }

func (*strangers) cut(t *Table) cut { return t.inTiles(1) }

func (*strangers) shifted() bool { return false }

func (q *strangers) add(p *part) adder {
	return eachRow(func(i int, sum []float64) {
		if y := p.labels[i]; !(y >= 0 && y < float64(q.Classes) && y == math.Trunc(y)) {
			sum[0]++
		}
	})
}

func init() { gob.Register(&strangers{}) }
