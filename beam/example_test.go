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
)

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
