package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Engine has questions answered where rows are: by workers that read the file, each some
// blocks of a pass. What it carries is for the curator's eyes only.
type Engine interface {
	// Ask has the question answered by Reply for each of so many pieces of the blocks, from 0
	// on, and returns the replies in any order.
	Ask(ctx context.Context, question []byte, pieces int) ([][]byte, error)
	// Pieces is how many pieces a pass is best cut into.
	Pieces() int
}

// elsewhere reports whether other processes read the rows.
func (t *Table) elsewhere() bool { return t.stored != nil && t.stored.engine != nil }

// captures reports whether sums go to who asked for them, block by block.
func (s *stored) captures() bool { return s != nil && s.capture != nil }

// toMeasure is the number of rows that a frame measures: none where others read, or for a
// worker, which measures what it reads.
func (t *Table) toMeasure() int {
	if t.stored.captures() {
		return 0
	}
	return len(t.length)
}

// errNotAsked is the error of what is not among asked's kinds.
var errNotAsked = check.Fail(check.ErrConfig, "rows", nil, "must lie in memory or in a file of this machine for what is asked of them: an engine's workers answer sums over all rows, without splits, persons, weights, offsets and projections")

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

// question is what workers are sent: what is asked, of which rows and labels.
type question struct {
	Build    string // of who asks: another one may bound rows otherwise than the noise is for
	Path     string
	Sum      uint32
	Encoding sentEncoding
	Rebounds [][2]float64
	Loss     []byte
	Labels   [2]float64 // centre and bound
	Asked    asked
	Pieces   int
}

// sentEncoding is an Encoding with its unexported fields.
type sentEncoding struct {
	Encoding
	Groups    []sentGroup
	Names     []string
	Ranged    []int
	Magnitude float64
}

type sentGroup struct {
	Name    string
	Columns []int
	Names   []string
}

func send(e Encoding) sentEncoding {
	s := sentEncoding{Encoding: e, Names: e.names, Ranged: e.ranged, Magnitude: e.magnitude}
	for _, g := range e.groups {
		s.Groups = append(s.Groups, sentGroup{g.name, g.columns, g.names})
	}
	return s
}

func (s sentEncoding) received() Encoding {
	e := s.Encoding
	e.names, e.ranged, e.magnitude = s.Names, s.Ranged, s.Magnitude
	for _, g := range s.Groups {
		e.groups = append(e.groups, group{g.Name, g.Columns, g.Names})
	}
	return e
}

// NewRemote is NewStored for a file whose rows an engine's workers read. It has them checked
// and measured.
func NewRemote(ctx context.Context, f *rowfile.File, enc Encoding, e Engine) (*Table, error) {
	if f.Columns != enc.Columns {
		return nil, check.Fail(check.ErrShape, "columns of the file", f.Columns, fmt.Sprintf("must equal the %d described", enc.Columns))
	}
	if len(f.Beside) > 0 {
		return nil, errNotAsked
	}
	t := &Table{enc: enc, stored: &stored{file: f, sparse: f.Sparse, class: -1, engine: e, measured: enc}, workspaces: new(sync.Pool)}
	t.layout = newLayout(f.Rows, enc.Columns, f.Sparse, nil)
	counts := make([]float64, 3)
	if err := (&Sums{t: t}).labelCounts(ctx, counts); err != nil {
		return nil, err
	}
	t.stored.labels = labelDomain{binary: counts[0] == 0, whole: counts[1] == 0, most: math.Inf(1)}
	if counts[2] > 0 {
		t.stored.labels.least = -1
	}
	return t, nil
}

// labelCounts counts the labels that aren't binary, whole numbers, or 0 or more.
func (s *Sums) labelCounts(ctx context.Context, dst []float64) error {
	return s.eachRow(asking(ctx, asked{Kind: "label counts"}), dst, func(s *Sums, i int, sum []float64) {
		for k, out := range []bool{s.labels[i] != 0 && math.Abs(s.labels[i]) != 1, s.labels[i] != math.Trunc(s.labels[i]), s.labels[i] < 0} {
			if out {
				sum[k]++
			}
		}
	})
}

// lengthsElsewhere is Lengths for rows that others read.
func (r *Framed) lengthsElsewhere(ctx context.Context, counts, edges []float64) (release.Answer, error) {
	err := r.s.pass(asking(ctx, asked{Kind: "framed lengths", Frame: &r.f, Edges: edges}), counts, nil)
	return r.answer(counts, oneRowCounts), err
}

// rebound notes a smaller bound for those who read the rows.
func (s *stored) rebound(bound, constant float64) *stored {
	if s == nil || s.engine == nil {
		return s
	}
	of := &stored{file: s.file, sparse: s.sparse, class: s.class, labels: s.labels, engine: s.engine, measured: s.measured}
	of.rebounds = append(append(of.rebounds, s.rebounds...), [2]float64{bound, constant})
	return of
}

// question returns what ctx says the pass is for.
func (s *Sums) question(ctx context.Context, pieces int) ([]byte, error) {
	of, ok := ctx.Value(askedKey{}).(asked)
	at := s.t.stored
	if !ok || at.refused || at.class >= 0 {
		return nil, errNotAsked
	}
	loss, err := encodeLoss(s.loss)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(question{build(), at.file.Path(), at.file.Checksum(), send(at.measured), at.rebounds, loss, [2]float64{s.labelCentre, s.labelBound}, of, pieces})
	return b.Bytes(), err
}

// remotePass sets the sums of all blocks, each of the given width, and calls merge for each in
// the order of the blocks, which the layout says.
func (s *Sums) remotePass(ctx context.Context, l layout, width int, merge func(sum []float64)) error {
	e := s.t.stored.engine
	pieces := max(1, min(e.Pieces(), l.blocks))
	q, err := s.question(ctx, pieces)
	if err != nil {
		return err
	}
	replies, err := e.Ask(ctx, q, pieces)
	if err != nil {
		return err
	}
	ordered, err := accept(q, replies, l, pieces, width)
	if err != nil {
		return err
	}
	sum := make([]float64, width)
	for _, of := range ordered {
		for len(of) > 0 {
			for j := range sum {
				sum[j] = math.Float64frombits(binary.LittleEndian.Uint64(of[8*j:]))
			}
			merge(sum)
			of = of[8*width:]
		}
	}
	return nil
}

// A reply is the question's SHA-256, the piece and the number of its rows (uint64 each), and
// the sums of its blocks, as float64, all little-endian.
const replyHead = sha256.Size + 16

// accept puts replies in order, and refuses them unless each piece was answered once, for this
// question, with the sums of its blocks over all their rows: what is there twice would
// count twice.
func accept(q []byte, replies [][]byte, l layout, pieces, width int) ([][]byte, error) {
	refuse := func(what string, v any, rule string) ([][]byte, error) {
		return nil, check.Fail(check.ErrRowFile, "reply: "+what, v, rule)
	}
	of, ordered := sha256.Sum256(q), make([][]byte, pieces)
	if len(replies) != pieces {
		return refuse("replies", len(replies), fmt.Sprintf("must be one for each of the %d pieces", pieces))
	}
	for _, r := range replies {
		if len(r) < replyHead || !bytes.Equal(r[:sha256.Size], of[:]) {
			return refuse("question", nil, "must be the one that was asked")
		}
		piece, rows := binary.LittleEndian.Uint64(r[sha256.Size:]), binary.LittleEndian.Uint64(r[sha256.Size+8:])
		if piece >= uint64(pieces) || ordered[piece] != nil {
			return refuse("piece", piece, "must be one that was asked for, once")
		}
		first, last := l.piece(int(piece), pieces)
		if want := min(last*l.blockPersons, l.n) - first*l.blockPersons; rows != uint64(want) {
			return refuse(fmt.Sprintf("rows of piece %d", piece), rows, fmt.Sprintf("must be its %d", want))
		}
		if ordered[piece] = r[replyHead:]; len(ordered[piece]) != 8*width*(last-first) {
			return refuse(fmt.Sprintf("length of piece %d", piece), len(r), "must be that of its sums")
		}
	}
	return ordered, nil
}

// piece is the range of blocks of a piece.
func (l layout) piece(k, pieces int) (first, last int) {
	return k * l.blocks / pieces, (k + 1) * l.blocks / pieces
}

// remoteMoments is storedMoments where others read.
func (s *Sums) remoteMoments(ctx context.Context, total *kernel.Moments) error {
	return s.remotePass(ctx, s.t.momentsLayout(), len(total.Sum), func(sum []float64) {
		total.Add(&kernel.Moments{Dim: total.Dim, Stride: total.Stride, Sum: sum})
	})
}
