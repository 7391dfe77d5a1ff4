package progress

import (
	"bytes"
	"testing"
	"time"
)

// Each of 20 things takes 3 seconds.
func TestCount(t *testing.T) {
	for _, c := range []struct {
		name    string
		rewrite bool
		want    string
	}{
		{"lines", false, "2 of 20 fits, 54s left\n4 of 20 fits, 48s left\n20 of 20 fits, 0s left\n"},
		{"terminal", true, clear + "1 of 20 fits, 57s left" + clear + "2 of 20 fits, 54s left" + clear + "3 of 20 fits, 51s left" +
			clear + "4 of 20 fits, 48s left" + clear},
	} {
		var b bytes.Buffer
		start := time.Unix(0, 0)
		clock := start
		show := (&counter{&b, "fits", 20, c.rewrite, func() time.Time { return clock }}).from(start)
		for _, done := range []int{1, 2, 3, 4, 20} {
			clock = start.Add(time.Duration(done) * 3 * time.Second)
			show(done)
		}
		if b.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, &b, c.want)
		}
	}
}

// A buffer is no terminal.
func TestNoTerminal(t *testing.T) {
	var b bytes.Buffer
	if Steps(&b, "steps") != nil {
		t.Error("steps in a buffer")
	}
	if Count(&b, "fits", 1)(1); b.String() != "1 of 1 fits, 0s left\n" {
		t.Errorf("%q", &b)
	}
}
