package table

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

const cohort = `{"version": 1, "label": "died", "followup": {"start": "entry", "end": "exit", "cuts": [0, 1, 2, 5]}, "columns": [
	{"name": "age", "kind": "numeric", "range": [0, 100]},
	{"name": "died", "kind": "binary", "positive": ["yes"], "negative": ["no"]}]}`

// A record is at risk in each period between its entry and its exit, and the event is in the last, if it is before the last cut.
func TestEpisodes(t *testing.T) {
	s, err := ParseSchema([]byte(cohort))
	if err != nil {
		t.Fatal(err)
	}
	text := "entry,exit,age,died\n0,1.5,50,yes\n.5,1,50,yes\n1,9,50,yes\n0,0,50,no\n6,7,50,yes\n0,2,50,no\n"
	got, err := ReadCSV(strings.NewReader(text), s)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, .5, .5, 1, 3, 1, 1}; !slices.Equal(got.Exposure(), want) {
		t.Errorf("times at risk %v, want %v", got.Exposure(), want)
	}
	if want := []float64{0, 1, 1, 0, 0, 0, 0}; !slices.Equal(got.Labels(), want) {
		t.Errorf("events %v, want %v", got.Labels(), want)
	}
	if want := []int{0, 0, 1, 2, 2, 3, 3}; !slices.Equal(got.Persons(), want) {
		t.Errorf("persons %v, want %v", got.Persons(), want)
	}
	if made := got.Encoder().Schema(); s.Hazards() || !made.Hazards() {
		t.Errorf("of hazards: the schema %v, that of its episodes %v", s.Hazards(), made.Hazards())
	}
	var names []string
	for _, f := range got.Encoder().Features() {
		names = append(names, f.Name)
	}
	if want := []string{"age", "period=1 to 2", "period=2 to 5"}; !slices.Equal(names, want) {
		t.Errorf("features %q, want %q", names, want)
	}
	e := got.Encoder().Schema()
	if lo, hi := got.Encoder().Exposure(); e.MaxRows != 3 || e.Followup != nil || lo != shortest || hi != 3 || got.Label().Kind != Count {
		t.Errorf("schema %v", e)
	}
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "r.rows")
	src, err := NewCSV(strings.NewReader(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Write(t.Context(), path, src, s); err != nil {
		t.Fatal(err)
	}
	if kept, err := StoredRecords(path); err != nil || kept.String() != s.String() {
		t.Errorf("stored records of %v (%v)", kept, err)
	}
	if kept, err := StoredSchema(path); err != nil || kept.String() != e.String() {
		t.Errorf("stored with %v (%v)", kept, err)
	}
}

// What is no time, or no cut, is refused with its place; conditions come before.
func TestEpisodesRefused(t *testing.T) {
	s, err := ParseSchema([]byte(strings.Replace(cohort, `"columns"`, `"where": [{"column": "age", "to": 60}], "columns"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]string{
		"0,soon,50,yes":  `line 2, column "exit": "soon" is no time`,
		"0,,50,yes":      "is no time",
		"2,1,50,yes":     "before the time at risk begins",
		"0,1,50,perhaps": `column "died"`,
		"0,1,50":         "3 fields",
		"0,soon,61,yes":  "where",
		"0,-1,50,yes":    "before the time at risk begins",
	} {
		if _, err := ReadCSV(strings.NewReader("entry,exit,age,died\n"+row+"\n"), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", row, err, want)
		}
	}
	dead, err := ParseSchema([]byte(strings.Replace(cohort, `"columns"`, `"where": [{"column": "died", "in": ["yes"]}], "columns"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadCSV(strings.NewReader("entry,exit,age,died\n0,3,50,yes\n0,1,50,no\n"), dead); err != nil || !slices.Equal(got.Labels(), []float64{0, 0, 1}) {
		t.Errorf("of those who died: %v (%v)", got.Labels(), err)
	}
	if _, err := ReadCSV(strings.NewReader("exit,age,died\n1,2,yes\n"), s); !errors.Is(err, ErrColumn) {
		t.Errorf("without a column: %v", err)
	}
	for _, bad := range [][2]string{{"[0, 1, 2, 5]", "[0]"}, {"[0, 1, 2, 5]", "[0, 2, 2]"}, {`"end": "exit", `, ""}, {`"end": "exit"`, `"end": "age"`}, {`"age", `, `"period", `},
		{`"kind": "binary", "positive": ["yes"], "negative": ["no"]`, `"kind": "count", "cap": 3`}} {
		if _, err := ParseSchema([]byte(strings.Replace(cohort, bad[0], bad[1], 1))); !errors.Is(err, ErrSchema) {
			t.Errorf("%s: %v", bad[1], err)
		}
	}
}

// Records are counted whenever their time at risk ends, and no text stands for what is made of them being missing.
func TestRecordsAreCounted(t *testing.T) {
	s, err := ParseSchema([]byte(strings.Replace(cohort, `"columns"`, `"missing": ["3", "1", "0"], "columns"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, exit := range []string{"0.5", "0", "9"} {
		got, err := ReadCSV(strings.NewReader("entry,exit,age,died\n0,3,50,yes\n0,1,50,no\n0,2,50,no\n0,"+exit+",50,no\n"), s)
		if err != nil {
			t.Fatalf("%s: %v", exit, err)
		}
		if got.PersonCount() != 4 || !got.Encoder().Schema().Recorded() {
			t.Errorf("an exit at %s: %d persons", exit, got.PersonCount())
		}
		if w := strings.Join(got.Warnings(), "\n"); strings.Contains(w, "1 records are never at risk") != (exit == "0") {
			t.Errorf("an exit at %s: %s", exit, w)
		}
	}
	for text, want := range map[string]string{"0,1,50,no\n": "no row has more than 0", "0,1,50,yes\n": "", "7,9,50,yes\n": "no record is at risk between the cuts"} {
		got, err := ReadCSV(strings.NewReader("entry,exit,age,died\n"+text), s)
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrFile) {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if w := strings.Join(got.Warnings(), "\n"); !strings.Contains(w, want) || want == "" && w != "" {
			t.Errorf("%q: %q", text, w)
		}
	}
	one, err := ParseSchema([]byte(strings.Replace(cohort, "[0, 1, 2, 5]", "[0, 5]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadCSV(strings.NewReader("entry,exit,age,died\n0,1,50,yes\n"), one); err != nil || len(got.Warnings()) > 0 {
		t.Errorf("of one period: %v (%v)", got.Warnings(), err)
	}
	from, err := ParseSchema([]byte(strings.Replace(strings.Replace(cohort, `"start": "entry", `, "", 1), "[0, 1, 2, 5]", "[-1, 0, 1]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCSV(strings.NewReader("exit,age,died\n-2,50,yes\n"), from); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "before the time at risk begins") {
		t.Errorf("an end below 0 without a start: %v", err)
	}
	if _, err := ReadCSV(strings.NewReader("entry,exit,age,died,period\n0,1,50,yes,1\n"), s); !errors.Is(err, ErrColumn) {
		t.Errorf("a column of a name that is taken: %v", err)
	}
	if lo, _ := mustEncode(t, strings.Replace(cohort, "[0, 1, 2, 5]", "[0, 1, 30, 36500]", 1)).Exposure(); lo > 1e-3 {
		t.Errorf("the least time at risk is %g, where a period is 1", lo)
	}
	if bad := (Schema{Followup: &Followup{}}); bad.Episodes().Followup == nil {
		t.Error("episodes of a schema that isn't valid")
	}
}

// Events of records that are never at risk are lost, and the curator is told how many, and of how many the record ends as it begins.
func TestLostEvents(t *testing.T) {
	s, err := ParseSchema([]byte(cohort))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want, not string }{
		{"2,2,50,no\n", "1 records are never at risk between the cuts, and add nothing", "lost"},
		{"7,9,50,yes\n2,2,50,no\n", "2 records are never at risk between the cuts, and add nothing: 1 of them end by the event, and these events are lost", "of which"},
		{"7,9,50,yes\n2,2,50,yes\n0,0,50,yes\n6,6,50,yes\n3,3,50,no\n", "5 records are never at risk between the cuts, and add nothing: 4 of them end by the event, and these events are lost, of which 2 are between the cuts", "where"},
	} {
		got, err := ReadCSV(strings.NewReader("entry,exit,age,died\n0,3,50,yes\n"+c.text), s)
		if err != nil {
			t.Fatal(err)
		}
		if w := strings.Join(got.Warnings(), "\n"); !strings.Contains(w, c.want) || strings.Contains(w, c.not) {
			t.Errorf("%q: %q", c.text, w)
		}
	}
	got, err := ReadCSV(strings.NewReader("exit,age,died\n3,50,yes\n0,50,yes\n"), parse(t, strings.Replace(cohort, `"start": "entry", `, "", 1)))
	if err != nil || !strings.Contains(strings.Join(got.Warnings(), "\n"), "of which 1 are between the cuts") {
		t.Errorf("an end at 0 without a start: %q, %v", got.Warnings(), err)
	}
}

// The least time at risk is nothing that the schema says, and a warning says what it is.
func TestShortTimesAtRisk(t *testing.T) {
	got, err := ReadCSV(strings.NewReader("entry,exit,age,died\n0,3,50,yes\n0,0.00001,50,no\n"), parse(t, cohort))
	if err != nil {
		t.Fatal(err)
	}
	w := strings.Join(got.Warnings(), "\n")
	if !strings.Contains(w, `1 of 4 times at risk within a period are shorter than 0.0001, first "1e-05" in line 3`) || strings.Contains(w, "outside the range") {
		t.Errorf("%q", w)
	}
}

func mustEncode(t *testing.T, text string) *Encoder {
	t.Helper()
	s, err := ParseSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEncoder(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A column that interacts with the period has a coefficient more in each period but the first, and of two columns the product with 1 where
// both are. One period has no interactions; a schema without a followup has no period.
func TestPeriodInteracts(t *testing.T) {
	with := strings.Replace(cohort, `"columns": [`, `"columns": [{"name": "sex", "kind": "categorical", "levels": ["m", "f"]},`, 1)
	with = strings.Replace(with, `"negative": ["no"]}]}`, `"negative": ["no"]}], "interactions": [["age", "period"], ["period", "sex"]]}`, 1)
	s, err := ParseSchema([]byte(with))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadCSV(strings.NewReader("entry,exit,age,died,sex\n0,1.5,100,yes,f\n0,1,50,no,m\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range got.Encoder().Features() {
		names = append(names, f.Name)
	}
	want := []string{"sex=f", "age", "period=1 to 2", "period=2 to 5", "age:period=1 to 2", "age:period=2 to 5", "period=1 to 2:sex=f", "period=2 to 5:sex=f"}
	if !slices.Equal(names, want) {
		t.Fatalf("features %q, want %q", names, want)
	}
	for i, row := range [][]float64{{1, 1, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 1, 0, 1, 0}, {0, 0, 0, 0, 0, 0, 0, 0}} {
		if have := mat.Row(nil, i, got.Matrix()); !slices.Equal(have, row) {
			t.Errorf("row %d is %v, want %v", i, have, row)
		}
	}
	again, err := ParseSchema([]byte(got.Encoder().Schema().String()))
	if err != nil || again.Periods() == nil {
		t.Errorf("the schema of the episodes: %v", err)
	}
	for name, text := range map[string]string{"one period": strings.Replace(with, "[0, 1, 2, 5]", "[0, 5]", 1), "no followup": strings.Replace(with, `"followup": {"start": "entry", "end": "exit", "cuts": [0, 1, 2, 5]}, `, "", 1)} {
		if _, err := ParseSchema([]byte(text)); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "period") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
