package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
)

// momentsOf are those of rows with a constant behind them, without noise.
func momentsOf(rows [][]float64) *Moments {
	d := len(rows[0])
	m := &Moments{Second: mat.NewSymDense(d+1, nil), Fourth: mat.NewSymDense(d, nil), Columns: mat.NewDense(d+1, d+1, nil)}
	for _, v := range rows {
		x := mat.NewVecDense(d, slices.Clone(v))
		m.Second.SymRankOne(m.Second, 1, mat.NewVecDense(d+1, append(slices.Clone(v), 1)))
		m.Fourth.SymRankOne(m.Fourth, mat.Dot(x, x), x)
	}
	for j := range d + 1 {
		m.Columns.Set(j, j, 1)
	}
	m.alone()
	return m
}

// alone has all rows count in second moments: columns have the means and variances that these tell.
func (m *Moments) alone() {
	d := m.Second.SymmetricDim() - 1
	n := m.Second.At(d, d)
	for j := range d {
		mean := m.Second.At(j, d) / n
		m.Alone = append(m.Alone, Alone{Mean: mean, Variance: m.Second.At(j, j)/n - mean*mean})
	}
}

// population draws rows of three columns and a response, whose errors grow with the first column's square where uneven.
func population(r *rand.Rand, n int, uneven bool) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		a, b, c, e := r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		b += a / 2
		if uneven {
			e *= math.Abs(a)
		}
		rows[i] = []float64{a, b, c, 3 + 2*a - b + e}
	}
	return rows
}

// With hardly any noise weights solve the normal equations, in any columns' units, and standard errors are at least those of residuals of one variance.
func TestRegressWithoutNoise(t *testing.T) {
	m := momentsOf(population(rand.New(rand.NewPCG(1, 1)), 5000, false))
	m.Noise = 1e-6
	plain, err := m.Regress(3, false, []int{0, 1, 4})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{2, -1, 3} {
		if math.Abs(plain.Weights[j]-want) > 0.06 {
			t.Errorf("weight %d is %g, want about %g", j, plain.Weights[j], want)
		}
	}
	for j, want := range []float64{math.Sqrt(1.25 / 5000), math.Sqrt(1 / 5000.0), math.Sqrt(1 / 5000.0)} {
		se, _ := plain.Law.StandardError(mat.Row(nil, j, plain.Law.Weights))
		if se < 0.95*want || se > 1.5*want {
			t.Errorf("standard error %d is %g, want about %g", j, se, want)
		}
	}
	if math.Abs(plain.Residual-1) > 0.1 || math.Abs(plain.Total-4.25) > 0.3 {
		t.Errorf("residuals have a mean square of %g, the response of %g", plain.Residual, plain.Total)
	}
	m.Columns.Set(0, 0, 100) // in other units, and with another origin
	m.Columns.Set(0, 4, 7)
	m.Alone[0] = Alone{Mean: 100*m.Alone[0].Mean + 7, Variance: 1e4 * m.Alone[0].Variance}
	scaled, err := m.Regress(3, false, []int{0, 1, 4})
	if err != nil || math.Abs(scaled.Weights[0]*100-plain.Weights[0]) > 1e-9 || math.Abs(scaled.Weights[2]+7*scaled.Weights[0]-plain.Weights[2]) > 1e-9 {
		t.Errorf("in other units: %v, were %v (%v)", scaled.Weights, plain.Weights, err)
	}
	if _, err := m.Regress(3, false, []int{0, 0, 4}); err == nil {
		t.Error("the same column twice is regressed on")
	}
}

// A regression's law is made of the noise of moments, of what rows scatter by and of what rows that were scaled down may change: each
// computed once more by plain loops, where columns are coordinates, without noise, with it, and with rows that are far out; and where fourth moments
// are beyond second ones along each direction, along one, along none, and so small that nothing is longer where residuals are large.
func TestRegressTermByTerm(t *testing.T) {
	const n = 200.0
	in := []int{0, 1, 3} // of two columns, the response and the constant
	second := [4][4]float64{{1.5 * n, 0.4 * n, 0.9 * n, 0}, {0.4 * n, 0.8 * n, -0.3 * n, 0}, {0.9 * n, -0.3 * n, 5 * n, 1.2 * n}, {0, 0, 1.2 * n, n}}
	fourth := [3][3]float64{{19 * n, 2 * n, n}, {2 * n, 13 * n, -n}, {n, -n, 70 * n}}
	beyond := map[int]bool{} // along how many directions
	for _, c := range []struct{ noise, far, times float64 }{{0, 0, 1}, {6, 0, 1}, {6, 0.3, 1}, {0, 0.3, 1}, {0, 0.3, 0.75}, {0, 0, 0.6}, {6, 0.3, 0.5}, {0, 0.3, 0.4}, {0, 0.3, 0.1}} {
		m := &Moments{Second: mat.NewSymDense(4, nil), Fourth: mat.NewSymDense(3, nil), Noise: c.noise, Far: c.far, Columns: mat.DenseCopyOf(linalg.Identity(4))}
		trace := 0.0
		for i := range 4 {
			trace += second[i][i]
			for j := i; j < 4; j++ {
				m.Second.SetSym(i, j, second[i][j])
				if j < 3 {
					m.Fourth.SetSym(i, j, c.times*fourth[i][j])
				}
			}
		}
		m.alone()
		fit, err := m.Regress(2, false, in)
		if err != nil {
			t.Fatal(err)
		}
		var hessian, moments [3][3]float64
		mean := (trace - n) / n
		for i, a := range in {
			for j, b := range in {
				hessian[i][j] = second[a][b] / n
				if a < 3 && b < 3 {
					moments[i][j] = c.times * fourth[a][b] / mean / n
				}
			}
		}
		inverse := inverted(hessian)
		residual := [4]float64{2: 1}
		for i, a := range in {
			for j, b := range in {
				residual[a] -= inverse[i][j] * second[b][2] / n
			}
		}
		var length, square, features, large float64
		for i, v := range residual {
			length += v * v
			for j, w := range residual {
				square += v * w * second[i][j] / n
				if i < 3 && j < 3 {
					features += v * w * second[i][j]
					large += v * w * c.times * fourth[i][j]
				}
			}
		}
		longer, noise := math.Max(1, large/mean/features), c.noise/n
		var want, scatter, shaken [3][3]float64
		for i, a := range in {
			for j, b := range in {
				scatter[i][j] = longer*moments[i][j] - hessian[i][j]
				shaken[i][j] = residual[a] * residual[b]
			}
			shaken[i][i] += length
		}
		directions := positive(&scatter)
		beyond[directions] = true
		for i := range 3 {
			for j := range 3 {
				scatter[i][j] += hessian[i][j]
			}
		}
		sampling, ofNoise, along := times(times(inverse, scatter), inverse), times(times(inverse, shaken), inverse), times(inverse, moments)
		for i := range 3 {
			for j := range 3 {
				misfit := 0.0
				for k := range 3 {
					misfit += along[i][k] * along[j][k] * square * math.Pow(tuning.Misfit*c.far*longer, 2)
				}
				want[i][j] = square/n*sampling[i][j] + noise*noise/2*ofNoise[i][j] + misfit
			}
		}
		l := fit.Law
		got := linalg.Sandwich(1, l.Weights, l.Covariance)
		for i := range 3 {
			for j := range 3 {
				if math.Abs(got.At(i, j)-want[i][j]) > 1e-12 {
					t.Errorf("noise %g, far %g: the covariance of %d and %d is %.15g, want %.15g", c.noise, c.far, i, j, got.At(i, j), want[i][j])
				}
			}
			if a := in[i]; math.Abs(fit.Weights[i]+residual[a]) > 1e-12 {
				t.Errorf("noise %g, far %g: weight %d is %g, want %g", c.noise, c.far, i, fit.Weights[i], -residual[a])
			}
		}
		if (longer > 1) != (c.times > 0.3) || l.Hessian != noise || len(l.Drowned) > 0 || math.Abs(fit.Residual-square) > 1e-12 || math.Abs(fit.Total-(5-1.2*1.2)) > 1e-12 {
			t.Errorf("longer %g, noise %g, %d drowned, residuals %g of %g, want %g", longer, l.Hessian, len(l.Drowned), fit.Residual, fit.Total, square)
		}
	}
	if len(beyond) != 3 {
		t.Errorf("moments are beyond along %v directions, want 0, 1 and 2", beyond)
	}
}

// positive leaves of a matrix, whose last row and column are nothing and less, what it has along directions of positive eigenvalues, and returns
// how many these are.
func positive(m *[3][3]float64) (directions int) {
	m[2][2] = 0
	a, b, c := m[0][0], m[0][1], m[1][1]
	root := math.Sqrt((a-c)*(a-c)/4 + b*b)
	high, low := (a+c)/2+root, (a+c)/2-root
	switch {
	case low > 0:
		return 2
	case high > 0: // high times the projection (M − low)/(high − low)
		for i := range 2 {
			m[i][i] -= low
			for j := range 2 {
				m[i][j] *= high / (high - low)
			}
		}
		return 1
	}
	*m = [3][3]float64{}
	return 0
}

// With noise, and errors of uneven variance, intervals hold the coefficients: 300 trials of 4 numbers, whose share has a standard
// deviation of about .0063 at .95, so that a right law is below .92 once in a million times.
func TestRegressCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	hold, all := 0, 0
	for range 300 {
		m := momentsOf(population(r, 3000, true))
		m.Noise, m.FourthNoise = 60, 300
		shake(r, m.Second, m.Noise)
		shake(r, m.Fourth, m.FourthNoise)
		fit, err := m.Regress(3, false, []int{0, 1, 2, 4})
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range []float64{2, -1, 0, 3} {
			se, _ := fit.Law.StandardError(mat.Row(nil, j, fit.Law.Weights))
			all++
			if math.Abs(fit.Weights[j]-want) < 1.96*se {
				hold++
			}
		}
	}
	if share := float64(hold) / float64(all); share < 0.92 || share > 0.985 {
		t.Errorf("%.3f of intervals hold", share)
	}
}

// shake adds noise to a matrix's packed form.
func shake(r *rand.Rand, m *mat.SymDense, noise float64) {
	for i := range m.SymmetricDim() {
		m.SetSym(i, i, m.At(i, i)+noise*r.NormFloat64())
		for j := range i {
			m.SetSym(i, j, m.At(i, j)+noise/math.Sqrt2*r.NormFloat64())
		}
	}
}

// What noise hides has no interval.
func TestRegressHidden(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	m := momentsOf(population(r, 200, false))
	m.Noise = 400
	shake(r, m.Second, m.Noise)
	m.Second.SetSym(4, 4, 1000)
	fit, err := m.Regress(3, false, []int{0, 1, 4})
	if err != nil {
		t.Fatal(err)
	}
	if se, _ := fit.Law.StandardError(mat.Row(nil, 0, fit.Law.Weights)); !math.IsInf(se, 1) {
		t.Errorf("standard error %g of what can't be known", se)
	}
	m.Second.SetSym(4, 4, 100)
	if _, err := m.Regress(3, false, []int{0, 1, 4}); err == nil {
		t.Error("no error where noise hides the number of rows")
	}
}

// Columns that are the same, or none, and too few rows are errors, with no regression beside.
func TestRegressRefuses(t *testing.T) {
	m := momentsOf(population(rand.New(rand.NewPCG(6, 7)), 300, false))
	m.Noise = 1e-3
	none := momentsOf(population(rand.New(rand.NewPCG(6, 7)), 300, false))
	none.Noise = none.Second.At(4, 4)
	zero := momentsOf(population(rand.New(rand.NewPCG(6, 7)), 300, false))
	zero.Columns.Set(1, 1, 0)
	for name, c := range map[string]struct {
		of      *Moments
		columns []int
		taken   bool
	}{
		"different": {m, []int{0, 1, 4}, true}, "the same": {m, []int{0, 0, 4}, false}, "few rows": {none, []int{0, 1, 4}, false},
		"none": {zero, []int{0, 1, 4}, false}, "constant": {m, []int{4, 4}, false},
	} {
		if fit, err := c.of.Regress(3, false, c.columns); (err == nil) != c.taken || (fit != nil) != c.taken {
			t.Errorf("%s: %v, %v", name, fit, err)
		}
	}
}

// A column's variance is that of second moments, unless its squares exceed this by more than their noise: of 2,000 columns of variance 1 whose
// squares have a noise of 4 hardly three, by chance, seem to have more, and 20 in one of ten million runs. One that does by five
// deviations has what its squares say. Standard errors of means go by the larger of what the two may have.
func TestMeanGoesByNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	m := momentsOf(population(r, 4000, false))
	m.N, m.Alone = 4000, make([]Alone, 4)
	more := 0
	for range 2000 {
		m.Alone[0] = Alone{Mean: 1, Noise: 0.1, Variance: 1 + 4*r.NormFloat64(), VarianceNoise: 4}
		_, se, variance := m.Mean(0, false)
		if variance > 1.1 {
			more++
		}
		if want := math.Hypot(0.1, math.Sqrt(max(1, m.Alone[0].Variance-4)/4000)); math.Abs(se/want-1) > 1e-3 {
			t.Fatalf("the standard error is %g, want %g", se, want)
		}
	}
	if more > 20 {
		t.Errorf("%d of 2000 columns have a variance of noise", more)
	}
	m.Alone[0] = Alone{Variance: 21, VarianceNoise: 4}
	if _, _, variance := m.Mean(0, false); variance != 21 {
		t.Errorf("the variance of a column with rows far out is %g", variance)
	}
}

// A column that is made of several has their mean, the noise of all of them and of the number of rows, and the variance that second moments
// have; its standard error allows for rows that these don't have, as far as the columns' own squares tell. One that is made of one column is that column in other units.
func TestCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	rows := population(r, 5000, false)
	m := momentsOf(rows)
	for range 50 {
		far := 20 + r.NormFloat64()
		rows = append(rows, []float64{far, -far, 0, 0})
	}
	m.N, m.Alone = float64(len(rows)), make([]Alone, 4)
	column := func(of func(row []float64) float64) (mean, variance float64) {
		for _, row := range rows {
			mean += of(row) / m.N
		}
		for _, row := range rows {
			variance += (of(row) - mean) * (of(row) - mean) / m.N
		}
		return mean, variance
	}
	for j := range m.Alone {
		mean, variance := column(func(row []float64) float64 { return row[j] })
		m.Alone[j] = Alone{Mean: mean, Noise: 0.01 * float64(j+1), Variance: variance, VarianceNoise: 0.1}
	}
	before := m.Alone[1]
	m.Combine([][]float64{{3, -2, 0, 0, 5}, {0, -4, 0, 0, 1}, {0, 0, 1, 0, 0}, {0, 0, 1, 1, 0}, {0, 0, 0, 0, 1}}, 0.001)
	mean, standardError, variance := m.Mean(0, false)
	right, all := column(func(row []float64) float64 { return 3*row[0] - 2*row[1] + 5 })
	if noise := math.Sqrt(0.03*0.03 + 0.04*0.04 + 1e-6*(right-5)*(right-5)); math.Abs(mean-right) > 1e-9 || standardError < math.Hypot(noise, math.Sqrt(all/m.N))*0.98 || standardError > 1.2*math.Hypot(noise, math.Sqrt(all/m.N)) {
		t.Errorf("mean %g ± %g, want %g ± %g", mean, standardError, right, math.Hypot(noise, math.Sqrt(all/m.N)))
	}
	if variance < 7 || variance > 9 || all < 50 { // 9 + 4·1.25 − 12·½ of rows that second moments have
		t.Errorf("variance %g, of all rows %g", variance, all)
	}
	for _, c := range [][2]float64{
		{m.Alone[1].Mean, 1 - 4*before.Mean}, {m.Alone[1].Noise, 4 * math.Hypot(before.Noise, 0.001*before.Mean)},
		{m.Alone[1].Variance, 16 * before.Variance}, {m.Alone[1].VarianceNoise, 16 * before.VarianceNoise},
	} {
		if math.Abs(c[0]-c[1]) > 1e-12*math.Abs(c[1]) {
			t.Errorf("in other units %g, want %g", c[0], c[1])
		}
	}
	if m.Alone[3].Variance <= m.Alone[2].Variance || m.Columns.At(0, 0) != 3 || m.Columns.At(0, 1) != -2 || m.Columns.At(0, 4) != 5 {
		t.Errorf("%+v, %v", m.Alone, mat.Formatted(m.Columns))
	}
}

// Where rows that have the response count less, as those of a rare level do, the regression goes through the means of all rows, and residuals
// have the variance that they have.
func TestRegressOnRowsThatCountLess(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	rows := make([][]float64, 20_000)
	for i := range rows {
		rows[i] = []float64{r.NormFloat64(), 0}
		if r.Float64() < 0.02 {
			rows[i][1] = 1
		}
	}
	m := momentsOf(rows)
	m.Noise = 1
	last := m.Second.SymmetricDim() - 1
	for _, k := range []int{1, last} { // of rows of the level a third is left
		m.Second.SetSym(0, k, m.Second.At(0, k)*map[bool]float64{true: 1. / 3, false: 1}[k == 1])
	}
	m.Second.SetSym(1, 1, m.Second.At(1, 1)/3)
	m.Second.SetSym(1, last, m.Second.At(1, last)/3)
	for _, level := range []bool{true, false} {
		fit, err := m.Regress(1, level, []int{0, 2})
		if err != nil {
			t.Fatal(err)
		}
		share := m.Alone[1].Mean
		if off := fit.Weights[1] + float64(fit.Weights[0]*m.Alone[0].Mean) - share; math.Abs(off) > 1e-4 {
			t.Errorf("level %v: at the means the response is %.3g off", level, off)
		}
		if math.Abs(fit.Residual/(share*(1-share))-1) > 0.02 {
			t.Errorf("level %v: residuals have a mean square of %.4g, want %.4g", level, fit.Residual, share*(1-share))
		}
	}
}
