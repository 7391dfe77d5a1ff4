package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// figures are what evaluations of a problem's models on rows held out come to, of each figure.
type figures struct {
	Name    string  `json:"name"`
	Asked   int     `json:"asked"`
	Printed int     `json:"printed"`
	Covered int     `json:"covered"` // of those printed; of a band whether it holds its part of labels
	Widths  float64 `json:"widths"`  // sum of those of intervals
}

// one in so many samples is evaluated, on a fifth as many rows as it has.
const (
	evaluatedEach = 4
	heldPart      = 5
	leastHeld     = 200
)

// band is the figure of the intervals for new labels.
const band = "band"

// evaluate evaluates a sample's model on other rows, and tells whether figures of the population are covered.
func (a *about) evaluate(ctx context.Context, p *problem, m *dpglm.Model, k int) error {
	rows := p.all.resampled(max(leastHeld, p.rows/heldPart), a.Seed+uint64(1000*p.number+k)+1<<32)
	data, err := dpglm.NewDataset(rows.x, rows.y, p.schema)
	if err != nil {
		return err
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(a.Seed + uint64(k) + 1<<32)}
	e, err := dpglm.Evaluate(ctx, data, m, dpglm.ApproxDP(p.epsilon, math.Pow(float64(p.rows), -1.5)), dpglm.EvaluateConfig{}, env)
	if err != nil {
		return err
	}
	scores, err := m.Scores(p.all.x)
	if err != nil {
		return err
	}
	z, y := scores.RawMatrix().Data, slices.Clone(p.all.y)
	if r := p.schema.LabelRange; p.loss.Labels() != losses.Binary {
		for i, v := range y {
			y[i] = math.Max(r[0], math.Min(v, r[1]))
		}
	}
	means, err := m.Means(p.all.x)
	if err != nil {
		return err
	}
	for _, of := range figuresOf(p.loss, z, means, y) {
		f, known := e.Figure(of.Name)
		a.count(of.Name, known, f.Low <= of.Value && of.Value <= f.High, f.High-f.Low)
	}
	if p.loss.Labels() != losses.Binary {
		held := 0
		for i, v := range means {
			if in, known := e.PredictionInterval(v); known && in.Low <= y[i] && y[i] <= in.High {
				held++
			}
		}
		width := 0.0
		if e.Band != nil {
			width = e.Band.High - e.Band.Low
		}
		a.count(band, e.Band != nil, float64(held) >= 0.95*float64(len(y)), width)
	}
	return nil
}

// figuresOf are those of a population.
func figuresOf(loss losses.Loss, z, mean, y []float64) []metrics.Metric {
	if loss.Labels() == losses.Binary {
		return []metrics.Metric{{Name: "accuracy", Value: metrics.Accuracy(z, y)}, {Name: "AUC", Value: metrics.AUC(z, y)},
			{Name: "log-loss", Value: metrics.LogLoss(z, y)}, {Name: "calibration slope", Value: metrics.CalibrationSlope(z, y)}}
	}
	return []metrics.Metric{{Name: "mean error", Value: metrics.MeanError(mean, y)}, {Name: "RMSE", Value: metrics.RMSE(mean, y)}, {Name: "R²", Value: metrics.R2(mean, y)}}
}

func (a *about) count(name string, printed, covered bool, width float64) {
	at := slices.IndexFunc(a.Figures, func(f figures) bool { return f.Name == name })
	if at < 0 {
		at = len(a.Figures)
		a.Figures = append(a.Figures, figures{Name: name})
	}
	f := &a.Figures[at]
	f.Asked++
	if printed {
		f.Printed++
		if !math.IsInf(width, 0) && !math.IsNaN(width) {
			f.Widths += width
		}
		if covered {
			f.Covered++
		}
	}
}

// reportFigures prints what evaluations come to, by n·μ of the rows that they are of.
func reportFigures(w io.Writer, list []*about) {
	limits := []float64{200, 500, 1000, 2000, 5000, math.Inf(1)}
	var names []string
	sums := map[string][]figures{}
	for _, a := range list {
		nmu := math.Max(leastHeld/float64(a.Rows), 1.0/heldPart) * a.NMu * float64(a.Features)
		at := slices.IndexFunc(limits, func(l float64) bool { return nmu < l })
		for _, f := range a.Figures {
			if f.Name = a.Loss + " " + f.Name; sums[f.Name] == nil {
				names, sums[f.Name] = append(names, f.Name), make([]figures, len(limits))
			}
			of := &sums[f.Name][at]
			of.Asked, of.Printed, of.Covered = of.Asked+f.Asked, of.Printed+f.Printed, of.Covered+f.Covered
		}
	}
	slices.Sort(names)
	fmt.Fprintf(w, "evaluations: coverage of what is printed (the part that is), by n·μ of the rows held out\n%-28s", "")
	for _, l := range limits {
		fmt.Fprintf(w, "%16s", fmt.Sprintf("< %.4g", l))
	}
	fmt.Fprintln(w)
	for _, name := range names {
		fmt.Fprintf(w, "%-28s", name)
		for _, f := range sums[name] {
			cell := "–"
			if f.Printed > 0 {
				cell = fmt.Sprintf("%.3f (%.2f)", float64(f.Covered)/float64(f.Printed), float64(f.Printed)/float64(f.Asked))
			} else if f.Asked > 0 {
				cell = "(0)"
			}
			fmt.Fprintf(w, "%16s", cell)
		}
		fmt.Fprintln(w)
	}
}
