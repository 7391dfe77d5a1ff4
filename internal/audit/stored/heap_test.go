package stored_test

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

var storedRows = flag.Int("storedrows", 100_000, "rows of TestStoredFitsHoldNoRows, of 50 columns")

// made is a matrix that computes its elements, so that only a file holds them.
type made struct{ n, d int }

func (m made) Dims() (r, c int) { return m.n, m.d }
func (m made) T() mat.Matrix    { return mat.Transpose{Matrix: m} }
func (m made) At(i, j int) float64 {
	h := (uint64(i)*0x9e3779b97f4a7c15 ^ uint64(j)*0xbf58476d1ce4e5b9) * 0x94d049bb133111eb
	return float64(int64(h^h>>29)>>11) / (1 << 52)
}

func (m made) labels() []float64 {
	y, r := make([]float64, m.n), rand.New(rand.NewPCG(5, 6))
	for i := range y {
		if m.At(i, 0)-m.At(i, 1)+m.At(i, 2) > r.NormFloat64() {
			y[i] = 1
		}
	}
	return y
}

// heap is the runtime's figure of memory that objects take, or took and that isn't free
// again.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() + s[1].Value.Uint64()
}

// A fit of rows in a file holds some bytes for each row, not the rows: at most 48, and some
// MiB. With -storedrows 5000000 that is the 2 GB of rows that docs/MEASURED.md tells of, in less
// than 300 MB.
func TestStoredFitsHoldNoRows(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes memory of its own")
	}
	m := made{*storedRows, 50}
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, m, m.labels()); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before, most := heap(), uint64(0)
	env := given.Seeded(1)
	env.Progress = func(int, int) { most = max(most, heap()) }
	d, err := dpglm.OpenRows(ctx, path, dpglm.Bounds{Feature: 8, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	most = max(most, heap())
	file, err := dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env)
	if err != nil {
		t.Fatal(err)
	}
	most -= min(before, most)
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	t.Logf("%d × %d: %d MB of heap for %d MB of rows; the heap never took more than %d MB", m.n, m.d, most>>20, m.n*m.d*8>>20, stats.HeapSys>>20)
	if limit := uint64(48*m.n + 16<<20); most > limit {
		t.Errorf("%d bytes of heap, more than %d", most, limit)
	}
	x := mat.DenseCopyOf(m)
	in, err := dpglm.NewDataset(x, m.labels(), dpglm.Bounds{Feature: 8, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := dpglm.Auto(ctx, in, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(file.Weights()[0], memory.Weights()[0]) {
		t.Error("other bits than in memory")
	}
}
