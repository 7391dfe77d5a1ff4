package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
)

// file is an open file, decompressed if its name says so.
type file struct {
	io.Reader
	io.Closer
	size int64 // on the disk
	raw  *counted
}

// consumed is how much of size was read.
func (f *file) consumed() int64 { return f.raw.n.Load() }

// counted counts what is read.
type counted struct {
	r io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// openFile opens a file for reading and decompresses it if its name ends in .gz. The
// name and the content must agree.
func openFile(path string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	raw := &counted{r: f}
	r, err := decompress(bufio.NewReader(raw), strings.HasSuffix(path, ".gz"))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := &file{Reader: r, Closer: f, raw: raw}
	if info, err := f.Stat(); err == nil {
		out.size = info.Size()
	}
	return out, nil
}

// packed are other ways to compress a file, by what it then begins with: they aren't read.
var packed = []struct{ magic, name string }{{"\x28\xb5\x2f\xfd", "zstd"}, {"\xfd7zXZ\x00", "xz"}, {"BZh91AY&SY", "bzip2"}}

// mostMagic is how much of a file tells.
const mostMagic = 10

// checkPacked refuses a text that begins so.
func checkPacked(start []byte) error {
	for _, p := range packed {
		if bytes.HasPrefix(start, []byte(p.magic)) {
			return fileError(0, `it is compressed by %s, which isn't read; decompress it, to a file or to standard input, whose name is "-": %s -dc FILE`, p.name, p.name)
		}
	}
	return nil
}

func decompress(r *bufio.Reader, named bool) (io.Reader, error) {
	if start, _ := r.Peek(mostMagic); checkPacked(start) != nil {
		return nil, checkPacked(start)
	}
	magic, _ := r.Peek(len(gzipMagic))
	switch isZipped := string(magic) == gzipMagic; {
	case named && !isZipped:
		return nil, fileError(0, "its name ends in .gz but it is not compressed by gzip; rename it")
	case !named && isZipped:
		return nil, fileError(0, "it is compressed by gzip but its name does not end in .gz; rename it")
	case !named:
		return r, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, damaged(err)
	}
	return unzipped{z}, nil
}

// unzipped marks the errors of a damaged or truncated gzip stream.
type unzipped struct{ z *gzip.Reader }

func (u unzipped) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func damaged(err error) error {
	return fmt.Errorf("%w: %w", fileError(0, "the gzip file is damaged or cut short; copy it again"), err)
}
