package page

import (
	"math"
	"strconv"

	"github.com/dpglm/dpglm/forecast"
)

// prediction is a forecast, by made-up rows, of how well models predict at several ε. No data
// went into it.
type prediction struct {
	Loss     string // what it is called
	Mean     string // of the labels, as it was stated
	Rows     string // that were made up
	Of       string // more rows, that they stand for
	Repeats  int
	Accuracy bool // whether there is one
	Lines    []predicted
	Charts   []predictionChart
}

// predicted is a line of the table.
type predicted struct{ Name, Loss, Accuracy string }

type predictionChart struct {
	*chart
	Caption string
}

// newPrediction draws a forecast, and marks an ε.
func newPrediction(f *forecast.Forecast, epsilon float64, loss string) *prediction {
	v := &prediction{Loss: "mean loss (" + loss + ")", Mean: plain(tidy(f.LabelMean)), Rows: grouped(f.Simulated), Repeats: f.Repeats, Accuracy: !math.IsNaN(f.PlainAccuracy)}
	if f.Simulated < f.Rows {
		v.Of = grouped(f.Rows)
	}
	if loss == "logistic" {
		v.Loss = "log-loss"
	}
	var losses, accuracies []point
	for _, e := range f.At {
		losses = append(losses, point{e.Epsilon, f.Plain + e.Excess})
		accuracies = append(accuracies, point{e.Epsilon, f.PlainAccuracy - e.AccuracyLost})
		v.add("ε = "+atMost(e.Epsilon, 3), f.Plain+e.Excess, f.PlainAccuracy-e.AccuracyLost)
	}
	v.add("without privacy", f.Plain, f.PlainAccuracy)
	v.add("constant model", f.Constant, f.ConstantAccuracy)
	write := func(v float64) string { return plain(tidy(v)) }
	ends, worse := lossEnds(losses, f.Plain, f.Constant), f.Constant-f.Plain
	v.Charts = append(v.Charts, predictionChart{against("predicted-loss", v.Loss, losses, f.Plain, f.Constant, epsilon, ends, worse, write), "Predicted " + v.Loss})
	if v.Accuracy {
		write = func(v float64) string { return plain(tidy(100*v)) + space + "%" }
		ends = accuracyEnds(accuracies, f.PlainAccuracy, f.ConstantAccuracy)
		v.Charts = append(v.Charts, predictionChart{against("predicted-accuracy", "accuracy", accuracies, f.PlainAccuracy, f.ConstantAccuracy, epsilon, ends, -1, write), "Predicted accuracy"})
	}
	return v
}

// add adds a line to the table.
func (v *prediction) add(name string, loss, accuracy float64) {
	line := predicted{name, "–", "–"}
	if !math.IsInf(loss, 0) && !math.IsNaN(loss) {
		line.Loss = significant(loss, 3)
	}
	if !math.IsNaN(accuracy) {
		line.Accuracy = percent(accuracy, 1)
	}
	v.Lines = append(v.Lines, line)
}

// lossEnds are those of an axis for a loss. What is worse than the constant model by more than
// what features gain isn't drawn.
func lossEnds(curve []point, plain, constant float64) [2]float64 {
	gain := constant - plain
	worst, best := constant, plain
	for _, p := range curve {
		if (p.y-worst)*gain > 0 {
			worst = p.y
		}
		if (best-p.y)*gain > 0 {
			best = p.y
		}
	}
	if limit := constant + gain; (worst-limit)*gain > 0 {
		worst = limit
	}
	margin := 0.12 * (worst - best)
	low, high := math.Min(worst+margin, best-margin), math.Max(worst+margin, best-margin)
	if !(low < high) {
		low, high = low-1, high+1
	}
	return [2]float64{low, high}
}

// accuracyEnds are those of an axis for an accuracy: it begins below all that is drawn, and
// ends at 1.
func accuracyEnds(curve []point, plain, constant float64) [2]float64 {
	low := math.Min(plain, constant)
	for _, p := range curve {
		if p.y < low {
			low = p.y
		}
	}
	return [2]float64{math.Max(0, low-math.Max(0.01, 0.12*(1-low))), 1}
}

// against draws a figure against ε on a logarithmic scale, with what it is without privacy and
// for a constant model, between the ends of its axis. Greater is worse where worse is above 0,
// and better where it is below.
func against(id, name string, curve []point, plain, constant, epsilon float64, ends [2]float64, worse float64, write func(float64) string) *chart {
	low, high := ends[0], ends[1]
	from, to := math.Log2(curve[0].x), math.Log2(curve[len(curve)-1].x)
	c := newChart(id, [2]float64{from, to}, [2]float64{low, high}, false)
	c.Title, c.XLabel, c.YLabel = "Predicted "+name+" against ε", "ε", name
	c.Description = "A prediction by made-up rows, that used no data: " + name + " at each ε, which comes closer to that without privacy, " + write(round(plain)) +
		", as ε grows; a constant model has " + write(round(constant)) + "."
	for _, p := range curve {
		c.XTicks = append(c.XTicks, tick{c.at(point{math.Log2(p.x), low}).x, strconv.FormatFloat(p.x, 'g', 3, 64)})
	}
	for _, y := range niceSteps(low, high, 5) {
		c.YTicks = append(c.YTicks, tick{c.at(point{from, y}).y, write(y)})
	}
	c.line("guide", point{from, plain}, point{to, plain})
	c.line("guide", point{from, constant}, point{to, constant})
	drawn := c.inside(curve)
	c.line("curve", drawn...)
	up, down := -7.0, 16.0
	if worse < 0 {
		up, down = down, up
	}
	c.note(point{from, plain}, 2, down, "start", "without privacy")
	if (curve[0].y-constant)*worse > 0 { // and crosses it
		c.note(point{from, constant}, 2, down, "start", "constant model")
	} else {
		c.note(point{to, constant}, -2, up, "end", "constant model")
	}
	for _, p := range drawn {
		if math.Abs(p.x-math.Log2(epsilon)) < 0.01 {
			c.dot("point", p)
			c.note(p, 7, up, "start", "this ε")
		}
	}
	return c
}

// inside is the part of a curve from where it last comes in between the ends of y, with
// logarithms of ε.
func (c *chart) inside(curve []point) (list []point) {
	hold := func(y float64) float64 { return math.Min(math.Max(y, c.low[1]), c.high[1]) }
	for k, p := range curve {
		at := point{math.Log2(p.x), p.y}
		if hold(p.y) != p.y { // or it is no number
			list = nil
			continue
		}
		if k > 0 && list == nil && !math.IsNaN(curve[k-1].y) && !math.IsInf(curve[k-1].y, 0) {
			x, y := math.Log2(curve[k-1].x), curve[k-1].y
			list = append(list, point{x + (at.x-x)*(hold(y)-y)/(at.y-y), hold(y)})
		}
		list = append(list, at)
	}
	return list
}

// round is for what is read aloud.
func round(v float64) float64 { return math.Round(1e4*v) / 1e4 }
