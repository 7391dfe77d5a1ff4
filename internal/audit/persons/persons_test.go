package persons_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// visits are made-up rows of persons: a rate that depends on two features, of which the
// first is the person's, and exposures.
type visits struct {
	x                *mat.Dense
	y, logs, weights []float64
	persons          []int
}

func visitsOf(persons, most int, seed uint64, label func(r *rand.Rand, score, log float64) float64) visits {
	r := rand.New(rand.NewPCG(seed, 7))
	var v visits
	var rows []float64
	for p := range persons {
		own := 2*r.Float64() - 1
		for range 1 + r.IntN(most) {
			other, log := 2*r.Float64()-1, math.Log(0.2+1.8*r.Float64())
			rows = append(rows, own, other)
			v.y = append(v.y, label(r, 0.3+0.8*own-0.5*other, log))
			v.logs, v.persons, v.weights = append(v.logs, log), append(v.persons, p), append(v.weights, r.Float64())
		}
	}
	v.x = mat.NewDense(len(v.y), 2, rows)
	return v
}

// at are the given rows, in that order.
func (v visits) at(order []int) visits {
	out := visits{x: mat.NewDense(len(order), 2, nil)}
	for k, i := range order {
		out.x.SetRow(k, v.x.RawRowView(i))
		out.y, out.logs = append(out.y, v.y[i]), append(out.logs, v.logs[i])
		out.persons, out.weights = append(out.persons, v.persons[i]), append(out.weights, v.weights[i])
	}
	return out
}

// renamed are other numbers for the same persons, in another order.
func (v visits) renamed() []int {
	ids := make([]int, len(v.persons))
	for i, p := range v.persons {
		ids[i] = 1e9 - 7*p
	}
	return ids
}

func poisson(r *rand.Rand, mean float64) float64 {
	limit, k := math.Exp(-mean), 0.0
	for p := r.Float64(); p > limit; p *= r.Float64() {
		k++
	}
	return k
}

func class(r *rand.Rand, score, _ float64) float64 {
	if r.Float64() < 1/(1+math.Exp(-score)) {
		return 1
	}
	return 0
}

var two = dpglm.Bounds{Feature: math.Sqrt2, Intercept: true}

func weightsOf(t *testing.T, l dpglm.Learner, loss losses.Loss, b dpglm.Budget, d *dpglm.Dataset) []float64 {
	t.Helper()
	plan, err := l.Plan(d.Shape(), dpglm.Problem{Loss: loss}, b)
	if err != nil {
		t.Fatal(err)
	}
	m, err := plan.Run(t.Context(), d, given.Seeded(3))
	if err != nil {
		t.Fatal(err)
	}
	return m.Weights()[0]
}

func datasetOf(t *testing.T, v visits, facts dpglm.Facts, more ...dpglm.RowDetail) *dpglm.Dataset {
	t.Helper()
	d, err := dpglm.NewDataset(v.x, v.y, facts, more...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Persons of one row each, all of whom have rows, get the bits that rows get which stand in the persons' order, and
// what numbers they have doesn't matter.
func TestPersonsOfOneRow(t *testing.T) {
	single, several := visitsOf(700, 1, 1, class), visitsOf(500, 5, 2, class)
	for _, l := range []dpglm.Learner{dpglm.StandardisedGDConfig{}, dpglm.NoisyGDConfig{Steps: 4}, dpglm.OutputPerturbationConfig{},
		dpglm.ObjectivePerturbationConfig{}, dpglm.BoostConfig{Learner: dpglm.OutputPerturbationConfig{}, Chunks: 3}, dpglm.InferConfig{},
		dpglm.FrankWolfeConfig{}, dpglm.FrankWolfeConfig{Output: dpglm.WithinBall}} {
		name := fmt.Sprintf("%T", l)
		rows := weightsOf(t, l, losses.Logistic{}, dpglm.GDP(2), datasetOf(t, single.at(rand.New(mechanisms.NewSeededSource(5)).Perm(700)), two))
		persons := dpglm.Persons{Of: single.persons, MaxRows: 1}
		if got := weightsOf(t, l, losses.Logistic{}, dpglm.GDP(2), datasetOf(t, single, two, persons, given.Ordered(5))); !slices.Equal(got, rows) {
			t.Errorf("%s: %v for persons of one row each, %v for rows", name, got, rows)
		}
		var found [2][]float64
		for k, ids := range [][]int{several.persons, several.renamed()} {
			found[k] = weightsOf(t, l, losses.Logistic{}, dpglm.GDP(2), datasetOf(t, several, two, dpglm.Persons{Of: ids, Count: 500, MaxRows: 4}, given.Ordered(9)))
		}
		if !slices.Equal(found[0], found[1]) {
			t.Errorf("%s: %v, and %v with other numbers", name, found[0], found[1])
		}
	}
}

// A row that weighs half of the largest weight counts as half a row: two of them, one
// person's, are one.
func TestWeightsCount(t *testing.T) {
	v := visitsOf(600, 1, 1, class)
	twice := visits{x: mat.NewDense(1200, 2, nil)}
	for i := range 1200 {
		twice.x.SetRow(i, v.x.RawRowView(i/2))
		twice.y, twice.weights, twice.persons = append(twice.y, v.y[i/2]), append(twice.weights, 3), append(twice.persons, i/2)
	}
	for _, l := range []dpglm.Learner{dpglm.StandardisedGDConfig{}, dpglm.NoisyGDConfig{Steps: 4}, dpglm.OutputPerturbationConfig{}} {
		want := weightsOf(t, l, losses.Logistic{}, dpglm.GDP(2), datasetOf(t, v, two))
		got := weightsOf(t, l, losses.Logistic{}, dpglm.GDP(2), datasetOf(t, twice, two, dpglm.Persons{Of: twice.persons, MaxRows: 2, Alike: true}))
		for j := range want {
			if !(math.Abs(got[j]-want[j]) < 1e-6) {
				t.Errorf("%T: %v from rows twice each, %v from rows", l, got, want)
			}
		}
	}
}

// Objective perturbation is that of one row of each person; the means that the intercept is moved by are those of all rows.
func TestObjectivePerturbationTakesOneRow(t *testing.T) {
	v := visitsOf(400, 3, 5, class)
	of := dpglm.Persons{Of: v.persons, Count: 400, MaxRows: 3}
	slopes := func(v visits) []float64 {
		w := weightsOf(t, dpglm.ObjectivePerturbationConfig{}, losses.Logistic{}, dpglm.GDP(2), datasetOf(t, v, two, of, given.Ordered(3)))
		return w[:len(w)-1]
	}
	got := slopes(v)
	// Changing a row that isn't taken changes nothing; one of a person's rows is taken.
	changed := 0
	list := v.persons[:sample.Of(24, 60)]
	for i := range list {
		other := visits{x: mat.DenseCopyOf(v.x), y: slices.Clone(v.y)}
		other.y[i] = 1 - other.y[i]
		if !slices.Equal(got, slopes(other)) {
			changed++
		}
	}
	if want := len(slices.Compact(slices.Clone(list))); changed < want-1 || changed > want {
		t.Errorf("%d of %d rows of %d persons are taken", changed, len(list), want)
	}
}

// A rate's coefficients are found with exposures as offsets, and aren't without; weights and
// persons leave them where they are. 5 standard errors: one run in a million would fail, and
// the seed is fixed.
func TestRatesWithExposure(t *testing.T) {
	v := visitsOf(30000, 3, 11, func(r *rand.Rand, score, log float64) float64 { return poisson(r, math.Exp(score+log)) })
	facts := dpglm.Bounds{Feature: math.Sqrt2, Label: 15, Intercept: true}
	exposed := dpglm.Offsets{Of: v.logs, Range: [2]float64{math.Log(0.2), math.Log(2)}}
	persons := dpglm.Persons{Of: v.persons, Count: 30000, MaxRows: 3}
	weighted := dpglm.Weights{Of: v.weights, Max: 1}
	truth := []float64{0.8, -0.5, 0.3}
	for name, details := range map[string][]dpglm.RowDetail{
		"rows": {exposed}, "persons": {exposed, persons}, "weights": {exposed, weighted}, "persons, weights": {weighted, exposed, persons},
	} {
		if one := name == "persons" || name == "weights"; one && !sample.All() { // both are tried
			continue
		}
		d := datasetOf(t, v, facts, details...)
		got := weightsOf(t, dpglm.StandardisedGDConfig{}, losses.Poisson{}, dpglm.GDP(1), d)
		for j, w := range truth {
			if !(math.Abs(got[j]-w) < 0.06) {
				t.Errorf("%s: coefficients %.3f, the rate has %v", name, got, truth)
				break
			}
		}
		f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.GDP(1), dpglm.InferConfig{}, given.Seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		for j, c := range f.Coefficients() {
			if !(math.Abs(c.Estimate-truth[j]) < 5*c.StandardError && c.StandardError < 0.05) {
				t.Errorf("%s: %+v, the rate has %v", name, c, truth)
			}
		}
	}
	plain := weightsOf(t, dpglm.StandardisedGDConfig{}, losses.Poisson{}, dpglm.GDP(1), datasetOf(t, v, facts))
	if !(math.Abs(plain[2]-0.3) > 0.05) {
		t.Errorf("without exposures the rate comes out right, too: %v", plain)
	}
	m, err := dpglm.StandardisedGD(t.Context(), datasetOf(t, v, facts, exposed), dpglm.Problem{Loss: losses.Poisson{}}, dpglm.GDP(1), dpglm.StandardisedGDConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	one, err := m.Means(v.x)
	if err != nil {
		t.Fatal(err)
	}
	at, err := m.MeansAt(v.x, v.logs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range at {
		if !(math.Abs(at[i]/one[i]/math.Exp(v.logs[i])-1) < 1e-9) {
			t.Fatalf("row %d: a mean of %g at exposure %g, %g at 1", i, at[i], math.Exp(v.logs[i]), one[i])
		}
	}
	if _, err := m.MeansAt(v.x, v.logs[1:]); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("offsets of other rows: %v", err)
	}
}

// Intervals know that a person's rows are one draw: where these are independent of one
// another, three rows each tell three times as much as one; where they are copies, no more.
func TestIntervalsOfPersons(t *testing.T) {
	const n = 4000
	spreads := func(rows int, copies bool) []float64 {
		v := visitsOf(n*rows, 1, 21, class)
		for i := range v.persons {
			v.persons[i] = i / rows
			if first := i - i%rows; copies {
				v.x.SetRow(i, v.x.RawRowView(first))
				v.y[i] = v.y[first]
			}
		}
		d := datasetOf(t, v, two, dpglm.Persons{Of: v.persons, Count: n, MaxRows: rows})
		f, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(50), dpglm.InferConfig{}, given.Seeded(5))
		if err != nil {
			t.Fatal(err)
		}
		var list []float64
		for _, c := range f.Coefficients() {
			list = append(list, c.StandardError)
		}
		return list
	}
	one, three, copies := spreads(1, false), spreads(3, false), spreads(3, true)
	for j := range one {
		if r := one[j] / three[j]; !(r > 1.6 && r < 1.85) {
			t.Errorf("coefficient %d: one row each has %.3f times the standard error of three, should have √3", j, r)
		}
		if r := one[j] / copies[j]; !(r > 0.9 && r < 1.1) {
			t.Errorf("coefficient %d: one row each has %.3f times the standard error of three copies", j, r)
		}
	}
}

// Plans and ledgers name the person, and how many rows of one count.
func TestPersonsAreNamed(t *testing.T) {
	v := visitsOf(50, 4, 1, class)
	d := datasetOf(t, v, two, dpglm.Persons{Of: v.persons, Count: 50, MaxRows: 4})
	if s := d.Shape(); s.Rows != 50 || s.PersonRows != 4 {
		t.Errorf("shape %+v", s)
	}
	plan, err := dpglm.BoostConfig{Learner: dpglm.OutputPerturbationConfig{}, Chunks: 3}.Plan(d.Shape(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one person, of whom at most 4 rows count", "n = 50", "50 persons"} {
		if !strings.Contains(fmt.Sprint(plan), want) {
			t.Errorf("the plan doesn't say %q:\n%v", want, plan)
		}
	}
	if strings.Contains(fmt.Sprint(plan, d), fmt.Sprint(len(v.y))) {
		t.Errorf("the plan or the data set tells the number of rows, %d:\n%v\n%v", len(v.y), plan, d)
	}
}

// What can't be is refused, by name.
func TestRowDetailsAreChecked(t *testing.T) {
	v := visitsOf(3, 1, 1, class)
	all := []int{0, 1, 2}
	for name, c := range map[string]struct {
		details []dpglm.RowDetail
		kind    error
		says    string
	}{
		"nil":               {[]dpglm.RowDetail{nil}, dpglm.ErrConfig, "row detail"},
		"no persons":        {[]dpglm.RowDetail{dpglm.Persons{Count: 3, MaxRows: 1}}, dpglm.ErrShape, "Persons.Of"},
		"few persons":       {[]dpglm.RowDetail{dpglm.Persons{Of: all[1:], Count: 3, MaxRows: 1}}, dpglm.ErrShape, "3 rows"},
		"person beyond":     {[]dpglm.RowDetail{dpglm.Persons{Of: all, Count: 2, MaxRows: 1}}, dpglm.ErrValue, "person of row 3 (counted from 1) must be one of the 2"},
		"no cap":            {[]dpglm.RowDetail{dpglm.Persons{Of: all, Count: 3}}, dpglm.ErrConfig, "most rows"},
		"negative count":    {[]dpglm.RowDetail{dpglm.Persons{Of: all, Count: -1, MaxRows: 1}}, dpglm.ErrConfig, "number of persons"},
		"no source":         {[]dpglm.RowDetail{dpglm.PersonOrder{}}, dpglm.ErrConfig, "PersonOrder.ForTests"},
		"two orders":        {[]dpglm.RowDetail{given.Ordered(1), given.Ordered(2)}, dpglm.ErrConfig, "once"},
		"twice":             {[]dpglm.RowDetail{dpglm.Weights{Of: v.y, Max: 1}, dpglm.Weights{Of: v.y, Max: 1}}, dpglm.ErrConfig, "once"},
		"negative weight":   {[]dpglm.RowDetail{dpglm.Weights{Of: []float64{0, -1, 1}, Max: 1}}, dpglm.ErrValue, "weight of row"},
		"weight NaN":        {[]dpglm.RowDetail{dpglm.Weights{Of: []float64{0, math.NaN(), 1}, Max: 1}}, dpglm.ErrValue, "weight of row"},
		"no largest weight": {[]dpglm.RowDetail{dpglm.Weights{Of: v.y}}, dpglm.ErrBound, "largest weight"},
		"offset NaN":        {[]dpglm.RowDetail{dpglm.Offsets{Of: []float64{0, math.NaN(), 1}, Range: [2]float64{-1, 1}}}, dpglm.ErrValue, "offset of row"},
		"no range":          {[]dpglm.RowDetail{dpglm.Offsets{Of: v.logs}}, dpglm.ErrBound, "Offsets.Range"},
		"offsets of others": {[]dpglm.RowDetail{dpglm.Offsets{Of: v.logs[1:], Range: [2]float64{-1, 1}}}, dpglm.ErrShape, "3 rows"},
		"far offsets":       {[]dpglm.RowDetail{dpglm.Offsets{Of: v.logs, Range: [2]float64{-1, 1e9}}}, dpglm.ErrBound, "Offsets.Range"},
		"weights of others": {[]dpglm.RowDetail{dpglm.Weights{Of: v.y[1:], Max: 1}}, dpglm.ErrShape, "3 rows"},
		"no weights":        {[]dpglm.RowDetail{dpglm.Weights{Max: 1}}, dpglm.ErrShape, "Weights.Of"},
		"no offsets":        {[]dpglm.RowDetail{dpglm.Offsets{Range: [2]float64{-1, 1}}}, dpglm.ErrShape, "Offsets.Of"},
		"offsets once":      {[]dpglm.RowDetail{dpglm.Offsets{Of: v.logs, Range: [2]float64{-1, 1}}, dpglm.Offsets{Of: v.logs, Range: [2]float64{-1, 1}}}, dpglm.ErrConfig, "once"},
		"persons once":      {[]dpglm.RowDetail{dpglm.Persons{Of: all, Count: 3, MaxRows: 1}, dpglm.Persons{Of: all, Count: 3, MaxRows: 1}}, dpglm.ErrConfig, "once"},
	} {
		_, err := dpglm.NewDataset(v.x, v.y, two, c.details...)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
