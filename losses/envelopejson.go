package losses

import (
	"encoding/json"
	"reflect"
)

// MarshalJSON writes which loss is smoothed, by the name of its type, and how: with [Envelope]
// another process makes the same.
func (l envelope) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Of     string
		Fields Loss
		Width  float64
	}{reflect.TypeOf(l.inner).Name(), l.inner, l.width})
}
