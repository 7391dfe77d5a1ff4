package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/dpglm/dpglm/mechanisms"
)

// With this variable set the test binary is csvfit itself, so that exit codes
// can be tested.
const asProgram = "CSVFIT_AS_PROGRAM"

func TestMain(m *testing.M) {
	now = func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }
	built = func() (*debug.BuildInfo, bool) {
		return &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.modified", Value: "true"}}}, true
	}
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// write makes a file, gzipped if its name ends in .gz, and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	if strings.HasSuffix(name, ".gz") {
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		b.WriteString(text)
	}
	return writeRaw(t, name, b.Bytes())
}

func writeRaw(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// people writes a CSV whose pay, in [0, 100], rises with age and is higher in
// one of three towns and in one of two sectors. Visits, at most 20, grow
// exponentially with age.
func people(t *testing.T, rows int) string {
	r := rand.New(mechanisms.NewSeededSource(11))
	var b strings.Builder
	b.WriteString("id,age,town,sector,pay,rich,visits\n")
	for i := range rows {
		age, town, sector := 20+r.IntN(50), r.IntN(3), r.IntN(2)
		pay := float64(age) + 10*r.Float64()
		if town == 2 {
			pay += 12
		}
		pay += 8 * float64(sector)
		rich := "no"
		if pay > 55 {
			rich = "yes"
		}
		visits := 0
		for range 20 {
			if r.Float64() < math.Exp(float64(age-69)/25) {
				visits++
			}
		}
		fmt.Fprintf(&b, "%d,%d,%s,%c,%.2f,%s,%d\n", i, age, []string{"leeds", "hull", "york"}[town], "ab"[sector], pay, rich, visits)
	}
	return write(t, "people.csv.gz", b.String())
}

// schema writes one of people, with the label that is given as JSON without its name.
func schema(t *testing.T, name, label string) string {
	t.Helper()
	return write(t, "schema.json", fmt.Sprintf(`{"version": 1, "label": %q, "columns": [
		{"name": "age", "kind": "numeric", "range": [20, 69]},
		{"name": "town", "kind": "categorical", "levels": ["york", "hull", "leeds"]},
		{"name": "sector", "kind": "binary", "positive": ["b"], "negative": ["a"]},
		{"name": %q, %s}]}`, name, name, label))
}

const (
	rich   = `"kind": "binary", "positive": ["yes"], "negative": ["no"]`
	pay    = `"kind": "numeric", "range": [0, 100]`
	visits = `"kind": "count", "cap": 20`
)

// unzipped reads what write wrote.
func unzipped(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
