package questions

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// copies are the directories of copies that workers made of rows. One goes when its rows are no
// longer used, and all go when the data set is closed, or a part of it.
type copies struct {
	lock   sync.Mutex
	dirs   []string
	closed bool
}

// errClosed is the error of what is asked of rows after that.
var errClosed = check.Fail(check.ErrConfig, "rows", nil, "must not be closed")

func (c *copies) isClosed() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.closed
}

// create makes a directory for its owner's eyes.
func (c *copies) create(within string) (string, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return "", errClosed
	}
	dir, err := os.MkdirTemp(within, "dpglm-rows-*")
	if err != nil {
		return "", err
	}
	c.dirs = append(c.dirs, dir)
	return dir, nil
}

func (c *copies) remove(dir string) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.dirs = slices.DeleteFunc(c.dirs, func(d string) bool { return d == dir })
	return os.RemoveAll(dir)
}

// Close removes all copies.
func (r *remote) Close() (err error) {
	r.copies.lock.Lock()
	dirs := slices.Clone(r.copies.dirs)
	r.copies.closed = true
	r.copies.lock.Unlock()
	for _, dir := range dirs {
		err = errors.Join(err, r.copies.remove(dir))
	}
	return err
}

// Tells reports whether workers see by themselves what rows count that begin at the given one
// of the file: from a copy's columns, or where there are weights and no persons.
func (r *remote) Tells(at int, o *blocks.Persons) bool {
	known := r.owners
	if known == nil || o == nil {
		return o == nil || !o.Given
	}
	if known.Shares == nil {
		return o.Shares == nil
	}
	return slices.Equal(o.Shares, known.Shares[at:at+len(o.Shares)])
}

// copying is what a worker is to copy: rows of a file, in that order, to a file of the
// directory, with what they count and whether they are their persons' last.
type copying struct {
	Order  []int
	Dir    string
	Shares []float64 // nil where all count 1
	Last   []float64
}

// Copy has a worker copy the rows, in their order.
func (r *remote) Copy(ctx context.Context, f *rowfile.File, order []int) (*rowfile.File, func(), error) {
	dir, err := r.copies.create(r.engine.Scratch())
	if err != nil {
		return nil, nil, err
	}
	of, err := r.copyTo(ctx, f, order, dir)
	if err != nil {
		return nil, nil, errors.Join(err, r.copies.remove(dir))
	}
	all := r.copies
	return of, func() { all.remove(dir) }, nil
}

// copyTo has it done in a directory, and opens the copy.
func (r *remote) copyTo(ctx context.Context, file *rowfile.File, order []int, dir string) (*rowfile.File, error) {
	of := copying{Order: order, Dir: dir}
	if o := r.owners; o.Counted() {
		of.Shares, of.Last = o.Shares, make([]float64, len(o.Shares))
		for _, end := range o.Start[1:] {
			if end > 0 {
				of.Last[end-1] = 1
			}
		}
	}
	q, err := encodeMessage(file, r.measured, &of)
	if err != nil {
		return nil, err
	}
	var name []byte
	err = r.engine.Ask(ctx, q, 1, func(reply io.Reader) (err error) {
		name, err = io.ReadAll(io.LimitReader(reply, 1<<10))
		return err
	})
	if err != nil {
		return nil, err
	}
	sum, last := sha256.Sum256(q), max(0, len(name)-sha256.Size)
	rest, ok := bytes.CutPrefix(name[:last], sum[:])
	if !bytes.Equal(summed(name[:last:last]), name) || !ok || filepath.Base(string(rest)) != string(rest) {
		return nil, refused("copy", "must be a file's name, once, for the question that was asked")
	}
	f, err := rowfile.Open(filepath.Join(dir, string(rest)))
	if err != nil {
		return nil, err
	}
	if f.Rows != len(order) || f.Columns != file.Columns || f.Sparse != file.Sparse {
		return nil, errors.Join(refused("rows of a copy", "must be those that were asked for"), f.Close())
	}
	return f, nil
}

// reply makes the copy, and returns its name, which no other one has.
func (c *copying) reply(ctx context.Context, of *sentFile, _ int) ([]byte, error) {
	f, err := of.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for _, i := range c.Order {
		if i < 0 || i >= f.Rows {
			return nil, check.Fail(check.ErrConfig, "rows to copy", nil, "must be the file's")
		}
	}
	var beside map[string][]float64
	if c.Shares != nil {
		beside = map[string][]float64{rowfile.Share: c.Shares, rowfile.Last: c.Last}
	}
	var unique [16]byte
	rand.Read(unique[:]) // never fails; a name, not noise
	name := hex.EncodeToString(unique[:])
	if err := f.PickTo(ctx, filepath.Join(c.Dir, name), c.Order, beside); err != nil {
		return nil, err
	}
	return []byte(name), nil
}

func init() {
	gob.Register(&copying{})
}
