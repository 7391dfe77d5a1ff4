package budgetfile_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// The file is made once. Each program opens it, plans, spends, reads its data, begins and then
// runs its plan.
func Example() {
	dir, err := os.MkdirTemp("", "budget")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	path := filepath.Join(dir, "hospital.budget.json")
	if _, err := budgetfile.Create(ctx, path, budgetfile.Total{Data: "admissions 2025", Unit: mechanisms.OneRow(), Group: 1, Epsilon: 1, Delta: 1e-6}); err != nil {
		log.Fatal(err)
	}

	file, err := budgetfile.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	shape := dpglm.Shape{Rows: 100_000, Dim: 8, FeatureBound: 1}
	plan, err := dpglm.AutoConfig{}.Plan(shape, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(0.6, 1e-6))
	if err != nil {
		log.Fatal(err)
	}
	id, err := file.Spend(ctx, "admissions 2025", "readmission, first model", plan.Ledger)
	if err != nil {
		log.Fatal(err)
	}
	// Read and check the data here: what fails is given back, file.GiveBack(ctx, id, "no data").
	if err := file.Begin(ctx, id); err != nil {
		log.Fatal(err)
	}
	// plan.Run(ctx, data, nil)

	entries, err := file.Entries()
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entries {
		fmt.Println(e.Label)
	}
	left, err := file.Remaining()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(file)
	fmt.Printf("left: %.4f-GDP\n", left.Mu)
	// Output:
	// readmission, first model
	// 0.1854-GDP or 0.148-DP left of (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), after 1 ledger, of "admissions 2025"
	// left: 0.1854-GDP
}
