package metrics

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

func TestAccuracyTakesClassesAndScores(t *testing.T) {
	for _, c := range []struct {
		name         string
		predicted, y []float64
		want         float64
	}{
		{"classes", []float64{0, 1, 1, 0}, []float64{0, 1, 0, 0}, .75},
		{"scores and signs", []float64{-3, .1, 0, 9}, []float64{-1, 1, 1, -1}, .5},
	} {
		if got := Accuracy(c.predicted, c.y); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAUCCountsPairs(t *testing.T) {
	scores := []float64{2, 1, 1, 3, 1, 0, 2, 2, -1}
	y := []float64{1, 0, 1, 1, 0, 0, 0, 1, 1}
	var wins, pairs float64
	for i := range y {
		for j := range y {
			if y[i] == 1 && y[j] == 0 {
				pairs++
				if scores[i] > scores[j] {
					wins++
				} else if scores[i] == scores[j] {
					wins += .5
				}
			}
		}
	}
	if got, ok := AUC(scores, y); !ok || !near(got, wins/pairs) {
		t.Errorf("AUC = %v, %v, want %v", got, ok, wins/pairs)
	}
	if got, ok := AUC([]float64{5, 5, 5}, []float64{1, -1, 1}); !ok || got != .5 {
		t.Errorf("all ties: %v, %v, want .5", got, ok)
	}
	if _, ok := AUC([]float64{1, 2}, []float64{1, 1}); ok {
		t.Error("one class has no AUC")
	}
}

func TestLogLoss(t *testing.T) {
	z := math.Log(3) // probabilities ¾ and ¼
	if got, want := LogLoss([]float64{z, z}, []float64{1, 0}), (math.Log(4./3)+math.Log(4))/2; !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := LogLoss([]float64{-1000}, []float64{1}); got != 1000 {
		t.Errorf("far tail: %v, want 1000", got)
	}
}

func TestRegression(t *testing.T) {
	y := []float64{1, 2, 3, 6}
	p := []float64{1, 3, 3, 4}
	if got, want := RMSE(p, y), math.Sqrt(5./4); !near(got, want) {
		t.Errorf("RMSE %v, want %v", got, want)
	}
	if got, ok := R2(p, y); !ok || !near(got, 1-5./14) {
		t.Errorf("R² %v, %v, want %v", got, ok, 1-5./14)
	}
	if got, ok := R2([]float64{3, 3, 3, 3}, y); !ok || !near(got, 0) {
		t.Errorf("the mean has R² %v, %v, want 0", got, ok)
	}
	if _, ok := R2([]float64{1, 2}, []float64{4, 4}); ok {
		t.Error("equal labels have no R²")
	}
}

func TestDevianceExplained(t *testing.T) {
	y, p := []float64{0, 1, 3, 4}, []float64{.5, 1, 2, 5}
	left := .5 + 0 + (3*math.Log(1.5) - 1) + (4*math.Log(.8) + 1)
	whole := 2 + (math.Log(.5) + 1) + (3*math.Log(1.5) - 1) + (4*math.Log(2) - 2)
	if got, ok := DevianceExplained(p, y); !ok || !near(got, 1-left/whole) {
		t.Errorf("%v, %v, want %v", got, ok, 1-left/whole)
	}
	if got, ok := DevianceExplained([]float64{2, 2, 2, 2}, y); !ok || !near(got, 0) {
		t.Errorf("the mean explains %v, %v, want 0", got, ok)
	}
	if _, ok := DevianceExplained([]float64{1, 2}, []float64{4, 4}); ok {
		t.Error("equal counts have no deviance to explain")
	}
}
