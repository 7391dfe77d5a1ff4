// Package shard is the side of a party that holds some of the rows of a data set and keeps them:
// it answers a driver's questions (dpglm.OpenShards) with sums over its rows, as bounded
// integers, for a protocol of secure aggregation to mask and to add up, modulo a power of two.
//
// It is the language that both sides speak, not such a protocol: docs/CLUSTER.md has the bytes,
// and names one that is well kept.
//
// # Privacy
//
// An answer is a sum over the party's rows without noise: it must reach nobody unmasked. Who
// adds up sees masked answers, and the driver the sum over all parties' rows, to which it adds
// the noise that its ledger says. Any party, and all but one of them together, learn of the others'
// rows what the released weights say, which the guarantee covers; the driver, who draws the
// noise, is trusted with the sum. A party that answers wrongly spoils the model, and nobody's
// privacy: each row of another party still moves what the driver makes of the sum by no more than
// the noise is for. Whoever adds up is trusted to add each party's answer once.
package shard

import (
	"context"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/worker"
)

// Party is one that holds rows, in a file that dpglm.WriteRows wrote. It is safe
// for concurrent use.
type Party struct{ of *worker.Shard }

// Open opens a party's file. Rows are read when a question comes, and checked and measured when
// the first one does, which in a fit asks for nothing else. A file whose rows have persons, weights or offsets is refused.
func Open(path string) (*Party, error) {
	s, err := worker.OpenShard(path)
	if err != nil {
		return nil, err
	}
	return &Party{s}, nil
}

// Answer answers a question with integers from 0 to 2^bits − 1, bits being what the question
// says. It depends on the rows and the question alone: on no order of rows, nor on how many
// goroutines or parties add.
//
// Each row adds integers whose norm is at most the question's bound: coordinates of its gradient
// in steps of the question's, rounded towards zero. Errors about rows are for the party's eyes
// only, as those of dpglm.NewDataset are.
func (p *Party) Answer(ctx context.Context, question []byte) ([]uint64, error) {
	switch {
	case p == nil || p.of == nil:
		return nil, check.Fail(check.ErrConfig, "party", nil, "must be made by Open")
	case ctx == nil:
		return nil, check.Fail(check.ErrConfig, "context", nil, "must not be nil")
	}
	return p.of.Answer(ctx, question)
}

// Close closes the file.
func (p *Party) Close() error {
	if p == nil || p.of == nil {
		return nil
	}
	return p.of.Close()
}

// Format prints what it is, whatever the verb: fmt would print the rows.
func (p Party) Format(f fmt.State, _ rune) { fmt.Fprint(f, "shard.Party") }

// Add adds a party's answer to a sum, integer by integer, modulo 2^bits, as an aggregator does
// with masked ones. It fails where they have different lengths, and for bits beyond 1 to 64.
func Add(sum, answer []uint64, bits int) error {
	switch {
	case bits < 1 || bits > 64:
		return check.Fail(check.ErrConfig, "bits", bits, "must lie between 1 and 64")
	case len(sum) != len(answer):
		return check.Fail(check.ErrShape, "answer", len(answer), fmt.Sprintf("must be %d integers, as the sum", len(sum)))
	}
	for j, v := range answer {
		sum[j] = (sum[j] + v) << (64 - bits) >> (64 - bits)
	}
	return nil
}
