package page

import (
	"bytes"
	"encoding/json"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
)

// The box at the top has all that is void, withheld or doubtful, and isn't there where nothing is.
func TestMarksComeFirst(t *testing.T) {
	little := contentOf(t, 40, "classes", true)
	little.Origin.Warnings = []string{"labels lie far apart"}
	for name, c := range map[string]struct {
		Content
		want []string
	}{
		"too few rows":  {little, []string{"Void. The noise came from a seed", "Note: labels lie far apart.", little.Inference.Note(), "Intervals are withheld", "<script>", little.Evaluation.Withheld()[0] + "."}},
		"few levels":    {classesOf(t, 30), []string{"Void.", "Constant model.", "as noise hides some of each of these classes."}},
		"enough levels": {ordinalOf(t, 3000), []string{"Void."}},
	} {
		page, _ := written(t, c.Content)
		header := page.all("header")[0]
		for _, want := range c.want {
			if !strings.Contains(header.text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, header.text)
			}
		}
	}
	c := contentOf(t, 4000, "numbers", false)
	c.Evaluation = nil
	text, err := json.Marshal(c.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	own := new(mechanisms.Ledger)
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), `"caller_noise":true,`, "")), own); err != nil {
		t.Fatal(err)
	}
	c.Ledger = own
	if marks := c.Review().Marks; marks != nil {
		t.Errorf("nothing is withheld, and the page says %q", marks)
	}
	if page, _ := written(t, c); strings.Contains(page.all("header")[0].text, "Before you read on") {
		t.Error("an empty box")
	}
}

// Intervals are named by what is wrong with them, the first of many.
func TestDoubtfulIntervals(t *testing.T) {
	var all []dpglm.Coefficient
	for _, name := range strings.Split("abcdefghij", "") {
		all = append(all, dpglm.Coefficient{Name: name, StandardError: math.Inf(1)})
	}
	all = append(all, dpglm.Coefficient{Name: "k", Mark: "is odd"}, dpglm.Coefficient{Name: "l"}, dpglm.Coefficient{Name: "m", Mark: "is odd"})
	want := []string{
		"Intervals are withheld, as nothing is known under this noise, of 10 of 13 coefficients: a, b, c, d, e, f, g, h and 2 more.",
		"Intervals of k, m are doubtful: each is odd.",
	}
	if got := doubtful(all); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Who meets a check follows from the ledger, and from what the program was told.
func TestChecksFollowTheFacts(t *testing.T) {
	by := func(c Content, name string) By {
		for _, check := range c.checks() {
			if check.Name == name {
				return check.By
			}
		}
		t.Fatalf("no check of %s", name)
		return ""
	}
	c := contentOf(t, 400, "numbers", false)
	told := c
	told.Origin.Account, told.Origin.Looked, told.Evaluation = &Account{}, true, nil
	l, err := mechanisms.Gaussian{Mu: 0.4}.Ledger("g", 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	told.Ledger = l.WithClaim(mechanisms.Claim{Rows: 100, Epsilon: 2, Delta: 0.1})
	for name, want := range map[string][2]By{
		"randomness":             {ByNobody, ByLibrary},
		"composition":            {ByCurator, ByLibrary},
		"choices by the analyst": {ByCurator, ByNobody},
		"δ":                      {ByCurator, ByNobody},
		"accuracy":               {ByLibrary, ByNobody},
		"bias":                   {ByNobody, ByNobody},
	} {
		if got := [2]By{by(c, name), by(told, name)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if text := Protects(l.WithClaim(mechanisms.Claim{Group: 3})); !strings.Contains(text, "any 3 together") {
		t.Errorf("a group is %q", text)
	}
}

// A page is read back as it was written, whatever names it has, and twice the same fact is refused.
func TestPagesAreReadBack(t *testing.T) {
	c := contentOf(t, 400, "classes", true)
	c.Origin = Origin{Date: "2026-03-04", Commit: "abc", Schema: "12", Command: "34", Account: &Account{Total: "t", Left: "l", Entry: "e"}}
	c.Data = hostile[0]
	_, text := written(t, c)
	facts, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"date": "2026-03-04", "commit": "abc", "schema": "12", "command": "34", "total": "t", "left": "l", "entry": "e", "data": hostile[0], "protects": Protects(c.Ledger)} {
		if facts[name] != want {
			t.Errorf("%s is %q, want %q", name, facts[name], want)
		}
	}
	ledger, err := json.Marshal(c.Ledger)
	if err != nil || facts["ledger"] != string(ledger) {
		t.Errorf("the ledger is %s (%v)", facts["ledger"], err)
	}
	if _, err := Read(strings.NewReader(strings.Replace(text, `data-fact="commit"`, `data-fact="date"`, 1))); err == nil {
		t.Error("two dates are read")
	}
	var entry bytes.Buffer
	if err := WriteEntry(&entry, c); err != nil || !json.Valid(entry.Bytes()) {
		t.Errorf("%v: %s", err, &entry)
	}
}

// What isn't known of how a program was built is said to be unknown.
func TestBuilt(t *testing.T) {
	for _, c := range []struct {
		info            *debug.BuildInfo
		program, commit string
	}{
		{nil, unknown, unknown},
		{&debug.BuildInfo{}, unknown, unknown},
		{&debug.BuildInfo{Main: debug.Module{Version: "v1"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "a"}, {Key: "vcs.modified", Value: "false"}}}, "v1", "a"},
		{&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "a"}, {Key: "vcs.modified", Value: "true"}}}, unknown, "a, changed"},
	} {
		var o Origin
		if o.Built(c.info, c.info != nil); o.Program != c.program || o.Commit != c.commit || o.Library == "" {
			t.Errorf("%+v: %+v", c.info, o)
		}
	}
}
