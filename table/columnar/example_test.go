package columnar_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
	"github.com/dpglm/dpglm/table/columnar"
)

// clinic is what a codebook says of the clinic's table. Booleans are true and false.
const clinic = `{
  "version": 1,
  "label": "readmitted",
  "columns": [
    {"name": "age", "kind": "numeric", "range": [20, 100]},
    {"name": "ward", "kind": "categorical", "levels": ["medicine", "surgery"], "missing": "level"},
    {"name": "readmitted", "kind": "binary", "positive": ["true"], "negative": ["false"]}
  ]
}`

// written is a Parquet file of made-up stays in the clinic.
func written() string {
	fields := arrow.NewSchema([]arrow.Field{
		{Name: "readmitted", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "ward", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "age", Type: arrow.PrimitiveTypes.Int16},
		{Name: "notes", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}, // which the schema doesn't need
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, fields)
	random := rand.New(mechanisms.NewSeededSource(1))
	for range 20_000 {
		age := 20 + random.IntN(80)
		b.Field(0).(*array.BooleanBuilder).Append(random.IntN(100) < age)
		if ward := b.Field(1).(*array.StringBuilder); random.IntN(10) == 0 {
			ward.AppendNull()
		} else {
			ward.Append([]string{"medicine", "surgery"}[random.IntN(2)])
		}
		b.Field(2).(*array.Int16Builder).Append(int16(age))
		b.Field(3).AppendNull()
	}
	f, err := os.CreateTemp("", "*.parquet")
	if err != nil {
		log.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(fields, f, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(b.NewRecordBatch()); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return f.Name()
}

// A model is trained on a Parquet file.
func Example() {
	path := written()
	defer os.Remove(path)
	schema, err := table.ParseSchema([]byte(clinic)) // or table.ReadSchemaFile
	if err != nil {
		log.Fatal(err)
	}
	stays, err := columnar.ReadParquetFile(path, schema)
	if err != nil {
		log.Fatal(err)
	}
	data, err := dpglm.NewTableDataset(stays)
	if err != nil {
		log.Fatal(err)
	}
	// The noise is seeded for the output below to be the same each time; leave that out.
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	model, err := dpglm.Auto(context.Background(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env)
	if err != nil {
		log.Fatal(err)
	}
	for _, age := range []string{"30", "90"} {
		x, err := model.Encode(map[string]string{"age": age, "ward": "surgery"})
		if err != nil {
			log.Fatal(err)
		}
		p, err := model.Probabilities(x)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("at %s readmitted with probability %.1f\n", age, p.At(0, 1))
	}
	// Output:
	// at 30 readmitted with probability 0.3
	// at 90 readmitted with probability 0.9
}

// A file is opened by itself to predict for its rows: their features alone are read, and its
// labels need not be there.
func ExampleOpenParquet() {
	path := written()
	defer os.Remove(path)
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	f, err := columnar.OpenParquet(path, "age", "ward")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	t, err := table.ReadFeatures(f, schema)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t)
	// Output: table.Table of 20000 rows × 3 features
}
