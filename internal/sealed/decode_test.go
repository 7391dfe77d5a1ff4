package sealed

import "testing"

func TestDecode(t *testing.T) {
	type object struct {
		A int            `json:"a"`
		B []object       `json:"b"`
		C map[string]int `json:"c"`
	}
	for text, ok := range map[string]bool{
		`{}`: true, `{"a":1,"b":[{"a":1},{"a":1}],"c":{"a":2,"b":3}}`: true, ` {"b":[], "a":1} `: true,
		`{"a":1,"a":1}`: false, `{"b":[{"a":1,"a":2}]}`: false, `{"c":{"x":1,"x":1}}`: false, `{"a":1,"b":[],"a":1}`: false,
		`{"d":1}`: false, `{"b":[{"d":1}]}`: false, `{"a":"1"}`: false, `{"a":1`: false, ``: false, `{} x`: false,
	} {
		if err := Decode([]byte(text), new(object)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
