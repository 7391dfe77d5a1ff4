package questions

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Questions that are asked together have the bits that each has alone, for all sources, and
// for more questions than a block of the kernels has, about another table among them.
func TestQuestionsTogetherAreAsAlone(t *testing.T) {
	for _, p := range plainSources(t, 4200) { // two blocks
		for _, q := range append(p.derived(t), p) {
			q.checkTogether(t)
		}
	}
}

// The same for rows so wide that the kernels work on several questions at once.
func TestQuestionsAboutWideRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for _, d := range []int{17, 40, 101} {
		enc := encoding.NewIdentity(d, 1.3, d%2 == 0)
		table, err := rows.NewTable(randomMatrix(r, 3000, d, 0.2), enc)
		if err != nil {
			t.Fatal(err)
		}
		plain{"wide", table, nil}.checkTogether(t)
	}
}

func (p plain) checkTogether(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 2))
	labels := make([]float64, p.table.Len())
	for i := range labels {
		labels[i] = float64(r.IntN(2))
	}
	other, err := rows.NewTable(randomMatrix(r, 50, 2, 1), encoding.NewIdentity(2, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	var asked []*Question
	var want [][]float64
	for j := range 7 {
		table := p.table
		if j == 3 {
			table = other
		}
		s, err := NewSums(table, labels[:table.Len()], 0, 0, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		w, clip, dst := randomVector(r, s.Dim(), 3), []float64{0.1, 0.4, math.Inf(1)}[j%3], make([]float64, s.Dim())
		if err := s.Gradient(ctx, dst, w, clip); err != nil {
			t.Fatal(err)
		}
		want = append(want, dst)
		// Asked, but not answered yet.
		s.Asking(losses.Logistic{}, func(q *Question) error { asked = append(asked, q); return blocks.ErrExited }).Gradient(ctx, dst, w, clip)
	}
	if len(asked) != len(want) {
		t.Fatalf("%s: %d questions of %d", p.name, len(asked), len(want))
	}
	if err := Answer(ctx, asked); err != nil {
		t.Fatal(err)
	}
	for j, q := range asked {
		got, columns := make([]float64, len(want[j])), q.s.t.Enc.Columns
		q.s.t.Enc.Unfold(got, q.raw[:columns], q.raw[columns], q.raw[columns+1])
		for k, v := range got {
			if math.Float64bits(v) != math.Float64bits(want[j][k]) {
				t.Fatalf("%s, question %d: coordinate %d is %b, alone %b", p.name, j, k, v, want[j][k])
			}
		}
	}
}
