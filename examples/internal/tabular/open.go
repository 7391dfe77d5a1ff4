package tabular

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
)

// Open opens a file for reading and decompresses it if its name ends in .gz.
// The name and the content must agree.
func Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := decompress(bufio.NewReader(f), strings.HasSuffix(path, ".gz"))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file{r, f}, nil
}

type file struct {
	io.Reader
	io.Closer
}

func decompress(r *bufio.Reader, zipped bool) (io.Reader, error) {
	magic, _ := r.Peek(2)
	switch isZipped := string(magic) == "\x1f\x8b"; {
	case zipped && !isZipped:
		return nil, fmt.Errorf("%w: the name ends in .gz but the content is not gzip", ErrGzip)
	case !zipped && isZipped:
		return nil, fmt.Errorf("%w: the content is gzip but the name does not end in .gz", ErrGzip)
	case !zipped:
		return r, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGzip, err)
	}
	return unzipped{z}, nil
}

// unzipped marks the errors of a damaged or truncated gzip stream.
type unzipped struct{ z *gzip.Reader }

func (u unzipped) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrGzip, err)
	}
	return n, err
}
