// Highdim compares the methods where there are more dimensions than rows:
// a regression with 2,000 training rows in 5,000 dimensions, whose rows lie near
// 20 directions, as texts, images or genomes do. With -select it selects a few columns of
// a million instead, of sparse rows whose labels depend on 20.
//
//	go run ./examples/highdim
//	go run ./examples/highdim -select -n 100000 -d 1000000
//	go run ./examples/highdim -select -n 20000 -d 10000 -auto
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
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
	rows := flag.Int("n", 2000, "training rows")
	dim := flag.Int("d", 5000, "dimensions")
	repeat := flag.Int("repeat", 3, "average over this many data sets")
	selects := flag.Bool("select", false, "select a few columns of sparse rows of zeros and ones")
	nonzeros := flag.Int("nonzeros", 100, "entries of a sparse row")
	steps := flag.Int("steps", 0, "selections; 0 takes the library's number")
	auto := flag.Bool("auto", false, "compare with Auto, which takes long for many columns")
	flag.Parse()
	ctx, end := progress.Show(context.Background(), "highdim", os.Stderr)
	out := progress.Beside(ctx, os.Stdout)
	var err error
	if *selects {
		err = selection{*rows, *dim, *nonzeros, *steps, *auto, []float64{0.5, 1, 4}}.run(out)
	} else {
		err = run(out, *rows, *dim, *repeat)
	}
	end()
	if err != nil {
		fmt.Fprintln(os.Stderr, "highdim:", err)
		os.Exit(1)
	}
}

// methods are the contestants. All are told the same public facts; nobody is
// told how strong the signal is.
var methods = []struct {
	name    string
	learner dpglm.Learner
}{
	{"auto", dpglm.AutoConfig{}},
	{"Noisy GD", dpglm.NoisyGDConfig{}},
	{"objective perturbation", dpglm.ObjectivePerturbationConfig{}},
	{"output perturbation", dpglm.OutputPerturbationConfig{}},
	{"JL to 100, Noisy GD", dpglm.JLConfig{K: 100}},
	{"JL to 20, Noisy GD", dpglm.JLConfig{K: 20}},
	{"JL to 100, objective pert.", dpglm.JLConfig{K: 100, Learner: dpglm.ObjectivePerturbationConfig{}}},
	{"JL to 100, output pert.", dpglm.JLConfig{K: 100, Learner: dpglm.OutputPerturbationConfig{}}},
	{"grid search, Noisy GD", dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}},
	{"boosting, Noisy GD", dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}, Chunks: 3}},
}

var budgets = []float64{1, 4, 16}

// sample draws rows near rank directions, scaled to norm at most 1, and labels
// within ±1 that depend on them linearly, up to noise.
func sample(n, d int, seed uint64) (*mat.Dense, []float64) {
	const rank = 20
	r := rand.New(mechanisms.NewSeededSource(seed))
	normal := func(rows, cols int, scale float64) *mat.Dense {
		m := mat.NewDense(rows, cols, nil)
		for i := range rows {
			for j := range cols {
				m.Set(i, j, scale*r.NormFloat64())
			}
		}
		return m
	}
	latent, basis := normal(n, rank, 1), normal(rank, d, 1/math.Sqrt(float64(d*rank)))
	x := normal(n, d, 0.3/math.Sqrt(float64(d)))
	var signal mat.Dense
	signal.Mul(latent, basis)
	x.Add(x, &signal)
	y := make([]float64, n)
	for i := range y {
		y[i] = 0.2*(latent.At(i, 0)+latent.At(i, 1)) + 0.2*r.NormFloat64()
	}
	return x, y
}

func run(out io.Writer, n, d, repeat int) error {
	score := make([][]float64, len(methods)) // R² by method and budget
	for i := range score {
		score[i] = make([]float64, len(budgets))
	}
	var plain float64
	for k := range repeat {
		x, y := sample(n+500, d, uint64(k))
		test, yTest := x.Slice(n, n+500, 0, d), y[n:]
		data, err := dpglm.NewDataset(x.Slice(0, n, 0, d), y[:n], dpglm.Bounds{Feature: 1.5, Label: 1})
		if err != nil {
			return err
		}
		for i, m := range methods {
			for j, epsilon := range budgets {
				model, err := train(data, m.learner, epsilon)
				if err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
				predicted, err := model.Predict(test)
				if err != nil {
					return err
				}
				score[i][j] += metrics.R2(predicted, yTest) / float64(repeat)
			}
		}
		fit, err := baseline.Fit(baseline.Dense{Dense: x.Slice(0, n, 0, d).(*mat.Dense)}, y[:n], losses.Squared{})
		if err != nil {
			return err
		}
		plain += metrics.R2(fit.Scores(baseline.Dense{Dense: test.(*mat.Dense)}), yTest) / float64(repeat)
	}
	return print(out, n, d, score, plain)
}

func train(data *dpglm.Dataset, l dpglm.Learner, epsilon float64) (*dpglm.Model, error) {
	problem := dpglm.Problem{Loss: losses.Squared{}}
	plan, err := l.Plan(data.Shape(), problem, dpglm.ApproxDP(epsilon, 1e-6))
	if err != nil {
		return nil, err
	}
	return plan.Run(context.Background(), data, nil)
}

func print(out io.Writer, n, d int, score [][]float64, plain float64) error {
	fmt.Fprintf(out, "R² on a hold-out, %d training rows, %d dimensions, δ = 1e-6; the zero model has 0.\n\n", n, d)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "method\t")
	for _, e := range budgets {
		fmt.Fprintf(w, "ε = %g\t", e)
	}
	fmt.Fprintln(w)
	for i, m := range methods {
		fmt.Fprintf(w, "%s\t", m.name)
		for _, r2 := range score[i] {
			fmt.Fprintf(w, "%.3f\t", r2)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "not private\t\t\t%.3f\t\n", plain)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nAdvice, for data like these:\n")
	for j, e := range budgets {
		fmt.Fprintf(out, "at ε = %g: %s\n", e, advice(score, j))
	}
	return nil
}

// within is how much less of R² the first method may have and still be advised: it needs no choice.
const within = 0.05

// advice names the method with the largest R² at a budget, and the first of the methods if that comes near.
func advice(score [][]float64, budget int) string {
	best := 0
	for i := range methods {
		if score[i][budget] > score[best][budget] {
			best = i
		}
	}
	switch most := score[best][budget]; {
	case !(most > 0):
		return "none of them; the zero model is as good, so that it takes more rows or a larger ε"
	case best > 0 && score[0][budget] >= most-within:
		return fmt.Sprintf("%s, which chooses by itself; %s has %.3f more", methods[0].name, methods[best].name, most-score[0][budget])
	default:
		return methods[best].name
	}
}
