package stored_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// detailed are rows with each subset of what rows may have beside features and labels: persons, alike or not, weights, of which some are
// beyond the largest, and offsets, of which some are beyond their range.
func detailed(n int) (all []given.Form) {
	f := given.Forms(n, 3)[0]
	r := rand.New(rand.NewPCG(5, 6))
	persons, weights, offsets := make([]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		persons[i], weights[i], offsets[i] = r.IntN(n/2), 0.1+r.Float64(), r.NormFloat64()
	}
	for k := range 12 {
		of := f
		of.Name, of.More = fmt.Sprintf("details %d", k), nil
		if k%3 > 0 {
			of.More = append(of.More, dpglm.Persons{Of: persons, MaxRows: 3, Alike: k%3 == 2})
		}
		if k/3%2 > 0 {
			of.More = append(of.More, dpglm.Weights{Of: weights, Max: 0.9})
		}
		if k/6 > 0 {
			of.More = append(of.More, dpglm.Offsets{Of: offsets, Range: [2]float64{-1, 0.8}})
		}
		all = append(all, of)
	}
	return all
}

// Rows with any details give the same bits in memory, from a file and by workers.
func TestDetailsHaveTheSameBits(t *testing.T) {
	for _, f := range detailed(300) {
		memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts, append(f.More[:len(f.More):len(f.More)], given.Ordered(1))...)
		if err != nil {
			t.Fatal(err)
		}
		remote, _ := onWorkers(t, f)
		ran := 0
		for name, fit := range map[string]func(d *dpglm.Dataset) (*dpglm.Model, error){
			"NoisyGD": func(d *dpglm.Dataset) (*dpglm.Model, error) {
				return dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 2}, given.Seeded(1))
			},
			"moments": func(d *dpglm.Dataset) (*dpglm.Model, error) {
				return dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Squared{}, Radius: 2}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 100, Clip: dpglm.NoClip}, given.Seeded(1))
			},
			"Infer": func(d *dpglm.Dataset) (*dpglm.Model, error) {
				in, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(20), dpglm.InferConfig{}, given.Seeded(1))
				if err != nil {
					return nil, err
				}
				return in.Model(), nil
			},
			"OutputPerturbation": func(d *dpglm.Dataset) (*dpglm.Model, error) {
				return dpglm.OutputPerturbation(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Radius: 2}, dpglm.GDP(1), dpglm.OutputPerturbationConfig{}, given.Seeded(1))
			},
			"parts": func(d *dpglm.Dataset) (*dpglm.Model, error) {
				train, _, err := d.Split(0.4, 3)
				if err != nil {
					return nil, err
				}
				return dpglm.Auto(ctx, train, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(9), given.Seeded(1))
			},
			"classes": func(d *dpglm.Dataset) (*dpglm.Model, error) {
				return dpglm.Softmax(ctx, d, given.OfClasses(dpglm.Problem{Loss: losses.Logistic{}}, 2), dpglm.GDP(9), dpglm.SoftmaxConfig{}, given.Seeded(1))
			},
		} {
			want, err := fit(memory)
			if err != nil {
				continue // not of such rows
			}
			ran++
			for where, d := range map[string]*dpglm.Dataset{"file": stored(t, f.X, f.Y, f.Facts, f.More...), "workers": remote} {
				got, err := fit(d)
				if err != nil {
					t.Fatalf("%s, %s, %s: %v", f.Name, name, where, err)
				}
				sameBits(t, f.Name+", "+name+", "+where, slices.Concat(got.Weights()...), slices.Concat(want.Weights()...))
			}
		}
		if ran < 4 {
			t.Errorf("%s: only %d learners ran", f.Name, ran)
		}
	}
}
