// Scaling shows how the cost of a fit grows with the number of rows n and of
// columns d: the time, the time for each of the n·d numbers, and the memory that
// it takes at most beyond the data. The learners are at their defaults, at ε = 1.
//
//	go run ./examples/scaling
//	go run ./examples/scaling -full -max 6000
//	go run ./examples/scaling -stored 10000000 -columns 20
//
// The first takes less than a minute. The second goes up to a million rows and to
// ten thousand columns, and ends with the largest table that -max allows. The third writes a file of rows,
// 1.7 GB, and measures what reads it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

func main() {
	full := flag.Bool("full", false, "go up to n = 10⁶ and d = 10⁴, and to the largest table that -max allows")
	most := flag.Int("max", 1000, "the largest size of a table in `MB`")
	rows := flag.Int("stored", 0, "measure a file of so many `rows` instead")
	columns := flag.Int("columns", 20, "of that file, a `number`")
	flag.Parse()
	ctx, end := progress.Show(context.Background(), "scaling", os.Stderr)
	out := progress.Beside(ctx, os.Stdout)
	measured := func() error { return run(out, *full, *most) }
	if *rows != 0 {
		measured = func() error { return stored(ctx, out, size{*rows, *columns}) }
	}
	err := measured()
	end()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

type learner struct {
	name string
	dpglm.Learner
}

var (
	auto      = learner{"Auto", dpglm.AutoConfig{}}
	objective = learner{"objective perturbation", dpglm.ObjectivePerturbationConfig{}}
	descent   = learner{"Noisy GD", dpglm.NoisyGDConfig{}}
)

// size is the shape of a table.
type size struct{ n, d int }

func (s size) megabytes() float64 { return float64(s.n) * float64(s.d) * 8 / 1e6 }

// sizes are the powers of ten: all of them, or those below a million numbers.
func sizes(full bool) []size {
	var all []size
	for n := 1000; n <= 1_000_000; n *= 10 {
		for d := 10; d <= 10_000; d *= 10 {
			if full || n*d <= 1_000_000 {
				all = append(all, size{n, d})
			}
		}
	}
	return all
}

func run(out io.Writer, full bool, megabytes int) error {
	if megabytes < 1 {
		return fmt.Errorf("-max is %d and must be at least 1", megabytes)
	}
	fmt.Fprintf(out, "Logistic regression at ε = 1, δ = n^-1.5, on %d cores.\n\n", runtime.GOMAXPROCS(0))
	fmt.Fprintf(out, "%9s %7s %9s  %-22s %8s %11s %16s\n", "n", "d", "data, MB", "learner", "time, s", "ns per n·d", "memory beyond, MB")
	skipped := 0
	for _, s := range sizes(full) {
		if s.megabytes() > float64(megabytes) {
			skipped++
			continue
		}
		if err := row(out, s, auto, objective, descent); err != nil {
			return err
		}
	}
	if full {
		const d = 100
		if err := row(out, size{megabytes * 1_000_000 / 8 / d, d}, auto, objective); err != nil {
			return err
		}
	}
	if skipped > 0 {
		fmt.Fprintf(out, "\n%d larger tables would take more than %d MB (-max).\n", skipped, megabytes)
	}
	return nil
}

// row fits a table of the given size and prints what that cost.
func row(out io.Writer, s size, learners ...learner) error {
	x, y := sample(s)
	for _, l := range learners {
		c, err := measure(func() error { return fit(l, x, y) })
		if err != nil {
			return fmt.Errorf("%s, %d × %d: %w", l.name, s.n, s.d, err)
		}
		fmt.Fprintf(out, "%9d %7d %9.3g  %-22s %8.3g %11.3g %16.1f\n", s.n, s.d, s.megabytes(), l.name,
			c.seconds, c.seconds*1e9/float64(s.n)/float64(s.d), c.megabytes)
	}
	return nil
}

// fit is all that a user does.
func fit(l dpglm.Learner, x *mat.Dense, y []float64) error {
	n, d := x.Dims()
	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: math.Sqrt(float64(d))})
	if err != nil {
		return err
	}
	plan, err := l.Plan(data.Shape(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, math.Pow(float64(n), -1.5)))
	if err != nil {
		return err
	}
	_, err = plan.Run(context.Background(), data, nil)
	return err
}

// sample draws features uniformly from [−1, 1], and classes that depend on the
// first ten.
func sample(s size) (*mat.Dense, []float64) {
	r := rand.New(mechanisms.NewSeededSource(1))
	x, y := mat.NewDense(s.n, s.d, nil), make([]float64, s.n)
	for i := range y {
		row, score := x.RawRowView(i), 0.0
		for j := range row {
			row[j] = 2*r.Float64() - 1
			if j < 10 {
				score += row[j]
			}
		}
		if r.Float64() < 1/(1+math.Exp(-2*score)) {
			y[i] = 1
		}
	}
	return x, y
}

// cost is what a computation took.
type cost struct{ seconds, megabytes float64 }

// measure runs f and watches the memory that the process holds.
func measure(f func() error) (cost, error) {
	debug.FreeOSMemory()
	before, stop, peak := memory(), make(chan bool), make(chan float64)
	go func() {
		most := before
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, memory())
			case <-stop:
				peak <- max(most, memory())
				return
			}
		}
	}()
	start := time.Now()
	err := f()
	spent := time.Since(start).Seconds()
	stop <- true
	return cost{spent, (<-peak - before) / 1e6}, err
}

// memory is what the process has from the operating system, in bytes.
func memory() float64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64()) - float64(s[1].Value.Uint64())
}
