package stored_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// Fits for labels alone take features as they are where this process reads them, to the same bits from a file; where workers read them it is asked as rows are,
// and answers.
func TestLabelsAloneWhoeverReads(t *testing.T) {
	x, y := given.Separable(400, 3, 1)
	bounds, path := dpglm.Bounds{Feature: 1, Label: 1, Intercept: true}, filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	here, err := dpglm.OpenRows(ctx, path, bounds)
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	there, err := dpglm.OpenRowsOn(ctx, path, bounds, given.Workers{Count: 2, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	memory, b := given.Dataset(t, x, y, bounds), dpglm.GDP(2).LabelsOnly()
	for name, p := range map[string]dpglm.Problem{"two classes": {Loss: losses.Logistic{}}, "reals": {Loss: losses.Squared{}}, "counts": {Loss: losses.Poisson{}}, "classes": {Loss: losses.Logistic{}, Classes: 2}} {
		for method, run := range map[string]func(d *dpglm.Dataset) (any, error){
			"Auto": func(d *dpglm.Dataset) (any, error) { return dpglm.Auto(ctx, d, p, b, given.Seeded(1)) },
			"inference": func(d *dpglm.Dataset) (any, error) {
				return dpglm.Infer(ctx, d, p, b, dpglm.InferConfig{}, given.Seeded(1))
			},
		} {
			if p.Classes > 0 && method == "inference" { // which needs rows in memory
				continue
			}
			var bits [2]string
			for k, d := range []*dpglm.Dataset{memory, here} {
				found, err := run(d)
				if err != nil {
					t.Fatal(name, method, err)
				}
				text, err := json.Marshal(found)
				if err != nil {
					t.Fatal(name, method, err)
				}
				bits[k] = string(text)
			}
			if bits[0] != bits[1] {
				t.Errorf("%s, %s: %s, from a file %s", name, method, bits[0], bits[1])
			}
			if _, err := run(there); err != nil {
				t.Errorf("%s, %s: %v", name, method, err)
			}
		}
	}
}
