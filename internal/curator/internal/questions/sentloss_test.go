package questions

import (
	"errors"
	"reflect"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
)

// A loss that is sent arrives as it was, with its parameters; one that is functions isn't sent.
func TestLossesAreSent(t *testing.T) {
	all := []losses.Loss{losses.Huber{Kappa: 0.3}, losses.Quantile{Tau: 0.9}, losses.NegativeBinomial{Dispersion: 3}, losses.CappedPoisson{Cap: 7},
		losses.Ordinal{Thresholds: []float64{-1, 0.5}}, losses.Extended{Inner: losses.Gamma{Ratio: 30}, Limit: 5}, nil}
	for _, kinked := range []losses.Loss{losses.Hinge{}, losses.Absolute{}, losses.Quantile{Tau: 0.2}} {
		smooth, ok := losses.Envelope(kinked, 0.25)
		if !ok {
			t.Fatal(kinked.Name())
		}
		all = append(all, smooth, losses.Extended{Inner: smooth, Limit: 2})
	}
	for _, l := range append(all, sendable...) {
		sent, err := encodeLoss(l)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeLoss(sent)
		if err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("%#v, want %#v (%v)", got, l, err)
		}
	}
	if _, err := encodeLoss(losses.Custom{Label: "own"}); !errors.Is(err, check.ErrConfig) {
		t.Error(err)
	}
	for _, sent := range []string{"{", `{"type":"Other"}`, `{"type":"Envelope","fields":{"Of":"Squared","Fields":{},"Width":1}}`, `{"type":"Envelope","fields":3}`, `{"type":"Extended","inner":{"type":"x"}}`,
		`{"type":"Registered","fields":"nobody has this label"}`, `{"type":"Registered","fields":3}`, `{"type":"Envelope","fields":{"Of":"Other","Width":1}}`,
		`{"type":"Envelope","fields":{"Of":"Hinge","Fields":3,"Width":1}}`, `{"type":"Huber","fields":3}`, `{"type":"Huber"}`} {
		if l, err := decodeLoss([]byte(sent)); err == nil {
			t.Errorf("%s: %v", sent, l)
		}
	}
}
