package table

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/dpglm/dpglm/internal/check"
)

// Values become the texts that a CSV would have.
func TestSQLText(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, ""}, {"a", "a"}, {[]byte("a"), "a"}, {int64(-7), "-7"}, {0.1, "0.1"}, {1e300, "1e+300"}, {1e6, "1000000"}, {-1234567.5, "-1234567.5"}, {1e-7, "1e-07"}, {0.0, "0"}, {true, "true"}, {false, "false"},
		{time.Date(2020, 2, 29, 0, 0, 0, 0, zone), "2020-02-29"},
		{time.Date(2020, 2, 29, 23, 30, 0, 0, zone), "2020-02-29T23:30:00+02:00"},
		{big.NewInt(12), "12"},
	} {
		if got, err := sqlText(c.value); err != nil || got != c.want {
			t.Errorf("%v: %q, %v, want %q", c.value, got, err, c.want)
		}
	}
	_, err := sqlText([]int{1})
	says(t, "a list", err, ErrValue, "[]int", "cast")
	if _, err := ReadSQL(nil, Schema{}); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no rows: %v", err)
	}
}

// The day of a time is that of the wall clock in its zone.
func TestDaysOfTimes(t *testing.T) {
	d := newDays(&Column{Origin: "2020-02-29", Layouts: []string{isoDay, time.RFC3339}})
	for text, want := range map[string]float64{"2020-02-29": 0, "2020-03-01": 1, "1970-01-01": -18321, "2020-02-29T12:00:00Z": .5, "2020-03-01T00:00:00+02:00": 1, "2020-03-01T18:00:00-11:00": 1.75} {
		if got, err := d.number(text); err != nil || got != want {
			t.Errorf("%s is day %g, %v, want %g", text, got, err, want)
		}
	}
}
