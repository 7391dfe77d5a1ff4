package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm/table"
)

// times are when persons are at risk, by the records of a schema's followup: what lies between its first cut and its last.
type times struct {
	of         map[string][][2]float64 // of each person
	start, end int                     // fields; a start of −1 is the first cut
	first      float64
	last       float64
	comma      bool
}

// newTimes is nil where the schema has no followup, or the header not its columns.
func newTimes(s table.Schema, header []string) *times {
	f := s.Followup
	if f == nil {
		return nil
	}
	k := &times{of: map[string][][2]float64{}, start: slices.Index(header, f.Start), end: slices.Index(header, f.End),
		first: f.Cuts[0], last: f.Cuts[len(f.Cuts)-1], comma: s.Decimal == ","}
	if f.Start == "" {
		k.start, k.first = -1, math.Max(0, k.first)
	}
	if k.end < 0 || k.start < 0 && f.Start != "" {
		return nil
	}
	return k
}

// add adds a record's time at risk, if there is any that can be read.
func (k *times) add(person string, fields []string) {
	from, to := k.first, k.number(fields[k.end])
	if k.start >= 0 {
		from = math.Max(from, k.number(fields[k.start]))
	}
	if to = math.Min(to, k.last); from < to {
		k.of[person] = append(k.of[person], [2]float64{from, to})
	}
}

// number is NaN for what isn't one.
func (k *times) number(text string) float64 {
	if text = trimmed(text); k.comma {
		text = strings.Replace(text, ",", ".", 1)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// overlaps is how many records begin before an earlier one of the same person has ended, and of how many persons these are.
func (k *times) overlaps() (records, persons int) {
	for _, list := range k.of {
		slices.SortFunc(list, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
		ended, before := math.Inf(-1), records
		for _, at := range list {
			if at[0] < ended {
				records++
			}
			ended = math.Max(ended, at[1])
		}
		if records > before {
			persons++
		}
	}
	return records, persons
}

// print tells how many overlap, of so many persons.
func (k *times) print(w io.Writer, persons int) {
	records, of := k.overlaps()
	if records == 0 {
		fmt.Fprintf(w, "records whose times at risk overlap\t0\n")
		return
	}
	fmt.Fprintf(w, "records whose times at risk overlap\t%d, of %s persons: a fit takes each as it is, so that such a person is at risk twice at a time\n", records, share(of, persons))
}
