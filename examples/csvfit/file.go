package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dpglm/dpglm/examples/internal/task"
)

// file is an output that appears under its name when it is complete.
type file struct {
	*os.File
	path string
}

// newFile opens the output of a flag before work begins that would be lost without it; nil
// for no path. A file of that name is refused: what it holds may have cost a budget, or a
// person's time.
func newFile(flag, path string) (*file, error) {
	if path == "" {
		return nil, nil
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("-%s %s exists already: remove it, or name another file", flag, path)
		}
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".csvfit-*")
	if err != nil {
		return nil, fmt.Errorf("-%s %s: %w", flag, path, err)
	}
	return &file{f, path}, nil
}

// keep gives the file its name.
func (f *file) keep() error {
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), f.path)
}

// discard removes a file that is not kept.
func (f *file) discard() {
	if f != nil {
		f.Close()
		os.Remove(f.Name())
	}
}

// readModel reads the model that -model names.
func readModel(path string) (model, error) {
	if path == "" {
		return nil, task.Usage("-model is missing: name a file that csvfit fit -o wrote")
	}
	if err := task.Exists("model", path); err != nil {
		return nil, err
	}
	if task.IsSchema(path) {
		return nil, fmt.Errorf("-model %s: this is a schema; -model wants what csvfit fit -o wrote", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := newModel(text)
	var syntax *json.SyntaxError
	if err := json.Unmarshal(text, m); errors.As(err, &syntax) && int(syntax.Offset) >= len(text) {
		return nil, fmt.Errorf("%s: it ends too early; copy it again, or write it anew by csvfit fit -o", path)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
