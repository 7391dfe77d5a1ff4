package failing_test

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// table is rows of which one is wrong.
type table struct {
	f                given.Form
	persons          []int
	weights, offsets []float64
	bounds           dpglm.Bounds
	more             []dpglm.RowDetail
	loss             losses.Loss
	classes          int
}

// wrongs are what may be wrong in a row, and how its place is named: by the row's number alone or by the column's, too.
var wrongs = map[string]struct {
	do     func(o *table, i int)
	stored bool // whether a file of rows may have it
	place  string
}{
	"feature":   {func(o *table, i int) { o.set(i, 1, math.NaN()) }, true, "row %d, column 2 (counted from 1) must be finite"},
	"infinite":  {func(o *table, i int) { o.set(i, 0, math.Inf(-1)) }, true, "row %d, column 1 (counted from 1) must be finite"},
	"large":     {func(o *table, i int) { o.set(i, 2, 1.1e100) }, true, "row %d, column 3 (counted from 1) must not exceed 1e+100 in magnitude"},
	"label":     {func(o *table, i int) { o.f.Y[i] = math.Inf(1) }, true, "label of row %d (counted from 1) must be finite"},
	"no class":  {func(o *table, i int) { o.f.Y[i] = 2.5 }, true, "label of row %d (counted from 1)"},
	"no count":  {func(o *table, i int) { o.f.Y[i], o.loss = -1, losses.Poisson{} }, true, "label of row %d (counted from 1)"},
	"3 classes": {func(o *table, i int) { o.f.Y[i], o.classes = 3, 3 }, false, "label of row %d (counted from 1) must be a class, a whole number from 0 to 2"},
	"weight": {func(o *table, i int) {
		o.weights[i] = -1
		o.more = []dpglm.RowDetail{dpglm.Weights{Of: o.weights, Max: 1}}
	}, true, "weight of row %d (counted from 1)"},
	"offset": {func(o *table, i int) {
		o.offsets[i] = math.NaN()
		o.more = []dpglm.RowDetail{dpglm.Offsets{Of: o.offsets, Range: [2]float64{-1, 1}}}
	}, true, "offset of row %d (counted from 1) must be a number"},
	"person": {func(o *table, i int) {
		for k := range o.persons {
			o.persons[k] = k
		}
		o.more = []dpglm.RowDetail{dpglm.Persons{Of: o.persons, Count: max(i, 1), MaxRows: 2}}
	}, false, "person of row %d (counted from 1) must be one of the"},
}

func (o *table) set(i, j int, v float64) {
	x := o.f.X.(interface{ Set(i, j int, v float64) })
	x.Set(i, j, v)
}

// fits takes the rows in, in memory or from a file, and trains on them.
func (o *table) fits(t *testing.T, where string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.rows")
	var d *dpglm.Dataset
	var err error
	if where == "memory" {
		d, err = dpglm.NewDataset(o.f.X, o.f.Y, o.bounds, o.more...)
	} else if err = dpglm.WriteRows(t.Context(), path, o.f.X, o.f.Y, o.more...); err == nil {
		d, err = dpglm.OpenRows(t.Context(), path, o.bounds)
	}
	if err != nil {
		return err
	}
	defer d.Close()
	p := dpglm.Problem{Loss: o.loss, Classes: o.classes, Radius: 1}
	if o.classes > 0 {
		return given.Failure(dpglm.Softmax(t.Context(), d, p, dpglm.GDP(1), dpglm.SoftmaxConfig{}, given.Seeded(1)))
	}
	return given.Failure(dpglm.NoisyGD(t.Context(), d, p, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 1}, given.Seeded(1)))
}

// What is wrong in the caller's rows is told with its place, whichever row it is: the row's number, from 1 on, the column's where it has
// one, and no other row's. Before intake has ended nothing is private from the caller.
func TestPlacesOfWhatIsWrong(t *testing.T) {
	const n = 700
	rowNumber := regexp.MustCompile(`\brow (\d+)`)
	for name, w := range wrongs {
		for _, where := range []string{"memory", "file"} {
			if where == "file" && !w.stored {
				continue
			}
			for _, i := range []int{0, 1, 2, 95, 96, 97, n - 2, n - 1} {
				if name == "person" && i == 0 { // the first one is always one that there is
					continue
				}
				o := &table{f: given.Forms(n, 3)[0], persons: make([]int, n), weights: make([]float64, n), offsets: make([]float64, n), loss: losses.Logistic{}}
				o.bounds = o.f.Facts.(dpglm.Bounds)
				o.f.Y = slices.Clone(o.f.Y)
				w.do(o, i)
				err := o.fits(t, where)
				if err == nil {
					t.Errorf("%s in row %d, %s: no error", name, i+1, where)
					continue
				}
				want := fmt.Sprintf(w.place, i+1)
				if !regexp.MustCompile(regexp.QuoteMeta(want)).MatchString(err.Error()) {
					t.Errorf("%s, %s: %q doesn't say %q", name, where, err, want)
				}
				for _, found := range rowNumber.FindAllStringSubmatch(err.Error(), -1) {
					if found[1] != fmt.Sprint(i+1) {
						t.Errorf("%s, %s: %q names row %s, want %d", name, where, err, found[1], i+1)
					}
				}
			}
		}
	}
}

// Numbers about persons and places are taken up to their bounds, and refused next to these.
func TestNumbersOfPersonsAreBounded(t *testing.T) {
	const n, mostEach, mostAlike, mostPersons = 4, 1000, 1 << 20, 1 << 27
	f := given.Forms(n, 3)[0]
	of, ones := []int{0, 1, 0, 1}, []float64{1, 0, 1, 0.5}
	for _, c := range []struct {
		detail dpglm.RowDetail
		taken  bool
	}{
		{dpglm.Persons{Of: of, MaxRows: 1}, true}, {dpglm.Persons{Of: of, MaxRows: 0}, false}, {dpglm.Persons{Of: of, MaxRows: -1}, false},
		{dpglm.Persons{Of: of, MaxRows: mostEach}, true}, {dpglm.Persons{Of: of, MaxRows: mostEach + 1}, false},
		{dpglm.Persons{Of: of, MaxRows: mostAlike, Alike: true}, true}, {dpglm.Persons{Of: of, MaxRows: mostAlike + 1, Alike: true}, false},
		{dpglm.Persons{Of: of, MaxRows: 1, Count: 2}, true}, {dpglm.Persons{Of: of, MaxRows: 1, Count: 1}, false}, {dpglm.Persons{Of: of, MaxRows: 1, Count: -1}, false},
		{dpglm.Persons{Of: of, MaxRows: 1, Count: mostPersons + 1}, false}, {dpglm.Persons{Of: of[:3], MaxRows: 1}, false}, {dpglm.Persons{Of: append(of, 1), MaxRows: 1}, false},
		{dpglm.AddRemove{AtMost: n}, true}, {dpglm.AddRemove{AtMost: n - 1}, false}, {dpglm.AddRemove{AtMost: -1}, false}, {dpglm.AddRemove{AtMost: mostPersons + 1}, false},
		{dpglm.Weights{Of: ones, Max: 1}, true}, {dpglm.Weights{Of: ones, Max: 0}, false}, {dpglm.Weights{Of: ones, Max: 1e61}, false}, {dpglm.Weights{Of: ones[:3], Max: 1}, false},
		{dpglm.Weights{Of: []float64{1, 1, 1, math.NaN()}, Max: 1}, false}, {dpglm.Offsets{Of: ones[:3], Range: [2]float64{0, 1}}, false},
		{dpglm.Offsets{Of: ones, Range: [2]float64{0, 1}}, true}, {dpglm.Offsets{Of: ones, Range: [2]float64{1, 0}}, false},
		{dpglm.Offsets{Of: ones, Range: [2]float64{-100, 100}}, true}, {dpglm.Offsets{Of: ones, Range: [2]float64{0, math.Nextafter(100, 101)}}, false},
		{dpglm.Offsets{Of: ones, Range: [2]float64{math.Nextafter(-100, -101), 0}}, false},
	} {
		if _, err := dpglm.NewDataset(f.X, f.Y, f.Facts, c.detail); (err == nil) != c.taken {
			t.Errorf("%T%+v: %v", c.detail, c.detail, err)
		}
	}
}

// Workers don't say which row's label is no class, but which labels are.
func TestWorkersNameClasses(t *testing.T) {
	f := given.Forms(50, 3)[0]
	f.Y[7] = 3
	path := filepath.Join(t.TempDir(), "x.rows")
	bounds := f.Facts.(dpglm.Bounds)
	bounds.Label = 3
	if err := dpglm.WriteRows(t.Context(), path, f.X, f.Y); err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.OpenRowsOn(t.Context(), path, bounds, given.Workers{Count: 2, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, err = dpglm.Softmax(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.GDP(1), dpglm.SoftmaxConfig{}, given.Seeded(1))
	if want := "labels of the file must be classes, whole numbers from 0 to 2"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// An element beyond a sparse matrix is no number, as beyond any of gonum's.
func TestSparseElementsLieWithin(t *testing.T) {
	s := given.Forms(20, 3)[1].X.(*dpglm.Sparse)
	for place, want := range map[[2]int]any{
		{-1, 0}: mat.ErrRowAccess, {20, 0}: mat.ErrRowAccess, {0, -1}: mat.ErrColAccess, {0, 3}: mat.ErrColAccess, {0, 0}: nil, {19, 2}: nil,
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("element %v: %v, want %v", place, got, want)
				}
			}()
			s.At(place[0], place[1])
		}()
	}
}
