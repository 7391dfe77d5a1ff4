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

// OpenParty opens one, of a party that agrees to what agree gives no error for.
func OpenParty(path string, agree func(Terms) error) (*Party, error) {
	return questions.OpenParty(path, agree)
}

// Reply answers a question that an engine was asked, for one piece of the blocks.
func Reply(ctx context.Context, question []byte, piece int) ([]byte, error) {
	return questions.Reply(ctx, question, piece)
}
