package budgetfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// A child is this test binary, which spends from a file and says what it did.
const childFile, childLabel, childMu = "BUDGETFILE_TEST_PATH", "BUDGETFILE_TEST_LABEL", 1e-3

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		spendUntilRefused(path, os.Getenv(childLabel))
		return
	}
	os.Exit(m.Run())
}

// spendUntilRefused is the child: it says what it did before it would draw noise. One whose
// label is of a fickle program gives every other entry back, or leaves it.
func spendUntilRefused(path, label string) {
	ctx, fickle := context.Background(), strings.HasPrefix(label, "fickle")
	f, err := Open(path)
	if err == nil {
		f.files.patience = time.Hour
	}
	for i := 0; err == nil; i++ {
		var id string
		name := fmt.Sprintf("%s %d", label, i)
		if id, err = f.Spend(ctx, survey, name, fit(&testing.T{}, childMu)); err != nil {
			break
		}
		fmt.Println("spent", name)
		switch {
		case fickle && i%4 == 1:
			if err = f.GiveBack(ctx, id, "fickle"); err == nil {
				fmt.Println("given back", name)
			}
		case fickle && i%4 == 3:
		default:
			if err = f.Begin(ctx, id); err == nil {
				fmt.Println("begun", name)
			}
		}
	}
	if !errors.Is(err, check.ErrBudget) {
		fmt.Println("error:", err)
	}
	fmt.Println("end")
}

// child starts one.
func child(t *testing.T, path, label string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), childFile+"="+path, childLabel+"="+label)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, bufio.NewScanner(out)
}

// room makes a file with a total for the given number of the children's entries.
func room(t *testing.T, count int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "budget.json")
	l := fit(t, childMu*(1+1e-7))
	parts := slices.Repeat([]*mechanisms.Ledger{l}, count)
	sum, err := mechanisms.Sequential("", parts...)
	if err != nil {
		t.Fatal(err)
	}
	epsilon, err := sum.Epsilon(1e-9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(context.Background(), path, total(1, epsilon, 1e-9)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Programs that spend at once have what fits and no more, and each finds every entry that
// it made.
func TestProgramsShareAFile(t *testing.T) {
	const total = 60
	path := room(t, total)
	var outputs []*bufio.Scanner
	var children []*exec.Cmd
	for i := range 4 {
		c, out := child(t, path, fmt.Sprint("program ", i))
		children, outputs = append(children, c), append(outputs, out)
	}
	var said []string
	for i, out := range outputs {
		var last string
		for out.Scan() {
			if last = out.Text(); last != "end" {
				said = append(said, last)
			}
		}
		if err := children[i].Wait(); err != nil || last != "end" {
			t.Errorf("a program ended with %q (%v)", last, err)
		}
	}
	var there []string
	for _, e := range entries(t, opened(t, path)) {
		there = append(there, "spent "+e.Label, "begun "+e.Label)
	}
	slices.Sort(said)
	slices.Sort(there)
	if len(there) != 2*total || !slices.Equal(said, there) {
		t.Errorf("%d entries, want %d; the programs said\n%q, the file has\n%q", len(there)/2, total, said, there)
	}
}

// A program that is killed, wherever it was, has spent whatever it may have drawn noise
// for; the file is whole, and its lock is free. What it gave back doesn't count, and what
// it hadn't begun can be reclaimed.
func TestKilledPrograms(t *testing.T) {
	const most = 5000
	path := room(t, most)
	said := map[string]bool{}
	for i := range 5 {
		victims, outs := [2]*exec.Cmd{}, [2]*bufio.Scanner{}
		for k := range victims {
			victims[k], outs[k] = child(t, path, fmt.Sprint([]string{"victim ", "fickle "}[k], i))
		}
		for k, out := range outs {
			for n := 0; n < 1+i && out.Scan(); n++ { // it is at the next ones now
				said[out.Text()] = true
			}
			time.Sleep(time.Duration(i) * 700 * time.Microsecond)
			if err := victims[k].Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		for k, out := range outs {
			for out.Scan() {
				said[out.Text()] = true
			}
			if err := victims[k].Wait(); err == nil {
				t.Fatal("it wasn't killed")
			}
		}
		f := opened(t, path)
		label := fmt.Sprint("survivor ", i)
		if err := spend(f, label, fit(t, childMu)); err != nil {
			t.Fatal(err)
		}
		said["spent "+label], said["begun "+label] = true, true
		accounted(t, f, said, most)
	}
	f := opened(t, path)
	if _, err := f.Reclaim(t.Context(), time.Now().Add(time.Hour), "killed"); err != nil {
		t.Fatal(err)
	}
	inForce := 0
	for _, e := range entries(t, f) {
		if e.GivenBack.IsZero() {
			inForce++
		}
		if e.GivenBack.IsZero() == e.Begun.IsZero() {
			t.Errorf("after reclaiming an entry is %v", e)
		}
	}
	left, err := f.Remaining()
	if want := childMu * math.Sqrt(float64(most-inForce)); err != nil || math.Abs(left.Mu/want-1) > 2e-5 {
		t.Errorf("%v is left of %d entries with %d in force, want μ = %g (%v)", left, most, inForce, want, err)
	}
}

// accounted holds what programs said against what a file has.
func accounted(t *testing.T, f *File, said map[string]bool, most int) {
	t.Helper()
	there, inForce := map[string]bool{}, 0
	for _, e := range entries(t, f) {
		there["spent "+e.Label] = true
		if !e.Begun.IsZero() {
			there["begun "+e.Label] = true
		}
		if !e.GivenBack.IsZero() {
			there["given back "+e.Label] = true
		} else {
			inForce++
		}
	}
	for text := range said {
		if !there[text] {
			t.Fatalf("%q is not there", text)
		}
	}
	if inForce > most || len(there) > len(said)+12 { // at most one step of each victim was not announced
		t.Fatalf("%d entries are in force; of %d steps %d were announced", inForce, len(there), len(said))
	}
}
