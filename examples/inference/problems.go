package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/lines"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/mechanisms"
)

// about is what samples of a problem told of its intervals: a line of a file.
type about struct {
	Problem  int     `json:"problem"`
	Seed     uint64  `json:"seed"`
	Samples  int     `json:"samples"` // asked for
	Likeness string  `json:"likeness,omitempty"`
	Loss     string  `json:"loss"`
	Rows     int     `json:"rows"`
	Features int     `json:"features"`
	Epsilon  float64 `json:"epsilon"`
	// NMu is n·μ per feature.
	NMu          float64     `json:"n_mu_d"`
	Coefficients []intervals `json:"coefficients"`
	Covered      []float64   `json:"covered"` // of each sample that prints some, the part of intervals that cover
	Plain        float64     `json:"plain"`   // the part without privacy
	Tests        []float64   `json:"tests"`   // p values of a joint test that holds
	Figures      []figures   `json:"figures"` // of evaluations
	Refused      string      `json:"refused,omitempty"`
}

// intervals are those of a coefficient.
type intervals struct {
	Name    string  `json:"name"`
	Truth   float64 `json:"truth"`
	Printed int     `json:"printed"` // without a mark
	Marked  int     `json:"marked"`
	Covered int     `json:"covered"` // of those printed
	Ratio   float64 `json:"ratio"`   // median over those printed of standard errors with and without privacy
	Off     float64 `json:"off"`     // mean error of those printed, in their standard errors
	Plain   int     `json:"plain"`   // covered without privacy
}

// limits of coverage below which a problem fails, by two standard errors.
const (
	leastCoverage = 0.92
	leastOfOne    = 0.85
)

// fails reports whether intervals that are printed without a mark don't cover.
func (a *about) fails() bool {
	if len(a.Covered) > 1 {
		mean, sd := stat.MeanStdDev(a.Covered, nil)
		if mean+2*sd/math.Sqrt(float64(len(a.Covered))) < leastCoverage {
			return true
		}
	}
	return slices.ContainsFunc(a.Coefficients, intervals.fail)
}

// fail reports whether so few intervals would cover in one study of 44 if leastOfOne did.
func (i intervals) fail() bool {
	return i.Printed > 0 && distuv.Binomial{N: float64(i.Printed), P: leastOfOne}.CDF(float64(i.Covered)) < distuv.UnitNormal.CDF(-2)
}

// printed is the part of all coefficients that have an interval, and marked that of those that have one with
// a mark.
func (a *about) printed() (printed, marked float64) {
	all := 0
	for _, c := range a.Coefficients {
		all += a.Samples
		printed += float64(c.Printed + c.Marked)
		marked += float64(c.Marked)
	}
	return printed / float64(max(1, all)), marked / math.Max(1, printed)
}

// width is the median of the coefficients' ratios, of those printed half of the time; NaN where none is.
func (a *about) width() float64 {
	var ratios []float64
	for _, c := range a.Coefficients {
		if 2*(c.Printed+c.Marked) >= a.Samples && c.Ratio > 0 {
			ratios = append(ratios, c.Ratio)
		}
	}
	return middle(ratios)
}

// middle is the median.
func middle(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// measure fits samples of a problem.
func (p *problem) measure(ctx context.Context, seed uint64, samples int) (*about, error) {
	d := len(p.schema.Columns)
	budget := dpglm.ApproxDP(p.epsilon, math.Pow(float64(p.rows), -1.5))
	mu, err := mechanisms.GaussianMu(p.epsilon, math.Pow(float64(p.rows), -1.5))
	if err != nil {
		return nil, err
	}
	a := &about{
		Problem: p.number, Seed: seed, Samples: samples, Likeness: p.likeness, Loss: p.loss.Name(), Rows: p.rows, Features: d,
		Epsilon: p.epsilon, NMu: float64(p.rows) * mu / float64(d),
	}
	truth, err := p.truth()
	if errors.Is(err, errNoFit) {
		a.Refused = err.Error()
		return a, nil
	} else if err != nil {
		return nil, err
	}
	names := append(slices.Clone(p.schema.Columns), dpglm.InterceptName)
	ratios, off := make([][]float64, d+1), make([][]float64, d+1)
	for j, name := range names {
		a.Coefficients = append(a.Coefficients, intervals{Name: name, Truth: truth[j]})
	}
	loss, fits := p.counted(), 0
	for k := range samples {
		rows := p.all.resampled(p.rows, seed+uint64(1000*p.number+k))
		plain, err := fitExactly(rows, loss)
		if err != nil { // a sample may have none
			plain = nil
		}
		data, err := dpglm.NewDataset(rows.x, rows.y, p.schema)
		if err != nil {
			return nil, err
		}
		env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed + uint64(k))}
		private, err := dpglm.Infer(ctx, data, dpglm.Problem{Loss: p.loss}, budget, dpglm.InferConfig{}, env)
		if err != nil {
			return nil, err
		}
		if k%evaluatedEach == 0 {
			if err := a.evaluate(ctx, p, private.Model(), k); err != nil {
				return nil, err
			}
		}
		var tested []dpglm.Restriction
		printed, covered := 0, 0
		for j, c := range private.Coefficients() {
			of := &a.Coefficients[j]
			if plain != nil {
				fits++
				if math.Abs(plain.coefficients[j]-of.Truth) <= 1.959964*plain.errors[j] {
					of.Plain++
				}
			}
			if c.Undetermined() {
				continue
			}
			if plain != nil && plain.errors[j] > 0 { // it isn't a number where the sample can't tell a coefficient
				ratios[j] = append(ratios[j], c.StandardError/plain.errors[j])
			}
			if marked(c) {
				of.Marked++
				continue
			}
			off[j] = append(off[j], (c.Estimate-of.Truth)/c.StandardError)
			of.Printed++
			printed++
			if c.Low <= of.Truth && of.Truth <= c.High {
				of.Covered++
				covered++
			}
			if j < d && len(tested) < mostTested && c.Group == "" {
				tested = append(tested, dpglm.Restriction{Factors: map[string]float64{c.Name: 1}, Value: of.Truth})
			}
		}
		if printed > 0 {
			a.Covered = append(a.Covered, float64(covered)/float64(printed))
		}
		if len(tested) > 1 {
			if test, err := private.Wald(tested...); err == nil && !test.Undetermined {
				a.Tests = append(a.Tests, test.P)
			}
		}
	}
	for j := range a.Coefficients {
		c := &a.Coefficients[j]
		if len(ratios[j]) > 0 {
			c.Ratio = middle(ratios[j])
		}
		if len(off[j]) > 0 {
			c.Off = stat.Mean(off[j], nil)
		}
		a.Plain += float64(c.Plain) / math.Max(1, float64(fits))
	}
	return a, nil
}

// mostTested is how many coefficients a joint test is of.
const mostTested = 5

// marked reports whether an interval comes with a warning.
func marked(c dpglm.Coefficient) bool { return c.Mark != "" }

// results are what is known of problems, by their numbers.
type results map[int]*about

func (r results) keep(list []*about) {
	for _, a := range list {
		r[a.Problem] = a
	}
}

// sorted are those up to a number.
func (r results) sorted(most int) (list []*about) {
	for _, a := range r {
		if a.Problem < most {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *about) int { return cmp.Compare(a.Problem, b.Problem) })
	return list
}

// studyProblems measures problems that a file doesn't have yet, and prints what they come to.
func studyProblems(ctx context.Context, stdout io.Writer, o options) error {
	f, list, err := lines.Open[*about](o.out)
	if err != nil {
		return err
	}
	defer f.Close()
	known := results{}
	known.keep(list)
	var todo []int
	for k := range o.draws {
		switch a := known[k]; {
		case a == nil:
			todo = append(todo, k)
		case a.Seed != o.seed || a.Samples != o.repeats:
			return fmt.Errorf("-out %s: problem %d has seed %d and %d samples, not -seed %d and -repeats %d: name another file", o.out, k, a.Seed, a.Samples, o.seed, o.repeats)
		}
	}
	if err := measureAll(ctx, f, known, todo, o); err != nil {
		return err
	}
	report(stdout, known.sorted(o.draws))
	reportFigures(stdout, known.sorted(o.draws))
	if o.against == "" {
		return nil
	}
	if list, err = lines.Read[*about](o.against); err != nil {
		return err
	}
	old := results{}
	old.keep(list)
	compareStudies(stdout, old.sorted(o.draws), known)
	return nil
}

// measureAll measures several problems at a time.
func measureAll(ctx context.Context, f *lines.File[*about], known results, todo []int, o options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next, done := make(chan int), 0
	step := progress.Count(ctx, "problems", len(todo))
	var all sync.WaitGroup
	var lock sync.Mutex
	for range o.workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for k := range next {
				a, err := drawProblem(o.seed, k).measure(ctx, o.seed, o.repeats)
				if err == nil {
					err = f.Add(a)
				}
				if err != nil {
					cancel(fmt.Errorf("problem %d: %w", k, err))
					return
				}
				lock.Lock()
				known[k] = a
				done++
				step(done)
				lock.Unlock()
			}
		}()
	}
	for _, k := range todo {
		select {
		case next <- k:
		case <-ctx.Done():
		}
	}
	close(next)
	all.Wait()
	return context.Cause(ctx)
}

// report prints what problems come to.
func report(w io.Writer, list []*about) {
	var widths, tests []float64
	failing, without, refused := 0, 0, 0
	var printed, marked, fine float64
	type part struct{ problems, failing int }
	bands := []float64{60, 125, 250, 500, 1000, 2000, 5000, math.Inf(1)}
	of, yield := make([]part, len(bands)), make([]float64, len(bands))
	for _, a := range list {
		if a.Refused != "" {
			refused++
			continue
		}
		band := slices.IndexFunc(bands, func(b float64) bool { return a.NMu < b })
		p, m := a.printed()
		printed += p
		of[band].problems++
		yield[band] += p
		switch {
		case p == 0:
			without++
		case a.fails():
			failing++
			of[band].failing++
			fmt.Fprintf(w, "problem %d fails: %s, n = %d, d = %d, ε = %.3g: mean coverage %.3f%s\n", a.Problem, a.Likeness, a.Rows, a.Features, a.Epsilon, stat.Mean(a.Covered, nil), a.worst())
		default:
			fine++
			marked += m
			if width := a.width(); !math.IsNaN(width) {
				widths = append(widths, width)
			}
		}
		tests = append(tests, a.Tests...)
	}
	rejected := 0
	for _, p := range tests {
		if p < 0.05 {
			rejected++
		}
	}
	n := float64(len(list) - refused)
	fmt.Fprintf(w, "%d problems, %d without a truth: %d fail unmarked (%.1f %%), %d print nothing\n", len(list), refused, failing, 100*float64(failing)/n, without)
	fmt.Fprintf(w, "part of the coefficients with an interval: %.3f; of these marked, in problems that are fine: %.3f\n", printed/n, marked/math.Max(1, fine))
	fmt.Fprintf(w, "median width over that without privacy, in problems that are fine: %.3f\n", middle(widths))
	fmt.Fprintf(w, "joint tests that hold, rejected at .05: %.3f of %d\n", float64(rejected)/math.Max(1, float64(len(tests))), len(tests))
	fmt.Fprintf(w, "%10s %9s %8s %7s\n", "n·μ/d", "problems", "failing", "yield")
	for k, b := range bands {
		fmt.Fprintf(w, "%10s %9d %8d %7.2f\n", fmt.Sprintf("< %.4g", b), of[k].problems, of[k].failing, yield[k]/math.Max(1, float64(of[k].problems)))
	}
}

// worst names the coefficients that fail.
func (a *about) worst() (text string) {
	for _, c := range a.Coefficients {
		if c.fail() {
			text += fmt.Sprintf(", %s %.2f (off %.1f)", c.Name, float64(c.Covered)/float64(c.Printed), c.Off)
		}
	}
	return text
}

// compareStudies prints how problems fare that another file has, too.
func compareStudies(w io.Writer, list []*about, now results) {
	var ratios []float64
	mended, broken := []int{}, []int{}
	for _, was := range list {
		is := now[was.Problem]
		if is == nil || was.Refused != "" {
			continue
		}
		switch {
		case was.fails() && !is.fails():
			mended = append(mended, was.Problem)
		case !was.fails() && is.fails():
			broken = append(broken, was.Problem)
		}
		if ratio := is.width() / was.width(); !was.fails() && !math.IsNaN(ratio) {
			ratios = append(ratios, math.Log(ratio))
		}
	}
	if len(ratios) > 0 {
		fmt.Fprintf(w, "in %d problems that were fine widths are %.3f times what they were (median), %.3f (geometric mean)\n", len(ratios), math.Exp(middle(ratios)), math.Exp(floats.Sum(ratios)/float64(len(ratios))))
	}
	fmt.Fprintf(w, "fail no longer: %v\nfail now: %v\n", mended, broken)
}
