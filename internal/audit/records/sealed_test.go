package records_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/mechanisms"
)

// What this library has written it reads back, indented as people like it too, and refuses where a
// byte is another one, wherever that is.
func TestWhatIsWrittenHasAChecksum(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	m, _ := given.Trained(t)
	x, y := given.Separable(400, 3, 1)
	d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 2, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	written := map[string][]byte{}
	if written["model"], err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if written["classes"], err = os.ReadFile("../../../testdata/classmodel-v1-table.json"); err != nil {
		t.Fatal(err)
	}
	found, err := dpglm.Infer(ctx, d, logistic, dpglm.GDP(1), dpglm.InferConfig{}, given.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if written["inference"], err = json.Marshal(found); err != nil {
		t.Fatal(err)
	}
	start := func() *dpglm.Predictor {
		p, err := dpglm.NewPredictor(ctx, d, logistic, dpglm.PureDP(5), dpglm.VoteConfig{Queries: 5, Parts: 3}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if written["state"], err = start().State(); err != nil {
		t.Fatal(err)
	}
	server := start()
	for name, text := range written {
		read := map[string]func(text []byte) error{
			"model":     func(text []byte) error { return new(dpglm.Model).UnmarshalJSON(text) },
			"classes":   func(text []byte) error { return new(dpglm.Model).UnmarshalJSON(text) },
			"inference": func(text []byte) error { return new(dpglm.Inference).UnmarshalJSON(text) },
			"state":     func(text []byte) error { return server.Restore(text) },
		}[name]
		var compact, wide bytes.Buffer
		if err := errors.Join(json.Compact(&compact, text), json.Indent(&wide, text, "", "\t")); err != nil {
			t.Fatal(err)
		}
		text = compact.Bytes()
		for at := range text {
			for _, mask := range []byte{1, 0x20, 0x80} {
				bad := bytes.Clone(text)
				bad[at] ^= mask
				if err := read(bad); !errors.Is(err, dpglm.ErrModel) {
					t.Fatalf("%s, byte %d, %q for %q: %v", name, at, bad[at], text[at], err)
				}
			}
		}
		if err := read(wide.Bytes()); err != nil {
			t.Errorf("%s, indented: %v", name, err)
		}
	}
	edited := bytes.Replace(written["model"], []byte(`"feature":2`), []byte(`"feature":3`), 1)
	if err := json.Unmarshal(edited, new(dpglm.Model)); err == nil || !strings.Contains(err.Error(), "sum must fit what is written") || !strings.Contains(err.Error(), "changed by hand") {
		t.Errorf("edited by hand: %v", err)
	}
}
