package curator

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/losses"
)

// Question is one that a learner's sums ask where Asking arranged it. It can't be read, nor
// can its answer.
type Question = questions.Question

// Asking returns the same sums under a loss with labels of the same kind. Gradient's
// questions, and those of Framed's sums over rows, go to ask, which has them answered by
// Answer.
func (s *Sums) Asking(loss losses.Loss, ask func(*Question) error) *Sums {
	return &Sums{s.s.Asking(loss, ask), s.data}
}

// Answer answers questions, those about the same rows in one reading of them. Its answers
// are those that each question has alone, bit by bit.
func Answer(ctx context.Context, asked []*Question) error {
	return questions.Answer(ctx, asked)
}
