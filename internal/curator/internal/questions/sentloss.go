package questions

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
)

// sendable are the losses that a worker knows by the names of their types, beside Extended
// ones of these, and those that are registered.
var sendable = []losses.Loss{losses.Absolute{}, losses.CappedPoisson{}, losses.Gamma{}, losses.Hinge{}, losses.Huber{}, losses.Logistic{},
	losses.NegativeBinomial{}, losses.Ordinal{}, losses.Poisson{}, losses.Probit{}, losses.Quantile{}, losses.SmoothedHinge{}, losses.Squared{}, losses.SquaredHinge{}}

// enveloped is of the type of losses whose kinks are smoothed.
var enveloped, _ = losses.Envelope(losses.Hinge{}, 1)

// lossJSON is a loss as it is sent.
type lossJSON struct {
	Type   string          `json:"type"`
	Fields json.RawMessage `json:"fields,omitempty"`
	Inner  json.RawMessage `json:"inner,omitempty"` // of an Extended one
	Limit  float64         `json:"limit,omitempty"`
}

// encodeLoss returns a loss in a form that decodeLoss reads in another process, nil for nil.
func encodeLoss(l losses.Loss) ([]byte, error) {
	if l == nil {
		return nil, nil
	}
	if e, ok := l.(losses.Extended); ok {
		inner, err := encodeLoss(e.Inner)
		if err != nil {
			return nil, err
		}
		return json.Marshal(lossJSON{Type: "Extended", Inner: inner, Limit: e.Limit})
	}
	if reflect.TypeOf(l) == reflect.TypeOf(enveloped) {
		fields, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		return json.Marshal(lossJSON{Type: "Envelope", Fields: fields})
	}
	if label, ok := losses.LabelOf(l); ok {
		fields, err := json.Marshal(label)
		if err != nil {
			return nil, err
		}
		return json.Marshal(lossJSON{Type: "Registered", Fields: fields})
	}
	for _, known := range sendable {
		if reflect.TypeOf(known) == reflect.TypeOf(l) {
			fields, err := json.Marshal(l)
			if err != nil {
				return nil, err
			}
			return json.Marshal(lossJSON{Type: reflect.TypeOf(l).Name(), Fields: fields})
		}
	}
	return nil, check.Fail(check.ErrConfig, "loss", l.Name(), "must be one that workers know, and a Custom one registered by losses.Register")
}

// decodeLoss reads what encodeLoss wrote.
func decodeLoss(data []byte) (losses.Loss, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var s lossJSON
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%w: loss: %w", check.ErrConfig, err)
	}
	switch s.Type {
	case "Extended":
		inner, err := decodeLoss(s.Inner)
		return losses.Extended{Inner: inner, Limit: s.Limit}, err
	case "Envelope":
		return decodeEnvelope(s.Fields)
	case "Registered":
		return registered(s.Fields)
	}
	return known(s.Type, s.Fields)
}

// registered is the loss that this process has registered with a label.
func registered(data []byte) (losses.Loss, error) {
	var label string
	if err := json.Unmarshal(data, &label); err != nil {
		return nil, fmt.Errorf("%w: loss: %w", check.ErrConfig, err)
	}
	l, ok := losses.Registered(label)
	if !ok {
		return nil, check.Fail(check.ErrConfig, "loss", label, "must be registered by losses.Register where the rows are, too")
	}
	return l, nil
}

// decodeEnvelope reads what losses' envelopes write.
func decodeEnvelope(data []byte) (losses.Loss, error) {
	var e struct {
		Of     string
		Fields json.RawMessage
		Width  float64
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("%w: loss: %w", check.ErrConfig, err)
	}
	inner, err := known(e.Of, e.Fields)
	if err != nil {
		return nil, err
	}
	l, ok := losses.Envelope(inner, e.Width)
	if !ok {
		return nil, check.Fail(check.ErrConfig, "loss", e.Of, "must be one that is smoothed")
	}
	return l, nil
}

// known is the loss of a type that is sent by its name.
func known(name string, fields []byte) (losses.Loss, error) {
	for _, known := range sendable {
		if t := reflect.TypeOf(known); t.Name() == name {
			l := reflect.New(t)
			err := json.Unmarshal(fields, l.Interface())
			return l.Elem().Interface().(losses.Loss), err
		}
	}
	return nil, check.Fail(check.ErrConfig, "loss", name, "must be one that this worker knows")
}
