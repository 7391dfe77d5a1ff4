package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const risks = `{"version":1,"label":"claims","person":"policy","max_rows":3,"exposure":"years","columns":[
	{"name":"policy","kind":"id"},{"name":"age","kind":"numeric","range":[18,80]},{"name":"years","kind":"numeric","range":[0.1,1]},
	{"name":"claims","kind":"count","cap":5}]}`

// policies are made-up claims of 3,000 policies, of one to three years each, whose rate falls
// with age.
func policies(t *testing.T) string {
	t.Helper()
	r, text := rand.New(rand.NewPCG(3, 1)), "policy,age,years,claims\n"
	for p := range 3000 {
		age := 18 + 62*r.Float64()
		for range 1 + r.IntN(3) {
			years, claims := 0.1+0.9*r.Float64(), 0
			for rest := years * math.Exp(0.5-0.03*(age-18)); rest > 0; claims++ {
				rest += math.Log(1 - r.Float64())
			}
			text += fmt.Sprintf("P%d,%.1f,%.3f,%d\n", p, age, years, claims-1)
		}
	}
	return write(t, "claims.csv", text)
}

// Rates of persons: fitted with exposures, judged with them, and predictions are in
// proportion to a row's exposure, or for one of 1 where the file has no such column.
func TestRates(t *testing.T) {
	data, model := policies(t), filepath.Join(t.TempDir(), "model.json")
	filled := write(t, "risks.json", risks)
	planned, _ := csvfit(t, "plan", "-schema", filled, "-rows", "3000", "-epsilon", "4", "-loss", "poisson")
	if !strings.Contains(planned, "one person, of whom at most 3 rows count") {
		t.Errorf("planned\n%s", planned)
	}
	fitted, _ := csvfit(t, "fit", "-test", "0.2", "-data", data, "-schema", filled, "-epsilon", "4", "-loss", "poisson", "-o", model, "-insecure-noise-seed", "1")
	if !strings.Contains(fitted, "2400 training persons, 600 held out") {
		t.Errorf("a fifth of 3,000 persons was held out:\n%s", fitted)
	}
	explained := map[string]float64{}
	for line := range strings.Lines(fitted) {
		if f := strings.Fields(line); len(f) == 4 && (f[0] == "private" || f[0] == "non-private" || f[0] == "constant") {
			v, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				t.Fatal(line)
			}
			explained[f[0]] = v
		}
	}
	if len(explained) != 3 || !(explained["non-private"] < explained["constant"] && explained["private"] < explained["constant"] && explained["private"] < explained["non-private"]+0.02) {
		t.Errorf("deviances %v in\n%s", explained, fitted)
	}
	predicted := func(text, says string) (values []float64) {
		out, said := csvfit(t, "predict", "-model", model, "-data", write(t, "new.csv", text))
		if said != says {
			t.Errorf("predict says %q, want %q", said, says)
		}
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[len(row)-1], 64)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		return values
	}
	at, one := predicted("years,age\n0.5,30\n1,30\n5,30\n", "csvfit: column \"years\": 1 of 3 values lie outside the range [0.1, 1] and were clamped to it, first \"5\" in line 4 (if unexpected: a code of missing values, another unit, swapped columns?)\n"), predicted("age\n30\n", "csvfit: column \"years\", the exposure, is not in the file: predictions are for an exposure of 1\n")
	if !(math.Abs(at[0]/one[0]-0.5) < 1e-4 && at[1] == one[0] && at[2] == one[0]) {
		t.Errorf("predictions %v at exposures of a half, 1 and beyond the range, %v without", at, one)
	}
	for want, args := range map[string][]string{
		"line 3": {"predict", "-model", model, "-data", write(t, "bad.csv", "years,age\n1,30\nlong,30\n")},
		`labels of kind "count"`: {"fit", "-data", data, "-epsilon", "1", "-loss", "squared", "-o", model + "2",
			"-schema", write(t, "real.json", strings.Replace(risks, `"kind":"count","cap":5`, `"kind":"numeric","range":[0,5]`, 1))},
	} {
		var out, warnings bytes.Buffer
		if err := run(context.Background(), args, &out, &warnings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, which doesn't say %q", args, err, want)
		}
	}
}

// A file that has the logarithms of exposures gives the model of one that has the exposures, and the same predictions.
func TestOffsetsAreLogarithmsOfExposures(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(read(t, policies(t)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	text := "policy,age,log_years,claims\n"
	for _, row := range rows[1:] {
		years, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s,%s,%v,%s\n", row[0], row[1], math.Log(years), row[3])
	}
	schemas := []string{risks, strings.NewReplacer(`"exposure":"years"`, `"offset":"log_years"`, `"name":"years","kind":"numeric","range":[0.1,1]`, fmt.Sprintf(`"name":"log_years","kind":"numeric","range":[%v,0]`, math.Log(0.1))).Replace(risks)}
	files := []string{policies(t), write(t, "logs.csv", text)}
	var predicted []string
	for i, data := range []string{"years,age\n0.5,30\n1,60\n", "log_years,age\n" + fmt.Sprint(math.Log(0.5)) + ",30\n0,60\n"} {
		model := filepath.Join(t.TempDir(), "model.json")
		csvfit(t, "fit", "-data", files[i], "-schema", write(t, "risks.json", schemas[i]), "-epsilon", "4", "-o", model, "-insecure-noise-seed", "1", "-report", filepath.Join(t.TempDir(), "page.html"))
		out, _ := csvfit(t, "predict", "-model", model, "-data", write(t, "new.csv", data))
		for line := range strings.Lines(out) {
			predicted = append(predicted, line[strings.LastIndex(line, ",")+1:])
		}
		if i == 1 {
			if _, said := csvfit(t, "predict", "-model", model, "-data", write(t, "new.csv", "age\n30\n")); !strings.Contains(said, `"log_years", the offset, is not in the file: predictions are for an offset of 0`) {
				t.Errorf("without offsets: %s", said)
			}
		}
	}
	if len(predicted) != 6 || predicted[1] != predicted[4] || predicted[2] != predicted[5] {
		t.Errorf("predictions %q", predicted)
	}
}

// Predictions at an exposure, and the ends of their intervals, are held to the label's range as those of MeansAt are, with
// the logarithms of exposures for offsets; and so they are where the file has no exposures, for ones of 1.
func TestRatesAreHeldToTheRange(t *testing.T) {
	r, text := rand.New(rand.NewPCG(4, 1)), "age,years,claims\n"
	for range 3000 {
		age, years := 18+62*r.Float64(), 0.1+5*r.Float64()
		text += fmt.Sprintf("%.1f,%.3f,%.0f\n", age, years, math.Min(2, math.Round(years*math.Exp(1-0.03*(age-18)))))
	}
	model := filepath.Join(t.TempDir(), "model.json")
	csvfit(t, "fit", "-data", write(t, "capped.csv", text), "-epsilon", "8", "-method", "infer", "-o", model, "-insecure-noise-seed", "1", "-schema", write(t, "capped.json", `{"version":1,"label":"claims","exposure":"years","columns":[
		{"name":"age","kind":"numeric","range":[18,80]},{"name":"years","kind":"numeric","range":[0.1,6]},{"name":"claims","kind":"count","cap":2}]}`))
	m, read, err := readModel(model)
	if err != nil {
		t.Fatal(err)
	}
	rows, held := "age,years\n", 0
	var ages []map[string]string
	var offsets []float64
	for _, years := range []float64{0.5, 1, 2, 3, 4, 5, 6} {
		for _, age := range []string{"18", "30", "70"} {
			rows += fmt.Sprintf("%s,%v\n", age, years)
			ages, offsets = append(ages, map[string]string{"age": age}), append(offsets, math.Log(years))
		}
	}
	x, err := m.Encode(ages...)
	if err != nil {
		t.Fatal(err)
	}
	check := func(rows string, offsets []float64) {
		means, err1 := m.MeansAt(x, offsets)
		ends, err2 := read.one.Means(x, offsets)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		out, _ := csvfit(t, "predict", "-model", model, "-data", write(t, "new.csv", rows), "-interval")
		lines := strings.Split(strings.TrimSpace(out), "\n")[1:]
		for i, mean := range means {
			if want := fmt.Sprintf(",%.6g,%.6g,%.6g", mean, ends[i].Low, ends[i].High); !strings.HasSuffix(lines[i], want) {
				t.Errorf("%s, want %s", lines[i], want)
			}
			if mean == 2 {
				held++
			}
		}
	}
	if check(rows, offsets); held == 0 || held == len(offsets) {
		t.Errorf("%d of %d means are at the end of the range", held, len(offsets))
	}
	check(strings.ReplaceAll(rows, ",years", ",other"), make([]float64, len(offsets)))
}
