package dpglm_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	tables "github.com/dpglm/dpglm/table"
)

// answers is a made-up file of how content people of different ages are.
func answers() *dpglm.Dataset {
	var file strings.Builder
	file.WriteString("age,content\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		age := 20 + r.IntN(70)
		level := min(2, max(0, (age+r.IntN(60)-35)/28))
		fmt.Fprintf(&file, "%d,%s\n", age, []string{"No", "so so", "YES"}[level])
	}
	schema, err := tables.ParseSchema([]byte(`{
	  "version": 1,
	  "label": "content",
	  "columns": [
	    {"name": "age", "kind": "numeric", "range": [18, 100]},
	    {"name": "content", "kind": "categorical", "levels": ["no", "so so", "yes"], "fold_case": true, "ordered": true, "shares": [20, 40, 40]}
	  ]
	}`))
	if err != nil {
		log.Fatal(err)
	}
	t, err := tables.ReadCSV(strings.NewReader(file.String()), schema)
	if err != nil {
		log.Fatal(err)
	}
	data, err := dpglm.NewTableDataset(t)
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// A label of several levels becomes a model with a probability for each, by its name.
func ExampleModel_PredictLevels_classes() {
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // nil in a real fit
	model, err := dpglm.Softmax(context.Background(), answers(), dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.ApproxDP(1, 1e-6), dpglm.SoftmaxConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	predicted, err := model.PredictLevels(map[string]string{"age": "85"})
	if err != nil {
		log.Fatal(err)
	}
	for _, level := range model.Levels() {
		fmt.Printf("%-6s %.1f\n", level, predicted[0].Probabilities[level])
	}
	fmt.Println("most likely:", predicted[0].Level)
	// Output:
	// no     0.0
	// so so  0.1
	// yes    0.9
	// most likely: yes
}

// Where levels ascend one score does: its thresholds are made of what part of the rows each
// level is expected to have, and its coefficients raise the odds of all higher levels.
func ExampleModel_PredictLevels() {
	loss, err := losses.OrdinalFromFractions(20, 40, 40)
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // nil in a real fit
	model, err := dpglm.Auto(context.Background(), answers(), dpglm.Problem{Loss: loss}, dpglm.ApproxDP(1, 1e-6), env)
	if err != nil {
		log.Fatal(err)
	}
	predicted, err := model.PredictLevels(map[string]string{"age": "25"}, map[string]string{"age": "85"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(predicted[0].Level, "at 25,", predicted[1].Level, "at 85")
	// Output: no at 25, yes at 85
}

// How good a model of several classes is on others, class by class.
func ExampleEvaluate_classes() {
	train, held, err := answers().Split(0.3, 1)
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // nil in a real fit
	ctx, budget := context.Background(), dpglm.ApproxDP(1, 1e-6)
	model, err := dpglm.Softmax(ctx, train, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, budget, dpglm.SoftmaxConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	e, err := dpglm.Evaluate(ctx, held, model, budget, dpglm.EvaluateConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	accuracy, _ := e.Figure("accuracy")
	fmt.Printf("accuracy %.2f to %.2f\n", accuracy.Low, accuracy.High)
	for _, class := range e.Classes {
		ranks, _ := e.ClassFigure(class, "AUC")
		fmt.Printf("%-6s told from the others: %v\n", class, ranks.Low > 0.5)
	}
	// Output:
	// accuracy 0.57 to 0.64
	// no     told from the others: true
	// so so  told from the others: true
	// yes    told from the others: true
}

// How good such a model is on others leaves as privately as the model does, at no extra cost.
func ExampleEvaluate_levels() {
	train, held, err := answers().Split(0.3, 1)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := losses.OrdinalFromFractions(20, 40, 40)
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // nil in a real fit
	ctx, budget := context.Background(), dpglm.ApproxDP(1, 1e-6)
	model, err := dpglm.Auto(ctx, train, dpglm.Problem{Loss: loss}, budget, env)
	if err != nil {
		log.Fatal(err)
	}
	e, err := dpglm.Evaluate(ctx, held, model, budget, dpglm.EvaluateConfig{}, env)
	if err != nil {
		log.Fatal(err)
	}
	both, err := mechanisms.Parallel("fit and evaluation, split by seed 1", model.Ledger(), e.Ledger)
	if err != nil {
		log.Fatal(err)
	}
	accuracy, _ := e.Figure("accuracy")
	fmt.Printf("accuracy %.2f to %.2f\n", accuracy.Low, accuracy.High)
	recall, _ := e.ClassFigure("yes", "recall")
	fmt.Printf("of %q, found %.2f to %.2f\n", recall.Class, recall.Low, recall.High)
	fmt.Println("together within the budget:", both.Within(1, 1e-6))
	// Output:
	// accuracy 0.59 to 0.65
	// of "yes", found 0.79 to 0.90
	// together within the budget: true
}
