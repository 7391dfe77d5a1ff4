package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/dpglm/dpglm/mechanisms"
	tables "github.com/dpglm/dpglm/table"
)

//go:embed csv_read.py
var csvScript string

// csvColumns are the columns of the file but for the label: numbers with so many decimals, and
// levels, of which there are so many.
var csvColumns = struct{ decimals, levels []int }{[]int{2, 2, 2, 2, 0, 3, 3, 3, 3, 0}, []int{2, 3, 4, 6, 5}}

const (
	csvSeed     = 5
	csvDeviates = 30  // the standard deviation of its numbers
	csvRange    = 100 // which are clamped to −100 to 100
)

// csvSchema describes the file's columns.
func csvSchema() tables.Schema {
	s := tables.Schema{Version: tables.Version, Label: "y"}
	for i := range csvColumns.decimals {
		s.Columns = append(s.Columns, tables.Column{Name: fmt.Sprintf("x%d", i), Kind: tables.Numeric, Range: []float64{-csvRange, csvRange}})
	}
	for i, n := range csvColumns.levels {
		c := tables.Column{Name: fmt.Sprintf("c%d", i), Kind: tables.Categorical}
		for k := range n {
			c.Levels = append(c.Levels, fmt.Sprintf("kind%d", k))
		}
		s.Columns = append(s.Columns, c)
	}
	s.Columns = append(s.Columns, tables.Column{Name: "y", Kind: tables.Binary, Positive: []string{"yes"}, Negative: []string{"no"}})
	return s
}

// writeCSV writes a file of so many rows, the same each time.
func writeCSV(out io.Writer, s tables.Schema, rows int) error {
	w := bufio.NewWriter(out)
	for j, c := range s.Columns {
		if j > 0 {
			w.WriteByte(',')
		}
		w.WriteString(c.Name)
	}
	r := rand.New(mechanisms.NewSeededSource(csvSeed))
	for range rows {
		w.WriteByte('\n')
		score := 0.0
		for _, decimals := range csvColumns.decimals {
			v := r.NormFloat64()
			score += v / 2
			w.Write(strconv.AppendFloat(nil, csvDeviates*v, 'f', decimals, 64))
			w.WriteByte(',')
		}
		for _, c := range s.Columns[len(csvColumns.decimals) : len(s.Columns)-1] {
			w.WriteString(c.Levels[r.IntN(len(c.Levels))])
			w.WriteByte(',')
		}
		label := s.Columns[len(s.Columns)-1].Negative[0]
		if r.Float64() < 1/(1+math.Exp(-score)) {
			label = s.Columns[len(s.Columns)-1].Positive[0]
		}
		w.WriteString(label)
	}
	w.WriteByte('\n')
	return w.Flush()
}

// csvFiles are a file, its schema and a program that reads it, in a folder of their own.
type csvFiles struct{ dir, data string }

// newCSVFiles makes them; the caller removes the folder.
func newCSVFiles(rows int) (f csvFiles, bytes int, err error) {
	if f.dir, err = os.MkdirTemp("", "speed-"); err != nil {
		return f, 0, err
	}
	f.data = f.in("rows.csv")
	out, err := os.Create(f.data)
	if err != nil {
		return f, 0, err
	}
	defer out.Close()
	s := csvSchema()
	if err := writeCSV(out, s, rows); err != nil {
		return f, 0, err
	}
	if err := os.WriteFile(f.in("schema.json"), []byte(s.String()), 0o600); err != nil {
		return f, 0, err
	}
	info, err := out.Stat()
	if err != nil {
		return f, 0, err
	}
	if text, err := exec.Command("go", "build", "-o", f.in("csvfit"), "github.com/dpglm/dpglm/examples/csvfit").CombinedOutput(); err != nil {
		return f, 0, fmt.Errorf("csvfit can't be built: %w: %s", err, text)
	}
	return f, int(info.Size()), nil
}

func (f csvFiles) in(name string) string { return filepath.Join(f.dir, name) }

// csvfit times a run of the program, which writes a file of the given name anew.
func (f csvFiles) csvfit(output string, args ...string) func() (float64, error) {
	return func() (float64, error) {
		if err := os.RemoveAll(f.in(output)); err != nil {
			return 0, err
		}
		start := time.Now()
		text, err := exec.Command(f.in("csvfit"), append(args, "-data", f.data, "-o", f.in(output))...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("csvfit %s: %w: %s", args[0], err, text)
		}
		return time.Since(start).Seconds(), err
	}
}

// groups compare the reading of the file with that of other libraries, and show what programs
// take that read it.
func (f csvFiles) groups(rows, bytes int, python *script, libraries []string) []*group {
	s, schema := csvSchema(), f.in("schema.json")
	name := fmt.Sprintf("CSV, %d × %d, %d MB", rows, len(s.Columns), bytes/1_000_000)
	nothing := func() error { return nil }
	read := &group{name: name, bytes: bytes, prepare: nothing, ops: []*op{{name: "table.ReadCSVFile", ours: true, once: func() (float64, error) {
		start := time.Now()
		_, err := tables.ReadCSVFile(f.data, s)
		return time.Since(start).Seconds(), err
	}}}}
	for _, library := range libraries {
		read.ops = append(read.ops, &op{name: library, once: func() (float64, error) { return python.seconds(library + " " + f.data) }})
	}
	return []*group{read, {name: name + ", programs", bytes: bytes, prepare: nothing, ops: []*op{
		{name: "csvfit fit", once: f.csvfit("model.json", "fit", "-schema", schema, "-epsilon", "1", "-delta", "1e-8")},
		{name: "csvfit store", once: f.csvfit("stored.rows", "store", "-schema", schema)},
		{name: "csvfit predict", once: f.csvfit("predicted.csv", "predict", "-model", f.in("model.json"))},
	}}}
}

// runCSV measures the reading of a CSV of so many rows, and that of the libraries that Python has.
func runCSV(out, log io.Writer, o options) error {
	if o.csv < 1 || o.rounds < 1 {
		return fmt.Errorf("-csv is %d and -rounds is %d: they must be at least 1", o.csv, o.rounds)
	}
	var libraries []string
	for _, library := range []string{"polars", "pandas"} {
		if o.python != "" && has(o.python, library) {
			libraries = append(libraries, library)
		} else {
			fmt.Fprintf(log, "no Python with %s: measuring without\n", library)
		}
	}
	var python *script
	if libraries != nil {
		var err error
		if python, err = startScript(o.python, csvScript, "POLARS_MAX_THREADS"); err != nil {
			return err
		}
		defer python.stop()
	}
	fmt.Fprintln(log, "writing the file")
	f, bytes, err := newCSVFiles(o.csv)
	defer os.RemoveAll(f.dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %s, medians of %d rounds\n", machine(), runtime.Version(), o.rounds)
	return measured(out, log, f.groups(o.csv, bytes, python, libraries), o.rounds)
}
