package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
)

func newton() paper {
	return paper{
		name: "newton", title: "Second-order methods: Ganesh, Haghifam, Steinke, Thakurta, *Faster differentially private convex optimization via second-order methods*, NeurIPS 2023",
		repository: "mhaghifam/Second-Order-Private-Optimization-NeurIPS2023", commit: "901f9bb", measure: "mean logistic loss on the rows trained on, less the least", falls: true, delta: squareOfRows,
		epsilons: []float64{0.01, 0.1, 1, 3, 10}, relations: []string{replaced, added},
		protocol: "Logistic regression on a1a, LIBSVM's test file (here the copy of LIBOL/SOL at 37f2b02), without an intercept but with a column of ones. Columns are standardised without privacy and rows longer than 1 scaled to 1, which is what is public. There is nothing held out. " +
			"Figures are drawn, not printed, so **theirs were run by us** with the repository's `run.py`, ten times each, at the numbers of steps and shares of the budget of `run_privacy_utility` in tensorflow/privacy at 2b4d34d: " +
			"100 steps of gradient descent, 15 of the others. Its eps_to_zcdp stays at its start, ρ = 0.001, where ε is 0.01 or 0.1, which is noise for ε = 0.27: there it had a search by bisection in the place of fsolve. Gradients of one row more or less are what their noise is for. δ is the number of rows to the power −2.",
		methods: []method{{"DN-Hess-add", added, true}, {"DN-Hess-clip", added, true}, {"DN-UB-add", added, true}, {"DN-UB-clip", added, true}, {"DPGD", added, false}, {"private-newton", added, false}},
		sets:    []string{"a1a"}, open: openNewton,
	}
}

// squareOfRows stands for a δ of the number of rows to the power −2.
const squareOfRows = 0

func openNewton(folder, set string) (*bench, error) {
	x, y, err := libsvm(filepath.Join(folder, "src", "datasets_directory", "data", set))
	if err != nil {
		return nil, err
	}
	x = standardise(x)
	least, err := leastLogistic(x, y)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set, err)
	}
	results, err := convergence(folder, set)
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	return &bench{rows: n, columns: d, parts: 1,
		fit: func(ctx context.Context, t turn) (outcome, error) {
			t.delta = math.Pow(float64(n), -2)
			z, err := t.scores(ctx, x, y, dpglm.Bounds{Feature: 1}, losses.Logistic{}, x)
			if err != nil {
				return outcome{}, err
			}
			return outcome{loss: metrics.LogLoss(z, y) - least}, nil
		},
		theirs: func(m string, epsilon float64) (figure, bool) {
			f, ok := results[steps{m, epsilon}]
			return f, ok
		}}, nil
}

// libsvm reads rows of a label and places, from 1, with values.
func libsvm(path string) (*mat.Dense, []float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	type value struct {
		row, column int
		v           float64
	}
	var all []value
	var y []float64
	columns := 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		label, err := strconv.ParseFloat(fields[0], 64)
		for _, text := range fields[1:] {
			place, number, _ := strings.Cut(text, ":")
			j, wrong := strconv.Atoi(place)
			v, bad := strconv.ParseFloat(number, 64)
			if err = errors.Join(err, wrong, bad); err == nil && j < 1 {
				err = fmt.Errorf("column %d isn't 1 or more", j)
			}
			all, columns = append(all, value{len(y), j - 1, v}), max(columns, j)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: row %d: %w", path, len(y)+1, err)
		}
		y = append(y, label)
	}
	if err := lines.Err(); err != nil || columns == 0 {
		return nil, nil, errors.Join(err, fmt.Errorf("%s: %d rows of %d columns", path, len(y), columns))
	}
	x := mat.NewDense(len(y), columns, nil)
	for _, v := range all {
		x.Set(v.row, v.column, v.v)
	}
	return x, y, nil
}

// standardise has columns of mean 0 and variance 1 after a column of ones, and scales rows down to length 1.
func standardise(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	out := mat.NewDense(n, d+1, nil)
	column := make([]float64, n)
	for j := range d {
		mat.Col(column, j, x)
		mean, variance := stat.PopMeanVariance(column, nil)
		scale := math.Sqrt(variance)
		if !(scale > 0) {
			scale = 1
		}
		for i, v := range column {
			out.Set(i, j+1, (v-mean)/scale)
		}
	}
	for i := range n {
		row := out.RawRowView(i)
		row[0] = 1
		if norm := floats.Norm(row, 2); norm > 1 {
			floats.Scale(1/norm, row)
		}
	}
	return out
}

// leastLogistic is the least mean logistic loss of a linear model without an intercept, by Newton's method, whose step is halved until the
// loss falls, until it falls by no more than what no table shows: where a rare column has one class only, there is no least. The ridge is the paper's.
func leastLogistic(x *mat.Dense, y []float64) (float64, error) {
	const ridge, steps, halvings, enough = 1e-9, 50, 30, 1e-8
	n, d := x.Dims()
	w, z := mat.NewVecDense(d, nil), mat.NewVecDense(n, nil)
	loss := func(w *mat.VecDense) float64 {
		z.MulVec(x, w)
		return metrics.LogLoss(z.RawVector().Data, y)
	}
	now := loss(w)
	for range steps {
		gradient, curvature := slope(x, y, z, ridge)
		var factor mat.Cholesky
		if !factor.Factorize(curvature) {
			return 0, errors.New("no least logistic loss: the curvature is singular")
		}
		var step mat.VecDense
		if err := factor.SolveVecTo(&step, gradient); err != nil {
			return 0, err
		}
		before := now
		for range halvings {
			var next mat.VecDense
			next.SubVec(w, &step)
			if now = loss(&next); now <= before {
				w.CopyVec(&next)
				break
			}
			step.ScaleVec(0.5, &step)
		}
		if before-now < enough {
			return math.Min(before, now), nil
		}
	}
	return 0, errors.New("no least logistic loss after Newton's steps")
}

// slope is the mean loss's gradient and, with a ridge, its Hessian, at scores z.
func slope(x *mat.Dense, y []float64, z *mat.VecDense, ridge float64) (*mat.VecDense, *mat.SymDense) {
	n, d := x.Dims()
	residual, scaled := mat.NewVecDense(n, nil), mat.DenseCopyOf(x)
	for i := range n {
		p := 1 / (1 + math.Exp(-z.AtVec(i)))
		label := 0.0
		if y[i] > 0 {
			label = 1
		}
		residual.SetVec(i, (p-label)/float64(n))
		floats.Scale(math.Sqrt(p*(1-p)/float64(n)), scaled.RawRowView(i))
	}
	var gradient mat.VecDense
	gradient.MulVec(x.T(), residual)
	curvature := mat.NewSymDense(d, nil)
	curvature.SymOuterK(1, scaled.T())
	for j := range d {
		curvature.SetSym(j, j, curvature.At(j, j)+ridge)
	}
	return &gradient, curvature
}

// steps are a method's run under an ε.
type steps struct {
	method  string
	epsilon float64
}

// convergence are the last losses of the files that run.py has left, with the standard errors of its repetitions; none where it was not run.
func convergence(folder, set string) (map[steps]figure, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "src", "results", "*_"+set+"_dataset_*.txt"))
	if err != nil {
		return nil, err
	}
	const repetitions = 10 // of run.py
	all := map[steps]figure{}
	for _, path := range paths {
		_, name, _ := strings.Cut(filepath.Base(path), "_"+set+"_dataset_")
		text, _, _ := strings.Cut(name, "_")
		epsilon, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: the name has no ε: %w", path, err)
		}
		written, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var methods map[string]json.RawMessage
		if err := json.Unmarshal(written, &methods); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for m, text := range methods {
			var r struct {
				Mean  []float64 `json:"loss_avg"`
				Error []float64 `json:"loss_std"`
			}
			if json.Unmarshal(text, &r) != nil || len(r.Mean) == 0 || len(r.Mean) != len(r.Error) {
				continue // a number of the whole file
			}
			last := len(r.Mean) - 1
			all[steps{m, epsilon}] = figure{r.Mean[last], r.Error[last], repetitions}
		}
	}
	return all, nil
}
