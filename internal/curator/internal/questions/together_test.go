package questions

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// family are persons whose rows are to count each, and what sums over them are by their definition.
type family struct {
	persons [][][]float64 // of each row its coordinates, and last 1
	slopes  [][][]float64 // of each row φ', or those of classes, times what it counts
	curved  [][]float64   // φ” times what it counts
	counts  [][]float64
}

// held is v, or v scaled down to a length.
func heldTo(v []float64, most float64) []float64 {
	if l := floats.Norm(v, 2); l > most {
		floats.Scale(most/l, v)
	}
	return v
}

// gradient is a person's, of all classes, each row's held first; the constant's are the last of each.
func (f *family) gradient(p int, p1 Slope) []float64 {
	classes := len(f.slopes[p][0])
	d := len(f.persons[p][0]) - 1
	sum := make([]float64, classes*(d+1))
	for i, x := range f.persons[p] {
		g := make([]float64, 0, len(sum))
		beside := make([]float64, classes)
		for k, slope := range f.slopes[p][i] {
			if beside[k] = slope * p1.Constant; p1.Apart > 0 {
				slope = math.Max(-p1.Apart, math.Min(slope, p1.Apart))
				beside[k] = slope
			}
			for _, v := range x[:d] {
				g = append(g, slope*v)
			}
			if p1.Apart == 0 {
				g = append(g, beside[k])
			} else {
				g = append(g, 0)
			}
		}
		g = heldTo(g, p1.Clip)
		if p1.Apart > 0 {
			g[d] = 0
			sum[d] += beside[0]
		}
		floats.Add(sum, g)
	}
	if p1.Apart > 0 {
		apart := math.Max(-p1.Apart, math.Min(sum[d], p1.Apart))
		return append(heldTo(sum[:d], p1.Clip), apart*p1.Constant/p1.Apart)
	}
	return heldTo(sum, p1.Clip)
}

// squares is Σ f·vvᵀ of a person's rows, beside a constant, packed.
func (f *family) squares(p int, factors []float64, constant float64) []float64 {
	d := len(f.persons[p][0]) - 1
	if constant > 0 {
		d++
	}
	m := mat.NewSymDense(d, nil)
	for i, x := range f.persons[p] {
		v := slices.Clone(x[:d])
		if constant > 0 {
			v[d-1] = constant
		}
		m.SymRankOne(m, factors[i], mat.NewVecDense(d, v))
	}
	return pack(m)
}

// clinic draws persons of 1 to 700 rows, some more than a tile or a block's list holds.
func clinic(t *testing.T, sparse, weighted bool, labels func(r *rand.Rand) float64, loss losses.Loss) (*Sums, []float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	var ids []int
	for p, size := range append([]int{700, 150, 129, 128, 0}, slices.Repeat([]int{1, 2, 5, 1, 17}, 40)...) {
		ids = append(ids, slices.Repeat([]int{p}, size)...)
	}
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	x, y, weights := mat.NewDense(len(ids), 3, nil), make([]float64, len(ids)), make([]float64, len(ids))
	for i := range ids {
		for j := range 3 {
			if r.IntN(3) > 0 {
				x.Set(i, j, r.NormFloat64())
			}
		}
		y[i], weights[i] = labels(r), r.Float64()
	}
	var m mat.Matrix = x
	if sparse {
		m = sparseOf(t, x)
	}
	facts := rows.Owners{Persons: ids, Most: 700, Each: true, Coins: mechanisms.NewSeededSource(3)}
	if weighted {
		facts.Weights, facts.Heavy = weights, 0.8
	}
	table, order, err := rows.Own(mustTable(t, m, encoding.NewIdentity(3, 1.5, true)), facts)
	if err != nil {
		t.Fatal(err)
	}
	if loss == nil {
		return &Sums{t: table, labels: blocks.Gather(y, order)}, nil
	}
	s, err := NewSums(table, blocks.Gather(y, order), 0, 2, loss)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.labels
}

// familyOf is what a frame makes of persons, under the slopes of a row's scores.
func familyOf(s *Sums, f Frame, slopes func(i int, x []float64) (of []float64, curved float64)) *family {
	var c family
	for p := range s.t.Len() {
		lo, hi := s.t.Persons.Rows(p, p+1)
		if lo == hi {
			continue
		}
		var list, of [][]float64
		var curved, counts []float64
		for i := lo; i < hi; i++ {
			row := make([]float64, s.t.Enc.Dim())
			s.t.Encode(row, s.t.Src.Tile(i, i+1, make([]float64, 3)), i, 0)
			x, _ := f.coordinates(row[:3])
			x = append(x, 1)
			count := f.Each * s.t.Persons.Weight(i)
			slope, curve := slopes(i, x)
			floats.Scale(count, slope)
			list, of, curved, counts = append(list, x), append(of, slope), append(curved, count*curve), append(counts, count)
		}
		c.persons, c.slopes, c.curved, c.counts = append(c.persons, list), append(c.slopes, of), append(c.curved, curved), append(c.counts, counts)
	}
	return &c
}

func same(t *testing.T, what string, values []float64, err error, want []float64) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if len(values) != len(want) || !floats.EqualApprox(values, want, 1e-9*(1+floats.Norm(want, math.Inf(1)))) {
		t.Errorf("%s: %v, want %v", what, values, want)
	}
}

// Where each row counts, what a person's rows add up to is held as a whole, and what persons' numbers
// are counted by is how long that was: by the definition, row by row, of persons with rows in one tile and in several.
func TestPersonsAreHeldTogether(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			for name, f := range testFrames(3) {
				if f.NormBound != 0 {
					continue
				}
				f.Each = 0.3
				s, y := clinic(t, sparse, weighted, func(r *rand.Rand) float64 { return float64(r.IntN(2)) }, losses.Logistic{})
				framed, err := NewFramed(ctx, s, whole, f)
				if err != nil {
					t.Fatal(err)
				}
				testTogether(t, name, s, framed, y, f)
			}
		}
	}
}

func testTogether(t *testing.T, name string, s *Sums, framed *Framed, y []float64, f Frame) {
	t.Helper()
	u, b := []float64{0.7, -0.5, 0.4}[:framed.Dim()], 0.2
	c := familyOf(s, f, func(i int, x []float64) ([]float64, float64) {
		z := floats.Dot(u, x[:len(u)]) + b
		return []float64{losses.Logistic{}.Deriv(z, y[i])}, losses.Logistic{}.Curvature(z, y[i])
	})
	edges := []float64{20, 8, 4, 2, 1, 0.5, 0.2}
	for _, p := range []Slope{{Clip: 1.2}, {Clip: 1.2, Constant: 1}, {Clip: 0.9, Constant: 0.5, Apart: 0.6}, {Clip: 1e9, Constant: 1}} {
		var sum, scatter []float64
		counts := make([]float64, len(edges)+1)
		free := p
		free.Clip = 1e9
		for k := range c.persons {
			g := c.gradient(k, p)
			if p.Constant == 0 {
				g = g[:len(u)]
			}
			sum = added(sum, g)
			m := mat.NewSymDense(len(g), nil)
			m.SymRankOne(m, 1, mat.NewVecDense(len(g), g))
			scatter = added(scatter, pack(m))
			long := c.gradient(k, free)
			if p.Apart > 0 || p.Constant == 0 {
				long = long[:len(u)]
			}
			counts[cell(edges, floats.Norm(long, 2))]++
		}
		got, _, err := heard(framed.Gradient(ctx, u, b, p))
		same(t, name+", gradient", got, err, sum)
		if p.Apart == 0 {
			got, _, err = heard(framed.Scatter(ctx, u, b, p))
			same(t, name+", scatter", got, err, scatter)
		}
		if p.Constant > 0 { // without it no row is taken to be shorter than 1
			got, _, err = heard(framed.GradientNorms(ctx, edges, u, b, p))
			same(t, name+", norms", got, err, counts)
		}
	}
	const most, normBound = 0.25, 0.8
	hessian, moments := []float64(nil), []float64(nil)
	curvatures, norms := make([]float64, len(edges)+1), make([]float64, len(edges)+1)
	for k := range c.persons {
		curvatures[cell(edges, math.Sqrt(c.bound(k, c.curved[k], 1)))]++
		hessian = added(hessian, c.within(k, c.curved[k], 1, normBound))
		norms[cell(edges, math.Sqrt(c.bound(k, c.counts[k], 0)))]++
		moments = added(moments, c.within(k, c.counts[k], 0, normBound))
	}
	got, _, err := heard(framed.Hessian(ctx, u, b, 1, most, normBound, Slope{}))
	same(t, name+", Hessian", got, err, hessian)
	got, _, err = heard(framed.CurvatureNorms(ctx, edges, u, b, 1, most, Slope{}))
	same(t, name+", curvatures", got, err, curvatures)
	got, _, err = heard(framed.Moments(ctx, normBound))
	same(t, name+", moments", got, err, moments)
	got, _, err = heard(framed.MomentNorms(ctx, edges))
	same(t, name+", moments' norms", got, err, norms)
}

// bound is that on the norm of squares: of mostKept rows each it is the norm.
func (f *family) bound(p int, factors []float64, constant float64) (sum float64) {
	whole := f.persons[p]
	defer func() { f.persons[p] = whole }()
	for lo := 0; lo < len(whole); lo += mostKept {
		hi := min(lo+mostKept, len(whole))
		f.persons[p] = whole[lo:hi]
		sum += floats.Norm(f.squares(p, factors[lo:hi], constant), 2)
	}
	return sum
}

// within is squares held to a bound, of rows that are held to it first.
func (f *family) within(p int, factors []float64, constant, normBound float64) []float64 {
	held := slices.Clone(factors)
	for i, x := range f.persons[p] {
		square := floats.Dot(x[:len(x)-1], x[:len(x)-1]) + constant*constant
		held[i] = math.Min(held[i], normBound*normBound/square)
	}
	m := f.squares(p, held, constant)
	if b := f.bound(p, held, constant); b > normBound*normBound {
		floats.Scale(normBound*normBound/b, m)
	}
	return m
}

func added(sum, v []float64) []float64 {
	if sum == nil {
		sum = make([]float64, len(v))
	}
	floats.Add(sum, v)
	return sum
}

// The same of the gradients of classes.
func TestClassesAreHeldTogether(t *testing.T) {
	f := testFrames(3)["matrix"]
	f.Each = 0.3
	s, _ := clinic(t, false, true, func(r *rand.Rand) float64 { return float64(r.IntN(3)) }, nil)
	framed, err := (&Classes{s, 3}).Frame(ctx, whole, f)
	if err != nil {
		t.Fatal(err)
	}
	at := ClassPoint{U: [][]float64{{0.5, 0.1, 0}, {-0.3, 0.2, 0.4}, {0, 0, 0}}, B: []float64{0.3, 0, -0.1}}
	constant, limit := []float64{0.1, 0.2, 0}, 0.7
	var scale float64
	terms := map[int]float64{}
	c := familyOf(s, f, func(i int, x []float64) ([]float64, float64) {
		z, total := make([]float64, 3), 0.0
		for k := range z {
			z[k] = math.Exp(floats.Dot(at.U[k], x[:3]) + at.B[k])
			total += z[k]
		}
		term := 0.0
		for k := range z {
			score := math.Log(z[k])
			if z[k] /= total; k == int(s.labels[i]) {
				z[k]--
			}
			term += z[k] * (score - constant[k])
		}
		terms[i] = math.Max(-limit, math.Min(term*f.Each*s.t.Persons.Weight(i), limit))
		return z, 0
	})
	edges := []float64{20, 8, 4, 2, 1, 0.5, 0.2}
	for _, p := range []ClassSlope{{Clip: 0.8, Constant: 1}, {Clip: 1e9, Constant: 1}} {
		var sum []float64
		counts := make([]float64, len(edges)+1)
		for k := range c.persons {
			sum = added(sum, c.gradient(k, p.slope()))
			counts[cell(edges, floats.Norm(c.gradient(k, Slope{Clip: 1e9, Constant: 1}), 2))]++
		}
		got, _, err := heard(framed.Gradient(ctx, at, p))
		same(t, "gradient", got, err, sum)
		got, _, err = heard(framed.GradientNorms(ctx, edges, at, p))
		same(t, "norms", got, err, counts)
	}
	for p := range s.t.Len() {
		lo, hi := s.t.Persons.Rows(p, p+1)
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += terms[i]
		}
		scale += math.Max(-limit, math.Min(sum, limit))
	}
	got, _, err := heard(framed.ScaleSlope(ctx, at, constants(at, constant), limit))
	same(t, "scale", got, err, []float64{scale})
}

// inRow are persons in that order, the first of the given number of rows and the others of the same ones.
func inRow(t *testing.T, enc encoding.Encoding, first, others, each int, row func(i int) ([]float64, float64), loss losses.Loss) *Sums {
	t.Helper()
	var list []float64
	var y []float64
	o := &blocks.Persons{Start: []int{0}, Most: max(first, each), Given: true, Each: true}
	for p := range others + 1 {
		rows := each
		if p == 0 {
			rows = first
		}
		for i := range rows {
			x, label := row(i)
			list, y = append(list, x...), append(y, label)
			o.Add(1, rows, false)
		}
		o.Start = append(o.Start, len(y))
	}
	table := *mustTable(t, mat.NewDense(len(y), enc.Columns, list), enc)
	table.Persons, table.Layout = o, blocks.NewLayout(others+1, enc.Columns, false, o)
	if loss == nil {
		return &Sums{t: &table, labels: y}
	}
	s, err := NewSums(&table, y, 0, 1000, loss)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// How many rows a person has says where tiles cut those of others. Their lengths must not show it, in no bit: at an edge they
// would all go to another cell.
func TestTilesDontShowInLengths(t *testing.T) {
	enc, r := encoding.NewIdentity(3, 1, true), rand.New(rand.NewPCG(1, 2))
	const persons, f = 20, 0.25
	tile := inRow(t, enc, 1, 0, 1, func(int) ([]float64, float64) { return make([]float64, 3), 0 }, losses.Squared{}).t.Layout.TileRows
	xs, ys := make([][]float64, tile), make([]float64, tile)
	at := ClassPoint{U: [][]float64{{0.5, 0.1, 0}, {-0.3, 0.2, 0.4}, {0, 0, 0}}, B: []float64{0.3, 0, -0.1}}
	for name, count := range map[string]func(first int, edge float64) []float64{
		"one score": func(first int, edge float64) []float64 {
			framed, err := NewFramed(ctx, inRow(t, enc, first, persons, tile, func(i int) ([]float64, float64) { return xs[i], ys[i] }, losses.Squared{}), whole, Frame{Each: f})
			if err != nil {
				t.Fatal(err)
			}
			counts, _, _ := heard(framed.GradientNorms(ctx, []float64{edge}, []float64{0.1, 0.2, -0.3}, 0.1, Slope{Clip: 1, Constant: 1}))
			return counts
		},
		"classes": func(first int, edge float64) []float64 {
			framed, err := (&Classes{inRow(t, enc, first, persons, tile, func(i int) ([]float64, float64) { return xs[i], ys[i] }, nil), 3}).Frame(ctx, whole, Frame{Each: f})
			if err != nil {
				t.Fatal(err)
			}
			counts, _, _ := heard(framed.GradientNorms(ctx, []float64{edge}, at, ClassSlope{Clip: 1, Constant: 1}))
			return counts
		},
	} {
		for range sample.Of(6, 16) {
			for i := range xs {
				if xs[i], ys[i] = []float64{r.NormFloat64() / 3, r.NormFloat64() / 3, r.NormFloat64() / 3}, r.NormFloat64(); name == "classes" {
					ys[i] = float64(r.IntN(3))
				}
			}
			first := 1 + r.IntN(tile-1)
			low, high := 0.0, 1e3
			for range 70 {
				if middle := (low + high) / 2; count(first, middle)[0] >= persons {
					low = middle
				} else {
					high = middle
				}
			}
			if others := count(tile, low)[0] - count(tile, high)[0]; others < persons {
				t.Errorf("%s: beside one of %d rows others are %.17g long, of whom %g are beside one of %d", name, first, low, others, tile)
			}
		}
	}
}

// A person whose gradient is just within the clip isn't shortened, in one tile or in two: others' rows decide which.
func TestTilesDontShorten(t *testing.T) {
	for _, far := range []float64{1, 1e3, 1e5} {
		for _, d := range []int{8, 100} {
			names, ranges := make([]string, d), map[string][2]float64{}
			for j := range d {
				names[j] = string(rune('a'+j/26)) + string(rune('a'+j%26))
				ranges[names[j]] = [2]float64{far - 1, far + 1}
			}
			enc, err := encoding.NewSchema(names, ranges, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			x := make([]float64, d)
			for j := range x {
				x[j] = far + 0.5
			}
			for _, p := range []Slope{{Clip: 1, Constant: 1}, {Clip: 1, Constant: 1e-3, Apart: 1}} {
				tile := inRow(t, enc, 1, 0, 1, func(int) ([]float64, float64) { return x, 0 }, losses.Squared{}).t.Layout.TileRows
				answer := func(first int) ([]float64, float64) {
					s := inRow(t, enc, first, 1, tile-1, func(int) ([]float64, float64) { return x, 0 }, losses.Squared{})
					framed, err := NewFramed(ctx, s, whole, Frame{Each: 1})
					if err != nil {
						t.Fatal(err)
					}
					norms := framed.norms.beside(p)
					for i := range s.labels { // the first one's are 0
						if s.labels[i] = 0; i >= first {
							s.labels[i] = -p.Clip / (norms[i] * float64(tile-1)) * (1 - 1e-14)
						}
					}
					v, l2, err := heard(framed.Gradient(ctx, make([]float64, d), 0, p))
					if err != nil {
						t.Fatal(err)
					}
					return v, l2 - 2*math.Hypot(p.Clip, p.Constant*min(p.Apart, 1))
				}
				one, room := answer(1)
				two, _ := answer(2)
				if moved := floats.Distance(one, two, 2); moved > math.Max(room, 0)/2 {
					t.Errorf("range at %g, %d columns, %+v: moved by %g, room for rounding is %g", far, d, p, moved, room)
				}
			}
		}
	}
}

// A row of no weight counts nothing, whatever its slope is.
func TestRowsOfNoWeightCountNothing(t *testing.T) {
	s := inRow(t, encoding.NewIdentity(2, 1000, true), 2, 3, 2, func(i int) ([]float64, float64) { return []float64{[]float64{1, 1000}[i], 0}, 1 }, losses.Poisson{})
	s.t.Persons.Weights = make([]float64, len(s.labels))
	for i := range s.t.Persons.Weights {
		s.t.Persons.Weights[i] = float64((i + 1) % 2)
	}
	framed, err := NewFramed(ctx, s, whole, Frame{Each: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Slope{{Clip: 1, Constant: 1}, {Clip: 1, Constant: 1, Apart: 1}} {
		for name, ask := range map[string]func() ([]float64, float64, error){
			"gradient": func() ([]float64, float64, error) { return heard(framed.Gradient(ctx, []float64{1, 0}, 0, p)) },
			"scatter":  func() ([]float64, float64, error) { return heard(framed.Scatter(ctx, []float64{1, 0}, 0, p)) },
		} {
			if v, _, err := ask(); err != nil || floats.HasNaN(v) {
				t.Errorf("%s, %+v: %v, %v", name, p, v, err)
			}
		}
	}
}
