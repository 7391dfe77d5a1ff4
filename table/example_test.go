package table_test

import (
	"fmt"
	"io"
	"log"
	"math"
	"strings"

	"github.com/dpglm/dpglm/table"
)

// clinic is what a codebook says of the clinic's table.
const clinic = `{
  "version": 1,
  "label": "readmitted",
  "columns": [
    {"name": "age", "kind": "numeric", "range": [20, 100]},
    {"name": "ward", "kind": "categorical", "levels": ["medicine", "surgery", "other"], "other": "other"},
    {"name": "smoker", "kind": "binary", "positive": ["yes"], "negative": ["no"], "missing": "indicator"},
    {"name": "readmitted", "kind": "binary", "positive": ["yes"], "negative": ["no"]}
  ]
}`

// A table with strings, answers of yes and no, and missing values is read in a few
// lines. Then, with dpglm:
//
//	data, err := dpglm.NewTableDataset(t)
func Example() {
	schema, err := table.ParseSchema([]byte(clinic)) // or ReadSchemaFile
	if err != nil {
		log.Fatal(err)
	}
	const file = "age;smoker;ward;readmitted\n60;yes;surgery;no\n80;;urology;yes\n"
	t, err := table.ReadCSV(strings.NewReader(file), schema) // or ReadCSVFile, ReadSQL
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t)
	for _, f := range t.Encoder().Features() {
		fmt.Println(f.Name)
	}
	fmt.Println("labels", t.Labels(), "norms at most", math.Round(t.Bound()*100)/100)
	// Output:
	// table.Table of 2 rows × 5 features
	// age
	// ward=surgery
	// ward=other
	// smoker=yes
	// smoker=missing
	// labels [0 1] norms at most 1.73
}

// A field that isn't what the schema says is shown with its place and a remedy.
func Example_errors() {
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range []string{"$60,yes,surgery,no", ",yes,surgery,no", "60,Yes,surgery,no", "60,yes,surgery,maybe"} {
		_, err := table.ReadCSV(strings.NewReader("age,smoker,ward,readmitted\n"+row+"\n"), schema)
		fmt.Println(err)
	}
	// Output:
	// line 2, column "age": "$60" is not a number; write 60
	// line 2, column "age": the field is empty; fill it in, or give the column a rule for missing values in the schema: "missing": "indicator" or "constant"
	// line 2, column "smoker": "Yes" is not among the column's positive or negative texts; the nearest is "yes" (in another case): correct it, or add it to the schema's "positive" or "negative"; or give the column "fold_case": true
	// line 2, column "readmitted": "maybe" is not among the column's positive or negative texts, "yes" and "no": correct it, or add it to the schema's "positive" or "negative"
}

// Init writes a schema to fill in, from the names alone.
func ExampleInit() {
	schema, err := table.Init([]string{"age", "readmitted"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(schema)
	// Output:
	// {
	//   "version": 1,
	//   "label": "FILL IN: the name of the column to predict",
	//   "columns": [
	//     {"name": "age", "kind": "FILL IN: numeric, count, categorical, binary, date, id or ignored"},
	//     {"name": "readmitted", "kind": "FILL IN: numeric, count, categorical, binary, date, id or ignored"}
	//   ]
	// }
}

// In prediction, records are read by the names of their columns, which may come in any
// order; the label isn't needed.
func ExampleEncoder_Encode() {
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	encoder, err := table.NewEncoder(schema)
	if err != nil {
		log.Fatal(err)
	}
	x := make([]float64, len(encoder.Features()))
	if err := encoder.Encode(x, map[string]string{"smoker": "", "ward": "surgery", "age": "80"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(x)
	// Output: [0.5 1 0 0 1]
}

// A file of any size is encoded record by record.
func ExampleEncoder_Bind() {
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	encoder, err := table.NewEncoder(schema)
	if err != nil {
		log.Fatal(err)
	}
	records, err := table.NewCSV(strings.NewReader("ward,smoker,age\nsurgery,no,80\nmedicine,yes,40\n"), ',')
	if err != nil {
		log.Fatal(err)
	}
	binding, err := encoder.Bind(records.Header())
	if err != nil {
		log.Fatal(err)
	}
	x := make([]float64, len(encoder.Features()))
	for {
		fields, err := records.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = binding.Encode(x, fields)
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(x)
	}
	// Output:
	// [0.5 1 0 0 0]
	// [-0.5 0 0 1 0]
}

// A model's weights belong to features in [−1, 1]; its coefficients to years.
func ExampleEncoder_Units() {
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	encoder, err := table.NewEncoder(schema)
	if err != nil {
		log.Fatal(err)
	}
	coefficients, intercept, err := encoder.Units([]float64{2, 0.5, 0.25, 1, 0}, -1)
	if err != nil {
		log.Fatal(err)
	}
	for i, f := range encoder.Features() {
		fmt.Println(f.Name, coefficients[i])
	}
	fmt.Println("intercept", intercept)
	// Output:
	// age 0.05
	// ward=surgery 0.5
	// ward=other 0.25
	// smoker=yes 1
	// smoker=missing 0
	// intercept -4
}

// A LIBSVM file names no columns, so its public facts are fewer.
func ExampleReadLIBSVM() {
	t, err := table.ReadLIBSVM(strings.NewReader("+1 2:0.5 7:1\n-1 1:0.25\n"), table.LIBSVM{
		Features: 10,
		Bound:    1,
		Label:    table.Column{Kind: table.Binary, Positive: []string{"+1"}, Negative: []string{"-1"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t, t.Labels())
	// Output: table.Table of 2 rows × 10 features [1 0]
}
