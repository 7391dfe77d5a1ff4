package dpglm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// countless are n rows, of which at most 1,000 may be there, in an order that the seed draws.
func countless(t *testing.T, n int, seed uint64) *Dataset {
	t.Helper()
	x, y := countlessRows(n)
	d, err := NewDataset(x, y, Bounds{Feature: 2, Intercept: true}, AddRemove{AtMost: 1000}, PersonOrder{ForTests: mechanisms.NewSeededSource(seed)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func countlessRows(n int) (*mat.Dense, []float64) {
	r := mechanisms.NewSeededSource(3)
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		a, b := float64(r.Uint64()%1000)/500-1, float64(r.Uint64()%1000)/500-1
		x.SetRow(i, []float64{a, b})
		if float64(r.Uint64()%1000)/1000 < 1/(1+math.Exp(-2*a)) {
			y[i] = 1
		}
	}
	return x, y
}

// A budget and data that don't agree on neighbours are refused, both named, before anything is spent.
func TestAddRemoveNeedsBoth(t *testing.T) {
	x, y := countlessRows(400)
	public, err := NewDataset(x, y, Bounds{Feature: 2, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d *Dataset
		b Budget
	}{{public, GDP(1).AddRemove()}, {countless(t, 400, 1), GDP(1)}} {
		if _, err := Auto(t.Context(), c.d, Problem{Loss: losses.Logistic{}}, c.b, nil); !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), "add/remove") {
			t.Errorf("%v: %v", c.b, err)
		}
	}
	for most, want := range map[int]error{0: ErrConfig, 399: ErrValue, 1 << 28: ErrConfig} {
		if _, err := NewDataset(x, y, Bounds{Feature: 2}, AddRemove{AtMost: most}); !errors.Is(err, want) {
			t.Errorf("at most %d: %v, want %v", most, err, want)
		}
	}
	if _, err := NewDataset(x, y, Bounds{Feature: 2}, AddRemove{AtMost: 400}, Persons{Of: make([]int, 400), Count: 7, MaxRows: 3}); !errors.Is(err, ErrConfig) {
		t.Errorf("a public number of persons beside a secret one: %v", err)
	}
}

// What is printed, planned and written of 400 rows is that of 401.
func TestAddRemoveHidesN(t *testing.T) {
	told := func(n int) (text string) {
		d := countless(t, n, 1)
		a, b, err := d.Split(0.25, 7)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := AutoConfig{}.Plan(d.Shape(), Problem{Loss: losses.Logistic{}}, ApproxDP(1, 1e-6).AddRemove())
		if err != nil {
			t.Fatal(err)
		}
		ledger, err := json.Marshal(plan.Ledger)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(d, d.Shape(), a, a.Shape(), b.Shape(), plan, string(ledger))
	}
	one, more := told(400), told(401)
	if one != more {
		t.Errorf("told of 400 rows:\n%s\nof 401:\n%s", one, more)
	}
	if !strings.Contains(one, "n secret, at most 1,000; as replace-one at most (ε = 2.") {
		t.Errorf("the promise isn't told:\n%s", one)
	}
}

// Ledgers for one row more or less don't add up with those for one that is replaced.
func TestAddRemoveLedgersStandApart(t *testing.T) {
	of := func(u mechanisms.Unit) *Ledger {
		l, err := mechanisms.Gaussian{Mu: 1}.Ledger("sum", 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if l, err = l.WithUnit(u); err != nil {
			t.Fatal(err)
		}
		return l
	}
	if _, err := mechanisms.Sequential("both", of(mechanisms.OneRow()), of(mechanisms.OneRow().AddRemove())); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "add/remove") {
		t.Errorf("replace-one and add/remove: %v", err)
	}
	text, err := json.Marshal(of(mechanisms.OnePerson().AddRemove()))
	if err != nil {
		t.Fatal(err)
	}
	var read Ledger
	if err := json.Unmarshal(text, &read); err != nil || read.Unit() != mechanisms.OnePerson().AddRemove() {
		t.Errorf("%s is read as %v: %v", text, read.Unit(), err)
	}
}

// Rows in a file give the bits of rows in memory.
func TestAddRemoveStored(t *testing.T) {
	x, y := countlessRows(400)
	path := filepath.Join(t.TempDir(), "some.rows")
	if err := WriteRows(t.Context(), path, x, y, AddRemove{AtMost: 1000}); err != nil {
		t.Fatal(err)
	}
	stored, err := OpenRows(t.Context(), path, Bounds{Feature: 2, Intercept: true}, PersonOrder{ForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	fit := func(d *Dataset) []float64 {
		m, err := Auto(t.Context(), d, Problem{Loss: losses.Logistic{}}, GDP(2).AddRemove(), &Env{NoiseForTests: mechanisms.NewSeededSource(5)})
		if err != nil {
			t.Fatal(err)
		}
		return m.Weights()[0]
	}
	if a, b := fit(stored), fit(countless(t, 400, 1)); !slices.Equal(a, b) {
		t.Errorf("from a file %v, from memory %v", a, b)
	}
}

// With about half the noise errors of coefficients are about half as large where noise is what they have: over 60
// fits with n·μ = 1,600 each, the ratio of root mean squares is below .8 but once in thousands of runs.
func TestAddRemoveHasLessNoise(t *testing.T) {
	x, y := countlessRows(800)
	public, err := NewDataset(x, y, Bounds{Feature: 2, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	spread := func(d *Dataset, b Budget) float64 {
		var slopes []float64
		for seed := range 60 {
			m, err := Auto(t.Context(), d, Problem{Loss: losses.Logistic{}}, b, &Env{NoiseForTests: mechanisms.NewSeededSource(uint64(seed))})
			if err != nil {
				t.Fatal(err)
			}
			slopes = append(slopes, m.Weights()[0][0])
		}
		return stat.StdDev(slopes, nil)
	}
	less, more := spread(countless(t, 800, 1), GDP(2).AddRemove()), spread(public, GDP(2))
	if !(less < 0.8*more) {
		t.Errorf("coefficients vary by %.3f, and by %.3f where a row is replaced", less, more)
	}
}
