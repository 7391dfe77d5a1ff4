package inference_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// rareLevel are 50,000 rows of which 2 % have a level, 8 % of these of the rarer class.
func rareLevel(seed uint64) *shops {
	s := withRare(seed, 50_000, 0.02, 1, 2.5, losses.Logistic{})
	delete(s.schema.Numeric, "rare")
	s.schema.OneHot = map[string][]string{"group": {"rare"}}
	return s
}

// beside is the same with more columns, of which labels don't depend.
func (s *shops) beside(more int, seed uint64) *shops {
	n, d := s.x.Dims()
	out := &shops{x: mat.NewDense(n, d+more, nil), y: s.y, schema: s.schema}
	out.x.Slice(0, n, 0, d).(*mat.Dense).Copy(s.x)
	r := rand.New(rand.NewPCG(seed, 7))
	for j := range more {
		name := fmt.Sprint("other", j)
		out.schema.Columns = append(out.schema.Columns, name)
		out.schema.Numeric[name] = [2]float64{0, 1}
		for i := range n {
			out.x.Set(i, d+j, r.Float64())
		}
	}
	return out
}

// The 80 rows of the rarer class among those with a rare level hide in the noise of a histogram of
// gradients; as rows of the level are kept short its coefficient is known all the same. Were they
// not, it would be 2 and others' standard errors 10 times as large. Of 20 fits one may be off by
// more than three standard errors, which two are by chance in less than one case of 500, and of 8 neither. With little
// noise fits don't lie on one side of those without privacy, where the pilot does: their mean is
// .2 standard deviations off by chance in less than one case of 1,000, and that of 8 .32.
func TestInferenceOfRareLevels(t *testing.T) {
	t.Parallel()
	fits := sample.Of(8, 20)
	given, off, mean, side, widths := 0, 0, 0.0, 0.0, 0.0
	for k := range uint64(fits) {
		s := rareLevel(k)
		plain, covariance := s.sandwiched(t, losses.Logistic{})
		list := s.infer(t, losses.Logistic{}, dpglm.GDP(0.21), k).Coefficients()
		widths += list[0].StandardError / math.Sqrt(covariance.At(0, 0)) / float64(fits)
		quiet := s.infer(t, losses.Logistic{}, dpglm.GDP(2), k).Coefficients()[2]
		side += (quiet.Estimate - plain[2]) / math.Sqrt(covariance.At(2, 2)) / float64(fits)
		c := list[2]
		if c.Undetermined() {
			continue
		}
		given++
		mean += (c.Estimate - plain[2]) / float64(fits)
		if math.Abs(c.Estimate-2.5) > 3*c.StandardError {
			off++
		}
	}
	t.Logf("%d given, %d off, by %.3f on average; others' standard errors are %.2f times those without privacy", given, off, mean, widths)
	t.Logf("with little noise off by %.3f standard deviations on average", side)
	if given < fits*3/4 || off > 1 || math.Abs(mean) > sample.Of(0.45, 0.3) || math.Abs(side) > sample.Of(0.32, 0.2) || widths > 1.5 {
		t.Error("rows of the level are cut off")
	}
}

// Auto estimates it too. By chance the mean of ten fits is more than .5 off, over five standard
// deviations, in none of a million, and that of four .6. With little noise steps reach the level's coefficient though its
// rows are short: the mean is .2 standard deviations off by chance in one case of 10,000, and that of four .32.
func TestAutoEstimatesRareLevels(t *testing.T) {
	t.Parallel()
	fits, mean, side := sample.Of(4, 10), 0.0, 0.0
	for k := range uint64(fits) {
		s := rareLevel(k)
		d, err := dpglm.NewDataset(s.x, s.y, s.schema)
		if err != nil {
			t.Fatal(err)
		}
		estimate := func(mu float64) float64 {
			env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(k)}
			m, err := dpglm.Auto(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(mu), env)
			if err != nil {
				t.Fatal(err)
			}
			list, err := m.Coefficients()
			if err != nil {
				t.Fatal(err)
			}
			return list[2].Value
		}
		plain, covariance := s.sandwiched(t, losses.Logistic{})
		mean += estimate(0.21) / float64(fits)
		side += (estimate(6) - plain[2]) / math.Sqrt(covariance.At(2, 2)) / float64(fits)
	}
	t.Logf("mean %.3f; with little noise %.3f standard deviations off", mean, side)
	if math.Abs(mean-2.5) > sample.Of(0.6, 0.5) || math.Abs(side) > sample.Of(0.32, 0.2) {
		t.Error("the level's coefficient is wrong on average")
	}
}

// With little noise a level's coefficient and its standard error are about those without privacy,
// though its rows are shorter in what is released: among many columns gradients are in shorter
// coordinates than the Hessian. With hardly any noise they are those without privacy.
func TestInferenceOfRareLevelsWithoutMuchNoise(t *testing.T) {
	t.Parallel()
	for k := range uint64(4) {
		if k%2 > 0 && !sample.All() { // one of each
			continue
		}
		s := rareLevel(k)
		if k > 1 {
			s = s.beside(20, k)
		}
		plain, covariance := s.sandwiched(t, losses.Logistic{})
		c, sd := s.infer(t, losses.Logistic{}, dpglm.GDP(6), k).Coefficients()[2], math.Sqrt(covariance.At(2, 2))
		t.Logf("fit %d: %.3f ± %.3f; without privacy %.3f ± %.3f", k, c.Estimate, c.StandardError, plain[2], sd)
		if math.Abs(c.Estimate-plain[2]) > 0.5*sd || math.Abs(c.StandardError/sd-1) > 0.2 {
			t.Errorf("fit %d: %.3g ± %.3g, not %.3g ± %.3g", k, c.Estimate, c.StandardError, plain[2], sd)
		}
		c = s.infer(t, losses.Logistic{}, dpglm.GDP(100), k).Coefficients()[2]
		if math.Abs(c.Estimate-plain[2]) > 0.1*sd || math.Abs(c.StandardError/sd-1) > 0.02 {
			t.Errorf("fit %d without noise: %.3g ± %.3g, not %.3g ± %.3g", k, c.Estimate, c.StandardError, plain[2], sd)
		}
	}
}
