package page

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/hazards"
	"github.com/dpglm/dpglm/table"
)

// baseline is the hazard of one record in each period, and how many are without the event after it.
type baseline struct {
	None   string // why there is none
	Of     string // the record
	Ratios bool   // whether other persons' hazards are proportional to these
	Lines  []baselineLine
	Charts []predictionChart
}

// baselineLine is a line of the table.
type baselineLine struct{ Period, Hazard, Hazards, Survival, Survivals string }

// newBaseline is nil for models of no hazards. What noise hides has no interval, and isn't drawn.
func newBaseline(m *dpglm.Model, found *dpglm.Inference) *baseline {
	of, err := hazards.NewBaseline(m, found)
	if err != nil {
		return &baseline{None: err.Error()}
	}
	if of == nil {
		return nil
	}
	v := &baseline{Of: of.Text, Ratios: true}
	for _, pair := range m.Encoder().Schema().Interactions {
		v.Ratios = v.Ratios && !slices.Contains(pair, table.PeriodColumn)
	}
	levels, known := m.Encoder().Schema().PeriodLevels(), true
	for k, level := range levels {
		h, s := of.Hazards[k], of.Survival[k]
		line := baselineLine{Period: level, Hazard: significant(h.Value, 3), Survival: percent(s.Value, 1)}
		if found != nil {
			line.Hazards, line.Survivals = "[0, ∞]", "[0"+space+"%, 100"+space+"%]"
			if !math.IsInf(h.High, 1) {
				line.Hazards = "[" + significant(h.Low, 3) + ", " + significant(h.High, 3) + "]"
			}
			if s.Low > 0 {
				line.Survivals = "[" + percent(s.Low, 1) + ", " + percent(s.High, 1) + "]"
			}
			known = known && !math.IsInf(h.High, 1)
		}
		v.Lines = append(v.Lines, line)
	}
	if known {
		v.draw(of)
	}
	return v
}

// draw draws steps of the hazard, and survival as it falls within periods.
func (v *baseline) draw(of *hazards.Baseline) {
	from, to, most := of.Periods[0][0], of.Periods[len(of.Periods)-1][1], 0.0
	for _, h := range of.Hazards {
		most = math.Max(most, h.High)
	}
	const margin = 1.05
	steps := newChart("baseline-hazard", [2]float64{from, to}, [2]float64{0, margin * most}, false)
	falls := newChart("baseline-survival", [2]float64{from, to}, [2]float64{0, 1}, false)
	steps.Title, steps.XLabel, steps.YLabel = "Baseline hazard in each period", "time", "hazard"
	falls.Title, falls.XLabel, falls.YLabel = "Without the event until a time", "time", "without the event"
	steps.Description = fmt.Sprintf("Of persons with %s: the hazard per unit of time, from %s in the first period to %s in the last.", of.Text, v.Lines[0].Hazard, v.Lines[len(v.Lines)-1].Hazard)
	falls.Description = fmt.Sprintf("Of persons with %s: %s are without the event at the end.", of.Text, v.Lines[len(v.Lines)-1].Survival)
	var line, high, low []point
	var curves [3][]point
	left := dpglm.Interval{Value: 1, Low: 1, High: 1}
	for k, p := range of.Periods {
		h, s := of.Hazards[k], of.Survival[k]
		line = append(line, point{p[0], h.Value}, point{p[1], h.Value})
		high, low = append(high, point{p[0], h.High}, point{p[1], h.High}), append(low, point{p[0], h.Low}, point{p[1], h.Low})
		for i, ends := range [3][2]float64{{left.Value, s.Value}, {left.Low, s.Low}, {left.High, s.High}} {
			curves[i] = append(curves[i], fall(p, ends)...)
		}
		left = s
	}
	for _, c := range []*chart{steps, falls} {
		c.mark(of.Periods)
	}
	for _, y := range niceSteps(0, margin*most, 5) {
		steps.YTicks = append(steps.YTicks, tick{steps.at(point{0, y}).y, plain(tidy(y))})
	}
	for _, y := range []float64{0, 0.25, 0.5, 0.75, 1} {
		falls.YTicks = append(falls.YTicks, tick{falls.at(point{0, y}).y, percent(y, 0)})
	}
	steps.band(high, low)
	steps.line("curve", line...)
	falls.band(curves[2], curves[1])
	falls.line("curve", curves[0]...)
	v.Charts = []predictionChart{{steps, "Hazard in each period"}, {falls, "Without the event"}}
}

// mark writes the ends of periods below a chart, as far as there is room.
func (c *chart) mark(periods [][2]float64) {
	const apart = 28
	c.XTicks = []tick{{c.at(point{periods[0][0], 0}).x, plain(periods[0][0])}}
	for _, p := range periods {
		if at := c.at(point{p[1], 0}).x; at-c.XTicks[len(c.XTicks)-1].At >= apart {
			c.XTicks = append(c.XTicks, tick{at, plain(p[1])})
		}
	}
}

// fall is how survival falls within a period, from one value to another one, under a constant hazard.
func fall(period, ends [2]float64) (list []point) {
	const pieces = 12
	for i := range pieces + 1 {
		part := float64(i) / pieces
		list = append(list, point{period[0] + float64(part*(period[1]-period[0])), math.Pow(ends[0], 1-part) * math.Pow(ends[1], part)})
	}
	return list
}
