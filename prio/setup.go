package prio

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table/party"
)

// Setup is what all programs know and have the same of: public numbers.
type Setup struct {
	Rows []int `json:"rows"` // of each party, as dpglm.Parties has them
	Bits int   `json:"bits"` // as dpglm.Parties has them, not 0
	// Numbers is the most that a sum has, which limits what is sent: the weights for dpglm.NoisyGD, and for other learners what a
	// party.Plan says, second moments of d features and a constant being (d+1)(d+2)/2. From 1 to 2^20.
	Numbers int `json:"numbers"`
}

const (
	leastBits, mostBits = 24, 64
	mostNumbers         = 1 << 20
	// pieceBits are those of a piece of the integers that all know, and the least that an integer has.
	pieceBits = 16
	// headLen is how many integers of an answer come before its sum: one for the party, its rows, and
	// the message's mark. A checksum comes behind it.
	headLen, tailLen = 3, 1
	// boundRoom is for the rounding of rows·bound.
	boundRoom = 1e-12
	protocol  = "dpglm prio 1"
)

// check fails (dpglm.ErrConfig) for what no programs can have in common.
func (s Setup) check() error {
	switch {
	case len(s.Rows) < 1 || slices.Min(s.Rows) < 1:
		return fmt.Errorf("%w: rows must be those of a party or more, 1 or more each", dpglm.ErrConfig)
	case s.Bits < leastBits || s.Bits > mostBits:
		return fmt.Errorf("%w: Bits = %d must lie between %d and %d", dpglm.ErrConfig, s.Bits, leastBits, mostBits)
	case s.Numbers < 1 || s.Numbers > mostNumbers:
		return fmt.Errorf("%w: Numbers = %d must lie between 1 and %d", dpglm.ErrConfig, s.Numbers, mostNumbers)
	}
	return nil
}

// round is what the programs know of a round.
type round struct {
	Attempt [16]byte `json:"attempt"` // random: no other round of the message has it
	Message [32]byte `json:"message"` // its SHA-256
	Plan    bool     `json:"plan"`    // or a question
	Dim     int      `json:"dim"`
	Bound   float64  `json:"bound"`
}

// id names a round.
type id [sha256.Size]byte

// newRound makes one for a message.
func newRound(message []byte) (r round, err error) {
	of, err := party.Read(message)
	if err != nil {
		return r, err
	}
	r = round{Message: sha256.Sum256(message), Plan: of.Plan, Dim: of.Dim, Bound: of.Bound}
	rand.Read(r.Attempt[:]) // never fails
	return r, nil
}

// isOf reports whether a round is of a message.
func (r round) isOf(message []byte) bool {
	own, err := newRound(message)
	own.Attempt = r.Attempt
	return err == nil && own == r
}

// check fails for a round that isn't of the setup.
func (s Setup) admits(r round) error {
	switch {
	case r.Dim < 1 || r.Dim > s.Numbers:
		return fmt.Errorf("a sum of %d numbers must be of 1 to %d", r.Dim, s.Numbers)
	case r.Plan && r.Bound != 0 || !r.Plan && !(r.Bound > 0 && r.Bound <= math.Ldexp(1, mostBits)):
		return fmt.Errorf("the bound %g must be that of a question", r.Bound)
	}
	for k := range s.Rows {
		if b := s.width(k, r); b >= mostBits || b > s.Bits && b > pieceBits {
			return fmt.Errorf("the bound %g must leave party %d's sums %d bits", r.Bound, k+1, s.Bits)
		}
	}
	return nil
}

// id is the SHA-256 of setup and round.
func (s Setup) id(r round) id {
	text, err := json.Marshal([]any{protocol, s, r})
	if err != nil {
		panic(err) // no number is infinite, after admits
	}
	return sha256.Sum256(text)
}

// width is how many bits a party's integers have: the least of which one is beyond what its rows
// can add up to, with a sign.
func (s Setup) width(k int, r round) int {
	_, exp := math.Frexp(float64(s.Rows[k]) * r.Bound * (1 + boundRoom))
	return max(exp+1, pieceBits)
}

// pieces is how many pieces of 16 bits the integers before the sum have: the party's 1, its
// rows, its mark.
func (s Setup) pieces() int { return 1 + 2 + (s.Bits+pieceBits-1)/pieceBits }

// length is how many integers go through Prio.
func (s Setup) length(r round) int {
	if r.Plan {
		return s.pieces()
	}
	return s.pieces() + r.Dim
}

// sumvec is Prio for a party's report of a round. An instance is for one goroutine.
func (s Setup) sumvec(k int, r round) (*sumvec.SumVec, error) {
	of := s.id(r)
	length, bits := s.length(r), s.width(k, r)
	context := append([]byte(protocol+" "), of[:]...)
	return sumvec.New(2, uint(length), uint(bits), uint(chunk(length*bits)), fmt.Appendf(context, " party-%d", k+1))
}

// chunk is the chunk length by which a proof that so many numbers are 0 or 1 has the fewest
// elements: two for each number of a chunk, and two for each chunk, whose number goes up to the next
// power of two.
func chunk(bits int) int {
	best, fewest := bits, math.MaxInt
	for chunks := 2; ; chunks *= 2 {
		of := (bits + chunks - 2) / (chunks - 1)
		if elements := 2*of + 2*chunks - 1; elements < fewest {
			best, fewest = of, elements
		}
		if chunks > bits {
			return best
		}
	}
}

// measure makes an answer into what Prio adds up. It fails for integers that no such party has.
func (s Setup) measure(k int, r round, answer []uint64) ([]uint64, error) {
	if len(answer) != headLen+r.Dim+tailLen {
		return nil, fmt.Errorf("an answer has %d integers, and must have %d", len(answer), headLen+r.Dim+tailLen)
	}
	out := make([]uint64, 0, s.length(r))
	add := func(v uint64, pieces int) {
		for range pieces {
			out = append(out, v&(1<<pieceBits-1))
			v >>= pieceBits
		}
	}
	add(answer[0], 1)
	add(answer[1], 2)
	add(answer[2], s.pieces()-len(out))
	if r.Plan {
		return out, nil
	}
	half := int64(1) << (s.width(k, r) - 1)
	unused := mostBits - s.Bits
	for _, v := range answer[headLen : len(answer)-tailLen] {
		signed := int64(v<<unused) >> unused
		if signed < -half || signed >= half {
			return nil, fmt.Errorf("an integer is beyond what the party's rows add up to")
		}
		out = append(out, uint64(signed+half))
	}
	return out, nil
}
