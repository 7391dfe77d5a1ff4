package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mostlyNone are so many rows of an age, other columns, and an amount, which is 0 but in a part of them.
func mostlyNone(t *testing.T, rows, others int, some float64) (path string, mean float64) {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("age,")
	for j := range others {
		fmt.Fprintf(&b, "x%d,", j)
	}
	b.WriteString("claim\n")
	for range rows {
		amount := 0.0
		if r.Float64() < some {
			amount = math.Min(math.Round(2000*r.ExpFloat64()), 10000)
		}
		mean += amount / float64(rows)
		fmt.Fprintf(&b, "%d,", 18+r.IntN(70))
		for range others {
			fmt.Fprintf(&b, "%.3f,", r.Float64())
		}
		fmt.Fprintf(&b, "%g\n", amount)
	}
	return write(t, "claims.csv", b.String()), mean
}

const claimed = `{"version": 1, "label": "claim", "columns": [{"name": "age", "kind": "numeric", "range": [18, 90]}, {"name": "claim", "kind": "numeric", "range": [0, 10000]}]}`

// Of amounts that are mostly 0 check names an ε: well below it fits miss more than half of the mean, well above it none does. Noise is seeded, so
// that there is nothing to chance; a clip that is found in another way, or a wrong count of the rows that a clip may shorten, shows.
func TestCheckSaysWhereAFitMissesTheMean(t *testing.T) {
	for _, others := range []int{0, 29} {
		var columns strings.Builder
		for j := range others {
			fmt.Fprintf(&columns, `{"name": "x%d", "kind": "numeric", "range": [0, 1]}, `, j)
		}
		facts := write(t, "s.json", strings.Replace(claimed, `{"name": "claim"`, columns.String()+`{"name": "claim"`, 1))
		data, mean := mostlyNone(t, 5000, others, 0.1)
		said, err := checked(t, data, facts)
		found := regexp.MustCompile(`NOTE: (\d+) \([0-9.]+ %\) of the labels are exactly 0\. .* at an ε below about ([0-9.]+) \(at δ = 2.8e-06\) .* "above": 0`).FindStringSubmatch(said)
		if err != nil || found == nil {
			t.Fatalf("%v\n%s", err, said)
		}
		epsilon, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		for times, misses := range map[float64]bool{0.25: true, 3: false} {
			missed := 0
			const fits = 8
			for seed := range fits {
				model := filepath.Join(t.TempDir(), "m.json")
				csvfit(t, "fit", "-data", data, "-schema", facts, "-epsilon", fmt.Sprintf("%.3g", times*epsilon), "-insecure-noise-seed", strconv.Itoa(seed+1), "-o", model)
				if predicted := meanOf(t, model, data); math.Abs(predicted-mean) > mean/2 {
					missed++
				}
			}
			t.Logf("%d columns, %g times the ε of %g: %d of %d fits miss", 1+others, times, epsilon, missed, fits)
			if misses && missed < fits-2 || !misses && missed > 0 {
				t.Errorf("%d columns: at %g times the ε of %g %d of %d fits miss", 1+others, times, epsilon, missed, fits)
			}
		}
	}
}

// meanOf is the mean of what a model predicts for a file of two columns.
func meanOf(t *testing.T, model, data string) (mean float64) {
	t.Helper()
	out, _ := csvfit(t, "predict", "-model", model, "-data", data)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		p, err := strconv.ParseFloat(r[len(r)-1], 64)
		if err != nil {
			t.Fatal(err)
		}
		mean += p / float64(len(rows)-1)
	}
	return mean
}

// Nothing is said where no more than half of the labels are the same, of counts, and of losses that have no mean.
func TestCheckSaysNothingOfOtherLabels(t *testing.T) {
	facts := write(t, "s.json", claimed)
	few, _ := mostlyNone(t, 1000, 0, 0.1)
	many, _ := mostlyNone(t, 1000, 0, 0.6)
	for _, c := range []struct {
		data, schema string
		more         []string
		want         bool
	}{
		{few, facts, nil, true}, {few, facts, []string{"-loss", "gamma"}, true}, {few, facts, []string{"-loss", "quantile"}, false}, {many, facts, nil, false},
		{few, write(t, "c.json", strings.Replace(claimed, `"numeric", "range": [0, 10000]`, `"count", "cap": 10000`, 1)), nil, false},
	} {
		said, _ := csvfit(t, append([]string{"check", "-data", c.data, "-schema", c.schema}, c.more...)...)
		if strings.Contains(said, "of the labels are exactly 0") != c.want {
			t.Errorf("%v: %s", c.more, said)
		}
	}
}

// A person who is secretly there moves one count, who is replaced two; of many columns a descent lets a clip shorten more rows than noise hides.
func TestCutOff(t *testing.T) {
	one, secret, many := cutOff(100, 1, false), cutOff(100, 1, true), cutOff(100, 30, false)
	if math.Abs(one/secret-math.Sqrt2) > 1e-12 || !(many > 1.5*one) || math.Abs(cutOff(200, 30, true)-many/2) > 1e-12 {
		t.Error(one, secret, many)
	}
}

// By hand: of 1, 2, 3 and 10 beside a zero one beyond the bound leaves 9 of 16, as that is 3 then, and two leave 7, as it is 2. Labels on
// both sides of a value lose nothing where they cancel.
func TestHidden(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want int
	}{{[]float64{0, 1, 2, 3, 10}, 2}, {[]float64{0, 5, 5}, 2}, {[]float64{0, -3, 3}, 0}, {[]float64{0, 0}, 0}} {
		if got := hidden(c.y, 0); got != c.want {
			t.Errorf("%v: %d and not %d", c.y, got, c.want)
		}
	}
	if v, n := mostFrequent([]float64{2, 1, 2, 1, 3}); v != 1 || n != 2 {
		t.Error(v, n)
	}
}
