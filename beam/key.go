package beam

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"io"
)

// key seals what a pass writes, by AES-256 in Galois/counter mode with a random nonce before each text. A pass has one of its own, and some hundreds of texts.
type key []byte

const keySize = 32

func newKey() key {
	k := make(key, keySize)
	rand.Read(k) // never fails; a key, not noise
	return k
}

func (k key) cipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (k key) seal(text []byte) ([]byte, error) {
	c, err := k.cipher()
	if err != nil {
		return nil, err
	}
	return c.Seal(nil, nil, text, nil), nil
}

// open is the text that was sealed.
func (k key) open(sealed []byte) ([]byte, error) {
	c, err := k.cipher()
	if err != nil {
		return nil, err
	}
	text, err := c.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, errSealed
	}
	return text, nil
}

// opened calls do with what r has sealed.
func (k key) opened(r io.Reader, do func(io.Reader) error) error {
	sealed, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	text, err := k.open(sealed)
	if err != nil {
		return err
	}
	return do(bytes.NewReader(text))
}

var errSealed = errors.New("what was written isn't whole, or isn't of this pass")
