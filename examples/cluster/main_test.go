package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
	"github.com/dpglm/dpglm/table/columnar"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Prism says much
	os.Exit(m.Run())
}

// stays are a hospital's. Notes have no text that a schema could describe: who reads them fails.
var stays = arrow.NewSchema([]arrow.Field{
	{Name: "site", Type: arrow.BinaryTypes.String}, {Name: "notes", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	{Name: "age", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "ward", Type: arrow.BinaryTypes.String}, {Name: "again", Type: arrow.FixedWidthTypes.Boolean}}, nil)

const schema = `{"version": 1, "label": "again", "where": [{"column": "site", "in": ["north", "east"]}],
	"columns": [{"name": "again", "kind": "binary", "positive": ["true"], "negative": ["false"]},
		{"name": "age", "kind": "numeric", "range": [0, 99], "missing": "indicator"}, {"name": "ward", "kind": "categorical", "levels": ["a", "b", "c"]}]}`

// written writes Parquet files of so many stays each; those of the third are in the south.
func written(t *testing.T, dir string, sizes ...int) {
	t.Helper()
	i := 0
	for k, n := range sizes {
		b := array.NewRecordBuilder(memory.DefaultAllocator, stays)
		for range n {
			i++
			site := []string{"north", "south", "east"}[i*7%3]
			if k == 2 {
				site = "south"
			}
			b.Field(0).(*array.StringBuilder).Append(site)
			b.Field(1).AppendNull()
			if age := b.Field(2).(*array.Int32Builder); i%13 == 0 {
				age.AppendNull()
			} else {
				age.Append(int32(i * 7919 % 100))
			}
			b.Field(3).(*array.StringBuilder).Append([]string{"a", "b", "c"}[i*31%11%3])
			b.Field(4).(*array.BooleanBuilder).Append(i*7919%100+i*i%61 > 80)
		}
		batch := b.NewRecordBatch()
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("part-%d.parquet", k)))
		if err != nil {
			t.Fatal(err)
		}
		w, err := pqarrow.NewFileWriter(stays, f, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
		if err == nil {
			err = w.Write(batch)
		}
		if err == nil {
			err = w.Close() // and the file
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func seeded() *dpglm.Env { return &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} }

// A model of Parquet files that workers encode and read is that of the same files in memory, to the last bit.
func TestWorkersReadParquet(t *testing.T) {
	s, err := table.ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	ctx, dir, shared := context.Background(), t.TempDir(), t.TempDir()
	written(t, dir, 5000, 300, 40, 9000)
	files := filepath.Join(dir, "*.parquet")
	people, err := columnar.ReadParquetFile(files, s)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := dpglm.NewTableDataset(people)
	if err != nil {
		t.Fatal(err)
	}
	n := memory.Shape().Rows
	want, err := dpglm.Auto(ctx, memory, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, math.Pow(float64(n), -1.5)), seeded())
	if err != nil {
		t.Fatal(err)
	}
	got, warnings, err := task{data: files, source: "parquet", rows: filepath.Join(shared, "people.rows"), schema: s, epsilon: 1}.fit(ctx, seeded())
	if err != nil {
		t.Fatal(err)
	}
	if n < 9000 || n > 10_000 || !slices.EqualFunc(got.Weights(), want.Weights(), slices.Equal) {
		t.Errorf("of %d rows %v, want %v", n, got.Weights(), want.Weights())
	}
	if none := filepath.Join(dir, "part-2.parquet") + ": it has no row"; !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, none) }) {
		t.Errorf("%q", warnings)
	}
	if left, err := filepath.Glob(filepath.Join(shared, "*")); err != nil || len(left) != 3 {
		t.Errorf("there are %q (%v)", left, err)
	}
}

// A Parquet file that is cut short is named, and there are no rows then.
func TestDamagedParquet(t *testing.T) {
	s, err := table.ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	dir, shared := t.TempDir(), t.TempDir()
	written(t, dir, 500, 300)
	damaged := filepath.Join(dir, "part-1.parquet")
	if err := os.Truncate(damaged, 2000); err != nil {
		t.Fatal(err)
	}
	_, _, err = task{data: filepath.Join(dir, "*.parquet"), source: "parquet", rows: filepath.Join(shared, "people.rows"), schema: s, epsilon: 1}.fit(context.Background(), seeded())
	if err == nil || strings.Count(err.Error(), damaged) != 1 {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}
