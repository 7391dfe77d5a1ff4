package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	exact "go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// numbersIn is the folder of the numbers that were tuned, in the module's root.
const numbersIn = "internal/tuning"

// ablate measures what tuned numbers are worth: for each and each factor it builds this program with the number
// that many times as large, has that build run, and sets its results beside those of the build as it is.
func ablate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("ablate", flag.ContinueOnError)
	dir := f.String("out", "", "`folder` of results, a file for each build, which are added to")
	names := f.String("numbers", "", "`names` of numbers of internal/tuning, with commas (default: all)")
	factors := f.String("by", "0.5,2", "`factors`, with commas")
	split := max(slices.Index(args, "--"), 0)
	if split == 0 {
		return task.Usage("ablate's own flags end with --, and those of run follow: tune ablate -out folder -- -data folder,folder")
	}
	if _, err := task.Parse(f, args[:split], stderr); err != nil {
		return err
	}
	if *dir == "" {
		return task.Usage("-out is missing: name a folder for the results")
	}
	a, err := newAblation(*dir, args[split+1:], stderr)
	if err != nil {
		return err
	}
	which := slices.Sorted(maps.Keys(a.numbers))
	if *names != "" {
		which = strings.Split(*names, ",")
	}
	var times []float64
	for _, s := range strings.Split(*factors, ",") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return task.Usage("-by: %q must be a positive number", s)
		}
		times = append(times, v)
	}
	return a.all(ctx, stdout, which, times)
}

// ablation is a folder of results.
type ablation struct {
	dir     string
	run     []string // flags of run
	numbers map[string]number64
	stderr  io.Writer
}

// number64 is a number of internal/tuning: its value, where it is written, and whether it counts something.
type number64 struct {
	value      float64
	file       string
	start, end int
	counts     bool
}

func newAblation(dir string, run []string, stderr io.Writer) (*ablation, error) {
	numbers, err := tuned(numbersIn)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	return &ablation{dir: dir, run: run, numbers: numbers, stderr: stderr}, err
}

// tuned are the constants of a folder of Go files.
func tuned(folder string) (map[string]number64, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s has no Go files: run ablate in the module's root", folder)
	}
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	known := types.Info{Defs: map[*ast.Ident]types.Object{}}
	if _, err := new(types.Config).Check("tuning", set, files, &known); err != nil {
		return nil, err
	}
	numbers := map[string]number64{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			c, ok := known.Defs[spec.Names[0]].(*types.Const)
			if !ok {
				return true
			}
			v, _ := exact.Float64Val(exact.ToFloat(c.Val()))
			at := set.Position(spec.Values[0].Pos())
			numbers[c.Name()] = number64{v, at.Filename, at.Offset, set.Position(spec.Values[0].End()).Offset, c.Val().Kind() == exact.Int}
			return true
		})
	}
	return numbers, nil
}

// all runs all builds, and prints a line for each.
func (a *ablation) all(ctx context.Context, w io.Writer, names []string, factors []float64) error {
	for _, name := range names {
		if _, ok := a.numbers[name]; !ok {
			return task.Usage("-numbers: %q is no constant of %s", name, numbersIn)
		}
	}
	base, err := a.results(ctx, "as-it-is", nil)
	if err != nil {
		return err
	}
	head(w, "number", "value", "tried", "new / old", "standard error", "cells", "worse", "better", "by chance, each way", "largest loss", "largest gain")
	for _, name := range names {
		n, last := a.numbers[name], math.NaN()
		for _, factor := range factors {
			value := n.times(factor)
			if value == n.value || value == last {
				continue
			}
			last = value
			news, err := a.results(ctx, fmt.Sprintf("%s=%g", name, value), func(dir string) (string, error) { return n.overlay(dir, value) })
			if err != nil {
				return err
			}
			c := &comparison{olds: base, news: news}
			if err := c.pair(); err != nil {
				return err
			}
			c.worth(w, name, n.value, value)
		}
	}
	return nil
}

// times is a multiple, whole where the number counts something.
func (n number64) times(factor float64) float64 {
	if n.counts {
		return math.Round(n.value * factor)
	}
	return n.value * factor
}

// overlay writes what tells the compiler of another value.
func (n number64) overlay(dir string, value float64) (string, error) {
	src, err := os.ReadFile(n.file)
	if err != nil {
		return "", err
	}
	text := strconv.FormatFloat(value, 'g', -1, 64)
	if n.counts {
		text = strconv.FormatFloat(value, 'f', 0, 64)
	} else if !strings.ContainsAny(text, ".e") { // an integer divides as such
		text += ".0"
	}
	path, err := filepath.Abs(n.file)
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(
		os.WriteFile(changed, slices.Concat(src[:n.start], []byte(text), src[n.end:]), 0o600),
		os.WriteFile(overlay, replaced, 0o600))
}

// results are those of a build, which are made as far as they aren't there.
func (a *ablation) results(ctx context.Context, name string, change func(dir string) (string, error)) (*file, error) {
	dir, err := os.MkdirTemp("", "tune")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary, out := filepath.Join(dir, "tune"), filepath.Join(a.dir, name+".jsonl")
	build := []string{"build", "-o", binary}
	if change != nil {
		overlay, err := change(dir)
		if err != nil {
			return nil, err
		}
		build = append(build, "-overlay", overlay)
	}
	fmt.Fprintf(a.stderr, "tune: %s\n", name)
	for _, command := range []*exec.Cmd{
		exec.CommandContext(ctx, "go", append(build, "./examples/tune")...),
		exec.CommandContext(ctx, binary, append([]string{"run", "-mle=false", "-out", out}, a.run...)...),
	} {
		if text, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", name, err, text)
		}
	}
	return read(out)
}

// worth prints how the results differ where a number has another value. Sets count alike, and are what
// the standard error is over.
func (c *comparison) worth(w io.Writer, name string, old, tried float64) {
	of := map[string][]float64{}
	var worse, better int
	var chance float64
	for _, p := range c.pairs {
		of[p.name] = append(of[p.name], math.Log(meanOf(p.new)/meanOf(p.old)))
		chance += p.byChance()
		switch {
		case p.worse():
			worse++
		case p.better():
			better++
		}
	}
	var means []float64
	for _, set := range slices.Sorted(maps.Keys(of)) {
		means = append(means, meanOf(of[set]))
	}
	mean, e := metrics.Summary(means)
	ratio := func(p paired) float64 { return meanOf(p.new) / meanOf(p.old) }
	extreme := func(p paired) string {
		return fmt.Sprintf("%s, %v: %+.1f %%", p.name, p.budget, 100*(ratio(p)-1))
	}
	by := func(p, q paired) int { return cmp.Compare(ratio(p), ratio(q)) }
	line(w, name, fmt.Sprint(old), fmt.Sprint(tried), fmt.Sprintf("%.4f", math.Exp(mean)), fmt.Sprintf("%.4f", e), fmt.Sprint(len(c.pairs)), fmt.Sprint(worse), fmt.Sprint(better),
		fmt.Sprintf("%.1f", chance), extreme(slices.MaxFunc(c.pairs, by)), extreme(slices.MinFunc(c.pairs, by)))
}
