package table

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/rowfile"
)

const offsets = `{"version":1,"label":"n","offset":"log_years","columns":[
	{"name":"x","kind":"numeric","range":[0,1]},
	{"name":"log_years","kind":"numeric","range":[-2,3]},
	{"name":"n","kind":"count","cap":9}]}`

// An offset is the logarithm of an exposure: clamped to its range, no feature, and the same in rows, records and files of rows.
func TestOffsetIsLogarithmOfExposure(t *testing.T) {
	s := parse(t, offsets)
	if again := parse(t, s.String()); again.Offset != "log_years" || again.AtRisk() != "log_years" {
		t.Errorf("round trip: %s", again)
	}
	tab, err := ReadCSV(strings.NewReader("x,log_years,n\n0,-1.5,1\n1,0,2\n1,7,2\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-1.5, 0, 3} {
		if got := tab.LogExposure()[i]; math.Abs(got-want) > 1e-12 {
			t.Errorf("row %d: offset %g, want %g", i, got, want)
		}
	}
	if _, features := tab.Dims(); features != 1 || len(tab.Warnings()) == 0 {
		t.Errorf("%d features, warnings %q", features, tab.Warnings())
	}
	low, high := tab.Encoder().Exposure()
	if math.Abs(math.Log(low)+2) > 1e-12 || math.Abs(math.Log(high)-3) > 1e-12 {
		t.Errorf("exposures in [%g, %g]", low, high)
	}
	b, err := tab.Encoder().Bind([]string{"log_years", "x"})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := b.Exposure([]string{"1", "0"}); err != nil || math.Abs(v-math.E) > 1e-12 {
		t.Errorf("exposure %g (%v)", v, err)
	}
	csv := filepath.Join(t.TempDir(), "a.csv")
	write(t, csv, "x,log_years,n\n0,-1.5,1\n")
	if _, err := WriteCSVFile(t.Context(), csv+".rows", csv, s); err != nil {
		t.Fatal(err)
	}
	f, err := rowfile.Open(csv + ".rows")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if of := f.Facts.Offsets; math.Abs(of[0]+2) > 1e-12 || math.Abs(of[1]-3) > 1e-12 {
		t.Errorf("a file of rows has offsets in %v", of)
	}
}

// Offsets that can't be are refused by the schema or, with their place, by the reader.
func TestOffsetIsChecked(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`[-2,3]`, `[-2,101]`, `"log_years", whose range is [-2, 101]; it must lie within ±100`},
		{`[-2,3]`, `[3,3]`, `"range" is [3, 3]`},
		{`"range":[-2,3]`, `"range":[1,3],"log":true`, `has "log"`},
		{`"range":[-2,3]`, `"range":[-2,3],"missing":"indicator"`, `may not be missing`},
		{`"kind":"numeric","range":[-2,3]`, `"kind":"categorical","levels":["a","b"]`, `of kind categorical; it must be numeric with a range within ±100`},
		{`"offset":"log_years"`, `"offset":"n"`, `"offset": names the label`},
		{`"offset":"log_years"`, `"offset":"logyears"`, `did you mean "log_years"?`},
		{`"offset":"log_years"`, `"offset":"log_years","exposure":"x"`, `"offset": stands beside "exposure"`},
		{`"offset":"log_years"`, `"offset":"log_years","weight":"log_years"`, `is the label, the exposure or the offset`},
		{`"offset":"log_years"`, `"offset":"log_years","followup":{"end":"exit","cuts":[0,1]}`, `must be without "exposure" or "offset"`},
	} {
		text := strings.Replace(offsets, c.old, c.new, 1)
		_, err := ParseSchema([]byte(text))
		says(t, c.new, err, ErrSchema, c.says)
	}
	for field, want := range map[string]string{
		"":    `line 2, column "log_years": an offset is missing: the field is empty`,
		"NA":  `an offset is missing: "NA" stands for a missing value`,
		"two": `line 2, column "log_years": "two" is not a number`,
		"inf": `is not a finite number`,
	} {
		_, err := ReadCSV(strings.NewReader("x,log_years,n\n0,"+field+",1\n"), parse(t, offsets))
		says(t, field, err, ErrValue, want)
	}
	_, err := ReadCSV(strings.NewReader("x,n\n0,1\n"), parse(t, offsets))
	says(t, "no column", err, ErrColumn, `column "log_years" is not in the header`)
}
