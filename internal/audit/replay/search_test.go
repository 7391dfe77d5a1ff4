package replay_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// design says what rows a trial has.
type design struct {
	n       int
	facts   dpglm.Facts
	columns int // as given, without the intercept
	labels  losses.Labels
	form    string // of the matrix: dense, sparse, other; or persons, detailed or weighted, see below, or of places; or labels, alone private
}

// labelsOnly reports whether neighbours differ in a label alone.
func (d design) labelsOnly() bool { return strings.HasPrefix(d.form, "labels") }

// places reports whether how many rows or persons there are is secret: neighbours have one less.
func (d design) places() bool { return strings.HasSuffix(d.form, "places") }

// persons reports whether rows are persons'.
func (d design) persons() bool { return strings.HasPrefix(d.form, "persons") }

// budget is the budget for the design's neighbours.
func (d design) budget(b dpglm.Budget) dpglm.Budget {
	if d.places() {
		return b.AddRemove()
	}
	if d.labelsOnly() {
		return b.LabelsOnly()
	}
	return b
}

// table is a data set of raw rows, one of which is replaced.
type table struct {
	rows []given.Row
	at   int // of the row that is replaced
}

func (r table) replaced() given.Row { return r.rows[r.at] }
func (r table) String() string      { return fmt.Sprintf("row %d = %v", r.at, r.replaced()) }

// persons are the raw rows of all, the first of each, then the second of each, and so on,
// with their persons. Those of the replaced person, whose id is another one on each table, come
// last, so that others occur in the same order: then the same coins order both tables alike.
func (r table) persons() (rows []given.Row, persons []int) {
	add := func(i, k, id int) bool {
		u := r.rows[i]
		if k > len(u.Others) || u.None {
			return false
		}
		if k > 0 {
			u = u.Others[k-1]
		}
		rows, persons = append(rows, u), append(persons, id)
		return true
	}
	for k, found := 0, true; found; k++ {
		found = false
		for i := range r.rows {
			found = i != r.at && add(i, k, -i) || found
		}
	}
	id := 1 + int(math.Float64bits(r.replaced().X[0])>>12)
	for k := 0; add(r.at, k, id); k++ {
	}
	return rows, persons
}

// order is the same of both tables, and puts the row at another place wherever it is.
func (r table) order() dpglm.PersonOrder {
	return dpglm.PersonOrder{ForTests: mechanisms.NewSeededSource(uint64(5 + r.at))}
}

// details of the rows in the design's form, and the rows.
func (r table) details(d design) ([]given.Row, []dpglm.RowDetail) {
	switch d.form {
	case "persons", "persons, alike":
		rows, persons := r.persons()
		return rows, []dpglm.RowDetail{dpglm.Persons{Of: persons, Count: len(r.rows), MaxRows: given.MostRows, Alike: d.form != "persons"}, dpglm.PersonOrder{ForTests: mechanisms.NewSeededSource(5)}}
	case "persons, places":
		rows, persons := r.persons()
		return rows, []dpglm.RowDetail{dpglm.Persons{Of: persons, MaxRows: given.MostRows}, dpglm.AddRemove{AtMost: len(r.rows)}, r.order()}
	case "places": // the row that is removed comes last, so that the same coins order both tables alike
		rows := slices.Delete(slices.Clone(r.rows), r.at, r.at+1)
		if !r.replaced().None {
			rows = append(rows, r.replaced())
		}
		return rows, []dpglm.RowDetail{dpglm.AddRemove{AtMost: len(r.rows)}, r.order()}
	case "labels, offsets":
		var offsets []float64
		for _, u := range r.rows {
			offsets = append(offsets, u.Offset)
		}
		return r.rows, []dpglm.RowDetail{dpglm.Offsets{Of: offsets, Range: [2]float64{-given.OffsetEnd, given.OffsetEnd}}}
	case "detailed", "detailed, wide", "weighted":
		weights, offsets := make([]float64, len(r.rows)), make([]float64, len(r.rows))
		for i, u := range r.rows {
			weights[i], offsets[i] = u.Weight, u.Offset
		}
		weighed := []dpglm.RowDetail{dpglm.Weights{Of: weights, Max: given.Heavy}}
		if d.form == "weighted" {
			return r.rows, weighed
		}
		end := given.OffsetEnd
		if d.form == "detailed, wide" { // totals have a power of exposures, too
			end *= 10
		}
		return r.rows, append(weighed, dpglm.Offsets{Of: offsets, Range: [2]float64{-end, end}})
	}
	return r.rows, nil
}

// with returns the table with another row in the place.
func (r table) with(at int, u given.Row) table {
	rows := slices.Clone(r.rows)
	rows[at] = u
	return table{rows, at}
}

// shape is that of the design's data sets.
func (d design) shape(t *testing.T) dpglm.Shape {
	t.Helper()
	empty := table{rows: make([]given.Row, d.n)}
	for i := range empty.rows {
		empty.rows[i].X = make([]float64, d.columns)
	}
	data, err := empty.dataset(d)
	if err != nil {
		t.Fatal(err)
	}
	return data.Shape()
}

// opaque is a matrix of which nothing but its elements is known.
type opaque struct{ mat.Matrix }

func (r table) dataset(d design) (*dpglm.Dataset, error) {
	rows, details := r.details(d)
	x, y := mat.NewDense(len(rows), d.columns, nil), make([]float64, len(rows))
	for i, u := range rows {
		x.SetRow(i, u.X)
		y[i] = u.Y
	}
	switch d.form {
	case "dense", "persons", "persons, alike", "detailed", "detailed, wide", "weighted", "places", "persons, places", "labels", "labels, offsets":
		return dpglm.NewDataset(x, y, d.facts, details...)
	case "sparse":
		s, err := compressed(x)
		if err != nil {
			return nil, err
		}
		return dpglm.NewDataset(s, y, d.facts)
	default:
		return dpglm.NewDataset(opaque{x}, y, d.facts)
	}
}

func compressed(x *mat.Dense) (*dpglm.Sparse, error) {
	n, d := x.Dims()
	starts, columns, values := []int{0}, []int{}, []float64{}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if v != 0 {
				columns, values = append(columns, j), append(values, v)
			}
		}
		starts = append(starts, len(columns))
	}
	return dpglm.NewSparse(n, d, starts, columns, values)
}

// label draws one: a usual one, one at the bound or one beyond it.
func (d design) label(r *rand.Rand) float64 {
	centre, bound := d.labelRange()
	switch d.labels {
	case losses.Binary:
		return float64(r.IntN(2))
	case classLabels:
		return float64(r.IntN(3))
	case losses.Count:
		return []float64{math.Floor(r.Float64() * (bound + 1)), 0, bound, 3 * bound}[r.IntN(4)]
	case losses.Amount:
		return []float64{r.Float64() * bound, 0, bound, 1e9 * bound}[r.IntN(4)]
	}
	return centre + []float64{bound * r.NormFloat64() / 3, 0, bound, -bound, 3 * bound, -1e9 * bound}[r.IntN(6)]
}

// labelRange returns what real labels are shifted by, and the bound on what is left, or
// on a count.
func (d design) labelRange() (centre, bound float64) {
	switch f := d.facts.(type) {
	case dpglm.Bounds:
		bound, centre = f.Label, (f.LabelRange[0]+f.LabelRange[1])/2
		if f.LabelRange[1] != 0 {
			bound = f.LabelRange[1] - centre
		}
	case dpglm.Schema:
		bound = f.Label
	}
	if d.labels.FromZero() {
		return 0, bound + centre
	}
	return centre, bound
}

// base is a table of usual rows.
func (d design) base(seed uint64) table {
	r, t := rand.New(rand.NewPCG(seed, 1)), table{rows: make([]given.Row, d.n)}
	for i := range t.rows {
		t.rows[i] = d.several(d.usual(r), r)
	}
	return t
}

// usual draws a row well within the bounds, extreme one at or beyond them, or zero.
func (d design) usual(r *rand.Rand) given.Row {
	u := given.Row{X: make([]float64, d.columns), Y: d.label(r), Weight: given.Heavy * r.Float64(), Offset: given.OffsetEnd * r.NormFloat64() / 2}
	switch f := d.facts.(type) {
	case dpglm.Schema:
		fillSchema(u.X, f, r, func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() })
	case dpglm.Bounds:
		for j := range u.X {
			u.X[j] = f.Feature * r.NormFloat64() / float64(2*d.columns)
		}
	}
	return u
}

// several adds rows to a person's first one, if it is a person's: any number up to two more
// than count, some of them alike.
func (d design) several(u given.Row, r *rand.Rand) given.Row {
	if !d.persons() {
		return u
	}
	u.None = r.IntN(8) == 0
	for range r.IntN(given.MostRows + 2) {
		other := d.extreme(r)
		if r.IntN(2) == 0 {
			other.X, other.Y = u.X, u.Y
		}
		u.Others = append(u.Others, other)
	}
	return u
}

func (d design) extreme(r *rand.Rand) given.Row {
	u := given.Row{X: make([]float64, d.columns), Y: d.label(r), Weight: given.Heavy, Offset: given.OffsetEnd * float64(1-2*r.IntN(2))}
	switch r.IntN(6) {
	case 0:
		u.Weight = 0
	case 1:
		u.Weight, u.Offset = 10*given.Heavy, 100*u.Offset
	}
	switch f := d.facts.(type) {
	case dpglm.Schema:
		fillSchema(u.X, f, r, func(lo, hi float64) float64 {
			return []float64{lo, hi, (lo + hi) / 2, lo - 100*(hi-lo), hi + 1e9*(hi-lo)}[r.IntN(5)]
		})
	case dpglm.Bounds:
		for j := range u.X {
			u.X[j] = r.NormFloat64()
		}
		switch r.IntN(6) {
		case 0: // an axis
			clear(u.X)
			u.X[r.IntN(d.columns)] = f.Feature * float64(1-2*r.IntN(2))
		case 1: // zero, or nearly
			floats.Scale([]float64{0, 1e-9 * f.Feature}[r.IntN(2)], u.X)
		case 2:
			floats.Scale(f.Feature*[]float64{1e3, 1e9, 1e90}[r.IntN(3)], u.X)
		default: // at the bound
			floats.Scale(f.Feature/floats.Norm(u.X, 2), u.X)
		}
	}
	return u
}

// fillSchema draws numeric columns by draw, and of each group one column or none.
func fillSchema(x []float64, f dpglm.Schema, r *rand.Rand, draw func(lo, hi float64) float64) {
	for j, name := range f.Columns {
		if limits, ok := f.Numeric[name]; ok {
			x[j] = draw(limits[0], limits[1])
		}
	}
	for _, group := range sortedKeys(f.OneHot) {
		if k := r.IntN(len(f.OneHot[group]) + 1); k < len(f.OneHot[group]) {
			x[slices.Index(f.Columns, f.OneHot[group][k])] = 1
		}
	}
}

// pair is a row and its replacement, and their place.
type pair struct {
	of [2]given.Row
	at int
}

func (d design) pair(r *rand.Rand) pair {
	p := [2]given.Row{d.extreme(r), d.extreme(r)}
	_, schema := d.facts.(dpglm.Schema)
	switch r.IntN(4) {
	case 0: // another label
		p[1].X = p[0].X
	case 1: // the opposite row
		if !schema {
			p[1] = p[0]
			p[1].X = make([]float64, d.columns)
			floats.AddScaled(p[1].X, -1, p[0].X)
		}
	case 2:
		p[0] = d.usual(r)
	}
	p[0], p[1] = d.several(p[0], r), d.several(p[1], r)
	return d.removing(pair{p, r.IntN(d.n)})
}

// removing has the second row not be there, where neighbours have one less, and be the first one but for its label, where they differ in
// that alone.
func (d design) removing(p pair) pair {
	if d.labelsOnly() {
		y := p.of[1].Y
		p.of[1] = p.of[0]
		p.of[1].Y = y
	}
	if d.places() {
		p.of[0].None = false
		p.of[1] = given.Row{X: make([]float64, d.columns), None: true}
	}
	return p
}

// changed is a pair near p.
func (d design) changed(p pair, r *rand.Rand) pair {
	q, k := p.of, r.IntN(2)
	if d.places() {
		k = 0
	}
	q[k].X = slices.Clone(q[k].X)
	_, schema := d.facts.(dpglm.Schema)
	switch c := r.IntN(8); {
	case d.persons() && c < 2:
		q[k].Others, q[k].None = nil, false
		q[k] = d.several(q[k], r)
	case (d.form == "detailed" || d.form == "weighted") && c == 1:
		e := d.extreme(r)
		q[k].Weight, q[k].Offset = e.Weight, e.Offset
	case c == 0:
		q[k].Y = d.label(r)
	case c == 1 || schema && c < 5:
		q[k] = d.extreme(r)
	case schema: // one column of another row, of those that are numeric
		j := slices.IndexFunc(d.facts.(dpglm.Schema).Columns, func(name string) bool {
			_, ok := d.facts.(dpglm.Schema).Numeric[name]
			return ok && r.IntN(2) == 0
		})
		if j >= 0 {
			q[k].X[j] = d.extreme(r).X[j]
		}
	default:
		size := []float64{1, 0.3, 0.1, 0.03}[r.IntN(4)] * d.facts.(dpglm.Bounds).Feature
		q[k].X[r.IntN(d.columns)] += size * r.NormFloat64()
	}
	return d.removing(pair{q, p.at})
}

// search runs a trial on many neighbours and returns, for each release, the largest
// ratio of measured to declared sensitivity. It begins with random pairs, most of
// them at the bounds, and climbs from the worst one for each release.
func (c *trial) search(t *testing.T, seed uint64) map[string]float64 {
	t.Helper()
	draws, climbs, more := *pairs, *pairs, 300
	switch {
	case *longAudit:
		draws, climbs = 300, 1000
	case testing.Short(): // what a search finds doesn't depend on processors or the race detector
		draws, climbs, more = 1, 0, 0
	}
	r := rand.New(rand.NewPCG(seed, 0))
	base := c.design.base(seed)
	best, worst := map[string]float64{}, map[string]pair{}
	try := func(p pair) {
		for release, v := range c.neighbours(t, base.with(p.at, p.of[0]), base.with(p.at, p.of[1]), seed) {
			if _, ok := worst[release]; !ok || v > best[release] {
				best[release], worst[release] = v, p
			}
		}
	}
	for range draws {
		try(c.design.pair(r))
	}
	releases := sortedKeys(worst)
	for range climbs {
		try(c.design.changed(worst[releases[r.IntN(len(releases))]], r))
	}
	for _, release := range releases {
		_, want := c.required(release)
		for k := 0; k < more && best[release] < want; k++ {
			if best[release] == 0 { // the row is not among those of the release: nothing to climb from
				try(c.design.pair(r))
			} else {
				try(c.design.changed(worst[release], r))
			}
		}
	}
	return best
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
