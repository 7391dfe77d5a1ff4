package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// op is an operation and how long it took in each round.
type op struct {
	name    string
	once    func() (float64, error) // seconds
	ours    bool                    // to be compared with the others of its group
	costs   bool                    // times as much as its group's first
	seconds []float64
}

// group is operations that read the same data, or at least as much.
type group struct {
	name  string
	bytes int // that each of them reads, 0 where they read different amounts
	// prepare fills the memory that all groups share.
	prepare func() error
	ops     []*op
}

func (g *group) measure(rounds int) error {
	if err := g.prepare(); err != nil {
		return err
	}
	for range rounds {
		for _, o := range g.ops {
			s, err := o.once()
			if err != nil {
				return err
			}
			o.seconds = append(o.seconds, s)
		}
	}
	return nil
}

// least is how long one measurement lasts at least.
const least = 100 * time.Millisecond

// timed repeats f and returns the seconds of the fastest run: what else goes on in
// the machine only ever adds to them.
func timed(f func() error) func() (float64, error) {
	return func() (float64, error) {
		fastest := math.Inf(1)
		for begin := time.Now(); time.Since(begin) < least; {
			start := time.Now()
			if err := f(); err != nil {
				return 0, err
			}
			fastest = min(fastest, time.Since(start).Seconds())
		}
		return fastest, nil
	}
}

// newGroups lists what is measured. All share one piece of memory.
func newGroups(o options, np *numPy) ([]*group, error) {
	memory := make([]float64, o.large*1_000_000/8)
	r := rand.New(mechanisms.NewSeededSource(1))
	for i := range memory {
		memory[i] = r.Float64() - 0.5
	}
	if o.candidates {
		return []*group{searches(memory, o.large, 10), searches(memory, o.large, 50), searches(memory, o.large, 100)}, nil
	}
	var groups []*group
	for _, megabytes := range []int{o.small, o.large} {
		for _, d := range []int{10, 100, 1000} {
			groups = append(groups, dense(memory, megabytes, d, np))
		}
	}
	return append(groups, moments(memory, o.small, np), sparse(memory, o.large), noise()), nil
}

// shaped is the first megabytes of the memory as a matrix with d columns.
func shaped(memory []float64, megabytes, d int) *mat.Dense {
	n := megabytes * 1_000_000 / 8 / d
	return mat.NewDense(n, d, memory[:n*d])
}

func title(name string, x mat.Matrix) string {
	n, d := x.Dims()
	return fmt.Sprintf("%s, %d × %d, %d MB", name, n, d, n*d*8/1_000_000)
}

// dense compares a plain read with the pass.
func dense(memory []float64, megabytes, d int, np *numPy) *group {
	x := shaped(memory, megabytes, d)
	data := x.RawMatrix().Data
	p := &pass{}
	g := &group{
		name: title("dense", x), bytes: 8 * len(data),
		prepare: func() error { return p.prepare(x) },
		ops: []*op{
			{name: "plain read", once: timed(func() error { read(data); return nil })},
			{name: "logistic pass", once: timed(p.run), ours: true},
		},
	}
	if np != nil {
		g.ops = append(g.ops, &op{name: "NumPy", once: func() (float64, error) { return np.seconds("pass", d, megabytes) }})
	}
	return g
}

// moments compares second moments.
func moments(memory []float64, megabytes int, np *numPy) *group {
	const d = 100
	x := shaped(memory, megabytes, d)
	p := &pass{}
	g := &group{
		name: title("second moments", x), bytes: 8 * len(x.RawMatrix().Data),
		prepare: func() error { return p.prepare(x) },
		ops: []*op{{name: "second moments", ours: true, once: timed(func() error {
			_, err := p.framed.Moments(context.Background(), math.Inf(1))
			return err
		})}},
	}
	if np != nil {
		g.ops = append(g.ops, &op{name: "NumPy", once: func() (float64, error) { return np.seconds("moments", d, megabytes) }})
	}
	return g
}

// sparse compares the passes over one matrix, of which 1 % is not zero, stored
// sparse and dense. It overwrites the memory.
func sparse(memory []float64, megabytes int) *group {
	const d, gap = 1000, 100 // one value in each gap columns
	x := shaped(memory, megabytes, d)
	asDense, asSparse := &pass{}, &pass{}
	prepare := func() error {
		n, _ := x.Dims()
		x.Zero()
		r := rand.New(mechanisms.NewSeededSource(2))
		indptr, indices, values := []int{0}, []int{}, []float64{}
		for i := range n {
			for first := 0; first < d; first += gap {
				j, v := first+r.IntN(gap), r.Float64()-0.5
				x.Set(i, j, v)
				indices, values = append(indices, j), append(values, v)
			}
			indptr = append(indptr, len(indices))
		}
		s, err := curator.NewSparse(n, d, indptr, indices, values)
		if err != nil {
			return err
		}
		if err := asSparse.prepare(s); err != nil {
			return err
		}
		return asDense.prepare(x)
	}
	return &group{name: title("1 % nonzeros", x), prepare: prepare, ops: []*op{
		{name: "sparse pass", once: timed(asSparse.run), ours: true},
		{name: "dense pass", once: timed(asDense.run)},
	}}
}

// noise measures the sampler, on one core.
func noise() *group {
	const samples = 100_000
	src, values := mechanisms.NewSecureSource(), make([]float64, samples)
	release := timed(func() error { return mechanisms.Gaussian{Mu: 1}.Release(values, values, 1, src) })
	return &group{name: "noise, one core", prepare: func() error { return nil }, ops: []*op{
		{name: "exact discrete Gaussian, a sample", once: func() (float64, error) {
			s, err := release()
			return s / samples, err
		}},
	}}
}

// pass is the gradient sum of the logistic loss, with Noisy GD's clip.
type pass struct {
	sums   *curator.Sums
	framed *curator.Framed // as they are
	w      []float64
	clip   float64
}

func (p *pass) prepare(x mat.Matrix) error {
	n, d := x.Dims()
	bound := math.Sqrt(float64(d)) / 2
	r := rand.New(mechanisms.NewSeededSource(3))
	labels := make([]float64, n)
	for i := range labels {
		labels[i] = float64(r.IntN(2))
	}
	p.w, p.clip = make([]float64, d), bound/2
	for j := range p.w {
		p.w[j] = (r.Float64() - 0.5) / math.Sqrt(float64(d))
	}
	data, err := curator.Open(x, labels, curator.NewIdentity(d, bound, false), 0, 0)
	if err != nil {
		return err
	}
	if p.sums, err = data.Under(losses.Logistic{}); err != nil {
		return err
	}
	p.framed, err = p.sums.Frame(context.Background(), curator.Frame{})
	return err
}

func (p *pass) run() error {
	_, err := p.sums.Gradient(context.Background(), p.w, p.clip)
	return err
}

// read adds up all numbers, on all cores.
func read(data []float64) float64 {
	cores := runtime.GOMAXPROCS(0)
	sums := make([]float64, cores)
	var wg sync.WaitGroup
	for c := range cores {
		part := data[len(data)*c/cores : len(data)*(c+1)/cores]
		wg.Add(1)
		go func() { defer wg.Done(); sums[c] = sum(part) }()
	}
	wg.Wait()
	return sum(sums)
}
