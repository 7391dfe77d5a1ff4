package table

import "time"

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

// readsDays reports whether a layout tells year, month and day.
func readsDays(layout string) bool {
	t := time.Date(2013, 11, 22, 0, 0, 0, 0, time.UTC)
	back, err := time.Parse(layout, t.Format(layout))
	return err == nil && back.Year() == 2013 && back.Month() == 11 && back.Day() == 22
}
