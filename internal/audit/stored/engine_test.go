package stored_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/curator/worker"
	"github.com/dpglm/dpglm/losses"
)

// onWorkers writes rows to a file and opens it for workers, and returns where these copy rows.
func onWorkers(t *testing.T, f given.Form) (d *dpglm.Dataset, scratch string) {
	t.Helper()
	path, scratch := filepath.Join(t.TempDir(), "x.rows"), t.TempDir()
	if err := dpglm.WriteRows(ctx, path, f.X, f.Y, f.More...); err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.OpenRowsOn(ctx, path, f.Facts, given.Workers{Count: 3, Dir: scratch}, given.Ordered(1))
	if err != nil {
		t.Fatal(f.Name, err)
	}
	t.Cleanup(func() { d.Close() })
	return d, scratch
}

// askedEngine counts the questions that an engine is asked.
type askedEngine struct {
	given.Workers
	asked *int
}

func (c askedEngine) Ask(ctx context.Context, question []byte, pieces int, take func(reply io.Reader) error) error {
	*c.asked++
	return c.Workers.Ask(ctx, question, pieces, take)
}

// Candidates of a search share each pass over the rows: more of them need no more.
func TestEnginesReadOnceForAllCandidates(t *testing.T) {
	x, y := given.Separable(3000, 4, 1)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	var asked [2]int
	for k, radii := range [][]float64{{1, 2}, {0.5, 1, 2, 3, 4, 5}} {
		d, err := dpglm.OpenRowsOn(ctx, path, dpglm.Bounds{Feature: 1, Label: 1}, askedEngine{given.Workers{Count: 2, Dir: t.TempDir()}, &asked[k]})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		grid := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}, Radii: radii}
		if _, err := dpglm.GridSearch(ctx, d, logistic, dpglm.ApproxDP(1, 1e-6), grid, given.Seeded(1)); err != nil {
			t.Fatal(err)
		}
	}
	if asked[0] != asked[1] || asked[0] < 5 {
		t.Errorf("two candidates need %d passes, six %d", asked[0], asked[1])
	}
}

// With many columns a solver asks for products with second moments.
func TestEnginesHaveProducts(t *testing.T) {
	const n, d = 1500, 1100
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for k := range 5 {
			x.Set(i, (i*7+k*k*31)%d, float64(k+i%3)/8)
		}
		y[i] = float64(i / 3 % 2)
	}
	f := given.Form{Name: "wide", X: given.Sparsely(x), Y: y, Facts: dpglm.Bounds{Feature: 1, Intercept: true}}
	memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts)
	if err != nil {
		t.Fatal(err)
	}
	remote, _ := onWorkers(t, f)
	var weights [][]float64
	for _, d := range []*dpglm.Dataset{memory, remote} {
		m, err := dpglm.ObjectivePerturbation(ctx, d, logistic, dpglm.ApproxDP(4, 1e-6), dpglm.ObjectivePerturbationConfig{}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		weights = append(weights, m.Weights()[0])
	}
	sameBits(t, "products", weights[1], weights[0])
}

// Many columns are scaled by themselves, in rows that are shortened before and after: wherever
// these lie, and so that it matters.
func TestStoredRowsAreShortened(t *testing.T) {
	const n, d = 600, 1010
	r := rand.New(rand.NewPCG(5, 6))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for range 1 + r.IntN(12) {
			x.Set(i, r.IntN(d), r.NormFloat64()*0.2)
		}
		y[i] = float64(r.IntN(2))
	}
	f := given.Form{Name: "wide", X: given.Sparsely(x), Y: y, Facts: dpglm.Bounds{Feature: 4, Intercept: true}}
	memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts)
	if err != nil {
		t.Fatal(err)
	}
	remote, _ := onWorkers(t, f)
	var weights [][]float64
	for _, d := range []*dpglm.Dataset{memory, stored(t, f.X, f.Y, f.Facts), remote} {
		m, err := dpglm.Auto(ctx, d, logistic, dpglm.GDP(100), given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		weights = append(weights, m.Weights()[0])
	}
	sameBits(t, "file", weights[1], weights[0])
	sameBits(t, "workers", weights[2], weights[0])
}

// Labels are held to their range wherever they lie.
func TestStoredLabelsAreHeld(t *testing.T) {
	x, _ := given.Separable(1200, 4, 1)
	for _, loss := range []losses.Loss{losses.Squared{}, losses.Poisson{}, losses.Gamma{Least: 1}} {
		f := given.Form{Name: loss.Name(), X: x, Y: make([]float64, 1200), Facts: dpglm.Bounds{Feature: 1, Label: 5, Intercept: true}}
		for i := range f.Y {
			if f.Y[i] = float64(i % 40); loss == (losses.Squared{}) {
				f.Y[i] -= 20
			}
		}
		memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts)
		if err != nil {
			t.Fatal(err)
		}
		remote, _ := onWorkers(t, f)
		var weights [][]float64
		for _, d := range []*dpglm.Dataset{memory, stored(t, f.X, f.Y, f.Facts), remote} {
			m, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: loss, Radius: 1}, dpglm.GDP(10), dpglm.NoisyGDConfig{Steps: 3}, given.Seeded(1))
			if err != nil {
				t.Fatal(f.Name, err)
			}
			weights = append(weights, m.Weights()[0])
		}
		sameBits(t, f.Name+" in a file", weights[1], weights[0])
		sameBits(t, f.Name+" on workers", weights[2], weights[0])
	}
}

// A pass in which a piece is missing, or there twice, is refused, as are replies to another
// question and replies that are cut.
func TestEnginesThatMiscount(t *testing.T) {
	x, y := given.Separable(20_000, 10, 1)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	bounds := dpglm.Bounds{Feature: 1, Label: 1}
	var earlier [][]byte
	for name, spoil := range map[string]func(r [][]byte) [][]byte{
		"lost":       func(r [][]byte) [][]byte { return r[1:] },
		"duplicated": func(r [][]byte) [][]byte { return append(r, r[0]) },
		"instead":    func(r [][]byte) [][]byte { return append(r[1:], r[1]) },
		"twice":      func(r [][]byte) [][]byte { return append([][]byte{r[1]}, r[1:]...) }, // of as many rows
		"cut":        func(r [][]byte) [][]byte { return append([][]byte{r[0][:len(r[0])-8]}, r[1:]...) },
		"longer":     func(r [][]byte) [][]byte { return append([][]byte{append(r[0], 0)}, r[1:]...) },
		"empty":      func(r [][]byte) [][]byte { return append([][]byte{nil}, r[1:]...) },
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
		w := given.Workers{Count: 4, Dir: t.TempDir()}
		d, err := dpglm.OpenRowsOn(ctx, path, bounds, &w)
		if err != nil {
			t.Fatal(err)
		}
		w.Spoil = spoil
		m, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 4}, given.Seeded(1))
		var interrupted *dpglm.Interrupted // once noise was drawn, after the first pass
		if !errors.Is(err, dpglm.ErrRowFile) || errors.As(err, &interrupted) != (name == "of another pass") || m != nil {
			t.Errorf("%s: %v", name, err)
		}
		d.Close()
	}
}

// A copy of rows stays while rows of it are still to be copied, although nobody else has it.
func TestCopiesOfCopies(t *testing.T) {
	x, y := given.Separable(3000, 4, 1)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.OpenRowsOn(ctx, path, dpglm.Bounds{Feature: 1, Label: 1}, &given.Workers{Count: 2, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	fit := func(d *dpglm.Dataset) error {
		return given.Failure(dpglm.NoisyGD(ctx, d, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 2}, given.Seeded(1)))
	}
	part := func() *dpglm.Dataset {
		train, _, err := d.Split(0.5, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := fit(train); err != nil { // makes the copy
			t.Fatal(err)
		}
		part, _, err := train.Split(0.5, 2)
		if err != nil {
			t.Fatal(err)
		}
		return part
	}()
	for range 5 {
		runtime.GC()
		runtime.Gosched()
	}
	if err := fit(part); err != nil {
		t.Error(err)
	}
	other, _, err := d.Split(0.5, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]*dpglm.Dataset{"all": d, "a part": part, "another part": other} {
		if err := fit(of); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%s, closed: %v", name, err)
		}
	}
}

// What workers can't do makes an error.
func TestEnginesRefuse(t *testing.T) {
	x, y := given.Separable(3000, 4, 1)
	path, bounds := filepath.Join(t.TempDir(), "x.rows"), dpglm.Bounds{Feature: 1, Label: 1}
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.OpenRowsOn(ctx, path, bounds, given.Workers{Count: 2, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	own := dpglm.Problem{Radius: 1, Loss: losses.Custom{Label: "own", Domain: losses.Real, Phi: losses.Squared{}.Value, DPhi: losses.Squared{}.Deriv, Smoothness: 1,
		AtZero: func(bound float64) float64 { return bound * bound / 2 }}}
	for name, err := range map[string]error{
		"pairs of classes":        given.Failure(dpglm.InferClasses(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.GDP(1), dpglm.InferConfig{}, nil)),
		"a loss with functions":   given.Failure(dpglm.NoisyGD(ctx, d, own, dpglm.GDP(1), dpglm.NoisyGDConfig{}, nil)),
		"no directory for copies": given.Failure(dpglm.OpenRowsOn(ctx, path, bounds, given.Workers{Count: 2})),
	} {
		var interrupted *dpglm.Interrupted
		if !errors.Is(err, dpglm.ErrConfig) || errors.As(err, &interrupted) {
			t.Errorf("%s: %v", name, err)
		}
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

// A loss of one's own that is registered is as good as another one, where workers read the rows and where parties hold them.
func TestRegisteredLossElsewhere(t *testing.T) {
	loss, err := losses.Register(losses.Custom{Label: "own", Domain: losses.Real, Phi: losses.Squared{}.Value, DPhi: losses.Squared{}.Deriv, Smoothness: 1,
		AtZero: func(bound float64) float64 { return bound * bound / 2 }})
	if err != nil {
		t.Fatal(err)
	}
	x, y := given.Separable(3000, 4, 1)
	f := given.Form{X: x, Y: y, Facts: dpglm.Bounds{Feature: 1, Label: 1}}
	memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts)
	if err != nil {
		t.Fatal(err)
	}
	there, _ := onWorkers(t, f)
	parties, rows := given.Shared(t, x, y, 900)
	apart, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 4}, f.Facts, &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]dpglm.Learner{"noisy GD": dpglm.NoisyGDConfig{}, "Auto": dpglm.AutoConfig{}} {
		var models [3]*dpglm.Model
		for k, d := range []*dpglm.Dataset{memory, there, apart} {
			plan, err := l.Plan(d.Shape(), dpglm.Problem{Loss: loss}, dpglm.GDP(2))
			if err != nil {
				t.Fatal(name, err)
			}
			if models[k], err = plan.Run(ctx, d, given.Seeded(1)); err != nil {
				t.Fatal(name, k, err)
			}
		}
		sameBits(t, name, models[1].Weights()[0], models[0].Weights()[0])
		if name == "noisy GD" {
			continue // which begins elsewhere where parties hold the rows
		}
		for j, w := range models[0].Weights()[0] {
			if v := models[2].Weights()[0][j]; math.Abs(v-w) > 1e-6 {
				t.Errorf("%s: weight %d is %g, in memory %g", name, j, v, w)
			}
		}
	}
}
