package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var found = regexp.MustCompile(`-epsilon (\S+) -delta (\S+) is the largest`)

// What plan -largest finds, a fit can spend, and no fit of a hundredth more; and planning spends nothing.
func TestLargestIsWhatAFitCanSpend(t *testing.T) {
	data := policies(t)
	schema := write(t, "risks.json", risks)
	for _, method := range []string{"auto", "objpert"} {
		file := filepath.Join(t.TempDir(), "budget.json")
		csvfit(t, "budget", "-file", file, "-epsilon", "4", "-delta", "1e-6", "-name", "claims", "-unit", "person")
		csvfit(t, "fit", "-data", data, "-schema", schema, "-epsilon", "1", "-delta", "5e-7", "-budget", file, "-name", "claims", "-o", filepath.Join(t.TempDir(), "m.json"))
		for _, more := range [][]string{nil, {"-evaluate", "0.2", "-mean", "0.5"}} {
			if method != "auto" && more != nil {
				continue
			}
			args := append([]string{"plan", "-schema", schema, "-rows", "3000", "-largest", file, "-method", method}, more...)
			shown, said := csvfit(t, args...)
			m := found.FindStringSubmatch(said)
			if m == nil || m[2] != "1e-06" || !strings.Contains(shown, "noise") {
				t.Fatalf("%s %v: %s\n%s", method, more, said, shown)
			}
			epsilon, err := strconv.ParseFloat(m[1], 64)
			if err != nil || !(epsilon > 1 && epsilon < 4) {
				t.Fatalf("%s: ε = %g (%v)", method, epsilon, err)
			}
			if entries := len(entriesOf(t, file)); entries != 1 {
				t.Errorf("planning spent: %d entries", entries)
			}
			if more != nil {
				continue
			}
			fit := func(epsilon float64) error {
				var out, warnings bytes.Buffer
				return run(context.Background(), []string{"fit", "-data", data, "-schema", schema, "-epsilon", fmt.Sprint(epsilon), "-delta", m[2], "-method", method, "-budget", file, "-name", "claims", "-o", filepath.Join(t.TempDir(), "m.json")}, &out, &warnings)
			}
			if err := fit(1.01 * epsilon); err == nil || len(entriesOf(t, file)) != 1 {
				t.Errorf("%s: a hundredth more than %g was spent (%v)", method, epsilon, err)
			}
		}
		_, said := csvfit(t, "plan", "-schema", schema, "-rows", "3000", "-largest", file, "-method", method)
		epsilon := found.FindStringSubmatch(said)[1]
		csvfit(t, "fit", "-data", data, "-schema", schema, "-epsilon", epsilon, "-delta", "1e-6", "-method", method, "-budget", file, "-name", "claims", "-o", filepath.Join(t.TempDir(), "m.json"))
	}
}

func TestLargestIsRefused(t *testing.T) {
	schema, file, pure := write(t, "risks.json", risks), filepath.Join(t.TempDir(), "rows.json"), filepath.Join(t.TempDir(), "pure.json")
	csvfit(t, "budget", "-file", file, "-epsilon", "4", "-delta", "1e-6", "-name", "claims")
	csvfit(t, "budget", "-file", pure, "-epsilon", "4", "-delta", "0", "-name", "claims", "-unit", "person")
	spent := filepath.Join(t.TempDir(), "spent.json")
	csvfit(t, "budget", "-file", spent, "-epsilon", "1", "-delta", "1e-6", "-name", "claims", "-unit", "person")
	csvfit(t, "fit", "-data", policies(t), "-schema", schema, "-epsilon", "1", "-delta", "1e-6", "-budget", spent, "-name", "claims", "-o", filepath.Join(t.TempDir(), "m.json"))
	for want, more := range map[string][]string{
		"leave them out, and -epsilon":    {"-largest", file, "-epsilon", "1"},
		"-width, -excess and -lost do":    {"-largest", file, "-lost", "0.1", "-mean", "0.5"},
		"there is no such file":           {"-largest", file + "x"},
		"protects one row":                {"-largest", file},
		"-group 2 is not that of":         {"-largest", file, "-group", "2"},
		"has nothing left":                {"-largest", spent},
		"has δ = 0":                       {"-largest", pure},
		"-delta 0.001 is above that of":   {"-largest", file, "-delta", "0.001"},
		"-delta 2 must lie strictly betw": {"-largest", file, "-delta", "2"},
	} {
		var out, warnings bytes.Buffer
		err := run(context.Background(), append([]string{"plan", "-schema", schema, "-rows", "3000"}, more...), &out, &warnings)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, which doesn't say %q", more, err, want)
		}
	}
}

// What is found is told to the last digit, so that a fit by it spends what is left, and no more: of an ε that has no exact binary form, at a
// δ of more digits than are shown.
func TestLargestIsAllOfAnUnspentBudget(t *testing.T) {
	data, schema := policies(t), write(t, "risks.json", risks)
	for _, total := range []string{"0.7", "0.3"} {
		file := filepath.Join(t.TempDir(), "budget.json")
		csvfit(t, "budget", "-file", file, "-epsilon", total, "-delta", "3.0000004e-7", "-name", "claims", "-unit", "person")
		_, said := csvfit(t, "plan", "-schema", schema, "-rows", "3000", "-largest", file)
		m := found.FindStringSubmatch(said)
		if m == nil || m[1] != total || m[2] != "3.0000004e-07" {
			t.Fatalf("%s", said)
		}
		csvfit(t, "fit", "-data", data, "-schema", schema, "-epsilon", m[1], "-delta", m[2], "-budget", file, "-name", "claims", "-o", filepath.Join(t.TempDir(), "m.json"))
	}
}

func TestFloor4(t *testing.T) {
	for x, want := range map[float64]float64{0.3: 0.3, 0.7: 0.7, 1.1: 1.1, 0.29999999: 0.2999, 0.99996: 0.9999, 1.00005: 1, 12.345678: 12.34, 4: 4, 2.3e-4: 2.3e-4} {
		if got := floor4(x); got != want {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
	for x := 0.01; x < 40; x *= 1.000917 {
		if got := floor4(x); got > x || got < 0.999*x || floor4(got) != got {
			t.Errorf("%v: %v", x, got)
		}
	}
}
