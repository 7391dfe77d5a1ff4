package records_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
)

// Files of earlier versions stay readable: they predict what they did, and what they
// say is not lost when they are written again.
func TestStoredModelsStayReadable(t *testing.T) {
	found, err := filepath.Glob("../../../testdata/model-v*.json")
	if err != nil || len(found) < 2 {
		t.Fatal(found, err)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var m dpglm.Model
		if err := json.Unmarshal(text, &m); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(&m); err != nil || !bytes.Equal(again, compact.Bytes()) {
			t.Errorf("%s is written again as\n%s (%v)", path, again, err)
		}
		x, want := mat.NewDense(1, 2, []float64{0.5, -0.25}), 0.0
		switch filepath.Base(path) {
		case "model-v1-table.json":
			want = 0.8894066199581686
			if x, err = m.Encode(map[string]string{"age": "70", "days": "10", "ward": "surgery"}); err != nil {
				t.Fatal(err)
			}
		case "model-v1-schema.json":
			want = 10 + 0.5001421491092066*0.5 + 0.08629021644703518*-0.125
		case "model-v1-probit.json":
			x = mat.NewDense(1, 4, []float64{0.5, -0.25, 1, 0})
			want = math.Erfc(-1.471140019742751/math.Sqrt2) / 2
		case "model-v1-gamma.json":
			x, want = mat.NewDense(1, 4, []float64{0.5, -0.25, 1, 0}), math.Exp(0.6275552418314672)
		case "model-v1-ordinal.json":
			want = 1.5366321075397062
			if x, err = m.Encode(map[string]string{"age": "70", "ward": "surgery"}); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("%s: say here what it predicts", path)
		}
		if got, err := m.Means(x); err != nil || math.Abs(got[0]-want) > 1e-12 {
			t.Errorf("%s predicts %v (%v), want %v", path, got, err, want)
		}
	}
}

// So do those of models of several classes.
func TestStoredClassModelsStayReadable(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/classmodel-v1-table.json")
	if err != nil {
		t.Fatal(err)
	}
	var m dpglm.Model
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	var was, is map[string]json.RawMessage // the order of fields, and so the sum, may differ
	if err := errors.Join(json.Unmarshal(text, &was), json.Unmarshal(again, &is)); err != nil {
		t.Fatal(err)
	}
	delete(was, "sum")
	delete(is, "sum")
	if !maps.EqualFunc(was, is, func(a, b json.RawMessage) bool { return sameText(t, a, b) }) {
		t.Errorf("written again as\n%s", again)
	}
	p, err := m.PredictLevels(map[string]string{"age": "70", "ward": "surgery"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"home": 0.18433605645403248, "rehab": 0.20459455133466037, "long stay": 0.26930687609233694, "died": 0.34176251611897024}
	for level, v := range want {
		if !(math.Abs(p[0].Probabilities[level]-v) < 1e-12) || p[0].Level != "died" {
			t.Errorf("predicts %v, want %v", p[0], want)
		}
	}
}

// sameText compares JSON but for white space.
func sameText(t *testing.T, a, b []byte) bool {
	t.Helper()
	var of, as bytes.Buffer
	if err := errors.Join(json.Compact(&of, a), json.Compact(&as, b)); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(of.Bytes(), as.Bytes())
}

// What a budget for groups protects stands beside the rows, and comes back.
func TestModelsOfGroupsSayWhatIsProtected(t *testing.T) {
	x, y := given.Separable(400, 3, 2)
	d := given.Dataset(t, x, y, dpglm.Bounds{Feature: 2, Intercept: true})
	m, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.ApproxDP(4, 1e-6).ForGroups(3), dpglm.NoisyGDConfig{Steps: 5}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil || !bytes.Contains(text, []byte(`"unit":{"of":"row","neighbours":"replace-one"},"group":3,"rows":400,"epsilon":4`)) {
		t.Errorf("stored as %s (%v)", text, err)
	}
	given.CheckModel(t, m, x)
	if err := json.Unmarshal(resealed.JSON(bytes.Replace(text, []byte(`"group":3,"rows":400,"epsilon"`), []byte(`"group":2,"rows":400,"epsilon"`), 1)), new(dpglm.Model)); err == nil {
		t.Error("a group that contradicts the ledger is taken")
	}
}
