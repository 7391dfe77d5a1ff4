package beam

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // for Options.Temp

	"github.com/dpglm/dpglm/internal/check"
)

// directory is one that belongs to a pass: no other pass has its name.
type directory string

const questionFile = "question"

func pieceFile(piece int) string { return fmt.Sprintf("%06d", piece) }

// unique is a name that nothing else has.
func unique() string {
	var b [16]byte
	rand.Read(b[:]) // never fails; a name, not noise
	return hex.EncodeToString(b[:])
}

// create makes a directory within another one, for its owner's eyes where that can be said. It
// refuses storage from which nothing can be removed: what a pass writes is private.
func create(ctx context.Context, within string) (directory, error) {
	d := directory(strings.TrimSuffix(within, "/") + "/dpglm-" + unique())
	if d.local() {
		return d, os.MkdirAll(string(d), 0o700)
	}
	fs, err := filesystem.New(ctx, string(d))
	if err != nil {
		return "", err
	}
	if _, ok := fs.(filesystem.Remover); !ok {
		return "", errors.Join(cannotRemove(within), fs.Close())
	}
	return d, fs.Close()
}

func cannotRemove(dir string) error {
	return check.Fail(check.ErrConfig, "Options.Temp", dir, "must be of a file system that can remove files, as passes leave none")
}

// local reports whether d is a path of this machine's.
func (d directory) local() bool { return !strings.Contains(string(d), "://") }

func (d directory) read(ctx context.Context, name string) ([]byte, error) {
	fs, err := filesystem.New(ctx, string(d))
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	return filesystem.Read(ctx, fs, string(d)+"/"+name)
}

// open calls do with a file.
func (d directory) open(ctx context.Context, name string, do func(io.Reader) error) error {
	fs, err := filesystem.New(ctx, string(d))
	if err != nil {
		return err
	}
	defer fs.Close()
	r, err := fs.OpenRead(ctx, string(d)+"/"+name)
	if err != nil {
		return err
	}
	defer r.Close()
	return do(bufio.NewReaderSize(r, 1<<16))
}

// write writes a file: it has its name when it is whole. Another one of that name, of a worker
// that did the same work, gives way.
func (d directory) write(ctx context.Context, name string, data []byte) error {
	partial := string(d) + "/part-" + unique()
	if d.local() { // for its owner's eyes; when the pass is over and the directory gone, it fails
		if err := os.WriteFile(partial, data, 0o600); err != nil {
			return err
		}
		return os.Rename(partial, string(d)+"/"+name)
	}
	fs, err := filesystem.New(ctx, string(d))
	if err != nil {
		return err
	}
	defer fs.Close()
	if err := filesystem.Write(ctx, fs, partial, data); err != nil {
		return err
	}
	return filesystem.Rename(ctx, fs, partial, string(d)+"/"+name)
}

// missing are the pieces that aren't there.
func (d directory) missing(ctx context.Context, pieces int) (list []int, err error) {
	fs, err := filesystem.New(ctx, string(d))
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	names, err := fs.List(ctx, string(d)+"/*")
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name[strings.LastIndexAny(name, `/\`)+1:]] = true
	}
	for k := range pieces {
		if !there[pieceFile(k)] {
			list = append(list, k)
		}
	}
	return list, nil
}

// remove removes the directory with all that was written, also after a cancellation.
func (d directory) remove() error {
	ctx := context.Background()
	fs, err := filesystem.New(ctx, string(d))
	if err != nil {
		return err
	}
	defer fs.Close()
	if d.local() {
		return os.RemoveAll(string(d))
	}
	remover, ok := fs.(filesystem.Remover)
	if !ok {
		return cannotRemove(string(d))
	}
	left, err := fs.List(ctx, string(d)+"/*")
	for _, name := range left {
		err = errors.Join(err, remover.Remove(ctx, name))
	}
	return err
}
