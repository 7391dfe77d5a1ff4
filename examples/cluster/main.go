// Cluster fits a model to a table in many files that no process reads alone: workers of an Apache Beam runner encode its files, by a
// public schema, to files of rows, and read these in each pass. Files are Parquet, or CSV by -source csv.
//
//	go -C examples/cluster run . -data '/shared/people/*.parquet' -schema people.json -rows /shared/people.rows
//
// The label is a yes or no. The rows, people-00001.rows and so on, are private and stay; remove them, or fit others to them by
// beam.OpenRows. The runner is Prism, whose workers are in this process; on a cluster it is another one, with Beam's flags, and
// all machines find files and directories under the same paths: docs/CLUSTER.md says how.
//
// Copy it to begin a program of your own.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
	"github.com/dpglm/dpglm/table/columnar"
)

// In a worker, which is this program too, init runs as well, and before beam.Init.
func init() {
	err := beam.RegisterSource("parquet", func(path string, s table.Schema) (table.Source, error) {
		columns, err := columnar.Needed(s)
		if err != nil {
			return nil, err
		}
		return columnar.OpenParquet(path, columns...)
	})
	if err != nil {
		panic(err)
	}
}

func main() {
	var t task
	flag.StringVar(&t.data, "data", "", "the `files`, as a pattern or with commas between them")
	flag.StringVar(&t.source, "source", "parquet", "what they are, parquet or csv")
	schema := flag.String("schema", "", "the `file` of their schema")
	flag.StringVar(&t.rows, "rows", "", "the `path` of the files of rows, but for their numbers")
	flag.Float64Var(&t.epsilon, "epsilon", 1, "the privacy parameter ε")
	flag.Parse()
	beam.Init() // a worker stays here
	if t.data == "" || *schema == "" || t.rows == "" {
		fmt.Fprintln(os.Stderr, "cluster: -data, -schema and -rows must be given")
		os.Exit(2)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Prism says much
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if t.schema, err = table.ReadSchemaFile(*schema); err == nil {
		err = t.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// task is what to fit.
type task struct {
	data, source, rows string
	schema             table.Schema
	epsilon            float64
}

// run prints what may be published, and warnings, which may not, to the standard error.
func (t task) run(ctx context.Context) error {
	model, warnings, err := t.fit(ctx, nil)
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "For your eyes only:", w)
	}
	if err != nil {
		return err
	}
	coefficients, err := model.Coefficients()
	if err != nil {
		return err
	}
	fmt.Println(model.Ledger())
	for _, c := range coefficients {
		fmt.Printf("%-40s %9.4f\n", c.Name, c.Value)
	}
	return nil
}

// fit has workers write the rows, and fits a model to them. A nil env draws the noise from a cryptographic source.
func (t task) fit(ctx context.Context, env *dpglm.Env) (model *dpglm.Model, warnings []string, err error) {
	o := beam.Options{Runner: prism.Execute, Temp: filepath.Dir(t.rows)} // a shared directory
	paths, warnings, err := beam.Write(ctx, t.rows, t.source, t.data, t.schema, o)
	if err != nil {
		return nil, nil, err
	}
	data, err := beam.OpenRows(ctx, strings.Join(paths, ","), nil, o)
	if err != nil {
		return nil, warnings, err
	}
	defer data.Close()
	delta := math.Pow(float64(data.Shape().Rows), -1.5) // well below 1/n, and public as n is
	model, err = dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(t.epsilon, delta), env)
	return model, warnings, err
}
