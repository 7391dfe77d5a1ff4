package dpglm_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/curator/worker"
	"github.com/dpglm/dpglm/losses"
)

// workers are an engine in this process.
type workers struct {
	pieces int
	spoil  func(replies [][]byte) [][]byte
}

func (w workers) Pieces() int { return w.pieces }

func (w workers) Ask(ctx context.Context, question []byte, pieces int) ([][]byte, error) {
	var replies [][]byte
	for k := range pieces {
		r, err := worker.Reply(ctx, question, pieces-1-k)
		if err != nil {
			return nil, err
		}
		replies = append(replies, r)
	}
	if w.spoil != nil {
		replies = w.spoil(replies)
	}
	return replies, nil
}

// Sums that workers made of blocks are those of rows in memory, to the last bit.
func TestEnginesHaveTheSameBits(t *testing.T) {
	for _, f := range some(forms(6000, 40)[:5]) {
		memory, err := dpglm.NewDataset(f.x, f.y, f.facts)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x.rows")
		if err := dpglm.WriteRows(path, f.x, f.y); err != nil {
			t.Fatal(err)
		}
		remote, err := dpglm.OpenRowsOn(ctx, path, f.facts, workers{pieces: 3})
		if err != nil {
			t.Fatal(err)
		}
		defer remote.Close()
		for name, fit := range map[string]func(d *dpglm.Dataset) ([]float64, error){
			"Auto": func(d *dpglm.Dataset) ([]float64, error) {
				m, err := dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(4, 1e-6), seeded(1))
				return m.Weights(), err
			},
			"Auto, squared": func(d *dpglm.Dataset) ([]float64, error) {
				m, err := dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Squared{}}, dpglm.ApproxDP(4, 1e-6), seeded(1))
				return m.Weights(), err
			},
			"Noisy GD": func(d *dpglm.Dataset) ([]float64, error) {
				m, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Radius: 2}, dpglm.ApproxDP(4, 1e-6), dpglm.NoisyGDConfig{Steps: 5, Clip: 0.5}, seeded(1))
				return m.Weights(), err
			},
			"moments": func(d *dpglm.Dataset) ([]float64, error) {
				m, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Squared{}, Radius: 2}, dpglm.GDP(4), dpglm.NoisyGDConfig{Steps: 200, Clip: dpglm.NoClip}, seeded(1))
				return m.Weights(), err
			},
			"output perturbation": func(d *dpglm.Dataset) ([]float64, error) {
				m, err := dpglm.OutputPerturbation(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Radius: 2}, dpglm.GDP(4), dpglm.OutputPerturbationConfig{}, seeded(1))
				return m.Weights(), err
			},
			"inference": func(d *dpglm.Dataset) ([]float64, error) {
				in, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(8, 1e-6), dpglm.InferConfig{}, seeded(1))
				if err != nil {
					return nil, err
				}
				return in.Model().Weights(), nil
			},
		} {
			want, err := fit(memory)
			if err != nil {
				t.Fatalf("%s, %s: %v", f.name, name, err)
			}
			got, err := fit(remote)
			if err != nil {
				t.Fatalf("%s, %s: %v", f.name, name, err)
			}
			sameBits(t, f.name+", "+name, got, want)
		}
	}
}

// A pass in which a piece is missing, or there twice, is refused, as are replies to another
// question and replies that are cut.
func TestEnginesThatMiscount(t *testing.T) {
	x, y := separable(20_000, 10, 1)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(path, x, y); err != nil {
		t.Fatal(err)
	}
	bounds := dpglm.Bounds{Feature: 1, Label: 1}
	var earlier [][]byte
	for name, spoil := range map[string]func(r [][]byte) [][]byte{
		"lost":       func(r [][]byte) [][]byte { return r[1:] },
		"duplicated": func(r [][]byte) [][]byte { return append(r, r[0]) },
		"instead":    func(r [][]byte) [][]byte { return append(r[1:], r[1]) },
		"cut":        func(r [][]byte) [][]byte { return append(r[1:], r[0][:len(r[0])-8]) },
		"empty":      func(r [][]byte) [][]byte { return append(r[1:], nil) },
		"rows": func(r [][]byte) [][]byte {
			r[0][40]++
			return r
		},
		"of another pass": func(r [][]byte) [][]byte {
			was := earlier
			if earlier = r; was == nil {
				return r
			}
			return was
		},
	} {
		w := workers{4, nil}
		d, err := dpglm.OpenRowsOn(ctx, path, bounds, &w)
		if err != nil {
			t.Fatal(err)
		}
		w.spoil = spoil
		m, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 4}, seeded(1))
		var interrupted *dpglm.Interrupted
		if !errors.Is(err, dpglm.ErrRowFile) || !errors.As(err, &interrupted) || m != nil {
			t.Errorf("%s: %v", name, err)
		}
		d.Close()
	}
}

// What workers can't do makes an error.
func TestEnginesRefuse(t *testing.T) {
	x, y := separable(3000, 4, 1)
	path, bounds := filepath.Join(t.TempDir(), "x.rows"), dpglm.Bounds{Feature: 1, Label: 1}
	if err := dpglm.WriteRows(path, x, y); err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.OpenRowsOn(ctx, path, bounds, workers{pieces: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	held, _, err := d.Split(0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"split":  failure(dpglm.NoisyGD(ctx, held, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{}, nil)),
		"search": failure(dpglm.GridSearch(ctx, d, logistic, dpglm.ApproxDP(1, 1e-6), dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}, nil)),
		"JL":     failure(dpglm.JL(ctx, d, logistic, dpglm.GDP(1), dpglm.JLConfig{Learner: dpglm.NoisyGDConfig{}, K: 2}, nil)),
	} {
		if !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := dpglm.WriteRows(path+"2", x, y, dpglm.Weights{Of: y, Max: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := dpglm.OpenRowsOn(ctx, path+"2", bounds, workers{pieces: 2}); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("weights: %v", err)
	}
	if _, err := dpglm.OpenRowsOn(ctx, path, bounds, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("no engine: %v", err)
	}
	for _, question := range [][]byte{nil, []byte("no question")} {
		if _, err := worker.Reply(ctx, question, 0); err == nil {
			t.Errorf("%q is answered", question)
		}
	}
}

func failure[T any](_ T, err error) error { return err }
