package columnar_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpglm/dpglm/table"
	"github.com/dpglm/dpglm/table/columnar"
)

// fuzz reads damaged files: there is a table, or an error of a kind that package table has,
// and never a panic.
func fuzz(f *testing.F, from int, read func(path string, s table.Schema) (*table.Table, error)) {
	paths := write(f, batch(f))
	text, err := os.ReadFile(paths[from])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)/2])
	for _, at := range []int{8, len(text) / 3, len(text) / 2, len(text) - 40} { // pages, counts and types that contradict others
		for _, with := range []byte{0x00, 0x7f, 0xff} {
			bad := append([]byte{}, text...)
			bad[at] = with
			f.Add(bad)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := read(path, schema())
		if (got == nil) == (err == nil) {
			t.Fatalf("%v and %v", got, err)
		}
		if err != nil && !errors.Is(err, table.ErrFile) && !errors.Is(err, table.ErrColumn) && !errors.Is(err, table.ErrValue) && !errors.As(err, new(*fs.PathError)) {
			t.Errorf("%v is of no kind", err)
		}
	})
}

func FuzzParquet(f *testing.F) { fuzz(f, 0, columnar.ReadParquetFile) }

func FuzzArrow(f *testing.F) { fuzz(f, 1, columnar.ReadArrowFile) }

func FuzzArrowStream(f *testing.F) { fuzz(f, 2, columnar.ReadArrowFile) }
