package mechanisms

import (
	crand "crypto/rand"
	mrand "math/rand/v2"

	// The user's other packages speak x/exp/rand, and its PCG is small and
	// serialises. It serves public, reproducible randomness only, and this is
	// the one file that imports it, because upstream froze it in favour of
	// math/rand/v2.
	"golang.org/x/exp/rand" //lint:ignore SA1019 frozen upstream; wanted for its stable, serialisable PCG
)

// Source is a stream of uniform 64-bit words. Every rand.Source of
// golang.org/x/exp/rand and of math/rand/v2 is one.
type Source interface {
	Uint64() uint64
}

// NewSecureSource returns a cryptographically secure source: ChaCha8 with a
// fresh 256-bit key from the operating system. It is not safe for concurrent
// use.
func NewSecureSource() Source {
	var key [32]byte
	crand.Read(key[:]) // never fails: the runtime aborts where the system has no randomness
	return mrand.NewChaCha8(key)
}

// NewSeededSource returns a reproducible source (PCG) for public randomness,
// tests and experiments. Noise drawn from it protects nobody who can guess the
// seed.
func NewSeededSource(seed uint64) Source {
	s := new(rand.PCGSource)
	s.Seed(seed)
	return s
}
