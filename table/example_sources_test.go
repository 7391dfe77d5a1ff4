package table_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// database stands for any that database/sql has a driver for: it answers each query with two
// patients.
type database struct{ rows [][]driver.Value }

func (d *database) Connect(context.Context) (driver.Conn, error) { return d, nil }
func (d *database) Driver() driver.Driver                        { return nil }
func (d *database) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (d *database) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (d *database) Close() error                                 { return nil }
func (d *database) Columns() []string                            { return []string{"age", "ward", "smoker", "readmitted"} }

func (d *database) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return &database{[][]driver.Value{{int64(60), "surgery", "yes", "no"}, {int64(80), "urology", nil, "yes"}}}, nil
}

func (d *database) Next(row []driver.Value) error {
	if len(d.rows) == 0 {
		return io.EOF
	}
	copy(row, d.rows[0])
	d.rows = d.rows[1:]
	return nil
}

// A query's rows are read by the same schema as a file; NULL is a missing value.
func ExampleReadSQL() {
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	db := sql.OpenDB(&database{})
	rows, err := db.QueryContext(context.Background(), "SELECT age, ward, smoker, readmitted FROM stays")
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	t, err := table.ReadSQL(rows, schema)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t, t.Labels())
	// Output: table.Table of 2 rows × 5 features [0 1]
}

// Rows to predict for have no label.
func ExampleReadFeatures() {
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	src, err := table.NewCSV(strings.NewReader("age,ward,smoker\n100,surgery,no\n"), 0)
	if err != nil {
		log.Fatal(err)
	}
	t, err := table.ReadFeatures(src, schema)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Dense().RawRowView(0), t.Labels() == nil)
	// Output: [1 1 0 0 0] true
}

// A table that doesn't fit in memory goes from its source to a file of rows, and a data set
// lies there.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "clinic")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "clinic.rows")
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	src, err := table.NewCSV(strings.NewReader("age,ward,smoker,readmitted\n60,surgery,yes,no\n80,urology,,yes\n"), 0)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := table.Write(context.Background(), path, src, schema); err != nil {
		log.Fatal(err)
	}
	data, err := dpglm.OpenRows(context.Background(), path, nil) // the schema is in the file
	if err != nil {
		log.Fatal(err)
	}
	defer data.Close()
	fmt.Println(data)
	// Output: dpglm.Dataset of 2 rows × 6 weights
}

// The first row is held out, to look at how well predictions do before anything is released.
func ExampleTable_HoldOut() {
	schema, err := table.ParseSchema([]byte(clinic))
	if err != nil {
		log.Fatal(err)
	}
	const file = "age,ward,smoker,readmitted\n60,surgery,yes,no\n80,urology,,yes\n45,medicine,no,no\n"
	t, err := table.ReadCSV(strings.NewReader(file), schema)
	if err != nil {
		log.Fatal(err)
	}
	held, err := t.HoldOut([]int{0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(slices.Concat(held.Labels(), t.Labels()))
	// Output: [0 1 0]
}
