package questions

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Engine has questions answered where rows are: by workers that read the file, each some
// blocks of a pass. What it carries is for the curator's eyes only.
type Engine interface {
	// Ask has the question answered by Reply for each of so many pieces of the blocks, from 0
	// on, and calls take with each reply, in the order of the pieces; take reads it to its end.
	Ask(ctx context.Context, question []byte, pieces int, take func(reply io.Reader) error) error
	// Pieces is how many pieces a pass is best cut into.
	Pieces() int
	// Scratch is a directory that workers and this process have under the same path, for copies
	// of rows.
	Scratch() string
}

// remote is how an engine's workers read the rows of a table.
type remote struct {
	engine   Engine
	n        int               // rows of the table
	measured encoding.Encoding // of the file's rows
	steps    []rows.Step       // which make the table's rows of these
	owners   *blocks.Persons   // that the file tells of its rows, where they are a copy
	copies   *copies
}

func (r *remote) Rows() int { return r.n }

func (*remote) Several() bool { return false }

func (r *remote) Of(rows int, o *blocks.Persons) rows.Elsewhere {
	of := *r
	of.n = rows
	if o != nil {
		of.owners = o
	}
	return &of
}

func (r *remote) After(next rows.Step) rows.Elsewhere {
	of := *r
	of.steps = append(slices.Clone(r.steps), next)
	return &of
}

// build tells builds apart by the versions of the program and of this module, and by the
// revision, as far as the program knows them.
var build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	name := info.Main.Path + " " + info.Main.Version
	for _, m := range info.Deps {
		if m.Path == "github.com/dpglm/dpglm" {
			name += " with " + m.Version + m.Sum
		}
	}
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "vcs.") {
			name += " " + s.Value
		}
	}
	return name
})

// message is what workers are sent.
type message struct {
	Build string // of who asks: another one may bound rows otherwise than the noise is for
	File  sentFile
	Of    request
}

// sentFile are the files, with their checksum, and how their rows become features.
type sentFile struct {
	Paths    []string
	Sum      uint32
	Encoding encoding.Encoding
}

// request is what a message is about. The reply to it begins with the message's SHA-256.
type request interface {
	reply(ctx context.Context, of *sentFile, piece int) ([]byte, error)
}

// encodeMessage is the message.
func encodeMessage(f *rowfile.File, e encoding.Encoding, of request) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(message{build(), sentFile{f.Paths(), f.Checksum(), e}, of})
	return b.Bytes(), err
}

// question is what is asked, of which rows.
type question struct {
	Rows   sentRows
	Asked  rows.Pass
	Pieces int
}

// sentRows are rows that steps make of a file's.
type sentRows struct {
	Steps                []rows.Step
	First, Rows, Persons int   // of the file
	Bounds               []int // where blocks begin, where persons have several rows, and end
	Owned, Shifted       bool  // whether rows have shares, and scores offsets
	Class                int   // see stored
}

// NewRemote is NewStored for a file whose rows an engine's workers read. It has them checked
// and measured.
func NewRemote(ctx context.Context, f *rowfile.File, enc encoding.Encoding, e Engine) (*rows.Table, error) {
	if f.Columns != enc.Columns {
		return nil, check.Fail(check.ErrShape, "columns of the file", f.Columns, fmt.Sprintf("must equal the %d described", enc.Columns))
	}
	if e.Scratch() == "" {
		return nil, check.Fail(check.ErrConfig, "engine's Scratch", nil, "must be a directory that its workers share with this process, for copies of rows in another order")
	}
	at := &rows.Place{File: f, Sparse: f.Sparse, Class: -1, Remote: &remote{engine: e, n: f.Rows, measured: enc, copies: new(copies)}}
	t := &rows.Table{Enc: enc, Place: at, Workspaces: new(sync.Pool)}
	t.Layout = blocks.NewLayout(f.Rows, enc.Columns, f.Sparse, nil)
	counts := make([]float64, 3)
	if err := t.Sum(ctx, counts, &labelKinds{}); err != nil {
		return nil, err
	}
	t.Place.Labels = rows.LabelDomain{Binary: counts[0] == 0, Whole: counts[1] == 0, Most: math.Inf(1)}
	if counts[2] > 0 {
		t.Place.Labels.Least = -1
	}
	return t, nil
}

// labelKinds asks for how many labels aren't binary, whole numbers, or 0 or more.
type labelKinds struct{ rows.Nothing }

func (*labelKinds) Shifted() bool { return false }

func (*labelKinds) Cut(t *rows.Table) rows.Cut { return t.InTiles(3) }

func (*labelKinds) Add(p *rows.Part) rows.Adder {
	return rows.EachRow(func(i int, sum []float64) {
		y := p.Labels[i]
		for k, out := range []bool{y != 0 && math.Abs(y) != 1, y != math.Trunc(y), y < 0} {
			if out {
				sum[k]++
			}
		}
	})
}

func init() {
	gob.Register(&question{})
	gob.Register(&labelKinds{})
}

// question is the message that asks for a sum.
func (r *remote) question(ctx context.Context, t *rows.Table, q rows.Pass, l blocks.Layout, pieces int) ([]byte, error) {
	file, first, err := t.Place.Source(ctx)
	if err != nil {
		return nil, err
	}
	return encodeMessage(file, r.measured,
		&question{sentRows{r.steps, first, r.n, l.N, l.Bounds(), l.Persons.Counted(), q.Shifted(), t.Place.Class}, q, pieces})
}

func (r *remote) Sum(ctx context.Context, t *rows.Table, of rows.Pass, c rows.Cut, merge func(sum []float64)) error {
	if r.copies.isClosed() {
		return errClosed
	}
	pieces := max(1, min(r.engine.Pieces(), c.Blocks))
	q, err := r.question(ctx, t, of, c.Layout, pieces)
	if err != nil {
		return err
	}
	a := &accepting{of: sha256.Sum256(q), l: c.Layout, pieces: pieces, raw: make([]byte, 8*c.Width), merge: merge}
	take := func(reply io.Reader) error {
		if a.err == nil {
			a.err = a.take(reply)
		}
		return a.err
	}
	if err := r.engine.Ask(ctx, q, pieces, take); err != nil {
		return err
	}
	return cmp.Or(a.err, a.end())
}

// A reply is the question's SHA-256, the piece and the number of its rows (uint64 each), and
// the sums of its blocks, as float64, all little-endian, and the SHA-256 of all that.
const replyHead = sha256.Size + 16

// accepting takes replies, in the order of the pieces, and refuses them unless each piece was
// answered once, for this question, with the sums of its blocks over all their rows: what is
// there twice would count twice. A reply that was damaged is refused at its end.
type accepting struct {
	of     [sha256.Size]byte
	l      blocks.Layout
	pieces int
	next   int    // piece
	err    error  // of the first reply that was refused
	raw    []byte // of a block's sum
	merge  func(sum []float64)
}

// refused is the error about a reply. It has nothing of what the reply says: these may be
// sums of rows, or a number of rows of persons, where a reply is damaged.
func refused(what, rule string) error {
	return check.Fail(check.ErrRowFile, "reply: "+what, nil, rule)
}

// take takes the next piece's.
func (a *accepting) take(reply io.Reader) error {
	if a.next == a.pieces {
		return refused("replies", fmt.Sprintf("must be one for each of the %d pieces", a.pieces))
	}
	head, sum := make([]byte, replyHead), sha256.New()
	whole := io.TeeReader(reply, sum)
	if _, err := io.ReadFull(whole, head); err != nil || !bytes.Equal(head[:sha256.Size], a.of[:]) {
		return refused("question", "must be the one that was asked")
	}
	piece, rows := binary.LittleEndian.Uint64(head[sha256.Size:]), binary.LittleEndian.Uint64(head[sha256.Size+8:])
	if piece != uint64(a.next) {
		return refused("piece", fmt.Sprintf("must be %d: each is answered once, and they come in order", a.next))
	}
	first, last := a.l.Piece(a.next, a.pieces)
	lo, hi := a.l.Persons.Rows(first*a.l.BlockPersons, min(last*a.l.BlockPersons, a.l.N))
	if rows != uint64(hi-lo) {
		return refused(fmt.Sprintf("rows of piece %d", piece), "must be as many as its blocks have")
	}
	a.next++
	if err := a.sums(whole, last-first); err != nil {
		return err
	}
	said := make([]byte, sum.Size())
	if _, err := io.ReadFull(reply, said); err != nil || !bytes.Equal(said, sum.Sum(nil)) {
		return refused(fmt.Sprintf("checksum of piece %d", piece), "must be that of the reply: it was damaged, or has another length")
	}
	if n, _ := io.ReadFull(reply, make([]byte, 1)); n > 0 {
		return refused(fmt.Sprintf("length of piece %d", piece), "must be that of its sums")
	}
	return nil
}

// sums reads those of so many blocks.
func (a *accepting) sums(reply io.Reader, blocks int) error {
	sum := make([]float64, len(a.raw)/8)
	for range blocks {
		if _, err := io.ReadFull(reply, a.raw); err != nil {
			return refused(fmt.Sprintf("length of piece %d", a.next-1), "must be that of its sums")
		}
		for j := range sum {
			sum[j] = math.Float64frombits(binary.LittleEndian.Uint64(a.raw[8*j:]))
		}
		a.merge(sum)
	}
	return nil
}

// end checks that all pieces are there.
func (a *accepting) end() error {
	if a.next < a.pieces {
		return refused("replies", fmt.Sprintf("must be one for each of the %d pieces", a.pieces))
	}
	return nil
}
