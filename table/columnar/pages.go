package columnar

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/klauspost/compress/zstd"
)

// The decoder of Parquet makes room for a page before it reads it, and leaves out the checksums
// that pages may have. Here the headers of all pages that are to be read are held against
// the file first, and pages against their checksums, as far as they have one.

var errPage = errors.New("a page doesn't fit the file")

// pages verifies the pages of the given columns.
func pages(r io.ReaderAt, size int64, of *metadata.FileMetaData, leaves []int) error {
	for g := range of.NumRowGroups() {
		for _, leaf := range leaves {
			chunk, err := of.RowGroup(g).ColumnChunk(leaf)
			if err != nil {
				return err
			}
			first := chunk.DataPageOffset()
			if of := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && of > 0 && (of < first || first <= 0) {
				first = of // the only page where a chunk has no rows
			}
			length := chunk.TotalCompressedSize()
			if first < 0 || length < 0 || length > size || first > size-length {
				return errPage
			}
			if err := pagesWithin(io.NewSectionReader(r, first, length), chunk.Compression()); err != nil {
				return err
			}
		}
	}
	return nil
}

// pagesWithin verifies the pages of a column's chunk.
func pagesWithin(chunk *io.SectionReader, codec compress.Compression) error {
	p := &pageReader{in: bufio.NewReader(chunk), chunk: chunk, left: chunk.Size()}
	for p.left > 0 {
		h, err := p.header()
		if err != nil {
			return err
		}
		if h.compressed < 0 || h.uncompressed < 0 || h.compressed > p.left {
			return errPage
		}
		if inflated, err := p.inflated(codec, h); err != nil || inflated > uint64(h.uncompressed) {
			return errors.Join(errPage, err)
		}
		sum := crc32.NewIEEE()
		if h.checked {
			_, err = io.CopyN(sum, p.in, h.compressed)
		} else {
			_, err = p.in.Discard(int(h.compressed))
		}
		if err != nil {
			return err
		}
		if h.checked && sum.Sum32() != h.sum {
			return errors.New("a page doesn't have its checksum")
		}
		p.left -= h.compressed
	}
	return nil
}

// pageHeader is what is read of one.
type pageHeader struct {
	uncompressed, compressed int64
	levels                   int64 // bytes before the values that aren't compressed
	sum                      uint32
	checked, plain           bool // plain values aren't compressed either
}

// inflated is the size that compressed values say that they have, for which codecs make room: 0
// where they don't say it.
func (p *pageReader) inflated(codec compress.Compression, h pageHeader) (uint64, error) {
	if codec != compress.Codecs.Zstd && codec != compress.Codecs.Snappy {
		return 0, nil
	}
	if h.levels < 0 || h.levels > h.compressed {
		return 0, errPage
	}
	head := make([]byte, min(h.compressed-h.levels, zstd.HeaderMaxSize))
	if len(head) == 0 || h.plain {
		return 0, nil
	}
	if _, err := p.chunk.ReadAt(head, p.chunk.Size()-p.left+h.levels); err != nil {
		return 0, err
	}
	if codec == compress.Codecs.Snappy {
		n, _ := binary.Uvarint(head)
		return n, nil
	}
	var of zstd.Header
	if err := of.Decode(head); err != nil {
		return 0, err
	}
	return of.FrameContentSize, nil
}

// pageReader reads Thrift's compact protocol, in which headers are written.
type pageReader struct {
	in    *bufio.Reader
	chunk *io.SectionReader
	left  int64 // bytes of the chunk
}

func (p *pageReader) ReadByte() (byte, error) {
	p.left--
	return p.in.ReadByte()
}

// number reads a variable-length one.
func (p *pageReader) number() (v uint64, err error) {
	for shift := 0; shift < 64; shift += 7 {
		b, err := p.ReadByte()
		if err != nil {
			return 0, err
		}
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return v, nil
		}
	}
	return 0, errPage
}

// signed reads one that is zigzag-encoded.
func (p *pageReader) signed() (int64, error) {
	v, err := p.number()
	return int64(v>>1) ^ -int64(v&1), err
}

// header reads the header of a page.
func (p *pageReader) header() (h pageHeader, err error) {
	const i32, isFalse, second = 5, 2, 8
	err = p.fields(0, func(id int64, kind byte) (bool, error) {
		if id == second && kind == 12 { // the header of a page of version 2
			return true, p.fields(1, func(id int64, kind byte) (bool, error) {
				h.plain = h.plain || id == 7 && kind == isFalse
				if kind != i32 || id != 5 && id != 6 {
					return false, nil
				}
				v, err := p.signed()
				if h.levels += v; v < 0 {
					err = errPage
				}
				return true, err
			})
		}
		if kind != i32 || id < 2 || id > 4 {
			return false, nil
		}
		v, err := p.signed()
		switch id {
		case 2:
			h.uncompressed = v
		case 3:
			h.compressed = v
		case 4:
			h.sum, h.checked = uint32(v), true
		}
		return true, err
	})
	return h, err
}

// fields reads a struct's, of which take takes some.
func (p *pageReader) fields(depth int, take func(id int64, kind byte) (bool, error)) error {
	for id := int64(0); ; {
		head, err := p.ReadByte()
		if err != nil || head == 0 {
			return err
		}
		if delta := head >> 4; delta != 0 {
			id += int64(delta)
		} else if id, err = p.signed(); err != nil {
			return err
		}
		taken, err := take(id, head&15)
		if !taken && err == nil {
			err = p.skip(head&15, depth, false)
		}
		if err != nil {
			return err
		}
	}
}

// skip reads past a value.
func (p *pageReader) skip(kind byte, depth int, inList bool) error {
	if depth > deepest {
		return errPage
	}
	switch kind {
	case 1, 2: // a boolean is in its field's head, or a byte of a list
		if inList {
			return p.drop(1)
		}
		return nil
	case 3:
		return p.drop(1)
	case 4, 5, 6:
		_, err := p.number()
		return err
	case 7:
		return p.drop(8)
	case 8:
		n, err := p.number()
		if err != nil {
			return err
		}
		return p.drop(n)
	case 9, 10:
		head, err := p.ReadByte()
		n := uint64(head >> 4)
		if err == nil && n == 15 {
			n, err = p.number()
		}
		for ; err == nil && n > 0; n-- {
			err = p.skip(head&15, depth+1, true)
		}
		return err
	case 12:
		return p.fields(depth+1, func(int64, byte) (bool, error) { return false, nil })
	}
	return fmt.Errorf("a page's header has a value of kind %d", kind)
}

// drop reads past bytes.
func (p *pageReader) drop(n uint64) error {
	if p.left < 0 || n > uint64(p.left) {
		return errPage
	}
	p.left -= int64(n)
	_, err := p.in.Discard(int(n))
	return err
}
