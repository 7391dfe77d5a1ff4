// Package tabular reads the data files of the examples: CSV with a header, and
// LIBSVM, both plain or gzipped. What it can't read exactly it refuses, naming
// the place; its errors are for whoever holds the data.
package tabular

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// The errors of this package, for errors.Is.
var (
	ErrGzip   = errors.New("compression")
	ErrHeader = errors.New("header")
	ErrRow    = errors.New("row")
	ErrNumber = errors.New("number")
	ErrLevel  = errors.New("level")
	ErrColumn = errors.New("column")
	ErrIndex  = errors.New("feature index")
)

// Table is a CSV file: named columns of text, and columns of numbers that were
// made from them. Rows are counted from 1, the header not included.
type Table struct {
	names   []string
	text    [][]string           // a row each
	numbers map[string][]float64 // made columns
}

// ReadCSVFile reads the CSV file at path, gzipped if its name ends in .gz.
func ReadCSVFile(path string) (*Table, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := ReadCSV(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ReadCSV reads a header with distinct names and at least one row, all of the
// header's length.
func ReadCSV(r io.Reader) (*Table, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	c.TrimLeadingSpace = true
	names, err := c.Read()
	if err != nil {
		return nil, readError(ErrHeader, err)
	}
	t := &Table{numbers: map[string][]float64{}}
	for _, name := range names {
		if name == "" || t.Has(name) {
			return nil, fmt.Errorf("%w: column name %q must be non-empty and occur once", ErrHeader, name)
		}
		t.names = append(t.names, name)
	}
	for {
		fields, err := c.Read()
		if err == io.EOF {
			break
		}
		row := len(t.text) + 1
		if err != nil {
			return nil, readError(ErrRow, err)
		}
		if len(fields) != len(names) {
			return nil, fmt.Errorf("%w %d has %d fields where the header has %d", ErrRow, row, len(fields), len(names))
		}
		t.text = append(t.text, fields)
	}
	if len(t.text) == 0 {
		return nil, fmt.Errorf("%w: the file has none after its header", ErrRow)
	}
	return t, nil
}

// readError keeps a failed decompression apart from bad CSV.
func readError(kind, err error) error {
	if errors.Is(err, ErrGzip) {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// Rows is the number of rows.
func (t *Table) Rows() int { return len(t.text) }

// Names are the columns of the file, in its order.
func (t *Table) Names() []string { return slices.Clone(t.names) }

// Has reports whether the table has a column of that name, read or made.
func (t *Table) Has(name string) bool {
	_, made := t.numbers[name]
	return made || slices.Contains(t.names, name)
}

// Text returns a column of the file as it was read.
func (t *Table) Text(name string) ([]string, error) {
	j := slices.Index(t.names, name)
	if j < 0 {
		return nil, fmt.Errorf("%w %q is not in the file", ErrColumn, name)
	}
	column := make([]string, len(t.text))
	for i, row := range t.text {
		column[i] = row[j]
	}
	return column, nil
}

// Numbers returns a column whose every field is a finite number.
func (t *Table) Numbers(name string) ([]float64, error) {
	if v, made := t.numbers[name]; made {
		return slices.Clone(v), nil
	}
	text, err := t.Text(name)
	if err != nil {
		return nil, err
	}
	v := make([]float64, len(text))
	for i, s := range text {
		if v[i], err = parse(s); err != nil {
			return nil, fmt.Errorf("row %d, column %q: %w", i+1, name, err)
		}
	}
	return v, nil
}

func parse(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%w: the field must be a finite one", ErrNumber)
	}
	return v, nil
}

// Derive makes the column name by applying f to the numbers of another.
func (t *Table) Derive(name, from string, f func(float64) float64) error {
	v, err := t.Numbers(from)
	if err != nil {
		return err
	}
	for i := range v {
		v[i] = f(v[i])
	}
	return t.add(name, v)
}

// OneHot makes a 0/1 column "name=level" for each of the given levels, which
// must cover the column, and returns their names.
func (t *Table) OneHot(name string, levels []string) ([]string, error) {
	text, err := t.Text(name)
	if err != nil {
		return nil, err
	}
	if len(levels) == 0 {
		return nil, fmt.Errorf("%w: column %q must have at least one", ErrLevel, name)
	}
	columns := make([][]float64, len(levels))
	for k := range columns {
		columns[k] = make([]float64, len(text))
	}
	for i, s := range text {
		k := slices.Index(levels, s)
		if k < 0 {
			return nil, fmt.Errorf("%w: row %d, column %q is not one of the %d that were declared", ErrLevel, i+1, name, len(levels))
		}
		columns[k][i] = 1
	}
	made := make([]string, len(levels))
	for k, level := range levels {
		made[k] = name + "=" + level
		if err := t.add(made[k], columns[k]); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (t *Table) add(name string, v []float64) error {
	if t.Has(name) {
		return fmt.Errorf("%w %q exists already", ErrColumn, name)
	}
	t.numbers[name] = v
	return nil
}

// Matrix returns the named columns as a matrix, in the given order.
func (t *Table) Matrix(names []string) (*mat.Dense, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: no feature was named", ErrColumn)
	}
	x := mat.NewDense(t.Rows(), len(names), nil)
	for j, name := range names {
		v, err := t.Numbers(name)
		if err != nil {
			return nil, err
		}
		x.SetCol(j, v)
	}
	return x, nil
}

// IsNumber reports whether a field holds a number, finite or not.
func IsNumber(field string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	return err == nil
}
