package main

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"
)

// images reads the images and the labels of one part of an MNIST-like set from a directory,
// in compressed IDX files: pixels as numbers from 0 to 1, a row for each image.
func images(dir, part string) (*rows, error) {
	pixels, size, err := readIDX(filepath.Join(dir, part+"-images-idx3-ubyte.gz"))
	if err != nil {
		return nil, err
	}
	labels, count, err := readIDX(filepath.Join(dir, part+"-labels-idx1-ubyte.gz"))
	if err != nil {
		return nil, err
	}
	if len(size) != 3 || len(count) != 1 || size[0] != count[0] || size[0] == 0 {
		return nil, fmt.Errorf("%s: images of sizes %v and labels of sizes %v don't belong together", dir, size, count)
	}
	x := mat.NewDense(size[0], size[1]*size[2], nil)
	for k, v := range pixels {
		x.RawMatrix().Data[k] = float64(v) / 255
	}
	y := make([]float64, len(labels))
	for i, v := range labels {
		y[i] = float64(v)
	}
	return &rows{x, y}, nil
}

// most is the largest number of bytes that an IDX file is taken to hold.
const most = 1 << 30

// readIDX returns the bytes of a compressed IDX file of bytes, and its sizes.
func readIDX(path string) (values []byte, sizes []int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if values, sizes, err = parseIDX(unpacked); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return values, sizes, nil
}

// parseIDX reads two zeros, the type 8 (bytes), the number of sizes, these as big-endian
// numbers of 32 bits, and the values.
func parseIDX(r io.Reader) (values []byte, sizes []int, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, nil, fmt.Errorf("the head of an IDX file: %w", err)
	}
	if head[0] != 0 || head[1] != 0 || head[2] != 8 || head[3] == 0 {
		return nil, nil, fmt.Errorf("begins with % x, an IDX file of bytes with 00 00 08 and the number of its sizes", head)
	}
	total := 1
	for range head[3] {
		var size uint32
		if err := binary.Read(r, binary.BigEndian, &size); err != nil {
			return nil, nil, fmt.Errorf("the sizes of an IDX file: %w", err)
		}
		if total *= int(size); total > most || int64(size) > most {
			return nil, nil, fmt.Errorf("more than %d values", most)
		}
		sizes = append(sizes, int(size))
	}
	values = make([]byte, total)
	if _, err := io.ReadFull(r, values); err != nil {
		return nil, nil, fmt.Errorf("%d values: %w", total, err)
	}
	if _, err := io.ReadFull(r, head[:1]); !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("there is more than the %d values", total)
	}
	return values, sizes, nil
}
