package page

import (
	"math"
	"strconv"
	"strings"
)

// chart is a picture in coordinates of its own, which the template draws. It has about a
// phone's width, so that its text keeps its size there.
type chart struct {
	ID, Title, Description string
	Width, Height          float64
	Left, Right            float64 // the plot's edges
	Top, Bottom, Below     float64 // Below is where ticks end
	XLabel, YLabel         string
	XTicks, YTicks         []tick
	Bands                  []string // points of polygons
	Lines                  []path
	Whiskers               []whisker
	Dots                   []dot
	Notes                  []note

	low, high [2]float64 // of x and y
	logarithm bool       // of y
}

type tick struct {
	At   float64
	Text string
}

type path struct{ Class, Points string }

type dot struct {
	Class string
	X, Y  float64
}

type whisker struct{ X, Y1, Y2 float64 }

type note struct {
	X, Y         float64
	Anchor, Text string
}

type point struct{ x, y float64 }

// newChart has axes for x and y between the given ends.
func newChart(id string, x, y [2]float64, logarithm bool) *chart {
	const width, height = 380, 300
	c := &chart{ID: id, Width: width, Height: height, Left: 48, Right: width - 20, Top: 30, Bottom: height - 46, Below: height - 41, logarithm: logarithm}
	c.low, c.high = [2]float64{x[0], y[0]}, [2]float64{x[1], y[1]}
	return c
}

// unitChart has both axes from 0 to 1, in percent.
func unitChart(id, x, y string) *chart {
	c := newChart(id, [2]float64{0, 1}, [2]float64{0, 1}, false)
	c.XLabel, c.YLabel = x, y
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		text := percent(v, 0)
		at := c.at(point{v, v})
		c.XTicks, c.YTicks = append(c.XTicks, tick{at.x, text}), append(c.YTicks, tick{at.y, text})
	}
	c.line("guide", point{0, 0}, point{1, 1})
	return c
}

// at is where a point is drawn, to a tenth of a unit; what lies outside is moved to the
// edge.
func (c *chart) at(p point) point {
	y, low, high := p.y, c.low[1], c.high[1]
	if c.logarithm {
		y, low, high = math.Log10(y), math.Log10(low), math.Log10(high)
	}
	return point{
		tenth(c.Left + (c.Right-c.Left)*within((p.x-c.low[0])/(c.high[0]-c.low[0]))),
		tenth(c.Bottom - (c.Bottom-c.Top)*within((y-low)/(high-low))),
	}
}

func within(v float64) float64 { return math.Min(1, math.Max(0, v)) }

func tenth(v float64) float64 { return math.Round(10*v) / 10 }

func (c *chart) points(list []point) string {
	out := make([]string, len(list))
	for i, p := range list {
		at := c.at(p)
		out[i] = strconv.FormatFloat(at.x, 'f', -1, 64) + "," + strconv.FormatFloat(at.y, 'f', -1, 64)
	}
	return strings.Join(out, " ")
}

func (c *chart) line(class string, list ...point) {
	c.Lines = append(c.Lines, path{class, c.points(list)})
}

// band is what lies between two lines.
func (c *chart) band(upper, lower []point) {
	all := append([]point(nil), upper...)
	for i := range lower {
		all = append(all, lower[len(lower)-1-i])
	}
	c.Bands = append(c.Bands, c.points(all))
}

func (c *chart) dot(class string, p point) {
	at := c.at(p)
	c.Dots = append(c.Dots, dot{class, at.x, at.y})
}

func (c *chart) whisker(x, low, high float64) {
	from, to := c.at(point{x, low}), c.at(point{x, high})
	c.Whiskers = append(c.Whiskers, whisker{from.x, from.y, to.y})
}

// note writes beside a point.
func (c *chart) note(p point, dx, dy float64, anchor, text string) {
	at := c.at(p)
	c.Notes = append(c.Notes, note{at.x + dx, at.y + dy, anchor, text})
}
