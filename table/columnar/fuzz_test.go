package columnar_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/dpglm/dpglm/table"
	"github.com/dpglm/dpglm/table/columnar"
)

// damaged reads a file that may be damaged: there is a table, or an error of a kind that
// package table has, and never a panic.
func damaged(t *testing.T, path string, data []byte, read func(path string, s table.Schema) (*table.Table, error)) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := read(path, schema())
	if (got == nil) == (err == nil) {
		t.Fatalf("%v and %v", got, err)
	}
	if err != nil && !errors.Is(err, table.ErrFile) && !errors.Is(err, table.ErrColumn) && !errors.Is(err, table.ErrValue) {
		t.Errorf("%v is of no kind", err)
	}
}

// plainly are the bytes of a Parquet file without the Arrow schema, and of an Arrow file and
// stream. The decoder of that schema, which the latter have, believes every size that it reads,
// and may ask for more memory than there is: so it is left whole here.
func plainly(t testing.TB) (files [][]byte) {
	t.Helper()
	for _, path := range writeWith(t, pqarrow.DefaultWriterProps(), batch(t)) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, text)
	}
	return files
}

// Parquet files with up to four bytes that are others are read or refused.
func TestDamagedParquet(t *testing.T) {
	random, path, text := rand.New(rand.NewPCG(1, 2)), filepath.Join(t.TempDir(), "f"), plainly(t)[0]
	for range 400 {
		bad := slices.Clone(text)
		for range 1 + random.IntN(4) {
			bad[random.IntN(len(bad))] = byte(random.IntN(256))
		}
		damaged(t, path, bad, columnar.ReadParquetFile)
	}
}

// Files that end early are refused, wherever that is.
func TestFilesCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for k, text := range plainly(t) {
		read := columnar.ReadArrowFile
		if k == 0 {
			read = columnar.ReadParquetFile
		}
		for end := 0; end < len(text); end += 1 + len(text)/150 {
			damaged(t, path, text[:end], read)
		}
	}
}

// Any bytes are read or refused within the limit of a file of their size.
func FuzzParquet(f *testing.F) { fuzz(f, columnar.ReadParquetFile, "parquet") }

func FuzzArrow(f *testing.F) { fuzz(f, columnar.ReadArrowFile, "arrow") }

func fuzz(f *testing.F, read func(string, table.Schema) (*table.Table, error), kind string) {
	for name, text := range encodings(f) {
		if strings.HasPrefix(name, kind) {
			f.Add(text)
			f.Add(text[:len(text)/2])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		asksForLittle(t, filepath.Join(t.TempDir(), "f"), data, read, limit)
	})
}
