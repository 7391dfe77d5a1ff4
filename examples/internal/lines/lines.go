// Package lines keeps results in a file of JSON, a line each, that is added to once one is known: what
// was interrupted goes on.
package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// File is one to add to. It is safe for concurrent use.
type File[T any] struct {
	to   *os.File
	lock sync.Mutex
}

// Read reads a file. What follows the last end of a line is the rest of a run that was stopped. Errors name the
// line.
func Read[T any](path string) ([]T, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []T
	whole := bytes.Split(text, []byte("\n"))
	for i, line := range whole[:len(whole)-1] {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		list = append(list, v)
	}
	return list, nil
}

// Open reads a file to add to it, and makes it where there is none. It cuts off a line that was not finished.
func Open[T any](path string) (*File[T], []T, error) {
	list, err := Read[T](path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	f := new(File[T])
	if f.to, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, nil, err
	}
	if err := f.toEnd(path); err != nil {
		return nil, nil, errors.Join(err, f.to.Close())
	}
	return f, list, nil
}

func (f *File[T]) toEnd(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	end := int64(bytes.LastIndexByte(text, '\n') + 1)
	if err := f.to.Truncate(end); err != nil {
		return err
	}
	_, err = f.to.Seek(end, io.SeekStart)
	return err
}

// Add writes a result, whole.
func (f *File[T]) Add(v T) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	_, err = f.to.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (f *File[T]) Close() error { return f.to.Close() }
