package columnar

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
)

// The decoder of Arrow's metadata makes room for as many fields and names as a vector says
// that it has. Here all vectors that it makes room for are held against the bytes that there
// are, before it sees them; what lies outside of these panics, which the caller makes an error.

// deepest is how many levels of fields within fields there may be.
const deepest = 64

var (
	errVector = errors.New("its schema has a list that is longer than the schema")
	errBuffer = errors.New("a compressed buffer doesn't have the size that it says")
)

// fields are positions of fields in the tables of Arrow's Message.fbs, Schema.fbs and File.fbs.
const (
	messageKind, messageHeader, messageBody, messageNames = 6, 8, 10, 12
	schemaFields, schemaNames                             = 6, 8
	fieldChildren, fieldNames                             = 14, 16
	footerSchema, footerDictionaries, footerBatches       = 6, 8, 10
	footerNames                                           = 12
	dictionaryBatch                                       = 6
	batchBuffers, batchCompression                        = 8, 10
	compressionCodec                                      = 4
	schemaKind, dictionaryKind, batchKind                 = 1, 2, 3
	zstdCodec                                             = 1 // 0 is LZ4
	blockSize, bufferSize                                 = 24, 16
)

// verifier counts the fields that it has seen, of which metadata can't have more than bytes.
type verifier struct{ left int }

func root(metadata []byte) flatbuffers.Table {
	return flatbuffers.Table{Bytes: metadata, Pos: flatbuffers.GetUOffsetT(metadata)}
}

// vector returns the place and the length of a vector, whose elements have so many bytes.
func vector(t flatbuffers.Table, field flatbuffers.VOffsetT, size int) (first flatbuffers.UOffsetT, n int, err error) {
	o := flatbuffers.UOffsetT(t.Offset(field))
	if o == 0 {
		return 0, 0, nil
	}
	first, n = t.Vector(o), t.VectorLen(o)
	if n < 0 || int(first) > len(t.Bytes) || n > (len(t.Bytes)-int(first))/size {
		return 0, 0, errVector
	}
	return first, n, nil
}

// messageAt verifies a message whose metadata have a place and a length in a file of so many
// bytes, and returns the length of its body, which follows.
func messageAt(r io.ReaderAt, at, length, size int64) (body int64, err error) {
	if at < 0 || length < 4 || length > size || at > size-length {
		return 0, fmt.Errorf("a message of %d bytes doesn't fit the file", length)
	}
	metadata := make([]byte, length)
	if _, err := r.ReadAt(metadata, at); err != nil {
		return 0, err
	}
	t := root(metadata)
	if _, _, err := vector(t, messageNames, 4); err != nil {
		return 0, err
	}
	if o := flatbuffers.UOffsetT(t.Offset(messageBody)); o != 0 {
		body = t.GetInt64(o + t.Pos)
	}
	if body < 0 || body > size-at-length {
		return 0, fmt.Errorf("a message's body of %d bytes doesn't fit the file", body)
	}
	kind := flatbuffers.UOffsetT(t.Offset(messageKind))
	header := flatbuffers.UOffsetT(t.Offset(messageHeader))
	if kind == 0 || header == 0 {
		return body, nil
	}
	var of flatbuffers.Table
	t.Union(&of, header)
	switch t.GetByte(kind + t.Pos) {
	case schemaKind:
		v := verifier{len(metadata)}
		return body, v.schema(of)
	case dictionaryKind:
		o := flatbuffers.UOffsetT(of.Offset(dictionaryBatch))
		if o == 0 {
			return body, nil
		}
		of.Pos = of.Indirect(o + of.Pos)
		fallthrough
	case batchKind:
		return body, buffers(io.NewSectionReader(r, at+length, body), of, size)
	}
	return body, nil
}

// buffers verifies the compressed buffers of a batch in a file of so many bytes: the decoder makes
// room for the size that each says to have, and for the window of its codec, before it reads on.
func buffers(body *io.SectionReader, batch flatbuffers.Table, size int64) error {
	o := flatbuffers.UOffsetT(batch.Offset(batchCompression))
	if o == 0 {
		return nil
	}
	compression := flatbuffers.Table{Bytes: batch.Bytes, Pos: batch.Indirect(o + batch.Pos)}
	codec := flatbuffers.UOffsetT(compression.Offset(compressionCodec))
	isZstd := codec != 0 && compression.GetByte(codec+compression.Pos) == zstdCodec
	first, n, err := vector(batch, batchBuffers, bufferSize)
	if err != nil {
		return err
	}
	for k := range n {
		at := first + flatbuffers.UOffsetT(k*bufferSize)
		from, length := batch.GetInt64(at), batch.GetInt64(at+8)
		if length == 0 {
			continue
		}
		if from < 0 || length < 8 || from > body.Size()-length {
			return errBuffer
		}
		head := make([]byte, min(length, 8+zstd.HeaderMaxSize))
		if _, err := body.ReadAt(head, from); err != nil {
			return err
		}
		if err := inflates(head, length-8, isZstd, uint64(freeBytes+timesFile*size)); err != nil {
			return err
		}
	}
	return nil
}

// Formats bound how many times its size a compressed buffer has at most: a block of Zstandard,
// four bytes or more, becomes 128 KiB, and a byte of LZ4 255.
const (
	zstdTimes = 128 << 10 / 4
	lz4Times  = 255
)

// inflates verifies the size at the head of a buffer that has so many compressed bytes after it,
// and that its window has no more bytes than window.
func inflates(head []byte, compressed int64, isZstd bool, window uint64) error {
	times := int64(lz4Times)
	if isZstd {
		times = zstdTimes
	}
	inflated := int64(binary.LittleEndian.Uint64(head))
	switch {
	case inflated == -1: // it isn't compressed
		return nil
	case inflated < 0 || inflated/times > compressed:
		return errBuffer
	case !isZstd || inflated == 0:
		return nil
	}
	var of zstd.Header
	if err := of.Decode(head[8:]); err != nil {
		return err
	}
	if of.SingleSegment {
		of.WindowSize = of.FrameContentSize
	}
	if of.Skippable || of.WindowSize > window {
		return errBuffer
	}
	return nil
}

func (v *verifier) schema(t flatbuffers.Table) error {
	if _, _, err := vector(t, schemaNames, 4); err != nil {
		return err
	}
	return v.fields(t, schemaFields, 0)
}

// fields verifies fields and those within them.
func (v *verifier) fields(t flatbuffers.Table, in flatbuffers.VOffsetT, depth int) error {
	first, n, err := vector(t, in, 4)
	if err != nil {
		return err
	}
	if v.left -= n; v.left < 0 || depth > deepest {
		return errVector
	}
	for k := range n {
		of := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(first + 4*flatbuffers.UOffsetT(k))}
		if _, _, err := vector(of, fieldNames, 4); err != nil {
			return err
		}
		if err := v.fields(of, fieldChildren, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// stream verifies the messages of a stream of so many bytes.
func stream(r io.ReaderAt, size int64) error {
	for at := int64(0); at+4 <= size; {
		head := make([]byte, 8)
		if n, err := r.ReadAt(head, at); n < 4 {
			return err
		}
		length, from := int64(int32(binary.LittleEndian.Uint32(head))), at+4
		if length == -1 { // since Arrow 0.15
			length, from = int64(int32(binary.LittleEndian.Uint32(head[4:]))), at+8
		}
		if length == 0 {
			return nil
		}
		body, err := messageAt(r, from, length, size)
		if err != nil {
			return err
		}
		at = from + length + body
	}
	return nil
}

// arrowFile verifies the footer of an Arrow file of so many bytes, and the messages that it names.
func arrowFile(r io.ReaderAt, size int64) error {
	const tail = 10 // the footer's length and ARROW1
	end := make([]byte, tail)
	if size < tail+8 {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end, size-tail); err != nil {
		return err
	}
	length := int64(int32(binary.LittleEndian.Uint32(end)))
	if length < 4 || length > size-tail {
		return fmt.Errorf("a footer of %d bytes doesn't fit the file", length)
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-tail-length); err != nil {
		return err
	}
	t := root(footer)
	if _, _, err := vector(t, footerNames, 4); err != nil {
		return err
	}
	if o := flatbuffers.UOffsetT(t.Offset(footerSchema)); o != 0 {
		v := verifier{len(footer)}
		if err := v.schema(flatbuffers.Table{Bytes: footer, Pos: t.Indirect(o + t.Pos)}); err != nil {
			return err
		}
	}
	for _, blocks := range []flatbuffers.VOffsetT{footerDictionaries, footerBatches} {
		first, n, err := vector(t, blocks, blockSize)
		if err != nil {
			return err
		}
		for k := range n {
			at := first + flatbuffers.UOffsetT(k*blockSize)
			from, meta := t.GetInt64(at), int64(t.GetInt32(at+8))
			prefix := make([]byte, 4)
			if _, err := r.ReadAt(prefix, from); err != nil {
				return err
			}
			skip := int64(4)
			if binary.LittleEndian.Uint32(prefix) == 0xffffffff {
				skip = 8
			}
			if _, err := messageAt(r, from+skip, meta-skip, size); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrowSchema verifies the Arrow schema that a Parquet file has among its metadata.
func arrowSchema(text string) error {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	return stream(bytes.NewReader(raw), int64(len(raw)))
}
