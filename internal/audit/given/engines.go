package given

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/curator/worker"
	"github.com/dpglm/dpglm/table/party"
)

// Masked are parties whose answers an aggregator in this process adds up. Each pair of parties
// shares a random mask, which one adds and the other takes away: all that the aggregator sees of
// a party.
type Masked struct {
	Parties []*party.Party
	Bits    int
	R       *rand.Rand
	Seen    func(question []byte, answers [][]uint64) [][]uint64 // nil to change nothing
}

func (m *Masked) Sum(ctx context.Context, question []byte) ([]uint64, error) {
	var answers [][]uint64
	for _, p := range m.Parties {
		a, err := p.Answer(ctx, question)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	if m.Seen != nil {
		answers = m.Seen(question, answers)
	}
	sum := make([]uint64, len(answers[0]))
	for k, a := range answers {
		if err := party.Add(sum, a, m.Bits); err != nil {
			return nil, err
		}
		next := answers[(k+1)%len(answers)]
		for j := range a {
			pad := m.R.Uint64()
			a[j] += pad
			next[j] -= pad
		}
	}
	clear(sum)
	for _, a := range answers {
		if err := party.Add(sum, a, m.Bits); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// AnyPlan is what a party says that answers any.
func AnyPlan(party.Plan) error { return nil }

// rowRange is a matrix of the rows [lo, hi) of another one.
type rowRange struct {
	mat.Matrix
	lo, hi int
}

func (m rowRange) Dims() (r, c int) {
	_, c = m.Matrix.Dims()
	return m.hi - m.lo, c
}

func (m rowRange) At(i, j int) float64 { return m.Matrix.At(m.lo+i, j) }

// Shared writes rows to the files of parties, cut at the given rows, and returns these parties.
func Shared(t *testing.T, x mat.Matrix, y []float64, cuts ...int) (parties []*party.Party, rows []int) {
	t.Helper()
	lo := 0
	for _, hi := range append(cuts, len(y)) {
		path := filepath.Join(t.TempDir(), "x.rows")
		if err := dpglm.WriteRows(ctx, path, rowRange{x, lo, hi}, y[lo:hi]); err != nil {
			t.Fatal(err)
		}
		p, err := party.Open(path, AnyPlan)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		parties, rows, lo = append(parties, p), append(rows, hi-lo), hi
	}
	return parties, rows
}

// Polled is a context that is cancelled when it is asked for the n-th time whether it has ended.
type Polled struct {
	context.Context
	N    atomic.Int64
	Stop func()
}

func (p *Polled) Err() error {
	if p.N.Add(-1) == 0 {
		p.Stop()
	}
	return p.Context.Err()
}

// Workers are an engine in this process.
type Workers struct {
	Count int
	Dir   string
	Spoil func(replies [][]byte) [][]byte
}

func (w Workers) Pieces() int { return w.Count }

func (w Workers) Scratch() string { return w.Dir }

func (w Workers) Ask(ctx context.Context, question []byte, pieces int, take func(reply io.Reader) error) error {
	replies := make([][]byte, pieces)
	for k := range pieces {
		r, err := worker.Reply(ctx, question, pieces-1-k)
		if err != nil {
			return err
		}
		replies[pieces-1-k] = r
	}
	if w.Spoil != nil {
		replies = w.Spoil(replies)
	}
	for _, r := range replies {
		if err := take(bytes.NewReader(r)); err != nil {
			return err
		}
	}
	return nil
}

// Failure is the error of a call.
func Failure[T any](_ T, err error) error { return err }
