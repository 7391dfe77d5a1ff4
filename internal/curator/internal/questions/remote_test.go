package questions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// floatsOfOne are the bytes of so many floats of 1.
type floatsOfOne int

func (n *floatsOfOne) Read(p []byte) (int, error) {
	if *n == 0 {
		return 0, io.EOF
	}
	k := 0
	for ; k+8 <= len(p) && *n > 0; k += 8 {
		binary.LittleEndian.PutUint64(p[k:], math.Float64bits(1))
		*n--
	}
	return k, nil
}

// The driver adds blocks as it reads them, and holds none but the last, however long replies are.
func TestRepliesAreReadBlockByBlock(t *testing.T) {
	const width, pieces = 1 << 16, 4
	l := blocks.NewLayout(1<<18, 8, false, nil)
	total := make([]float64, width)
	a := &accepting{of: sha256.Sum256(nil), l: l, pieces: pieces, raw: make([]byte, 8*width), merge: func(sum []float64) {
		for j, v := range sum {
			total[j] += v
		}
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for k := range pieces {
		first, last := l.Piece(k, pieces)
		head := binary.LittleEndian.AppendUint64(a.of[:], uint64(k))
		head = binary.LittleEndian.AppendUint64(head, uint64(min(last*l.BlockPersons, l.N)-first*l.BlockPersons))
		sums, again, sum := floatsOfOne(width*(last-first)), floatsOfOne(width*(last-first)), sha256.New()
		if _, err := io.Copy(sum, io.MultiReader(bytes.NewReader(head), &again)); err != nil {
			t.Fatal(err)
		}
		if err := a.take(io.MultiReader(bytes.NewReader(head), &sums, bytes.NewReader(sum.Sum(nil)))); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if err := a.end(); err != nil {
		t.Fatal(err)
	}
	if total[0] != float64(l.Blocks) || total[width-1] != float64(l.Blocks) {
		t.Errorf("%g of %d blocks", total[0], l.Blocks)
	}
	if held, all := after.TotalAlloc-before.TotalAlloc, uint64(8*width*l.Blocks); l.Blocks < 30 || held > all/4 {
		t.Errorf("%d bytes for %d blocks of %d", held, l.Blocks, 8*width)
	}
}

// here is an engine in this process.
type here struct{ scratch string }

func (h here) Pieces() int     { return 3 }
func (h here) Scratch() string { return h.scratch }
func (h here) Ask(ctx context.Context, question []byte, pieces int, take func(io.Reader) error) error {
	for k := range pieces {
		r, err := Reply(ctx, question, k)
		if err == nil {
			err = take(bytes.NewReader(r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Rows can be chosen of rows with another bound, and bounded after they were chosen.
func TestRemoteRowsAreChosenAndBounded(t *testing.T) {
	const n, d = 700, 3
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, math.Sin(float64(i*d+j)))
		}
		y[i] = float64(i % 2)
	}
	enc := encoding.NewIdentity(d, 2, true)
	remote, err := NewRemote(ctx, rowsIn(t, filepath.Join(t.TempDir(), "rows"), x, y), enc, here{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := rows.NewTable(x, enc)
	if err != nil {
		t.Fatal(err)
	}
	order := make([]int, 0, n/2)
	for i := n - 1; i > 0; i -= 2 {
		order = append(order, i)
	}
	w := []float64{0.3, -0.2, 0.1, 0.5}
	again, part := []int{9, 3, 3, 7}, []int{4, 5, 6}
	for name, c := range map[string]struct {
		of   func(t *rows.Table) *rows.Table
		rows []int
	}{
		"bounded, chosen":          {func(t *rows.Table) *rows.Table { return t.Rebound(0.7, 0.5).Pick(order) }, order},
		"chosen, bounded":          {func(t *rows.Table) *rows.Table { return t.Pick(order).Rebound(0.7, 0.5) }, order},
		"chosen twice":             {func(t *rows.Table) *rows.Table { return t.Pick(order).Pick(again) }, blocks.Gather(order, again)},
		"bounded, a part of these": {func(t *rows.Table) *rows.Table { return t.Pick(order).Rebound(0.7, 0.5).Pick(part) }, blocks.Gather(order, part)},
	} {
		var sums [2][]float64
		for k, table := range []*rows.Table{c.of(memory), c.of(remote)} {
			s, err := NewSums(table, blocks.Gather(y, c.rows), 0, 1, losses.Squared{})
			if err != nil {
				t.Fatal(name, err)
			}
			sums[k] = make([]float64, s.Dim())
			if err := s.Gradient(ctx, sums[k], w, 0.4); err != nil {
				t.Fatal(name, err)
			}
		}
		for j, v := range sums[0] {
			if math.Float64bits(v) != math.Float64bits(sums[1][j]) {
				t.Errorf("%s: %v, want %v", name, sums[1], sums[0])
				break
			}
		}
	}
	if _, err := rows.First(ctx, remote); !errors.Is(err, check.ErrConfig) {
		t.Errorf("single rows: %v", err)
	}
	if err := remote.Place.Remote.Close(); err != nil {
		t.Error(err)
	}
}

// remoteAndMemory are tables of the same rows, those of a file on workers and those of a matrix.
func remoteAndMemory(t *testing.T, x *mat.Dense, y []float64, o rows.Owners, enc encoding.Encoding) [2]*rows.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows")
	if err := rows.Write(ctx, path, x, y, o, nil, rows.Range{}); err != nil {
		t.Fatal(err)
	}
	return beside(t, opened(t, path), x, enc)
}

// beside are a file's rows on workers, and those of a matrix.
func beside(t *testing.T, f *rowfile.File, x *mat.Dense, enc encoding.Encoding) [2]*rows.Table {
	t.Helper()
	remote, err := NewRemote(ctx, f, enc, here{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remote.Place.Close(nil) })
	return [2]*rows.Table{remote, mustTable(t, x, enc)}
}

// Workers keep the norms of rows in a frame, of rows with another bound beside those without.
func TestRemoteFramesOfBoundedRows(t *testing.T) {
	const n, d = 300, 3
	x, y, edges := randomMatrix(rand.New(rand.NewPCG(81, 82)), n, d, 1), make([]float64, n), []float64{1.5, 1, 0.7, 0.31, 0.2, 0.1}
	tables := remoteAndMemory(t, x, y, rows.Owners{}, encoding.NewIdentity(d, 2, false))
	var seen [2][][]float64
	for k, table := range tables {
		for _, table := range []*rows.Table{table, table.Rebound(0.3, 0), table.Rebound(0.8, 0)} {
			s, err := NewSums(table, y, 0, 1, losses.Squared{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []Frame{{}, {Scale: []float64{1, 0.5, 2}}} {
				r, err := NewFramed(ctx, s, whole, f)
				if err != nil {
					t.Fatal(err)
				}
				counts, _, err := heard(r.Lengths(ctx, edges))
				if err != nil {
					t.Fatal(err)
				}
				sum, _, err := heard(r.Sum(ctx, 0.5))
				if err != nil {
					t.Fatal(err)
				}
				seen[k] = append(seen[k], append(counts, sum...))
			}
		}
	}
	for k, want := range seen[1] {
		if !slices.Equal(seen[0][k], want) {
			t.Errorf("answer %d: %v, want %v", k, seen[0][k], want)
		}
	}
	if slices.Equal(seen[1][0], seen[1][2]) {
		t.Error("no row is longer than the smaller bound")
	}
}

// gradientAtZero is the sum of clipped gradients at weights of 0.
func gradientAtZero(t *testing.T, table *rows.Table, y []float64) (*Sums, []float64) {
	t.Helper()
	s, err := NewSums(table, y, 0, 1, losses.Logistic{})
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, s.Dim())
	if err := s.Gradient(ctx, g, make([]float64, s.Dim()), 0.3); err != nil {
		t.Fatal(err)
	}
	return s, g
}

// Persons' rows count their shares where workers read them, as they do in memory.
func TestRemoteSharesOfPersonsInOrder(t *testing.T) {
	const n, d = 90, 2
	x, y := randomMatrix(rand.New(rand.NewPCG(83, 84)), n, d, 1), make([]float64, n)
	o := rows.Owners{Count: n / 3, Most: 3, Weights: make([]float64, n), Heavy: 2}
	for i := range n {
		y[i], o.Weights[i], o.Persons = float64(i%2), 1+float64(i%5)/5, append(o.Persons, i/3)
	}
	var seen [2][]float64
	for k, table := range remoteAndMemory(t, x, y, o, encoding.NewIdentity(d, 1, true)) {
		o.Coins = mechanisms.NewSeededSource(1)
		owned, order, err := rows.Own(table, o)
		if err != nil {
			t.Fatal(err)
		}
		first, picked := owned.Pick([]int{0}), owned.Persons.RowsOf([]int{0})
		single, of := rows.Single(first)
		for _, c := range []struct {
			t *rows.Table
			y []float64
		}{{owned, blocks.Gather(y, order)}, {single, blocks.Gather(blocks.Gather(blocks.Gather(y, order), picked), of)}} {
			_, g := gradientAtZero(t, c.t, c.y)
			seen[k] = append(seen[k], g...)
		}
	}
	if !slices.Equal(seen[0], seen[1]) {
		t.Errorf("%v, want %v", seen[0], seen[1])
	}
}

// Rows that stand in secret places add up to the same bits where workers read them, with weights, persons or
// neither, and so do those of parts.
func TestRemoteRowsInPlaces(t *testing.T) {
	const n, d = 90, 2
	x, y := randomMatrix(rand.New(rand.NewPCG(93, 94)), n, d, 1), make([]float64, n)
	weights, persons := make([]float64, n), make([]int, n)
	for i := range n {
		y[i], weights[i], persons[i] = float64(i%2), 1+float64(i%5)/5, i/2
	}
	for name, o := range map[string]rows.Owners{
		"rows": {Places: 120}, "weighted rows": {Places: 120, Weights: weights, Heavy: 2}, "persons": {Places: 120, Persons: persons, Most: 3},
	} {
		var seen [2][]float64
		for k, table := range remoteAndMemory(t, x, y, o, encoding.NewIdentity(d, 1, true)) {
			o.Coins = mechanisms.NewSeededSource(1)
			owned, order, err := rows.Own(table, o)
			if err != nil {
				t.Fatal(err)
			}
			some := make([]int, 70)
			for p := range some {
				some[p] = (7 * p) % 120
			}
			part, of := owned.Pick(some), owned.Persons.RowsOf(some)
			for _, c := range []struct {
				t *rows.Table
				y []float64
			}{{owned, blocks.Gather(y, order)}, {part, blocks.Gather(blocks.Gather(y, order), of)}} {
				s, g := gradientAtZero(t, c.t, c.y)
				totals, moves, err := s.Totals(ctx, 1, 0)
				if err != nil || !(moves >= 1 && moves < 1+1e-9) {
					t.Errorf("%s: totals move by %g: %v", name, moves, err)
				}
				seen[k] = append(append(seen[k], g...), totals...)
			}
		}
		if !slices.Equal(seen[0], seen[1]) {
			t.Errorf("%s: %v, want %v", name, seen[0], seen[1])
		}
	}
}

// Projected rows are scaled to their bound again, most of which are longer here, wherever the rows
// lie.
func TestProjectedRowsAreScaledElsewhere(t *testing.T) {
	const n, d, k = 300, 6, 4
	const bound = 0.2
	x, y := randomMatrix(rand.New(rand.NewPCG(85, 86)), n, d, 1), make([]float64, n)
	enc := encoding.NewIdentity(d, 1, true)
	tables := remoteAndMemory(t, x, y, rows.Owners{}, enc)
	file := inFile(t, x, y, enc)
	phi := sketch.NewGaussian(k, d, 5)
	gradient := func(t *testing.T, table *rows.Table) []float64 {
		t.Helper()
		images, err := rows.Project(ctx, table, phi, bound)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSums(images, y, 0, 1, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, k+1)
		if err := s.Gradient(ctx, g, make([]float64, k+1), math.Inf(1)); err != nil {
			t.Fatal(err)
		}
		return g
	}
	images, err := rows.Project(ctx, tables[1], phi, bound)
	if err != nil {
		t.Fatal(err)
	}
	if long := len(images.Shrink); long != n || slices.Min(images.Shrink) > 0.5 {
		t.Fatalf("%d factors: no row is long", long)
	}
	want := gradient(t, tables[1])
	for where, table := range map[string]*rows.Table{"workers": tables[0], "a file": file} {
		if got := gradient(t, table); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", where, got, want)
		}
	}
}

// Copies of rows are for their owner's eyes.
func TestRemoteCopiesAreTheirOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions of files are those of Unix")
	}
	table := remoteAndMemory(t, mat.NewDense(3, 1, []float64{1, 2, 3}), make([]float64, 3), rows.Owners{}, encoding.NewIdentity(1, 1, false))[0]
	picked := table.Pick([]int{2, 0})
	s, err := NewSums(picked, nil, 0, 1, losses.Squared{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.LabelSum(ctx); err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = filepath.WalkDir(table.Place.Remote.(*remote).engine.Scratch(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == table.Place.Remote.(*remote).engine.Scratch() {
			return err
		}
		info, err := e.Info()
		if seen++; err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others read %s: %v", path, info.Mode())
		}
		return err
	})
	if err != nil || seen != 2 {
		t.Errorf("%d files and directories of copies (%v)", seen, err)
	}
	runtime.KeepAlive(picked)
}

// overheard is an engine whose last question is kept.
type overheard struct {
	here
	asked *[]byte
}

func (o overheard) Ask(ctx context.Context, question []byte, pieces int, take func(io.Reader) error) error {
	*o.asked = question
	return o.here.Ask(ctx, question, pieces, take)
}

// A worker of another build, or with another file, answers nothing: it may bound rows otherwise
// than the noise is for. Nor does one that is asked for rows or shares that the file hasn't.
func TestWorkersRefuseQuestionsOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	if err := rows.Write(ctx, path, mat.NewDense(2, 1, []float64{1, 2}), []float64{0, 1}, rows.Owners{}, nil, rows.Range{}); err != nil {
		t.Fatal(err)
	}
	f, err := rowfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var asked []byte
	if _, err := NewRemote(ctx, f, encoding.NewIdentity(1, 1, false), overheard{here{t.TempDir()}, &asked}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(m *message, q *question)
		rule  error
	}{
		"nothing":  {func(*message, *question) {}, nil},
		"build":    {func(m *message, q *question) { m.Build += " of others" }, check.ErrConfig},
		"checksum": {func(m *message, q *question) { m.File.Sum++ }, check.ErrRowFile},
		"rows":     {func(m *message, q *question) { q.Rows.Rows++ }, check.ErrConfig},
		"first":    {func(m *message, q *question) { q.Rows.First = -1 }, check.ErrConfig},
		"shares":   {func(m *message, q *question) { q.Rows.Owned = true }, check.ErrConfig},
		"offsets":  {func(m *message, q *question) { q.Rows.Shifted = true }, check.ErrConfig},
		"pieces":   {func(m *message, q *question) { q.Pieces = 0 }, check.ErrConfig},
		"request":  {func(m *message, q *question) { m.Of = nil }, rows.ErrNotAsked},
		"sum":      {func(m *message, q *question) { q.Asked = nil }, rows.ErrNotAsked},
	} {
		m := decoded(t, asked)
		c.spoil(&m, m.Of.(*question))
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(m); err != nil {
			t.Fatal(err)
		}
		if _, err := Reply(ctx, b.Bytes(), 0); !errors.Is(err, c.rule) || (err == nil) != (c.rule == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A worker answers for one of the pieces, counted from 0.
func TestWorkersAnswerForAPiece(t *testing.T) {
	const n = 5000 // in two blocks
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), mat.NewDense(n, 1, nil), make([]float64, n))
	var asked []byte
	if _, err := NewRemote(ctx, f, encoding.NewIdentity(1, 1, false), overheard{here{t.TempDir()}, &asked}); err != nil {
		t.Fatal(err)
	}
	for piece, taken := range map[int]bool{-1: false, 0: true, 1: true, 2: false} {
		if _, err := Reply(ctx, asked, piece); (err == nil) != taken || err != nil && !errors.Is(err, check.ErrConfig) {
			t.Errorf("piece %d: %v", piece, err)
		}
	}
}

// A question that lacks a part, is cut off, or says of a matrix, or of rows, what would overflow, is refused by a worker, and ends no
// process: also where what panics is one of several goroutines.
func TestWorkersRefuseWhatPanics(t *testing.T) {
	const n = 700 // in several blocks
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), mat.NewDense(n, 3, nil), make([]float64, n))
	var asked []byte
	if _, err := NewRemote(ctx, f, encoding.NewIdentity(3, 1, false), overheard{here{t.TempDir()}, &asked}); err != nil {
		t.Fatal(err)
	}
	real := sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}
	spoilt := func(spoil func(m *message, q *question, of *asking)) []byte {
		m := decoded(t, asked)
		q, of := m.Of.(*question), &asking{Labels: real, Of: &framedSquares{InFrame{Frame: Frame{Matrix: mat.NewDense(3, 1, []float64{1, 2, 3})}}}}
		q.Asked = of
		spoil(&m, q, of)
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	whole := spoilt(func(*message, *question, *asking) {})
	if _, err := Reply(ctx, whole, 0); err != nil {
		t.Fatal(err)
	}
	sent, err := mat.NewDense(3, 1, []float64{1, 2, 3}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.Index(sent, binary.LittleEndian.AppendUint64(nil, 3))
	at := bytes.Index(whole, sent)
	if first < 0 || at < 0 {
		t.Fatal("the matrix wasn't found in the question")
	}
	matrix := slices.Clone(whole)
	matrix[at+first+7] = 1 << 6 // 2^62 rows more
	cases := map[string][]byte{
		"matrix": matrix,
		"none":   spoilt(func(_ *message, _ *question, of *asking) { of.Of = nil }),
		"no loss": spoilt(func(_ *message, _ *question, of *asking) {
			of.Labels.Loss.Loss, of.Of = nil, &combined{&gradient{W: make([]float64, 3), Clip: 1}}
		}),
		"short weights": spoilt(func(_ *message, _ *question, of *asking) { of.Of = &combined{&gradient{W: []float64{1}, Clip: 1}} }),
		"a step's map":  spoilt(func(_ *message, q *question, _ *asking) { q.Rows.Steps = []rows.Step{{Bound: 1, Map: &sketch.Spec{}}} }),
		"first rows":    spoilt(func(_ *message, q *question, _ *asking) { q.Rows.First = math.MaxInt }),
		"persons":       spoilt(func(_ *message, q *question, _ *asking) { q.Rows.Persons = -1 }),
		"bounds":        spoilt(func(_ *message, q *question, _ *asking) { q.Rows.Bounds = []int{0, 1 << 28, 1 << 29, 1 << 30} }),
		"a bound alone": spoilt(func(_ *message, q *question, _ *asking) { q.Rows.Bounds = []int{0} }),
		"bounds below":  spoilt(func(_ *message, q *question, _ *asking) { q.Rows.Bounds = []int{-1, 1, 1, 1} }),
		"fewer rows":    spoilt(func(_ *message, q *question, _ *asking) { q.Rows.Rows = -1 }),
	}
	for k := range whole {
		cases[fmt.Sprintf("%d bytes", k)] = whole[:k]
	}
	for name, asked := range cases {
		if reply, err := Reply(ctx, asked, 0); err == nil || reply != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Reply(ctx, whole, 0); err != nil {
		t.Errorf("asked afterwards: %v", err)
	}
}

// A question may be damaged on its way, and says of what it asks how large it is: a worker makes no room for more than its rows and the question
// itself have. Each of these would take 64 MiB and more.
func TestWorkersMakeNoRoomForWhatIsntThere(t *testing.T) {
	const n, many, limit = 700, 1 << 23, 1 << 25
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), mat.NewDense(n, 3, nil), make([]float64, n))
	var asked []byte
	if _, err := NewRemote(ctx, f, encoding.NewIdentity(3, 1, false), overheard{here{t.TempDir()}, &asked}); err != nil {
		t.Fatal(err)
	}
	frame := InFrame{Frame: Frame{Matrix: mat.NewDense(3, 1, []float64{1, 2, 3})}}
	pointed := Pointed{frame, 2, ClassPoint{[][]float64{{1}, {2}}, []float64{0, 0}}}
	sum := func() *asking {
		return &asking{Labels: sentLabels{Loss: sentLoss{losses.Squared{}}, Bound: 1}, Of: &classNorms{pointed, []float64{2, 1}, ClassSlope{Clip: 1}}}
	}
	projected := func(kind string, k, d int) func(q *question, of *asking) {
		return func(q *question, of *asking) {
			q.Rows.Steps = []rows.Step{{Bound: 1, Map: &sketch.Spec{Kind: kind, K: k, D: d, Seed: 1}}}
			of.Of = &combined{&gradient{W: make([]float64, 2), Clip: 1}}
		}
	}
	for name, c := range map[string]struct {
		spoil func(q *question, of *asking)
		takes bool
	}{
		"nothing":               {func(*question, *asking) {}, true},
		"a map":                 {projected("gaussian", 2, 3), true},
		"a map of many columns": {projected("gaussian", 2, many), false},
		"signs of many columns": {projected("hadamard", 2, many), false},
		"a map to many":         {projected("gaussian", many, 3), false},
		"maps one after another": {func(q *question, of *asking) {
			projected("sparse", 2, 3)(q, of)
			q.Rows.Steps = append(q.Rows.Steps, rows.Step{Bound: 1, Map: &sketch.Spec{Kind: "gaussian", K: 2, D: many}})
		}, false},
		"many classes": {func(_ *question, of *asking) { of.Of.(*classNorms).Classes = many }, false},
		"many coordinates": {func(_ *question, of *asking) {
			of.Of = &inCoordinates{Of: &framedGradient{OverFrame: OverFrame{frame}, U: []float64{1}, Slope: Slope{Clip: 1}}, Dim: many}
		}, false},
		"a confusion of many": {func(_ *question, of *asking) { q := confusion{pointed}; q.Classes = 1 << 13; of.Of = &q }, false},
		"many persons":        {func(q *question, _ *asking) { q.Rows.Persons = math.MaxInt }, false},
		"many rows":           {func(q *question, _ *asking) { q.Rows.First, q.Rows.Rows = 1, math.MaxInt }, false},
	} {
		m := decoded(t, asked)
		q, of := m.Of.(*question), sum()
		q.Asked = of
		c.spoil(q, of)
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(m); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Reply(ctx, b.Bytes(), 0)
		runtime.ReadMemStats(&after)
		if made := after.TotalAlloc - before.TotalAlloc; made > limit || (err == nil) != c.takes {
			t.Errorf("%s: %v, and room for %d bytes", name, err, made)
		}
	}
}

// Labels outside of a loss's domain, below whose ends no bound holds them, are refused wherever
// they lie, and so are those that are no classes.
func TestLabelsAreRefusedElsewhere(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{1, 2, 3, 4, 5})
	for name, c := range map[string]struct {
		last float64
		ask  func(t *rows.Table, y []float64) error
	}{
		"binary": {2, func(t *rows.Table, y []float64) error { _, err := NewSums(t, y, 0, 1, losses.Logistic{}); return err }},
		"counts": {-1e9, func(t *rows.Table, y []float64) error { _, err := NewSums(t, y, 0, 1, losses.Poisson{}); return err }},
		"amounts": {-1e9, func(t *rows.Table, y []float64) error {
			_, err := NewSums(t, y, 0, 1, losses.Gamma{Least: 0.1})
			return err
		}},
		"a class more":  {2, func(t *rows.Table, y []float64) error { _, err := NewClasses(ctx, t, y, 2); return err }},
		"no class":      {-1, func(t *rows.Table, y []float64) error { _, err := NewClasses(ctx, t, y, 2); return err }},
		"half of one":   {0.5, func(t *rows.Table, y []float64) error { _, err := NewClasses(ctx, t, y, 2); return err }},
		"nothing wrong": {1, func(t *rows.Table, y []float64) error { _, err := NewClasses(ctx, t, y, 2); return err }},
	} {
		y := []float64{0, 1, 0, 1, c.last}
		for where, table := range remoteAndMemory(t, x, y, rows.Owners{}, encoding.NewIdentity(1, 1, false)) {
			if err := c.ask(table, y); errors.Is(err, check.ErrLabel) != (name != "nothing wrong") {
				t.Errorf("%s, table %d: %v", name, where, err)
			}
		}
	}
}

// inFile is a table of rows that lie in a file.
func inFile(t *testing.T, x mat.Matrix, y []float64, enc encoding.Encoding) *rows.Table {
	t.Helper()
	table, err := rows.NewStored(ctx, rowsIn(t, filepath.Join(t.TempDir(), "rows"), x, y), enc)
	if err != nil {
		t.Fatal(err)
	}
	return table
}
