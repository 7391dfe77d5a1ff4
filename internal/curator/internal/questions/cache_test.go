package questions

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/losses"
)

// polled is a context that does something when it is asked for the n-th time whether it has ended.
type polled struct {
	context.Context
	n  atomic.Int64
	do func()
}

func (p *polled) Err() error {
	if p.n.Add(-1) == 0 {
		p.do()
	}
	return p.Context.Err()
}

// announcing is a context that tells when someone waits for its end.
type announcing struct {
	context.Context
	once   sync.Once
	waited chan struct{}
}

func (a *announcing) Done() <-chan struct{} {
	a.once.Do(func() { close(a.waited) })
	return a.Context.Done()
}

// asks is an aggregator that is handed a question, and asks nobody.
type asks func(question []byte)

var errNobody = errors.New("nobody is asked")

func (a asks) Sum(_ context.Context, question []byte) ([]uint64, error) {
	a(question)
	return nil, errNobody
}

// planMessage is what parties are asked for the gradients of rows so long at most.
func planMessage(t *testing.T, n, d int, bound float64) (question []byte) {
	t.Helper()
	table, err := NewParties(Parties{Aggregator: asks(func(q []byte) { question = q }), Rows: []int{n}, Bits: 64}, encoding.NewIdentity(d, bound, false))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSums(table, nil, 0, 1, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Agree(ctx, s, Descent{Steps: 1, Clip: 1, Radius: 1, Mu: 1}); !errors.Is(err, errNobody) {
		t.Fatal(err)
	}
	return question
}

// While a party reads its rows for one plan it answers another one, and one that is cancelled
// returns, be it the one that reads or one that waits; a further one reads instead.
func TestPartiesIntakeHoldsNobodyUp(t *testing.T) {
	const n, d = 2000, 100
	path := filepath.Join(t.TempDir(), "rows")
	if f := rowsIn(t, path, randomMatrix(rand.New(rand.NewPCG(81, 82)), n, d, 1), alternating(n)); f.Blocks() < 6 {
		t.Fatalf("%d blocks", f.Blocks())
	}
	var parties [2]*Party
	for k := range parties {
		p, err := OpenParty(path, func(Terms) error { return nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		parties[k] = p
	}
	p, question, other := parties[0], planMessage(t, n, d, 1), planMessage(t, n, d, 2)
	type answered struct {
		sum []uint64
		err error
	}
	next := make(chan answered, 1)
	cancelled, stop := context.WithCancel(ctx)
	reading, halfway := &polled{Context: cancelled}, false
	reading.n.Store(4)
	reading.do = func() {
		defer stop()
		if !p.tables.Lock.TryLock() {
			t.Error("the lock is held while rows are read")
			return
		}
		p.tables.Lock.Unlock()
		if _, err := p.Answer(ctx, other); err != nil {
			t.Errorf("another question: %v", err)
		}
		over, end := context.WithCancel(ctx)
		end()
		if _, err := p.Answer(over, question); !errors.Is(err, context.Canceled) {
			t.Errorf("one that waits, cancelled: %v", err)
		}
		waiting := &announcing{Context: ctx, waited: make(chan struct{})}
		go func() {
			sum, err := p.Answer(waiting, question)
			next <- answered{sum, err}
		}()
		<-waiting.waited
		halfway = true
	}
	if _, err := p.Answer(reading, question); !errors.Is(err, context.Canceled) {
		t.Errorf("one that reads, cancelled: %v", err)
	}
	if !halfway {
		t.Fatal("rows were read to their end")
	}
	want, err := parties[1].Answer(ctx, question)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-next; got.err != nil || !slices.Equal(got.sum, want) {
		t.Errorf("%v (%v), want %v", got.sum, got.err, want)
	}
}

// A cache keeps the values that were made last, and none that failed.
func TestCache(t *testing.T) {
	var c rows.Cache[int]
	made, bad := "", errors.New("bad")
	for _, key := range []string{"a", "b", "a", "c", "a", "x", "x", "b"} {
		v, err := c.Get(ctx, key, 2, func() (int, error) {
			made += key
			if key == "x" {
				return 0, bad
			}
			return int(key[0]), nil
		})
		if key == "x" && !errors.Is(err, bad) || key != "x" && (err != nil || v != int(key[0])) {
			t.Errorf("%s: %d (%v)", key, v, err)
		}
	}
	if made != "abcaxxb" {
		t.Errorf("made were %s", made)
	}
}

// A file's rows are read for the first time, and what is beside them, until the context ends,
// whenever that is: no other block is begun.
func TestIntakeStops(t *testing.T) {
	const n, d = 2500, 100
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that blocks are read one after the other
	y := alternating(n)
	path := filepath.Join(t.TempDir(), "rows")
	if err := rows.Write(ctx, path, randomMatrix(rand.New(rand.NewPCG(83, 84)), n, d, 1), y, rows.Owners{Weights: y, Heavy: 1}, nil, rows.Range{}); err != nil {
		t.Fatal(err)
	}
	f, err := rowfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	intake := func(ctx context.Context) error {
		_, err := rows.NewStored(ctx, f, encoding.NewIdentity(d, 1, false))
		if err == nil {
			_, _, err = rows.ReadBeside(ctx, f)
		}
		return err
	}
	whole := &polled{Context: ctx}
	if err := intake(whole); err != nil {
		t.Fatal(err)
	}
	polls := -whole.n.Load()
	if blocks := int64(f.Blocks()); blocks < 3 || polls < 2*blocks { // before each, and before what is beside
		t.Fatalf("asked %d times in %d blocks", polls, blocks)
	}
	for k := int64(1); k <= polls; k++ {
		of, stop := context.WithCancel(ctx)
		p := &polled{Context: of, do: stop}
		p.n.Store(k)
		if err := intake(p); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled when asked for the time %d of %d: %v", k, polls, err)
		}
		if more := -p.n.Load(); more > 1 { // for the cause
			t.Errorf("cancelled when asked for the time %d of %d, and asked %d times more", k, polls, more)
		}
	}
}
