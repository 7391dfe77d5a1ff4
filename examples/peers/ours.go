package main

import (
	"bytes"
	"context"
	_ "embed" // ownProgram
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

//go:embed ours.go
var ownProgram string

// Those who make models, beside the peers.
const (
	ours       = "dpglm"
	constant   = "constant"
	nonPrivate = "non-private"
)

// job is what a run of this program, as the library's user, is told on standard input.
type job struct {
	Name, Path, Schema string
	Split              uint64
	Seed               uint64
	Rows               int
	HeldOut, Delta     float64
	Epsilons           []float64
}

// child fits the library's models of a split, and prints their figures. It is a process of its own, on one processor,
// so that time and memory are its own.
func child(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	runtime.GOMAXPROCS(1)
	var j job
	if err := json.NewDecoder(stdin).Decode(&j); err != nil {
		return err
	}
	s := task.NewSource(flag.NewFlagSet("peers", flag.ContinueOnError))
	s.Path, s.Schema, s.HeldOut = j.Path, j.Schema, j.HeldOut
	if err := s.ResolveData("peers", io.Discard); err != nil {
		return err
	}
	trial, err := s.TrialOf(ctx, j.Rows, j.Split)
	if err != nil {
		return err
	}
	secret, refusal := s.SecretCount(j.Rows, 1, j.Split)
	out := json.NewEncoder(stdout)
	for _, b := range j.budgets() {
		data := trial.Train
		if b.relation == added {
			data = secret
		}
		r := result{Who: ours, Epsilon: b.epsilon, Delta: b.delta, Relation: b.relation, Configs: 1}
		if data == nil {
			r.Refused = refusal.Error()
		} else {
			b.fit(ctx, &r, j, trial, data, s.Loss)
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	base := result{Who: constant}
	base.score(trial.Constant())
	best := result{Who: nonPrivate}
	switch m, err := trial.NonPrivate(ctx); {
	case err != nil:
		best.Refused = err.Error()
	case m == nil:
		best.Refused = "the loss has a kink"
	default:
		best.score(m)
	}
	return firstError(out.Encode(base), out.Encode(best))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// promise is a budget and its neighbouring.
type promise struct {
	epsilon, delta float64
	relation       string
}

func (j job) budgets() (all []promise) {
	for _, epsilon := range j.Epsilons {
		for _, delta := range []float64{j.Delta, 0} {
			for _, relation := range []string{replaced, added} {
				all = append(all, promise{epsilon, delta, relation})
			}
		}
	}
	return all
}

func (p promise) budget() dpglm.Budget {
	b := dpglm.ApproxDP(p.epsilon, p.delta)
	if p.delta == 0 {
		b = dpglm.PureDP(p.epsilon)
	}
	if p.relation == added {
		return b.AddRemove()
	}
	return b
}

// fit trains on data, and scores on the trial's rows held out.
func (p promise) fit(ctx context.Context, r *result, j job, trial *task.Trial, data *dpglm.Dataset, loss losses.Loss) {
	before, _ := used()
	noise := mechanisms.NewSeededSource(task.NoiseSeed(fmt.Sprint(j.Name, p.delta, p.relation, j.Seed), p.epsilon, j.Split))
	model, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: loss}, p.budget(), &dpglm.Env{NoiseForTests: noise})
	after, peak := used()
	r.CPU, r.Peak = (after - before).Seconds(), peak
	var m []metrics.Metric
	if err == nil {
		m, err = trial.Score(model)
	}
	if err != nil {
		r.Refused = err.Error()
		return
	}
	r.score(m)
}

// own runs child, in a process.
func own(ctx context.Context, j job) ([]result, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, program, ours)
	var out, messages bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), &out, &messages
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", j.Name, err, lastLine(messages.Bytes()))
	}
	var all []result
	for d := json.NewDecoder(&out); d.More(); {
		var r result
		if err := d.Decode(&r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
