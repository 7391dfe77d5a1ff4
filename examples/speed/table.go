package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table prints groups.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer) *table {
	t := &table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(t.w, "\noperation\ttime\tGB/s\tbest\tspeed")
	return t
}

func (t *table) add(g *group) {
	fmt.Fprintf(t.w, "\n%s\n", g.name)
	for _, o := range g.ops {
		typical, best := "", ""
		if g.bytes > 0 {
			typical = fmt.Sprintf("%.3g", float64(g.bytes)/1e9/median(slices.Clone(o.seconds)))
			best = fmt.Sprintf("%.3g", float64(g.bytes)/1e9/slices.Min(o.seconds))
		}
		fmt.Fprintf(t.w, "  %s\t%s\t%s\t%s\t%s\n", o.name, duration(median(slices.Clone(o.seconds))), typical, best, g.compare(o))
	}
}

// compare says how much faster o is than the others of its group, or what it costs.
func (g *group) compare(o *op) string {
	if o.costs {
		return fmt.Sprintf("%.2f times %s", ratio(o, g.ops[0]), g.ops[0].name)
	}
	var ratios []string
	for _, other := range g.ops {
		if o.ours && other != o {
			ratios = append(ratios, fmt.Sprintf("%.2f × %s", ratio(other, o), other.name))
		}
	}
	return strings.Join(ratios, ", ")
}

func (t *table) flush() error { return t.w.Flush() }

// duration prints seconds with three digits.
func duration(s float64) string {
	switch {
	case s >= 1:
		return fmt.Sprintf("%.3g s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.3g ms", s*1e3)
	case s >= 1e-6:
		return fmt.Sprintf("%.3g µs", s*1e6)
	}
	return fmt.Sprintf("%.3g ns", s*1e9)
}

// ratio is the median over the rounds of a's time over b's: rounds on a shared
// machine differ more from each other than operations within one.
func ratio(a, b *op) float64 {
	r := make([]float64, len(a.seconds))
	for i := range r {
		r[i] = a.seconds[i] / b.seconds[i]
	}
	return median(r)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
}

// machine is the processor's name, where the system tells, the number of cores
// in use and the date.
func machine() string {
	name := runtime.GOARCH
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			name = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%s, %d cores, %s", name, runtime.GOMAXPROCS(0), time.Now().Format("2 January 2006"))
}
