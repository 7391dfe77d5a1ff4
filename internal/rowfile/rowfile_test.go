package rowfile

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// row is row i of the tests' files.
func row(i, columns int) (values []float64, label float64, beside []float64) {
	for j := range columns {
		if (i*7+j*3)%5 > 1 {
			values = append(values, float64(i)+float64(j)/64)
		} else {
			values = append(values, 0)
		}
	}
	return values, float64(-i), []float64{float64(i % 10), 0.5}
}

func write(t testing.TB, n, columns int, sparse bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows")
	w, err := Create(path, Facts{Columns: columns, Sparse: sparse, Beside: []string{Person, Offset}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		values, label, beside := row(i, columns)
		if err := w.Append(nil, values, label, beside...); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(Details{Persons: Persons{Count: 10, MaxRows: n}}); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// dense is a chunk as full rows.
func (c *Chunk) dense(columns int) [][]float64 {
	rows := make([][]float64, c.Rows)
	for i := range rows {
		rows[i] = make([]float64, columns)
		if len(c.Indptr) != c.Rows+1 {
			copy(rows[i], c.Values[i*columns:])
			continue
		}
		for k := c.Indptr[i]; k < c.Indptr[i+1]; k++ {
			rows[i][c.Indices[k]] = c.Values[k]
		}
	}
	return rows
}

// holds reports rows of a file that aren't those of row.
func holds(t *testing.T, f *File, at func(k int) int) {
	t.Helper()
	r, c := f.Reader(), new(Chunk)
	for lo, step := 0, 1; lo < f.Rows; lo, step = lo+step, (step*3)%1009 {
		hi := min(lo+step, f.Rows)
		if err := r.Read(c, lo, hi); err != nil {
			t.Fatal(err)
		}
		for k, got := range c.dense(f.Columns) {
			values, label, beside := row(at(lo+k), f.Columns)
			if !slices.Equal(got, values) || c.Labels[k] != label || c.Beside[0][k] != beside[0] || c.Beside[1][k] != beside[1] {
				t.Fatalf("row %d is %v, %g", lo+k, got, c.Labels[k])
			}
		}
	}
}

func TestRows(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		for _, n := range []int{1, 511, 512, 513, 5000} {
			f := opened(t, write(t, n, 37, sparse))
			if f.Rows != n || f.Columns != 37 || f.Sparse != sparse || f.Persons.Count != 10 || n == 5000 && f.Blocks() < 5 {
				t.Errorf("%+v", f.Facts)
			}
			holds(t, f, func(k int) int { return k })
		}
	}
}

// A pick holds the rows in the order that was asked for, also where it takes many buckets.
func TestPick(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		f := opened(t, write(t, 60_000, 37, sparse))
		order := rand.New(rand.NewPCG(1, 2)).Perm(f.Rows)[:50_000]
		p, err := f.Pick(context.Background(), order)
		if err != nil {
			t.Fatal(err)
		}
		if p.Rows != len(order) {
			t.Fatalf("%d rows", p.Rows)
		}
		holds(t, p, func(k int) int { return order[k] })
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	cancelled, stop := context.WithCancel(context.Background())
	stop()
	f := opened(t, write(t, 10, 3, false))
	if _, err := f.Pick(cancelled, []int{3, 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A copy of a name has numbers beside that the file hasn't, or others of their name, each with its
// row.
func TestPickTo(t *testing.T) {
	order := rand.New(rand.NewPCG(1, 2)).Perm(2000)[:1500]
	shares, last := make([]float64, len(order)), make([]float64, len(order))
	for k := range order {
		shares[k], last[k] = float64(k), float64(k%2)
	}
	ctx, dir := context.Background(), t.TempDir()
	f := opened(t, write(t, 2000, 7, true))
	if err := f.PickTo(ctx, filepath.Join(dir, "1"), order, map[string][]float64{Share: shares, Last: last}); err != nil {
		t.Fatal(err)
	}
	first := opened(t, filepath.Join(dir, "1"))
	if err := first.PickTo(ctx, filepath.Join(dir, "2"), []int{9, 4}, map[string][]float64{Share: {70, 80}, Last: {1, 1}}); err != nil {
		t.Fatal(err)
	}
	var c Chunk
	for name, want := range map[string]struct {
		rows         []int
		shares, last []float64
	}{"1": {order[:10], shares[:10], last[:10]}, "2": {[]int{order[9], order[4]}, []float64{70, 80}, []float64{1, 1}}} {
		p := opened(t, filepath.Join(dir, name))
		if err := p.Reader().Read(&c, 0, len(want.rows)); err != nil {
			t.Fatal(err)
		}
		at := func(name string) []float64 { return c.Beside[slices.Index(p.Beside, name)] }
		if len(p.Beside) != 4 || !slices.Equal(at(Share), want.shares) || !slices.Equal(at(Last), want.last) {
			t.Errorf("%s: beside %v are %v", name, p.Beside, c.Beside)
		}
		for k, i := range want.rows {
			if _, label, beside := row(i, 7); c.Labels[k] != label || c.Beside[0][k] != beside[0] {
				t.Errorf("%s: row %d has label %g", name, k, c.Labels[k])
			}
		}
	}
	if err := f.PickTo(ctx, filepath.Join(dir, "1"), order, nil); !errors.Is(err, check.ErrRowFile) {
		t.Errorf("a file of that name: %v", err)
	}
}

// Nothing is left of a file that isn't whole, and none is written over.
func TestHalfWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	begin := func() *Writer {
		w, err := Create(path, Facts{Columns: 2})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	begin().Discard()
	if err := begin().Close(Details{}); !errors.Is(err, check.ErrShape) {
		t.Errorf("no rows: %v", err)
	}
	w := begin()
	if err := w.Append([]int{1, 0}, []float64{1, 2}, 0); !errors.Is(err, check.ErrShape) {
		t.Errorf("columns that fall: %v", err)
	}
	if err := w.Append(nil, []float64{1}, 0); !errors.Is(err, check.ErrShape) {
		t.Errorf("a short row: %v", err)
	}
	w.last().file.Close()
	if err := w.Append(nil, []float64{1, 2}, 0); err != nil {
		t.Error(err)
	}
	if err := w.Close(Details{}); err == nil {
		t.Error("what can't be written makes no error")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	done := write(t, 3, 2, false)
	if _, err := Create(done, Facts{Columns: 2}); !errors.Is(err, check.ErrRowFile) {
		t.Errorf("a file that exists: %v", err)
	}
}

// Rows are for their owner's eyes, whatever the process lets others read, while they are written
// and after.
func TestFilesAreTheirOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions of files are those of Unix")
	}
	path := filepath.Join(t.TempDir(), "rows")
	w, err := Create(path, Facts{Columns: 2})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		files, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		if info, err := files[0].Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v (%v)", files[0].Name(), info.Mode(), err)
		}
		if k == 0 {
			if err := w.Append(nil, []float64{1, 2}, 0); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(Details{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A file that gets the name while the rows are written stays, and the rows go.
func TestNameTakenMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	w, err := Create(path, Facts{Columns: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(nil, []float64{1, 2}, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(Details{}); !errors.Is(err, check.ErrRowFile) {
		t.Errorf("a name that was taken meanwhile: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "another's" {
		t.Errorf("the other file holds %q (%v)", text, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

// inMemory are a file's bytes.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

func openBytes(data []byte) (*File, error) {
	p, err := open(inMemory{bytes.NewReader(data)}, int64(len(data)), "bytes")
	if err != nil {
		return nil, err
	}
	f := &File{parts: []*part{p}}
	return f, f.join()
}

// readAll reads all rows of a file.
func readAll(data []byte) error {
	f, err := openBytes(data)
	if err != nil {
		return err
	}
	r, c := f.Reader(), new(Chunk)
	for lo := 0; lo < f.Rows; lo += f.BlockRows {
		if err := r.Read(c, lo, min(lo+f.BlockRows, f.Rows)); err != nil {
			return err
		}
	}
	return nil
}

// A file in which any byte was changed, or that ends at any place, is refused when it is
// opened, or at the latest when the rows are read.
func TestDamage(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		whole, err := os.ReadFile(write(t, 40, 3, sparse))
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, at int, data []byte) {
			if err := readAll(data); !errors.Is(err, check.ErrRowFile) {
				t.Fatalf("%s at %d of %d: %v", what, at, len(whole), err)
			}
		}
		for at := range whole {
			if at >= len(magic)+4 && at < headSize {
				continue // unused
			}
			data := slices.Clone(whole)
			data[at] ^= 1 << (at % 8)
			refused("a bit", at, data)
			refused("the end", at, whole[:at])
		}
		refused("more", 0, append(slices.Clone(whole), 0))
	}
}

// A file that changes while it is open is refused by the next who reads there.
func TestChangedWhileOpen(t *testing.T) {
	path := write(t, 5000, 37, false)
	f := opened(t, path)
	out, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	at := f.parts[0].blocks[2].start + 100
	if _, err := out.WriteAt([]byte{1, 2, 3}, at); err != nil {
		t.Fatal(err)
	}
	r, c := f.Reader(), new(Chunk)
	if err := r.Read(c, 0, f.BlockRows); err != nil {
		t.Error(err)
	}
	if err := r.Read(c, 0, f.Rows); !errors.Is(err, check.ErrRowFile) {
		t.Errorf("changed: %v", err)
	}
	if err := out.Truncate(at); err != nil {
		t.Fatal(err)
	}
	if err := r.Read(c, 3*f.BlockRows, f.Rows); !errors.Is(err, check.ErrRowFile) {
		t.Errorf("cut: %v", err)
	}
	if err := r.Read(c, 0, f.BlockRows); err != nil {
		t.Errorf("what is still there: %v", err)
	}
}

// FuzzOpen opens and reads whatever bytes there are: it makes errors, not panics, and what it
// reads without one has the form that the facts say.
func FuzzOpen(f *testing.F) {
	for _, sparse := range []bool{false, true} {
		for _, n := range []int{1, 600} {
			data, err := os.ReadFile(write(f, n, 2, sparse))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, signed(data)} {
			file, err := openBytes(data)
			if err != nil {
				continue
			}
			r, c := file.Reader(), new(Chunk)
			for lo := 0; lo < file.Rows; lo += file.BlockRows {
				if r.Read(c, lo, min(lo+file.BlockRows, file.Rows)) == nil && (len(c.Labels) != c.Rows || file.Columns < 100 && len(c.dense(file.Columns)) != c.Rows) {
					t.Errorf("%d rows, %d labels", c.Rows, len(c.Labels))
				}
			}
		}
	})
}

func TestFactsStayTheSame(t *testing.T) {
	f := opened(t, write(t, 9, 4, true))
	want := Facts{Rows: 9, Columns: 4, Sparse: true, BlockRows: sparseRows, Beside: []string{Person, Offset}, Details: Details{Persons: Persons{Count: 10, MaxRows: 9}}}
	if !reflect.DeepEqual(f.Facts, want) {
		t.Errorf("%+v, want %+v", f.Facts, want)
	}
}
