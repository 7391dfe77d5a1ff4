package dpglm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table/party"
)

// hospitals are parties of this process. Where they are apart, a protocol of secure aggregation
// carries questions to them and adds up their masked answers.
type hospitals []*party.Party

func (h hospitals) Sum(ctx context.Context, question []byte) ([]uint64, error) {
	var sum []uint64
	for _, p := range h {
		answer, err := p.Answer(ctx, question)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = make([]uint64, len(answer))
		}
		if err := party.Add(sum, answer, 64); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// Two hospitals train one model, and neither shows a row, nor a sum over its own.
func ExampleOpenParties() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var parties hospitals
	rows := []int{600, 400}
	for k, n := range rows {
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		for i := range y {
			x.Set(i, 0, float64(i%7)/7-0.5)
			x.Set(i, 1, float64(i%5)/5-0.5)
			if x.At(i, 0) > 0 {
				y[i] = 1
			}
		}
		path := filepath.Join(dir, fmt.Sprint(k, ".rows"))
		if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
			panic(err)
		}
		p, err := party.Open(path, party.Within(1))
		if err != nil {
			panic(err)
		}
		defer p.Close()
		parties = append(parties, p)
	}
	data, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 2}, dpglm.Bounds{Feature: 1}, parties)
	if err != nil {
		panic(err)
	}
	problem := dpglm.Problem{Loss: losses.Logistic{}, Radius: 5}
	model, err := dpglm.NoisyGD(ctx, data, problem, dpglm.ApproxDP(2, 1e-6), dpglm.NoisyGDConfig{}, nil)
	if err != nil {
		panic(err)
	}
	epsilon, err := model.Ledger().Epsilon(1e-6)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d weights, for all %d rows: ε = %.3g\n", len(model.Weights()[0]), data.Shape().Rows, epsilon)
	// Output: 2 weights, for all 1000 rows: ε = 2
}
