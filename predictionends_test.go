package dpglm_test

import (
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
)

// A mean is never infinite, and no larger than the public cap where there is one.
func TestMeansAreHeld(t *testing.T) {
	const head, tail = `{"format":"dpglm model","version":1,"library":"0.1.0","loss":"poisson","labels":"count","link":"log","columns":1,"bounds":`, `,"weights":[1e6],"rows":9,"unit":"row (replace-one)","mu":2,"ledger":{"version":1,"kind":"gaussian","mu":0.5,"releases":3,"dim":4,"claim":{"rows":9,"mu":2}}}`
	for bounds, want := range map[string]float64{`{"feature":1}`: math.MaxFloat64, `{"feature":1,"label":20}`: 20, `{"feature":1,"label_range":[0,9]}`: 9} {
		m := new(dpglm.Model)
		if err := json.Unmarshal([]byte(head+bounds+tail), m); err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(1, 1, []float64{1})
		p, err := m.Predict(x)
		q, err2 := m.Means(x)
		r, err3 := m.MeansAt(x, []float64{3})
		if err != nil || err2 != nil || err3 != nil || p[0] != want || q[0] != want || r[0] != want {
			t.Errorf("%s: %v, %v and %v (%v, %v, %v), want %g", bounds, p, q, r, err, err2, err3, want)
		}
	}
}
