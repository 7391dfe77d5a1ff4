package dpglm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	tables "github.com/dpglm/dpglm/table"
)

// patients is a made-up file, of which the schema says what a codebook would.
func patients() (file *bytes.Buffer, schema string) {
	file = bytes.NewBufferString("ward,age,readmitted\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		age, ward, again := 20+r.IntN(70), []string{"medicine", "surgery", "urology", ""}[r.IntN(4)], "no"
		risk := float64(age) + 10*r.NormFloat64()
		if ward == "surgery" {
			risk += 20
		}
		if risk > 60 {
			again = "yes"
		}
		fmt.Fprintf(file, "%s,%d,%s\n", ward, age, again)
	}
	return file, `{
	  "version": 1,
	  "label": "readmitted",
	  "columns": [
	    {"name": "age", "kind": "numeric", "range": [18, 100]},
	    {"name": "ward", "kind": "categorical", "levels": ["medicine", "surgery", "other"], "other": "other", "missing": "level"},
	    {"name": "readmitted", "kind": "binary", "positive": ["yes"], "negative": ["no"]}
	  ]
	}`
}

// hospital trains on patients.
func hospital() *dpglm.Model {
	file, text := patients()
	schema, err := tables.ParseSchema([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	t, err := tables.ReadCSV(file, schema)
	if err != nil {
		log.Fatal(err)
	}
	data, err := dpglm.NewTableDataset(t)
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	model, err := dpglm.Auto(context.Background(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env)
	if err != nil {
		log.Fatal(err)
	}
	return model
}

// A file with texts and a schema of public facts become a private model.
func ExampleNewTableDataset() {
	file, text := patients()
	schema, err := tables.ParseSchema([]byte(text)) // or ReadSchemaFile
	if err != nil {
		log.Fatal(err)
	}
	t, err := tables.ReadCSV(file, schema) // or ReadCSVFile, ReadSQL
	if err != nil {
		log.Fatal(err)
	}
	data, err := dpglm.NewTableDataset(t)
	if err != nil {
		log.Fatal(err)
	}
	// A real fit passes nil for the last argument: noise that nobody can predict.
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
	model, err := dpglm.Auto(context.Background(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("predicts", model.Label())
	fmt.Println(model.Ledger())
	// Output:
	// predicts readmitted = yes
	// (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), n = 5,000
	// at most, standardised GD: 128 × Gaussian in 64 dimensions, σ = 47.7968 × sensitivity, together 0.236704-GDP
	// NOTE: noise came from the caller's source; private only if that source is secret and secure
}

// Records are read by the names of their columns, with missing values and levels that
// aren't listed as the schema says.
func ExampleModel_Encode() {
	model := hospital()
	x, err := model.Encode(
		map[string]string{"ward": "surgery", "age": "85"},
		map[string]string{"age": "30", "ward": "", "name": "Ada"},
		map[string]string{"age": "60", "ward": "eyes"},
	)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Means(x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("likely, unlikely:", p[0] > 0.9, p[1] < 0.1)
	_, err = model.Encode(map[string]string{"ward": "surgery", "age": "85 years"})
	fmt.Println(err)
	_, err = model.EncodeRows([]string{"ward", "Age"}, []string{"surgery", "85"})
	fmt.Println(err)
	// Output:
	// likely, unlikely: true true
	// record 1, column "age": "85 years" is not a number; write 85
	// column "age" is not in the header (did you mean "Age"?), which has "ward" and "Age"; add it, or correct its name
}

// Coefficients are per year, and per level in place of the reference.
func ExampleModel_Coefficients() {
	coefficients, err := hospital().Coefficients()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range coefficients {
		fmt.Printf("%-14s %.1f\n", c.Name, c.Value)
	}
	// Output:
	// age            0.2
	// ward=surgery   4.1
	// ward=other     0.3
	// ward=missing   0.4
	// (Intercept)    -12.4
}

// A model is stored as JSON, with all that another program needs to predict.
func ExampleModel_MarshalJSON() {
	text, err := json.Marshal(hospital())
	if err != nil {
		log.Fatal(err)
	}
	var model dpglm.Model
	if err := json.Unmarshal(text, &model); err != nil {
		log.Fatal(err)
	}
	claim, _ := model.Ledger().Claim()
	fmt.Printf("%s of %s, from %v\n", model.Loss(), model.Label(), model.Encoder().Inputs())
	fmt.Printf("(%g, %g)-DP, n = %d\n", claim.Epsilon, claim.Delta, claim.Rows)
	// Output:
	// logistic of readmitted = yes, from [age ward]
	// (1, 1e-06)-DP, n = 5000
}
