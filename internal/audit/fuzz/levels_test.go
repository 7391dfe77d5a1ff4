package fuzz_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	tables "github.com/dpglm/dpglm/table"
)

// storedClasses is the file of a model of several classes.
func storedClasses(f *testing.F) []byte {
	text, err := os.ReadFile("../../../testdata/classmodel-v1-table.json")
	if err != nil {
		f.Fatal(err)
	}
	return text
}

// A decoded model of classes is refused, or it is as good as one that was trained.
func FuzzClassModelJSON(f *testing.F) {
	const head, claim = `{"format":"dpglm class model","version":1,"library":"0.1.0","unit":{"of":"row","neighbours":"replace-one"},"rows":9,"mu":2,`, `"ledger":{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"kind":"gaussian","mu":0.5,"releases":3,"dim":4,"claim":{"rows":9,"mu":2}},"sum":"sha256:"}`
	f.Add(storedClasses(f))
	addRead(f,
		head+`"columns":1,"bounds":{"feature":1,"intercept":true},"levels":["0","1"],"weights":[[1,-2],[3,4]],`+claim,
		head+`"columns":1,"bounds":{"feature":1},"levels":["0","1","2"],"weights":[[1e120],[-1e120],[0]],`+claim,
		head+`"loss":"probit","link":"probit","columns":1,"bounds":{"feature":1},"levels":["0","1","2"],"weights":[[9],[-1],[0]],`+claim,
		head+`"loss":"hinge","link":"identity","columns":1,"bounds":{"feature":1,"intercept":true},"levels":["0","1"],"weights":[[9,1],[-1,0]],`+claim,
		head+`"columns":1,"table":{"version":1,"label":"y","columns":[{"name":"a","kind":"numeric","range":[0,9]},{"name":"y","kind":"categorical","levels":["u","v","w"]}]},"levels":["u","v","w"],"weights":[[1,2],[3,4],[5,6]],`+claim,
	)
	for _, s := range []string{
		head + `"columns":2,"schema":{"columns":["a","b"],"numeric":{"a":[0,9],"b":[-1,1]}},"levels":["0","1"],"weights":[[1,2],[3]],` + claim,
		head + `"columns":1,"bounds":{"feature":1},"levels":["0"],"weights":[[1]],` + claim,
		head + `"loss":"logistic","labels":"binary","link":"logit","columns":1,"bounds":{"feature":1},"weights":[1],` + claim,
		`{"weights":[[]]}`, `null`, `[]`, `{}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m dpglm.Model
		if json.Unmarshal(resealed.JSON(data), &m) != nil {
			if _, err := m.Scores(mat.NewDense(1, 1, nil)); !errors.Is(err, dpglm.ErrModel) || m.Levels() != nil {
				t.Errorf("a failed decoding leaves a model: %v", err)
			}
			return
		}
		text, err := json.Marshal(&m)
		var back dpglm.Model
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back.String() != m.String() {
			t.Fatalf("%v, back as %v (%v)", &m, &back, err)
		}
		list, err := m.Coefficients()
		if err != nil || len(list) < len(m.Weights()[0])*max(1, m.Classes()) || m.Classes() > 0 && len(m.Levels()) != m.Classes() {
			t.Fatalf("%d classes %q, %d coefficients (%v)", m.Classes(), m.Levels(), len(list), err)
		}
		for columns := range len(m.Weights()[0]) {
			x := mat.NewDense(1, columns+1, nil)
			x.Set(0, columns, -1e100)
			p, err := m.Probabilities(x)
			if err != nil {
				given.MustBeArgument(t, err)
			} else if total := floats.Sum(p.RawRowView(0)); !(math.Abs(total-1) < 1e-9) {
				t.Fatalf("probabilities %v", p.RawRowView(0))
			}
		}
	})
}

// Whatever a record holds, a model of classes refuses it with its place, or predicts
// probabilities that sum to 1 and don't depend on how the record was given.
func FuzzClassRecords(f *testing.F) {
	var m dpglm.Model
	if err := json.Unmarshal(storedClasses(f), &m); err != nil {
		f.Fatal(err)
	}
	f.Add("age", "70", "surgery")
	f.Add("Age", "1e309", "other")
	f.Add("age", "-5", "\xff")
	f.Add("", " 7 ", "")
	f.Add("age", "NaN", "medicine ")
	f.Fuzz(func(t *testing.T, name, age, ward string) {
		p, err := m.PredictLevels(map[string]string{name: age, "ward": ward})
		x, errRow := m.EncodeRows([]string{"ward", name}, []string{ward, age})
		var at *tables.Error
		if err != nil && !errors.As(err, &at) || errRow != nil && !errors.As(errRow, &at) {
			t.Fatalf("%v, %v", err, errRow)
		}
		if err != nil || errRow != nil {
			if (err == nil) != (errRow == nil) && name == "age" {
				t.Fatalf("by name %v, by header %v", err, errRow)
			}
			return
		}
		q, err := m.Probabilities(x)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for k, level := range m.Levels() {
			if v := p[0].Probabilities[level]; v != q.At(0, k) || v > p[0].Probabilities[p[0].Level] {
				t.Fatalf("%v, by header %v", p[0], q.RawRowView(0))
			}
			total += q.At(0, k)
		}
		if !(math.Abs(total-1) < 1e-12) {
			t.Fatalf("a sum of %g", total)
		}
	})
}
