package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// insurance is a sample of motor policies: claims in what part of a year each was in force.
// Of those without a claim one in two is in it, and counts twice.
type insurance struct{}

// The rate of claims a year is the exponential of rated, with the constant rateConstant:
// per year of the driver's age, kW of the car's power, year of the car's age and point of
// the bonus, and for the areas against the countryside.
var rated = []float64{-0.008, 0.004, -0.02, 0.012, 0.1, 0.25, 0.45}

const rateConstant = -2.6

// leastExposed is the part of a year to which shorter ones are held.
const leastExposed = 0.05

func (insurance) name() string { return "insurance" }

func (insurance) facts(losses.Loss) dpglm.Facts { return motor() }

func (insurance) largest() float64 { return motor().LabelRange[1] }

// motor are the public facts.
func motor() dpglm.Schema {
	return dpglm.Schema{
		Columns: []string{"driver's age", "power", "car's age", "bonus", "area=suburb", "area=town", "area=city"},
		Numeric: map[string][2]float64{
			"driver's age": {18, 90}, "power": {30, 200}, "car's age": {0, 25}, "bonus": {50, 150},
		},
		OneHot:     map[string][]string{"area": {"area=suburb", "area=town", "area=city"}},
		LabelRange: [2]float64{0, 6},
		Intercept:  true,
	}
}

// truth is rated and rateConstant, but for what clamping does to it.
func (p insurance) truth(loss losses.Loss) ([]float64, error) { return fitted(p, loss) }

// sample draws policies until n are in the sample.
func (insurance) sample(n int, _ losses.Loss, seed uint64) *drawn {
	r := rand.New(mechanisms.NewSeededSource(seed))
	facts := motor()
	s := &drawn{
		x: mat.NewDense(n, len(rated), nil), y: make([]float64, n),
		offsets: &dpglm.Offsets{Of: make([]float64, n), Range: [2]float64{math.Log(leastExposed), 0}},
		weights: &dpglm.Weights{Of: make([]float64, n), Max: 2},
	}
	for i := 0; i < n; {
		row := s.x.RawRowView(i)
		policy(r, row)
		exposed := exposure(r, row[2])
		claims := distuv.Poisson{Lambda: exposed * rate(row), Src: r}.Rand()
		weight := 1.0
		if claims == 0 {
			if r.IntN(2) == 0 {
				continue
			}
			weight = 2
		}
		for j, name := range facts.Columns {
			if ends, ok := facts.Numeric[name]; ok {
				row[j] = math.Min(math.Max(row[j], ends[0]), ends[1])
			}
		}
		s.y[i] = math.Min(claims, facts.LabelRange[1])
		s.offsets.Of[i] = math.Log(math.Max(exposed, leastExposed))
		s.weights.Of[i] = weight
		i++
	}
	return s
}

// policy draws a row: drivers of all ages, cars of which few are powerful or old, and a
// bonus of 50, the best, or more.
func policy(r *rand.Rand, row []float64) {
	clear(row)
	row[0] = 18 + distuv.Gamma{Alpha: 4, Beta: 0.14, Src: r}.Rand()
	row[1] = 75 * math.Exp(0.35*r.NormFloat64())
	row[2] = 7 * r.ExpFloat64()
	row[3] = 50
	if r.Float64() < 0.5 {
		row[3] += 18 * r.ExpFloat64()
	}
	if k := level(r, 0.4, 0.3, 0.2, 0.1); k > 0 {
		row[3+k] = 1
	}
}

// exposure is the part of a year that a policy was in force: all of it for most cars that
// are older than four years, and any for most others, which were bought in the year.
func exposure(r *rand.Rand, age float64) float64 {
	whole := 0.3
	if age > 4 {
		whole = 0.85
	}
	if r.Float64() < whole {
		return 1
	}
	return 1 - r.Float64()
}

// rate is the expected number of claims a year.
func rate(row []float64) float64 {
	z := rateConstant
	for j, v := range row {
		z += rated[j] * v
	}
	return math.Exp(z)
}
