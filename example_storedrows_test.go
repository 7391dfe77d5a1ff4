package dpglm_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// Rows that don't fit in memory are written to a file once, and trained on there.
func ExampleOpenRows() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "rows")
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
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		log.Fatal(err)
	}
	data, err := dpglm.OpenRows(ctx, path, dpglm.Bounds{Feature: 0.7, Intercept: true})
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
