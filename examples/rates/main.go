// Rates measures how the excess risk of the library's algorithms grows and shrinks, on
// instances that are hard for them, and compares that with Table 1 of [AB+22]:
//
//	go -C examples/rates run .
//
// It takes some minutes, and writes rates.png, a picture of each panel, and rates.csv to the
// directory of -o. docs/rates.md explains what they show.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/dpglm/dpglm/examples/internal/progress"
)

func main() {
	quick := flag.Bool("quick", false, "three points of each curve, two instances and two runs of each, in seconds: to see that it works")
	dir := flag.String("o", "out", "the `directory` to write to")
	flag.Parse()
	ctx, end := progress.Show(context.Background(), "rates", os.Stderr)
	err := run(ctx, progress.Beside(ctx, os.Stdout), *dir, *quick)
	end()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rates:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, dir string, quick bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all, repeats := panels(), 12
	if quick {
		all, repeats = shortened(all), 2
	}
	points, err := measureAll(ctx, all, repeats)
	if err != nil {
		return err
	}
	if err := writeCSV(filepath.Join(dir, "rates.csv"), points); err != nil {
		return err
	}
	if err := drawAll(dir, all, points); err != nil {
		return err
	}
	if err := report(out, all, points); err != nil {
		return err
	}
	if quick {
		fmt.Fprintln(out, "\n-quick: too few points and runs for slopes to mean anything.")
	}
	return nil
}

// shortened keeps the first three points of each curve, and two instances of each.
func shortened(all []panel) []panel {
	for i := range all {
		for j := range all[i].curves {
			c := &all[i].curves[j]
			c.points = c.points[:min(3, len(c.points))]
			for k := range c.points {
				c.points[k].family = c.points[k].family[:min(2, len(c.points[k].family))]
			}
		}
	}
	return all
}

// measureAll measures every curve.
func measureAll(ctx context.Context, all []panel, repeats int) ([]measured, error) {
	total := 0
	for _, p := range all {
		for _, c := range p.curves {
			total += c.runs(repeats)
		}
	}
	show, done := progress.Count(ctx, "runs", total), 0
	var points []measured
	for _, p := range all {
		for _, c := range p.curves {
			own, err := c.measure(p.name, repeats, func() { done++; show(done) })
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", p.name, c.name, err)
			}
			points = append(points, own...)
		}
	}
	return points, nil
}

// of are the points of a curve.
func of(points []measured, panel, curve string) []measured {
	var own []measured
	for _, m := range points {
		if m.panel == panel && m.curve == curve {
			own = append(own, m)
		}
	}
	return own
}

// report prints the slopes.
func report(out io.Writer, all []panel, points []measured) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "panel\tcurve\tfitted\tTable 1\tits bound\tmeasured\t95 % interval\tR²\twithin 0.15 of Table 1")
	for _, p := range all {
		for _, c := range p.curves {
			for _, s := range c.slopes {
				fmt.Fprintf(w, "%s\t%s\t%s = %.4g to %.4g\t%.2f\t%.2f\t", p.name, c.name, p.x, s.lo, s.hi, s.table, s.bound)
				f, ok := fitted(of(points, p.name, c.name), s.lo, s.hi)
				if !ok {
					fmt.Fprintln(w, "too few points\t\t\t")
					continue
				}
				within := "yes"
				if math.Abs(f.slope-s.table) > 0.15 {
					within = "no"
				}
				fmt.Fprintf(w, "%.2f\t±%.2f\t%.3f\t%s\n", f.slope, f.halfWidth, f.r2, within)
			}
		}
	}
	return w.Flush()
}
