package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// claims are files as an office in Europe has them: semicolons, decimal commas, Windows-1252, two years, and weights.
func claims(t *testing.T) (dir, schema string) {
	t.Helper()
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(4, 4))
	for _, year := range []int{2024, 2025} {
		var b strings.Builder
		b.WriteString("Gr\xf6\xdfe;Ort;Alter;Gewicht;Schaden\r\n")
		for range 1500 {
			size, town := r.Float64(), []string{"K\xf6ln", "Trier"}[r.IntN(2)]
			paid := 1000*size + 200*r.Float64()
			number := strings.Replace(fmt.Sprintf("%.2f", paid), ".", ",", 1)
			if whole, rest, _ := strings.Cut(number, ","); len(whole) > 3 {
				number = whole[:len(whole)-3] + "." + whole[len(whole)-3:] + "," + rest
			}
			fmt.Fprintf(&b, "%s;%s;%d;%s;%s\r\n", strings.Replace(fmt.Sprintf("%.3f", size), ".", ",", 1), town, 10+r.IntN(60), strings.Replace(fmt.Sprint(0.5+r.Float64()), ".", ",", 1), number)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("claims-%d.csv", year)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, write(t, "claims.json", `{"version": 1, "label": "Schaden", "weight": "Gewicht", "decimal": ",", "encoding": "windows-1252",
		"where": [{"column": "Alter", "from": 18}],
		"columns": [{"name": "Größe", "kind": "numeric", "range": [0, 1]},
		{"name": "Ort", "kind": "categorical", "levels": ["Köln", "Trier"]},
		{"name": "Alter", "kind": "numeric", "range": [18, 70]},
		{"name": "Gewicht", "kind": "numeric", "range": [0, 1.5]},
		{"name": "Schaden", "kind": "numeric", "range": [0, 1500], "thousands": "."}]}`)
}

// Files are taken as they are, from init to predictions; rows that "where" leaves out aren't counted.
func TestFilesAsTheyAre(t *testing.T) {
	dir, facts := claims(t)
	all, model := filepath.Join(dir, "claims-*.csv"), filepath.Join(dir, "m.json")
	if shown, _ := csvfit(t, "init", "-data", all, "-encoding", "windows-1252"); !strings.Contains(shown, "Größe") || !strings.Contains(shown, `"encoding": "windows-1252"`) {
		t.Errorf("init says\n%s", shown)
	}
	text, _ := csvfit(t, "fit", "-data", all, "-schema", facts, "-epsilon", "2", "-o", model, "-insecure-noise-seed", "1", "-json")
	var found struct {
		Rows         int `json:"training_rows"`
		Weights      int `json:"weights"`
		Coefficients []struct {
			Name  string
			Value float64
		}
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	if found.Rows < 2000 || found.Rows > 2800 || found.Weights != 4 || found.Coefficients[0].Name != "Größe" {
		t.Errorf("%+v", found)
	}
	if v := found.Coefficients[0].Value; v < 800 || v > 1200 {
		t.Errorf("a coefficient of %g, where 1000 is true", v)
	}
	planned, _ := csvfit(t, "plan", "-schema", facts, "-rows", fmt.Sprint(found.Rows), "-epsilon", "2")
	m, _, err := readModel(model)
	if _, ledger, _ := strings.Cut(planned, "\n"); err != nil || !strings.Contains(strings.ReplaceAll(explained(m.Ledger()), ", VOID against those who know the noise's seed", ""), strings.TrimSpace(ledger)[:40]) {
		t.Errorf("planned\n%s\nand did\n%s (%v)", planned, explained(m.Ledger()), err)
	}
	rows := filepath.Join(dir, "claims.rows")
	csvfit(t, "store", "-data", all, "-schema", facts, "-o", rows)
	fromRows, _ := csvfit(t, "fit", "-data", rows, "-schema", facts, "-epsilon", "2", "-o", filepath.Join(dir, "n.json"), "-insecure-noise-seed", "1", "-json")
	var again = found
	if err := json.Unmarshal([]byte(fromRows), &again); err != nil || again.Coefficients[0] != found.Coefficients[0] || again.Rows != found.Rows {
		t.Errorf("of stored rows %+v, of the files %+v (%v)", again, found, err)
	}
	csvfit(t, "store", "-data", all, "-schema", facts, "-o", rows, "-part", "1KB")
	parts := filepath.Join(dir, "claims-0*.rows")
	if files, err := filepath.Glob(parts); err != nil || len(files) < 3 {
		t.Errorf("%v (%v)", files, err)
	}
	fromParts, _ := csvfit(t, "fit", "-data", parts, "-schema", facts, "-epsilon", "2", "-o", filepath.Join(dir, "p.json"), "-insecure-noise-seed", "1", "-json")
	var third = found
	if err := json.Unmarshal([]byte(fromParts), &third); err != nil || third.Coefficients[0] != found.Coefficients[0] || third.Rows != found.Rows {
		t.Errorf("of parts %+v, of the files %+v (%v)", third, found, err)
	}
	queries := write(t, "q.csv", "Gr\xf6\xdfe;Ort;Alter\n0,5;K\xf6ln;12\n")
	predicted, _ := csvfit(t, "predict", "-model", model, "-data", queries)
	if lines := strings.Split(strings.TrimSpace(predicted), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[1], `"0,5",Köln,12,`) {
		t.Errorf("predictions\n%s", predicted)
	}
	for _, c := range []struct{ data, want string }{
		{filepath.Join(dir, "none-*.csv"), "no such file"},
		{filepath.Join(dir, "claims-2024.csv") + "," + rows, "only files with columns, or only files of rows"},
		{filepath.Join(dir, "claims-2024.csv") + "," + filepath.Join(dir, "claims-2024.csv"), "the same file"},
		{filepath.Join(dir, "claims-00002.rows"), "part 2"},
	} {
		err := run(context.Background(), []string{"fit", "-data", c.data, "-schema", facts, "-epsilon", "1", "-o", filepath.Join(dir, "x.json")}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.data, err, c.want)
		}
	}
}

// fromFile has a file for standard input until the test ends.
func fromFile(t *testing.T, path string) {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stdin
	t.Cleanup(func() { os.Stdin = was; in.Close() })
	os.Stdin = in
}

// Messages call it so, and not "-".
func TestStandardInputByName(t *testing.T) {
	facts, bad := schema(t, "pay", pay), "id,age,town,sector,pay,rich,visits\n1,20,york,a,x,yes,0\n"
	for _, args := range [][]string{{"check"}, {"fit", "-epsilon", "1", "-o", filepath.Join(t.TempDir(), "m.json")}, {"store", "-o", filepath.Join(t.TempDir(), "s.rows")}} {
		fromFile(t, write(t, "bad.csv", bad))
		var out bytes.Buffer
		err := run(t.Context(), append(args, "-data", "-", "-schema", facts), &out, io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), "standard input: ") {
			t.Errorf("%s: %v", args[0], err)
		}
		if args[0] == "check" && !strings.HasPrefix(out.String(), "not for publication: exact counts of the rows of standard input, for the curator only") {
			t.Errorf("%s", &out)
		}
	}
}

// "-" is standard input, which is read once.
func TestStandardInput(t *testing.T) {
	fromFile(t, people(t, 500))
	if out, _ := csvfit(t, "fit", "-data", "-", "-schema", schema(t, "rich", rich), "-epsilon", "1", "-o", filepath.Join(t.TempDir(), "m.json")); !strings.Contains(out, "500 training rows") {
		t.Errorf("printed\n%s", out)
	}
}

// Rows of a followup are fitted with the schema that they were made by, and no other.
func TestStoredRowsOfAFollowup(t *testing.T) {
	dir := t.TempDir()
	data, facts := write(t, "cohort.csv", cohort(400, false, 1)), write(t, "cohort.json", followup)
	rows := filepath.Join(dir, "c.rows")
	csvfit(t, "store", "-data", data, "-schema", facts, "-o", rows)
	csvfit(t, "fit", "-data", rows, "-schema", facts, "-epsilon", "1", "-o", filepath.Join(dir, "m.json"))
	for _, other := range []string{strings.Replace(followup, "[0, 1, 2, 5]", "[0, 1, 3, 5]", 1), strings.Replace(followup, `"end": "years"`, `"start": "age0", "end": "years"`, 1)} {
		err := run(context.Background(), []string{"fit", "-data", rows, "-schema", write(t, "other.json", other), "-epsilon", "1", "-o", filepath.Join(dir, "n.json")}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "stored with") {
			t.Errorf("%s: %v", other, err)
		}
	}
	if err := run(context.Background(), []string{"fit", "-data", data, "-schema", facts, "-evaluate", "0.2", "-epsilon", "1", "-o", filepath.Join(dir, "e.json")}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "-evaluate") {
		t.Errorf("an evaluation of a cohort: %v", err)
	}
}
