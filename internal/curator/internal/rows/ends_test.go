package rows

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
)

// Rows are plain that nobody has several of, that have no weights and whose number is public.
func TestPlainOwners(t *testing.T) {
	for k, c := range []struct {
		o     Owners
		plain bool
	}{{Owners{}, true}, {Owners{Count: 1, Most: 1, Heavy: 1}, true}, {Owners{Places: 1}, false}, {Owners{Places: 2}, false}, {Owners{Persons: []int{}}, false}, {Owners{Weights: []float64{}}, false}} {
		if c.o.Plain() != c.plain {
			t.Errorf("%d, %+v: plain is %v", k, c.o, c.o.Plain())
		}
	}
}

// Facts about owners are taken up to their ends and refused beyond, with the row, counted from 1, that breaks a rule.
func TestOwnersUpToTheirEnds(t *testing.T) {
	persons := func(count, most, places int, each bool, of ...int) Owners {
		return Owners{Persons: of, Count: count, Most: most, Places: places, Each: each}
	}
	weights := func(heavy float64, of ...float64) Owners { return Owners{Weights: of, Heavy: heavy} }
	tiny := math.SmallestNonzeroFloat64
	for k, c := range []struct {
		o    Owners
		kind error // nil if they are taken, of two rows
		row  string
	}{
		{Owners{}, nil, ""},
		{persons(0, 1, 0, false, 7, 9), nil, ""}, {persons(0, 1, 0, false, 7), check.ErrShape, "2 rows"}, {persons(0, 1, 0, false, 7, 8, 9), check.ErrShape, "2 rows"},
		{persons(-1, 1, 0, false, 7, 9), check.ErrConfig, ""}, {persons(1<<27, 1, 0, false, 7, 9), nil, ""}, {persons(1<<27+1, 1, 0, false, 7, 9), check.ErrConfig, ""},
		{persons(2, 1, 0, false, 7, 9), nil, ""}, {persons(1, 1, 0, false, 7, 7), nil, ""}, {persons(1, 1, 0, false, 7, 9), check.ErrValue, "row 2 "},
		{persons(0, 0, 0, false, 7, 9), check.ErrConfig, ""}, {persons(0, 1<<20, 0, false, 7, 9), nil, ""}, {persons(0, 1<<20+1, 0, false, 7, 9), check.ErrConfig, ""},
		{persons(0, 1000, 0, true, 7, 9), nil, ""}, {persons(0, 1001, 0, true, 7, 9), check.ErrConfig, "1000"}, {persons(0, 1001, 0, false, 7, 9), nil, ""},
		{persons(0, 1, 2, false, 7, 9), nil, ""}, {persons(0, 1, 1, false, 7, 9), check.ErrValue, "row 2 "}, {persons(1, 1, 2, false, 7, 7), check.ErrConfig, ""},
		{Owners{Places: -1}, check.ErrConfig, ""}, {Owners{Places: 1}, check.ErrValue, "row 2 "}, {Owners{Places: 2}, nil, ""}, {Owners{Places: 1 << 27}, nil, ""},
		{Owners{Places: 1<<27 + 1}, check.ErrConfig, ""}, {Owners{Places: 2, Count: 1}, check.ErrConfig, ""}, {Owners{Count: 1}, nil, ""},
		{weights(1, 0, 1), nil, ""}, {weights(1, 0, 2), nil, ""}, {weights(1, 0), check.ErrShape, "2 rows"}, {weights(1, 0, 1, 1), check.ErrShape, "2 rows"},
		{weights(0, 0, 1), check.ErrBound, ""}, {weights(1, 1, -tiny), check.ErrValue, "row 2 "}, {weights(1, math.NaN(), 1), check.ErrValue, "row 1 "},
	} {
		err := c.o.check(2)
		if (err == nil) != (c.kind == nil) || !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.row) {
			t.Errorf("%d, %+v: %v", k, c.o, err)
		}
	}
}

// Labels are mapped by their kind, and reported where they lie outside of its domain.
func TestLabelsOfEachKind(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for k, c := range []struct {
		kind           losses.Labels
		y, centre, max float64
		want           float64
		ok             bool
	}{
		{losses.Binary, 1, 5, 5, 1, true}, {losses.Binary, 0, 5, 5, -1, true}, {losses.Binary, -1, 5, 5, -1, true}, {losses.Binary, tiny, 5, 5, 1, false},
		{losses.Binary, 2, 5, 5, 1, false}, {losses.Binary, -tiny, 5, 5, -1, false}, {losses.Binary, -2, 5, 5, -1, false},
		{losses.Count, 0, 5, 3, 0, true}, {losses.Count, 3, 5, 3, 3, true}, {losses.Count, 4, 5, 3, 3, true}, {losses.Count, -tiny, 5, 3, -tiny, false},
		{losses.Amount, 0.5, 5, 3, 0.5, true}, {losses.Amount, -0.5, 5, 3, -0.5, false},
		{losses.Real, 7, 5, 3, 2, true}, {losses.Real, 9, 5, 3, 3, true}, {losses.Real, 1, 5, 3, -3, true},
	} {
		if y, ok := MapLabel(c.kind, c.y, c.centre, c.max); y != c.want || ok != c.ok {
			t.Errorf("%d: %g becomes %g, %v", k, c.y, y, ok)
		}
	}
	d := AnyLabels()
	if !d.Binary || !d.Whole || d.Least <= d.Most {
		t.Errorf("of no labels %+v", d)
	}
	for _, step := range []struct {
		y    []float64
		want LabelDomain
	}{{[]float64{0, 1}, LabelDomain{true, true, 0, 1}}, {[]float64{-1}, LabelDomain{true, true, -1, 1}}, {[]float64{3}, LabelDomain{false, true, -1, 3}},
		{[]float64{1, 0}, LabelDomain{false, true, -1, 3}}, {[]float64{0.5}, LabelDomain{false, false, -1, 3}}, {[]float64{-2}, LabelDomain{false, false, -2, 3}}} {
		other := AnyLabels()
		if err := errors.Join(d.Add(step.y, 0), other.Add(step.y, 0)); err != nil || d != step.want {
			t.Errorf("with %v: %+v (%v)", step.y, d, err)
		}
		merged := AnyLabels()
		merged.merge(other)
		if merged != other {
			t.Errorf("%+v is merged with none to %+v", other, merged)
		}
	}
	for _, y := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := d.Add([]float64{0, y}, 40); !errors.Is(err, check.ErrValue) || !strings.Contains(err.Error(), "row 42 ") {
			t.Errorf("%g: %v", y, err)
		}
	}
	if r := (Range{-3, 2}); r.Largest() != 3 || (Range{-1, 2}).Largest() != 2 || (Range{1, 1.5}).Largest() != 1.5 {
		t.Error("the largest of ranges")
	}
}

// What a file has beside its rows is taken as facts, and refused with the row that breaks a rule.
func TestBesideIsTakenAsFacts(t *testing.T) {
	facts := &rowfile.Facts{Beside: []string{rowfile.Person, rowfile.Weight}}
	facts.MaxWeight, facts.AtMost = 3, 4
	facts.Persons.Count, facts.Persons.MaxRows = 5, 6
	o, err := OwnersOf(facts, [][]float64{{7, 9}, {1, 2}})
	if err != nil || !slices.Equal(o.Persons, []int{7, 9}) || !slices.Equal(o.Weights, []float64{1, 2}) || o.Count != 5 || o.Most != 6 || o.Places != 4 || o.Heavy != 3 || !o.Each {
		t.Errorf("%+v (%v)", o, err)
	}
	if _, err := OwnersOf(facts, [][]float64{{7, 8.5}, {1, 2}}); !errors.Is(err, check.ErrValue) || !strings.Contains(err.Error(), "row 2 ") {
		t.Error(err)
	}
	f, c := &rowfile.File{}, &rowfile.Chunk{Beside: [][]float64{{0}, {1, math.NaN()}}}
	f.Beside = []string{rowfile.Weight, rowfile.Offset}
	if err := CheckOffsets(f, c, 40); !errors.Is(err, check.ErrValue) || !strings.Contains(err.Error(), "row 42 ") {
		t.Error(err)
	}
	c.Beside[1][1], f.Offsets = 9, [2]float64{-2, 3}
	if err := CheckOffsets(f, c, 40); err != nil {
		t.Error(err)
	}
	c.Beside[1] = []float64{-9, -2, 0, 3, 9}
	if held := heldOffsets(f, c); !slices.Equal(held, []float64{-2, -2, 0, 3, 3}) || c.Beside[1][0] != -9 {
		t.Errorf("held to %v, of %v", held, c.Beside[1])
	}
	f.Beside, c.Beside = []string{rowfile.Person}, [][]float64{{math.NaN()}}
	if err := CheckOffsets(f, c, 0); err != nil {
		t.Error("no offsets:", err)
	}
}

// Parts of a file's rows are whole tiles of about 2^15 numbers, and one tile at least; of sparse rows a column counts as one of 64 at most, and of
// projected ones the file's columns count, where these are more.
func TestPartsAreWholeTiles(t *testing.T) {
	for k, c := range []struct {
		columns, tile, measured int // measured by a worker that projects, 0 for none
		sparse                  bool
		want                    int
	}{
		{1, 96, 0, false, 32736}, {64, 32, 0, false, 512}, {100, 20, 0, false, 320}, {1 << 15, 8, 0, false, 8}, {1 << 20, 8, 0, false, 8},
		{1 << 20, 256, 0, true, 512}, {64, 256, 0, true, 512}, {63, 256, 0, true, 512}, {32, 256, 0, true, 1024},
		{4, 96, 256, false, 96}, {4, 96, 4, false, 8160}, {256, 8, 4, false, 128},
	} {
		at := &Table{Enc: encoding.NewIdentity(c.columns, 1, false), Place: &Place{Sparse: c.sparse}}
		if c.measured > 0 {
			at.Place.Task = &Task{Measured: encoding.NewIdentity(c.measured, 1, false), Steps: []Step{{}}}
		}
		if got := partRows(at, c.tile); got != c.want || got%c.tile != 0 {
			t.Errorf("%d: parts of %d rows, want %d", k, got, c.want)
		}
		if at.Place.Task != nil {
			at.Place.Task.Steps = nil
			if got, want := partRows(at, c.tile), max(partNumbers/c.columns/c.tile, 1)*c.tile; got != want {
				t.Errorf("%d, without steps: parts of %d rows, want %d", k, got, want)
			}
		}
	}
}

// A number that isn't one is told by its row in the whole file, wherever the chunk begins.
func TestChunksTellTheirRows(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{1, 1, 1, 1, 1, math.NaN(), 1, 1})
	enc := encoding.NewIdentity(2, 1, false)
	table := &Table{Enc: enc, Length: make([]float64, 14), Place: &Place{}}
	err := TakeIn(table, &rowfile.Chunk{Rows: 4, Values: x.RawMatrix().Data}, 10)
	if err == nil || !strings.Contains(err.Error(), "13") {
		t.Errorf("the third of the rows from the eleventh on: %v", err)
	}
}

// Rows of another number of columns are refused: a matrix's, and a map's.
func TestOtherColumnsAreRefused(t *testing.T) {
	two, err := NewTable(mat.NewDense(2, 2, nil), encoding.NewIdentity(2, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	for columns, taken := range map[int]bool{1: false, 2: true, 3: false} {
		_, err := NewTable(mat.NewDense(2, columns, nil), encoding.NewIdentity(2, 1, false))
		if (err == nil) != taken || err != nil && !errors.Is(err, check.ErrShape) {
			t.Errorf("%d columns: %v", columns, err)
		}
		if _, err := (Step{Bound: 1, Map: &sketch.Spec{Kind: "gaussian", K: 1, D: columns}}).of(two); (err == nil) != taken || err != nil && !errors.Is(err, check.ErrConfig) {
			t.Errorf("a map of %d columns: %v", columns, err)
		}
	}
}

// Rows are projected by the map that a step asks for, whichever ones were made before: by one of another kind, another seed, or other columns.
func TestProjectionsAreThoseThatWereAsked(t *testing.T) {
	x := []float64{0.5, -0.25, 0.75, 0.125}
	one, err := NewTable(mat.NewDense(1, 4, x), encoding.NewIdentity(4, 2, false))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, spec := range []sketch.Spec{
			{Kind: "gaussian", K: 2, D: 4, Seed: 1}, {Kind: "gaussian", K: 2, D: 4, Seed: 2}, {Kind: "hadamard", K: 2, D: 4, Seed: 1}, {Kind: "gaussian", K: 3, D: 4, Seed: 1},
			{Kind: "columns", K: 2, D: 4, Kept: []int{0, 3}}, {Kind: "columns", K: 2, D: 4, Kept: []int{0, 2}},
		} {
			phi, err := spec.Map()
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, spec.K)
			phi.Apply(want, x)
			of, err := Step{Bound: 9, Map: &spec}.of(one)
			if err != nil {
				t.Fatal(err)
			}
			if got := of.Src.Tile(0, 1, nil).Data; !slices.Equal(got, want) {
				t.Errorf("%+v: %v, want %v", spec, got, want)
			}
		}
	}
}

// Rows of a file that follow one after the other are read where they lie, one row too; others are copied in their order, which counts from
// the file's first row whatever they were picked of.
func TestRowsThatFollowAreNotCopied(t *testing.T) {
	file := &rowfile.File{}
	whole := &Place{File: file, Class: 2}
	part := whole.pick([]int{3, 4, 5, 6, 7}, nil)  // from row 3 on
	mixed := whole.pick([]int{9, 3, 7, 8, 2}, nil) // copied
	for k, c := range []struct {
		of    *Place
		order []int
		first int   // from the beginning of the file, where rows aren't copied
		rows  []int // of the file, where they are
	}{
		{whole, []int{0}, 0, nil}, {whole, []int{4}, 4, nil}, {whole, []int{4, 5, 6}, 4, nil}, {part, []int{2}, 5, nil}, {part, []int{1, 2}, 4, nil},
		{whole, []int{}, 0, []int{}}, {whole, []int{4, 6}, 0, []int{4, 6}}, {whole, []int{5, 4}, 0, []int{5, 4}}, {whole, []int{4, 4}, 0, []int{4, 4}}, {part, []int{0, 4, 1}, 0, []int{3, 7, 4}},
		{mixed, []int{4, 1}, 0, []int{2, 3}}, {mixed, []int{2, 3}, 2, nil},
	} {
		got := c.of.pick(c.order, nil)
		if got.Class != 2 {
			t.Errorf("%d: of class %d", k, got.Class)
		}
		if copied := got.Whole == nil; copied != (c.rows != nil) || copied && (!slices.Equal(got.order, c.rows) || got.File != file) {
			t.Errorf("%d, rows %v: copied is %v, of rows %v", k, c.order, copied, got.order)
		}
		if root, first := got.root(); c.rows == nil && first != c.first || c.rows != nil && root != got {
			t.Errorf("%d, rows %v: from %d", k, c.order, first)
		}
	}
	if (*Place)(nil).pick([]int{1}, nil) != nil {
		t.Error("rows in memory have a place")
	}
}
