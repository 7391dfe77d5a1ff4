package rows

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
)

// sendable are the losses that a worker knows by the names of their types, beside Extended
// ones of these.
var sendable = []losses.Loss{losses.Absolute{}, losses.CappedPoisson{}, losses.Gamma{}, losses.Hinge{}, losses.Huber{}, losses.Logistic{},
	losses.NegativeBinomial{}, losses.Poisson{}, losses.Probit{}, losses.Quantile{}, losses.SmoothedHinge{}, losses.Squared{}, losses.SquaredHinge{}}

// sentLoss is a loss as it is sent.
type sentLoss struct {
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
		return json.Marshal(sentLoss{Type: "Extended", Inner: inner, Limit: e.Limit})
	}
	for _, known := range sendable {
		if reflect.TypeOf(known) == reflect.TypeOf(l) {
			fields, err := json.Marshal(l)
			if err != nil {
				return nil, err
			}
			return json.Marshal(sentLoss{Type: reflect.TypeOf(l).Name(), Fields: fields})
		}
	}
	return nil, check.Fail(check.ErrConfig, "loss", l.Name(), "must be one that workers know: neither a Custom nor an Ordinal one, nor one with kinks under a learner that smooths these")
}

// decodeLoss reads what encodeLoss wrote.
func decodeLoss(data []byte) (losses.Loss, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var s sentLoss
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%w: loss: %w", check.ErrConfig, err)
	}
	if s.Type == "Extended" {
		inner, err := decodeLoss(s.Inner)
		return losses.Extended{Inner: inner, Limit: s.Limit}, err
	}
	for _, known := range sendable {
		if t := reflect.TypeOf(known); t.Name() == s.Type {
			l := reflect.New(t)
			err := json.Unmarshal(s.Fields, l.Interface())
			return l.Elem().Interface().(losses.Loss), err
		}
	}
	return nil, check.Fail(check.ErrConfig, "loss", s.Type, "must be one that this worker knows")
}
