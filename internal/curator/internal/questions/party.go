package questions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// partyProtocol names the form of what parties are told, asked and answer.
const partyProtocol = "dpglm parties 1"

// partyMessage is the plan of a fit or, once parties have agreed to it, one of its questions.
type partyMessage struct {
	Protocol string         `json:"protocol"`
	Plan     *partyPlan     `json:"plan,omitempty"`
	Question *partyQuestion `json:"question,omitempty"`
}

// partyPlan is all that a fit's questions have in common, and how many there are.
type partyPlan struct {
	Fit     string            `json:"fit"` // that no other fit has
	Bits    int               `json:"bits"`
	Parties []int             `json:"parties"` // the rows of each
	Rows    encoding.Encoding `json:"rows"`
	Loss    json.RawMessage   `json:"loss"`
	Labels  [2]float64        `json:"labels"`         // centre and bound
	Clip    *float64          `json:"clip,omitempty"` // none if it isn't there
	Radius  float64           `json:"radius"`         // of the ball that all weights lie in
	Steps   int               `json:"steps"`          // questions
	Mu      float64           `json:"mu"`             // all that they spend together

	// Of any sums, Steps of them at most: the most numbers that one has. Then there is no clip, and a radius of 0.
	Numbers int `json:"numbers,omitempty"`

	// Of a class against the rest: labels are classes, from 0 up to Classes − 1, and are 1 for
	// rows of Class and 0 for others. In a fit of any sums Class may be left out: questions say of which, or are about all. Neither is there where labels are taken as they are.
	Classes int  `json:"classes,omitempty"`
	Class   *int `json:"class,omitempty"`
}

// partyQuestion asks parties for the sum of their rows' gradients, or of what else their rows add, each of which becomes
// integers before it is added: its numbers, in steps, rounded towards zero. So a sum doesn't
// depend on who holds which rows, nor on the order in which they are added.
//
// An answer is 4 + Dim integers modulo 2^Bits: 1, for the party; the number of its rows; the
// message's mark; the sum; and the checksum of all these. Whoever adds answers up modulo
// 2^Bits adds these, too, by which the sum's receiver sees that as many answers to this question
// were added as there are parties, over as many rows, and that no integer was damaged. To a plan
// parties answer when they have checked their rows and labels, with a sum of 0.
type partyQuestion struct {
	Plan    string    `json:"plan"`   // the SHA-256 of its message
	Number  int       `json:"number"` // of the question, from 1
	Step    float64   `json:"step"`   // a power of two
	Bound   float64   `json:"bound"`
	Weights []float64 `json:"weights,omitempty"` // of a sum of gradients

	// In a fit of any sums: how many numbers one has, and what is asked, as package encoding/gob has it.
	Numbers int    `json:"numbers,omitempty"`
	Asked   []byte `json:"asked,omitempty"`
}

// answerHead is how many integers come before the sum, and answerTail how many behind.
const answerHead, answerTail = 3, 1

// mask keeps an integer's last bits.
func mask(bits int) uint64 { return math.MaxUint64 >> (64 - bits) }

// mark is a number that a message has, of the last bits of its SHA-256.
func mark(message []byte, bits int) uint64 {
	sum := sha256.Sum256(message)
	return binary.LittleEndian.Uint64(sum[:]) & mask(bits)
}

// checksum is a sum of integers, each times an odd number that the message gives it. So that of
// a sum of answers is the sum of their checksums, and any change of one integer changes it.
func checksum(message []byte, integers []uint64, bits int) (sum uint64) {
	numbered := append(slices.Clone(message), make([]byte, 8)...)
	for j, v := range integers {
		binary.LittleEndian.PutUint64(numbered[len(message):], uint64(j))
		of := sha256.Sum256(numbered)
		sum += v * (binary.LittleEndian.Uint64(of[:]) | 1)
	}
	return sum & mask(bits)
}

// Party is a party's file of rows.
type Party struct {
	file   *rowfile.File
	agree  func(Terms) error
	keep   Keeper // nil for none
	tables rows.Cache[*rows.Table]
	frames rows.Cache[[]float64]

	lock sync.Mutex         // not held while rows are read
	fits map[string]*agreed // by their plans' SHA-256
}

// OpenParty opens it, without reading rows. What isn't agreed to is refused. Where there is a keeper,
// fits go on after a restart.
func OpenParty(path string, agree func(Terms) error, keep Keeper) (*Party, error) {
	f, err := rowfile.Open(path)
	if err != nil {
		return nil, err
	}
	if len(f.Beside) > 0 {
		f.Close()
		return nil, check.Fail(check.ErrConfig, "rows of "+path, nil, "must have no persons, weights or offsets, as parties are asked for sums over single rows")
	}
	if f.AtMost > 0 {
		f.Close()
		return nil, check.Fail(check.ErrConfig, "rows of "+path, nil, "must not be secret in their number, as whoever asks parties states how many each has: write them without AddRemove")
	}
	return &Party{file: f, agree: agree, keep: keep, fits: map[string]*agreed{}}, nil
}

// Close closes the file.
func (p *Party) Close() error { return p.file.Close() }

// Format prints the shape, whatever the verb.
func (p *Party) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "rows.Party of %d rows", p.file.Rows)
}

// readMessage takes a message apart, which is a plan or a question.
func readMessage(message []byte) (of partyMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(message))
	d.DisallowUnknownFields()
	err = d.Decode(&of)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: message: %w", check.ErrConfig, err)
	case of.Protocol != partyProtocol:
		err = check.Fail(check.ErrConfig, "protocol", fmt.Sprintf("%q", of.Protocol), fmt.Sprintf("must be %q", partyProtocol))
	case (of.Plan == nil) == (of.Question == nil):
		err = check.Fail(check.ErrConfig, "message", nil, "must be a plan or a question")
	}
	return of, err
}

// Asked is what whoever adds answers up must know of a message.
type Asked struct {
	Plan  bool
	Dim   int     // numbers of a sum
	Bound float64 // on what a row adds to each, in steps; 0 for a plan
}

// ReadMessage tells what a message of a driver asks for.
func ReadMessage(message []byte) (Asked, error) {
	of, err := readMessage(message)
	switch {
	case err != nil:
		return Asked{}, err
	case of.Question != nil:
		return Asked{Dim: of.Question.dim(), Bound: of.Question.Bound}, nil
	}
	if err := of.Plan.Rows.Check(); err != nil {
		return Asked{}, err
	}
	return Asked{Plan: true, Dim: of.Plan.dim()}, nil
}

// dim is how many numbers a sum has at most: the weights, where it is of gradients.
func (q *partyPlan) dim() int {
	if q.Numbers > 0 {
		return q.Numbers
	}
	return q.Rows.Dim()
}

// dim is how many numbers the sum has.
func (q *partyQuestion) dim() int {
	if q.Asked != nil {
		return q.Numbers
	}
	return len(q.Weights)
}

// SetChecksum sets an answer's last integer to the checksum of the others.
func SetChecksum(message []byte, answer []uint64, bits int) {
	last := len(answer) - answerTail
	answer[last] = checksum(message, answer[:last], bits)
}

// Answer answers a message of a driver with Parties, and the last one of a fit once more in the
// same way: who asks may not have got the answer. Once it has refused one, it goes on with
// no fit.
func (p *Party) Answer(ctx context.Context, message []byte) ([]uint64, error) {
	of, err := readMessage(message)
	if err != nil {
		return nil, p.refuse(ctx, err)
	}
	var fit *agreed
	if of.Plan != nil {
		fit, err = p.begin(ctx, message, of.Plan)
	} else {
		fit, err = p.admit(ctx, message, of.Question)
	}
	if err != nil {
		return nil, err
	}
	dim := fit.plan.dim()
	if of.Question != nil {
		dim = of.Question.dim()
	}
	answer := make([]uint64, answerHead+dim+answerTail)
	answer[0], answer[1], answer[2] = 1, uint64(fit.sums.Len()), mark(message, fit.plan.Bits)
	last := len(answer) - answerTail
	if of.Question != nil {
		ask := fit.gradient
		if fit.plan.Numbers > 0 {
			ask = func(ctx context.Context, q *partyQuestion, dst []uint64) error { return p.sum(ctx, fit, q, dst) }
		}
		if err := ask(ctx, of.Question, answer[answerHead:last]); err != nil {
			return nil, err
		}
	}
	SetChecksum(message, answer, fit.plan.Bits)
	for j := range answer {
		answer[j] &= mask(fit.plan.Bits)
	}
	return answer, nil
}

// gradient sets dst to the sum of the rows' gradients, each in whole steps.
func (f *agreed) gradient(ctx context.Context, q *partyQuestion, dst []uint64) error {
	s := f.sums
	t := s.t
	var folded encoding.Folded
	t.Enc.Fold(q.Weights, &folded)
	return addIntegers(ctx, t, dst, func(a *integers, p *rows.Part) error {
		s := s.part(p)
		for lo := 0; lo < len(s.t.Length); lo += t.Layout.TileRows {
			tile := s.t.Src.Tile(lo, min(lo+t.Layout.TileRows, len(s.t.Length)), a.Buf)
			z := a.Z[:tile.Rows]
			s.t.Score(z, tile, lo, &folded)
			s.slopes(z, lo)
			if !math.IsInf(f.clip, 1) {
				kernel.Clip(z, s.t.Norm[lo:lo+len(z)], f.clip)
			}
			a.Row = rows.Room(a.Row, len(dst))
			for k, c := range z {
				s.t.Encode(a.Row, tile, lo, k)
				a.take(a.Row, c, q)
			}
		}
		return nil
	})
}
