package forecast_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/forecast"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// A study is planned: which ε will make its intervals no more than half as wide again as
// they would be without privacy?
func Example() {
	schema, err := table.ParseSchema([]byte(`{
	  "version": 1,
	  "label": "readmitted",
	  "columns": [
	    {"name": "age", "kind": "numeric", "range": [20, 100]},
	    {"name": "ward", "kind": "categorical", "levels": ["medicine", "surgery", "icu"]},
	    {"name": "smoker", "kind": "binary", "positive": ["yes"], "negative": ["no"]},
	    {"name": "readmitted", "kind": "binary", "positive": ["yes"], "negative": ["no"]}
	  ]
	}`))
	if err != nil {
		log.Fatal(err)
	}
	mean := 0.2
	study := forecast.Scenario{
		Table:       &schema,
		Rows:        20_000,
		Problem:     dpglm.Problem{Loss: losses.Logistic{}},
		Learner:     dpglm.InferConfig{},
		Delta:       1e-6,
		LabelMean:   &mean,
		Proportions: map[string][]float64{"smoker": {0.8, 0.2}},
		Repeats:     3,
	}
	epsilon, _, err := study.EpsilonFor(context.Background(), forecast.Target{Width: 1.5}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("between 0.5 and 1.5:", epsilon > 0.5 && epsilon < 1.5)
	// Output: between 0.5 and 1.5: true
}
