package table

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpglm/dpglm/internal/check"
)

// A model's score is the same by weights and features as by coefficients and values in
// the columns' own units, which are multiplied out here by their names.
func TestUnits(t *testing.T) {
	e := encoder(t, hospital)
	features := e.Features()
	r := rand.New(rand.NewPCG(3, 4))
	weights := make([]float64, len(features))
	for i := range weights {
		weights[i] = r.NormFloat64()
	}
	coefficients, intercept, err := e.Units(weights, .7)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, len(features))
	for range 1000 {
		record := draw(r)
		if err := e.Encode(x, record); err != nil {
			t.Fatal(err)
		}
		score, want := .7, intercept
		for i, f := range features {
			score += weights[i] * x[i]
			want += coefficients[i] * original(f, x[i], record)
		}
		if math.Abs(score-want) > 1e-10 {
			t.Fatalf("%v: %g by the weights, %g by the coefficients", record, score, want)
		}
	}
	if _, _, err := e.Units(weights[1:], 0); !errors.Is(err, check.ErrShape) {
		t.Error(err)
	}
}

// original is the value of a feature before numbers were mapped to [−1, 1]; that of a
// spline is its own, x.
func original(f Feature, x float64, record map[string]string) float64 {
	if strings.HasPrefix(f.Name, "bs(") {
		return x
	}
	v := 1.
	for i, column := range f.Columns {
		text := record[column]
		n, err := strconv.ParseFloat(text, 64)
		switch column {
		case "age":
			v *= min(max(n, 20), 100)
		case "income":
			if f.Levels[i] == "missing" {
				v *= indicator(err != nil)
			} else if err != nil {
				v *= math.Log(10000) / 2
			} else {
				v *= math.Log(min(max(n, 1), 10000))
			}
		case "bmi":
			return x
		case "admitted":
			day, _ := time.Parse(isoDay, text)
			v *= min(max(day.Sub(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)).Hours()/24, 0), 365)
		default:
			level := map[string]string{"": "missing", "else": "other"}[text]
			v *= indicator(f.Levels[i] == level || f.Levels[i] == text)
		}
	}
	if strings.HasSuffix(f.Name, "^2") {
		v *= v
	}
	return v
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
