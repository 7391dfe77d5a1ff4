package questions

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// First features and labels that workers send, or this process reads, are those of the rows, in their order: of one row, of a tile less or more than one, and of
// several blocks of which the last one isn't full.
func TestWorkersSendFirstsOfEachRow(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for _, n := range []int{1, 2, 95, 96, 97, 192, 4095, 4096, 4097, 5000} {
		x, y, enc := randomMatrix(r, n, 1, 1), randomVector(r, n, 1), encoding.NewIdentity(1, 10, false)
		for where, table := range []*rows.Table{remoteAndMemory(t, x, y, rows.Owners{}, enc)[0], inFile(t, x, y, enc)} {
			features, labels, err := FirstAndLabels(ctx, table)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(features, x.RawMatrix().Data) || !slices.Equal(labels, y) {
				t.Errorf("%d rows, table %d: %d features and %d labels, or others", n, where, len(features), len(labels))
			}
		}
	}
}
