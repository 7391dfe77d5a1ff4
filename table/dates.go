package table

import (
	"slices"
	"time"
)

// isoDay is the layout of the schema's own days.
const isoDay = "2006-01-02"

const secondsADay = 24 * 60 * 60

// days turns dates into numbers: days since the origin, with the time of day as a
// fraction where a layout has it.
type days struct {
	layouts []string
	origin  int64
}

func newDays(c *Column) days {
	origin, _ := parseDay(c.Origin)
	layouts := c.Layouts
	if len(layouts) == 0 {
		layouts = []string{isoDay}
	}
	return days{layouts, origin}
}

func (d days) number(text string) (float64, error) {
	var first error
	for _, layout := range d.layouts {
		t, err := time.Parse(layout, text)
		if err == nil {
			// The wall clock's, whatever the zone: the day that the file shows.
			_, offset := t.Zone()
			return float64(t.Unix()+int64(offset)-d.origin*secondsADay) / secondsADay, nil
		}
		if first == nil {
			first = err
		}
	}
	return 0, first
}

// parseDay returns the days from 1970-01-01 to an ISO date.
func parseDay(text string) (int64, error) {
	t, err := time.Parse(isoDay, text)
	return t.Unix() / secondsADay, err
}

// days are the ends of a Date's range, from its origin on, where they are stated.
func (c *Column) days() (from, to float64, stated bool) {
	ends := [3]int64{}
	for i, text := range []string{c.Origin, c.From, c.To} {
		day, err := parseDay(text)
		if err != nil {
			return 0, 0, false
		}
		ends[i] = day
	}
	return float64(ends[1] - ends[0]), float64(ends[2] - ends[0]), true
}

// readsDays reports whether a layout tells year, month and day.
func readsDays(layout string) bool {
	t := time.Date(2013, 11, 22, 0, 0, 0, 0, time.UTC)
	back, err := time.Parse(layout, t.Format(layout))
	return err == nil && back.Year() == 2013 && back.Month() == 11 && back.Day() == 22
}

// clash is a text that two layouts read as two days, and these.
type clash struct {
	text          string
	first, second time.Time
}

// clashOf looks for a text, as the second layout writes a day, that the first reads as another day: the second would
// never see it. Days tried have parts that may stand for one another, of one digit and of two.
func clashOf(first, second string) (c clash, found bool) {
	for _, year := range []int{2011, 2003, 2031} {
		for _, month := range []time.Month{2, 1, 5, 10, 11, 12} {
			for _, day := range []int{1, 3, 7, 10, 12, 20, 25} {
				c.text = time.Date(year, month, day, 4, 9, 8, 0, time.UTC).Format(second)
				var none, other error
				c.first, none = time.Parse(first, c.text)
				c.second, other = time.Parse(second, c.text)
				if none == nil && other == nil && c.first.Format(isoDay) != c.second.Format(isoDay) {
					return c, true
				}
			}
		}
	}
	return clash{}, false
}

// withLayout are layouts with one more, without those that would read its days as others.
func withLayout(layouts []string, l string) []string {
	kept := slices.DeleteFunc(slices.Clone(layouts), func(other string) bool {
		_, found := clashOf(other, l)
		return found
	})
	return append(kept, l)
}
