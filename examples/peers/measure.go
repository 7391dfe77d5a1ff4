package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// facts are what is public of a split, for the peers.
type facts struct {
	N        int       `json:"n"`
	D        int       `json:"d"`
	Kind     string    `json:"kind"`
	Norm     float64   `json:"norm"`
	Cap      float64   `json:"cap"`
	Levels   []int     `json:"levels"`
	Epsilons []float64 `json:"epsilons"`
	Delta    float64   `json:"delta"`
	Seed     uint64    `json:"seed"`
}

// held are the rows that models are scored on.
type held struct {
	facts facts
	loss  losses.Loss
	label table.Label
	test  *table.Table
}

// measure adds what a store lacks of a set's split.
func (o *options) measure(ctx context.Context, set task.Set, split int, ready []environment, s *store) error {
	seed := o.Seed*1_000_003 + uint64(split) // a prime far above the number of splits
	if !s.has(set.Name, split, ours) {
		all, err := own(ctx, job{set.Name, set.Source.Path, set.Source.Schema, seed, o.Seed, o.Rows, o.HeldOut, o.Delta, o.epsilons})
		if err != nil {
			return err
		}
		for _, r := range all {
			r.Set, r.Split = set.Name, split
			if err := s.add(r); err != nil {
				return err
			}
		}
	}
	for _, e := range ready {
		if s.has(set.Name, split, e.name) {
			continue
		}
		all, err := o.askPeer(ctx, set, seed, e)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			all = []result{{Who: e.name, Relation: e.relation, Refused: err.Error()}}
		}
		for _, r := range all {
			r.Set, r.Split = set.Name, split
			if err := s.add(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// askPeer has a peer fit its models, and keeps the best for each ε and δ.
func (o *options) askPeer(ctx context.Context, set task.Set, seed uint64, e environment) ([]result, error) {
	folder, err := os.MkdirTemp("", "split")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	h, err := o.write(ctx, set, seed, folder)
	if err != nil {
		return nil, err
	}
	if !e.has(h.facts.Kind) {
		return nil, errors.New("has nothing for labels of the kind " + h.facts.Kind)
	}
	all, err := e.ask(ctx, folder)
	if err == nil && len(all) == 0 {
		err = errNoAnswer
	}
	if err != nil {
		return nil, err
	}
	return h.best(e.peer, all), nil
}

// write makes the split that the library has, and lays the part to train on into a folder.
func (o *options) write(ctx context.Context, set task.Set, seed uint64, folder string) (*held, error) {
	t, err := set.Source.Load(ctx)
	if err != nil {
		return nil, err
	}
	if n, _ := t.Dims(); o.Rows > 0 && n > o.Rows {
		if _, err := t.HoldOut(task.Split(n, float64(n-o.Rows)/float64(n), seed)); err != nil {
			return nil, err
		}
	}
	n, _ := t.Dims()
	test, err := t.HoldOut(task.Split(n, o.HeldOut, seed))
	if err != nil {
		return nil, err
	}
	n, d := t.Dims()
	h := &held{loss: set.Source.Loss, label: t.Label(), test: test}
	h.facts = facts{N: n, D: d, Kind: string(h.label.Kind), Norm: t.Bound(), Cap: h.label.Range[1], Epsilons: o.epsilons, Delta: o.Delta, Seed: seed % (1 << 31), Levels: make([]int, d)}
	if t.Encoder() != nil {
		for i, f := range t.Encoder().Features() {
			if f.OneHot {
				h.facts.Levels[i] = 2
			}
		}
	}
	text, err := json.Marshal(h.facts)
	if err != nil {
		return nil, err
	}
	x := make([]float64, 0, n*d)
	row := make([]float64, d)
	for i := range n {
		x = append(x, mat.Row(row, i, t.Matrix())...)
	}
	return h, firstError(os.WriteFile(filepath.Join(folder, "facts.json"), text, 0o600),
		writeNumbers(filepath.Join(folder, "x.bin"), x), writeNumbers(filepath.Join(folder, "y.bin"), h.labels(t.Labels())))
}

// labels are in the peers' units.
func (h *held) labels(y []float64) []float64 {
	out := make([]float64, len(y))
	middle, half := h.units()
	for i, v := range y {
		out[i] = v
		switch h.label.Kind {
		case table.Numeric:
			out[i] = math.Max(-1, math.Min(1, (v-middle)/half))
		case table.Count:
			out[i] = math.Min(v, h.facts.Cap)
		}
	}
	return out
}

// units are the middle of a real label's range, and half its length.
func (h *held) units() (middle, half float64) {
	lo, hi := h.label.Range[0], h.label.Range[1]
	return (lo + hi) / 2, (hi - lo) / 2
}

func writeNumbers(path string, v []float64) error {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return os.WriteFile(path, b, 0o600)
}

// score scores weights on the rows held out.
func (h *held) score(weights []float64, intercept float64) []metrics.Metric {
	n, d := h.test.Dims()
	x, z := h.test.Matrix(), make([]float64, n)
	middle, half := h.units()
	for i := range n {
		z[i] = intercept
		for j := range d {
			z[i] += weights[j] * x.At(i, j)
		}
		if h.label.Kind == table.Numeric {
			z[i] = middle + half*z[i]
		}
	}
	if h.loss.Labels() == losses.Real {
		metrics.Hold(z, h.label.Range)
	}
	return metrics.Of(h.loss, z, h.test.Labels())
}

// best are a peer's models that have the least loss on the rows held out, one for each ε and δ.
func (h *held) best(p peer, all []answer) []result {
	type spent struct{ epsilon, delta float64 }
	var order []spent
	kept := map[spent]result{}
	cpu := map[spent][]float64{}
	for _, a := range all {
		k := spent{a.Epsilon, a.Delta}
		r := result{Who: p.name, Epsilon: a.Epsilon, Delta: a.Delta, Relation: p.relation, Config: a.Config, Refused: a.Refused, Peak: a.Peak}
		if r.Refused == "" && len(a.Weights) != h.facts.D {
			r.Refused = "it printed another number of weights than there are features"
		}
		if r.Refused == "" {
			r.score(h.score(a.Weights, a.Intercept))
		}
		old, ok := kept[k]
		if !ok {
			order = append(order, k)
		}
		if !ok || r.Refused == "" && (old.Refused != "" || r.Loss < old.Loss) {
			kept[k] = r
		}
		cpu[k] = append(cpu[k], a.CPU)
	}
	var out []result
	for _, k := range order {
		r := kept[k]
		r.Configs, r.CPU = len(cpu[k]), median(cpu[k])
		out = append(out, r)
	}
	return out
}
