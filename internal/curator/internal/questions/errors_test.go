package questions

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/losses"
)

// toldNothing fails unless a text's numbers are all public ones: paths aside, those given.
func toldNothing(t *testing.T, name string, err error, public ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", name)
		return
	}
	text := regexp.MustCompile(`/\S+`).ReplaceAllString(err.Error(), "PATH")
	for _, number := range regexp.MustCompile(`[0-9]+`).FindAllString(text, -1) {
		if !slices.Contains(public, number) {
			t.Errorf("%s: %q tells %s", name, text, number)
		}
	}
}

// opened is a file of rows.
func opened(t *testing.T, path string) *rowfile.File {
	t.Helper()
	f, err := rowfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// planted are 30 persons with numbers of rows that nothing else has, whose order isn't that of
// the file.
func planted() (x *mat.Dense, y []float64, o rows.Owners) {
	r := rand.New(rand.NewPCG(91, 92))
	o = rows.Owners{Count: 30, Most: 60}
	for p := range o.Count {
		for range 11 + 7*p%43 {
			o.Persons = append(o.Persons, p)
		}
	}
	r.Shuffle(len(o.Persons), func(i, j int) { o.Persons[i], o.Persons[j] = o.Persons[j], o.Persons[i] })
	return randomMatrix(r, len(o.Persons), 3, 1), alternating(len(o.Persons)), o
}

// questionsOf ask of rows what learners do, of each kind that reads them in its own way.
func questionsOf(t *rows.Table, y []float64) map[string]func() error {
	sums := func(ask func(s *Sums) error) func() error {
		return func() error {
			s, err := NewSums(t, y, 0, 1, losses.Logistic{})
			return errors.Join(err, ask(s))
		}
	}
	framed := func(ask func(r *Framed) error) func() error {
		return sums(func(s *Sums) error {
			r, err := NewFramed(ctx, s, whole, Frame{Scale: []float64{1, 2, 3}})
			if err != nil {
				return err
			}
			return ask(r)
		})
	}
	w := make([]float64, 4)
	return map[string]func() error{
		"gradient":       sums(func(s *Sums) error { return s.Gradient(ctx, make([]float64, 4), w, 0.5) }),
		"labels":         sums(func(s *Sums) error { _, _, err := s.LabelSum(ctx); return err }),
		"predictions":    sums(func(s *Sums) error { _, _, err := Predicted(ctx, s, w); return err }),
		"hessian":        sums(func(s *Sums) error { _, err := s.Hessian(ctx, w, 1); return err }),
		"lengths":        framed(func(r *Framed) error { _, err := r.Lengths(ctx, []float64{2, 1}); return err }),
		"fourth moments": framed(func(r *Framed) error { _, err := Fourth(ctx, r, 1); return err }),
		"framed moments": framed(func(r *Framed) error { _, err := r.Moments(ctx, 1); return err }),
	}
}

// After intake no error about rows tells how many these are, in a file, a block, a piece or of
// a person, nor a sum of them or a checksum, whatever a file, a worker or an engine does.
func TestErrorsTellNoCounts(t *testing.T) {
	x, y, o := planted()
	enc := encoding.NewIdentity(3, 9, true)
	public := []string{"0", "1", "2", "3"} // pieces
	open := func(dir string, e func(scratch string) Engine) (path string, table *rows.Table, labels []float64) {
		path = filepath.Join(dir, "rows")
		_, err := os.Stat(path)
		if err != nil {
			err = rows.Write(ctx, path, x, y, o, nil, rows.Range{})
		}
		if err != nil {
			t.Fatal(err)
		}
		f := opened(t, path)
		if e != nil {
			table, err = NewRemote(ctx, f, enc, e(t.TempDir()))
		} else {
			table, err = rows.NewStored(ctx, f, enc)
		}
		if err != nil {
			t.Fatal(err)
		}
		table, order, err := rows.Own(table, o)
		if err != nil {
			t.Fatal(err)
		}
		return path, table, blocks.Gather(y, order)
	}
	files := map[string]func(path string) error{
		"cut": func(path string) error { return os.Truncate(path, 4321) },
		"flipped": func(path string) error {
			raw, err := os.ReadFile(path)
			for k := 500; k < len(raw); k += 4000 {
				raw[k] ^= 16
			}
			return errors.Join(err, os.WriteFile(path, raw, 0o600))
		},
		"another": func(path string) error {
			other := filepath.Join(filepath.Dir(path), "other")
			return errors.Join(rows.Write(ctx, other, x.Slice(0, 457, 0, 3), y[:457], rows.Owners{}, nil, rows.Range{}), os.Rename(other, path))
		},
		"gone": os.Remove,
	}
	for change, do := range files {
		path, table, labels := open(t.TempDir(), nil)
		if err := do(path); err != nil {
			t.Fatal(err)
		}
		if change == "another" || change == "gone" {
			continue // which this process reads on: it has the file open
		}
		for name, ask := range questionsOf(table, labels) {
			toldNothing(t, change+", "+name, ask(), public...)
		}
	}
	for change, do := range files {
		path, table, labels := open(t.TempDir(), func(dir string) Engine { return here{dir} })
		if err := do(path); err != nil {
			t.Fatal(err)
		}
		for name, ask := range questionsOf(table, labels) {
			toldNothing(t, change+", workers, "+name, ask(), public...)
		}
	}
	unchanged := t.TempDir()
	for spoilt, spoil := range spoilers {
		for _, copied := range []bool{true, false} { // whether the rows' copy is made before
			broken := false
			_, table, labels := open(unchanged, func(dir string) Engine {
				return between{here{dir}, func(q []byte, piece int) ([]byte, error) {
					r, err := Reply(ctx, q, piece)
					if broken && err == nil {
						r, err = spoil(r)
					}
					return r, err
				}}
			})
			if copied {
				if err := questionsOf(table, labels)["gradient"](); err != nil {
					t.Fatal(err)
				}
			}
			broken = true
			for name, ask := range questionsOf(table, labels) {
				if copied || name == "gradient" {
					toldNothing(t, spoilt+", "+name, ask(), public...)
				}
			}
		}
	}
}

// spoiling changes sums.
type spoiling struct {
	Aggregator
	spoil func(sum []uint64) []uint64
}

func (s spoiling) Sum(ctx context.Context, question []byte) ([]uint64, error) {
	sum, err := s.Aggregator.Sum(ctx, question)
	return s.spoil(sum), err
}

// spoilers are what a worker may do wrong.
var spoilers = map[string]func(r []byte) ([]byte, error){
	"empty":       func(r []byte) ([]byte, error) { return nil, nil },
	"short":       func(r []byte) ([]byte, error) { return r[:len(r)-3], nil },
	"half":        func(r []byte) ([]byte, error) { return r[:len(r)/2], nil },
	"long":        func(r []byte) ([]byte, error) { return append(r, 1, 2, 3), nil },
	"other piece": func(r []byte) ([]byte, error) { r[32] += 77; return r, nil },
	"no piece":    func(r []byte) ([]byte, error) { return append(r[:32:32], r[40:]...), nil },
	"more rows":   func(r []byte) ([]byte, error) { r[40]++; return r, nil },
	"a sum there": func(r []byte) ([]byte, error) { return append(r[:32:32], r[48:]...), nil },
	"other name":  func(r []byte) ([]byte, error) { return append(r, "/73"...), nil },
	"failing":     func(r []byte) ([]byte, error) { return nil, errors.New("a worker was lost") },
}

// A worker that is asked what no driver asks, of rows or copies that the file hasn't, tells
// nothing of those that it has.
func TestWorkersTellNoCounts(t *testing.T) {
	x, y, o := planted()
	var asked [][]byte
	path := filepath.Join(t.TempDir(), "rows")
	if err := rows.Write(ctx, path, x, y, o, nil, rows.Range{}); err != nil {
		t.Fatal(err)
	}
	e := between{here{t.TempDir()}, func(q []byte, piece int) ([]byte, error) {
		asked = append(asked, q)
		return Reply(ctx, q, piece)
	}}
	table, err := NewRemote(ctx, opened(t, path), encoding.NewIdentity(3, 9, true), e)
	if err != nil {
		t.Fatal(err)
	}
	table, order, err := rows.Own(table, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := questionsOf(table, blocks.Gather(y, order))["gradient"](); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(m *message) (spoilt bool){
		"checksum": func(m *message) bool { m.File.Sum++; return true },
		"rows": func(m *message) bool {
			q, ok := m.Of.(*question)
			if ok {
				q.Rows.Rows += 5000
			}
			return ok
		},
		"first": func(m *message) bool {
			q, ok := m.Of.(*question)
			if ok {
				q.Rows.First = 6000
			}
			return ok
		},
		"copy": func(m *message) bool {
			switch q := m.Of.(type) {
			case *question:
				q.Rows.Rows = -1
			case *copying:
				q.Order[3] = 7000
			}
			return true
		},
	} {
		for _, raw := range asked {
			m := decoded(t, raw)
			if !spoil(&m) {
				continue
			}
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(m); err != nil {
				t.Fatal(err)
			}
			_, err := Reply(ctx, b.Bytes(), 0)
			toldNothing(t, name, err)
		}
	}
}

// A driver tells nothing of the answers that it refuses, nor a party of its rows once they are
// taken in.
func TestPartiesTellNoCounts(t *testing.T) {
	x, y, _ := planted()
	public := []string{"0", "2", "64", "8", strconv.Itoa(len(y))} // parties, bits, integers of an answer, rows of all
	s := heldBy(t, x, y, 457, 64, encoding.NewIdentity(3, 9, true), losses.Logistic{})
	g, w := make([]float64, 4), make([]float64, 4)
	fit := func() *Sums {
		of, err := Agree(ctx, s, Descent{Steps: 9, Clip: 0.5, Radius: 1, Mu: 1})
		if err != nil {
			t.Fatal(err)
		}
		agreed := *s
		agreed.t = of
		return &agreed
	}
	agreed := fit()
	of := partiesOf(s.t).Aggregator.(inProcess)
	for name, spoil := range map[string]func(sum []uint64) []uint64{
		"parties":    func(sum []uint64) []uint64 { sum[0] = 7777; return sum },
		"rows":       func(sum []uint64) []uint64 { sum[1] = 8888; return sum },
		"question":   func(sum []uint64) []uint64 { sum[2]++; return sum },
		"short":      func(sum []uint64) []uint64 { return sum[:len(sum)-1] },
		"long":       func(sum []uint64) []uint64 { return append(sum, 5) },
		"none":       func(sum []uint64) []uint64 { return nil },
		"damaged":    func(sum []uint64) []uint64 { sum[3] ^= 1 << 9; return sum },
		"a sum more": func(sum []uint64) []uint64 { return append([]uint64{sum[3]}, sum...) },
	} {
		partiesOf(agreed.t).Aggregator = spoiling{of, spoil}
		toldNothing(t, name, agreed.Gradient(ctx, g, w, 0.5), public...)
	}
	partiesOf(s.t).Aggregator = of
	agreed = fit()
	for _, p := range of.parties {
		raw, err := os.ReadFile(p.file.Paths()[0])
		if err != nil {
			t.Fatal(err)
		}
		for k := 500; k < len(raw); k += 4000 {
			raw[k] ^= 16
		}
		if err := os.WriteFile(p.file.Paths()[0], raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	toldNothing(t, "damaged", agreed.Gradient(ctx, g, w, 0.5), public...)
}
