package table

import (
	"math"
	"strings"
	"testing"
	"unicode"
)

const declared = `{"version":1,"label":"y","missing":["-9,999"],"columns":[
	{"name":"pay","kind":"numeric","range":[0,5000],"thousands":",","missing":"constant","constant":"2,500"},
	{"name":"town","kind":"categorical","levels":["York","hull"],"fold_case":true},
	{"name":"member","kind":"binary","positive":["yes"],"negative":["no"],"fold_case":true},
	{"name":"y","kind":"binary","positive":["Ja"],"negative":["nein"],"fold_case":true}]}`

// Separators of thousands and the case of letters are read as declared, in training and for
// one record, in constants and in codes of missing values, and nowhere else.
func TestThousandsAndCaseAreDeclared(t *testing.T) {
	s := parse(t, declared)
	if again := parse(t, s.String()); again.String() != s.String() || !again.Columns[1].FoldCase || again.Columns[0].Thousands != "," {
		t.Errorf("round trip: %s", again)
	}
	table, err := ReadCSV(strings.NewReader("pay;town;member;y\n1,250.00;HULL;YES;JA\n3750;york;No;Nein\n-9999;Hull;yes;ja\n-9,999;Hull;yes;ja\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{-.5, 1, 1, 1}, {.5, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 1, 1}}
	for i, row := range want {
		for j := range 3 {
			if got := table.Dense().At(i, j); got != row[j] {
				t.Errorf("row %d: feature %d is %g, want %g", i, j, got, row[j])
			}
		}
		if table.Labels()[i] != row[3] {
			t.Errorf("row %d: label %g", i, table.Labels()[i])
		}
	}
	x := make([]float64, 3)
	if err := table.Encoder().Encode(x, map[string]string{"pay": "1,250", "town": "hULL", "member": "yEs"}); err != nil || x[0] != -.5 || x[1] != 1 || x[2] != 1 {
		t.Errorf("a record is %v (%v)", x, err)
	}
	for text, says := range map[string]string{"1,25": "not a number", "0,125": "not a number", "1.250,00": "not a number"} {
		if err := table.Encoder().Encode(x, map[string]string{"pay": text, "town": "hull", "member": "yes"}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	strict := parse(t, strings.NewReplacer(`,"fold_case":true`, "", `"thousands":",",`, "", "2,500", "2500").Replace(declared))
	_, err = ReadCSV(strings.NewReader("pay;town;member;y\n1,250.00;HULL;YES;JA\n"), strict)
	if err == nil || strings.Count(err.Error(), `"fold_case": true`) != 3 || !strings.Contains(err.Error(), `"thousands": ","`) {
		t.Errorf("undeclared: %v", err)
	}
	label := newLabelField(&s, &Column{Name: "n", Kind: Count, Cap: 9000, Thousands: "'"})
	if y, clamped, err := label.read("1'250"); y != 1250 || clamped || err != nil {
		t.Errorf("a count is %g, %v (%v)", y, clamped, err)
	}
}

// What can't be told apart, or means nothing, is refused.
func TestThousandsAndCaseAreValidated(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`"thousands":","`, `"thousands":"."`, `"thousands" is "."; it must be`},
		{`"York","hull"`, `"York","hull","HULL"`, `"hull" and "HULL", which are the same by "fold_case"`},
		{`"positive":["yes"]`, `"positive":["yes","NO"]`, `the same by "fold_case"`},
		{`"missing":["-9,999"]`, `"missing":["YORK"]`, `"YORK" stands for a missing value`},
		{`"fold_case":true},`, `"thousands":","},`, "has \"thousands\", which is not for the kind categorical"},
		{`"negative":["nein"],"fold_case":true`, `"negative":["nein"],"thousands":","`, `has "thousands", which is for numbers`},
		{`"positive":["Ja"],"negative":["nein"]`, `"above":3`, `"above" beside "fold_case"`},
		{`"thousands":",","missing"`, `"fold_case":true,"missing"`, `has "fold_case", which is not for the kind numeric`},
	} {
		if _, err := ParseSchema([]byte(strings.Replace(declared, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.new, err, c.says)
		}
	}
}

// Folding agrees with strings.EqualFold on all letters and their cases.
func TestFold(t *testing.T) {
	for r := range rune(math.MaxUint16) {
		if f := unicode.SimpleFold(r); fold(string(f)) != fold(string(r)) || f != r && !strings.EqualFold(fold(string(r)), string(r)) {
			t.Fatalf("%q folds to %q, and %q to %q", r, fold(string(r)), f, fold(string(f)))
		}
	}
	if fold("a") == fold("b") || fold("ß") == fold("ss") {
		t.Error("others fold together")
	}
}
