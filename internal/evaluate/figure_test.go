package evaluate

import "testing"

// What drowned isn't there, but for the rate of a class, and figures of classes have one order
// whatever was counted first.
func TestFiguresThatDrown(t *testing.T) {
	some, r := Interval{0.5, 0.4, 0.6}, &Result{}
	r.add(recall.of(1).figure(Interval{}), classRate.of(1).figure(Interval{}), classRate.of(0).figure(some))
	r.add(area.of(0).figure(some), meanArea.figure(some), accuracy.figure(some), logLoss.figure(Interval{}))
	r.arrange()
	want := []Figure{
		{"accuracy", ofRows, 0, some}, {"mean AUC", "", 0, some},
		{"rate", ofRows, 1, some}, {"AUC", "", 1, some}, {"rate", ofRows, 2, Interval{}},
	}
	if len(r.Figures) != len(want) {
		t.Fatalf("%+v", r.Figures)
	}
	for k, f := range r.Figures {
		if f != want[k] {
			t.Errorf("figure %d is %+v, want %+v", k, f, want[k])
		}
	}
}

// A point of a curve has both rates of one threshold, whichever of them is computed first.
func TestCurvesByName(t *testing.T) {
	list := []Figure{{Name: truePositive.name, Of: Interval{1, 1, 1}}, {Name: falsePositive.name}, {Name: accuracy.name}, {Name: truePositive.name}, {Name: falsePositive.name, Of: Interval{2, 2, 2}}}
	points := curve(list, falsePositive, truePositive)
	if len(points) != 2 || points[0] != (Point{Interval{}, Interval{1, 1, 1}}) || points[1] != (Point{Interval{2, 2, 2}, Interval{}}) {
		t.Errorf("%+v", points)
	}
}
