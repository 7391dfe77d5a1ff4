package questions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/internal/vector"
)

// Aggregator has all parties answer a question, by Party.Answer, and adds up their answers,
// integer by integer, modulo 2^Bits. What it returns is for the curator's eyes only.
type Aggregator interface {
	Sum(ctx context.Context, question []byte) ([]uint64, error)
}

// Parties are those that hold the rows of a table, each some.
type Parties struct {
	Aggregator
	Rows []int // of each, which is public
	Bits int
}

const (
	leastBits = 24
	// stepBits are how many bits a row's integers have at least: sums of n rows have so many more
	// than the logarithm of n, and a sign.
	stepBits = 10
	// idleBits are the sign, and one more: see read.
	idleBits = 2
)

// NewParties is the table of rows of which parties answer with sums.
func NewParties(p Parties, enc encoding.Encoding) (*rows.Table, error) {
	n, err := p.total()
	if err != nil {
		return nil, err
	}
	p.Rows = slices.Clone(p.Rows)
	t := &rows.Table{Enc: enc, Workspaces: new(sync.Pool), Layout: blocks.NewLayout(n, enc.Columns, false, nil)}
	t.Place = &rows.Place{Class: -1, Labels: rows.AnyLabels(), Remote: &parted{p: &p, n: n}}
	return t, nil
}

// parted are rows that parties hold.
type parted struct {
	p      *Parties
	n      int
	agreed *agreement
	steps  []rows.Step // that bound the parties' rows further
	others bool        // whether the rows are some of theirs, or made of them otherwise, of which no party knows
}

func (r *parted) Rows() int                     { return r.n }
func (*parted) Several() bool                   { return true }
func (*parted) Close() error                    { return nil }
func (*parted) Tells(int, *blocks.Persons) bool { return false }

func (r *parted) Of(n int, _ *blocks.Persons) rows.Elsewhere {
	return &parted{p: r.p, n: n, others: true}
}

func (r *parted) After(next rows.Step) rows.Elsewhere {
	of := *r
	of.steps = append(slices.Clone(r.steps), next)
	of.others = of.others || next.Map != nil || next.ByRows > 0
	return &of
}

func (*parted) Copy(context.Context, *rowfile.File, []int) (*rowfile.File, func(), error) {
	return nil, nil, errParties
}

// total is how many rows all parties have.
func (p *Parties) total() (n int, err error) {
	for k, rows := range p.Rows {
		if rows < 1 || rows > math.MaxInt32-n {
			return 0, check.Fail(check.ErrShape, fmt.Sprintf("rows of party %d (counted from 1)", k+1), rows, fmt.Sprintf("must be 1 or more, and all of them %d at most", math.MaxInt32))
		}
		n += rows
	}
	switch {
	case len(p.Rows) < 1:
		return 0, check.Fail(check.ErrShape, "parties", 0, "must be at least one")
	case p.Bits < leastBits || p.Bits > 64:
		return 0, check.Fail(check.ErrConfig, "Bits", p.Bits, fmt.Sprintf("must lie between %d and 64", leastBits))
	case float64(n) > math.Ldexp(1, p.Bits-idleBits-stepBits):
		return 0, check.Fail(check.ErrConfig, "Bits", p.Bits, fmt.Sprintf("must be more, for sums of %d rows", n))
	}
	return n, nil
}

// partiesOf are those that hold the rows, nil where these lie otherwise.
func partiesOf(t *rows.Table) *Parties {
	if !t.Place.Parties() {
		return nil
	}
	return t.Place.Remote.(*parted).p
}

// errParties is the error of what parties aren't asked.
var errParties = check.Fail(check.ErrConfig, "rows", nil, "must lie with one party for what is asked of them: several answer with sums over all their rows")

// step is the least power of two, of which so many make the longest gradient, in each of n rows,
// that a sum fits Bits − 1 bits with its sign: see read.
func (p *Parties) step(n int, normBound float64) float64 {
	_, exp := math.Frexp(normBound * float64(n) / math.Ldexp(1, p.Bits-idleBits))
	return math.Ldexp(1, exp)
}

// rounding bounds by how much rounding to steps, where parties hold the rows, can bring two
// gradients further apart: each coordinate by less than one, as rounding towards zero doesn't
// change the order of numbers, nor moves one by a step. In the ball of a clip they stay, as
// they get no longer. A sum of up to 2^(Bits−2) steps, whoever added what, is rounded once more
// when it becomes a float64, by a 2^-53 of that at most, in either of two tables.
func (at *parted) rounding(s SumBounds, r, clip float64) float64 {
	return at.p.apart(s.enc.Dim(), at.p.step(s.layout.N, s.normBound(r, clip)))
}

// roundingOf is rounding of a sum in steps for vectors that may be so long.
func (at *parted) roundingOf(dim int, row float64) float64 {
	return at.p.apart(dim, at.p.step(at.n, row))
}

// apart is rounding for vectors of so many coordinates.
func (p *Parties) apart(dim int, step float64) float64 {
	most := 1 + math.Ldexp(1, p.Bits-idleBits-52)
	return math.Sqrt(float64(dim)) * step * most * (1 + 1e-12)
}

// Descent is what parties are told of a fit before its first question.
type Descent struct {
	Steps        int
	Clip, Radius float64
	Mu           float64 // that all questions spend together
	Classes      int     // of labels, of which one class stands against the rest, if one does; 0 for none
	// Numbers, where it isn't 0, has parties answer with any sums of what a row adds, Steps of them at most, of so many
	// numbers at most. Clip and Radius say nothing then.
	Numbers int
}

// agreement is a fit that parties have agreed to.
type agreement struct {
	plan string
	clip float64
	sums bool
	lock sync.Mutex
	next int // number of the question
}

// maxClasses is how many classes labels may have, of which parties take one against the rest.
const maxClasses = 1000

// ofClass tells of which class against the rest a fit is, if of any.
func (q *partyPlan) ofClass(of Descent, class int) error {
	if q.Classes = of.Classes; class >= 0 {
		q.Class = &class
	}
	return q.checkClass()
}

// Agree tells all parties that hold the rows the plan of a fit, who check their rows, with their
// labels, and count them: what is wrong with one is told before anything is released. It returns
// the rows for this fit. Other rows are checked when they are opened, and are returned as they
// are. Where a class of the labels stands against the rest, parties check that all of these are
// classes, and are told the class.
func Agree(ctx context.Context, s *Sums, of Descent) (*rows.Table, error) {
	p, at := partiesOf(s.t), s.t.Place
	if p == nil {
		return s.t, nil
	}
	loss, err := encodeLoss(s.loss)
	if err != nil {
		return nil, err
	}
	var unique [16]byte
	rand.Read(unique[:]) // never fails; a name, not noise
	plan := partyPlan{Fit: hex.EncodeToString(unique[:]), Bits: p.Bits, Parties: p.Rows, Rows: s.t.Enc, Loss: loss,
		Labels: [2]float64{s.labelCentre, s.labelBound}, Radius: of.Radius, Steps: of.Steps, Mu: of.Mu, Numbers: of.Numbers}
	if of.Numbers == 0 && !math.IsInf(of.Clip, 1) {
		plan.Clip = &of.Clip
	}
	if err := plan.ofClass(of, at.Class); err != nil {
		return nil, err
	}
	message, err := p.ask(ctx, make([]float64, plan.dim()), partyMessage{Plan: &plan})
	if err != nil {
		return nil, err
	}
	t, r := *s.t, *at.Remote.(*parted)
	r.agreed = &agreement{plan: planOf(message), clip: of.Clip, sums: of.Numbers > 0, next: 1}
	t.Place = &rows.Place{Class: at.Class, Labels: at.Labels, Remote: &r}
	return &t, nil
}

// combine is Gradient's sum over all rows, as parties have them and have agreed to.
func (at *parted) combine(ctx context.Context, dst []float64, s *Sums, of combination) error {
	p := at.p
	q, ok := of.(*gradient)
	fit := at.agreed
	if !ok || !s.t.Place.AsHeld() || s.t.Persons != nil || fit == nil || fit.sums || q.Clip != fit.clip {
		return errParties
	}
	fit.lock.Lock()
	defer fit.lock.Unlock()
	normBound := s.Bounds().normBound(vector.Norm(q.W), q.Clip)
	question := partyQuestion{Plan: fit.plan, Number: fit.next, Step: p.step(s.Len(), normBound), Weights: q.W}
	question.Bound = normBound / question.Step
	fit.next++
	_, err := p.ask(ctx, dst, partyMessage{Question: &question})
	return err
}

// ask sends a message and sets dst to the sum of the answers, in its steps.
func (p *Parties) ask(ctx context.Context, dst []float64, m partyMessage) ([]byte, error) {
	m.Protocol = partyProtocol
	message, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("%w: message to parties: %w", check.ErrConfig, err)
	}
	sum, err := p.Sum(ctx, message)
	if err != nil {
		return nil, err
	}
	var step, bound float64
	if q := m.Question; q != nil {
		step, bound = q.Step, q.Bound
	}
	return message, p.read(dst, sum, step, bound, message)
}

// read turns a sum of all parties' answers into numbers, and refuses it unless as many have answered
// this question as there are, over as many rows.
//
// Rows alone fill half of the modulus at most. A sum beyond what they can come to is of a party that lies, and is folded back,
// down to 0 at the modulus's other end, instead of refused or taken as it is: around the ring of
// integers numbers then move by no more than the sum does, so that another party's row has
// the sensitivity it should, whatever is added to it, and no error depends on it. Counts stay so small that a float64 has them
// all.
func (p *Parties) read(dst []float64, sum []uint64, step, bound float64, message []byte) error {
	n := 0
	for _, rows := range p.Rows {
		n += rows
	}
	if all := answerHead + len(dst) + answerTail; len(sum) != all {
		return refused("integers", fmt.Sprintf("must be %d", all))
	}
	for _, v := range sum {
		if v > mask(p.Bits) {
			return refused("modulus", fmt.Sprintf("must be 2^%d", p.Bits))
		}
	}
	switch parties := uint64(len(p.Rows)); {
	case sum[0] != parties:
		return refused("parties", fmt.Sprintf("must be %d, whose masks add up to 0", parties))
	case sum[1] != uint64(n):
		return refused("rows", fmt.Sprintf("must be the parties' %d", n))
	case sum[2] != (parties*mark(message, p.Bits))&mask(p.Bits):
		return refused("question", "must be the one that was asked, of all parties")
	}
	last := len(sum) - answerTail
	if sum[last] != checksum(message, sum[:last], p.Bits) {
		return refused("checksum", "must be that of its integers: the sum or an answer was damaged")
	}
	most := p.most(n, bound)
	for j, v := range sum[answerHead:last] {
		dst[j] = float64(fold(int64(v<<(64-p.Bits))>>(64-p.Bits), most, p.Bits)) * step
	}
	return nil
}

// most is a power of two that no number of a sum of n rows exceeds, a fourth of the modulus at most.
func (p *Parties) most(n int, bound float64) uint64 {
	_, exp := math.Frexp(float64(n) * bound)
	return 1 << min(max(exp, 0), p.Bits-idleBits)
}

// fold is v, an integer modulo 2^bits from −2^(bits−1) on, within ±most. From there it goes on as most, and down to 0
// at the modulus's half.
func fold(v int64, most uint64, bits int) int64 {
	size := uint64(v)
	if v < 0 {
		size = -size
	}
	within := int64(min(size, most, uint64(1)<<(bits-1)-size))
	if v < 0 {
		return -within
	}
	return within
}
