package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/lines"
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
	public   = "public" // the prior alone
	fitted   = "fit"
)

// settings are what all results of a file share.
type settings struct {
	Seed    uint64  `json:"seed"`
	Method  string  `json:"method"`
	Rows    int     `json:"rows"` // to train on at most
	HeldOut float64 `json:"held_out"`
	// Labels has budgets be for labels only; results of both can be compared.
	Labels bool `json:"labels_only,omitempty"`
	// Pure has budgets in ε be pure, δ = 0; likewise.
	Pure bool `json:"pure,omitempty"`
	// AddRemove has budgets be for adding or removing a row, and is the public bound on rows over their number; likewise.
	AddRemove float64 `json:"add_remove,omitempty"`
	// Public is the share of the rows to train on whose model is the prior; likewise.
	Public float64 `json:"public,omitempty"`
	// Turned has the labels of the public rows be turned around.
	Turned bool `json:"turned,omitempty"`
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
	to      *lines.File[result] // to add to
	lock    sync.Mutex
}

// read reads a file.
func read(path string) (*file, error) {
	list, err := lines.Read[result](path)
	if err != nil {
		return nil, err
	}
	return ofOneRun(path, list)
}

// ofOneRun refuses results of several settings.
func ofOneRun(path string, list []result) (*file, error) {
	f := &file{path: path, results: map[key]result{}}
	for i, r := range list {
		if first := list[0].settings; r.settings != first {
			return nil, fmt.Errorf("%s:%d: the settings %+v differ from %+v", path, i+1, r.settings, first)
		}
		f.results[r.key] = r
	}
	return f, nil
}

// open reads a file to add results of the settings to it, and makes it where there is none.
func open(path string, s settings) (*file, error) {
	to, list, err := lines.Open[result](path)
	if err != nil {
		return nil, err
	}
	f, err := ofOneRun(path, list)
	if err == nil && len(list) > 0 && list[0].settings != s {
		err = fmt.Errorf("-out %s: the settings %+v of its results differ from %+v: name another file", path, list[0].settings, s)
	}
	if err != nil {
		return nil, errors.Join(err, to.Close())
	}
	f.to = to
	return f, nil
}

// add writes a result, whole.
func (f *file) add(r result) error {
	if math.IsNaN(r.Loss) || math.IsInf(r.Loss, 0) {
		r.Refused, r.Loss = fmt.Sprintf("the loss is %g", r.Loss), 0
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	f.results[r.key] = r
	return f.to.Add(r)
}

func (f *file) has(k key) bool {
	_, ok := f.results[k]
	return ok
}
