package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// Each part of the picture is width × height dots, dpi to the inch, with the legend's
// share of the width on the right.
const (
	width, height = 900, 480
	dpi           = 96
	legendWidth   = 160
	margin        = 10
)

// palette has colours that people with any colour vision can tell apart.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff}, color.RGBA{0x80, 0x50, 0x30, 0xff},
	color.RGBA{0x88, 0x88, 0x88, 0xff}, color.RGBA{0x33, 0x22, 0x88, 0xff},
}

// draw draws the first metric against ε, and below it the calibration slope of
// probabilities.
func (e *experiment) draw(path string) error {
	pictured := e.pictured()
	img := vgimg.NewWith(vgimg.UseWH(dots(width), dots(height*len(pictured))), vgimg.UseDPI(dpi))
	whole := draw.New(img)
	for i, metric := range pictured {
		p, legend, err := e.chart(metric)
		if err != nil {
			return err
		}
		c := draw.Crop(whole, 0, 0, dots(height*(len(pictured)-1-i)), -dots(height*i))
		if i == 0 {
			p.Title.Text = fmt.Sprintf("%s, %s loss, %s", e.data, e.problem.Loss.Name(), e.spread())
			legend.Draw(draw.Crop(c, dots(width-legendWidth+margin), 0, 0, -dots(4*margin)))
		}
		p.Draw(draw.Crop(c, dots(margin), -dots(legendWidth), dots(margin), -dots(margin)))
	}
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// slope is the metric that is to be 1.
const slope = "calibration_slope"

func (e *experiment) pictured() []string {
	if slices.Contains(e.metrics[1:], slope) {
		return []string{e.metrics[0], slope}
	}
	return e.metrics[:1]
}

func dots(n int) vg.Length { return vg.Length(n) * vg.Inch / dpi }

func (e *experiment) chart(metric string) (*plot.Plot, *plot.Legend, error) {
	p, legend := plot.New(), plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(3)
	p.X.Label.Text, p.Y.Label.Text = fmt.Sprintf("ε, at δ = %.3g", e.delta), "held-out "+title(metric)
	x := e.xAxis(p)
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	p.Add(grid)
	for i, r := range e.table() {
		if err := addCurve(p, &legend, metric, i, r, x.shifted(i, len(e.cells)/len(e.epsilons))); err != nil {
			return nil, nil, err
		}
	}
	if err := e.addLevels(p, &legend, metric, x); err != nil {
		return nil, nil, err
	}
	p.Y.Min, p.Y.Max = e.yRange(metric)
	p.Y.Tick.Marker = plot.TickerFunc(ticks)
	p.X.Min, p.X.Max = x.lo, x.hi
	return p, &legend, nil
}

// axis is the logarithmic axis of ε.
type axis struct{ lo, hi float64 }

func (e *experiment) xAxis(p *plot.Plot) axis {
	const beyond = 1.25 // factor
	p.X.Scale = plot.LogScale{}
	var ticks plot.ConstantTicks
	for _, epsilon := range e.epsilons {
		ticks = append(ticks, plot.Tick{Value: epsilon, Label: fmt.Sprintf("%g", epsilon)})
	}
	p.X.Tick.Marker = ticks
	return axis{e.epsilons[0] / beyond, e.epsilons[len(e.epsilons)-1] * beyond}
}

// shifted returns the factor that moves the i-th of n curves aside, so that error
// bars don't hide each other.
func (x axis) shifted(i, n int) float64 {
	return math.Pow(x.hi/x.lo, 0.008*(float64(i)-float64(n-1)/2))
}

// ticks are the multiples, between lo and hi, of the least 1, 2 or 5 times a power
// of ten that makes at most eight.
func ticks(lo, hi float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/8)))
	for k := 0; (hi-lo)/step > 8; k++ {
		step *= []float64{2, 2.5, 2}[k%3]
	}
	var t []plot.Tick
	const rounding = 1e-9
	for k := int(math.Ceil(lo/step - rounding)); float64(k) <= hi/step+rounding; k++ {
		v := float64(k) * step
		t = append(t, plot.Tick{Value: v, Label: fmt.Sprintf("%.4g", v)})
	}
	return t
}

// points are the means with their standard errors.
type points struct {
	plotter.XYs
	plotter.YErrors
}

func addCurve(p *plot.Plot, legend *plot.Legend, metric string, i int, r row, shift float64) error {
	var pts points
	for _, c := range r.cells {
		if s, ok := c.summarise(metric); ok && s.finite() {
			pts.XYs = append(pts.XYs, plotter.XY{X: c.epsilon * shift, Y: s.mean})
			pts.YErrors = append(pts.YErrors, struct{ Low, High float64 }{s.spread(), s.spread()})
		}
	}
	if len(pts.XYs) == 0 {
		return nil
	}
	line, marks, err := plotter.NewLinePoints(pts.XYs)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(pts)
	if err != nil {
		return err
	}
	hue := palette[i%len(palette)]
	line.Color, marks.Color, bars.Color = hue, hue, hue
	line.Width = vg.Points(1.2)
	marks.Shape = plotutil.Shape(i)
	p.Add(line, marks, bars)
	legend.Add(r.name, line, marks)
	return nil
}

// addLevels draws the models that know no ε as horizontal lines.
func (e *experiment) addLevels(p *plot.Plot, legend *plot.Legend, metric string, x axis) error {
	for _, level := range []struct {
		name string
		cell *cell
		dash []vg.Length
	}{{"non-private", &e.plain, nil}, {"constant", &e.constant, []vg.Length{vg.Points(4), vg.Points(3)}}} {
		s, ok := level.cell.summarise(metric)
		if !ok || !s.finite() {
			continue
		}
		line, err := plotter.NewLine(plotter.XYs{{X: x.lo, Y: s.mean}, {X: x.hi, Y: s.mean}})
		if err != nil {
			return err
		}
		line.Dashes = level.dash
		p.Add(line)
		legend.Add(level.name, line)
	}
	return nil
}

// yRange holds every mean and standard error, unless some models are much worse
// than one that ignores the features: those may leave the picture. So may slopes
// far from 1.
func (e *experiment) yRange(metric string) (lo, hi float64) {
	if metric == slope {
		return 0.4, 1.6
	}
	sign := 1.0 // times the metric, higher is better
	if metrics.LowerIsBetter(metric) {
		sign = -1
	}
	floor, _ := e.constant.summarise(metric)
	level := sign * floor.mean
	lo, hi = level, level
	best := level
	for _, c := range append([]*cell{&e.plain}, e.cells...) {
		if s, ok := c.summarise(metric); ok && s.finite() {
			mean := sign * s.mean
			lo, hi, best = min(lo, mean-s.spread()), max(hi, mean+s.spread()), max(best, mean)
		}
	}
	if lo == hi {
		lo, hi = lo-0.01, hi+0.01
	}
	if gain := best - level; gain > 0 {
		lo, hi = max(lo, level-gain/2), min(hi, best+gain/4)
	}
	beyond := 0.04 * (hi - lo)
	lo, hi = sign*(lo-beyond), sign*(hi+beyond)
	return min(lo, hi), max(lo, hi)
}

func (s summary) finite() bool { return !math.IsInf(s.mean, 0) && !math.IsInf(s.spread(), 0) }
