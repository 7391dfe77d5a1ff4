package baseline

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/given"
)

// Fits are statsmodels' within a millionth of a standard error: of each family, of rows with offsets and
// with weights, and where standardised columns have the condition number 5e5.
func TestFitsAreThoseOfStatsmodels(t *testing.T) {
	const most = 1e-6
	worst, models := map[bool]float64{}, map[string]int{} // apart where columns are closely correlated
	for _, m := range given.ExactModels(t, "../../../testdata/limit") {
		loss, y := m.Loss(t), m.Y
		if m.Offsets != nil || m.Weights != nil {
			loss, y = ByRow(loss, y, m.Offsets, m.Weights)
		}
		fitted, err := Fit(Dense{m.X}, y, loss)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		var svd mat.SVD
		if !svd.Factorize(standardise(Dense{m.X}).design, mat.SVDNone) {
			t.Fatalf("%s: no singular values", m.Name)
		}
		apart := svd.Cond() > 2e5
		for j, v := range append(fitted.Weights, fitted.Intercept) {
			off := math.Abs(v-m.Beta[j]) / m.Error[j]
			worst[apart] = math.Max(worst[apart], off)
			if !(off <= most) {
				t.Errorf("%s: coefficient %d is %.12g ± %g, by statsmodels %.12g", m.Name, j, v, m.Error[j], m.Beta[j])
			}
		}
		for name, is := range map[string]bool{m.Family: true, "condition": apart, "offset": m.Offsets != nil, "weight": m.Weights != nil} {
			if is {
				models[name]++
			}
		}
	}
	t.Logf("fits are off by %.2g standard errors at most, and by %.2g in the condition number 5e5", worst[false], worst[true])
	for name, least := range map[string]int{"logit": 2, "probit": 2, "poisson": 2, "negative binomial": 2, "gamma": 2,
		"tweedie": 2, "squared": 2, "ordinal": 2, "offset": 2, "weight": 3, "condition": 8} {
		if models[name] < least {
			t.Errorf("%s: %d models, want %d", name, models[name], least)
		}
	}
}
