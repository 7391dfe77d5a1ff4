package curator

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/losses"
)

// alone is a party that holds all rows, and is asked so many times.
type alone struct {
	*questions.Party
	asked int
}

func (a *alone) Sum(ctx context.Context, question []byte) ([]uint64, error) {
	a.asked++
	return a.Answer(ctx, question)
}

// Data of parties take their labels to be classes without asking, and have them checked when a fit
// of a class is agreed to, whose gradients are those of the class against the rest.
func TestPartiesTakeAClass(t *testing.T) {
	const n, d = 50, 2
	s := threeClasses(rand.New(rand.NewPCG(31, 1)), n, d)
	path := filepath.Join(t.TempDir(), "rows")
	if err := WriteFile(ctx, path, s.x, s.y, Owners{}, nil, 0, 0); err != nil {
		t.Fatal(err)
	}
	var told []questions.Terms
	p, err := questions.OpenParty(path, func(of questions.Terms) error { told = append(told, of); return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a := &alone{Party: p}
	data, err := OpenParties(Parties{Aggregator: a, Rows: []int{n}, Bits: 64}, NewIdentity(d, sampleBound, true), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{2, 3} { // of which 2 are too few
		classes, err := data.Classes(ctx, k)
		if err != nil || a.asked != 0 || classes.Len() != n || classes.Dim() != d+1 {
			t.Fatalf("%d classes: asked %d times (%v)", k, a.asked, err)
		}
		if _, err := classes.Counts(ctx); !errors.Is(err, check.ErrConfig) || a.asked != 0 {
			t.Errorf("counts: asked %d times (%v)", a.asked, err)
		}
	}
	loss, of := losses.Logistic{}, Descent{Steps: 2, Clip: math.Inf(1), Radius: 1, Mu: 1, Classes: 3}
	for class := range 3 {
		agreed, err := data.Against(class).Agree(ctx, loss, of)
		if err != nil {
			t.Fatal(err)
		}
		var got [2][]float64
		for k, d := range []*Data{agreed, s.open(t, true).Against(class)} {
			answer, err := under(t, d, loss).Gradient(ctx, []float64{0.3, -0.2, 0.1}, math.Inf(1))
			if err != nil {
				t.Fatal(err)
			}
			got[k] = overheard(t, d.Rows(), answer, 3).Values
		}
		if !floats.EqualApprox(got[0], got[1], 1e-10) {
			t.Errorf("class %d: %v, in memory %v", class, got[0], got[1])
		}
	}
	if len(told) != 3 || told[2].Class != 2 || told[0].Classes != 3 {
		t.Errorf("told were %+v", told)
	}
	for name, c := range map[string]struct {
		d       *Data
		classes int
		want    error
	}{"too few classes": {data.Against(1), 2, check.ErrLabel}, "classes not told": {data.Against(1), 0, check.ErrConfig}, "no class": {data, 3, check.ErrConfig}, "labels as they are": {data, 0, check.ErrLabel}} {
		of.Classes = c.classes
		if _, err := c.d.Agree(ctx, loss, of); !errors.Is(err, c.want) || len(told) != 3 {
			t.Errorf("%s: told %d times (%v)", name, len(told), err)
		}
	}
	if same, err := s.open(t, true).Agree(ctx, loss, of); err != nil || same.Parties() {
		t.Errorf("rows in memory: %v", err)
	}
}
