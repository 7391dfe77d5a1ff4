package questions

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// First features and labels that workers send, or this process reads, are those of the rows, in their order: of one row, of a tile less or more than one, and of
// several blocks of which the last one isn't full, or of blocks that are read in several parts.
func TestWorkersSendFirstsOfEachRow(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for _, c := range [][2]int{{1, 1}, {2, 1}, {95, 1}, {96, 1}, {97, 1}, {192, 1}, {4095, 1}, {4096, 1}, {4097, 1}, {5000, 1}, {2000, 200}} {
		n, columns := c[0], c[1]
		x, y, enc := randomMatrix(r, n, columns, 1), randomVector(r, n, 1), encoding.NewIdentity(columns, 100, false)
		for where, table := range []*rows.Table{remoteAndMemory(t, x, y, rows.Owners{}, enc)[0], inFile(t, x, y, enc)} {
			features, labels, err := FirstAndLabels(ctx, table)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(features, mat.Col(nil, 0, x)) || !slices.Equal(labels, y) {
				t.Errorf("%d rows, table %d: %d features and %d labels, or others", n, where, len(features), len(labels))
			}
		}
	}
}

// Whose rows are and what they weigh workers tell as the file has it, of one block and of several, whole ones and the last, and of blocks that are read in several parts.
func TestWorkersTellWhoseRowsAre(t *testing.T) {
	r := rand.New(rand.NewPCG(93, 94))
	for _, c := range [][2]int{{1, 1}, {97, 2}, {5000, 2}, {2000, 200}} {
		n, columns := c[0], c[1]
		o := rows.Owners{Persons: make([]int, n), Most: 3, Weights: randomVector(r, n, 1), Heavy: 1}
		for i := range n {
			o.Persons[i], o.Weights[i] = r.IntN(n), math.Abs(o.Weights[i])
		}
		x, y := randomMatrix(r, n, columns, 1), randomVector(r, n, 1)
		got, err := Beside(ctx, remoteAndMemory(t, x, y, o, encoding.NewIdentity(columns, 100, false))[0])
		if err != nil {
			t.Fatal(err)
		}
		same := make(map[[2]int]bool) // numbers of persons mean nothing but that they are equal
		for i, p := range got.Persons {
			same[[2]int{p, o.Persons[i]}] = true
		}
		seen := map[int]bool{}
		for _, p := range o.Persons {
			seen[p] = true
		}
		if len(got.Persons) != n || len(same) != len(seen) || !slices.Equal(got.Weights, o.Weights) {
			t.Errorf("%d rows of %d columns: %d pairs of a person here and there, want %d, or other weights", n, columns, len(same), len(seen))
		}
	}
}
