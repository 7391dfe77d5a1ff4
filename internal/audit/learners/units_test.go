package learners_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/mechanisms"
)

// Everything that is released of rows, or of persons, says which it is about, in its ledger
// and in its JSON, and what is about rows and about persons doesn't add up.
func TestReleasesNameTheirUnit(t *testing.T) {
	const n = 600
	x, y := given.Separable(n, 2, 3)
	persons := make([]int, n)
	for i := range persons {
		persons[i] = i / 2
	}
	b := dpglm.ApproxDP(2, 1e-6)
	ledgers := map[mechanisms.Unit][]*dpglm.Ledger{}
	for unit, details := range map[mechanisms.Unit][]dpglm.RowDetail{
		mechanisms.OneRow():    nil,
		mechanisms.OnePerson(): {dpglm.Persons{Of: persons, Count: n / 2, MaxRows: 2}},
	} {
		d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 2, Intercept: true}, details...)
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.NoisyGD(ctx, d, logistic, b, dpglm.NoisyGDConfig{Steps: 3}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		of, err := dpglm.Infer(ctx, d, logistic, b, dpglm.InferConfig{}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		e, err := dpglm.Evaluate(ctx, d, m, b, dpglm.EvaluateConfig{}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		p, err := dpglm.NewPredictor(ctx, d, logistic, b, dpglm.VoteConfig{Queries: 4}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Answer(ctx, []float64{1, 1}); err != nil {
			t.Fatal(err)
		}
		state, err := p.State()
		if err != nil {
			t.Fatal(err)
		}
		name, err := json.Marshal(unit)
		if err != nil {
			t.Fatal(err)
		}
		for what, v := range map[string]any{"model": m, "inference": of, "evaluation": e, "predictor": json.RawMessage(state), "plan": p.Planned()} {
			text, err := json.Marshal(v)
			if err != nil || !bytes.Contains(text, append([]byte(`"unit":`), name...)) {
				t.Errorf("%v: the %s is stored as %s (%v)", unit, what, text, err)
			}
		}
		for _, l := range []*dpglm.Ledger{m.Ledger(), of.Model().Ledger(), e.Ledger, p.Planned()} {
			if l.Unit() != unit || !strings.Contains(l.String(), "unit: one "+string(unit.Of)) {
				t.Errorf("%v: a ledger of\n%v", unit, l)
			}
			ledgers[unit] = append(ledgers[unit], l)
		}
		if s := of.String(); !strings.Contains(s, unit.String()) {
			t.Errorf("%v: prints as\n%s", unit, s)
		}
	}
	for _, a := range ledgers[mechanisms.OneRow()] {
		for _, b := range ledgers[mechanisms.OnePerson()] {
			if l, err := mechanisms.Sequential("both", a, b); !errors.Is(err, dpglm.ErrConfig) {
				t.Errorf("add up to %v (%v)", l, err)
			}
		}
	}
}
