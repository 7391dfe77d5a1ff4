package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// population is a law of rows and labels, all of them within their public ranges.
type population struct {
	title  string
	schema dpglm.Schema // without the labels' range
	draw   func(r *rand.Rand, row []float64)
	rare   bool // few ones
	steep  bool // the last column, a level, tells much
	heavy  bool // labels that scatter more than the model says
}

// effects are the coefficients of the scores that labels are drawn by.
var effects = []float64{0.5, -0.4, 0.3, -0.2, 0.1, 0, 0.25}

// populations are the seven.
func populations() []population {
	numeric := func(columns int, lo, hi float64) dpglm.Schema {
		s := dpglm.Schema{Numeric: map[string][2]float64{}, Intercept: true}
		for j := range columns {
			name := fmt.Sprintf("x%d", j+1)
			s.Columns = append(s.Columns, name)
			s.Numeric[name] = [2]float64{lo, hi}
		}
		return s
	}
	gauss := func(r *rand.Rand, row []float64) {
		common := r.NormFloat64()
		for j := range row {
			row[j] = math.Sqrt(0.8)*r.NormFloat64() + math.Sqrt(0.2)*common
		}
	}
	mixed := numeric(2, -3, 3)
	mixed.Columns = append(mixed.Columns, "b", "c", "d", "B", "C")
	mixed.OneHot = map[string][]string{"group": {"b", "c", "d"}, "other": {"B", "C"}}
	levels := numeric(3, -3, 3)
	levels.Columns = append(levels.Columns, "b", "c")
	levels.OneHot = map[string][]string{"group": {"b", "c"}}
	return []population{
		{title: "normal", schema: numeric(6, -3, 3), draw: gauss},
		{title: "one-hot", schema: mixed, draw: func(r *rand.Rand, row []float64) {
			clear(row)
			row[0], row[1] = r.NormFloat64(), r.NormFloat64()
			if k := level(r, 0.4, 0.3, 0.2, 0.1); k > 0 {
				row[1+k] = 1
			}
			if k := level(r, 0.5, 0.3, 0.2); k > 0 {
				row[4+k] = 1
			}
		}},
		{title: "skewed", schema: numeric(5, 0, 8), draw: func(r *rand.Rand, row []float64) {
			for j := range row {
				row[j] = r.ExpFloat64()
			}
		}},
		{title: "collinear", schema: numeric(5, -3, 3), draw: func(r *rand.Rand, row []float64) {
			gauss(r, row)
			row[1] = 0.99*row[0] + math.Sqrt(1-0.99*0.99)*row[1]
		}},
		{title: "5 % ones", schema: numeric(5, -3, 3), draw: gauss, rare: true},
		{title: "heavy-tailed", schema: numeric(6, -3, 3), draw: gauss, heavy: true},
		{title: "rare level", schema: levels, steep: true, draw: func(r *rand.Rand, row []float64) {
			gauss(r, row[:3])
			row[3], row[4] = 0, 0
			if k := level(r, 0.57, 0.4, 0.03); k > 0 {
				row[2+k] = 1
			}
		}},
	}
}

func (p population) name() string { return p.title }

// truth is fitted to many rows: where a loss is that of the law of labels it would be
// effects, but for clamping.
func (p population) truth(loss losses.Loss) ([]float64, error) {
	return fitted(p, loss)
}

// fitted are the coefficients of many rows.
func fitted(p source, loss losses.Loss) ([]float64, error) {
	f, err := fitExactly(p.sample(4_000_000, loss, 77), capped(loss, p))
	if err != nil {
		return nil, err
	}
	return f.coefficients, nil
}

// level draws one of several levels.
func level(r *rand.Rand, odds ...float64) int {
	u := r.Float64()
	for k, p := range odds {
		if u -= p; u < 0 {
			return k
		}
	}
	return len(odds) - 1
}

func (p population) facts(loss losses.Loss) dpglm.Facts { return p.held(loss) }

func (p population) largest() float64 { return p.held(losses.Poisson{}).LabelRange[1] }

// held are the public facts.
func (p population) held(loss losses.Loss) dpglm.Schema {
	s := p.schema
	switch loss.Labels() {
	case losses.Real:
		s.LabelRange = [2]float64{-10, 10}
		if p.rare {
			s.LabelRange = [2]float64{0, 1}
		}
	case losses.Count:
		s.LabelRange = [2]float64{0, 30}
		if p.rare {
			s.LabelRange = [2]float64{0, 5}
		}
	}
	return s
}

// sample draws rows and labels, clamped to their ranges.
func (p population) sample(n int, loss losses.Loss, seed uint64) *drawn {
	r := rand.New(mechanisms.NewSeededSource(seed))
	s := p.held(loss)
	x, y := mat.NewDense(n, len(s.Columns), nil), make([]float64, n)
	tails := distuv.StudentsT{Sigma: 1, Nu: 3, Src: r}
	for i := range n {
		row := x.RawRowView(i)
		p.draw(r, row)
		var z float64
		for j, name := range s.Columns {
			if ends, ok := s.Numeric[name]; ok {
				row[j] = math.Min(math.Max(row[j], ends[0]), ends[1])
			}
			z += effects[j] * row[j]
		}
		if p.steep {
			z += 2 * row[len(row)-1]
		}
		y[i] = p.label(r, z, loss, tails)
		if s.LabelRange != [2]float64{} {
			y[i] = math.Min(math.Max(y[i], s.LabelRange[0]), s.LabelRange[1])
		}
	}
	return &drawn{x: x, y: y}
}

// label draws one at a score.
func (p population) label(r *rand.Rand, z float64, loss losses.Loss, tails distuv.StudentsT) float64 {
	if p.heavy && loss.Labels() == losses.Binary {
		z += 0.5 * tails.Rand()
	}
	one := func(odds float64) float64 {
		if r.Float64() < odds {
			return 1
		}
		return 0
	}
	switch loss.Labels() {
	case losses.Binary:
		if p.rare {
			z -= 3.3
		}
		return one(1 / (1 + math.Exp(-z)))
	case losses.Count:
		if z *= 0.7; p.rare {
			z -= 3.1
		}
		mean := math.Exp(z)
		if p.heavy { // a negative binomial law
			mean *= r.ExpFloat64()
		}
		return distuv.Poisson{Lambda: mean, Src: r}.Rand()
	}
	switch {
	case p.rare:
		return one(0.05 + 0.02*math.Max(-2, math.Min(2, z)))
	case p.heavy:
		return z + tails.Rand()
	}
	return z + r.NormFloat64()
}
