package questions

import (
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
