// Package sqltest holds package table's reader of database queries against an embedded
// database. It is a module of its own, so that the library doesn't require the driver.
package sqltest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/dpglm/dpglm/table"
)

// open makes a database in memory with the given statements.
func open(t *testing.T, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// read reads the table that a query gives. The database has one connection only, which
// is free again afterwards.
func read(t *testing.T, db *sql.DB, query string) (*table.Table, error) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	return table.ReadSQL(rows, schema())
}

var visits = []string{
	`CREATE TABLE visit (patient INTEGER, age REAL, ward TEXT, smoker BOOLEAN, admitted DATE, seen TIMESTAMP, cost DECIMAL(9,2), stays INTEGER, note BLOB)`,
	`INSERT INTO visit VALUES
		(7, 60, 'icu', TRUE, '2020-01-01', '2020-01-01 12:00:00', 50, 2, x'00ff'),
		(8, 80.5, 'surgery ', FALSE, '2020-12-31', '2020-07-01 00:00:00', '25.00', 0, NULL),
		(7, NULL, NULL, NULL, '2019-01-01', '2021-01-01 06:30:00', NULL, 12, x'')`,
}

func schema() table.Schema {
	return table.Schema{Version: table.Version, Label: "stays", Person: "patient", MaxRows: 2, Columns: []table.Column{
		{Name: "patient", Kind: table.ID},
		{Name: "age", Kind: table.Numeric, Range: []float64{20, 100}, Missing: table.MissingIndicator},
		{Name: "ward", Kind: table.Categorical, Levels: []string{"surgery", "icu"}, Missing: table.MissingLevel},
		{Name: "smoker", Kind: table.Binary, Positive: []string{"1", "true"}, Negative: []string{"0", "false"}, Missing: table.MissingIndicator},
		{Name: "admitted", Kind: table.Date, Origin: "2020-01-01", From: "2020-01-01", To: "2020-12-31"},
		{Name: "seen", Kind: table.Date, Origin: "2020-01-01", From: "2020-01-01", To: "2020-01-02", Layouts: []string{"2006-01-02", "2006-01-02T15:04:05Z07:00"}},
		{Name: "cost", Kind: table.Numeric, Range: []float64{0, 100}, Missing: table.MissingConstant, Constant: "75"},
		{Name: "stays", Kind: table.Count, Cap: 10},
	}}
}

// Numbers, texts, booleans, dates, times and NULLs come out of the database as a CSV
// would have them.
func TestReadSQL(t *testing.T) {
	got, err := read(t, open(t, visits...), `SELECT * FROM visit ORDER BY rowid`)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Labels(), []float64{2, 0, 10}) || !slices.Equal(got.Persons(), []int{0, 1, 0}) {
		t.Errorf("labels %v, persons %v", got.Labels(), got.Persons())
	}
	want := []map[string]float64{
		{"age": 0, "ward=icu": 1, "smoker=1": 1, "admitted": -1, "seen": 0, "cost": 0},
		{"age": .5125, "admitted": 1, "seen": 1, "cost": -.5},
		{"age=missing": 1, "ward=missing": 1, "smoker=missing": 1, "admitted": -1, "seen": 1, "cost": .5},
	}
	for i, row := range want {
		for j, f := range got.Encoder().Features() {
			if v := got.Matrix().At(i, j); v != row[f.Name] {
				t.Errorf("row %d: %s is %g, want %g", i+1, f.Name, v, row[f.Name])
			}
		}
	}
}

// The row of an error is the query's.
func TestErrorsNameTheRow(t *testing.T) {
	db := open(t, append(visits, `UPDATE visit SET ward = 'ICU' WHERE patient = 8`)...)
	_, err := read(t, db, `SELECT * FROM visit ORDER BY rowid`)
	if !errors.Is(err, table.ErrValue) || !strings.Contains(err.Error(), `row 2, column "ward": "ICU" is not one of the column's levels; the nearest is "icu"`) {
		t.Error(err)
	}
	_, err = read(t, db, `SELECT age, ward FROM visit`)
	if !errors.Is(err, table.ErrColumn) || !strings.Contains(err.Error(), `column "smoker" is not in the header`) {
		t.Error(err)
	}
	_, err = read(t, db, `SELECT age, age FROM visit`)
	if !errors.Is(err, table.ErrColumn) || !strings.Contains(err.Error(), "both named") {
		t.Error(err)
	}
	_, err = read(t, db, `SELECT * FROM visit WHERE age > 1000`)
	if !errors.Is(err, table.ErrFile) {
		t.Error(err)
	}
	closed, err := db.Query(`SELECT * FROM visit`)
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := table.ReadSQL(closed, schema()); err == nil {
		t.Error("closed rows are read")
	}
}

// A query that fails half-way fails the reading.
func TestAFailingQueryIsNoShortTable(t *testing.T) {
	db := open(t, visits...)
	got, err := read(t, db, `SELECT *, abs(CASE WHEN patient = 8 THEN -9223372036854775807 - 1 ELSE 1 END) AS bad FROM visit`)
	if err == nil || !strings.Contains(err.Error(), "overflow") {
		t.Error(got, err)
	}
}

// Many rows give the same table as the same rows in a CSV.
func TestAgreesWithCSV(t *testing.T) {
	db := open(t, visits[0])
	csv := "patient,age,ward,smoker,admitted,seen,cost,stays\n"
	for i := range 3000 {
		ward := []string{"icu", "surgery", ""}[i%3]
		row := fmt.Sprintf("%d,%g,'%s',%d,'2020-03-%02d','2020-01-01',%g,%d", i%70, 20+float64(i)/40, ward, i%2, 1+i%28, float64(i)/16, i%11)
		if _, err := db.Exec(`INSERT INTO visit (patient, age, ward, smoker, admitted, seen, cost, stays) VALUES (` + row + `)`); err != nil {
			t.Fatal(err)
		}
		csv += strings.ReplaceAll(row, "'", "") + "\n"
	}
	got, err := read(t, db, `SELECT * FROM visit ORDER BY rowid`)
	if err != nil {
		t.Fatal(err)
	}
	want, err := table.ReadCSV(strings.NewReader(csv), schema())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Labels(), want.Labels()) || !slices.Equal(got.Persons(), want.Persons()) || !slices.Equal(got.Dense().RawMatrix().Data, want.Dense().RawMatrix().Data) {
		t.Error("the tables differ")
	}
}
