package stored_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
	tables "github.com/dpglm/dpglm/table"
)

// cutAt are where the rows of several files begin: one of them has one row, and none ends with a
// block or a tile.
var cutAt = []int{0, 1, 701, 2599}

// between are those from lo up to hi of a form.
func between(f given.Form, lo, hi int) given.Form {
	_, d := f.X.Dims()
	part := mat.DenseCopyOf(f.X).Slice(lo, hi, 0, d).(*mat.Dense)
	of := given.Form{Name: f.Name, X: part, Y: f.Y[lo:hi], Facts: f.Facts}
	if _, ok := f.X.(*dpglm.Sparse); ok {
		of.X = given.Sparsely(mat.DenseCopyOf(part))
	}
	for _, more := range f.More {
		switch m := more.(type) {
		case dpglm.Persons:
			m.Of = m.Of[lo:hi]
			more = m
		case dpglm.Weights:
			m.Of = m.Of[lo:hi]
			more = m
		case dpglm.Offsets:
			m.Of = m.Of[lo:hi]
			more = m
		}
		of.More = append(of.More, more)
	}
	return of
}

// inFiles writes a form's rows to several files, and returns the path of all.
func inFiles(t *testing.T, f given.Form) string {
	t.Helper()
	dir := t.TempDir()
	for k, lo := range cutAt {
		hi := len(f.Y)
		if k+1 < len(cutAt) {
			hi = cutAt[k+1]
		}
		of := between(f, lo, hi)
		if err := dpglm.WriteRows(ctx, filepath.Join(dir, fmt.Sprintf("%d.rows", k)), of.X, of.Y, of.More...); err != nil {
			t.Fatal(f.Name, err)
		}
	}
	return filepath.Join(dir, "*.rows")
}

// Rows in several files give the bits of the same rows in memory, in this process and by workers: of
// persons, too, who have rows in more than one, and of questions that read rows in another order.
func TestFilesHaveTheSameBits(t *testing.T) {
	forms := given.Forms(4000, 6)
	for i, f := range some([]given.Form{forms[6], forms[0], forms[4], forms[5]}) { // the others differ in bounds only
		if !sample.Nth(2, i) {
			continue
		}
		memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts, append(f.More[:len(f.More):len(f.More)], given.Ordered(1))...)
		if err != nil {
			t.Fatal(err)
		}
		path := inFiles(t, f)
		here, err := dpglm.OpenRows(ctx, path, f.Facts, given.Ordered(1))
		if err != nil {
			t.Fatal(f.Name, err)
		}
		defer here.Close()
		there, err := dpglm.OpenRowsOn(ctx, path, f.Facts, given.Workers{Count: 3, Dir: t.TempDir()}, given.Ordered(1))
		if err != nil {
			t.Fatal(f.Name, err)
		}
		defer there.Close()
		want := storedAnswers(t, f.Name, memory)
		for where, d := range map[string]*dpglm.Dataset{"files": here, "workers": there} {
			if d.Shape() != memory.Shape() {
				t.Fatalf("%s, %s: %+v, want %+v", f.Name, where, d.Shape(), memory.Shape())
			}
			got := storedAnswers(t, f.Name, d)
			if len(got) != len(want) || len(want) < 6 {
				t.Fatalf("%s, %s: %d answers, want %d", f.Name, where, len(got), len(want))
			}
			for name := range want {
				sameBits(t, f.Name+", "+name+", "+where, got[name], want[name])
			}
		}
	}
}

// Classes of rows in several files are those of the same rows in memory.
func TestFilesOfClasses(t *testing.T) {
	f := given.Forms(4000, 6)[0]
	r := rand.New(rand.NewPCG(8, 9))
	f.Y = slices.Clone(f.Y)
	for i := range f.Y {
		f.Y[i] = float64(r.IntN(3))
	}
	f.Facts = dpglm.Bounds{Feature: 1.5, Label: 2, Intercept: true}
	memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts)
	if err != nil {
		t.Fatal(err)
	}
	files, err := dpglm.OpenRows(ctx, inFiles(t, f), f.Facts)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	var weights [2][]float64
	for k, d := range []*dpglm.Dataset{memory, files} {
		m, err := dpglm.Softmax(ctx, d, given.OfClasses(logistic, 3), dpglm.ApproxDP(4, 1e-6), dpglm.SoftmaxConfig{}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		weights[k] = slices.Concat(m.Weights()...)
	}
	sameBits(t, "softmax", weights[1], weights[0])
}

// A table in parts, of persons who are known by a text and have rows in several, gives the bits of the
// table in one file, and its parts are taken together only.
func TestPartsOfATable(t *testing.T) {
	const schema = `{"version": 1, "label": "y", "person": "who", "max_rows": 3, "columns": [
	  {"name": "who", "kind": "id"},
	  {"name": "x", "kind": "numeric", "range": [0, 100]},
	  {"name": "y", "kind": "binary", "positive": ["yes"], "negative": ["no"]}]}`
	s, err := tables.ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 3))
	var b strings.Builder
	b.WriteString("who,x,y\n")
	for range 3000 {
		x := 100 * r.Float64()
		fmt.Fprintf(&b, "p%d,%.2f,%s\n", r.IntN(1500), x, map[bool]string{true: "yes", false: "no"}[x+20*r.NormFloat64() > 50])
	}
	dir := t.TempDir()
	csv, whole, parts := filepath.Join(dir, "a.csv"), filepath.Join(dir, "whole.rows"), filepath.Join(dir, "p.rows")
	if err := os.WriteFile(csv, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tables.WriteCSVFile(ctx, whole, csv, s); err != nil {
		t.Fatal(err)
	}
	paths, _, err := tables.WriteCSVParts(ctx, parts, 20_000, csv, s)
	if err != nil || len(paths) != 4 {
		t.Fatalf("%v: %v", paths, err)
	}
	var weights [2][]float64
	for k, path := range []string{whole, filepath.Join(dir, "p-*.rows")} {
		d, err := dpglm.OpenRows(ctx, path, nil, given.Ordered(1))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		m, err := dpglm.Auto(ctx, d, logistic, dpglm.ApproxDP(4, 1e-6), given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		weights[k] = m.Weights()[0]
	}
	sameBits(t, "parts", weights[1], weights[0])
	for _, path := range []string{paths[0], paths[1] + "," + paths[0], whole + "," + filepath.Join(dir, "p-*.rows")} {
		if _, err := dpglm.OpenRows(ctx, path, nil); !errors.Is(err, dpglm.ErrRowFile) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := dpglm.OpenRows(ctx, filepath.Join(dir, "none-*.rows"), nil); !errors.Is(err, tables.ErrFile) {
		t.Errorf("no file: %v", err)
	}
}

// A file that is damaged is refused by its name, and one that changes while a data set lies in it.
func TestOneOfTheFilesIsDamaged(t *testing.T) {
	f := given.Forms(4000, 6)[0]
	path := inFiles(t, f)
	d, err := dpglm.OpenRows(ctx, path, f.Facts)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	last := filepath.Join(filepath.Dir(path), "3.rows")
	file, err := os.OpenFile(last, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte{1, 2, 3}, 300); err != nil {
		t.Fatal(err)
	}
	_, fitted := dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(4, 1e-6), given.Seeded(1))
	_, again := dpglm.OpenRows(ctx, path, f.Facts)
	for what, err := range map[string]error{"a fit": fitted, "opening": again} {
		if !errors.Is(err, dpglm.ErrRowFile) || !strings.Contains(err.Error(), last) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
