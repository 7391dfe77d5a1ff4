package budgetfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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

// spendUntilRefused is the child: it names each entry when it would draw noise for it.
func spendUntilRefused(path, label string) {
	f, err := Open(path)
	for i := 0; err == nil; i++ {
		name := fmt.Sprintf("%s %d", label, i)
		if err = spend(f, name, fit(&testing.T{}, childMu)); err == nil {
			fmt.Println(name)
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
	if _, err := Create(context.Background(), path, Total{Rows: 1, Epsilon: epsilon, Delta: 1e-9}); err != nil {
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
		there = append(there, e.Label)
	}
	slices.Sort(said)
	slices.Sort(there)
	if len(there) != total || !slices.Equal(said, there) {
		t.Errorf("%d entries, want %d; the programs said\n%q, the file has\n%q", len(there), total, said, there)
	}
}

// A program that is killed, wherever it was, has spent whatever it may have drawn noise
// for; the file is whole, and its lock is free.
func TestKilledPrograms(t *testing.T) {
	path := room(t, 5000)
	var said []string
	for i := range 6 {
		c, out := child(t, path, fmt.Sprint("victim ", i))
		for n := 0; n < 2+i && out.Scan(); n++ { // it is at the next entries now
			said = append(said, out.Text())
		}
		time.Sleep(time.Duration(i) * 700 * time.Microsecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() {
			said = append(said, out.Text())
		}
		if err := c.Wait(); err == nil {
			t.Fatal("it wasn't killed")
		}
		f := opened(t, path)
		if err := spend(f, fmt.Sprint("survivor ", i), fit(t, childMu)); err != nil {
			t.Fatal(err)
		}
		said = append(said, fmt.Sprint("survivor ", i))
		there := map[string]bool{}
		for _, e := range entries(t, f) {
			there[e.Label] = true
		}
		for _, label := range said {
			if !there[label] || strings.HasPrefix(label, "error") {
				t.Fatalf("%q is not there", label)
			}
		}
		if len(there) > len(said)+i+1 { // at most one entry of each victim was not announced
			t.Fatalf("%d entries of %d", len(there), len(said))
		}
	}
}
