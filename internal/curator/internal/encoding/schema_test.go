package encoding

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// A schema's error names the column and the rule.
func TestSchemaErrors(t *testing.T) {
	type ranges = map[string][2]float64
	type groups = map[string][]string
	inf, nan, ab := math.Inf(1), math.NaN(), []string{"a", "b"}
	ok := ranges{"a": {0, 1}, "b": {0, 1}}
	for name, c := range map[string]struct {
		Names   []string
		numeric ranges
		groups  groups
		want    error
		says    string
	}{
		"good":               {ab, ok, nil, nil, ""},
		"listed twice":       {[]string{"a", "b", "a"}, ok, nil, check.ErrSchema, `"a" must be listed once`},
		"no name":            {[]string{"a", ""}, ranges{"a": {0, 1}, "": {0, 1}}, nil, check.ErrSchema, "name of column 2 (counted from 1) must not be empty"},
		"unknown range":      {ab, ranges{"a": {0, 1}, "b": {0, 1}, "c": {0, 1}}, nil, check.ErrSchema, `"c" is unknown`},
		"unknown level":      {ab, ranges{"a": {0, 1}}, groups{"g": {"b", "c"}}, check.ErrSchema, `"c" is unknown`},
		"undescribed":        {ab, ranges{"a": {0, 1}}, nil, check.ErrSchema, `"b" must have a numeric range`},
		"range and group":    {ab, ok, groups{"g": {"b"}}, check.ErrSchema, `"b" must be described once`},
		"twice in a group":   {ab, ranges{"a": {0, 1}}, groups{"g": {"b", "b"}}, check.ErrSchema, `"b" must be described once`},
		"in two groups":      {ab, ranges{"a": {0, 1}}, groups{"g": {"b"}, "h": {"b"}}, check.ErrSchema, `"b" must be described once`},
		"empty group":        {ab, ok, groups{"g": nil}, check.ErrSchema, `"g" must have at least one column`},
		"group without name": {ab, ranges{"a": {0, 1}}, groups{"": {"b"}}, check.ErrSchema, "name of a one-hot group must not be empty"},
		"NaN":                {ab, ranges{"a": {0, 1}, "b": {nan, 1}}, nil, check.ErrBound, `range of "b"`},
		"NaN above":          {ab, ranges{"a": {0, 1}, "b": {0, nan}}, nil, check.ErrBound, `range of "b"`},
		"endless":            {ab, ranges{"a": {0, inf}, "b": {0, 1}}, nil, check.ErrBound, `range of "a"`},
		"endless below":      {ab, ranges{"a": {-inf, 0}, "b": {0, 1}}, nil, check.ErrBound, `range of "a"`},
		"reversed":           {ab, ranges{"a": {2, 1}, "b": {0, 1}}, nil, check.ErrBound, `range of "a" = [2 1] must be two finite numbers, min < max, at least 1e-60 apart and at most 1e+60 in magnitude`},
		"one point":          {ab, ranges{"a": {1, 1}, "b": {0, 1}}, nil, check.ErrBound, `range of "a"`},
		"huge":               {ab, ranges{"a": {0, 1}, "b": {0, 1e61}}, nil, check.ErrBound, `range of "b"`},
		"tiny":               {ab, ranges{"a": {0, 1}, "b": {0, 1e-61}}, nil, check.ErrBound, `range of "b"`},
		"largest":            {ab, ranges{"a": {0, 1}, "b": {-1e60, 1e60}}, nil, nil, ""},
		"smallest":           {ab, ranges{"a": {0, 1}, "b": {0, 1e-60}}, nil, nil, ""},
		"far and narrow":     {ab, ranges{"a": {0, 1}, "b": {1e9, 1e9 + 1}}, nil, check.ErrSchema, `range of "b" = [1e+09 1.000000001e+09] `},
		"the farther one":    {ab, ranges{"a": {-1e9 - 1, -1e9}, "b": {1e7, 1e7 + 1}}, nil, check.ErrSchema, `range of "a" = [-1.000000001e+09 -1e+09] `},
	} {
		_, err := NewSchema(c.Names, c.numeric, c.groups, false)
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
