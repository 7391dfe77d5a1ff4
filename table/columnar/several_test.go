package columnar_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/dpglm/dpglm/table"
	"github.com/dpglm/dpglm/table/columnar"
)

// stays are a hospital's, with a column that has no text.
var stays = arrow.NewSchema([]arrow.Field{
	{Name: "site", Type: arrow.BinaryTypes.String}, {Name: "notes", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}, {Name: "who", Type: arrow.PrimitiveTypes.Int64},
	{Name: "ward", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "days", Type: arrow.PrimitiveTypes.Int32}}, nil)

// northern is the schema of those who are 18 at least and stay in the north or the east, where wards have other names than
// elsewhere.
func northern(t *testing.T) table.Schema {
	t.Helper()
	s, err := table.ParseSchema([]byte(`{"version": 1, "label": "days", "person": "who", "max_rows": 2,
		"where": [{"column": "age", "from": 18}, {"column": "site", "in": ["north", "east"]}],
		"columns": [{"name": "who", "kind": "id"}, {"name": "ward", "kind": "categorical", "levels": ["a", "b"], "missing": "level"},
			{"name": "age", "kind": "numeric", "range": [0, 99], "missing": "indicator"}, {"name": "days", "kind": "count", "cap": 6}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// staysFrom are the stays from one number up to another, and the same as lines of a CSV.
func staysFrom(first, last int) (arrow.RecordBatch, string) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, stays)
	var csv strings.Builder
	for i := first; i < last; i++ {
		site, ward, age := []string{"north", "south", "east"}[i%3], []string{"a", "b", ""}[i/3%3], fmt.Sprint(i*7%100)
		if site == "south" {
			ward = "unlisted"
		}
		b.Field(0).(*array.StringBuilder).Append(site)
		b.Field(1).AppendNull()
		b.Field(2).(*array.Int64Builder).Append(int64(i * i % 300))
		if w := b.Field(3).(*array.StringBuilder); ward == "" {
			w.AppendNull()
		} else {
			w.Append(ward)
		}
		if a := b.Field(4).(*array.Float64Builder); i%11 == 0 {
			age = ""
			a.AppendNull()
		} else {
			a.Append(float64(i * 7 % 100))
		}
		b.Field(5).(*array.Int32Builder).Append(int32(i % 7))
		fmt.Fprintf(&csv, "%s,,%d,%s,%s,%d\n", site, i*i%300, ward, age, i%7)
	}
	return b.NewRecordBatch(), csv.String()
}

const staysHeader = "site,notes,who,ward,age,days\n"

// parts are directories with files of stays, one of them without a row, as Parquet, Arrow files and streams, and the
// rows of all as a CSV file.
func parts(t *testing.T) (patterns []string, csv string) {
	t.Helper()
	dir, text := t.TempDir(), staysHeader
	for k, bounds := range [][2]int{{0, 900}, {900, 900}, {900, 1000}, {1000, 2000}} {
		batch, lines := staysFrom(bounds[0], bounds[1])
		text += lines
		for _, path := range write(t, batch) {
			under := filepath.Join(dir, filepath.Ext(path)[1:])
			to := filepath.Join(under, fmt.Sprintf("part-%d%s", k, filepath.Ext(path)))
			if err := errors.Join(os.MkdirAll(under, 0o700), os.Rename(path, to)); err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				patterns = append(patterns, filepath.Join(under, "*"+filepath.Ext(path)))
			}
		}
	}
	csv = filepath.Join(dir, "all.csv")
	if err := os.WriteFile(csv, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return patterns, csv
}

// rowsOf is the text of a file of rows that is written from a source.
func rowsOf(t *testing.T, src table.Source, s table.Schema) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.rows")
	if _, err := table.Write(context.Background(), path, src, s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Files that are read together are the table of one CSV with the same rows, of which those that fulfil the
// schema's conditions are there, and no others are looked at: in memory, and in a file of rows.
func TestSeveralFilesAreOneTable(t *testing.T) {
	s := northern(t)
	patterns, csv := parts(t)
	want, err := table.ReadCSVFile(csv, s)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := want.Dims(); n < 800 || n > 1300 {
		t.Fatalf("%d rows of the CSV are there", n)
	}
	c, err := table.OpenCSVAs(csv, s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rows := rowsOf(t, c, s)
	needed, err := columnar.Needed(s)
	if err != nil {
		t.Fatal(err)
	}
	for k, pattern := range patterns {
		got, err := read(pattern, s)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Labels(), want.Labels()) || !slices.Equal(got.Persons(), want.Persons()) || !slices.Equal(got.Dense().RawMatrix().Data, want.Dense().RawMatrix().Data) || !slices.Equal(got.Warnings(), want.Warnings()) {
			t.Errorf("%s: the tables differ: %v %v, warnings %q, want %q", pattern, got, want, got.Warnings(), want.Warnings())
		}
		open := columnar.OpenArrow
		if k == 0 {
			open = columnar.OpenParquet
		}
		f, err := open(pattern, needed...)
		if err != nil {
			t.Fatal(err)
		}
		if text := rowsOf(t, f, s); text != rows {
			t.Errorf("%s: other rows are written", pattern)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Errors about one of several files name it, also when it is asked for again.
func TestErrorsOfSeveralFiles(t *testing.T) {
	s, dir := northern(t), t.TempDir()
	good, _ := staysFrom(0, 60)
	first := write(t, good)[0]
	put := func(name, of string) string {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(of)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, missing := put("a.parquet", first), filepath.Join(dir, "missing.parquet")
	s.Where = s.Where[:1] // the south is there, too
	for name, c := range map[string]struct {
		path string
		kind error
		says string
	}{
		"a value":        {a + "," + put("b.parquet", first), table.ErrValue, `a.parquet, row 5, column "ward": "unlisted"`},
		"no file":        {a + "," + missing, os.ErrNotExist, missing},
		"no pattern":     {filepath.Join(dir, "none*.parquet"), table.ErrFile, "none*.parquet"},
		"twice":          {a + "," + a, table.ErrFile, "the same file"},
		"another format": {a + "," + put("c.parquet", write(t, good)[1]), table.ErrFile, "c.parquet: it is not a Parquet file"},
		"other columns":  {a + "," + put("d.parquet", write(t, batch(t))[0]), table.ErrColumn, "d.parquet"},
		"another order":  {a + "," + put("e.parquet", write(t, turned(t, good))[0]), table.ErrColumn, "e.parquet: its columns are"},
	} {
		at := s
		if name != "a value" {
			at = northern(t)
		}
		_, err := columnar.ReadParquetFile(c.path, at)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	f, err := columnar.OpenParquet(a+","+filepath.Join(dir, "e.parquet"), "site", "days")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 60 {
		if _, err := f.Next(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if record, err := f.Next(); !errors.Is(err, table.ErrColumn) {
			t.Errorf("after the first file: %v, %v", record, err)
		}
	}
}

// turned is a batch with its columns in another order.
func turned(t *testing.T, b arrow.RecordBatch) arrow.RecordBatch {
	t.Helper()
	fields, columns := slices.Clone(b.Schema().Fields()), slices.Clone(b.Columns())
	slices.Reverse(fields)
	slices.Reverse(columns)
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, b.NumRows())
}

// Where a file that follows can't be read the place is that where the last one ended, and observing says why.
func TestPlaceAfterABadFile(t *testing.T) {
	text := arrow.Field{Name: "a", Type: arrow.BinaryTypes.String}
	list := arrow.Field{Name: "a", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}
	label := arrow.Field{Name: "y", Type: arrow.BinaryTypes.String}
	dir := t.TempDir()
	for k, field := range []arrow.Field{text, list} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{field, label}, nil))
		if of, ok := b.Field(0).(*array.StringBuilder); ok {
			of.Append("x")
		} else {
			b.Field(0).AppendNull()
		}
		b.Field(1).(*array.StringBuilder).Append("1")
		for _, path := range write(t, b.NewRecordBatch()) {
			under := filepath.Join(dir, filepath.Ext(path)[1:])
			if err := errors.Join(os.MkdirAll(under, 0o700), os.Rename(path, filepath.Join(under, fmt.Sprint(k, filepath.Ext(path))))); err != nil {
				t.Fatal(err)
			}
		}
	}
	draft, err := table.ParseDraft([]byte(`{"version": 1, "private": ["y"], "label": "y",
		"columns": [{"name": "a", "kind": "categorical"}, {"name": "y", "kind": "numeric", "range": [0, 9]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := os.ReadDir(dir)
	if err != nil || len(kinds) < 3 {
		t.Fatal(kinds, err)
	}
	for _, kind := range kinds {
		open := columnar.OpenArrow
		if kind.Name() == "parquet" {
			open = columnar.OpenParquet
		}
		f, err := open(filepath.Join(dir, kind.Name(), "*"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := table.Observe(f, draft); err == nil || !strings.Contains(err.Error(), filepath.Join(kind.Name(), "1")) {
			t.Errorf("%s: %v", kind.Name(), err)
		}
		if unit, number := f.Place(); !strings.HasPrefix(unit, "0.") || number != 1 {
			t.Errorf("%s: it ended at %s %d", kind.Name(), unit, number)
		}
	}
}
