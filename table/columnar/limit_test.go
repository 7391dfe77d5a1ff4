package columnar_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/dpglm/dpglm/table"
	"github.com/dpglm/dpglm/table/columnar"
)

// encodings are the same rows as files of each kind: Arrow files and streams, plain and
// compressed, and Parquet with and without dictionaries, compression and the Arrow schema.
func encodings(t testing.TB) map[string][]byte {
	t.Helper()
	b := batch(t)
	files := map[string][]byte{}
	for name, options := range map[string][]ipc.Option{"plain": nil, "zstd": {ipc.WithZstd()}, "lz4": {ipc.WithLZ4()}} {
		options = append(options, ipc.WithSchema(b.Schema()))
		var file, stream bytes.Buffer
		f, err := ipc.NewFileWriter(&file, options...)
		if err != nil {
			t.Fatal(err)
		}
		s := ipc.NewWriter(&stream, options...)
		if err := errors.Join(f.Write(b), s.Write(b), f.Close(), s.Close()); err != nil {
			t.Fatal(err)
		}
		files["arrow file, "+name], files["arrow stream, "+name] = file.Bytes(), stream.Bytes()
	}
	for name, options := range map[string][]parquet.WriterProperty{
		"dictionary":  nil,
		"plain":       {parquet.WithDictionaryDefault(false)},
		"snappy":      {parquet.WithCompression(compress.Codecs.Snappy)},
		"zstd, pages": {parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageVersion(parquet.DataPageV2)},
	} {
		for with, properties := range map[string]pqarrow.ArrowWriterProperties{"": pqarrow.DefaultWriterProps(), ", with Arrow's schema": pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())} {
			var file bytes.Buffer
			w, err := pqarrow.NewFileWriter(b.Schema(), nopCloser{&file}, parquet.NewWriterProperties(options...), properties)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(b), w.Close()); err != nil {
				t.Fatal(err)
			}
			files["parquet, "+name+with] = file.Bytes()
		}
	}
	return files
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

var everyBit = flag.Bool("everybit", false, "flip each bit in TestDamageAsksForLittle, which takes minutes")

// limit is that of Arrow's buffers for a small file of nine columns, and as much beside.
const limit = 2 * (64<<20 + 9*(8<<20))

// What a damaged file makes a reader ask for is limited, by the file's size and columns: where a
// bit is another one there is a table or an error, and never more memory. Formats without
// checksums can't tell a value from another one.
func TestDamageAsksForLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for name, text := range encodings(t) {
		read, stride := columnar.ReadArrowFile, 8*11+1
		if name[0] == 'p' {
			read, stride = columnar.ReadParquetFile, 8*101+1
		}
		if *everyBit {
			stride = 1
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path, schema()); err != nil {
			t.Fatal(name, err)
		}
		for bit := 0; bit < 8*len(text); bit += stride {
			bad := bytes.Clone(text)
			bad[bit/8] ^= 1 << (bit % 8)
			asksForLittle(t, path, bad, read, limit)
		}
	}
}

// asksForLittle reads a file that may be damaged.
func asksForLittle(t *testing.T, path string, data []byte, read func(string, table.Schema) (*table.Table, error), limit uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	damaged(t, path, data, read)
	runtime.ReadMemStats(&after)
	if asked := after.TotalAlloc - before.TotalAlloc; asked > limit+64*uint64(len(data)) {
		t.Errorf("%d bytes of a file ask for %d", len(data), asked)
	}
}

// Sizes that a damaged file may say are held against the file: of messages, lists, pages and
// buffers, each of which asked for gigabytes.
func TestDamagedSizes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	files := encodings(t)
	zstd := bytes.Clone(files["parquet, zstd, pages"])
	zstd[429] ^= 128 // the size of a page
	asksForLittle(t, path, zstd, columnar.ReadParquetFile, limit)
	for _, name := range []string{"arrow file, plain", "arrow stream, plain"} {
		text := files[name]
		for at := 0; at+4 <= len(text); at += 4 { // where offsets, lengths and sizes lie
			bad := bytes.Clone(text)
			binary.LittleEndian.PutUint32(bad[at:], 0x3fffffff)
			asksForLittle(t, path, bad, columnar.ReadArrowFile, limit)
		}
	}
}

// The sizes at the head of compressed Arrow buffers are held against what is compressed, and the
// windows of Zstandard against the file.
func TestDamagedCompressedSizes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	files := encodings(t)
	for _, name := range []string{"arrow file, zstd", "arrow stream, zstd", "arrow file, lz4", "arrow stream, lz4"} {
		text, heads := files[name], 0
		for at := 0; at+14 <= len(text); at += 8 { // where buffers begin
			zstd := binary.LittleEndian.Uint32(text[at+8:]) == 0xfd2fb528
			if !zstd && binary.LittleEndian.Uint32(text[at+8:]) != 0x184d2204 {
				continue
			}
			heads++
			for _, size := range []uint64{1 << 22, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 2} {
				bad := bytes.Clone(text)
				binary.LittleEndian.PutUint64(bad[at:], size)
				refused(t, path, bad)
			}
			if zstd {
				bad := bytes.Clone(text)
				bad[at+12], bad[at+13] = 0, 26<<3 // a frame with a window of 64 GiB
				refused(t, path, bad)
			}
		}
		if heads < 9 {
			t.Errorf("%s has %d compressed buffers", name, heads)
		}
	}
}

// refused opens an Arrow file that says too large a size.
func refused(t *testing.T, path string, data []byte) {
	t.Helper()
	asksForLittle(t, path, data, columnar.ReadArrowFile, 8<<20)
	if f, err := columnar.OpenArrow(path); !errors.Is(err, table.ErrFile) {
		t.Errorf("%v", err)
		f.Close()
	}
}

// A page that has a checksum is held against it, and any byte of it that is another one is an error.
func TestPagesHaveTheirChecksums(t *testing.T) {
	header := []byte{0x15, 0x00, 0x15, 0x08, 0x15, 0x08, 0x15} // kind, sizes of 4, and the checksum's field
	page := []byte("data")
	sum := int64(int32(crc32.ChecksumIEEE(page)))
	header = binary.AppendUvarint(header, uint64(sum<<1^sum>>63))
	chunk := append(append(header, 0), page...)
	if err := columnar.Pages(chunk); err != nil {
		t.Fatal(err)
	}
	for at := range chunk {
		bad := bytes.Clone(chunk)
		bad[at] ^= 2
		if err := columnar.Pages(bad); err == nil && at > 3 {
			t.Errorf("byte %d of %q isn't missed", at, bad)
		}
	}
}
