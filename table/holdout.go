package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// HoldOut removes the given rows, which ascend from 0, and returns them as a table of
// their own; at least one row must stay. What stays moves up in its place, so that no
// second copy of it is made: slices and matrices that were returned before are void. It fails
// where the rows don't ascend within the table, for none or all of them, and for a table with
// persons, which [Table.HoldOutPersons] divides.
func (t *Table) HoldOut(rows []int) (*Table, error) {
	if t.persons != nil {
		return nil, check.Fail(check.ErrConfig, "table", nil, "must not have persons: HoldOutPersons holds out all rows of some of them")
	}
	if t.secret {
		return nil, check.Fail(check.ErrConfig, "table", nil, "must have a public number of rows: HoldOutPersons holds out some of those whose number is secret")
	}
	return t.holdOut(rows)
}

// HoldOutPersons is HoldOut for a fraction of the persons, rounded up as a Dataset's Split does, with all rows of each; of the rows, where
// each is a person's only one and the schema keeps their number secret. They
// are drawn by the coins, nil for secret ones: which persons are held out must not follow from
// ids or from places in the file, which would make one person's rows decide about others'. Coins of a
// caller are for tests and experiments, and must be as secret: both tables say that they were given
// ([Table.CallersCoins]). Where the
// schema states the number of persons, those without rows are among those who are drawn from, and
// both parts' numbers of persons are public. Where it keeps that secret, each part has a fraction of the places in
// which they may stand. It fails for a fraction outside of (0, 1), a table
// without persons, and where a part would have no row.
func (t *Table) HoldOutPersons(fraction float64, coins rand.Source) (*Table, error) {
	if t.persons == nil && !t.secret {
		return nil, check.Fail(check.ErrConfig, "table", nil, "must have persons: HoldOut holds out rows")
	}
	all, of := t.personCount, t.persons
	if of == nil {
		for i := range t.rows {
			of = append(of, i)
		}
	}
	if len(of) > 0 && slices.Max(of) >= all {
		return nil, check.Fail(check.ErrValue, "table", nil, fmt.Sprintf("must have no more rows or persons than the %d that \"at_most\" states", all))
	}
	if !(fraction > 0 && fraction < 1) {
		return nil, check.Fail(check.ErrConfig, "fraction", fraction, "must lie strictly between 0 and 1")
	}
	known := coins != nil
	if !known {
		coins = mechanisms.NewSecureSource()
	}
	held := rand.New(coins).Perm(all)[:int(math.Ceil(fraction*float64(all)))]
	isHeld := make([]bool, all)
	for _, p := range held {
		isHeld[p] = true
	}
	var rows []int
	for i, p := range of {
		if isHeld[p] {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 || len(rows) == t.rows { // without a number of rows, which is private
		return nil, check.Fail(check.ErrConfig, "fraction", fraction, "must leave persons who have rows on either side: none has on one")
	}
	out, err := t.holdOut(rows)
	if err != nil {
		return nil, err
	}
	t.drawn = t.drawn || known
	out.drawn, out.secret = t.drawn, t.secret
	t.renumber(all - len(held))
	out.renumber(len(held))
	return out, nil
}

func (t *Table) holdOut(rows []int) (*Table, error) {
	if len(rows) == 0 || len(rows) >= t.rows {
		return nil, check.Fail(check.ErrConfig, "len(rows)", len(rows), fmt.Sprintf("must be at least 1, and leave at least one of the %d rows", t.rows))
	}
	last := -1
	for _, i := range rows {
		if i <= last || i >= t.rows {
			return nil, check.Fail(check.ErrConfig, "rows", i, fmt.Sprintf("must lie in [0, %d) and be larger than the one before it", t.rows))
		}
		last = i
	}
	out := &Table{encoder: t.encoder, features: t.features, label: t.label, bound: t.bound, rows: len(rows)}
	t.rows -= len(rows)
	t.labels, out.labels = divide(t.labels, rows, 1)
	t.persons, out.persons = divide(t.persons, rows, 1)
	t.exposure, out.exposure = divide(t.exposure, rows, 1)
	t.weights, out.weights = divide(t.weights, rows, 1)
	if t.sparse != nil {
		out.sparse = t.sparse.divide(rows)
		return out, nil
	}
	data, held := divide(t.dense.RawMatrix().Data, rows, t.features)
	t.dense, out.dense = mat.NewDense(t.rows, t.features, data), mat.NewDense(out.rows, t.features, held)
	return out, nil
}

// divide moves up the elements of the rows that stay, and copies the others. It leaves
// nil as it is.
func divide[T any](list []T, rows []int, width int) (stay, held []T) {
	if list == nil {
		return nil, nil
	}
	held = make([]T, 0, len(rows)*width)
	at := rows[0] * width
	for k, i := range rows {
		held = append(held, list[i*width:(i+1)*width]...)
		end := len(list)
		if k+1 < len(rows) {
			end = rows[k+1] * width
		}
		at += copy(list[at:], list[(i+1)*width:end])
	}
	return list[:at:at], held
}

// divide removes rows and returns them.
func (c *CSR) divide(rows []int) *CSR {
	held := &CSR{Rows: len(rows), Cols: c.Cols, Indptr: []int{0}}
	stay := 0 // rows that stay so far; their entries are at the front
	at := 0
	for i, k := 0, 0; i < c.Rows; i++ {
		lo, hi := c.Indptr[i], c.Indptr[i+1]
		if k < len(rows) && rows[k] == i {
			held.Indices, held.Values = append(held.Indices, c.Indices[lo:hi]...), append(held.Values, c.Values[lo:hi]...)
			held.Indptr = append(held.Indptr, len(held.Indices))
			k++
			continue
		}
		copy(c.Indices[at:], c.Indices[lo:hi])
		at += copy(c.Values[at:], c.Values[lo:hi])
		stay++
		c.Indptr[stay] = at
	}
	c.Rows, c.Indptr, c.Indices, c.Values = stay, c.Indptr[:stay+1:stay+1], c.Indices[:at:at], c.Values[:at:at]
	return held
}
