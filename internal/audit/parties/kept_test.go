package parties_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/table/party"
)

// memory is a Keeper that outlives a party of this process.
type memory struct {
	plans     map[string][]byte
	questions map[string][]string
	begun     int
	failing   error // of all but Resume
}

func (m *memory) Begin(_ context.Context, fit string, message []byte, p party.Plan) error {
	if m.failing != nil {
		return m.failing
	}
	if p.Steps != 3 || p.Columns != 2 {
		return errors.New("another plan")
	}
	m.begun++
	m.plans[fit] = message
	return nil
}

func (m *memory) Asked(_ context.Context, fit string, number int, question string) error {
	if m.failing == nil && number != len(m.questions[fit])+1 {
		return errors.New("another number")
	}
	if m.failing == nil {
		m.questions[fit] = append(m.questions[fit], question)
	}
	return m.failing
}

func (m *memory) End(_ context.Context, fit string) error {
	delete(m.plans, fit)
	return m.failing
}

func (m *memory) Resume(_ context.Context, fit string) ([]byte, []string, error) {
	return m.plans[fit], m.questions[fit], nil
}

// A party that is opened again answers what one that stayed open does: the last message, the next one, and no
// other. Nobody is asked to agree again. What couldn't be kept isn't answered.
func TestPartiesKept(t *testing.T) {
	x, y := given.Separable(100, 2, 1)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	stays, err := party.Open(path, given.AnyPlan)
	if err != nil {
		t.Fatal(err)
	}
	defer stays.Close()
	fit := func() (list [][]byte) {
		for _, m := range messagesOf(t, []*party.Party{stays}, []int{100}, dpglm.Bounds{Feature: 1}, logistic, dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5}) {
			list = append(list, []byte(m))
		}
		return list // of a plan, the gradient at the start, and two steps
	}
	kept := &memory{plans: map[string][]byte{}, questions: map[string][]string{}}
	var p *party.Party
	agreed := 0
	reopen := func() {
		t.Helper()
		p.Close()
		if p, err = party.OpenKept(path, func(party.Plan) error { agreed++; return nil }, kept); err != nil {
			t.Fatal(err)
		}
	}
	reopen()
	defer func() { p.Close() }()
	one := fit()
	for k, m := range one {
		var want []uint64
		if k == 0 || k == len(one)-1 { // which the party that stays answers once more
			if want, err = stays.Answer(ctx, m); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			got, err := p.Answer(ctx, m)
			if err != nil || want != nil && !slices.Equal(got, want) {
				t.Fatalf("message %d: %v, want %v (%v)", k, got, want, err)
			}
			want = got
			reopen()
		}
	}
	if kept.begun != 1 || agreed != 1 {
		t.Errorf("begun %d times, agreed %d times", kept.begun, agreed)
	}
	if a, err := p.Answer(ctx, one[2]); !errors.Is(err, dpglm.ErrConfig) || len(kept.plans) != 0 {
		t.Errorf("a question before the last one: %v (%v), %d fits are kept", a, err, len(kept.plans))
	}

	two := fit()
	kept.failing = errors.New("disk full")
	if a, err := p.Answer(ctx, two[0]); !errors.Is(err, kept.failing) {
		t.Errorf("a plan that isn't kept: %v (%v)", a, err)
	}
	kept.failing = nil
	if _, err := p.Answer(ctx, two[0]); err != nil {
		t.Fatal(err)
	}
	kept.failing = errors.New("disk full")
	if a, err := p.Answer(ctx, two[1]); !errors.Is(err, kept.failing) {
		t.Errorf("a question that isn't kept: %v (%v)", a, err)
	}
	kept.failing = nil
	if _, err := p.Answer(ctx, two[1]); err != nil {
		t.Errorf("it isn't answered later: %v", err)
	}
	for name := range kept.plans { // the second one's only
		if len(kept.questions[name]) != 1 {
			t.Errorf("it was answered, and kept are %v", kept.questions[name])
		}
	}
	// A plan that isn't the one of its name goes on with nothing.
	reopen()
	for name := range kept.plans {
		kept.plans[name] = one[0]
	}
	if a, err := p.Answer(ctx, two[2]); err == nil {
		t.Errorf("another plan was kept: %v", a)
	}
	if _, err := party.OpenKept(path, given.AnyPlan, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("no keeper: %v", err)
	}
}
