package rows

import (
	"math/rand/v2"
	"slices"

	"github.com/dpglm/dpglm/mechanisms"
)

// Owners says whose the rows of a matrix are, and their weights.
type Owners struct {
	Persons []int  // of each row, from 0 to Count−1; nil if each row is a person's only one
	Count   int    // of persons, which is public
	Most    int    // rows of a person that count; of more, so many are chosen
	Seed    uint64 // of the choice, which is public

	Weights []float64 // of each row; nil if all are the same
	Heavy   float64   // the largest weight, which is public; larger ones are held to it
}

// maxPersons keeps counts of shares exact, and the list of persons in memory.
const maxPersons = 1 << 27

// Own returns the table of the rows that count, person by person, and which rows these are.
// A row's share is its weight over the largest one and over the number of its person's
// rows. Which of a person's rows count depends on the seed, the person's number and the
// number of the person's rows only. Its errors are those of intake.
func (t *Table) Own(facts Owners) (*Table, []int, error) {
	n := t.Rows()
	if err := facts.check(n); err != nil {
		return nil, nil, err
	}
	persons := facts.Persons != nil
	if !persons {
		facts.Count, facts.Most, facts.Persons = n, 1, make([]int, n)
		for i := range n {
			facts.Persons[i] = i
		}
	}
	of := make([][]int, facts.Count)
	for i, p := range facts.Persons {
		of[p] = append(of[p], i)
	}
	o := &owners{start: make([]int, 1, facts.Count+1), most: facts.Most, persons: persons, weighted: facts.Weights != nil}
	var order []int
	for p, rows := range of {
		rows = choose(rows, facts.Most, facts.Seed, uint64(p))
		for _, i := range rows {
			weight := 1.0
			if facts.Weights != nil {
				weight = facts.Weights[i] / facts.Heavy
			}
			o.shares = append(o.shares, shareOf(weight, len(rows)))
		}
		order = append(order, rows...)
		o.start = append(o.start, len(order))
	}
	return t.arrange(facts.Count, order, o), order, nil
}

// Single returns the table of one row of each person, who counts as all of them together
// did, and which rows these are.
func (t *Table) Single() (*Table, []int) {
	o := &owners{start: make([]int, 1, t.Len()+1), most: 1, persons: true, weighted: t.owners.weighted}
	var order []int
	for p := range t.Len() {
		if rows := t.owners.rowsOf([]int{p}); len(rows) > 0 {
			i := choose(rows, 1, 0, uint64(p))[0]
			order = append(order, i)
			o.shares = append(o.shares, shareOf(t.owners.share(i)*float64(len(rows)), 1))
		}
		o.start = append(o.start, len(order))
	}
	return t.arrange(t.Len(), order, o), order
}

// Single returns the sums over the rows of [Table.Single].
func (s *Sums) Single() *Sums {
	if s.t.PersonRows() <= 1 {
		return s
	}
	return s.of(s.t.Single())
}

// of returns the sums over a table of the given rows of s.
func (s *Sums) of(t *Table, order []int) *Sums {
	picked := *s
	picked.t, picked.labels, picked.offsets = t, Gather(s.labels, order), Gather(s.offsets, order)
	return &picked
}

// choose returns so many of a person's rows, in their order.
func choose(rows []int, most int, seed, person uint64) []int {
	if len(rows) <= most {
		return rows
	}
	chosen := rand.New(mechanisms.NewSeededSource(seed ^ person*0x9e3779b97f4a7c15)).Perm(len(rows))[:most]
	slices.Sort(chosen)
	return Gather(rows, chosen)
}
