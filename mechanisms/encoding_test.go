package mechanisms

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

func TestEveryKindSurvivesJSON(t *testing.T) {
	l := built(t)(Sequential("all",
		built(t)(Parallel("stages", leaf(t, 0.3, 4), built(t)(epsilonLedger(KindPure, "choice", 0.5, 1)), built(t)(Laplace{0.4}.Ledger("means", 2)))),
		built(t)(epsilonLedger(KindBoundedRange, "votes", 0.1, 20)), leaf(t, 0.1, 3)))
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var back Ledger
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.String() != l.String() || deltaOf(t, &back, 1) != deltaOf(t, l, 1) {
		t.Errorf("round trip gives\n%v\nwant\n%v", &back, l)
	}
	again, err := json.Marshal(&back)
	if err != nil || string(again) != string(data) {
		t.Errorf("encodes as %s, then as %s (%v)", data, again, err)
	}
	for _, want := range []string{"choice: 1 × 0.5-DP", "means: 2 × Laplace, 0.4-DP", "votes: 20 × bounded range 0.1", "stages: parallel\n"} {
		if !strings.Contains(l.String(), want) {
			t.Errorf("%q is not in\n%v", want, l)
		}
	}
}

func TestLeavesRefuseNonsense(t *testing.T) {
	for _, s := range []string{
		`{"version":1,"kind":"pure"}`, `{"version":1,"kind":"pure","epsilon":1}`, `{"version":1,"kind":"pure","epsilon":-1,"releases":1}`,
		`{"version":1,"kind":"pure","epsilon":1,"releases":-1}`, `{"version":1,"kind":"pure","epsilon":1e200,"releases":1}`,
		`{"version":1,"kind":"pure","epsilon":1,"releases":9000000000000000000}`, `{"version":1,"kind":"pure","epsilon":1,"releases":1,"mu":1}`,
		`{"version":1,"kind":"pure","epsilon":1,"releases":1,"dim":1}`, `{"version":1,"kind":"laplace","epsilon":1,"releases":1,"mu":1}`, `{"version":1,"kind":"laplace","releases":1}`, `{"version":1,"kind":"bounded-range","epsilon":0,"releases":1}`,
		`{"version":1,"kind":"pure","epsilon":1,"releases":1,"parts":[{"kind":"pure","epsilon":1,"releases":1}]}`,
		`{"version":1,"kind":"gaussian","mu":1,"epsilon":1,"releases":1,"dim":1}`,
		`{"version":1,"kind":"sequential","epsilon":1,"parts":[{"kind":"pure","epsilon":1,"releases":1}]}`,
		`{"version":1,"kind":"parallel","parts":[{"kind":"pure","epsilon":1,"releases":1},{}]}`,
	} {
		var l Ledger
		if err := json.Unmarshal([]byte(s), &l); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s gives %v", s, err)
		}
		if _, err := l.Delta(1); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s leaves a ledger whose δ is %v", s, err)
		}
	}
	if _, err := epsilonLedger(KindPure, "", 0, 1); !errors.Is(err, check.ErrBudget) {
		t.Errorf("ε = 0 gives %v", err)
	}
	if _, err := epsilonLedger(KindBoundedRange, "", 1, 0); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no releases give %v", err)
	}
}

// Hostile trees are refused or answered.
func TestHostileTrees(t *testing.T) {
	deep := `{"version":1,"kind":"sequential","parts":[` + strings.Repeat(`{"kind":"sequential","parts":[`, 2000) + `{"kind":"pure","epsilon":1,"releases":1}` + strings.Repeat(`]}`, 2001)
	wide := `{"version":1,"kind":"sequential","parts":[` + strings.Repeat(`{"kind":"pure","epsilon":1,"releases":1},`, 1<<17) + `{"kind":"pure","epsilon":1,"releases":1}]}`
	var many strings.Builder
	many.WriteString(`{"version":1,"kind":"sequential","parts":[`)
	for i := range 3000 {
		b, err := json.Marshal(map[string]any{"kind": "bounded-range", "epsilon": 1e-3 * float64(i+1), "releases": 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		many.Write(b)
		many.WriteByte(',')
	}
	many.WriteString(`{"kind":"pure","epsilon":1,"releases":1}]}`)
	var l Ledger
	for _, s := range []string{deep, wide} {
		if err := json.Unmarshal([]byte(s), &l); !errors.Is(err, check.ErrModel) {
			t.Errorf("a huge tree gives %v", err)
		}
	}
	if err := json.Unmarshal([]byte(many.String()), &l); err != nil {
		t.Fatal(err)
	}
	if d := deltaOf(t, &l, 1); d != 1 {
		t.Errorf("three thousand kinds of releases have δ = %g", d)
	}
	// A tree whose nodes are shared grows without using memory.
	node := leaf(t, 1e-3, 1)
	var err error
	for range 40 {
		if node, err = Sequential("", node, node); err != nil {
			break
		}
	}
	if !errors.Is(err, check.ErrModel) {
		t.Errorf("a tree of 2^40 nodes gives %v", err)
	}
}
