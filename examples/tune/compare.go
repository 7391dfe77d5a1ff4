package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// compare prints how the results of a new build differ from those of an old one.
func compare(w io.Writer, oldPath, newPath string) error {
	olds, err := read(oldPath)
	if err != nil {
		return err
	}
	news, err := read(newPath)
	if err != nil {
		return err
	}
	c := &comparison{olds: olds, news: news}
	if err := c.pair(); err != nil {
		return err
	}
	var b strings.Builder
	c.cells(&b)
	c.totals(&b)
	c.far(&b)
	c.absent(&b)
	olds.refusals(&b)
	news.refusals(&b)
	_, err = io.WriteString(w, b.String())
	return err
}

// comparison is of two files.
type comparison struct {
	olds, news *file
	pairs      []paired // of at least two splits, worse ones first
	single     int      // cells of fewer
}

// pair finds the cells of both. Files are comparable where splits and seeds are the same.
func (c *comparison) pair() error {
	a, b := c.olds.settings(), c.news.settings()
	b.Method, b.Labels, b.Pure, b.AddRemove, b.Public, b.Turned = a.Method, a.Labels, a.Pure, a.AddRemove, a.Public, a.Turned
	if a != b {
		return fmt.Errorf("%s and %s differ in seed, rows or share held out: %+v, %+v", c.olds.path, c.news.path, a, b)
	}
	for _, set := range c.news.sets() {
		for _, at := range c.news.budgets() {
			same := cell{set, fitted, at}
			p, err := pair(c.olds, c.news, same, same)
			if err != nil {
				return err
			}
			switch len(p.old) {
			case 0:
			case 1:
				c.single++
			default:
				c.pairs = append(c.pairs, p)
			}
		}
	}
	if len(c.pairs) == 0 {
		return fmt.Errorf("%s and %s have no set and budget with two splits in common", c.olds.path, c.news.path)
	}
	slices.SortStableFunc(c.pairs, func(p, q paired) int { return cmp.Compare(q.errors(), p.errors()) })
	return nil
}

// settings are those of the file's results.
func (f *file) settings() settings {
	for _, r := range f.results {
		return r.settings
	}
	return settings{}
}

// cells prints a line for each cell.
func (c *comparison) cells(w io.Writer) {
	fmt.Fprintf(w, "Losses on the rows held out, of %s (old) and %s (new), worse cells first.\n", c.olds.path, c.news.path)
	head(w, "set", "budget", "old", "new", "new − old", "standard error", "splits", "new is")
	for _, p := range c.pairs {
		mean, e := p.difference()
		line(w, p.name, p.budget.String(), digits(meanOf(p.old)), digits(meanOf(p.new)), fmt.Sprintf("%+.3g", mean), fmt.Sprintf("%.2g", e), fmt.Sprint(len(p.old)), p.verdict())
	}
	if c.single > 0 {
		fmt.Fprintf(w, "\n%d cells have a single split in common, and are left out.\n", c.single)
	}
}

// totals prints a line for each budget and one for all.
func (c *comparison) totals(w io.Writer) {
	head(w, "budget", "cells", "worse", "tied", "better", "by chance, each way", "new / old", "new − old, % of the constant's", "seconds old", "new")
	for _, b := range c.news.budgets() {
		c.total(w, b.String(), func(p paired) bool { return p.budget == b })
	}
	c.total(w, "all", func(paired) bool { return true })
	fmt.Fprintln(w, "\nnew / old is the geometric mean of the cells' ratios; seconds are the means of a fit.")
}

func (c *comparison) total(w io.Writer, title string, in func(paired) bool) {
	var cells, worse, better, known int
	var chance, ratio, share, before, after float64
	for _, p := range c.pairs {
		if !in(p) {
			continue
		}
		cells++
		if p.worse() {
			worse++
		}
		if p.better() {
			better++
		}
		chance += p.byChance()
		ratio += math.Log(meanOf(p.new) / meanOf(p.old))
		before += c.olds.seconds(cell{p.name, fitted, p.budget})
		after += c.news.seconds(cell{p.name, fitted, p.budget})
		mean, _ := p.difference()
		if base := meanOf(c.olds.losses(cell{p.name, constant, budget{}})); base > 0 {
			known++
			share += mean / base
		}
	}
	n := float64(cells)
	line(w, title, fmt.Sprint(cells), fmt.Sprint(worse), fmt.Sprint(cells-worse-better), fmt.Sprint(better), fmt.Sprintf("%.1f", chance),
		fmt.Sprintf("%.4f", math.Exp(ratio/n)), fmt.Sprintf("%+.3f", 100*share/float64(known)), fmt.Sprintf("%.2f", before/n), fmt.Sprintf("%.2f", after/n))
}

// seconds are a fit's, on average.
func (f *file) seconds(c cell) float64 {
	var sum, n float64
	for _, split := range f.splits() {
		if r, ok := f.results[key{c, split}]; ok {
			sum, n = sum+r.Seconds, n+1
		}
	}
	return sum / n
}

// far names the cells that are far apart.
func (c *comparison) far(w io.Writer) {
	fmt.Fprintf(w, "\nBeyond %d standard errors:\n\n", far)
	none := true
	for _, p := range c.pairs {
		if e := p.errors(); math.Abs(e) > far {
			mean, _ := p.difference()
			fmt.Fprintf(w, "- %s, %v: %s by %.3g (%.1f standard errors, %+.2f %%)\n", p.name, p.budget, p.verdict(), math.Abs(mean), math.Abs(e), 100*mean/meanOf(p.old))
			none = false
		}
	}
	if none {
		fmt.Fprintln(w, "none")
	}
}

// absent counts the cells that one file only has.
func (c *comparison) absent(w io.Writer) {
	a, b := c.olds.fits(), c.news.fits()
	only := func(a, b map[cell]bool) (n int) {
		for k := range a {
			if !b[k] {
				n++
			}
		}
		return n
	}
	if x, y := only(a, b), only(b, a); x+y > 0 {
		fmt.Fprintf(w, "\n%d cells are in %s only, %d in %s only.\n", x, c.olds.path, y, c.news.path)
	}
}

// fits are the cells of fits.
func (f *file) fits() map[cell]bool {
	all := map[cell]bool{}
	for k := range f.results {
		if k.Model == fitted {
			all[k.cell] = true
		}
	}
	return all
}
