package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// panel is one figure.
type panel struct {
	name, title, x string
	curves         []curve
}

// curve is excess risk against x, with the slopes that theory gives on log-log axes.
type curve struct {
	name   string
	points []point
	slopes []slope
}

// slope is what theory expects between lo and hi: table is the exponent in the paper's
// Table 1, which is that of the larger term of a bound, and bound the slope of the whole
// bound between lo and hi. Ranges are in the code, each with its reason; docs/rates.md says
// which were changed after a first run.
type slope struct {
	lo, hi, table float64
	bound         float64
}

// exponent is a slope where the bound has one term.
func exponent(lo, hi, table float64) slope { return slope{lo, hi, table, table} }

// point has a family of instances, from easy to hard to learn from. Upper bounds hold for
// all distributions, and are attained on the worst.
type point struct {
	x      float64
	family []member
}

// member is one of a family. Its factor places it relative to where theory has the worst
// instance, so that members of one factor are alike along a curve.
type member struct {
	factor float64
	run    trial
}

// trial is one seeded run on one instance; it returns the excess risk.
type trial func(seed uint64) (float64, error)

// measured is the mean of a point's runs on the worst instance, and its standard error.
type measured struct {
	panel, curve    string
	x, mean, stderr float64
}

// pilots is how many runs of each member find the worst.
const pilots = 2

// measure runs the members of all points to find the factor with the largest geometric
// mean of risks along the curve, and then that instance of each point, repeats times with
// other noise, so that the choice doesn't pick lucky noise.
func (c curve) measure(panel string, repeats int, done func()) ([]measured, error) {
	label := panel + c.name
	worst, most := 0.0, math.Inf(-1)
	for _, factor := range c.factors() {
		total := 0.0
		for _, p := range c.points {
			m := p.nearest(factor)
			for k := range pilots {
				risk, err := m.run(seedOf(label, p.x, m.factor, k))
				if err != nil {
					return nil, p.failed(err)
				}
				done()
				total += math.Log(risk)
			}
		}
		if total > most {
			worst, most = factor, total
		}
	}
	var all []measured
	for _, p := range c.points {
		m := p.nearest(worst)
		var sum, squares float64
		for k := range repeats {
			risk, err := m.run(seedOf(label, p.x, m.factor, pilots+k))
			if err != nil {
				return nil, p.failed(err)
			}
			done()
			sum += risk
			squares += risk * risk
		}
		r := float64(repeats)
		mean := sum / r
		all = append(all, measured{panel, c.name, p.x, mean, math.Sqrt(max(0, squares/r-mean*mean) / max(1, r-1))})
	}
	return all, nil
}

func (p point) failed(err error) error { return fmt.Errorf("at %g: %w", p.x, err) }

// factors are those of the curve's members; a single one needs no search.
func (c curve) factors() []float64 {
	var all []float64
	for _, p := range c.points {
		for _, m := range p.family {
			if !slices.Contains(all, m.factor) {
				all = append(all, m.factor)
			}
		}
	}
	if len(all) == 1 {
		return nil
	}
	return all
}

// nearest is the member with a factor or, where the point has none, with the nearest.
func (p point) nearest(factor float64) member {
	return slices.MinFunc(p.family, func(a, b member) int {
		return cmp.Compare(math.Abs(a.factor-factor), math.Abs(b.factor-factor))
	})
}

// runs is how many trials measure runs.
func (c curve) runs(repeats int) int { return len(c.points) * (pilots*len(c.factors()) + repeats) }

// seedOf gives every run noise of its own, the same in each run of the program.
func seedOf(label string, x, factor float64, repeat int) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, label, x, factor, repeat)
	return h.Sum64()
}

// fit is the least-squares line through the logarithms of some points.
type fit struct {
	slope, intercept float64
	halfWidth        float64 // of the slope's 95 % interval
	r2               float64
}

// fitted is the line of the points between lo and hi; ok is false for fewer than three.
func fitted(points []measured, lo, hi float64) (f fit, ok bool) {
	var xs, ys []float64
	for _, m := range points {
		const rounding = 1e-9
		if m.x >= lo*(1-rounding) && m.x <= hi*(1+rounding) {
			xs, ys = append(xs, math.Log10(m.x)), append(ys, math.Log10(m.mean))
		}
	}
	if len(xs) < 3 {
		return fit{}, false
	}
	n := float64(len(xs))
	var mx, my float64
	for i := range xs {
		mx += xs[i] / n
		my += ys[i] / n
	}
	var sxx, sxy, syy float64
	for i := range xs {
		sxx += (xs[i] - mx) * (xs[i] - mx)
		sxy += (xs[i] - mx) * (ys[i] - my)
		syy += (ys[i] - my) * (ys[i] - my)
	}
	f.slope = sxy / sxx
	f.intercept = my - f.slope*mx
	rest := max(0, syy-f.slope*sxy)
	f.r2 = 1
	if syy > 0 {
		f.r2 = 1 - rest/syy
	}
	f.halfWidth = studentT(len(xs)-2) * math.Sqrt(rest/(n-2)/sxx)
	return f, true
}

// studentT is the 97.5 % quantile of Student's t law.
func studentT(freedom int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
}
