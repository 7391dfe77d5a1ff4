package dpglm

import (
	"context"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
)

// Parties are rows that several parties hold, each some, and don't show to anyone.
type Parties struct {
	// Rows is how many each party has, 1 or more, which is public; all together 2^31−1 at most.
	Rows []int `json:"rows"`
	// Columns is how many features a row has, in the files of all parties.
	Columns int `json:"columns"`
	// Bits are those of answers, integers modulo 2^Bits: between 24 and 64, and at least 12 more
	// than the binary logarithm of the number of all rows; 0 is 64.
	Bits int `json:"bits"`
}

// Aggregator has all parties answer a question and adds up their answers, such as a protocol of
// secure aggregation: module github.com/dpglm/dpglm/prio has one.
type Aggregator interface {
	// Sum has each party answer the same message, by package table/party, and returns the sum of
	// the answers, integer by integer, modulo 2^Bits. It is for the curator's eyes only.
	Sum(ctx context.Context, message []byte) ([]uint64, error)
}

// OpenParties makes a data set of rows that several parties hold, each of which is kept from
// the others and from who adds up, but from an honest driver only, which is this process: one
// that asks for exact sums at weights of its own choice, in place of a learner's, can learn of one
// party's rows, or of one row. It asks for sums over the rows of all, which an aggregator adds up
// without showing one party's. Facts are Bounds or a Schema, the same for all. They answer with
// integers, modulo a power of two, which is what protocols of secure aggregation can add: so a
// sum is the same whoever holds which rows, to the last bit.
//
// It is for [Auto], [StandardisedGD], [Softmax], [Infer], [Dataset.Moments] and [Evaluate], which ask any sums over rows, for
// [NoisyGD], which asks sums of gradients at weights in a ball, and for [OneAgainstRest], whose classes are a fit each; other
// learners ask more and are refused. Each fit tells the parties its plan
// first: facts, loss, how many sums there are and of how many numbers, or clip, radius and number of steps, and what these spend. They check their rows and
// count them, before anything is spent, agree or not (package table/party), and answer the
// plan's questions alone, in their number.
//
// # Privacy
//
// Neighbours differ in one row of one party's, features and label, and all numbers of rows are
// public. What a row adds becomes integers before it is added, in the coordinates that are released: numbers in steps of
// 2^⌈log₂(nL/2^(Bits−2))⌉, L being the longest that such a vector can be, rounded towards zero. It
// gets no longer by that; two come apart by at most √d steps, d being how many numbers it has, which the
// sensitivity has beside that of rows in memory, as it has the rounding of a sum to a float64:
// integers add up without any. Counts are in steps of 1, and nothing of them is rounded. The driver sees the exact sum over all rows, and adds the noise:
// it is trusted with both. With n rows and 64 bits a step is about n·2^-62 of L.
//
// A party that lies spoils the model, and no other's privacy: sums that n rows can't have are
// folded back into their range, around the ring of integers, so that a row moves them by no
// more than the sensitivity whatever is added. A sum is refused unless as many answers to this
// question were added as there are parties, over as many rows, and unless its checksum, which is the
// sum of theirs, fits. That is all that it tells: the
// aggregator is trusted to add each party's answer once, as a row that counts twice moves the sum
// by twice as much; and a row that two parties hold is a group of two.
func OpenParties(s Parties, facts Facts, a Aggregator) (*Dataset, error) {
	if err := check.Given("aggregator", a); err != nil {
		return nil, err
	}
	if s.Bits == 0 {
		s.Bits = 64
	}
	if s.Columns < 1 {
		return nil, check.Fail(ErrShape, "Parties.Columns", s.Columns, "must be at least 1")
	}
	facts, err := ownFacts(facts)
	if err != nil {
		return nil, err
	}
	centre, bound, err := facts.labels()
	if err != nil {
		return nil, err
	}
	enc, err := facts.encoding(s.Columns)
	if err != nil {
		return nil, err
	}
	data, err := curator.OpenParties(curator.Parties{Aggregator: a, Rows: s.Rows, Bits: s.Bits}, enc, centre, bound)
	if err != nil {
		return nil, err
	}
	return &Dataset{data, facts}, nil
}
