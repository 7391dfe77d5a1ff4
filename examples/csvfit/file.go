package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// file is an output that appears under its name when it is complete.
type file struct {
	*os.File
	flag, path string
	again      bool // a file of that name may be there, if it is the same
	kept       bool // under the name that it has now
}

// newFile opens the output of a flag before work begins that would be lost without it; nil
// for no path. A file of that name is refused: what it holds may have cost a budget, or a
// person's time. So is one that again finds there, once it is known to be another.
func newFile(flag, path string, again bool) (*file, error) {
	if path == "" {
		return nil, nil
	}
	if info, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) && !(again && err == nil && info.Mode().IsRegular()) {
		if err == nil {
			err = fmt.Errorf("-%s %s exists already: remove it, or name another file", flag, path)
		}
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".csvfit-*")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-%s %s: there is no directory %s: make it, or name another file", flag, path, filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("-%s %s: %w", flag, path, err)
	}
	return &file{File: f, flag: flag, path: path, again: again}, nil
}

// differ refuses two outputs of one name, in whatever way and case it is written.
func differ(a, b *file) error {
	if a == nil || b == nil || !strings.EqualFold(filepath.Base(a.path), filepath.Base(b.path)) {
		return nil
	}
	first, err := os.Stat(filepath.Dir(a.path))
	second, also := os.Stat(filepath.Dir(b.path))
	if err := errors.Join(err, also); err != nil || !os.SameFile(first, second) {
		return err
	}
	return task.Usage("-%s %s and -%s %s are one file: name two", a.flag, a.path, b.flag, b.path)
}

// keep gives the file its name, unless another program's file has got it meanwhile: a link is
// made only where there is none. Then it stays under the name that it has.
func (f *file) keep() error {
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	err := os.Link(f.Name(), f.path)
	if err == nil {
		return os.Remove(f.Name()) // the other name
	}
	if !errors.Is(err, fs.ErrExist) { // of a file system without links, maybe
		if _, err = os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(f.Name(), f.path)
		}
	}
	if f.again && same(f.Name(), f.path) {
		return os.Remove(f.Name())
	}
	f.kept = true
	return fmt.Errorf("-%s %s was written by another program meanwhile; what was to be written there is in %s", f.flag, f.path, f.Name())
}

// same reports whether two files hold the same.
func same(a, b string) bool {
	first, err := os.ReadFile(a)
	second, also := os.ReadFile(b)
	return err == nil && also == nil && bytes.Equal(first, second)
}

// discard removes a file that is not kept.
func (f *file) discard() {
	if f != nil && !f.kept {
		f.Close()
		os.Remove(f.Name())
	}
}

// readModel reads the model that -model names, and its intervals if the file has them.
func readModel(path string) (m *dpglm.Model, found inferred, err error) {
	return readModelBy("model", path)
}

// readModelBy reads the one that a flag names.
func readModelBy(flag, path string) (m *dpglm.Model, found inferred, err error) {
	if path == "" {
		return nil, found, task.Usage("-%s is missing: name a file that csvfit fit -o wrote", flag)
	}
	if err := task.Exists(flag, path); err != nil {
		return nil, found, err
	}
	if task.IsSchema(path) {
		return nil, found, fmt.Errorf("-%s %s: this is a schema; -%[1]s wants what csvfit fit -o wrote", flag, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, found, err
	}
	m, found, err = decode(text)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax) && int(syntax.Offset) >= len(text):
		return nil, found, fmt.Errorf("-%s %s: it ends too early; copy it again, or write it anew by csvfit fit -o", flag, path)
	case errors.As(err, &syntax) || errors.As(err, &kind):
		return nil, found, fmt.Errorf("-%s %s: this is no model; -%[1]s wants what csvfit fit -o wrote (%[3]w)", flag, path, err)
	case err != nil:
		return nil, found, fmt.Errorf("-%s %s: %w", flag, path, err)
	}
	return m, found, nil
}
