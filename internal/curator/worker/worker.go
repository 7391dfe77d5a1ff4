// Package worker answers an engine's questions where rows are, for package beam: what it
// returns are raw sums, on their way to package curator.
package worker

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// Reply answers a question that an engine was asked, for one piece of the blocks.
func Reply(ctx context.Context, question []byte, piece int) ([]byte, error) {
	return rows.Reply(ctx, question, piece)
}
