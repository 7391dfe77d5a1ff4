package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// checked is what check prints of a file, with one blank for several, and its error.
func checked(t *testing.T, data, facts string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), []string{"check", "-data", data, "-schema", facts}, &out, io.Discard)
	return blanks.ReplaceAllString(out.String(), " "), err
}

// visited is a schema of columns of each kind.
const visited = `{"version": 1, "label": "visits", "person": "id", "max_rows": 2, "exposure": "years", "missing": ["-9"], "columns": [
	{"name": "id", "kind": "id"},
	{"name": "visits", "kind": "count", "cap": 4},
	{"name": "years", "kind": "numeric", "range": [0.5, 1]},
	{"name": "age", "kind": "numeric", "range": [20, 69], "log": true, "square": true, "missing": "indicator"},
	{"name": "pay", "kind": "numeric", "range": [0, 5000], "thousands": ",", "knots": [100, 1000], "missing": "constant", "constant": "25"},
	{"name": "town", "kind": "categorical", "levels": ["york", "hull", "else"], "other": "else", "fold_case": true, "missing": "level"},
	{"name": "smokes", "kind": "binary", "positive": ["yes", "y"], "negative": ["no"], "missing": "indicator"},
	{"name": "since", "kind": "date", "origin": "2000-01-01", "from": "2000-01-01", "to": "2009-12-31"},
	{"name": "ward", "kind": "onehot", "levels": ["a", "b"]},
	{"name": "note", "kind": "ignored"}], "interactions": [["age", "town"]]}`

const visitors = "id,visits,years,age,pay,town,smokes,since,ward=a,ward=b,note\n"

// Each kind of column is counted as reading reads it.
func TestCheckCounts(t *testing.T) {
	said, err := checked(t, write(t, "v.csv.gz", visitors+
		"p,0,1,20,\"1,200\",york,yes,2001-02-03,1,0,x\n"+
		"p,1,2,19,25,HULL,y,1999-12-31,0,1,x\n"+
		" p ,9,0.1,-9.0,9000,Hul,no,2009-12-31,0,0,x\n"+
		"q,4,1,70.5,-9,leeds,-9,2010-01-01,0,0,x\n"+
		"r,0,1,,,leeds,,2005-01-01,true,0,x\n"+
		"r,0,1,33,1,-9,no,2005-01-01,1,0,x\n"), write(t, "s.json", visited))
	if err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(said, "\n"); !strings.Contains(first, "not for publication") || !strings.Contains(first, "for the curator only; nothing was spent") {
		t.Errorf("the first line is %q", first)
	}
	for _, want := range []string{
		"\nrows 6\n", "\npersons 3 by \"id\"\n", "\nrows of a person smallest 1, median 2, largest 3\n", "\nbeyond \"max_rows\" 2 1 (33.3 %) persons; of their rows 1 (16.7 %) don't count in a fit\n",
		"\nlabel visits, mean 1.5, from 0 to 4: 100 % of its range [0, 4], with 3 (50 %) at the lower end and 2 (33.3 %) at the upper\n",
		"\nvisits count 0 0 1 (16.7 %) [0, 4]\n", "\nyears numeric 0 0 2 (33.3 %) [0.5, 1]\n", "\nage numeric 2 (33.3 %) 0 2 (33.3 %) [20, 69]\n", "\npay numeric 2 (33.3 %) 0 1 (16.7 %) [0, 5000]\n",
		"\ntown categorical 1 (16.7 %) 3 (50 %)", "\nsmokes binary 2 (33.3 %) 0", "\nsince date 0 0 2 (33.3 %) [2000-01-01, 2009-12-31]\n", "\nward onehot 0 0",
		"\ntown york 1, hull 1, else 0\n", "\nsmokes no 2, yes or y 2\n", "\nward none of them 2, a 3, b 1\n",
		"\ntown \"leeds\" 2, \"Hul\" 1: they read as \"else\"\n", "NOTE: column \"visits\": 1 of 6 values lie outside the range [0, 4]",
		"isn't publicly known any more",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// Weights have their mean, and how many rows of the largest weight in the range they come to; where all are 0 that is said.
func TestCheckWeights(t *testing.T) {
	facts := write(t, "s.json", `{"version": 1, "label": "y", "weight": "w", "columns": [{"name": "w", "kind": "numeric", "range": [0, 8]}, {"name": "x", "kind": "numeric", "range": [0, 1]},
		{"name": "y", "kind": "numeric", "range": [0, 1]}]}`)
	for rows, want := range map[string]string{"1,0,1\n3,1,0\n9,1,1\n": "\nweights mean 4, range to 8: noise is as large as for 1.5 rows that all weigh 8\n", "0,0,1\n0,1,0\n": "NOTE: column \"w\": every row has a weight of 0"} {
		if said, err := checked(t, write(t, "w.csv", "w,x,y\n"+rows), facts); err != nil || !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s (%v)", want, said, err)
		}
	}
}

// Times at risk of one person that overlap are counted, within the cuts: those that meet don't, nor those of others, nor of records that aren't
// there. Without a column of the start two records of a person both begin at 0. A fit takes them as they are.
func TestCheckTimesThatOverlap(t *testing.T) {
	const facts = `{"version": 1, "label": "died", "decimal": ",", "person": "id", "max_rows": 3, "where": [{"column": "age", "from": 18}],
		"followup": {START"end": "to", "cuts": [1, 5, 10]}, "columns": [{"name": "id", "kind": "id"}, {"name": "age", "kind": "numeric", "range": [18, 99]},
		{"name": "died", "kind": "binary", "positive": ["1"], "negative": ["0"]}]}`
	const header = "id;age;from;to;died\n"
	cohort := "a;50;0;2,5;0\na;50;2,5;4;0\na;50;4;6;1\n" + // meet
		"b;50;3;8;0\nb;50;2;4;0\nb;50;7;9;1\n" + // two overlap
		"c;50;0;0,9;0\nc;50;0,5;3;0\n" + // before the first cut
		"d;50;3;12;0\nd;50;11;13;1\n" + // after the last
		"e;50;3;4;0\ne;9;3;4;0\n" + // one isn't there
		"f;50;3;4;0\nf;50;3,5;3,6;0\n" +
		"g;50;1;9;0\ng;50;2;3;0\ng;50;4;5;1\n" // both within the first
	start := write(t, "s.json", strings.Replace(facts, "START", `"start": "from", `, 1))
	for name, c := range map[string]struct{ data, schema, want string }{
		"overlap":   {header + cohort, start, "\nrecords whose times at risk overlap 5, of 3 (42.9 %) persons: a fit takes each as it is"},
		"none":      {header + "a;50;0;2,5;0\na;50;2,5;4;0\nb;50;1;7;1\n", start, "\nrecords whose times at risk overlap 0\n"},
		"no starts": {"id;age;to;died\na;50;3;0\na;50;4;1\nb;50;2;1\n", write(t, "n.json", strings.Replace(facts, "START", "", 1)), "\nrecords whose times at risk overlap 1, of 1 (50 %) persons"},
	} {
		said, err := checked(t, write(t, "c.csv", c.data), c.schema)
		if err != nil || !strings.Contains(said, c.want) || !strings.HasPrefix(said, "not for publication") {
			t.Errorf("%s: no %q in\n%s (%v)", name, c.want, said, err)
		}
		if left := "\nrecords that \"where\" leaves out 1, of which nothing else is counted\n"; strings.Contains(said, left) != (name == "overlap") || name == "overlap" && !strings.Contains(said, "\nage numeric 0 0 0 [18, 99]\n") {
			t.Errorf("%s: %s", name, said)
		}
	}
	csvfit(t, "fit", "-data", write(t, "c.csv", header+cohort), "-schema", start, "-epsilon", "1", "-delta", "1e-5", "-o", filepath.Join(t.TempDir(), "m.json"))
	if said, err := checked(t, write(t, "one.csv", "years,age,sex,died\n1,50,f,1\n2,50,m,0\n"), write(t, "f.json", followup)); err != nil || strings.Contains(said, "overlap") {
		t.Errorf("records that are persons: %s (%v)", said, err)
	}
}

// Labels of other kinds have their mean, or their levels.
func TestCheckLabels(t *testing.T) {
	data := people(t, 200)
	for label, c := range map[string][2]string{
		"rich": {rich, "\nlabel rich = yes, mean 0."},
		"pay":  {pay, " of its range [0, 100], with 0 at the lower end and 0 at the upper\n"},
	} {
		if said, err := checked(t, data, schema(t, label, c[0])); err != nil || !strings.Contains(said, c[1]) || !strings.Contains(said, "columns that the schema doesn't mention") {
			t.Errorf("%s: %v\n%s", label, err, said)
		}
	}
	if said, err := checked(t, data, schema(t, "pay", `"kind": "binary", "above": 55`)); err != nil || !strings.Contains(said, "\nlabel pay > 55, mean 0.") || !strings.Contains(said, "\npay binary 0 0 \n") {
		t.Errorf("%v\n%s", err, said)
	}
	facts := write(t, "s.json", `{"version": 1, "label": "town", "columns": [{"name": "age", "kind": "numeric", "range": [20, 69]}, {"name": "town", "kind": "categorical", "levels": ["york", "hull", "leeds", "bath"]}]}`)
	if said, err := checked(t, data, facts); err != nil || !strings.Contains(said, "\nlabel town, with the levels below\n") || !strings.Contains(said, ", bath 0\n") || !strings.Contains(said, `no row has the level "bath"`) {
		t.Errorf("%v\n%s", err, said)
	}
}

// All that is wrong with a file is said in one go, and counted also where reading gives up.
func TestCheckTellsAllProblems(t *testing.T) {
	facts := write(t, "s.json", `{"version": 1, "label": "y", "columns": [{"name": "a", "kind": "numeric", "range": [0, 9]},
		{"name": "town", "kind": "categorical", "levels": ["york", "leeds"]}, {"name": "y", "kind": "binary", "positive": ["1"], "negative": ["0"]}]}`)
	const rows = 1500
	bad := "a,town,y\n" + strings.Repeat("x,Leds,1\n", rows) + strings.Repeat(",york,0\n", rows) + "10,bath,NA\n"
	said, err := checked(t, write(t, "bad.csv", bad), facts)
	if err == nil || !strings.Contains(err.Error(), `column "a"`) || !strings.Contains(err.Error(), `column "town"`) {
		t.Errorf("%v", err)
	}
	for _, want := range []string{
		"\nrows 3001\n", "\nlabel can't be told", "\na numeric 1500 (50 %) 1500 (50 %) 1 (0.0333 %) [0, 9]\n", "\ntown categorical 0 1501 (50 %)", "\ny binary 1 (0.0333 %) 0",
		"\na \"x\" 1500\n", "\ntown \"Leds\" 1500, \"bath\" 1\n", "\ntown york 1500, leeds 0\n", "\ny 0 1500, 1 1500\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	for name, c := range map[string]struct{ text, says, wrong string }{
		"ragged":    {"a,town,y\n1,york,1\n2\n3,leeds,0\n", "\nrows 2\nrows of another length than the header 1\n", "line 3: it has 1 fields"},
		"quotes":    {"a,town,y\n1,york,1\n2,le\"eds,0\n3,york,1\n", "\nrows, after which the file can't be read 1\n", "a quote"},
		"no column": {"town,y\nyork,1\nbath,0\n", "\ntown \"bath\" 1\n", `"a" is not in the header`},
		"no row":    {"a,town,y\n", "", "there is no row"},
	} {
		if said, err := checked(t, write(t, "bad.csv", c.text), facts); err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(said, c.says) || (said == "") != (c.says == "") {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
}

// Persons that nobody names are counted apart, and what many texts there are isn't all shown.
func TestCheckPersonsAndTexts(t *testing.T) {
	facts := write(t, "s.json", `{"version": 1, "label": "y", "person": "id", "max_rows": 3, "persons": 9, "columns": [{"name": "id", "kind": "id"},
		{"name": "town", "kind": "categorical", "levels": ["york", "leeds"]}, {"name": "y", "kind": "binary", "above": 0}]}`)
	var text strings.Builder
	text.WriteString("id,town,y\n,york,1\nNA,york,0\n")
	for i := range 12 {
		fmt.Fprintf(&text, "%d,%s%02d,1\n", i%2, strings.Repeat("long", 12), i)
	}
	said, err := checked(t, write(t, "p.csv", text.String()), facts)
	if err == nil {
		t.Error("no error")
	}
	for _, want := range []string{"\nrows without a person 2\n", "\npersons 2 by \"id\", of 9 that the schema has\n", "smallest 6, median 6, largest 6\n", "\nbeyond \"max_rows\" 3 2 (100 %) persons; of their rows 6 (42.9 %)", "…\" 1, and 4 more\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

func TestCheckArguments(t *testing.T) {
	facts, data := schema(t, "rich", rich), people(t, 100)
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no data", []string{"-schema", facts}, 2, "-data is missing"},
		{"no schema", []string{"-data", data}, 2, "-schema is missing"},
		{"no such file", []string{"-data", filepath.Join(t.TempDir(), "none.csv"), "-schema", facts}, 1, "there is no such file"},
		{"LIBSVM", []string{"-data", write(t, "a.libsvm", "1 1:1\n"), "-schema", write(t, "l.json", `{"features": 2, "bound": 1, "label": {"kind": "binary", "positive": ["1"], "negative": ["0"]}}`)}, 2, "must be a file with columns"},
		{"rows", []string{"-data", write(t, "a.rows", ""), "-schema", facts}, 2, "is a file of rows, which only csvfit fit -data takes"},
		{"another command", []string{"-data", data, "-schema", facts, "-o", "x"}, 2, "-o is not a flag"},
	} {
		checkExit(t, c.name, append([]string{"check"}, c.args...), c.code, c.says)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := run(ended, []string{"check", "-data", data, "-schema", facts}, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Each line says whether it counts persons, records of the file, or the rows that a fit makes of these: here two records are five rows, of one person.
func TestCheckSaysWhatItCounts(t *testing.T) {
	facts := strings.Replace(followup, `"followup"`, `"person": "id", "max_rows": 1, "followup"`, 1)
	facts = strings.Replace(facts, `"columns": [`, `"columns": [{"name": "id", "kind": "id"},`, 1)
	said, err := checked(t, write(t, "c.csv", "id,years,age,sex,died\na,3,20,f,0\na,1.5,40,m,1\n"), write(t, "f.json", facts))
	for _, want := range []string{"\nrecords 2\n", "\npersons 1 by \"id\"\n", "\nrecords of a person smallest 2,", "\nbeyond \"max_rows\" 1 1 (100 %) persons; of their records 1 (50 %) don't count",
		"\nrecords whose times at risk overlap 1, of 1 (100 %) persons", "\nrows 5: one for each period in which a record is at risk", "\nlabel, of these rows died, mean 0.2,", "\ncolumn, of records kind",
		"\nage numeric 0 0 1 (50 %) [30, 90]\n", "\nlevels, with the records that have each\n", "\nof rows as a fit takes them:\n\nNOTE: column \"age\": 3 of 5 values"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s (%v)", want, said, err)
		}
	}
}
