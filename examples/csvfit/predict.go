package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// predict adds a model's predictions to the rows of a file, of which it keeps few at a
// time. Means are those at a row's exposure, held to the label's range.
func predict(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit predict", flag.ContinueOnError)
	model := f.String("model", "", "`file` of a model")
	path := f.String("data", "", "data `file`"+task.Several+".csv, .tsv, .txt or .libsvm, or any of them with .gz; of persons without \"period\", a model of hazards tells survival")
	output := f.String("o", "", "CSV `file` for the predictions, means held to the label's range; there must be none of that name (default: standard output)")
	intervals := f.Bool("interval", false, "add the ends of each mean's interval, of a model by -method infer: they are about the mean of all such rows, not about one")
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	if *path == "" {
		return task.Usage("-data is missing or empty: name the file whose rows are to be predicted")
	}
	libsvm, err := task.IsLIBSVM(*path)
	if err != nil {
		return err
	}
	if err := task.DataExist("data", *path); err != nil {
		return err
	}
	if err := task.HasColumns("data", *path); err != nil {
		return err
	}
	m, found, err := readModel(*model)
	if err != nil {
		return err
	}
	switch {
	case *intervals && m.Levels() != nil:
		return task.Usage("-interval is for a label that has a mean, and that of %s has levels, whose probabilities have no intervals: leave it out", *model)
	case *intervals && found.one == nil:
		return task.Usage("-interval: %s has none; fit it by -method infer", *model)
	}
	if libsvm != (m.Encoder() == nil) {
		return task.Usage("-data %s: the model was trained on a file of the other format; CSV has columns, and LIBSVM has numbers of features", *path)
	}
	out, err := newFile("o", *output, false)
	if err != nil {
		return err
	}
	defer out.discard()
	w := csv.NewWriter(stdout)
	if out != nil {
		w = csv.NewWriter(out)
	}
	p := newPredictions(m, w)
	if *intervals {
		p.found, p.names = found.one, append(p.names, "low", "high")
	}
	if libsvm {
		_, err = task.Await(ctx, func() (any, error) { return nil, p.libsvm(*path) })
	} else {
		err = p.columns(ctx, *path)
	}
	if err != nil {
		return err
	}
	for _, warning := range p.warnings {
		fmt.Fprintln(stderr, "csvfit: "+warning)
	}
	if w.Flush(); w.Error() != nil || out == nil {
		return w.Error()
	}
	return out.keep()
}

// predictions writes rows with what a model predicts of them.
type predictions struct {
	*dpglm.Model
	w       *csv.Writer
	names   []string         // of the columns that are added
	mean    bool             // the first is a probability or another mean
	classes [2]string        // for the last but the ends of an interval; empty where it is no class
	found   *dpglm.Inference // for intervals

	warnings []string // of what was odd in the file
}

func newPredictions(m *dpglm.Model, w *csv.Writer) *predictions {
	p, e := &predictions{Model: m, w: w, names: []string{"prediction"}}, m.Encoder()
	if levels := m.Levels(); levels != nil {
		p.names = nil
		for _, level := range levels {
			p.names = append(p.names, "probability="+level)
		}
		p.names = append(p.names, "class")
		return p
	}
	p.mean = m.Link().Probability() || e != nil
	switch {
	case m.Link().Probability():
		p.names, p.classes = []string{"probability", "class"}, [2]string{"0", "1"}
	case e != nil && e.Label().Kind == table.Binary:
		p.names, p.mean, p.classes = []string{"class"}, false, [2]string{"0", "1"}
	}
	if e != nil && p.classes[1] != "" {
		if c := e.Schema().LabelColumn(); c.Above == nil {
			p.classes = [2]string{c.Negative[0], c.Positive[0]}
		}
	}
	return p
}

// batch is how many rows are predicted at a time.
const batch = 1024

// columns predicts for the rows of a CSV file, and writes its columns as well.
func (p *predictions) columns(ctx context.Context, path string) error {
	src, err := table.OpenCSVAs(path, p.Encoder().Schema())
	if err != nil {
		return err
	}
	defer src.Close()
	if err := p.records(ctx, src); err != nil {
		return fmt.Errorf("%s: %w", task.Called(path), err)
	}
	return nil
}

// records predicts for the rows of a file that is open.
func (p *predictions) records(ctx context.Context, src *table.CSV) error {
	e, header := p.Encoder(), src.Header()
	if p.persons(header) {
		return p.survival(ctx, src)
	}
	b, err := e.Bind(header)
	if err != nil {
		return err
	}
	for _, name := range p.names {
		if slices.Contains(header, name) {
			return fmt.Errorf("column %q is in the file, and would be that of the predictions; rename it", name)
		}
	}
	if err := p.w.Write(append(header, p.names...)); err != nil {
		return err
	}
	err = p.inTurn(ctx, len(e.Features()), func(k *chunk) error { return p.fill(k, b, src) })
	p.warnings = append(p.unexposed(header), b.Warnings()...)
	return err
}

// chunk is some records of a file, and what they are encoded as.
type chunk struct {
	x         *mat.Dense
	rows      [][]string // their fields, with room for predictions
	exposures []float64
	err       error // after these; io.EOF where the file has ended
}

// inTurn has chunks filled, and writes each while the next ones are being filled, until the one
// with an error.
func (p *predictions) inTurn(ctx context.Context, columns int, fill func(*chunk) error) error {
	const atOnce = 3 // one that is filled, one that waits and one that is written
	empty, full := make(chan *chunk, atOnce), make(chan *chunk, atOnce)
	for range atOnce {
		empty <- &chunk{x: mat.NewDense(batch, columns, nil)}
	}
	go func() {
		defer close(full)
		for k := range empty {
			k.err = fill(k)
			if full <- k; k.err != nil {
				return
			}
		}
	}()
	var failed error
	for k := range full { // until the file is no longer in use
		if failed != nil {
			continue
		}
		if failed = k.err; failed == nil {
			failed = errors.Join(ctx.Err(), p.write(k.x, k.rows, k.exposures))
		} else if errors.Is(failed, io.EOF) {
			failed = cmp.Or(p.write(k.x, k.rows, k.exposures), failed)
		}
		if failed != nil {
			close(empty)
			continue
		}
		empty <- k
	}
	if errors.Is(failed, io.EOF) {
		return nil
	}
	return failed
}

// fill reads the next records, as many as there is room for.
func (p *predictions) fill(k *chunk, b *table.Binding, src *table.CSV) error {
	k.rows, k.exposures = k.rows[:0], k.exposures[:0]
	for n := range batch {
		fields, err := src.Next()
		if err != nil {
			return err
		}
		b.At(src.Place())
		if err := b.Encode(k.x.RawRowView(n), fields); err != nil {
			return remedied(err)
		}
		exposure, err := b.Exposure(fields)
		if err != nil {
			return remedied(err)
		}
		k.exposures = append(k.exposures, exposure)
		if n == cap(k.rows) {
			k.rows = append(k.rows, nil)
		}
		k.rows = k.rows[:n+1]
		k.rows[n] = append(k.rows[n][:0], fields...) // in memory of the chunk before
	}
	return nil
}

// unexposed says where a file lacks the exposures of the model's schema.
func (p *predictions) unexposed(header []string) []string {
	s := p.Encoder().Schema()
	name := s.AtRisk()
	if name == "" || slices.Contains(header, name) {
		return nil
	}
	if s.Offset != "" {
		return []string{fmt.Sprintf("column %q, the offset, is not in the file: predictions are for an offset of 0", name)}
	}
	return []string{fmt.Sprintf("column %q, the exposure, is not in the file: predictions are for an exposure of 1", name)}
}

// remedied adds what it would take to do as an error about a field says.
func remedied(err error) error {
	if errors.Is(err, table.ErrValue) {
		return fmt.Errorf("%w (the schema is the model's: with another, fit again)", err)
	}
	return err
}

// libsvm predicts for the rows of a LIBSVM file, whose labels don't matter.
func (p *predictions) libsvm(path string) error {
	bounds, ok := p.Facts().(dpglm.Bounds)
	if !ok {
		return fmt.Errorf("%s: the model was not trained on a LIBSVM file", path)
	}
	t, err := table.ReadLIBSVMFile(path, table.LIBSVM{Features: len(p.Weights()[0]) - 1, Bound: bounds.Feature,
		Label: table.Column{Kind: table.Numeric, Range: []float64{-1, 1}}})
	if err != nil {
		return err
	}
	if err := p.w.Write(p.names); err != nil {
		return err
	}
	n, _ := t.Dims()
	return p.write(t.Matrix(), make([][]string, n), nil)
}

// write predicts for the first rows of x, with exposures where there are columns, and writes them
// after the given fields, of which it takes the memory.
func (p *predictions) write(x mat.Matrix, rows [][]string, exposures []float64) error {
	if len(rows) == 0 {
		return nil
	}
	if d, ok := x.(*mat.Dense); ok {
		x = d.Slice(0, len(rows), 0, d.RawMatrix().Cols)
	}
	if levels := p.Levels(); levels != nil {
		return p.writeLevels(x, rows, levels)
	}
	class, err := p.Predict(x)
	if err != nil {
		return err
	}
	offsets := make([]float64, len(rows))
	for i, exposure := range exposures {
		offsets[i] = math.Log(exposure)
	}
	mean := class
	if p.mean {
		if mean, err = p.MeansAt(x, offsets); err != nil {
			return err
		}
	}
	var ends []dpglm.Interval
	if p.found != nil {
		if ends, err = p.found.Means(x, offsets); err != nil {
			return err
		}
	}
	for i, fields := range rows {
		if p.mean || p.classes[1] == "" {
			fields = append(fields, strconv.FormatFloat(mean[i], 'g', 6, 64))
		}
		if p.classes[1] != "" {
			fields = append(fields, p.classes[int(class[i])])
		}
		if ends != nil {
			fields = append(fields, strconv.FormatFloat(ends[i].Low, 'g', 6, 64), strconv.FormatFloat(ends[i].High, 'g', 6, 64))
		}
		rows[i] = fields
		if err := p.w.Write(fields); err != nil {
			return err
		}
	}
	return nil
}

// writeLevels is write for a label of several levels: the probability of each, and the most
// likely one.
func (p *predictions) writeLevels(x mat.Matrix, rows [][]string, levels []string) error {
	of, err := p.Probabilities(x)
	if err != nil {
		return err
	}
	for i, fields := range rows {
		row := of.RawRowView(i)
		for _, v := range row {
			fields = append(fields, strconv.FormatFloat(v, 'g', 6, 64))
		}
		rows[i] = append(fields, levels[floats.MaxIdx(row)])
		if err := p.w.Write(rows[i]); err != nil {
			return err
		}
	}
	return nil
}
