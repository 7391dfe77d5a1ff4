package losses_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
)

func ownSquared(label string) losses.Custom {
	return losses.Custom{Label: label, Domain: losses.Real, Phi: losses.Squared{}.Value, DPhi: losses.Squared{}.Deriv, Smoothness: 1, AtZero: func(b float64) float64 { return b * b / 2 }}
}

// A registered loss is found by its label, and is the same loss; nobody else gets its label.
func TestRegister(t *testing.T) {
	l, err := losses.Register(ownSquared("register test"))
	if err != nil {
		t.Fatal(err)
	}
	found, ok := losses.Registered("register test")
	if label, of := losses.LabelOf(l); !ok || !of || label != "register test" || found.Name() != label {
		t.Errorf("%v, %v, %s", found, ok, label)
	}
	want := ownSquared("register test")
	for _, z := range []float64{-2, 0, 1.5} {
		if found.Value(z, 1) != want.Value(z, 1) || found.Deriv(z, 1) != want.Deriv(z, 1) || found.Constants(2, 1) != want.Constants(2, 1) || found.Diameter(2, 1) != want.Diameter(2, 1) || found.Labels() != losses.Real {
			t.Errorf("at %g it is another loss", z)
		}
	}
	if err := losses.Validate(found, 1, 1); err != nil {
		t.Error(err)
	}
	if _, err := losses.Register(ownSquared("register test")); !errors.Is(err, check.ErrConfig) {
		t.Errorf("twice: %v", err)
	}
	if _, err := losses.Register(losses.Custom{Label: "incomplete"}); !errors.Is(err, check.ErrConfig) {
		t.Errorf("incomplete: %v", err)
	}
	for _, l := range []losses.Loss{ownSquared("another"), losses.Squared{}} {
		if label, ok := losses.LabelOf(l); ok {
			t.Errorf("%v has the label %s", l, label)
		}
	}
	if l, ok := losses.Registered("another"); ok {
		t.Errorf("%v is registered", l)
	}
	var group sync.WaitGroup // one of many at the same time gets the label
	got := make(chan bool, 20)
	for range 20 {
		group.Add(1)
		go func() {
			defer group.Done()
			_, err := losses.Register(ownSquared("contended"))
			got <- err == nil
		}()
	}
	group.Wait()
	close(got)
	n := 0
	for ok := range got {
		if ok {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d got the label", n)
	}
}
