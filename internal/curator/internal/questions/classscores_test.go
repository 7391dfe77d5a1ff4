package questions

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// scoredClasses is how many classes rows have here.
const scoredClasses = 3

// classModels are joint ones and some of classes against the rest, over three columns and an
// intercept; of the last two, scores are huge and no numbers.
func classModels() []ClassScores {
	w := [][]float64{{0.5, -0.3, 0.2, 0.1}, {-0.4, 0.1, 0.6, -0.2}, {0, 0.9, -0.2, 0.3}}
	huge := [][]float64{{1e300, 0, 0, 0}, {-1e300, 1e300, 0, 1e300}, {0, 0, 1e300, 0}}
	nan := [][]float64{{0, 0, 0, 0}, {math.NaN(), 0, 0, 0}, {1, 0, 0, 0}}
	return []ClassScores{{w, nil}, {w, losses.Logistic{}}, {w, losses.Hinge{}}, {make3(), nil}, {huge, losses.SquaredHinge{}}, {huge, nil}, {nan, nil}, {nan, losses.Logistic{}}}
}

// make3 are weights of 0.
func make3() [][]float64 {
	return [][]float64{make([]float64, 4), make([]float64, 4), make([]float64, 4)}
}

// classCaps are so many caps.
func classCaps(n int) []float64 {
	caps := make([]float64, n)
	for j := range caps {
		caps[j] = 0.7 + float64(j%3)
	}
	return caps
}

// scored are the losses of models, and their errors.
func scored(t *testing.T, c *Classes, models []ClassScores) (sums, errs []float64) {
	t.Helper()
	sums, errs = make([]float64, len(models)), make([]float64, len(models))
	if err := errors.Join(c.Losses(ctx, sums, models, classCaps(len(models))), c.Errors(ctx, errs, models)); err != nil {
		t.Fatal(err)
	}
	return sums, errs
}

// ownedClasses are rows of persons with weights, with classes as labels.
func ownedClasses(t *testing.T, r *rand.Rand, n, persons int) (o owned, owned *rows.Table, labels []float64) {
	t.Helper()
	o = randomOwned(r, n, persons)
	for i := range o.y {
		o.y[i] = float64(r.IntN(scoredClasses))
	}
	table, order, err := rows.Own(mustTable(t, o.x, encoding.NewIdentity(3, 1.5, true)), rows.Owners{Persons: o.Given, Count: persons, Most: 3, Weights: o.weights, Heavy: 1, Coins: mechanisms.NewSeededSource(3)})
	if err != nil {
		t.Fatal(err)
	}
	return o, table, blocks.Gather(o.y, order)
}

func classesOf(t *testing.T, table *rows.Table, labels []float64) *Classes {
	t.Helper()
	c, err := NewClasses(ctx, table, labels, scoredClasses)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Losses and errors of models are what loops over the rows say, of rows and of persons with
// weights, and of sparse rows.
func TestClassScoresByLoops(t *testing.T) {
	const n = 900
	r := rand.New(rand.NewPCG(21, 1))
	o, owned, labels := ownedClasses(t, r, n, 300)
	plain := mustTable(t, o.x, encoding.NewIdentity(3, 1.5, true))
	models := classModels()[:5]
	caps := classCaps(len(models))
	for name, c := range map[string]*Classes{
		"rows": classesOf(t, plain, o.y), "persons": classesOf(t, owned, labels),
		"sparse rows": classesOf(t, mustTable(t, sparseOf(t, o.x), encoding.NewIdentity(3, 1.5, true)), o.y),
	} {
		got, errs := scored(t, c, models)
		want, wrong, held := make([]float64, len(models)), make([]float64, len(models)), make([]int, len(models))
		for i := range len(c.s.labels) {
			row, y := make([]float64, 4), int(c.s.labels[i])
			c.s.t.Encode(row, c.s.t.Src.Tile(i, i+1, make([]float64, 3)), i, 0)
			for j, m := range models {
				var log [scoredClasses]float64
				best := 0
				for k, w := range m.Weights {
					if log[k] = floats.Dot(row, w); k > 0 && log[k] > floats.Dot(row, m.Weights[best]) {
						best = k
					}
				}
				if best != y {
					wrong[j] += c.s.t.Persons.Share(i)
				}
				for k, z := range log {
					if m.Against != nil {
						log[k] = -m.Against.Value(z, 1)
					}
				}
				loss := floats.LogSumExp(log[:]) - log[y]
				if !(loss < caps[j]) {
					held[j]++
					loss = caps[j]
				}
				want[j] += loss * c.s.t.Persons.Share(i)
			}
		}
		if !floats.EqualApprox(got, want, 1e-9) || !floats.EqualApprox(errs, wrong, 0) {
			t.Errorf("%s: losses %v and errors %v, by loops %v and %v", name, got, errs, want, wrong)
		}
		if held[0] < n/10 || held[1] > n/2 {
			t.Errorf("%s: %d losses are held", name, held)
		}
	}
}

// A score that is no number makes a row's loss the cap, and the largest score the first; of equal
// scores it is the first, too.
func TestClassScoresAtTheEnds(t *testing.T) {
	x, y := mat.NewDense(4, 3, []float64{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}), []float64{0, 1, 2, 0}
	c := classesOf(t, mustTable(t, x, encoding.NewIdentity(3, 1, true)), y)
	nan := [][]float64{{0, 0, 0, 0}, {math.NaN(), 0, 0, 0}, {-1, 0, 0, 0}}
	first := [][]float64{{math.NaN(), 0, 0, 0}, {0, 0, 0, 0}, {-1, 0, 0, 0}}
	huge := [][]float64{{math.MaxFloat64, 0, 0, math.MaxFloat64}, {0, 0, 0, 0}, {0, 0, 0, 0}}
	low := [][]float64{{-math.MaxFloat64, 0, 0, -math.MaxFloat64}, {-math.MaxFloat64, 0, 0, -math.MaxFloat64}, {-math.MaxFloat64, 0, 0, -math.MaxFloat64}}
	for name, test := range map[string]struct {
		model       ClassScores
		loss, wrong float64
	}{
		"equal":             {ClassScores{make3(), nil}, 4 * math.Log(3), 2},
		"equal, against":    {ClassScores{make3(), losses.Logistic{}}, 4 * math.Log(3), 2},
		"NaN":               {ClassScores{nan, nil}, 4 * 5, 2},
		"NaN, against":      {ClassScores{nan, losses.Logistic{}}, 4 * 5, 2},
		"NaN first":         {ClassScores{first, nil}, 4 * 5, 2},
		"infinite":          {ClassScores{huge, nil}, 4 * 5, 2},
		"infinitely low":    {ClassScores{low, nil}, 4 * 5, 2},
		"infinite loss":     {ClassScores{low, losses.Squared{}}, 4 * 5, 2},
		"nearly certain":    {ClassScores{[][]float64{{40, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}, nil}, 2*5 + 2*(2*math.Exp(-40)), 2},
		"certain of others": {ClassScores{[][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}, {9, 0, 0, 0}}, losses.Hinge{}}, 3*1 + 1*0 + 4*math.Log(1+2*math.Exp(-1)), 3},
	} {
		sum, wrong := make([]float64, 1), make([]float64, 1)
		if err := errors.Join(c.Losses(ctx, sum, []ClassScores{test.model}, []float64{5}), c.Errors(ctx, wrong, []ClassScores{test.model})); err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(sum[0]-test.loss) < 1e-12) || wrong[0] != test.wrong {
			t.Errorf("%s: a loss of %g and %g errors, want %g and %g", name, sum[0], wrong[0], test.loss, test.wrong)
		}
	}
	for _, m := range []ClassScores{{make3()[:2], nil}, {[][]float64{{1}, {2}, {3}}, nil}, {}} {
		if err := c.Losses(ctx, make([]float64, 1), []ClassScores{m}, []float64{1}); !errors.Is(err, check.ErrShape) {
			t.Errorf("losses of %d classes: %v", len(m.Weights), err)
		}
		if err := c.Errors(ctx, make([]float64, 1), []ClassScores{m}); !errors.Is(err, check.ErrShape) {
			t.Errorf("errors of %d classes: %v", len(m.Weights), err)
		}
	}
}

// Rows in a file and on workers give the bits of rows in memory, whole, chosen, and of persons with
// weights, also where several pieces are asked for.
func TestClassScoresElsewhere(t *testing.T) {
	const n = 5000
	r := rand.New(rand.NewPCG(22, 1))
	o := randomOwned(r, n, 1500)
	for i := range o.y {
		o.y[i] = float64(r.IntN(scoredClasses))
	}
	enc := encoding.NewIdentity(3, 1.5, true)
	facts := rows.Owners{Persons: o.Given, Count: 1500, Most: 3, Weights: o.weights, Heavy: 1}
	some := make([]int, 0, n/2)
	for i := n - 1; i > 0; i -= 2 {
		some = append(some, i)
	}
	for _, persons := range []bool{false, true} {
		of := rows.Owners{}
		if persons {
			of = facts
		}
		elsewhere := remoteAndMemory(t, o.x, o.y, of, enc)
		stored := inFile(t, o.x, o.y, enc)
		want := map[string][]float64{}
		for _, c := range []struct {
			name  string
			table *rows.Table
		}{{"memory", elsewhere[1]}, {"a file", stored}, {"workers", elsewhere[0]}} {
			table, labels := c.table, o.y
			if persons {
				own, order, err := rows.Own(table, rows.Owners{Persons: facts.Persons, Count: facts.Count, Most: facts.Most, Weights: facts.Weights, Heavy: 1, Coins: mechanisms.NewSeededSource(5)})
				if err != nil {
					t.Fatal(err)
				}
				table, labels = own, blocks.Gather(o.y, order)
			}
			tables := map[string]*Classes{"all": classesOf(t, table, labels)}
			chosen := some
			if persons {
				chosen = some[:600]
				for k := range chosen {
					chosen[k] = k * 2
				}
			}
			tables["some"] = classesOf(t, table.Pick(chosen), blocks.Gather(labels, table.Persons.RowsOf(chosen)))
			for which, classes := range tables {
				sums, errs := scored(t, classes, classModels())
				got, name := append(sums, errs...), fmt.Sprintf("persons %v, %s", persons, which)
				if want[name] == nil {
					want[name] = got
				}
				if !slices.Equal(got, want[name]) {
					t.Errorf("%s, %s: %v, want %v", name, c.name, got, want[name])
				}
			}
		}
	}
}

// A loss that can't be sent is refused where workers would need it.
func TestClassScoresAreSent(t *testing.T) {
	tables := remoteAndMemory(t, mat.NewDense(3, 3, nil), []float64{0, 1, 2}, rows.Owners{}, encoding.NewIdentity(3, 1, true))
	custom := []ClassScores{{make3(), losses.Custom{Label: "own"}}}
	if err := classesOf(t, tables[0], nil).Losses(ctx, make([]float64, 1), custom, []float64{1}); !errors.Is(err, check.ErrConfig) {
		t.Errorf("a custom loss: %v", err)
	}
}

// No replaced row, whatever its features and class are, nor a replaced person with all rows and
// any weights, moves a loss by more than what is declared, nor the errors by more than 1; and some
// do by nearly that.
func TestClassScoresBySearch(t *testing.T) {
	models := classModels()
	for k := range 4 { // whose scores go far beyond the caps
		steep := make3()
		for c := range steep {
			copy(steep[c], classModels()[0].Weights[(c+k)%3])
			floats.Scale(60, steep[c])
		}
		models = append(models, ClassScores{steep, []losses.Loss{nil, losses.Logistic{}, losses.Hinge{}, losses.SquaredHinge{}}[k]})
	}
	caps := classCaps(len(models))
	for name, c := range map[string]struct {
		most   int
		weight bool
	}{"rows": {1, false}, "weighted rows": {1, true}, "persons": {3, false}, "weighted persons": {3, true}} {
		r := rand.New(rand.NewPCG(23, 4))
		worst, wrong, claimed := make([]float64, len(models)), make([]float64, len(models)), make([]float64, len(models))
		for range 300 {
			const persons = 20
			base := &crowd{x: make([][]float64, 0, 3*persons)}
			for p := range persons {
				base.add(r, p, 1+r.IntN(c.most))
			}
			var sums, errs [2][]float64
			for side := range sums {
				other := base.replaced(r, persons/2, 1+r.IntN(c.most))
				classes := other.classes(t, persons, c.most, c.weight)
				sums[side], errs[side] = scored(t, classes, models)
				for j := range models {
					claimed[j] = classes.Bounds().LossSensitivity(caps[j])
				}
			}
			for j := range models {
				worst[j] = math.Max(worst[j], math.Abs(sums[0][j]-sums[1][j]))
				wrong[j] = math.Max(wrong[j], math.Abs(errs[0][j]-errs[1][j]))
			}
		}
		for j := range models {
			if worst[j] > claimed[j] || wrong[j] > 1 {
				t.Errorf("%s, model %d: neighbours move the loss by %g, declared %g, and the errors by %g", name, j, worst[j], claimed[j], wrong[j])
			}
			if steep := j >= len(models)-4; steep && (worst[j] < 0.8*claimed[j] || wrong[j] < 0.8) {
				t.Errorf("%s, model %d: neighbours move the loss by %g only, of %g, and the errors by %g", name, j, worst[j], claimed[j], wrong[j])
			}
		}
	}
}

// crowd are rows of persons, with classes and weights.
type crowd struct {
	x       [][]float64
	y       []float64
	of      []int
	weights []float64
}

// add adds rows of a person, of any length, whose features are sometimes alike in all.
func (c *crowd) add(r *rand.Rand, person, rows int) {
	class, at := float64(r.IntN(scoredClasses)), randomVector(r, 3, 4*math.Exp2(-8*r.Float64()))
	for range rows {
		if r.IntN(2) == 0 {
			class, at = float64(r.IntN(scoredClasses)), randomVector(r, 3, 4*math.Exp2(-8*r.Float64()))
		}
		c.x, c.y, c.of = append(c.x, at), append(c.y, class), append(c.of, person)
		c.weights = append(c.weights, []float64{1, 2, r.Float64(), 0}[r.IntN(4)])
	}
}

// replaced is the crowd with other rows of one person.
func (c *crowd) replaced(r *rand.Rand, person, rows int) *crowd {
	other := new(crowd)
	for i, p := range c.of {
		switch {
		case p != person:
			other.x, other.y, other.of = append(other.x, c.x[i]), append(other.y, c.y[i]), append(other.of, p)
			other.weights = append(other.weights, c.weights[i])
		case i == 0 || c.of[i-1] != person:
			other.add(r, p, rows)
		}
	}
	return other
}

func (c *crowd) classes(t *testing.T, persons, most int, weighted bool) *Classes {
	t.Helper()
	x := mat.NewDense(len(c.x), 3, nil)
	for i, row := range c.x {
		x.SetRow(i, row)
	}
	table := mustTable(t, x, encoding.NewIdentity(3, 1.5, true))
	facts := rows.Owners{Coins: mechanisms.NewSeededSource(1)}
	if most > 1 {
		facts.Persons, facts.Count, facts.Most = c.of, persons, most
	}
	if weighted {
		facts.Weights, facts.Heavy = c.weights, 1
	}
	if most == 1 && !weighted {
		return classesOf(t, table, c.y)
	}
	owned, order, err := rows.Own(table, facts)
	if err != nil {
		t.Fatal(err)
	}
	return classesOf(t, owned, blocks.Gather(c.y, order))
}
