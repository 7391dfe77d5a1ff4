package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// The columns of the survey, with the ranges that the paper takes from the Census Bureau's documents.
const (
	education, female, wage              = "educ_years", "female", "log_wage"
	mostEducation, mostFemale, mostWages = 22, 1, 15
)

func wages() paper {
	return paper{
		name: "wages", title: "dp-statsmodels: Ghenis, *Differentially private regression with valid statistical inference*, 2024",
		repository: "MaxGhenis/dp-statsmodels", commit: "ce4a47b", measure: "standard error of education over that of least squares", delta: 1e-5,
		epsilons:  []float64{1, 4, 10, 50, 100},
		relations: []string{replaced, added},
		protocol: "The logarithm of wages by years of education and sex, with an intercept, on the file of the Current Population Survey of March 2024 that the repository has. Ranges are those that the paper takes from documents: " +
			"education [0, 22], female [0, 1], logarithm of the wage [0, 15]. Their program has one range for all columns, and noise for that. Ours is `Infer`. Theirs are the numbers of its paper_results.py, of 20 replications, without a standard error; there are none below ε = 10. " +
			"A model whose standard error is infinite counts as a refusal.",
		methods: []method{{"dp-statsmodels", added, true}},
		sets:    []string{"cps_asec_2024_wages"},
		open:    openWages,
	}
}

// inflation is a line of paper_results.py: ε, the ratio of standard errors, and the mean and deviation of estimates.
var inflation = regexp.MustCompile(`SEInflationResult\(([\d.]+), ([\d.]+), (-?[\d.]+), ([\d.]+)\)`)

func openWages(folder, set string) (*bench, error) {
	names, rows, err := table(filepath.Join(folder, "data", set+".csv"))
	if err != nil {
		return nil, err
	}
	places := []int{slices.Index(names, education), slices.Index(names, female), slices.Index(names, wage)}
	if slices.Contains(places, -1) {
		return nil, fmt.Errorf("%s: the columns %q lack one of %s, %s, %s", set, names, education, female, wage)
	}
	text, err := os.ReadFile(filepath.Join(folder, "dp_statsmodels", "paper_results.py"))
	if err != nil {
		return nil, err
	}
	theirs := map[float64]float64{}
	for _, m := range inflation.FindAllSubmatch(text, -1) {
		epsilon, _ := strconv.ParseFloat(string(m[1]), 64)
		theirs[epsilon], _ = strconv.ParseFloat(string(m[2]), 64)
	}
	x, y := mat.NewDense(len(rows), 2, nil), make([]float64, len(rows))
	for i, r := range rows {
		x.SetRow(i, []float64{r[places[0]], r[places[1]]})
		y[i] = r[places[2]]
	}
	plain := leastSquares(x, y)
	return &bench{rows: len(rows), columns: 2, parts: 1,
		fit: func(ctx context.Context, t turn) (outcome, error) { return inferred(ctx, t, x, y, plain) },
		theirs: func(_ string, epsilon float64) (figure, bool) {
			v, ok := theirs[epsilon]
			return figure{v, math.NaN(), 0}, ok
		}}, nil
}

// inferred has the standard error of education over that without privacy, and the estimate.
func inferred(ctx context.Context, t turn, x *mat.Dense, y []float64, plain float64) (outcome, error) {
	facts := dpglm.Schema{Columns: []string{education, female}, LabelRange: [2]float64{0, mostWages}, Intercept: true,
		Numeric: map[string][2]float64{education: {0, mostEducation}, female: {0, mostFemale}}}
	data, err := t.data(x, y, facts)
	if err != nil {
		return outcome{}, err
	}
	fit, err := dpglm.Infer(ctx, data, dpglm.Problem{Loss: losses.Squared{}}, t.budget(), dpglm.InferConfig{}, t.env())
	if err != nil {
		return outcome{}, err
	}
	c, err := fit.Coefficient(education)
	if err != nil {
		return outcome{}, err
	}
	return outcome{loss: c.StandardError / plain, estimate: c.Estimate}, nil
}

// leastSquares is the usual standard error of the first column's coefficient beside an intercept, for errors of one variance.
func leastSquares(x *mat.Dense, y []float64) float64 {
	n, d := x.Dims()
	design := mat.NewDense(n, d+1, nil)
	for i := range n {
		design.SetRow(i, append(slices.Clone(x.RawRowView(i)), 1))
	}
	var moments, inverse mat.Dense
	moments.Mul(design.T(), design)
	if err := inverse.Inverse(&moments); err != nil {
		return math.NaN()
	}
	var cross, w, fitted mat.VecDense
	cross.MulVec(design.T(), mat.NewVecDense(n, y))
	w.MulVec(&inverse, &cross)
	fitted.MulVec(design, &w)
	fitted.SubVec(mat.NewVecDense(n, slices.Clone(y)), &fitted)
	return math.Sqrt(mat.Dot(&fitted, &fitted) / float64(n-d-1) * inverse.At(0, 0))
}
