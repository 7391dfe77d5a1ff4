// Package worker answers questions where rows are, an engine's for package beam, and those that
// parties are asked for package party: what it returns are raw sums, on their way to package
// curator.
package worker

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
)

// Party is a party's file of rows, whose answers are raw sums, too: of integers, for who adds
// those of several parties up without seeing one.
type Party = questions.Party

// Terms are what a party agrees to before a fit, or not.
type Terms = questions.Terms

// Keeper keeps what a party must know of its fits after a restart.
type Keeper = questions.Keeper

// OpenParty opens one, of a party that agrees to what agree gives no error for. Keep may be nil.
func OpenParty(path string, agree func(Terms) error, keep Keeper) (*Party, error) {
	return questions.OpenParty(path, agree, keep)
}

// Asked is what whoever adds answers up must know of a message.
type Asked = questions.Asked

// ReadMessage tells what a message of a driver asks for.
func ReadMessage(message []byte) (Asked, error) { return questions.ReadMessage(message) }

// SetChecksum sets an answer's last integer to the checksum of the others.
func SetChecksum(message []byte, answer []uint64, bits int) {
	questions.SetChecksum(message, answer, bits)
}

// Reply answers a question that an engine was asked, for one piece of the blocks.
func Reply(ctx context.Context, question []byte, piece int) ([]byte, error) {
	return questions.Reply(ctx, question, piece)
}
