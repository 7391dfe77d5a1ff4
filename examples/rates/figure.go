package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// A panel is panelWidth × panelHeight dots; the picture of all has columns of them.
const (
	panelWidth, panelHeight = 460, 360
	columns                 = 3
	dpi                     = 96
)

// palette has colours that people with any colour vision can tell apart.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0x88, 0x88, 0x88, 0xff},
}

// drawAll draws each panel to a file of its own, and all together to rates.png.
func drawAll(dir string, all []panel, points []measured) error {
	rows := (len(all) + columns - 1) / columns
	overview := canvas(columns*panelWidth, rows*panelHeight)
	for i, p := range all {
		chart, err := p.chart(points)
		if err != nil {
			return err
		}
		own := canvas(panelWidth, panelHeight)
		chart.Draw(inset(draw.New(own), 0, 0))
		if err := save(own, filepath.Join(dir, p.name+".png")); err != nil {
			return err
		}
		chart.Draw(inset(draw.New(overview), i%columns, rows-1-i/columns))
	}
	return save(overview, filepath.Join(dir, "rates.png"))
}

func dots(n int) vg.Length { return vg.Length(n) * vg.Inch / dpi }

func canvas(width, height int) *vgimg.Canvas {
	return vgimg.NewWith(vgimg.UseWH(dots(width), dots(height)), vgimg.UseDPI(dpi))
}

// inset is a panel's place within a canvas, with a margin around it.
func inset(c draw.Canvas, column, row int) draw.Canvas {
	const margin = 8
	left, bottom := dots(column*panelWidth+margin), dots(row*panelHeight+margin)
	c.Rectangle = vg.Rectangle{
		Min: vg.Point{X: left, Y: bottom},
		Max: vg.Point{X: left + dots(panelWidth-2*margin), Y: bottom + dots(panelHeight-2*margin)},
	}
	return c
}

func save(c *vgimg.Canvas, path string) error {
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// chart draws each curve with a band of two standard errors, and dashed the line of
// the slope that theory expects, through the middle of the fitted points.
func (p panel) chart(points []measured) (*plot.Plot, error) {
	c := plot.New()
	c.Title.Text, c.X.Label.Text, c.Y.Label.Text = p.title, p.x, "excess risk"
	c.X.Scale, c.Y.Scale = plot.LogScale{}, plot.LogScale{}
	c.X.Tick.Marker, c.Y.Tick.Marker = ticks(8), ticks(6)
	c.Legend.Padding, c.Legend.Top = vg.Points(1), p.rises()
	c.Legend.Left = p.rises()
	c.Legend.TextStyle.Font.Size = vg.Points(8)
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, curve := range p.curves {
		own := of(points, p.name, curve.name)
		for _, m := range own {
			lo, hi = min(lo, m.low(), m.mean/1.2), max(hi, m.mean+2*m.stderr)
		}
		if err := addCurve(c, curve, own, i); err != nil {
			return nil, err
		}
	}
	// Room for the legend, on the side where curves are not.
	room := math.Pow(hi/max(lo, hi*1e-9), 0.13*float64(len(p.curves)+1))
	c.Y.Min, c.Y.Max = lo, hi
	if p.rises() {
		c.Y.Max *= room
	} else {
		c.Y.Min /= room
		c.Legend.Left = true
	}
	return c, nil
}

// rises tells whether risks grow along x.
func (p panel) rises() bool { return p.x != "nε" && p.x != "n" && p.x != "ε" }

// low is the lower end of the band, which on a logarithmic axis has to be positive.
func (m measured) low() float64 { return max(m.mean/2, m.mean-2*m.stderr) }

func addCurve(c *plot.Plot, curve curve, own []measured, i int) error {
	hue := palette[i%len(palette)]
	var middle, upper, lower plotter.XYs
	for _, m := range own {
		middle = append(middle, plotter.XY{X: m.x, Y: m.mean})
		upper = append(upper, plotter.XY{X: m.x, Y: m.mean + 2*m.stderr})
		lower = append(plotter.XYs{{X: m.x, Y: m.low()}}, lower...)
	}
	band, err := plotter.NewPolygon(append(upper, lower...))
	if err != nil {
		return err
	}
	band.Color, band.LineStyle.Width = color.NRGBA{hue.R, hue.G, hue.B, 0x40}, 0
	line, marks, err := plotter.NewLinePoints(middle)
	if err != nil {
		return err
	}
	line.Color, marks.Color, marks.Shape, marks.Radius = hue, hue, plotutil.Shape(i), vg.Points(2)
	c.Add(band, line, marks)
	c.Legend.Add(curve.legend(own), line, marks)
	for _, s := range curve.slopes {
		f, ok := fitted(own, s.lo, s.hi)
		if !ok {
			continue
		}
		x := math.Sqrt(s.lo * s.hi)
		y := math.Pow(10, f.intercept+f.slope*math.Log10(x))
		at := func(x1 float64) plotter.XY { return plotter.XY{X: x1, Y: y * math.Pow(x1/x, s.table)} }
		theory, err := plotter.NewLine(plotter.XYs{at(s.lo), at(s.hi)})
		if err != nil {
			return err
		}
		theory.Dashes, theory.Width = []vg.Length{vg.Points(4), vg.Points(3)}, vg.Points(1.5)
		c.Add(theory)
	}
	return nil
}

// legend is the curve's name with its measured slopes and, in parentheses, the expected.
func (c curve) legend(own []measured) string {
	text := c.name
	for _, s := range c.slopes {
		if f, ok := fitted(own, s.lo, s.hi); ok {
			text += fmt.Sprintf(", %.2f (%.2f)", f.slope, s.table)
		}
	}
	return text
}

// ticks marks 1, 2 and 5 times powers of ten or, where these are more than most, the powers
// of ten, or every other of them.
func ticks(most int) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		var t []plot.Tick
		for _, kind := range []struct {
			factors []float64
			stride  int
		}{{[]float64{1, 2, 5}, 1}, {[]float64{1}, 1}, {[]float64{1}, 2}} {
			t = nil
			first, last := int(math.Floor(math.Log10(lo))), int(math.Floor(math.Log10(hi)))
			for k := first; k <= last; k += kind.stride {
				for _, f := range kind.factors {
					if v := f * math.Pow10(k); v >= lo && v <= hi {
						t = append(t, plot.Tick{Value: v, Label: label(v)})
					}
				}
			}
			if len(t) <= most {
				break
			}
		}
		return t
	})
}

func label(v float64) string {
	if v >= 1000 && v < 1e6 {
		return fmt.Sprintf("%.0f,%03.0f", math.Floor(v/1000), math.Mod(v, 1000))
	}
	return fmt.Sprintf("%.4g", v)
}
