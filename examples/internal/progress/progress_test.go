package progress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"
	"time"
)

// What is said after two, four and so on seconds, of things of which each takes three.
func TestLines(t *testing.T) {
	for _, rewrite := range []bool{false, true} {
		var b bytes.Buffer
		clock := time.Unix(0, 0)
		l := &line{w: &b, name: "fit", rewrite: rewrite, now: func() time.Time { return clock }}
		ctx := with(t.Context(), l)
		Doing(ctx, "reading")
		clock = clock.Add(2 * time.Second)
		l.print()
		count := Count(ctx, "steps", 20)
		Doing(ctx, "something else")
		count(0)
		clock = clock.Add(2 * time.Second)
		l.print()
		clock = clock.Add(4 * time.Second)
		count(2)
		l.print()
		fmt.Fprint(Beside(ctx, &b), "out\n")
		want := "fit: reading, 2s so far\nfit: 0 of 20 steps, 2s so far\nfit: 2 of 20 steps, 54s left\nout\n"
		if rewrite {
			want = clear + "fit: reading, 2s so far" + clear + "fit: 0 of 20 steps, 2s so far" + clear + "fit: 2 of 20 steps, 54s left" + clear + "out\n"
		}
		if b.String() != want {
			t.Errorf("%q, want %q", &b, want)
		}
	}
}

// Without Show nothing is said, and nothing is in between.
func TestNothingShown(t *testing.T) {
	Doing(t.Context(), "reading")
	Count(t.Context(), "fits", 1)(1)
	if Steps(t.Context(), "steps") != nil || Beside(t.Context(), io.Discard) != io.Discard {
		t.Error("something is shown")
	}
}

// What lasts less than two seconds is done in silence, and stopping twice does no harm.
func TestShortWork(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, stop := Show(t.Context(), "fit", f)
	if of(ctx) == nil || of(ctx).rewrite {
		t.Error("a file is taken for a terminal, or nothing is shown")
	}
	stop()
	stop()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}
