package dpglm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/histogram"
)

// Interval is a figure with an interval of the level of its [Evaluation].
type Interval struct {
	Value float64 `json:"value"` // the estimate
	Low   float64 `json:"low"`   // the interval's ends
	High  float64 `json:"high"`
}

// Evaluation is what [Evaluate] released of a model: figures for the labels that it has,
// the others being zero. All are held to what they can be, such as shares to [0, 1]; one
// that drowned in the noise is zero too, its interval included. What is zero is left out of
// JSON. It prints as a table.
type Evaluation struct {
	Rows  int     `json:"rows"`  // n, or the number of persons
	Level float64 `json:"level"` // of the intervals

	// Of classes: Rate is that of ones, AUC the area under the ROC curve.
	Accuracy Interval `json:"accuracy,omitzero"`
	AUC      Interval `json:"auc,omitzero"`
	Rate     Interval `json:"rate,omitzero"`
	// Of probabilities: the mean of −log of the class's own (a natural logarithm), the mean
	// squared error, and the intercept and slope of a logistic regression of the classes on the
	// log-odds that were predicted, 0 and 1 if all is well.
	LogLoss              Interval `json:"log_loss,omitzero"`
	Brier                Interval `json:"brier,omitzero"`
	CalibrationIntercept Interval `json:"calibration_intercept,omitzero"`
	CalibrationSlope     Interval `json:"calibration_slope,omitzero"`
	// Of real labels, counts and amounts: the mean of prediction less label, the root of the mean
	// square of that, and 1 less the latter's square over the labels' variance. The interval
	// of R2 takes errors and labels to be independent; with heavy tails, which errors and
	// labels share, it may miss. RMSE and R2 have drowned where rows that noise hides may have most
	// of the errors' square, and R2 where the labels' variance may be none, as far
	// as noise lets see.
	MeanError Interval `json:"mean_error,omitzero"`
	RMSE      Interval `json:"rmse,omitzero"`
	R2        Interval `json:"r2,omitzero"`

	// ROC has false and true positive rates, at thresholds that decrease.
	ROC [][2]Interval `json:"roc,omitempty"`
	// Calibration has mean probabilities and rates of ones, of groups of rows by score.
	Calibration [][2]Interval `json:"calibration,omitempty"`

	Ledger *Ledger `json:"ledger"` // what the evaluation spent
}

// String prints the figures that there are as a table, and the ledger.
func (e *Evaluation) String() string {
	if e == nil {
		return "no evaluation"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s%s%18.4g %% interval\n", fmt.Sprintf("n = %d", e.Rows), "estimate", 100*e.Level)
	for _, row := range []struct {
		name string
		v    Interval
	}{
		{"accuracy", e.Accuracy}, {"AUC", e.AUC}, {"rate of ones", e.Rate}, {"log-loss", e.LogLoss}, {"Brier score", e.Brier},
		{"calibration: intercept", e.CalibrationIntercept}, {"calibration: slope", e.CalibrationSlope},
		{"mean error", e.MeanError}, {"RMSE", e.RMSE}, {"R²", e.R2},
	} {
		if row.v != (Interval{}) {
			fmt.Fprintf(&b, "%-22s %9.4g   [%.4g, %.4g]\n", row.name, row.v.Value, row.v.Low, row.v.High)
		}
	}
	b.WriteString(e.caveat())
	fmt.Fprintf(&b, "%v", e.Ledger)
	return b.String()
}

// caveat says what RMSE and R² take for granted.
func (e *Evaluation) caveat() string {
	switch none := (Interval{}); {
	case e.RMSE != none:
		return "RMSE, R²: rows too rare to be seen count as the others' tails let expect; very heavy tails have more\n"
	case e.MeanError != none:
		return "RMSE, R²: unknown, as rows too rare to be seen may have most of it\n"
	}
	return ""
}

// sampled are histograms of the same n rows, with noise of known spreads.
type sampled struct {
	level   float64
	counts  [][]float64
	spreads []float64
	shifts  []int // how many grids each is overlaid of, nil for one
}

// simulations are as many as make the ends of 95 % intervals certain to a tenth of their
// width.
const simulations = 600

// simulated are figures of counts as they were released, and how far those of simulations
// are from those that these are drawn from.
type simulated struct {
	level    float64
	released []float64
	drawn    [][]float64
}

// simulate makes figures of the counts as they were released, which noise doesn't bias as far
// as they are sums. For their errors rows are drawn from the counts made nonnegative, and noise
// is added. A drawn count is normal, as the noise is.
func (r *sampled) simulate(figures func(counts [][]float64) []float64) *simulated {
	s := &simulated{r.level, figures(r.counts), nil}
	pure := make([][]float64, len(r.counts))
	for i, x := range r.counts {
		pure[i] = histogram.Nonnegative(x, math.Max(1, floats.Sum(x)))
	}
	centre, public := figures(pure), normals{}
	s.drawn = make([][]float64, len(centre))
	for range simulations {
		counts := make([][]float64, len(pure))
		for i := range pure {
			counts[i] = r.draw(i, pure[i], &public)
		}
		for k, v := range figures(counts) {
			s.drawn[k] = append(s.drawn[k], v-centre[k])
		}
	}
	return s
}

// tail is how many simulations lie beyond an end of an interval, with the one at it.
func (s *simulated) tail() int {
	return min(max(int(math.Round((1-s.level)/2*simulations)), 1), simulations/2)
}

// interval is the k-th figure's basic bootstrap interval: the simulations' errors are turned
// around. It is held to a range. A figure whose range all simulations together miss has
// drowned: noise made counts negative that it is a ratio of, and the interval says nothing.
func (s *simulated) interval(k int, low, high float64) Interval {
	v, at := s.released[k], s.tail()
	drawn := slices.Clone(s.drawn[k])
	slices.Sort(drawn) // NaN first
	x := Interval{v, v - drawn[simulations-at], v - drawn[at-1]}
	drowned := v-drawn[simulations-1] > high || v-drawn[0] < low
	if sum := x.Value + x.Low + x.High; drowned || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return Interval{}
	}
	return x.within(low, high)
}

// intervals returns figures of the counts, each held to its range.
func (r *sampled) intervals(figures func(counts [][]float64) []float64, ranges func(k int) (low, high float64)) []Interval {
	s := r.simulate(figures)
	out := make([]Interval, len(s.released))
	for k := range out {
		low, high := ranges(k)
		out[k] = s.interval(k, low, high)
	}
	return out
}

// within is the figure and the ends of its interval, held to a range.
func (x Interval) within(low, high float64) Interval {
	hold := func(v float64) float64 { return math.Max(low, math.Min(v, high)) }
	return Interval{hold(x.Value), hold(x.Low), hold(x.High)}
}

// draw returns the i-th counts of as many new rows, with noise.
func (r *sampled) draw(i int, counts []float64, public *normals) []float64 {
	out, sum, n := make([]float64, len(counts)), 0.0, floats.Sum(counts)
	for k, c := range counts {
		out[k] = float64(math.Sqrt(c) * public.next())
		sum += out[k]
	}
	noise := r.noise(i, public)
	for k, c := range counts {
		out[k] += c - float64(c/n*sum) + noise[k]
	}
	return out
}

// noise is that of the i-th counts, taken away from their sum.
func (r *sampled) noise(i int, public *normals) []float64 {
	lists := make([][]float64, 1)
	if r.shifts != nil {
		lists = make([][]float64, r.shifts[i])
	}
	for k := range lists {
		lists[k] = make([]float64, (len(r.counts[i])+1)/len(lists)-1)
		for j := range lists[k] {
			lists[k][j] = float64(r.spreads[i] * public.next())
		}
		floats.AddConst(-floats.Sum(lists[k])/float64(len(lists[k])), lists[k])
	}
	return histogram.Overlay(lists)
}

// normals are public numbers of the normal law: SplitMix64 (Steele, Lea and Flood 2014)
// through the transform of Box and Muller.
type normals struct{ state uint64 }

func (s *normals) uniform() float64 {
	s.state += 0x9e3779b97f4a7c15
	z := (s.state ^ s.state>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (float64((z^z>>31)>>11) + 0.5) * 0x1p-53
}

func (s *normals) next() float64 {
	length := math.Sqrt(-2 * math.Log(s.uniform()))
	return length * math.Cos(2*math.Pi*s.uniform())
}
