package rows

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/mechanisms"
)

// Owners says whose the rows of a matrix are, and their weights.
type Owners struct {
	Persons []int // of each row: equal numbers are one person's, and mean nothing else; nil if each row is a person's only one
	Count   int   // of persons, which is public, those without rows included; 0 for those who occur
	Most    int   // rows of a person that count; of more, so many are chosen
	Each    bool  // whether each row is to count alike, and not each person
	Places  int   // public bound on the number of persons, which then is secret; 0 where it is public

	Weights []float64 // of each row; nil if all are the same
	Heavy   float64   // the largest weight, which is public; larger ones are held to it

	// Coins are what the order of persons, and of their rows, is drawn from; nil stands for
	// secret ones.
	Coins mechanisms.Source
}

// MostEach is the largest number of rows of a person where each is to count: others' rounding is bounded by its square
// (blocks.Layout.Chain).
const MostEach = 1000

// MaxPersons keeps counts of shares exact, and the list of persons in memory.
const MaxPersons = 1 << 27

// Own returns the table of the rows that count, person by person, and which rows these are.
// A row's share is its weight over the largest one and over the number of its person's
// rows. Its errors are those of intake.
//
// Persons stand in a secret order, all of which are equally likely, and so do the rows of
// each, of which the first ones count. So what follows has the same law for any two lists of
// rows that are the same persons with the same rows: numbers of persons and places of rows
// mean nothing. And what holds for lists in which the persons of one place differ, holds for
// sets of persons of whom one is replaced: order both sets alike, with one in the other's
// place, by the same coins. Each place has coins of its own, so that other persons' are the
// same however many rows the replaced one has.
func Own(t *Table, facts Owners) (*Table, []int, error) {
	n := t.Rows()
	if err := facts.check(n); err != nil {
		return nil, nil, err
	}
	o := &blocks.Persons{Start: []int{0}, Most: facts.Most, Given: facts.Persons != nil, Weighted: facts.Weights != nil,
		Occur: facts.Persons != nil && facts.Count == 0 && facts.Places == 0, Places: facts.Places > 0,
		Each: facts.Each && facts.Persons != nil && facts.Most > 1}
	var order []int
	add := func(rows []int) {
		for _, i := range rows {
			if facts.Persons == nil && facts.Weights == nil {
				break
			}
			weight := 1.0
			if facts.Weights != nil {
				weight = facts.Weights[i] / facts.Heavy
			}
			o.Add(weight, len(rows), facts.Weights != nil)
		}
		order = append(order, rows...)
		o.Start = append(o.Start, len(order))
	}
	if facts.Persons == nil {
		o.Most = 1
	}
	if facts.Persons == nil && facts.Places == 0 {
		for i := range n {
			add([]int{i})
		}
		return t.arrange(n, order, o), order, nil
	}
	of := facts.rows(n)
	coins, persons := facts.Coins, max(len(of), facts.Count, facts.Places)
	if coins == nil {
		coins = mechanisms.NewSecureSource()
	}
	for _, p := range rand.New(coins).Perm(persons) {
		var rows []int // none of those who don't occur
		if p < len(of) {
			rows = of[p]
		}
		if key := ownKey(coins); len(rows) > 1 {
			rand.New(rand.NewChaCha8(key)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		add(rows[:min(len(rows), o.Most)])
	}
	return t.arrange(persons, order, o), order, nil
}

// rows are those of each person who occurs, in the order in which they do, of n rows.
func (f *Owners) rows(n int) [][]int {
	if f.Persons == nil {
		of, all := make([][]int, n), make([]int, n)
		for i := range all {
			all[i] = i
			of[i] = all[i : i+1]
		}
		return of
	}
	place, of := map[int]int{}, [][]int{}
	for i, p := range f.Persons {
		k, ok := place[p]
		if !ok {
			k = len(of)
			place[p], of = k, append(of, nil)
		}
		of[k] = append(of[k], i)
	}
	return of
}

// ownKey is the key of the coins of one place in the order of persons: four numbers are taken,
// whoever has it.
func ownKey(coins mechanisms.Source) (key [32]byte) {
	for k := 0; k < len(key); k += 8 {
		binary.LittleEndian.PutUint64(key[k:], coins.Uint64())
	}
	return key
}

// Counting returns the table of rows in memory whose shares are 0 but for those that are kept.
func (t *Table) Counting(keep func(row int) bool) *Table {
	o := &blocks.Persons{Most: 1}
	if t.Persons != nil {
		*o = *t.Persons
	} else {
		for i := range t.Len() + 1 {
			o.Start = append(o.Start, i)
		}
	}
	o.Weighted, o.Shares = true, make([]float64, t.Rows())
	for i := range o.Shares {
		if keep(i) {
			o.Shares[i] = t.Persons.Share(i)
		}
	}
	if o.Each {
		o.Weights = make([]float64, t.Rows())
		for i := range o.Weights {
			if keep(i) {
				o.Weights[i] = t.Persons.Weight(i)
			}
		}
	}
	of := *t
	of.Persons, of.Layout = o, blocks.NewLayout(t.Len(), t.Enc.Columns, t.IsSparse(), o)
	return &of
}

// ByRows returns the table of the same rows, with shares by which each row of a weight counts alike:
// [blocks.Persons.ByRows]. The table's must be persons.
func ByRows(t *Table) *Table {
	of := *t
	of.Persons = t.Persons.ByRows()
	of.Layout.Persons, of.Place = of.Persons, t.Place.byRows(t.Persons.Most)
	return &of
}

// Single returns the table of one row of each person, the first that counts, who counts as
// all of them together did, and which rows these are.
func Single(t *Table) (*Table, []int) {
	o := &blocks.Persons{Start: make([]int, 1, t.Len()+1), Most: 1, Given: true, Weighted: t.Persons.Weighted, Occur: t.Persons.Occur, Places: t.Persons.Places}
	var order []int
	for p := range t.Len() {
		if rows := t.Persons.RowsOf([]int{p}); len(rows) > 0 {
			order = append(order, rows[0])
			o.Shares = append(o.Shares, blocks.ShareOf(t.Persons.Share(rows[0])*float64(len(rows)), 1))
		}
		o.Start = append(o.Start, len(order))
	}
	return t.arrange(t.Len(), order, o), order
}
