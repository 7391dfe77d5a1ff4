package table

import (
	"fmt"
	"io"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// Table holds rows that were read, encoded as features, and their labels. It is what
// dpglm trains on; it prints its shape only. What its methods return is the table's
// own memory, not to be changed.
type Table struct {
	encoder     *Encoder // nil for LIBSVM
	rows        int
	features    int
	dense       *mat.Dense // or sparse
	sparse      *CSR
	label       Label
	labels      []float64
	persons     []int
	personCount int
	secret      bool // whether how many rows or persons there are is secret, and personCount a bound on it
	drawn       bool // whether a caller's coins say which persons of a whole these are
	exposure    []float64
	weights     []float64
	bound       float64
	warnings    []string
}

// Dims returns the number of rows and of features.
func (t *Table) Dims() (rows, features int) { return t.rows, t.features }

// Matrix returns the encoded rows: a *mat.Dense or a *CSR, whichever is the smaller by
// the schema.
func (t *Table) Matrix() mat.Matrix {
	if t.sparse != nil {
		return t.sparse
	}
	return t.dense
}

// Dense returns the encoded rows, nil if they are kept sparse.
func (t *Table) Dense() *mat.Dense { return t.dense }

// Sparse returns the encoded rows, nil if they are kept dense.
func (t *Table) Sparse() *CSR { return t.sparse }

// Labels returns the labels, nil if they weren't read.
func (t *Table) Labels() []float64 { return t.labels }

// Label says how the labels are to be read.
func (t *Table) Label() Label { return t.label }

// Persons returns a number for each row's person, from 0 and in the order in which persons
// occur, which means nothing; nil if the schema names no such column.
func (t *Table) Persons() []int { return t.persons }

// AtMost is a public bound on the number of rows, or of persons, which is secret; 0 where it is public.
func (t *Table) AtMost() int {
	if t.secret {
		return t.personCount
	}
	return 0
}

// PersonCount is the number of persons: what the schema states, or else of those who occur; AtMost where it is secret.
func (t *Table) PersonCount() int { return t.personCount }

// CallersCoins reports whether [Table.HoldOutPersons] divided the persons by a caller's coins: then
// guarantees depend on their secrecy, and ledgers say so.
func (t *Table) CallersCoins() bool { return t.drawn }

// Exposure returns each row's exposure, clamped to its range, or that whose logarithm is the row's offset; nil if the schema has
// neither.
func (t *Table) Exposure() []float64 { return t.exposure }

// Weights returns each row's weight, clamped to its range; nil if the schema has none.
func (t *Table) Weights() []float64 { return t.weights }

// LogExposure returns the logarithm of each row's exposure.
func (t *Table) LogExposure() []float64 {
	logs := make([]float64, len(t.exposure))
	for i, v := range t.exposure {
		logs[i] = math.Log(v)
	}
	return logs
}

// renumber numbers the persons of a part anew, in the order in which they occur. There are so
// many, some of them perhaps without rows.
func (t *Table) renumber(count int) {
	places := map[int]int{}
	for i, p := range t.persons {
		k, ok := places[p]
		if !ok {
			k = len(places)
			places[p] = k
		}
		t.persons[i] = k
	}
	t.personCount = count
}

// Encoder returns the encoder of the rows, nil if they were read by [ReadLIBSVM].
func (t *Table) Encoder() *Encoder { return t.encoder }

// Bound is the public bound on each row's L2 norm: [Encoder.Bound], or LIBSVM.Bound,
// which only dpglm enforces.
func (t *Table) Bound() float64 { return t.bound }

// Warnings says what the curator should look at: labels that are all alike, values
// that were clamped, columns of the file that were left out. It is computed from the
// rows and must not be released.
func (t *Table) Warnings() []string { return t.warnings }

// String returns the shape, with the number of persons in place of that of rows where there are
// persons, as the latter is private then.
func (t *Table) String() string {
	switch {
	case t.persons != nil && t.secret:
		return fmt.Sprintf("table.Table of the rows of at most %d persons × %d features", t.personCount, t.features)
	case t.persons != nil:
		return fmt.Sprintf("table.Table of the rows of %d persons × %d features", t.personCount, t.features)
	case t.secret:
		return fmt.Sprintf("table.Table of at most %d rows × %d features", t.personCount, t.features)
	}
	return fmt.Sprintf("table.Table of %d rows × %d features", t.rows, t.features)
}

// GoString returns the shape.
func (t *Table) GoString() string { return t.String() }

// Format prints the shape, whatever the verb: fmt would print the rows.
func (t *Table) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }

var _ mat.Matrix = (*CSR)(nil)

// CSR is a matrix in compressed sparse rows, as dpglm.NewSparse takes it: row i has
// Values[Indptr[i]:Indptr[i+1]] in the columns Indices[Indptr[i]:Indptr[i+1]], which
// ascend. It prints its shape only.
type CSR struct {
	Rows, Cols int
	Indptr     []int     // Rows + 1 places, from 0 to the number of entries
	Indices    []int     // the column of each entry, from 0
	Values     []float64 // of each entry
}

// Dims returns the shape.
func (c *CSR) Dims() (rows, columns int) { return c.Rows, c.Cols }

// At returns one element, in logarithmic time; it panics where there is none, as gonum's
// matrices do.
func (c *CSR) At(i, j int) float64 {
	if i < 0 || i >= c.Rows {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || j >= c.Cols {
		panic(mat.ErrColAccess)
	}
	row := c.Indices[c.Indptr[i]:c.Indptr[i+1]]
	if k := sort.SearchInts(row, j); k < len(row) && row[k] == j {
		return c.Values[c.Indptr[i]+k]
	}
	return 0
}

// T returns the transpose.
func (c *CSR) T() mat.Matrix { return mat.Transpose{Matrix: c} }

// Format prints the shape, whatever the verb.
func (c *CSR) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "table.CSR of %d rows × %d columns", c.Rows, c.Cols)
}
