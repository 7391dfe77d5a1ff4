package accounting

import "sync"

// memo keeps the last few values of a pure function that takes long: the candidates of
// a search mostly ask for the same one. It is safe for concurrent use.
type memo struct {
	lock sync.Mutex
	kept []kept // the latest first
}

// query is what RatioFor is a function of.
type query struct {
	Objective
	epsilon, delta float64
}

type kept struct {
	query query
	value float64
	err   error
}

const maxKept = 16

var ratios memo

// get returns the value at q, computed at most once at a time.
func (m *memo) get(q query, compute func() (float64, error)) (float64, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, k := range m.kept {
		if k.query == q {
			return k.value, k.err
		}
	}
	k := kept{query: q}
	k.value, k.err = compute()
	m.kept = append([]kept{k}, m.kept[:min(len(m.kept), maxKept-1)]...)
	return k.value, k.err
}
