package rows

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// counting is a projection to one number that counts the rows it is applied to.
type counting struct {
	columns int
	rows    *atomic.Int64
}

func (c counting) Dims() (k, d int)                                { return 1, c.columns }
func (c counting) Apply(dst, x []float64)                          { c.rows.Add(1); dst[0] = x[0] }
func (c counting) ApplySparse(dst []float64, _ []int, _ []float64) { c.rows.Add(1); dst[0] = 0 }

// A pass over a file whose first rows are damaged stops there: of the other parts those are read that were begun, and not all.
func TestPassesStopAtAnError(t *testing.T) {
	const columns, parts = 512, 80
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "rows")
	n := parts * partNumbers / columns
	if err := Write(ctx, path, mat.NewDense(n, columns, nil), make([]float64, n), Owners{}, nil, Range{}); err != nil {
		t.Fatal(err)
	}
	f, err := rowfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := NewStored(ctx, f, encoding.NewIdentity(columns, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	if got := n / partRows(table, table.Layout.TileRows); got != parts {
		t.Fatalf("%d parts", got)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // which says how many parts are begun before the first one ends
	var rows atomic.Int64
	passes := map[string]func() error{
		"projection": func() error { _, err := Project(ctx, table, counting{columns, &rows}, 1); return err },
		"sum": func() error {
			return table.Pass(ctx, nil, func(p *Part) Adder {
				return func(a *Workspace, tile Tile, lo int) { rows.Add(int64(tile.Rows)) }
			})
		},
	}
	for name, pass := range passes {
		if rows.Store(0); pass() != nil || rows.Load() != int64(n) {
			t.Fatalf("%s: %d rows of %d", name, rows.Load(), n)
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte{1, 2, 3}, 4096); err != nil {
		t.Fatal(err)
	}
	for name, pass := range passes {
		if rows.Store(0); pass() == nil || rows.Load() > int64(n)/2 {
			t.Errorf("%s: %d rows of %d were read, or there was no error", name, rows.Load(), n)
		}
	}
}
