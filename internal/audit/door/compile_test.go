package door_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// forbidden is a file that a careless learner might have been written in. Each line
// with the comment "refused" must be an error of the compiler, for the reason that
// follows, and no other line may be one.
const forbidden = `package dpglm

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/mechanisms"
)

func legal(ctx context.Context, s *curator.Sums, a *release.Allowance, w []float64) ([]float64, error) {
	x, err := s.Gradient(ctx, w, 1)
	if err != nil {
		return nil, err
	}
	return a.AddNoise(x)
}

func readsAnAnswer(x release.Answer) float64 {
	return x.values[0] // refused: values
}

func changesASensitivity(x release.Answer, clip float64) release.Answer {
	x.l2 = 2 * clip // refused: l2
	return x
}

func releasesWithAnotherClip(s *curator.Sums, a *release.Allowance, x release.Answer, clip float64) {
	a.AddNoise(x, 2*clip) // refused: too many arguments
}

func makesAnAnswer(v []float64) release.Answer {
	return release.Answer{nil, v, 1, nil} // refused: implicit assignment to unexported field
}

func readsAPoint(p curator.Point) []float64 {
	return p.w // refused: w
}

func readsALearnersSum(ctx context.Context, s *curator.Sums, w []float64) []float64 {
	g, _ := s.Gradient(ctx, w, 1)
	return g // refused: release.Answer
}

func convertsAnAnswer(x release.Answer) []float64 {
	return []float64(x) // refused: cannot convert
}

func addsItsOwnNoise(x release.Answer, src mechanisms.Source) {
	mechanisms.Gaussian{Mu: 1}.Release(nil, x, 1, src) // refused: release.Answer
}

func readsRows(d *Dataset) any {
	return d.data.table // refused: table
}

func readsLabels(d *Dataset) []float64 {
	return d.data.labels // refused: labels
}

func makesAnAllowance(src mechanisms.Source) *release.Allowance {
	return &release.Allowance{run: nil} // refused: run
}

func countsAgain(a *release.Allowance) {
	a.made = nil // refused: made
}
`

// TestDoorIsClosedByTheCompiler compiles the file above as one of the root package's.
func TestDoorIsClosedByTheCompiler(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go tool")
	}
	dir, root := t.TempDir(), ""
	if root, err = os.Getwd(); err != nil {
		t.Fatal(err)
	}
	file, overlay := filepath.Join(dir, "forbidden.go"), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "forbidden.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{file: []byte(forbidden), overlay: replaced} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(tool, "build", "-gcflags=-e", "-overlay", overlay, "-o", os.DevNull, ".").CombinedOutput()
	if err == nil {
		t.Fatal("all of it compiles")
	}
	errors := map[int]string{}
	for _, m := range regexp.MustCompile(`forbidden\.go:(\d+):\d+: (.*)`).FindAllStringSubmatch(string(out), -1) {
		line, _ := strconv.Atoi(m[1])
		errors[line] += m[2]
	}
	refused := 0
	for i, line := range strings.Split(forbidden, "\n") {
		_, why, want := strings.Cut(line, "// refused: ")
		got, failed := errors[i+1]
		switch {
		case want && !failed:
			t.Errorf("this compiles, so that raw numbers can leave: %s", line)
		case want && !strings.Contains(got, why):
			t.Errorf("%s\nis refused, but not for %q: %s", line, why, got)
		case failed && !want:
			t.Errorf("%s\nis refused, and should compile: %s", line, got)
		}
		if want {
			refused++
		}
	}
	if refused < 10 || len(errors) == 0 {
		t.Errorf("%d lines are to be refused, and %d are:\n%s", refused, len(errors), out)
	}
}
