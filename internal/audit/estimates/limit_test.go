package estimates_test

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// What fits of real data are off by at most, in the non-private fit's standard errors, at ε = 10⁶ and 10⁸.
const (
	near   = 0.006
	nearer = 0.0006
)

// realSet is a model of real data: rows without repetition, and the fit by statsmodels.
type realSet struct {
	name, kind  string
	columns     []string
	x           *mat.Dense
	y           []float64
	beta, error []float64 // the intercept last
}

const limitFolder = "../../../testdata/limit"

// realSets are the models of a folder.
func realSets(t *testing.T, folder string) (all []*realSet) {
	t.Helper()
	lines := read(t, filepath.Join(folder, "coefficients.csv"), false)
	for _, line := range lines[1:] {
		if len(all) == 0 || all[len(all)-1].name != line[0] {
			all = append(all, &realSet{name: line[0], kind: strings.TrimSuffix(line[0], " "+line[1])})
		}
		s := all[len(all)-1]
		if s.columns = append(s.columns, line[3]); line[3] == "1" {
			s.columns = s.columns[:len(s.columns)-1]
			s.fill(t, read(t, filepath.Join(folder, line[1]+".csv.gz"), true), line[2])
		}
		s.beta, s.error = append(s.beta, number(t, line[4])), append(s.error, number(t, line[5]))
	}
	return all
}

// read are the records of a file.
func read(t *testing.T, path string, zipped bool) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("these data don't ship with the project")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	if zipped {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		r = csv.NewReader(z)
	}
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fill takes the columns and the label out of records.
func (s *realSet) fill(t *testing.T, lines [][]string, label string) {
	t.Helper()
	s.x = mat.NewDense(len(lines)-1, len(s.columns), nil)
	for i, line := range lines[1:] {
		s.y = append(s.y, number(t, line[slices.Index(lines[0], label)]))
		for j, c := range s.columns {
			s.x.Set(i, j, number(t, line[slices.Index(lines[0], c)]))
		}
	}
}

func (s *realSet) loss() losses.Loss {
	switch s.kind {
	case "logit":
		return losses.Logistic{}
	case "probit":
		return losses.Probit{}
	case "poisson":
		return losses.Poisson{}
	case "negative binomial":
		return losses.NegativeBinomial{Dispersion: 1}
	case "gamma":
		return losses.Gamma{Least: slices.Min(s.y) / 2}
	}
	return losses.Squared{}
}

// around is a range 2 % beyond values.
func around(values []float64) [2]float64 {
	low, high := slices.Min(values), slices.Max(values)
	return [2]float64{low - 0.02*(high-low), high + 0.02*(high-low)}
}

// fewestRows are those that sets are repeated to.
const fewestRows = 3000

// data are the rows, each as often as the others.
func (s *realSet) data(t *testing.T) (data *dpglm.Dataset, times int) {
	t.Helper()
	n, d := s.x.Dims()
	times = (fewestRows + n - 1) / n
	facts := dpglm.Schema{Columns: s.columns, Numeric: map[string][2]float64{}, Intercept: true}
	for j, c := range s.columns {
		facts.Numeric[c] = around(mat.Col(nil, j, s.x))
	}
	switch labels := s.loss().Labels(); {
	case labels == losses.Real:
		facts.LabelRange = around(s.y)
	case labels != losses.Binary:
		facts.LabelRange = [2]float64{0, 1.02 * slices.Max(s.y)}
	}
	x, y := mat.NewDense(n*times, d, nil), make([]float64, n*times)
	for i := range y {
		x.SetRow(i, s.x.RawRowView(i%n))
		y[i] = s.y[i%n]
	}
	data, err := dpglm.NewDataset(x, y, facts)
	if err != nil {
		t.Fatal(err)
	}
	return data, times
}

// exact is the minimiser by Newton's method in standardised coordinates, and the sandwich's
// standard errors of the rows without repetition.
func (s *realSet) exact(t *testing.T) (beta, errors []float64) {
	t.Helper()
	n, d := s.x.Dims()
	turn := mat.NewDense(d+1, d+1, nil) // weights of standardised columns to the columns' own
	turn.Set(d, d, 1)
	z := mat.NewDense(n, d+1, nil)
	for j := range d {
		mean, sd := stat.MeanStdDev(mat.Col(nil, j, s.x), nil)
		turn.Set(j, j, 1/sd)
		turn.Set(d, j, -mean/sd)
	}
	for i := range n {
		z.SetRow(i, append(slices.Clone(s.x.RawRowView(i)), 1))
	}
	z.Mul(z, turn)
	at := s.newton(t, z)
	gradient, hessian, scatter := s.derivatives(z, at)
	if length := mat.Norm(gradient, 2); !(length <= 1e-9*math.Sqrt(mat.Trace(scatter))) {
		t.Fatalf("%s: the exact fit's gradient is %g", s.name, length)
	}
	var inverse, half, sandwich, turned mat.Dense
	if err := inverse.Inverse(hessian); err != nil {
		t.Fatal(err)
	}
	half.Mul(turn, &inverse)
	sandwich.Mul(&half, scatter)
	turned.Mul(&sandwich, half.T())
	var w mat.VecDense
	w.MulVec(turn, at)
	for j := range d + 1 {
		beta, errors = append(beta, w.AtVec(j)), append(errors, math.Sqrt(turned.At(j, j)))
	}
	return beta, errors
}

// newton takes steps from the best constant, halved while they lead up.
func (s *realSet) newton(t *testing.T, z *mat.Dense) *mat.VecDense {
	t.Helper()
	_, width := z.Dims()
	at := mat.NewVecDense(width, nil)
	mean := stat.Mean(s.y, nil)
	switch losses.LinkOf(s.loss()) {
	case losses.Log:
		at.SetVec(width-1, math.Log(mean))
	case losses.Identity:
		at.SetVec(width-1, mean)
	}
	for range 60 {
		gradient, hessian, _ := s.derivatives(z, at)
		var step, next mat.VecDense
		if err := step.SolveVec(hessian, gradient); err != nil {
			t.Fatal(err)
		}
		value := s.value(z, at)
		for size := 1.0; size > 1e-3; size /= 2 {
			if next.AddScaledVec(at, -size, &step); s.value(z, &next) <= value+1e-12*math.Abs(value) {
				at.CopyVec(&next)
				break
			}
		}
	}
	return at
}

// label is that of row i as the loss takes it.
func (s *realSet) label(i int) float64 {
	if s.loss().Labels() == losses.Binary {
		return 2*s.y[i] - 1
	}
	return s.y[i]
}

func (s *realSet) value(z *mat.Dense, at *mat.VecDense) (sum float64) {
	for i := range s.y {
		sum += s.loss().Value(mat.Dot(z.RowView(i), at), s.label(i))
	}
	return sum
}

// derivatives are the sums of the rows' slopes, curvatures and squared slopes.
func (s *realSet) derivatives(z *mat.Dense, at *mat.VecDense) (gradient *mat.VecDense, hessian, scatter *mat.SymDense) {
	_, width := z.Dims()
	gradient, hessian, scatter = mat.NewVecDense(width, nil), mat.NewSymDense(width, nil), mat.NewSymDense(width, nil)
	curvature, _ := losses.CurvatureOf(s.loss())
	for i := range s.y {
		row, score := z.RowView(i), mat.Dot(z.RowView(i), at)
		slope := s.loss().Deriv(score, s.label(i))
		gradient.AddScaledVec(gradient, slope, row)
		hessian.SymRankOne(hessian, curvature(score, s.label(i)), row)
		scatter.SymRankOne(scatter, slope*slope, row)
	}
	return gradient, hessian, scatter
}

// fits are the coefficients by Auto and by Infer.
func fits(t *testing.T, data *dpglm.Dataset, loss losses.Loss, epsilon float64, seed uint64) (auto, infer []float64) {
	t.Helper()
	budget, problem := dpglm.ApproxDP(epsilon, 1e-6), dpglm.Problem{Loss: loss}
	m, err := dpglm.Auto(ctx, data, problem, budget, given.Seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	list, err := m.Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		auto = append(auto, c.Value)
	}
	found, err := dpglm.Infer(ctx, data, problem, budget, dpglm.InferConfig{}, given.Seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found.Coefficients() {
		infer = append(infer, c.Estimate)
	}
	return auto, infer
}

// TestLimits holds fits almost without noise against the minimiser. The exact fit is
// statsmodels' own.
func TestLimits(t *testing.T) {
	for _, folder := range []string{limitFolder, limitFolder + "/reserved"} {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			for _, s := range realSets(t, folder) {
				t.Run(s.name, func(t *testing.T) { s.hold(t) })
			}
		})
	}
}

func (s *realSet) hold(t *testing.T) {
	beta, sd := s.exact(t)
	data, times := s.data(t)
	for j := range beta {
		if math.Abs(beta[j]-s.beta[j]) > 1e-6*sd[j] || math.Abs(sd[j]-s.error[j]) > 1e-4*sd[j] {
			t.Errorf("coefficient %d is %g ± %g, by statsmodels %g ± %g", j, beta[j], sd[j], s.beta[j], s.error[j])
		}
	}
	far := func(found []float64) (worst float64) {
		for j, v := range found {
			worst = math.Max(worst, math.Abs(v-beta[j])/(sd[j]/math.Sqrt(float64(times))))
		}
		return worst
	}
	for epsilon, most := range map[float64]float64{1e6: near, 1e8: nearer} {
		var auto, infer float64
		for seed := range uint64(3) {
			a, i := fits(t, data, s.loss(), epsilon, seed)
			auto, infer = math.Max(auto, far(a)), math.Max(infer, far(i))
		}
		t.Logf("ε = %g: Auto is off by %.3g standard errors, Infer by %.3g", epsilon, auto, infer)
		if !(auto <= most) || !(infer <= most) {
			t.Errorf("ε = %g: Auto is off by %.3g standard errors, Infer by %.3g, want %g at most", epsilon, auto, infer, most)
		}
	}
}
