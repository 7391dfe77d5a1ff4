package beam_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// The workers of Prism read two CSV files, and then the rows that they made of them.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "beam")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	schema, err := table.ParseSchema([]byte(`{"version": 1, "label": "paid", "where": [{"column": "age", "from": 18}], "columns": [
		{"name": "paid", "kind": "binary", "positive": ["yes"], "negative": ["no"]}, {"name": "age", "kind": "numeric", "range": [18, 90]}]}`))
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{"2024.csv": "age,paid\n31,yes\n40,no\n17,no\n", "2025.csv": "age,paid\n50,no\n80,yes\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	ctx, o := context.Background(), beam.Options{Runner: prism.Execute, Temp: dir}
	paths, warnings, err := beam.Write(ctx, filepath.Join(dir, "people.rows"), "csv", filepath.Join(dir, "*.csv"), schema, o)
	if err != nil {
		log.Fatal(err)
	}
	data, err := beam.OpenRows(ctx, filepath.Join(dir, "people-*.rows"), nil, o)
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	fmt.Println(len(paths), "files,", len(warnings), "warning,", data)
	// Output: 2 files, 1 warning, dpglm.Dataset of 4 rows × 2 weights
}

// The workers of Prism, in this process, read the rows. A main function calls flag.Parse and
// beam.Init before; on a cluster Runner, and the directories that workers share, are others.
func ExampleOpenRows() {
	dir, err := os.MkdirTemp("", "beam")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "people.rows")
	x, y := mat.NewDense(1000, 2, nil), make([]float64, 1000)
	for i := range y {
		x.SetRow(i, []float64{float64(i%10)/10 - 0.45, float64(i%7)/7 - 0.4})
		if x.At(i, 0) > 0 {
			y[i] = 1
		}
	}
	ctx := context.Background()
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		log.Fatal(err)
	}
	data, err := beam.OpenRows(ctx, path, dpglm.Bounds{Feature: 0.7, Intercept: true}, beam.Options{Runner: prism.Execute, Temp: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	m, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(data, "make a model of", len(m.Weights()[0]), "weights")
	// Output: dpglm.Dataset of 1000 rows × 3 weights make a model of 3 weights
}
