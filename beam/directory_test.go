package beam

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/dpglm/dpglm"
)

// archive is a file system that keeps all that is written.
type archive struct{ written *int }

func (archive) Close() error                                            { return nil }
func (archive) List(context.Context, string) ([]string, error)          { return nil, nil }
func (archive) OpenRead(context.Context, string) (io.ReadCloser, error) { return nil, io.EOF }
func (archive) Size(context.Context, string) (int64, error)             { return 0, io.EOF }
func (a archive) OpenWrite(context.Context, string) (io.WriteCloser, error) {
	*a.written++
	return nil, io.EOF
}

// Where nothing can be removed, nothing private is written.
func TestStorageThatKeepsAll(t *testing.T) {
	written := 0
	filesystem.Register("archive", func(context.Context) filesystem.Interface { return archive{&written} })
	e := &engine{o: Options{Temp: "archive://bucket/tmp"}}
	err := e.Ask(t.Context(), []byte("question"), 1, func(io.Reader) error { return nil })
	if !errors.Is(err, dpglm.ErrConfig) || written > 0 {
		t.Errorf("%v, %d files written", err, written)
	}
	if err := directory("archive://bucket/tmp/dpglm-1").remove(); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("removing: %v", err)
	}
}
