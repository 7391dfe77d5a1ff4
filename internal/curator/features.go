package curator

import (
	"context"
	"fmt"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
)

// Features are rows without labels, which a guarantee for labels alone leaves public. Nothing here is an answer: what is
// made of features is told as it is, and so only learners whose budget is for labels may ask.
type Features struct{ s *Sums }

// ReadHere reports whether this process reads the rows, as Features ask.
func ReadHere(d *Data) bool { return !d.table.Place.Elsewhere() }

// FeaturesOf are those of the rows that s sums over.
func FeaturesOf(s *Sums) Features { return Features{s} }

// Tile are encoded rows, with their offsets.
type Tile = questions.Tile

// Sum is so many sums of what add adds of each tile, which it is given by several goroutines. Bits depend on neither their
// number nor their order.
func (f Features) Sum(ctx context.Context, width int, add func(t Tile, sum []float64)) ([]float64, error) {
	sum := make([]float64, width)
	err := questions.SumOfFeatures(ctx, f.s.s, sum, add)
	return sum, err
}

// Format prints the shape, whatever the verb.
func (f Features) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "features of %v", f.s) }
