package table

import (
	"os"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const dated = `{"version":1,"label":"n","columns":[
	{"name":"day","kind":"date","origin":"2020-01-01","from":"2020-01-01","to":"2025-12-31"%s},
	{"name":"n","kind":"count","cap":9}]}`

// Each sort of wrong date is reported at its first place, all of them in one round, and none twice.
func TestDatesAreReportedBySort(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		fields     []string
		says       []string
		lines      int
	}{
		{"one sort", "", []string{"2020-13-01", "2020-02-30"}, []string{`line 2, column "day": "2020-13-01" is a date that the calendar`, "2 of 2 rows"}, 1},
		{"all sorts", "", []string{"2020-02-30", "02.03.2020", "", "soon", "2020-02-31", "03.03.2020", "later", "12/25/2020"}, []string{
			`line 2, column "day": "2020-02-30" is a date that the calendar doesn't have`, `line 3, column "day": "02.03.2020" is not a date as`, `"02.01.2006"`,
			`line 4, column "day": the field is empty`, `line 5, column "day": "soon" is not a date`, `line 9, column "day": "12/25/2020"`, `"01/02/2006"`, "8 of 8 rows"}, 5},
		{"German", `,"layouts":["02.01.2006"]`, []string{"2020-01-02", "31.02.2020", "01.13.2020", "1.2.2020"}, []string{`line 2, column "day": "2020-01-02"`, `line 3, column "day": "31.02.2020" is a date that the calendar`, `add "2.1.2006"`, `"layouts": ["02.01.2006", "2.1.2006"]`}, 3},
		{"days before months", `,"layouts":["2006-01-02","01/02/2006"]`, []string{"25/12/2020", "03/04/2020"}, []string{`write "02/01/2006" in the place of "01/02/2006"`, `"layouts": ["2006-01-02", "02/01/2006"]`}, 1},
		{"time of day", "", []string{"2020-01-02 10:00", "20200102", "NA"}, []string{`"2006-01-02 15:04"`, `"20060102"`, `"NA" stands for a missing value`}, 3},
		{"missing by rule", `,"missing":"indicator"`, []string{"", "NA", "never"}, []string{`line 4, column "day": "never" is not a date`}, 1},
	} {
		_, err := ReadCSV(strings.NewReader("day,n\n"+strings.Join(c.fields, ",1\n")+",1\n"), parse(t, strings.Replace(dated, "%s", c.keys, 1)))
		says(t, c.name, err, ErrValue, c.says...)
		if n := len(strings.Split(err.Error(), "\n")); n != c.lines {
			t.Errorf("%s: %d lines, want %d: %v", c.name, n, c.lines, err)
		}
	}
}

// However many sorts there are, few are shown.
func TestSortsAreLimited(t *testing.T) {
	var p problems
	for i := range 3 * maxSorts {
		if err := p.add([]error{valueError("day", "no. %d", i).sorted(strings.Repeat("x", i))}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(strings.Split(p.with(nil).Error(), "\n")); n != 1+maxSorts {
		t.Errorf("%d lines", n)
	}
}

// Typographic separators of thousands are read where the plain ones are declared, and are asked for by the plain ones.
func TestTypographicSeparators(t *testing.T) {
	const plain = `{"version":1,"label":"n","columns":[{"name":"pay","kind":"numeric","range":[0,4000]%s},{"name":"n","kind":"count","cap":9}]}`
	for text, mark := range map[string]string{"1\u00a0000": " ", "1\u202f000": " ", "1\u2009000": " ", "1 000": " ", "1’000": "'", "1'000": "'"} {
		_, err := ReadCSV(strings.NewReader("pay;n\n"+text+";1\n"), parse(t, strings.Replace(plain, "%s", "", 1)))
		says(t, text, err, ErrValue, `"thousands": "`+mark+`"`, "write 1000")
		for _, declared := range []string{mark, text[1 : len(text)-3]} {
			tab, err := ReadCSV(strings.NewReader("pay;n\n"+text+";1\n"), parse(t, strings.Replace(plain, "%s", `,"thousands":"`+declared+`"`, 1)))
			if err != nil || tab.Dense().At(0, 0) != -.5 {
				t.Errorf("%q by %q: %v", text, declared, err)
			}
		}
	}
}

// Files that other programs compressed are told so, whatever their name.
func TestPackedFilesAreNamed(t *testing.T) {
	for _, p := range packed {
		if len(p.magic) > mostMagic {
			t.Errorf("%s: %d bytes", p.name, len(p.magic))
		}
		path := t.TempDir() + "/a.csv"
		write(t, path, p.magic+"\x00\x01")
		_, err := OpenCSV(path, 0)
		says(t, p.name, err, ErrFile, "compressed by "+p.name, p.name+" -dc")
		_, err = NewCSV(strings.NewReader(p.magic+"\x00\x01"), 0)
		says(t, p.name+" from a reader", err, ErrFile, "compressed by "+p.name)
	}
}
