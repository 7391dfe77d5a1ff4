package main

import (
	"hash/fnv"
	"math"

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

// slope is what a theorem expects between lo and hi. Ranges are fixed here, before any
// run, each with its reason.
type slope struct {
	lo, hi, expected float64
}

// point has a family of instances, of which the worst counts: upper bounds hold for all
// distributions, and are attained on the hardest. A trial is one seeded run on one
// instance, and returns the excess risk.
type point struct {
	x      float64
	family []trial
}

type trial func(seed uint64) (float64, error)

// measured is the mean of a point's runs on the worst instance, and its standard error.
type measured struct {
	panel, curve    string
	x, mean, stderr float64
}

// measure runs each member of the family once to find the worst, and that one repeats
// times with other noise, so that the maximum doesn't pick lucky noise.
func (p point) measure(label string, repeats int, done func()) (mean, stderr float64, err error) {
	worst, most := 0, math.Inf(-1)
	for i, run := range p.family {
		if len(p.family) == 1 {
			break
		}
		risk, err := run(seedOf(label, p.x, i, 0))
		if err != nil {
			return 0, 0, err
		}
		done()
		if risk > most {
			worst, most = i, risk
		}
	}
	var sum, squares float64
	for k := range repeats {
		risk, err := p.family[worst](seedOf(label, p.x, worst, k+1))
		if err != nil {
			return 0, 0, err
		}
		done()
		sum += risk
		squares += risk * risk
	}
	r := float64(repeats)
	mean = sum / r
	return mean, math.Sqrt(max(0, squares/r-mean*mean) / max(1, r-1)), nil
}

// runs is how many trials measure runs.
func (p point) runs(repeats int) int {
	if len(p.family) == 1 {
		return repeats
	}
	return len(p.family) + repeats
}

// seedOf gives every run noise of its own, the same in each run of the program.
func seedOf(label string, x float64, member, repeat int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(label))
	return h.Sum64() ^ math.Float64bits(x)*0x9e3779b97f4a7c15 ^ uint64(member)<<32 ^ uint64(repeat)
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
