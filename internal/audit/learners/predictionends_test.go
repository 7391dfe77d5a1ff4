package learners_test

import (
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/sealed"
)

// A mean is never infinite, and no larger than the public cap where there is one.
func TestMeansAreHeld(t *testing.T) {
	const head, tail = `{"format":"dpglm model","version":1,"library":"0.1.0","loss":"poisson","labels":"count","link":"log","columns":1,"bounds":`, `,"weights":[1e6],"rows":9,"unit":{"of":"row","neighbours":"replace-one"},"mu":2,"ledger":{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"kind":"gaussian","mu":0.5,"releases":3,"dim":4,"claim":{"rows":9,"mu":2}}}`
	for bounds, want := range map[string]float64{`{"feature":1}`: math.MaxFloat64, `{"feature":1,"label":20}`: 20, `{"feature":1,"label_range":[0,9]}`: 9} {
		m := new(dpglm.Model)
		text, err := sealed.Seal([]byte(head + bounds + tail))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, m); err != nil {
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
