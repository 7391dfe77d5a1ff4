package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// problem is one drawn at random: a finite population, of which samples are resamples, so that its
// coefficients are known, and a budget.
type problem struct {
	number   int
	loss     losses.Loss
	rows     int
	epsilon  float64
	schema   dpglm.Schema
	all      *drawn
	likeness string // what it is made of
}

// generator draws a problem's parts.
type generator struct {
	*rand.Rand
	columns []column
	schema  dpglm.Schema
	words   []string // of the problem's likeness
}

// column is a law of a column's values, given those before it, or of a group's.
type column struct {
	names []string // several are a group's
	draw  func(row []float64, common float64)
	lo    float64 // end of the range that the law has; NaN where it has none
	hi    float64
}

// most rows of a population, and numbers in it.
const (
	mostRows    = 300_000
	mostNumbers = 6_000_000
)

// drawProblem draws the k-th problem of a seed.
func drawProblem(seed uint64, k int) *problem {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(k))), schema: dpglm.Schema{Numeric: map[string][2]float64{}, OneHot: map[string][]string{}, Intercept: true}}
	p := &problem{number: k, epsilon: g.between(0.3, 8)}
	dim := int(math.Round(g.between(2, 60)))
	p.rows = int(g.between(math.Max(500, 20*float64(dim)), 200_000))
	p.loss = []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}}[level(g.Rand, 0.4, 0.35, 0.25)]
	g.drawColumns(dim)
	population := min(mostRows, mostNumbers/dim, max(30_000, 10*p.rows))
	p.all = &drawn{x: g.fill(population), ridge: flat}
	p.all.y = g.labels(p.all.x, p.loss)
	g.setRanges(p.all, p.loss)
	p.schema = g.schema
	p.likeness = strings.Join(g.words, " ")
	return p
}

// between draws a number, its logarithm uniformly.
func (g *generator) between(low, high float64) float64 {
	return low * math.Exp(g.Float64()*math.Log(high/low))
}

// say adds to the problem's likeness.
func (g *generator) say(format string, args ...any) {
	g.words = append(g.words, fmt.Sprintf(format, args...))
}

// drawColumns draws laws of columns until there are enough.
func (g *generator) drawColumns(dim int) {
	width := 0
	kinds := map[string]int{}
	for width < dim {
		name := fmt.Sprintf("x%d", width+1)
		kind := []string{"normal", "t", "log-normal", "gamma", "amount", "one-hot", "dummy", "twin"}[level(g.Rand, 0.3, 0.1, 0.12, 0.08, 0.07, 0.15, 0.12, 0.06)]
		if kind == "twin" && width == 0 {
			kind = "normal"
		}
		if kind == "one-hot" && dim-width < 2 {
			kind = "dummy"
		}
		var c column
		if kind == "one-hot" {
			c = g.group(width, min(dim-width, 2+g.IntN(7)))
		} else {
			c = g.numeric(kind, width)
			c.names = []string{name}
		}
		kinds[kind]++
		g.columns = append(g.columns, c)
		g.schema.Columns = append(g.schema.Columns, c.names...)
		if len(c.names) > 1 {
			g.schema.OneHot["group"+c.names[0]] = c.names
		}
		width += len(c.names)
	}
	for _, kind := range []string{"normal", "t", "log-normal", "gamma", "amount", "one-hot", "dummy", "twin"} {
		if n := kinds[kind]; n > 0 {
			g.say("%d %s,", n, kind)
		}
	}
}

// numeric is a column's law, at a place of the row.
func (g *generator) numeric(kind string, at int) column {
	c := column{lo: math.NaN(), hi: math.NaN()}
	load := g.Float64() * 0.8
	normal := func(common float64) float64 { return load*common + math.Sqrt(1-load*load)*g.NormFloat64() }
	switch kind {
	case "normal":
		c.draw = func(row []float64, common float64) { row[at] = normal(common) }
	case "t":
		tails := distuv.StudentsT{Sigma: 1, Nu: 3 + 3*g.Float64(), Src: g.Rand}
		c.draw = func(row []float64, common float64) { row[at] = tails.Rand() + load*common }
	case "log-normal":
		spread := g.between(0.4, 1.5)
		c.lo, c.draw = 0, func(row []float64, common float64) { row[at] = math.Exp(spread * normal(common)) }
	case "gamma":
		law := distuv.Gamma{Alpha: g.between(0.5, 3), Beta: 1, Src: g.Rand}
		c.lo, c.draw = 0, func(row []float64, common float64) { row[at] = law.Rand() }
	case "amount":
		none := 0.3 + 0.65*g.Float64()
		c.lo, c.draw = 0, func(row []float64, common float64) {
			if row[at] = 0; g.Float64() > none {
				row[at] = math.Exp(0.8 * g.NormFloat64())
			}
		}
	case "dummy":
		share := g.between(0.003, 0.5)
		edge := distuv.UnitNormal.Quantile(share)
		c.lo, c.hi, c.draw = 0, 1, func(row []float64, common float64) {
			if row[at] = 0; normal(common) < edge {
				row[at] = 1
			}
		}
	case "twin":
		of, apart := g.IntN(at), g.between(0.03, 0.4)
		c.draw = func(row []float64, common float64) { row[at] = row[of] + apart*g.NormFloat64() }
	}
	return c
}

// group is a one-hot group's law, its first level without a column; levels are of any rarity.
func (g *generator) group(at, size int) column {
	odds := make([]float64, size+1)
	for k := range odds {
		odds[k] = math.Exp(1.3 * g.NormFloat64())
	}
	floats.Scale(1/floats.Sum(odds), odds)
	for k := range odds {
		odds[k] = math.Max(odds[k], 0.002)
	}
	floats.Scale(1/floats.Sum(odds), odds)
	c := column{draw: func(row []float64, _ float64) {
		clear(row[at : at+size])
		if k := level(g.Rand, odds...); k > 0 {
			row[at+k-1] = 1
		}
	}}
	for k := range size {
		c.names = append(c.names, fmt.Sprintf("l%d.%d", at+1, k+1))
	}
	return c
}

// fill draws rows, of which in some problems one in a hundred lies ten times as far out.
func (g *generator) fill(n int) *mat.Dense {
	x := mat.NewDense(n, len(g.schema.Columns), nil)
	outlying := g.Float64() < 0.1
	if outlying {
		g.say("1 %% outlying,")
	}
	for i := range n {
		common := g.NormFloat64()
		far := outlying && g.Float64() < 0.01
		at := 0
		for _, c := range g.columns {
			c.draw(x.RawRowView(i), common)
			if far && len(c.names) == 1 && math.IsNaN(c.hi) {
				x.RawRowView(i)[at] *= 10
			}
			at += len(c.names)
		}
	}
	return x
}

// labels draws labels by a law that may not be the model's.
func (g *generator) labels(x *mat.Dense, loss losses.Loss) []float64 {
	n, _ := x.Dims()
	scores := g.scores(x)
	truth := []string{"linear", "curved", "interaction", "another link", "uneven", "zero-inflated", "skewed"}[level(g.Rand, 0.34, 0.14, 0.12, 0.1, 0.1, 0.1, 0.1)]
	g.say("%s %s", loss.Name(), truth)
	first, second := standard(mat.Col(nil, 0, x)), standard(mat.Col(nil, g.IntN(len(g.schema.Columns)), x))
	curved := 0.2 + 0.4*g.Float64()
	for i := range scores {
		switch truth {
		case "curved":
			scores[i] += curved * (math.Min(scores[i]*scores[i], 9) - 1)
		case "interaction":
			scores[i] += curved * math.Max(-4, math.Min(first[i]*second[i], 4))
		}
	}
	y := make([]float64, n)
	hidden, uneven := 0.2+0.4*g.Float64(), 0.3+0.4*g.Float64()
	switch loss.Labels() {
	case losses.Binary:
		constant := 1.3 * g.NormFloat64()
		for i, z := range scores {
			odds := 1 / (1 + math.Exp(-constant-z))
			switch truth {
			case "another link":
				odds = distuv.UnitNormal.CDF(constant + z)
			case "zero-inflated":
				odds *= 1 - hidden
			case "uneven":
				odds = 1 / (1 + math.Exp(-(constant+z)*math.Exp(uneven*math.Max(-2, math.Min(first[i], 2)))))
			}
			if g.Float64() < odds {
				y[i] = 1
			}
		}
	case losses.Count:
		constant := g.NormFloat64() - 0.5
		for i, z := range scores {
			mean := math.Exp(math.Min(constant+0.7*z, 5))
			switch truth {
			case "another link":
				mean = math.Pow(math.Max(0, 1+0.3*z), 2) * math.Exp(constant)
			case "zero-inflated":
				if g.Float64() < hidden {
					mean = 0
				}
			case "uneven", "skewed":
				mean *= g.ExpFloat64()
			}
			if mean > 0 {
				y[i] = distuv.Poisson{Lambda: mean, Src: g.Rand}.Rand()
			}
		}
	default:
		size := g.between(0.5, 3)
		for i, z := range scores {
			noise := size * g.NormFloat64()
			switch truth {
			case "uneven":
				noise *= math.Exp(uneven * math.Max(-2, math.Min(first[i], 2)))
			case "skewed":
				noise = size * math.Exp(g.NormFloat64())
			}
			y[i] = z + noise
			switch truth {
			case "another link":
				y[i] = math.Exp(0.5*math.Min(z, 6)) + noise
			case "zero-inflated":
				if y[i] = math.Exp(0.5*math.Min(z, 6) + 0.7*g.NormFloat64()); g.Float64() < hidden {
					y[i] = 0
				}
			}
		}
	}
	return y
}

// scores are a linear combination of standardised columns, of a size as tables have, and a few
// rows' no larger than eight.
func (g *generator) scores(x *mat.Dense) []float64 {
	n, d := x.Dims()
	scores := make([]float64, n)
	for j := range d {
		if g.Float64() < 0.3 { // a column that tells nothing
			continue
		}
		effect := g.NormFloat64()
		for i, v := range standard(mat.Col(nil, j, x)) {
			scores[i] += effect * v
		}
	}
	scores = standard(scores)
	size := g.between(0.25, 2)
	for i := range scores {
		scores[i] = math.Max(-8, math.Min(size*scores[i], 8))
	}
	return scores
}

// standard has mean 0 and variance 1, or is 0.
func standard(v []float64) []float64 {
	mean, sd := stat.MeanStdDev(v, nil)
	for i := range v {
		if v[i] -= mean; sd > 0 {
			v[i] /= sd
		}
	}
	return v
}

// setRanges sets public ranges that may be too wide. No number of the population is beyond them.
func (g *generator) setRanges(all *drawn, loss losses.Loss) {
	wide := 1.0
	switch level(g.Rand, 0.5, 0.35, 0.15) {
	case 1:
		wide = g.between(1, 10)
	case 2:
		wide = g.between(10, 100)
	}
	g.say("ranges × %.3g", wide)
	at := 0
	for _, c := range g.columns {
		if len(c.names) == 1 {
			g.schema.Numeric[c.names[0]] = rangeOf(mat.Col(nil, at, all.x), c.lo, c.hi, wide)
		}
		at += len(c.names)
	}
	switch wide = math.Min(wide, 10); loss.Labels() {
	case losses.Count:
		g.schema.LabelRange = [2]float64{0, math.Max(1, math.Ceil(wide*floats.Max(all.y)))}
	case losses.Real:
		g.schema.LabelRange = rangeOf(slices.Clone(all.y), math.NaN(), math.NaN(), wide)
	}
}

// rangeOf is about what values have, so many times as wide, but for an end that is known.
func rangeOf(v []float64, lo, hi, wide float64) [2]float64 {
	middle := stat.Mean(v, nil)
	if math.IsNaN(lo) {
		lo = middle - wide*(middle-floats.Min(v))
	}
	if math.IsNaN(hi) {
		hi = middle + wide*(floats.Max(v)-middle)
	}
	if !(hi > lo) {
		hi = lo + 1
	}
	return [2]float64{lo, hi}
}

// counted is the loss that Infer minimises.
func (p *problem) counted() losses.Loss {
	if p.loss.Labels() == losses.Count {
		return losses.CappedPoisson{Cap: p.schema.LabelRange[1]}
	}
	return p.loss
}

// truth are the population's coefficients.
func (p *problem) truth() ([]float64, error) {
	f, err := fitExactly(p.all, p.counted())
	if err != nil {
		return nil, err
	}
	return f.coefficients, nil
}
