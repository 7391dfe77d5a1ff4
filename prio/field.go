package prio

import (
	"encoding/binary"
	"errors"
	"math/big"
	"slices"

	"github.com/cloudflare/circl/vdaf/prio3/arith/fp128"

	"github.com/dpglm/dpglm/table/party"
)

// order is that of the field.
var order = func() *big.Int {
	var zero, one fp128.Fp
	one.SetOne()
	zero.SubAssign(&one) // the largest element
	return new(big.Int).Add(integer(zero), big.NewInt(1))
}()

// integer is an element as an integer, from 0.
func integer(e fp128.Fp) *big.Int {
	b, err := e.MarshalBinary()
	if err != nil {
		panic(err) // it needs 16 bytes of memory
	}
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// vector reads a vector of so many elements.
func vector(b []byte, length int) (fp128.Vec, error) {
	v := make(fp128.Vec, length)
	if len(b) != int(v.Size()) {
		return nil, errors.New("a share has another length")
	}
	return v, v.UnmarshalBinary(b)
}

// answer is the sum of all parties' answers to a message, of the aggregators' sums of shares: of
// leader and helper. It fails unless the integers that everybody knows say that each party is in it
// once; no failure depends on others.
func (s Setup) answer(message []byte, r round, shares [2][]byte) ([]uint64, error) {
	var of [2]fp128.Vec
	for k, b := range shares {
		var err error
		if of[k], err = vector(b, s.length(r)); err != nil {
			return nil, err
		}
	}
	sum := of[0]
	sum.AddAssign(of[1])
	answer := make([]uint64, headLen+r.Dim+tailLen)
	at := 0
	for k, pieces := range []int{1, 2, s.pieces() - 1 - 2} {
		for p := range pieces {
			v, err := sum[at].GetUint64()
			if err != nil {
				return nil, errors.New("the sum isn't of one report of each party")
			}
			answer[k] += v << (pieceBits * p)
			at++
		}
		answer[k] = s.modulo(answer[k])
	}
	if !r.Plan {
		zero := new(big.Int)
		for k := range s.Rows {
			zero.Add(zero, new(big.Int).Lsh(big.NewInt(1), uint(s.width(k, r)-1)))
		}
		for j, e := range sum[at:] {
			v := integer(e)
			answer[headLen+j] = s.modulo(s.fold(v.Sub(v, zero)))
		}
	}
	return answer, party.SetChecksum(message, answer, s.Bits)
}

// modulo is v modulo 2^Bits.
func (s Setup) modulo(v uint64) uint64 {
	unused := mostBits - s.Bits
	return v << unused >> unused
}

// fold is the number that an element, as an integer that may be shifted, stands for: itself within
// ±2^(Bits−2), which honest sums don't leave. From there it goes on as 2^(Bits−2), and down to 0 at
// half the field: two elements that are one apart around the ring are one apart at most. The result is
// modulo 2^64.
func (s Setup) fold(v *big.Int) uint64 {
	v.Mod(v, order)
	negative := false
	if rest := new(big.Int).Sub(order, v); rest.Cmp(v) < 0 {
		v, negative = rest, true
	}
	top := new(big.Int).Lsh(big.NewInt(1), uint(s.Bits-2))
	half := new(big.Int).Rsh(order, 1)
	for _, bound := range []*big.Int{top, half.Sub(half, v)} {
		if v.Cmp(bound) > 0 {
			v = new(big.Int).Set(bound)
		}
	}
	var b [16]byte
	v.FillBytes(b[:])
	out := binary.BigEndian.Uint64(b[8:])
	if negative {
		return -out
	}
	return out
}
