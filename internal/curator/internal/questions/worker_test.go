package questions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/losses"
)

// between is an engine in this process whose worker is what ask says.
type between struct {
	here
	ask func(question []byte, piece int) ([]byte, error)
}

func (b between) Ask(ctx context.Context, question []byte, pieces int, take func(io.Reader) error) error {
	for k := range pieces {
		r, err := b.ask(question, k)
		if err == nil {
			err = take(bytes.NewReader(r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func decoded(t *testing.T, asked []byte) (m message) {
	t.Helper()
	if err := gob.NewDecoder(bytes.NewReader(asked)).Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// kind is the type of what a message asks for.
func (m message) kind() string {
	var of any = m.Of
	if q, ok := of.(*question); ok {
		of = q.Asked
	}
	if q, ok := of.(*asking); ok {
		of = q.Of
	}
	if q, ok := of.(*combined); ok {
		of = q.Of
	}
	_, name, _ := strings.Cut(fmt.Sprintf("%T", of), ".")
	return name
}

// rowsIn writes rows to a file and opens it.
func rowsIn(t *testing.T, path string, x mat.Matrix, y []float64) *rowfile.File {
	t.Helper()
	if err := rows.Write(ctx, path, x, y, rows.Owners{}, nil, rows.Range{}); err != nil {
		t.Fatal(err)
	}
	f, err := rowfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// alternating are labels of two classes.
func alternating(n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(i % 2)
	}
	return y
}

// A worker that finds another file under the path, of the same form, refuses each question about
// the driver's, and copies nothing of it.
func TestWorkersReadTheDriversFile(t *testing.T) {
	const n, d = 700, 3
	r, path := rand.New(rand.NewPCG(71, 72)), filepath.Join(t.TempDir(), "rows")
	var questions [][]byte
	engine := between{here{t.TempDir()}, func(question []byte, piece int) ([]byte, error) {
		if decoded(t, question).File.Paths[0] == path && piece == 0 {
			questions = append(questions, question)
		}
		return Reply(ctx, question, piece)
	}}
	remote, err := NewRemote(ctx, rowsIn(t, path, randomMatrix(r, n, d, 1), alternating(n)), encoding.NewIdentity(d, 1, false), engine)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []*rows.Table{remote, remote.Pick([]int{9, 3, 5})} {
		s, err := NewSums(of, nil, 0, 1, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Gradient(ctx, make([]float64, d), make([]float64, d), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	rowsIn(t, path, randomMatrix(r, n, d, 1), alternating(n))
	asked := ""
	for _, question := range questions {
		workerFiles = rows.Cache[*workerFile]{} // of a worker that is new
		asked += decoded(t, question).kind() + " "
		if _, err := Reply(ctx, question, 0); !errors.Is(err, check.ErrRowFile) || !strings.Contains(err.Error(), "checksum of "+path) {
			t.Errorf("%s of another file: %v", decoded(t, question).kind(), err)
		}
	}
	if asked != "labelKinds gradient copying " {
		t.Errorf("asked were %s", asked)
	}
	if err := remote.Place.Remote.Close(); err != nil {
		t.Error(err)
	}
}

// Labels that aren't finite are refused when workers read the rows for the first time, and those
// outside of a loss's domain before anything is asked under it.
func TestWorkersRefuseLabels(t *testing.T) {
	const n, d = 700, 3
	x, at := randomMatrix(rand.New(rand.NewPCG(73, 74)), n, d, 1), here{t.TempDir()}
	for _, label := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -2, 0.5} {
		y := alternating(n)
		y[n-5] = label
		remote, err := NewRemote(ctx, rowsIn(t, filepath.Join(t.TempDir(), "rows"), x, y), encoding.NewIdentity(d, 1, false), at)
		if math.IsNaN(label) || math.IsInf(label, 0) {
			if !errors.Is(err, check.ErrValue) || !strings.Contains(err.Error(), "label of row 696 ") {
				t.Errorf("a label of %g: %v", label, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for loss, fits := range map[losses.Loss]bool{losses.Squared{}: true, losses.Poisson{}: label >= 0, losses.Logistic{}: false} {
			if _, err := NewSums(remote, nil, 0, 1, loss); fits != (err == nil) || err != nil && !errors.Is(err, check.ErrLabel) {
				t.Errorf("%s, a label of %g: %v", loss.Name(), label, err)
			}
		}
	}
}

// Workers hold rows of one file to the bound that each data set has, of several that are asked in turn, in a frame too.
func TestWorkersHoldRowsToEachBound(t *testing.T) {
	const n, d = 300, 3
	x, y := randomMatrix(rand.New(rand.NewPCG(77, 78)), n, d, 1), alternating(n)
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), x, y)
	for _, enc := range []encoding.Encoding{encoding.NewIdentity(d, 1, true), encoding.NewIdentity(d, 0.1, true), encoding.NewIdentity(d, 1, false), encoding.NewIdentity(d, 1, true)} {
		var sums [2][]float64
		for k, table := range beside(t, f, x, enc) {
			s, err := NewSums(table, y, 0, 1, losses.Logistic{})
			if err != nil {
				t.Fatal(err)
			}
			sums[k] = make([]float64, enc.Dim())
			if err := s.Gradient(ctx, sums[k], make([]float64, enc.Dim()), math.Inf(1)); err != nil {
				t.Fatal(err)
			}
			r, err := NewFramed(ctx, s, whole, Frame{Scale: []float64{1, 2, 3}})
			if err != nil {
				t.Fatal(err)
			}
			lengths, _, err := heard(r.Lengths(ctx, []float64{1, 0.5, 0.2, 0.1, 0.05}))
			if err != nil {
				t.Fatal(err)
			}
			sums[k] = append(sums[k], lengths...)
		}
		if !slices.Equal(sums[0], sums[1]) {
			t.Errorf("bound %g, with a constant %v: %v, want %v", enc.Bound, enc.Intercept, sums[0], sums[1])
		}
	}
}

// Workers hold labels to their range, as rows in memory have them.
func TestWorkersClampLabels(t *testing.T) {
	const n, d, centre, bound = 700, 3, 0.25, 0.5
	x := randomMatrix(rand.New(rand.NewPCG(75, 76)), n, d, 1)
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Poisson{}} {
		y := make([]float64, n)
		for i := range y {
			if y[i] = float64(i%7) / 2; loss.Labels() == losses.Real {
				y[i]--
			}
		}
		w := []float64{0.3, -0.2, 0.1}
		var sums [2][]float64
		for k, table := range remoteAndMemory(t, x, y, rows.Owners{}, encoding.NewIdentity(d, 1, false)) {
			s, err := NewSums(table, y, centre, bound, loss)
			if err != nil {
				t.Fatal(err)
			}
			sums[k] = make([]float64, d)
			if err := s.Gradient(ctx, sums[k], w, math.Inf(1)); err != nil {
				t.Fatal(err)
			}
		}
		for j, v := range sums[0] {
			if math.Float64bits(v) != math.Float64bits(sums[1][j]) {
				t.Fatalf("%s: %v, want %v", loss.Name(), sums[0], sums[1])
			}
		}
	}
}

// A reply with any byte that is another one is refused, one with sums and one about a copy.
func TestDamagedRepliesAreRefused(t *testing.T) {
	const n, d = 40, 2
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), randomMatrix(rand.New(rand.NewPCG(79, 80)), n, d, 1), alternating(n))
	at, mask, length := -1, byte(0), 0
	engine := between{here{t.TempDir()}, func(question []byte, piece int) ([]byte, error) {
		reply, err := Reply(ctx, question, piece)
		if at >= 0 && piece == 0 && err == nil {
			length = len(reply)
			reply[at] ^= mask
		}
		return reply, err
	}}
	remote, err := NewRemote(ctx, f, encoding.NewIdentity(d, 1, false), engine)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSums(remote, nil, 0, 1, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	for at, length = 0, 1; at < length; at++ {
		for _, mask = range []byte{1, 0x80, 0xff} {
			if err := s.Gradient(ctx, make([]float64, d), make([]float64, d), 1); !errors.Is(err, check.ErrRowFile) {
				t.Errorf("sums, byte %d of %d: %v", at, length, err)
			}
		}
	}
	for at, length = 0, 1; at < length; at++ {
		mask = 1
		picked, err := NewSums(remote.Pick([]int{9, 3, 5}), nil, 0, 1, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		if err := picked.Gradient(ctx, make([]float64, d), make([]float64, d), 1); !errors.Is(err, check.ErrRowFile) {
			t.Errorf("a copy, byte %d of %d: %v", at, length, err)
		}
	}
	if length < 64 {
		t.Errorf("replies of %d bytes", length)
	}
}

// A copy that has a row more than was asked for, or one less, is refused.
func TestCopiesHaveTheRowsAskedFor(t *testing.T) {
	const n, d = 700, 3
	r, order := rand.New(rand.NewPCG(77, 78)), []int{9, 3, 5, 600}
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), randomMatrix(r, n, d, 1), alternating(n))
	for name, of := range map[string][]int{"as asked": order, "one more": append(order[:4:4], 7), "one less": order[:3]} {
		engine := between{here{t.TempDir()}, func(question []byte, piece int) ([]byte, error) {
			q := decoded(t, question)
			copies, ok := q.Of.(*copying)
			if !ok {
				return Reply(ctx, question, piece)
			}
			copies.Order = of
			var other bytes.Buffer
			if err := gob.NewEncoder(&other).Encode(q); err != nil {
				return nil, err
			}
			reply, err := Reply(ctx, other.Bytes(), piece)
			if err == nil {
				mark := sha256.Sum256(question) // as if that were what it answers
				copy(reply, mark[:])
				reply = summed(reply[:len(reply)-sha256.Size])
			}
			return reply, err
		}}
		remote, err := NewRemote(ctx, f, encoding.NewIdentity(d, 1, false), engine)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSums(remote.Pick(order), nil, 0, 1, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Gradient(ctx, make([]float64, d), make([]float64, d), 1)
		if same := len(of) == len(order); same && err != nil || !same && (!errors.Is(err, check.ErrRowFile) || !strings.Contains(err.Error(), "rows of a copy")) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(engine.scratch); err != nil || len(of) != len(order) && len(left) > 0 {
			t.Errorf("%s: left %v (%v)", name, left, err)
		}
		if err := remote.Place.Remote.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A worker whose context has ended answers nothing, whatever it is asked.
func TestWorkersStop(t *testing.T) {
	const n, d = 700, 3
	y, path := alternating(n), filepath.Join(t.TempDir(), "rows")
	if err := rows.Write(ctx, path, randomMatrix(rand.New(rand.NewPCG(79, 80)), n, d, 1), y, rows.Owners{Weights: y, Heavy: 1}, nil, rows.Range{}); err != nil {
		t.Fatal(err)
	}
	f, err := rowfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	over, stop := context.WithCancel(ctx)
	stop()
	asked := ""
	remote, err := NewRemote(ctx, f, encoding.NewIdentity(d, 1, false), between{here{t.TempDir()}, func(question []byte, piece int) ([]byte, error) {
		if piece == 0 {
			asked += decoded(t, question).kind() + ", "
			if _, err := Reply(over, question, piece); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", decoded(t, question).kind(), err)
			}
		}
		return Reply(ctx, question, piece)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Beside(ctx, remote); err != nil {
		t.Fatal(err)
	}
	s, err := NewSums(remote, nil, 0, 1, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	framed, err := NewFramed(ctx, s, nil, Frame{Centre: make([]float64, d)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := framed.Lengths(ctx, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := s.Gradient(ctx, make([]float64, d), make([]float64, d), 1); err != nil {
		t.Fatal(err)
	}
	if asked != "labelKinds, besides, framedLengths, gradient, " {
		t.Errorf("asked were %s", asked)
	}
}
