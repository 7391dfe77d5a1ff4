package columnar

import (
	"bytes"
	"io"

	"github.com/apache/arrow-go/v18/parquet/compress"
)

// Pages verifies a chunk of pages.
func Pages(chunk []byte) error {
	return pagesWithin(io.NewSectionReader(bytes.NewReader(chunk), 0, int64(len(chunk))), compress.Codecs.Uncompressed)
}
