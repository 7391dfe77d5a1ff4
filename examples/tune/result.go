package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"sync"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
)

// budget is (ε, δ) of a δ for all, or μ of Gaussian differential privacy. Zeros stand for none.
type budget struct {
	Epsilon float64 `json:"epsilon,omitempty"`
	Mu      float64 `json:"mu,omitempty"`
}

// delta is that of all budgets in ε.
const delta = 1e-6

func (b budget) String() string {
	if b.Mu > 0 {
		return fmt.Sprintf("μ = %g", b.Mu)
	}
	return fmt.Sprintf("ε = %g", b.Epsilon)
}

// of is the library's.
func (b budget) of() dpglm.Budget {
	if b.Mu > 0 {
		return dpglm.GDP(b.Mu)
	}
	return dpglm.ApproxDP(b.Epsilon, delta)
}

// size orders budgets: it is the μ of one release.
func (b budget) size() float64 {
	if b.Mu > 0 {
		return b.Mu
	}
	mu, err := mechanisms.GaussianMu(b.Epsilon, delta)
	if err != nil {
		return math.NaN()
	}
	return mu
}

// The models: those to compare with, which have no budget, and the fit.
const (
	constant = "constant"
	mle      = "mle"
	fitted   = "fit"
)

// settings are what all results of a file share.
type settings struct {
	Seed    uint64  `json:"seed"`
	Method  string  `json:"method"`
	Rows    int     `json:"rows"` // to train on at most
	HeldOut float64 `json:"held_out"`
}

// cell is a set under a budget, or without privacy.
type cell struct {
	Set   string `json:"set"`
	Model string `json:"model"` // fit, constant or mle
	budget
}

// key is a fit.
type key struct {
	cell
	Split int `json:"split"`
}

// result is a line of a file.
type result struct {
	key
	Measure string  `json:"measure,omitempty"`
	Loss    float64 `json:"loss"`
	Other   string  `json:"other,omitempty"`
	Value   *number `json:"value,omitempty"` // of Other
	Seconds float64 `json:"seconds"`
	// Refused says why there is no loss.
	Refused string `json:"refused,omitempty"`
	settings
}

// number is null where it isn't defined.
type number float64

// MarshalJSON writes null for what JSON has no number for.
func (n number) MarshalJSON() ([]byte, error) {
	if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// file are the results of a file.
type file struct {
	path    string
	results map[key]result
	to      *os.File // to add to
	lock    sync.Mutex
}

// read reads a file. What follows the last end of a line is the rest of a run that was stopped.
func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, results: map[key]result{}}
	lines := bytes.Split(text, []byte("\n"))
	var first settings
	for i, line := range lines[:len(lines)-1] {
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		if i == 0 {
			first = r.settings
		}
		if r.settings != first {
			return nil, fmt.Errorf("%s:%d: the settings %+v differ from %+v", path, i+1, r.settings, first)
		}
		f.results[r.key] = r
	}
	return f, nil
}

// open reads a file to add results of the settings to it, and makes it where there is none.
func open(path string, s settings) (*file, error) {
	f, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f = &file{path: path, results: map[key]result{}}
	case err != nil:
		return nil, err
	}
	for _, r := range f.results {
		if r.settings != s {
			return nil, fmt.Errorf("-out %s: the settings %+v of its results differ from %+v: name another file", path, r.settings, s)
		}
	}
	if f.to, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	return f, f.toEnd()
}

// toEnd cuts off a line that was not finished, and goes to where it began.
func (f *file) toEnd() error {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	end := int64(bytes.LastIndexByte(text, '\n') + 1)
	if err := f.to.Truncate(end); err != nil {
		return err
	}
	_, err = f.to.Seek(end, 0)
	return err
}

// add writes a result, whole.
func (f *file) add(r result) error {
	if math.IsNaN(r.Loss) || math.IsInf(r.Loss, 0) {
		r.Refused, r.Loss = fmt.Sprintf("the loss is %g", r.Loss), 0
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	f.results[r.key] = r
	_, err = f.to.Write(append(line, '\n'))
	return err
}

func (f *file) has(k key) bool {
	_, ok := f.results[k]
	return ok
}
