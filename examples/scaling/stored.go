package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/losses"
)

// made are rows as sample draws them, computed when they are read and kept nowhere.
type made struct{ size }

func (m made) Dims() (int, int) { return m.n, m.d }

// At is uniform on [−1, 1], by SplitMix64 (Steele, Lea and Flood, 2014) at the element's number.
func (m made) At(i, j int) float64 { return 2*uniform(uint64(i)*uint64(m.d+1)+uint64(j)) - 1 }

const (
	mixStep, mixFirst, mixSecond = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb
	unit                         = 1.0 / (1 << 53)
	informative                  = 10 // columns that the label depends on
)

// uniform is the k-th number of a fixed sequence in [0, 1).
func uniform(k uint64) float64 {
	z := (k + 1) * mixStep
	z = (z ^ z>>30) * mixFirst
	z = (z ^ z>>27) * mixSecond
	return float64((z^z>>31)>>11) * unit
}

func (m made) T() mat.Matrix { return mat.Transpose{Matrix: m} }

func (m made) labels() []float64 {
	y := make([]float64, m.n)
	for i := range y {
		score := 0.0
		for j := range min(m.d, informative) {
			score += m.At(i, j)
		}
		if uniform(uint64(i)*uint64(m.d+1)+uint64(m.d)) < 1/(1+math.Exp(-2*score)) {
			y[i] = 1
		}
	}
	return y
}

// descentSteps are those of Noisy GD that time a pass.
const descentSteps = 10

// stored measures a file of rows: how fast it is written and read, what a pass over it takes, and
// Auto, with the longest time between two calls of Env.Progress. The file lies in the directory for
// temporary files, and is removed.
func stored(ctx context.Context, out io.Writer, s size) error {
	if s.n < 1 || s.d < 1 {
		return fmt.Errorf("-stored is %d and -columns is %d: they must be at least 1", s.n, s.d)
	}
	dir, err := os.MkdirTemp("", "scaling-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.rows")
	y := made{s}.labels()
	progress.Doing(ctx, "writing rows")
	start := time.Now()
	if err := dpglm.WriteRows(ctx, path, made{s}, y); err != nil {
		return err
	}
	wrote := time.Since(start).Seconds()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	bytes := float64(info.Size())
	fmt.Fprintf(out, "%d × %d, %.3g MB in a file, logistic regression at ε = 1, δ = n^-1.5\n\n", s.n, s.d, bytes/1e6)
	report := func(what string, seconds float64) {
		fmt.Fprintf(out, "%-30s %8.3g s %8.0f MB/s\n", what, seconds, bytes/1e6/seconds)
	}
	report("written", wrote)
	progress.Doing(ctx, "reading the file")
	start = time.Now()
	if err := plainly(path); err != nil {
		return err
	}
	report("read by one goroutine", time.Since(start).Seconds())
	return fits(ctx, path, s, report, out)
}

// fits measures what reads the rows.
func fits(ctx context.Context, path string, s size, report func(what string, seconds float64), out io.Writer) error {
	progress.Doing(ctx, "opening the rows")
	start := time.Now()
	data, err := dpglm.OpenRows(ctx, path, dpglm.Bounds{Feature: math.Sqrt(float64(s.d))})
	if err != nil {
		return err
	}
	defer data.Close()
	report("opened, which checks all rows", time.Since(start).Seconds())
	problem, budget := dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, math.Pow(float64(s.n), -1.5))
	start = time.Now()
	if _, err := dpglm.NoisyGD(ctx, data, problem, budget, dpglm.NoisyGDConfig{Steps: descentSteps, Clip: 1}, nil); err != nil {
		return err
	}
	pass := time.Since(start).Seconds() / descentSteps
	report("a pass, a step of Noisy GD", pass)
	told := progress.Steps(ctx, "steps")
	start = time.Now()
	last, silence := start, 0.0
	quiet := func() {
		silence, last = max(silence, time.Since(last).Seconds()), time.Now()
	}
	env := &dpglm.Env{Progress: func(done, total int) {
		if quiet(); told != nil {
			told(done, total)
		}
	}}
	if _, err := dpglm.Auto(ctx, data, problem, budget, env); err != nil {
		return err
	}
	quiet()
	spent := time.Since(start).Seconds()
	report("Auto", spent)
	fmt.Fprintf(out, "\nAuto takes as long as %.0f passes, and Env.Progress is silent for %.2g s at most.\n", spent/pass, silence)
	return nil
}

// plainly reads a file to its end.
func plainly(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	for err == nil {
		_, err = f.Read(buf)
	}
	if err == io.EOF {
		return nil
	}
	return err
}
