package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// selection is a comparison on sparse rows of zeros and ones, whose labels depend on a few
// columns of many.
type selection struct {
	rows, dim, nonzeros int
	steps               int  // of Frank–Wolfe; 0 for its own number
	auto                bool // whether to compare with Auto, which takes long
	epsilons            []float64
}

const (
	frequent    = 200 // columns that a fifth of a row's entries lie in
	informative = 20  // of these
	heldOut     = 10_000
)

// rareRows draws rows: a fifth of the entries in frequent columns, the others anywhere.
func (s selection) rareRows() (x [2]*dpglm.Sparse, y [2][]float64, err error) {
	r := rand.New(mechanisms.NewSeededSource(1))
	weights := make([]float64, informative)
	for j := range weights {
		weights[j] = (0.5 + r.Float64()) * float64(1-2*(j%2))
	}
	for part, n := range []int{s.rows, heldOut} {
		starts, indices := make([]int, 1, n+1), make([]int, 0, n*s.nonzeros)
		for range n {
			z, from := 0.0, len(indices)
			for len(indices) < from+s.nonzeros/5 {
				if j := r.IntN(frequent); !slices.Contains(indices[from:], j) {
					indices = append(indices, j)
					if j < informative {
						z += weights[j]
					}
				}
			}
			for len(indices) < from+s.nonzeros {
				indices = append(indices, frequent+r.IntN(s.dim-frequent))
			}
			slices.Sort(indices[from:])
			indices = indices[:from+len(slices.Compact(indices[from:]))]
			starts = append(starts, len(indices))
			label := 0.0
			if 1/(1+math.Exp(-z)) > r.Float64() {
				label = 1
			}
			y[part] = append(y[part], label)
		}
		ones := make([]float64, len(indices))
		for k := range ones {
			ones[k] = 1
		}
		if x[part], err = dpglm.NewSparse(n, s.dim, starts, indices, ones); err != nil {
			return x, y, err
		}
	}
	return x, y, nil
}

func (s selection) run(out io.Writer) error {
	if s.nonzeros < 5 || s.nonzeros > frequent || s.dim < 2*frequent {
		return fmt.Errorf("-nonzeros must lie between 5 and %d, and -d be at least %d", frequent, 2*frequent)
	}
	x, y, err := s.rareRows()
	if err != nil {
		return err
	}
	started := time.Now()
	data, err := dpglm.NewDataset(x[0], y[0], dpglm.Bounds{Feature: math.Sqrt(float64(s.nonzeros)), Intercept: true})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d × %d, %d entries a row; labels depend on %d columns. Read in %.1f s; δ = 1e-6.\n\n", s.rows, s.dim, s.nonzeros, informative, time.Since(started).Seconds())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "method\tε\tlog-loss\tAUC\tcolumns\tright ones\tseconds\t")
	methods := []struct {
		name    string
		learner dpglm.Learner
	}{
		{"Frank–Wolfe, refit", dpglm.FrankWolfeConfig{EntryBound: 1, Steps: s.steps}},
		{"Frank–Wolfe, within the ball", dpglm.FrankWolfeConfig{EntryBound: 1, Steps: s.steps, Output: dpglm.WithinBall}},
		{"auto", dpglm.AutoConfig{}},
	}
	best := map[float64]tried{} // by ε
	for _, e := range s.epsilons {
		best[e] = tried{"none of them: a constant is as good, so that it takes more rows or a larger ε", constantLoss(y[1])}
	}
	for _, m := range methods {
		if m.name == "auto" && !s.auto {
			continue
		}
		for _, epsilon := range s.epsilons {
			loss, err := s.row(w, m.name, m.learner, data, epsilon, x[1], y[1])
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if loss < best[epsilon].loss {
				best[epsilon] = tried{m.name, loss}
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Fprintf(out, "\nAdvice, for data like these:\n")
	for _, e := range s.epsilons {
		fmt.Fprintf(out, "at ε = %g: %s\n", e, best[e].name)
	}
	_, err = fmt.Fprintf(out, "\nA constant has a log-loss of %.3f. At most %.2f GB of memory, rows and hold-out included.\n", constantLoss(y[1]), float64(memory.Sys)/1e9)
	return err
}

// tried is a method with its log-loss on the rows held out.
type tried struct {
	name string
	loss float64
}

// row trains and scores on the rows held out, and returns the log-loss.
func (s selection) row(w io.Writer, name string, l dpglm.Learner, data *dpglm.Dataset, epsilon float64, x *dpglm.Sparse, y []float64) (loss float64, err error) {
	plan, err := l.Plan(data.Shape(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(epsilon, 1e-6))
	if err != nil {
		return 0, err
	}
	started := time.Now()
	m, err := plan.Run(context.Background(), data, nil)
	if err != nil {
		return 0, err
	}
	seconds := time.Since(started).Seconds()
	scores, err := m.Scores(x)
	if err != nil {
		return 0, err
	}
	z := scores.RawMatrix().Data
	chosen, right := 0, 0
	for j, v := range m.Weights()[0][:s.dim] {
		if v != 0 {
			chosen++
			if j < informative {
				right++
			}
		}
	}
	loss = metrics.LogLoss(z, y)
	_, err = fmt.Fprintf(w, "%s\t%g\t%.3f\t%.3f\t%d\t%d\t%.1f\t\n", name, epsilon, loss, metrics.AUC(z, y), chosen, right, seconds)
	return loss, err
}

// constantLoss is the log-loss of the labels' mean.
func constantLoss(y []float64) float64 {
	mean := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	scores := make([]float64, len(y))
	for i := range scores {
		scores[i] = math.Log(mean / (1 - mean))
	}
	return metrics.LogLoss(scores, y)
}
