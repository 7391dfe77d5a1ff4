// Classes compares ways to tell several classes apart: one softmax model, as many models of
// one class against the rest, and full-batch noisy gradient descent on the multinomial loss,
// whose steps, clip and learning rate are the best of 27 for the rows that it is judged by.
// The library's two are not tuned. Run it from the root of the repository:
//
//	go run ./examples/classes
//	go run ./examples/classes -images /usr/share/datasets/fashion-mnist
//
// The first is on four bands of what men of the March 1988 Current Population Survey earned.
// The second takes the images of Debian's package dataset-fashion-mnist, or others in the same
// files, and may run for an hour.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

func main() {
	path := flag.String("data", "testdata/cps1988.csv.gz", "the survey's `file`")
	dir := flag.String("images", "", "compare on the images in this `directory` instead")
	rows := flag.Int("rows", 0, "train on that many of the images only")
	epsilons := flag.String("epsilon", "1,4", "privacy parameters")
	repeat := flag.Int("repeat", 1, "average over this many fits")
	rest := flag.Bool("rest", true, "train the models of one class against the rest, too")
	flag.Parse()
	ctx, end := progress.Show(context.Background(), "classes", os.Stderr)
	err := run(progress.Beside(ctx, os.Stdout), *path, *dir, *rows, *epsilons, *repeat, *rest)
	end()
	if err != nil {
		fmt.Fprintln(os.Stderr, "classes:", err)
		os.Exit(1)
	}
}

// rows are features, and classes from 0 on.
type rows struct {
	x *mat.Dense
	y []float64
}

// contest is what is compared on.
type contest struct {
	train, test *rows
	classes     int
	bound       float64   // public, on the features of a row
	settings    []setting // to choose from by hand
}

func run(out io.Writer, path, dir string, first int, epsilons string, repeat int, rest bool) error {
	if repeat < 1 {
		return fmt.Errorf("-repeat is %d and must be at least 1", repeat)
	}
	load := func() (*contest, error) { return survey(path) }
	if dir != "" {
		load = func() (*contest, error) { return pictures(dir, first) }
	}
	c, err := load()
	if err != nil {
		return err
	}
	n, d := c.train.x.Dims()
	delta := math.Pow(float64(n), -1.5)
	fmt.Fprintf(out, "%d rows × %d features, %d classes, δ = %.3g; on %d other rows, mean of %d fits: accuracy, log-loss\n\n", n, d, c.classes, delta, len(c.test.y), repeat)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ε\tsoftmax\tone against rest\tthe most accurate of 27\tthe median of 27")
	for _, text := range strings.Split(epsilons, ",") {
		epsilon, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("-epsilon: %w", err)
		}
		if err := c.compare(w, epsilon, delta, repeat, rest); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "\nThe best of 27 was chosen by the rows that it is judged by, and hasn't paid for that.")
	return nil
}

// score is an accuracy and a log-loss, or the sum of several.
type score struct{ right, loss float64 }

// add adds what probabilities are worth.
func (s *score) add(p *mat.Dense, y []float64) {
	for _, m := range metrics.OfLevels(p, y) {
		switch m.Name {
		case "accuracy":
			s.right += m.Value
		case "log_loss":
			s.loss += m.Value
		}
	}
}

func (s score) over(n int) string {
	return fmt.Sprintf("%.4f, %.4f", s.right/float64(n), s.loss/float64(n))
}

// compare trains all and prints a line.
func (c *contest) compare(w io.Writer, epsilon, delta float64, repeat int, rest bool) error {
	budget := dpglm.ApproxDP(epsilon, delta)
	mu, err := mechanisms.GaussianMu(epsilon, delta)
	if err != nil {
		return err
	}
	var one, many score
	tuned := make([]score, len(c.settings))
	for k := range repeat {
		if err := c.add(&one, dpglm.SoftmaxConfig{}, budget); err != nil {
			return err
		}
		if rest {
			if err := c.add(&many, dpglm.OneAgainstRestConfig{}, budget); err != nil {
				return err
			}
		}
		c.byHand(tuned, mu, rand.New(rand.NewPCG(uint64(k), 1)))
	}
	against := "-"
	if rest {
		against = many.over(repeat)
	}
	best, middle := ranked(tuned)
	s := c.settings[best]
	fmt.Fprintf(w, "%g\t%s\t%s\t%s (%d steps, clip %.3g, rate %.2g)\t%s\n", epsilon, one.over(repeat), against,
		tuned[best].over(repeat), s.steps, s.clip, s.rate, tuned[middle].over(repeat))
	return nil
}

// add trains a model and adds its score on the other rows.
func (c *contest) add(to *score, l dpglm.Learner, b dpglm.Budget) error {
	d, err := dpglm.NewDataset(c.train.x, c.train.y, dpglm.Bounds{Feature: c.bound, Intercept: true})
	if err != nil {
		return err
	}
	plan, err := l.Plan(d.Shape(), dpglm.Problem{Loss: losses.Logistic{}, Classes: c.classes}, b)
	if err != nil {
		return err
	}
	m, err := plan.Run(context.Background(), d, nil)
	if err != nil {
		return err
	}
	p, err := m.Probabilities(c.test.x)
	if err != nil {
		return err
	}
	to.add(p, c.test.y)
	return nil
}

// byHand adds the scores of noisy gradient descent by each setting.
func (c *contest) byHand(to []score, mu float64, r *rand.Rand) {
	all := c.settings
	for from := 0; from < len(all); {
		next := from
		for next < len(all) && all[next].steps == all[from].steps {
			next++
		}
		for k, m := range descents(c.train, c.classes, mu, all[from:next], r) {
			to[from+k].add(m.Probabilities(baseline.Dense{Dense: c.test.x}), c.test.y)
		}
		from = next
	}
}
