package questions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// walked are coordinates after some moves, which don't depend on the rows, and the weights
// and the intercept there.
func walked(t *testing.T, s *Sums, clip, entry float64, seed uint64) (v *Coordinates, w []float64, intercept float64) {
	t.Helper()
	v, err := NewCoordinates(ctx, s, clip, entry, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	r, w := rand.New(rand.NewPCG(seed, 8)), make([]float64, s.Dim())
	intercept = 0.25
	for k := range 12 {
		if k%5 == 4 {
			intercept = r.NormFloat64() / 2
			if err := v.Shift(ctx, intercept); err != nil {
				t.Fatal(err)
			}
		}
		j, delta := r.IntN(s.t.Enc.Columns), r.NormFloat64()/2
		w[j] += delta
		before, told := slices.Clone(v.Sums()), map[int]bool{}
		if err := v.Move(ctx, j, delta, func(j int) { told[j] = true }); err != nil {
			t.Fatal(err)
		}
		for j, g := range v.Sums() {
			if g != before[j] && !told[j] {
				t.Fatalf("column %d has changed, and Move doesn't say so", j)
			}
		}
	}
	return v, w, intercept
}

// definition is Σ cᵢxᵢⱼ and Σ cᵢ as the comments have them, in floating point.
func definition(s *Sums, x *mat.Dense, w []float64, intercept, clip, entry float64) (g []float64, total float64) {
	d := s.t.Enc.Columns
	g = make([]float64, d)
	held := func(v, most float64) float64 { return math.Max(-most, math.Min(most, v)) }
	for i := range s.labels {
		u := encode(&s.t.Enc, x.RawRowView(i))[:d]
		z := intercept
		for j := range u {
			u[j] = held(u[j], entry)
			z += w[j] * u[j]
		}
		c := held(s.loss.Deriv(z, s.labels[i]), clip)
		total += c
		for j, v := range u {
			g[j] += c * v
		}
	}
	return g, total
}

// After any moves the sums are what their definition says, and, to the last bit, what they
// are when formed anew, for dense and sparse rows, ranges, intercepts and clips.
func TestCoordinatesMatchTheirDefinition(t *testing.T) {
	for _, c := range testCases() {
		for _, entry := range []float64{5, 0.3} {
			r := rand.New(rand.NewPCG(1, 2))
			const n, d = 1500, 8
			x := randomMatrix(r, n, d, 1)
			sp, y, enc := sparsify(t, r, x, 0.3), labelsFor(r, c, n), c.enc(t, d)
			clip := math.Min(c.clip, 0.6)
			var bits []int64
			for name, m := range map[string]mat.Matrix{"dense": x, "sparse": sp, "opaque": opaque{x}} {
				s := sumsOf(t, m, y, c.label, enc, c.loss)
				v, w, intercept := walked(t, s, clip, entry, 4)
				g, total := definition(s, x, w, intercept, clip, entry)
				for j := range g {
					if got := float64(v.Sums()[j]) * v.at.step(); math.Abs(got-g[j]) > 1e-5*clip*entry {
						t.Errorf("%s, %s, entries to %g: column %d has %.10g, and should have %.10g", c.name, name, entry, j, got, g[j])
					}
				}
				got, _ := v.Total()
				if math.Abs(got-total) > 1e-5*clip {
					t.Errorf("%s, %s: the slopes' sum is %.10g, and should be %.10g", c.name, name, got, total)
				}
				before, all := slices.Clone(v.Sums()), v.sums[d]
				if err := v.Shift(ctx, intercept); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(before, v.Sums()) || all != v.sums[d] {
					t.Errorf("%s, %s: sums that were kept up to date differ from those that are formed anew", c.name, name)
				}
				if name != "sparse" && c.enc(t, d).Scale != nil { // whose norms of rows are rounded in another order
					continue
				}
				if bits == nil {
					bits = before
				}
				for j := range bits {
					if math.Abs(float64(before[j]-bits[j])) > n {
						t.Errorf("%s, %s: column %d has %d steps, and %d in another form", c.name, name, j, before[j], bits[j])
					}
				}
			}
		}
	}
}

// A replaced row moves no column further than Sensitivity says, after any moves, and some
// rows go all the way.
func TestCoordinatesSensitivity(t *testing.T) {
	for _, c := range testCases() {
		for _, form := range []string{"dense", "sparse"} {
			t.Run(c.name+", "+form, func(t *testing.T) {
				const n, d, clip, entry = 40, 3, 0.4, 0.5
				r, enc := rand.New(rand.NewPCG(5, 6)), c.enc(t, d)
				x, y := randomMatrix(r, n, d, 0.5), labelsFor(r, c, n)
				at := func(row []float64, label float64) *Coordinates {
					x.SetRow(7, row)
					y[7] = label
					var m mat.Matrix = mat.DenseCopyOf(x)
					if form == "sparse" {
						m = sparseOf(t, x)
					}
					v, _, _ := walked(t, sumsOf(t, m, slices.Clone(y), c.label, enc, c.loss), clip, entry, 9)
					return v
				}
				worst, largest := 0.0, 0.0
				for k := range 300 {
					var v [2]*Coordinates
					for side := range v {
						row := randomVector(r, d, []float64{0, 0.7, 3, 1e9}[r.IntN(4)])
						if r.IntN(2) == 0 {
							row = make([]float64, d)
							row[k%d] = 10 * float64(1-2*side)
						}
						v[side] = at(row, []float64{0, 1}[r.IntN(2)])
					}
					limit := float64(v[0].Sensitivity())
					for j, g := range v[0].Sums() {
						worst = math.Max(worst, math.Abs(float64(g-v[1].Sums()[j]))/limit)
					}
					a, bound := v[0].Total()
					b, _ := v[1].Total()
					largest = math.Max(largest, math.Abs(a-b)/bound)
				}
				if worst > 1 || worst < 0.7 {
					t.Errorf("a column moves by up to %.12g of the bound", worst)
				}
				if largest > 1 || largest < 0.7 {
					t.Errorf("the slopes' sum moves by up to %.12g of the bound", largest)
				}
			})
		}
	}
}

// Each of a person's rows may be rounded by a step, of either of two persons.
func TestCoordinatesRoundEachRowOfAPerson(t *testing.T) {
	sensitivity := func(most int) uint64 {
		table, order, err := rows.Own(mustTable(t, mat.NewDense(6, 1, []float64{1, 2, 3, 4, 5, 6}), encoding.NewIdentity(1, 1, false)), rows.Owners{Persons: make([]int, 6), Count: 1, Most: most})
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSums(table, make([]float64, len(order)), 0, 1, losses.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		v, err := NewCoordinates(ctx, s, 0.5, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		return v.Sensitivity()
	}
	if one, five := sensitivity(1), sensitivity(5); five != one+8 {
		t.Errorf("persons of five rows move a column by %d steps, of one row by %d", five, one)
	}
}

// A row's part is as large as the bound says when its slope and its feature are, and one
// step less than the bound's room for rounding.
func TestCoordinatesReachTheirBound(t *testing.T) {
	for _, clip := range []float64{0.5, 1. / 3, 1e-40, 7e30} {
		for _, entry := range []float64{1, 0.1, 3e20} {
			x := mat.NewDense(1, 1, []float64{entry})
			s := sumsOf(t, x, []float64{1e35}, 1e35, encoding.NewIdentity(1, entry, false), losses.Squared{})
			v, err := NewCoordinates(ctx, s, clip, entry, 0)
			if err != nil {
				t.Fatal(err)
			}
			half := v.Sensitivity() / 2
			if got := uint64(-v.Sums()[0]); got > half || got < half-2 || got < 1<<30-1 || got > 1<<31 {
				t.Errorf("clip %g, entry %g: a row adds %d steps, and %d at most", clip, entry, got, half)
			}
		}
	}
}

// A person's rows count their shares: the sums are those of single rows, weighted, and a
// replaced person moves them no further than the bound.
func TestCoordinatesOfPersons(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	const Given, most, clip, entry = 30, 4, 0.5, 1.
	for k := range 60 {
		var v [2]*Coordinates
		others := randomOwned(r, 50, Given-1)
		for side := range v {
			o := owned{x: mat.NewDense(50+8*side, 3, nil), y: slices.Clone(others.y), off: slices.Clone(others.off), Given: slices.Clone(others.Given), weights: slices.Clone(others.weights)}
			for i := range 50 {
				o.x.SetRow(i, others.x.RawRowView(i))
			}
			for i := range 8 * side { // the last person has eight rows, or none
				o.x.SetRow(50+i, []float64{5, -5, 0})
				o.y, o.off, o.Given, o.weights = append(o.y, float64(k%2)), append(o.off, 0.5), append(o.Given, Given-1), append(o.weights, 2)
			}
			s := sumsOf(t, sparseOf(t, o.x), o.y, 0, encoding.NewIdentity(3, 1.5, true), losses.Logistic{})
			table, order, err := rows.Own(s.t, rows.Owners{Persons: o.Given, Count: Given, Most: most, Coins: mechanisms.NewSeededSource(1), Weights: o.weights, Heavy: 1})
			if err != nil {
				t.Fatal(err)
			}
			owned := picked(s, table, order).Shift(blocks.Gather(o.off, order), rows.Range{-offsetEnd, offsetEnd})
			var w []float64
			var intercept float64
			v[side], w, intercept = walked(t, owned, clip, entry, uint64(k))
			var want float64
			for at, i := range order {
				u := encode(&s.t.Enc, o.x.RawRowView(i))
				z := intercept + o.off[i]
				for j := range 3 {
					z += w[j] * math.Max(-entry, math.Min(entry, u[j]))
				}
				want += table.Persons.Share(at) * math.Max(-clip, math.Min(clip, losses.Logistic{}.Deriv(z, 2*o.y[i]-1)))
			}
			if got, _ := v[side].Total(); math.Abs(got-want) > 1e-6 {
				t.Fatalf("the slopes' sum is %.9g, and should be %.9g", got, want)
			}
		}
		for j, g := range v[0].Sums() {
			if moved := math.Abs(float64(g - v[1].Sums()[j])); moved > float64(v[0].Sensitivity())/2 { // against a person without rows
				t.Errorf("column %d moves by %g steps, and may by %d", j, moved, v[0].Sensitivity()/2)
			}
		}
	}
}

// heavy adds 2^40 + 1 for each row.
type heavy struct{ rows.Nothing }

func (heavy) Cut(t *rows.Table) rows.Cut { return t.InTiles(1) }
func (heavy) Shifted() bool              { return false }
func (heavy) Add(*rows.Part) rows.Adder {
	return rows.EachRow(func(_ int, sum []float64) { sum[0] += 1<<40 + 1 })
}

// Whole numbers add up to what no float64 is.
func TestWholeSumsAreExact(t *testing.T) {
	const n = 12_001 // several blocks
	var sum [1]int64
	if err := rows.SumWhole(ctx, mustTable(t, mat.NewDense(n, 1, nil), encoding.NewIdentity(1, 1, false)), sum[:], heavy{}); err != nil {
		t.Fatal(err)
	}
	if want := int64(n * (1<<40 + 1)); sum[0] != want || int64(float64(want)) == want {
		t.Errorf("the sum is %d, not %d", sum[0], want)
	}
}

// More rows than whole numbers have room for are refused before any is read.
func TestCoordinatesOfTooManyRows(t *testing.T) {
	for n, taken := range map[int]bool{1 << 29: true, 1<<29 + 1: false} {
		s := sumsOf(t, mat.NewDense(1, 1, nil), []float64{0}, 1, encoding.NewIdentity(1, 1, false), losses.Squared{})
		of := *s.t
		of.Layout.N = n
		s.t = &of
		done, stop := context.WithCancel(ctx)
		stop()
		_, err := NewCoordinates(done, s, 1, 1, 0)
		if errors.Is(err, check.ErrShape) == taken {
			t.Errorf("%d rows: %v", n, err)
		}
	}
	if each := float64(1<<31 + 1<<20); MostCoordinateRows*each >= 1<<61 {
		t.Errorf("%d rows add up to %g", MostCoordinateRows, MostCoordinateRows*each)
	}
}

// However many rows there are, those of a block add less than 2^53, where each adds the most: 2^31 steps, and one for each
// of a person's rows, of which no more than 2^20 count.
func TestCoordinatesOfABlockAreExact(t *testing.T) {
	for _, n := range []int{1, 1 << 20, 1<<20 + 1, 1<<27 - 1, 1 << 27, 1 << 30} {
		for _, columns := range []int{1, 1000, 1 << 26} {
			for _, sparse := range []bool{false, true} {
				table := &rows.Table{Enc: encoding.Encoding{Columns: columns}, Layout: blocks.NewLayout(n, columns, sparse, nil)}
				c := new(coordinateSums).cut(table)
				if int64(c.BlockPersons)*(1<<31+1<<20) >= 1<<53 || int64(c.Blocks)*int64(c.BlockPersons) < int64(n) {
					t.Errorf("%d rows of %d columns in %d blocks of %d", n, columns, c.Blocks, c.BlockPersons)
				}
			}
		}
	}
}

// unsloped has slopes that are no numbers, or no bounded ones.
type unsloped struct{ losses.Logistic }

func (unsloped) Deriv(z, y float64) float64 {
	if y > 0 {
		return math.NaN()
	}
	return math.Inf(1)
}

func TestCoordinatesHoldAnySlope(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{1, 1})
	for _, y := range [][]float64{{0, 0}, {1, 1}, {0, 1}} {
		v, err := NewCoordinates(ctx, sumsOf(t, x, y, 0, encoding.NewIdentity(1, 1, false), unsloped{}), 0.5, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if g := math.Abs(float64(v.Sums()[0])) * v.at.step(); g > 1+1e-8 {
			t.Errorf("two rows add %g, and may add 1", g)
		}
	}
}

func TestCoordinatesSameBitsForAnyGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(1, 9))
	const n, d = 9000, 20
	x := randomMatrix(r, n, d, 1)
	sp, y := sparsify(t, r, x, 0.2), labelsFor(r, testCases()[0], n)
	for name, m := range map[string]mat.Matrix{"dense": x, "sparse": sp} {
		var first string
		for _, procs := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(procs)
			v, _, _ := walked(t, sumsOf(t, m, y, 0, encoding.NewIdentity(d, 2, true), losses.Logistic{}), 0.5, 1, 3)
			if text := fmt.Sprint(v.sums, v.at.kept); first == "" {
				first = text
			} else if text != first {
				t.Errorf("%s: other sums with GOMAXPROCS=%d", name, procs)
			}
		}
	}
}

func TestCoordinatesCancelled(t *testing.T) {
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	s := sumsOf(t, mat.NewDense(3, 1, nil), []float64{0, 1, 1}, 0, encoding.NewIdentity(1, 1, false), losses.Logistic{})
	if _, err := NewCoordinates(stopped, s, 1, 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a pass that was cancelled: %v", err)
	}
}
