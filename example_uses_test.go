package dpglm_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Unit tests of code that trains seed the noise, and get the same model each time. The ledger
// marks such a model, so that a test can also make sure that what ships isn't one.
func Example_seededUnitTest() {
	train := func(env *dpglm.Env) *dpglm.Model { // the code under test
		model, err := dpglm.Auto(context.Background(), bought(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env)
		if err != nil {
			log.Fatal(err)
		}
		return model
	}
	seeded := func(seed uint64) *dpglm.Model {
		return train(&dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
	}
	a, b, c := seeded(1), seeded(1), seeded(2)
	fmt.Println("the same model:", slices.Equal(a.Weights()[0], b.Weights()[0]))
	fmt.Println("of another seed:", slices.Equal(a.Weights()[0], c.Weights()[0]))
	fmt.Println("only for tests:", a.Ledger().CallerNoise(), train(nil).Ledger().CallerNoise())
	// Output:
	// the same model: true
	// of another seed: false
	// only for tests: true false
}

// A fit that takes too long can be cancelled. There is no model then, and the error says
// whether the budget is spent: it is once noise was drawn, whoever saw what came of it.
func Example_cancellation() {
	ctx, cancel := context.WithCancelCause(context.Background())
	env := &dpglm.Env{Progress: func(done, total int) {
		if done == total/2 {
			cancel(errors.New("the machine is needed"))
		}
	}}
	_, err := dpglm.NoisyGD(ctx, bought(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, env)
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.Canceled))
	_, err = dpglm.NoisyGD(ctx, bought(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, env)
	fmt.Println(err)
	// Output:
	// dpglm: stopped after 163 of at most 325 releases, the planned budget is spent, and no journal can go on from there: context canceled: the machine is needed
	// true
	// context canceled: the machine is needed
}

// Texts become sparse rows of words. The words are public: a list that was made without the
// texts, as a word that only one person writes would give that person away.
func Example_sparseText() {
	words := []string{"awful", "bad", "boring", "film", "fine", "good", "great", "plot"}
	texts := slices.Repeat([]string{"a great film", "boring and bad", "good plot fine film", "awful plot", "great great", "bad film"}, 200)
	labels := slices.Repeat([]float64{1, 0, 1, 0, 1, 0}, 200) // whether they liked it

	rows := func(texts ...string) *dpglm.Sparse {
		indptr, indices, values := []int{0}, []int(nil), []float64(nil)
		for _, text := range texts {
			found := map[int]bool{}
			for _, word := range strings.Fields(text) {
				if j, ok := slices.BinarySearch(words, word); ok {
					found[j] = true
				}
			}
			for j := range words {
				if found[j] {
					indices, values = append(indices, j), append(values, 1)
				}
			}
			indptr = append(indptr, len(indices))
		}
		x, err := dpglm.NewSparse(len(texts), len(words), indptr, indices, values)
		if err != nil {
			log.Fatal(err)
		}
		return x
	}
	// At most four words count in full: longer rows are scaled down to a norm of 2.
	data, err := dpglm.NewDataset(rows(texts...), labels, dpglm.Bounds{Feature: math.Sqrt(4), Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} // nil in earnest
	model, err := dpglm.Auto(context.Background(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), env)
	if err != nil {
		log.Fatal(err)
	}
	classes, err := model.Predict(rows("what a great plot", "so boring so awful"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(classes)
	// Output:
	// [1 0]
}
