// Moments tries regressions by released moments against ones without privacy:
//
//	go run ./examples/moments -data testdata/cps1988.csv.gz -schema examples/csvfit/cps1988.wages.json -epsilon 1
//
// It draws regressions of numeric columns on others at random, and samples of the file's rows with replacement. Moments of each
// sample are released once, and all regressions made of them, and all means. It prints how many intervals hold the coefficients of the whole
// file, how long they are against those of a sample without privacy, and how much less of the response's variance is explained in the file.
// With -singles it fits each regression by Auto as well, once with the whole budget and once with its part of the budget that
// all share.
// It is for experiments: what it prints is not private.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

const (
	fewest, most = 3, 10 // columns to regress on
	distinct     = 8     // values that a response has more of
	looked       = 3000  // rows that are looked at for these
	condition    = 1e7   // of regressions that are drawn again
	delta        = 1e-6
)

func main() { task.Main("moments", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("moments", flag.ContinueOnError)
	source := task.NewSource(f)
	source.TakesLevels = true
	epsilon := f.Float64("epsilon", 1, "the `ε` of each release; δ is 1e-6")
	samples := f.Int("samples", 10, "`number` of samples")
	count := f.Int("regressions", 20, "`number` of regressions")
	seed := f.Uint64("seed", 1, "`seed` of samples and regressions; the noise doesn't use it")
	singles := f.Bool("singles", false, "fit each regression by Auto, too")
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	if *samples < 1 || *count < 1 {
		return task.Usage("-samples %d and -regressions %d must be 1 or more", *samples, *count)
	}
	if err := source.ResolveData("moments", stderr); err != nil {
		return err
	}
	t, err := source.LoadColumns(ctx)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(*seed, *seed))
	e, err := newExperiment(t, *count, r)
	if err != nil {
		return err
	}
	mu, err := mechanisms.GaussianMu(*epsilon, delta)
	if err != nil {
		return err
	}
	for range *samples {
		x := e.sample(r)
		if err := e.try(ctx, x, dpglm.ApproxDP(*epsilon, delta)); err != nil {
			return err
		}
		if !*singles {
			continue
		}
		for k, mu := range []float64{mu, mu / math.Sqrt(float64(*count))} {
			if err := e.fit(ctx, x, dpglm.GDP(mu), &e.single[k]); err != nil {
				return err
			}
		}
	}
	if *singles {
		defer fmt.Fprintf(stdout, "by Auto R² is lower by %.4f on average, %.4f (median), with the whole budget for each; by %.4f, %.4f with its part\n",
			stat.Mean(e.single[0], nil), median(e.single[0]), stat.Mean(e.single[1], nil), median(e.single[1]))
	}
	var held int
	for _, h := range e.held {
		held += h
	}
	fmt.Fprintf(stdout, "means: %.3f of %d intervals hold, of the column with the fewest %.2f; %.2f times as long as without privacy (median)\n",
		float64(held)/float64(len(e.wide)), len(e.wide), float64(slices.Min(e.held))/float64(*samples), median(e.wide))
	_, err = fmt.Fprintf(stdout, "ε = %g, %d rows of %d columns, %d regressions of %d samples: %.3f of %d intervals hold, %.2f have none; %.2f times as long as without privacy (median), R² lower by %.4f on average, %.4f (median)\n",
		*epsilon, e.rows.RawMatrix().Rows, e.rows.RawMatrix().Cols, len(e.regressions), *samples, float64(e.hold)/float64(e.all), e.all,
		float64(e.none)/float64(e.none+e.all), median(e.lengths), stat.Mean(e.lost, nil), median(e.lost))
	return err
}

// experiment is a file's rows, with regressions, and what came of them.
type experiment struct {
	rows            *mat.Dense
	bound           float64
	regressions     []regression
	hold, all, none int          // intervals
	lengths, lost   []float64    // against those without privacy
	held            []int        // by column, of intervals of means
	wide            []float64    // these, against those without privacy
	single          [2][]float64 // lost by Auto, with the whole budget and with a part
}

// regression is that of a column on others, and what it is in the file.
type regression struct {
	response int
	columns  []int
	plain    plain
}

// plain is a regression without privacy: coefficients, the intercept last, and robust standard errors.
type plain struct{ coefficients, errors []float64 }

func newExperiment(t *table.Table, count int, r *rand.Rand) (*experiment, error) {
	n, d := t.Dims()
	e := &experiment{rows: mat.NewDense(n, d, nil), bound: t.Bound()}
	if t.Dense() != nil {
		e.rows.Copy(t.Dense())
	} else {
		e.rows.Copy(t.Sparse())
	}
	var responses []int
	for j, f := range t.Encoder().Features() {
		values := map[float64]bool{}
		for i := range min(n, looked) {
			values[e.rows.At(i, j)] = true
		}
		if !f.OneHot && len(values) > distinct {
			responses = append(responses, j)
		}
	}
	if len(responses) == 0 || d < 2 {
		return nil, task.Usage("-data must have a numeric column, and others")
	}
	for len(e.regressions) < count {
		of := regression{response: responses[r.IntN(len(responses))]}
		for _, j := range r.Perm(d)[:min(d, fewest+r.IntN(most-fewest+1))] {
			if j != of.response {
				of.columns = append(of.columns, j)
			}
		}
		var ok bool
		if of.plain, ok = of.fit(e.rows); ok {
			e.regressions = append(e.regressions, of)
		}
	}
	return e, nil
}

// design has the columns and a constant.
func (of regression) design(rows *mat.Dense) *mat.Dense {
	n, k := rows.RawMatrix().Rows, len(of.columns)
	x := mat.NewDense(n, k+1, nil)
	for i := range n {
		for c, j := range of.columns {
			x.Set(i, c, rows.At(i, j))
		}
		x.Set(i, k, 1)
	}
	return x
}

// fit is the regression without privacy, unless it is close to undetermined.
func (of regression) fit(rows *mat.Dense) (plain, bool) {
	x, y := of.design(rows), mat.NewVecDense(rows.RawMatrix().Rows, mat.Col(nil, of.response, rows))
	var square, inverse, meat, sandwich mat.Dense
	square.Mul(x.T(), x)
	var solved mat.Cholesky
	k := square.RawMatrix().Rows
	if !solved.Factorize(mat.NewSymDense(k, square.RawMatrix().Data)) || solved.Cond() > condition {
		return plain{}, false
	}
	var cross, w, residuals mat.VecDense
	cross.MulVec(x.T(), y)
	if solved.SolveVecTo(&w, &cross) != nil || inverse.Inverse(&square) != nil {
		return plain{}, false
	}
	residuals.MulVec(x, &w)
	residuals.SubVec(y, &residuals)
	for i := range x.RawMatrix().Rows {
		row := x.RawRowView(i)
		for j := range row {
			row[j] *= residuals.AtVec(i)
		}
	}
	meat.Mul(x.T(), x)
	sandwich.Product(&inverse, &meat, &inverse)
	out := plain{coefficients: w.RawVector().Data}
	for j := range k {
		out.errors = append(out.errors, math.Sqrt(sandwich.At(j, j)))
	}
	return out, true
}

// sample draws rows with replacement.
func (e *experiment) sample(r *rand.Rand) *mat.Dense {
	n, d := e.rows.Dims()
	x := mat.NewDense(n, d, nil)
	for i := range n {
		x.SetRow(i, e.rows.RawRowView(r.IntN(n)))
	}
	return x
}

// fit fits all regressions by Auto, each with the budget.
func (e *experiment) fit(ctx context.Context, x *mat.Dense, b dpglm.Budget, lost *[]float64) error {
	for _, of := range e.regressions {
		design := of.design(x)
		n, k := design.Dims()
		data, err := dpglm.NewDataset(design.Slice(0, n, 0, k-1), mat.Col(nil, of.response, x), dpglm.Bounds{Feature: e.bound, Label: 1, Intercept: true})
		if err != nil {
			return err
		}
		m, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Squared{}}, b, nil)
		if err != nil {
			return err
		}
		*lost = append(*lost, e.less(of, m.Weights()[0]))
	}
	return nil
}

// less is how much less of the response's variance weights explain in the file than the regression without privacy.
func (e *experiment) less(of regression, w []float64) float64 {
	y := mat.Col(nil, of.response, e.rows)
	return (of.off(e.rows, w) - of.off(e.rows, of.plain.coefficients)) / (stat.Variance(y, nil) * float64(len(y)-1))
}

// try releases moments of a sample, and makes all regressions of them.
func (e *experiment) try(ctx context.Context, x *mat.Dense, b dpglm.Budget) error {
	n := x.RawMatrix().Rows
	data, err := dpglm.NewDataset(x, make([]float64, n), dpglm.Bounds{Feature: e.bound, Label: 1, Intercept: true})
	if err != nil {
		return err
	}
	m, err := data.Moments(ctx, b, nil)
	if err != nil {
		return err
	}
	name := func(j int) string { return "x" + strconv.Itoa(j+1) }
	if err := e.means(m, name); err != nil {
		return err
	}
	for _, of := range e.regressions {
		var names []string
		for _, j := range of.columns {
			names = append(names, name(j))
		}
		found, err := m.Regress(name(of.response), names, 0)
		if err != nil {
			return err
		}
		e.add(of, found)
	}
	return nil
}

// means counts which columns' intervals hold the file's means.
func (e *experiment) means(m *dpglm.Moments, name func(int) string) error {
	n, d := e.rows.Dims()
	if e.held == nil {
		e.held = make([]int, d)
	}
	for j := range d {
		found, err := m.Regress(name(j), nil, 0)
		if err != nil {
			return err
		}
		mean, deviation := stat.MeanStdDev(mat.Col(nil, j, e.rows), nil)
		c := found.Coefficients[0]
		if c.Low <= mean && mean <= c.High {
			e.held[j]++
		}
		e.wide = append(e.wide, c.StandardError/(deviation/math.Sqrt(float64(n))))
	}
	return nil
}

// add counts what a regression found.
func (e *experiment) add(of regression, found *dpglm.Regression) {
	var w []float64
	for j, c := range found.Coefficients {
		w = append(w, c.Estimate)
		if c.Undetermined() {
			e.none++
			continue
		}
		e.all++
		if want := of.plain.coefficients[j]; c.Low <= want && want <= c.High {
			e.hold++
		}
		e.lengths = append(e.lengths, c.StandardError/of.plain.errors[j])
	}
	e.lost = append(e.lost, e.less(of, w))
}

// off is the sum of squared residuals.
func (of regression) off(rows *mat.Dense, w []float64) float64 {
	var residuals mat.VecDense
	residuals.MulVec(of.design(rows), mat.NewVecDense(len(w), w))
	residuals.SubVec(mat.NewVecDense(residuals.Len(), mat.Col(nil, of.response, rows)), &residuals)
	return mat.Dot(&residuals, &residuals)
}

// median of numbers, NaN of none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return stat.Quantile(1.0/2, stat.Empirical, list, nil)
}
