package mechanisms

import (
	"encoding"
	"testing"
)

// keyOf decodes the key of a new ChaCha8 source: "chacha8:", a counter of eight bytes,
// the key.
func keyOf(t *testing.T, src Source) [32]byte {
	t.Helper()
	m, ok := src.(encoding.BinaryMarshaler)
	if !ok {
		t.Fatalf("%T doesn't marshal", src)
	}
	data, err := m.MarshalBinary()
	if err != nil || len(data) != 48 || string(data[:8]) != "chacha8:" {
		t.Fatalf("%q, %v", data, err)
	}
	return [32]byte(data[16:])
}

// All 256 bits of the key are random: over 64 sources each takes both values, and no
// two sources have a key in common. For a true generator a bit fails with probability
// 2^-63, so this does with α < 2^-54.
func TestSecureSourceHasAFullKey(t *testing.T) {
	var ones, zeros [32]byte
	keys := map[[32]byte]bool{}
	for range 64 {
		key := keyOf(t, NewSecureSource())
		if keys[key] {
			t.Fatalf("a key came twice")
		}
		keys[key] = true
		for i, b := range key {
			ones[i] |= b
			zeros[i] |= ^b
		}
	}
	for i := range ones {
		if ones[i] != 0xff || zeros[i] != 0xff {
			t.Errorf("byte %d of the key has fixed bits: %08b, %08b", i, ones[i], zeros[i])
		}
	}
}

// The seeded stream is frozen: reproducible results depend on it.
func TestSeededSourceIsFrozen(t *testing.T) {
	src := NewSeededSource(1)
	got := [3]uint64{src.Uint64(), src.Uint64(), src.Uint64()}
	want := [3]uint64{0x34e936394905d167, 0x817c0ef62fe4c731, 0x937987e6e24f5a40}
	if got != want {
		t.Errorf("got %#x", got)
	}
}
