package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"gonum.org/v1/gonum/mat"
)

// Tags of MATLAB's level 5 files: of numbers, of arrays, and of what is compressed.
const (
	tagInt8, tagUint8, tagInt16, tagUint16, tagInt32, tagUint32 = 1, 2, 3, 4, 5, 6
	tagSingle, tagDouble, tagMatrix, tagCompressed              = 7, 9, 14, 15
)

// Sizes in such a file, in bytes.
const (
	headerBytes = 128
	tagBytes    = 8
	smallBytes  = 4 // data that fit into a tag
)

// numbers are how a tag's values are laid out.
var numbers = map[uint32]struct {
	bytes int
	read  func([]byte) float64
}{
	tagInt8:   {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	tagUint8:  {1, func(b []byte) float64 { return float64(b[0]) }},
	tagInt16:  {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	tagUint16: {2, func(b []byte) float64 { return float64(binary.LittleEndian.Uint16(b)) }},
	tagInt32:  {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	tagUint32: {4, func(b []byte) float64 { return float64(binary.LittleEndian.Uint32(b)) }},
	tagSingle: {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	tagDouble: {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
}

// array is a numeric array of a MATLAB file, the first index moving fastest.
type array struct {
	dims   []int
	values []float64
}

// at is the value at indices from 0.
func (a array) at(index ...int) float64 {
	place, step := 0, 1
	for i, n := range a.dims {
		place += index[i] * step
		step *= n
	}
	return a.values[place]
}

// matrix is an array of two dimensions.
func (a array) matrix() (*mat.Dense, error) {
	if len(a.dims) != 2 {
		return nil, fmt.Errorf("an array of %d dimensions is not a matrix", len(a.dims))
	}
	m := mat.NewDense(a.dims[0], a.dims[1], nil)
	m.Apply(func(i, j int, _ float64) float64 { return a.at(i, j) }, m)
	return m, nil
}

var errMAT = errors.New("not a file of MATLAB's level 5 format, little-endian")

// readMAT reads the real numeric arrays of a file of MATLAB's level 5 format, by name; others are passed over. The format is
// that of The MathWorks' document MAT-File Format.
func readMAT(path string) (map[string]array, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(text) < headerBytes || string(text[headerBytes-2:headerBytes]) != "IM" {
		return nil, fmt.Errorf("%s: %w", path, errMAT)
	}
	all := map[string]array{}
	for rest := text[headerBytes:]; len(rest) > 0; {
		var e element
		if e, rest, err = next(rest); err == nil && e.tag == tagCompressed {
			e, err = inflate(e.data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if name, a, err := arrayOf(e); err == nil {
			all[name] = a
		}
	}
	return all, nil
}

type element struct {
	tag  uint32
	data []byte
}

// next takes an element off the front of text; what is not compressed is padded to whole tags.
func next(text []byte) (element, []byte, error) {
	if len(text) < tagBytes {
		return element{}, nil, errMAT
	}
	tag, size := binary.LittleEndian.Uint32(text), int(binary.LittleEndian.Uint32(text[smallBytes:]))
	if small := int(tag >> 16); small > 0 {
		if small > smallBytes {
			return element{}, nil, errMAT
		}
		return element{tag & 0xffff, text[smallBytes : smallBytes+small]}, text[tagBytes:], nil
	}
	text = text[tagBytes:]
	if size > len(text) {
		return element{}, nil, errMAT
	}
	whole := size
	if tag != tagCompressed {
		whole = min(len(text), (size+tagBytes-1)/tagBytes*tagBytes)
	}
	return element{tag, text[:size]}, text[whole:], nil
}

func inflate(data []byte) (element, error) {
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return element{}, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return element{}, err
	}
	e, _, err := next(text)
	return e, err
}

// arrayOf reads flags, dimensions, name and values.
func arrayOf(e element) (name string, a array, err error) {
	if e.tag != tagMatrix {
		return "", array{}, errMAT
	}
	var parts [4]element
	rest := e.data
	for i := range parts {
		if parts[i], rest, err = next(rest); err != nil {
			return "", array{}, err
		}
	}
	dims, err := parts[1].numbers()
	if err != nil {
		return "", array{}, err
	}
	size := 1
	for _, n := range dims {
		a.dims = append(a.dims, int(n))
		size *= int(n)
	}
	if a.values, err = parts[3].numbers(); err == nil && len(a.values) != size {
		err = errMAT
	}
	return string(parts[2].data), a, err
}

func (e element) numbers() ([]float64, error) {
	kind, ok := numbers[e.tag]
	if !ok || len(e.data)%kind.bytes != 0 {
		return nil, errMAT
	}
	v := make([]float64, len(e.data)/kind.bytes)
	for i := range v {
		v[i] = kind.read(e.data[i*kind.bytes:])
	}
	return v, nil
}
