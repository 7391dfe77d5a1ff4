package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

//go:embed sets
var schemas embed.FS

// survey is the name of the sets of the survey's file, bundled that of those from scikit-learn.
const (
	survey  = "cps1988"
	bundled = "sklearn_"
	made    = "made_counts"
)

// find lays the sets that need no folder into one, and lists them with those of -data.
func (o *options) find(ctx context.Context, folder string, ready []environment, stderr io.Writer) ([]task.Set, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	for file, write := range map[string]func(string) error{survey + ".csv.gz": o.copySurvey, made + ".csv": makeCounts} {
		if err := write(filepath.Join(folder, file)); err != nil {
			return nil, err
		}
	}
	have := false
	for _, e := range ready {
		if e.name == "diffprivlib" {
			have = true
			if out, err := exec.CommandContext(ctx, e.python, filepath.Join(e.scripts, "bundled.py"), folder).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("bundled.py: %w: %s", err, lastLine(out))
			}
		}
	}
	if !have {
		fmt.Fprintln(stderr, "peers: the sets of scikit-learn are left out: they come with diffprivlib's environment")
	}
	progress.Doing(ctx, "reading the sets")
	entries, err := schemas.ReadDir("sets")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), bundled) && !have {
			continue
		}
		text, err := schemas.ReadFile("sets/" + entry.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, entry.Name()), text, 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	return task.Sets{Program: "peers", Folders: append([]string{folder}, o.folders...), Names: o.sets, HeldOut: o.HeldOut}.Find(stderr)
}

func (o *options) copySurvey(to string) error {
	text, err := os.ReadFile(o.survey)
	if errors.Is(err, os.ErrNotExist) {
		return task.Usage("-survey %s isn't there: run this in the root of the repository, or name the file", o.survey)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// makeCounts writes rows of four features, uniform in [0, 1], and counts of the mean exp(0.5 + a − b + c/2), up to 20.
func makeCounts(to string) error {
	const (
		rows, seed, cap = 10_000, 1, 20
		at0, atC        = 0.5, 0.5
	)
	r := rand.New(mechanisms.NewSeededSource(seed))
	var b strings.Builder
	b.WriteString("a,b,c,d,y\n")
	for range rows {
		x := [...]float64{r.Float64(), r.Float64(), r.Float64(), r.Float64()}
		mean := math.Exp(at0 + x[0] - x[1] + atC*x[2])
		count, passed := 0, r.ExpFloat64()
		for passed < mean && count < cap {
			count++
			passed += r.ExpFloat64()
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%.4f,%.4f,%d\n", x[0], x[1], x[2], x[3], count)
	}
	return os.WriteFile(to, []byte(b.String()), 0o644)
}
