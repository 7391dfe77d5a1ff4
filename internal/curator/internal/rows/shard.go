package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/losses"
)

// shardProtocol names the form of questions and answers.
const shardProtocol = "dpglm shard 1"

// shardQuestion asks parties for the sum of their rows' gradients, each of which becomes
// integers before it is added: its coordinates, in steps, rounded towards zero. So a sum doesn't
// depend on who holds which rows, nor on the order in which they are added.
//
// An answer is 3 + Dim integers modulo 2^Bits: 1, for the party; the number of its rows; the
// question's mark; and the sum. Whoever adds answers up modulo 2^Bits adds these, too, by which
// the sum's receiver sees that as many answers to this question were added as there are parties,
// over as many rows. With Intake parties check their rows and labels, and the sum is 0.
type shardQuestion struct {
	Protocol string          `json:"protocol"`
	Bits     int             `json:"bits"`
	Step     float64         `json:"step"` // a power of two
	Bound    float64         `json:"bound"`
	Rows     sentEncoding    `json:"rows"`
	Loss     json.RawMessage `json:"loss"`
	Labels   [2]float64      `json:"labels"` // centre and bound
	Weights  []float64       `json:"weights"`
	Clip     *float64        `json:"clip,omitempty"` // none if it isn't there
	Intake   bool            `json:"intake,omitempty"`
}

// shardHead is how many integers come before the sum.
const shardHead = 3

// mask keeps an integer's last bits.
func mask(bits int) uint64 { return math.MaxUint64 >> (64 - bits) }

// mark is a number that a question has, of the last bits of its SHA-256.
func mark(question []byte, bits int) uint64 {
	sum := sha256.Sum256(question)
	return binary.LittleEndian.Uint64(sum[:]) & mask(bits)
}

// Shard is a party's file of rows.
type Shard struct {
	file   *rowfile.File
	tables cache[*Table]
}

// OpenShard opens it, without reading rows.
func OpenShard(path string) (*Shard, error) {
	f, err := rowfile.Open(path)
	if err != nil {
		return nil, err
	}
	if len(f.Beside) > 0 {
		f.Close()
		return nil, check.Fail(check.ErrConfig, "rows of "+path, nil, "must have no persons, weights or offsets, as parties are asked for sums over single rows")
	}
	return &Shard{file: f}, nil
}

// Close closes the file.
func (p *Shard) Close() error { return p.file.Close() }

// Format prints the shape, whatever the verb.
func (p *Shard) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "rows.Shard of %d rows", p.file.Rows)
}

// decode reads a question and refuses what no driver asks.
func (q *shardQuestion) decode(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		return fmt.Errorf("%w: question: %w", check.ErrConfig, err)
	}
	frac, _ := math.Frexp(q.Step)
	switch {
	case q.Protocol != shardProtocol:
		return check.Fail(check.ErrConfig, "protocol", fmt.Sprintf("%q", q.Protocol), fmt.Sprintf("must be %q", shardProtocol))
	case q.Bits < leastBits || q.Bits > 64:
		return check.Fail(check.ErrConfig, "bits", q.Bits, fmt.Sprintf("must lie between %d and 64", leastBits))
	case frac != 0.5:
		return check.Fail(check.ErrConfig, "step", q.Step, "must be a power of two")
	case !(q.Bound >= 1 && q.Bound < math.Ldexp(1, q.Bits-1)):
		return check.Fail(check.ErrConfig, "bound", q.Bound, "must be at least 1 and fit the integers")
	}
	if err := q.Rows.check(); err != nil {
		return err
	}
	if enc := q.Rows.received(); len(q.Weights) != enc.Dim() {
		return check.Fail(check.ErrConfig, "weights", len(q.Weights), fmt.Sprintf("must be the %d of the rows", enc.Dim()))
	}
	return nil
}

// check refuses an encoding that no caller could have described.
func (s *sentEncoding) check() error {
	frac, _ := math.Frexp(s.Constant)
	ok := s.Columns > 0 && s.Bound > 0 && s.Bound <= check.MaxScale && s.Magnitude >= s.Bound &&
		(s.Intercept && frac == 0.5 || !s.Intercept && s.Constant == 0)
	for _, of := range [][]float64{s.Scale, s.Shift, s.Min, s.Max} {
		ok = ok && len(of) == len(s.Scale) && (of == nil || len(of) == s.Columns)
	}
	columns := slices.Clone(s.Ranged)
	for _, g := range s.Groups {
		ok = ok && len(g.Names) == len(g.Columns)
		columns = append(columns, g.Columns...)
	}
	for _, j := range columns {
		ok = ok && j >= 0 && j < s.Columns
	}
	if ok = ok && (len(s.Names) == 0 || len(s.Names) == s.Columns); !ok {
		return check.Fail(check.ErrConfig, "rows", fmt.Sprintf("%d columns", s.Columns), "must be described by numbers for each column, and finite positive bounds")
	}
	return nil
}

// Answer answers a question of a driver with Parties.
func (p *Shard) Answer(ctx context.Context, question []byte) ([]uint64, error) {
	var q shardQuestion
	if err := q.decode(question); err != nil {
		return nil, err
	}
	key, err := json.Marshal(q.Rows)
	if err != nil {
		return nil, fmt.Errorf("%w: question: %w", check.ErrConfig, err)
	}
	t, err := p.tables.get(ctx, string(key), 4, func() (*Table, error) { return NewStored(ctx, p.file, q.Rows.received()) })
	if err != nil {
		return nil, err
	}
	loss, err := decodeLoss(q.Loss)
	if err != nil {
		return nil, err
	}
	if err := losses.Validate(loss, 0, q.Labels[1]); err != nil {
		return nil, err
	}
	s, err := NewSums(t, nil, q.Labels[0], q.Labels[1], loss)
	if err != nil {
		return nil, err
	}
	answer := make([]uint64, shardHead+s.Dim())
	answer[0], answer[1], answer[2] = 1, uint64(s.Len()), mark(question, q.Bits)
	if !q.Intake { // for which rows and labels are checked now
		if err := s.integers(ctx, answer[shardHead:], &q); err != nil {
			return nil, err
		}
	}
	for j := range answer {
		answer[j] &= mask(q.Bits)
	}
	return answer, nil
}

// integers sets dst to the sum of the rows' gradients, each in whole steps.
func (s *Sums) integers(ctx context.Context, dst []uint64, q *shardQuestion) error {
	clip := math.Inf(1)
	if q.Clip != nil {
		clip = *q.Clip
	}
	type adding struct {
		*workspace
		sum []uint64
	}
	t := s.t
	var f folded
	t.enc.fold(q.Weights, &f)
	return inParts(ctx, s, t.layout, 0,
		func() *adding { return &adding{t.acquire(), make([]uint64, len(dst))} },
		func(a *adding) { t.release(a.workspace) },
		func(a *adding) { clear(a.sum) },
		func(a *adding, s *Sums) {
			for lo := 0; lo < len(s.t.length); lo += t.layout.tileRows {
				rows := s.t.src.tile(lo, min(lo+t.layout.tileRows, len(s.t.length)), a.buf)
				z := a.z[:rows.rows]
				s.t.score(z, rows, lo, &f)
				s.slopes(z, lo)
				if q.Clip != nil {
					kernel.Clip(z, s.t.norm[lo:lo+len(z)], clip)
				}
				a.row = room(a.row, len(dst))
				for k, c := range z {
					s.t.encode(a.row, rows, lo, k)
					addSteps(a.sum, a.row, c, q)
				}
			}
		},
		func(a *adding) {
			for j, v := range a.sum {
				dst[j] += v
			}
		})
}

// addSteps adds c·row in whole steps: each coordinate is rounded towards zero, so that integers
// are no longer than the gradient. One that is longer than the bound, which a driver with the
// rows' constants never sees, is left out.
func addSteps(sum []uint64, row []float64, c float64, q *shardQuestion) {
	var square float64
	for j, v := range row {
		row[j] = math.Trunc(float64(c*v) / q.Step)
		square += float64(row[j] * row[j])
	}
	if !(math.Sqrt(square) <= q.Bound) {
		return
	}
	for j, v := range row {
		sum[j] += uint64(int64(v))
	}
}
