package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// Plans warn of methods that can't come to the labels' scale within the radius, or by steps that
// suit it, and of no others; nor where labels are small counts or classes.
func TestUnreachedLabels(t *testing.T) {
	const costs, money, often = `"kind": "numeric", "range": [0, 30000]`, `"kind": "numeric", "range": [0, 30]`, `"kind": "count", "cap": 1000`
	for _, c := range []struct {
		label string
		args  string
		says  string // "" for nothing
	}{
		{costs, "-loss gamma -method noisygd", "begins at means of 1: by radius 5.654, and steps that suit it, the intercept comes to 0.00046 even without noise, a mean of 1; labels reach 30000 by the schema, and means of a tenth of that take an intercept of 8. What helps: -method auto, which has no radius, or labels in a larger unit"},
		{costs, "-loss gamma -method noisygd -radius 9", "by radius 9,"},
		{costs, "-loss gamma -method outputpert", "-method outputpert begins"},
		{costs, "-loss gamma -method jl", "-method jl begins"},
		{costs, "-loss gamma -method boost", "-method boost begins"},
		{costs, "-loss gamma -method gridsearch", "-method gridsearch begins"},
		{costs, "-loss gamma -method objpert", ""},
		{costs, "-loss gamma -method frankwolfe", ""},
		{costs, "-loss gamma", ""},
		{costs, "-method noisygd", ""},
		{money, "-loss gamma -method noisygd", ""},
		{often, "-method noisygd -radius 2", "the intercept comes to 2 even without noise, a mean of 7.39; labels reach 1000 by the schema, and means of a tenth of that take an intercept of 4.6. What helps: -method auto, which has no radius, or a cap that is smaller"},
		{`"kind": "count", "cap": 100`, "-method noisygd", ""},
		{visits, "-method noisygd", ""},
		{visits, "-method outputpert -loss negbinomial", ""},
		{`"kind": "count", "cap": 1`, "-method noisygd", ""},
		{rich, "-method noisygd", ""},
		{`"kind": "categorical", "levels": ["a", "b", "c"], "ordered": true, "shares": [50, 30, 20]`, "-method noisygd -loss ordinal", ""},
	} {
		_, said := csvfit(t, append([]string{"plan", "-schema", schema(t, "pay", c.label), "-rows", "20000", "-epsilon", "1"}, strings.Fields(c.args)...)...)
		if strings.Contains(said, "begins at means of 1") != (c.says != "") || !strings.Contains(said, c.says) {
			t.Errorf("%s, %s: %q", c.label, c.args, said)
		}
	}
}

// A fit says so, too, also in JSON.
func TestFitsWarnOfUnreachedLabels(t *testing.T) {
	args := []string{"fit", "-data", people(t, 300), "-schema", schema(t, "pay", `"kind": "numeric", "range": [0, 30000]`), "-epsilon", "1", "-loss", "gamma", "-method", "noisygd", "-o", filepath.Join(t.TempDir(), "m.json"), "-json"}
	out, said := csvfit(t, args...)
	var fitted struct{ Warnings []string }
	if err := json.Unmarshal([]byte(out), &fitted); err != nil || !strings.Contains(strings.Join(fitted.Warnings, " "), "begins at means of 1") || !strings.Contains(said, "begins at means of 1") {
		t.Errorf("%v: %s\n%s", err, out, said)
	}
}
