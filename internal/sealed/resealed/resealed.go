// Package resealed changes sealed objects, for tests of what is refused beside a checksum that
// doesn't fit.
package resealed

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/dpglm/dpglm/internal/sealed"
)

var sum = regexp.MustCompile(`^,?"sum":"sha256:[^"]*"\}$`)

// JSON is a text whose objects that have a sum have that of what they say; what is no JSON it
// returns as it is.
func JSON(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	var out []byte
	var open []int // where objects begin
	quoted := false
	for _, c := range b.Bytes() {
		escaped := quoted && len(out) > 0 && backslashes(out)%2 == 1
		out = append(out, c)
		switch {
		case c == '"' && !escaped:
			quoted = !quoted
		case quoted:
		case c == '{':
			open = append(open, len(out)-1)
		case c == '}':
			first := open[len(open)-1]
			open = open[:len(open)-1]
			if at := bytes.LastIndex(out[first:], []byte(`"sum":"sha256:`)); at > 0 {
				if at--; out[first+at] != ',' {
					at++
				}
				if sum.Match(out[first+at:]) {
					again, err := sealed.Seal(append(bytes.Clone(out[first:first+at]), '}'))
					if err != nil {
						return text
					}
					out = append(out[:first], again...)
				}
			}
		}
	}
	return out
}

// backslashes counts those at the end.
func backslashes(of []byte) int { return len(of) - len(bytes.TrimRight(of, `\`)) }
