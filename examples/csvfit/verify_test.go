package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/mechanisms"
)

var blanks = regexp.MustCompile(` +`)

// verified is what verify prints, with one blank for several, and its error.
func verified(args ...string) (string, error) {
	var out bytes.Buffer
	err := run(context.Background(), append([]string{"verify"}, args...), &out, io.Discard)
	return blanks.ReplaceAllString(out.String(), " "), err
}

// edit changes what matches in a text, which must.
func edit(t *testing.T, text, matches, by string) string {
	t.Helper()
	changed := regexp.MustCompile(matches).ReplaceAllString(text, by)
	if changed == text {
		t.Fatalf("there is no %s in %s", matches, text)
	}
	return changed
}

// forged writes a model that was changed, with the checksum that it had or a new one. Within an
// inference the model has its own.
func forged(t *testing.T, path string, again bool, change func(object string) string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const inner = `"model":{"format"`
	object, err := sealed.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	whole := change(string(object))
	if at := strings.Index(whole, inner) + len(`"model":`); again && strings.Contains(whole, inner) {
		model, _, _ := strings.Cut(whole[at:], `,"sum":`)
		anew, err := sealed.Seal([]byte(model + "}"))
		if err != nil {
			t.Fatal(err)
		}
		whole = whole[:at] + string(anew) + "}"
	}
	anew, err := sealed.Seal([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if !again {
		old := regexp.MustCompile(`[0-9a-f]{64}"\s*}\s*$`).Find(text)
		anew = append(anew[:len(anew)-sha256.Size*2-2], old...)
	}
	return writeRaw(t, "forged.json", anew)
}

// Models of all units and methods are what they state, and it is said what can't be seen.
func TestVerifiesModels(t *testing.T) {
	data, dir := people(t, 600), t.TempDir()
	private := write(t, "private.json", strings.Replace(read(t, schema(t, "rich", rich)), `"label": "rich"`, `"label": "rich", "private": ["rich"]`, 1))
	secret := write(t, "secret.json", strings.Replace(read(t, schema(t, "rich", rich)), `"label": "rich"`, `"label": "rich", "at_most": 900`, 1))
	towns := write(t, "towns.json", `{"version": 1, "label": "town", "columns": [{"name": "age", "kind": "numeric", "range": [20, 69]},
		{"name": "town", "kind": "categorical", "levels": ["york", "hull", "leeds"]}]}`)
	for i, c := range []struct {
		facts string
		args  []string
		says  []string
	}{
		{schema(t, "rich", rich), nil, []string{"one row (replace-one)", "600, 1", "that it is 600", "no other source is stated", "the file doesn't say"}},
		{schema(t, "rich", rich), []string{"-method", "infer", "-evaluate", "0.3"}, []string{"intervals right", "budget of the intervals right", "420, 1"}},
		{schema(t, "rich", rich), []string{"-method", "boost", "-group", "2", "-delta", "1e-4"}, []string{"-DP for groups of 2", "no more than 2 belong together"}},
		{schema(t, "rich", rich), []string{"-method", "objpert"}, []string{"guarantee right"}},
		{towns, []string{"-method", "infer"}, []string{"dpglm inference of classes", "intervals right"}},
		{towns, []string{"-method", "oneagainstrest"}, []string{"dpglm class model"}},
		{private, nil, []string{"one label (replace-one)", "all else about them, is public"}},
		{secret, nil, []string{"one row (add/remove)", "at most 900", "that it is public knowledge"}},
	} {
		model := filepath.Join(dir, fmt.Sprint(i, ".json"))
		csvfit(t, append([]string{"fit", "-data", data, "-schema", c.facts, "-epsilon", "1", "-o", model}, c.args...)...)
		said, err := verified("-model", model)
		if err != nil || strings.Contains(said, "WRONG") || !strings.Contains(said, "\nguarantee: (ε = 1, δ = ") || !strings.Contains(said, "the checksum is no signature") {
			t.Errorf("%v: %v\n%s", c.args, err, said)
		}
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, said)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What was changed in a model is refused by its checksum. With a new one it is found out where the
// ledger tells, and else among what can't be checked.
func TestChangedModels(t *testing.T) {
	data, dir := people(t, 600), t.TempDir()
	plain, found, persons := filepath.Join(dir, "plain.json"), filepath.Join(dir, "found.json"), filepath.Join(dir, "persons.json")
	csvfit(t, "fit", "-data", data, "-schema", schema(t, "rich", rich), "-epsilon", "1", "-delta", "1e-5", "-o", plain)
	csvfit(t, "fit", "-data", data, "-schema", schema(t, "pay", pay), "-epsilon", "9", "-delta", "1e-5", "-method", "infer", "-o", found)
	csvfit(t, "fit", "-data", policies(t), "-schema", write(t, "risks.json", risks), "-epsilon", "1", "-delta", "1e-5", "-o", persons)
	const number = `[-0-9.e]+`
	for _, c := range []struct {
		name, model, matches, by string
		wrong                    string // in the error, with a new checksum; empty where nothing tells
		says                     string // then
	}{
		{"a weight", plain, `"weights":\[` + number, `"weights":[0.5`, "", "weights that they are those which were released"},
		{"epsilon beside the ledger", plain, `"epsilon":1,"delta":0.00001,"columns"`, `"epsilon":0.5,"delta":0.00001,"columns"`, "must be those that the ledger claims", ""},
		{"epsilon, in both places", plain, `"epsilon":1,`, `"epsilon":0.5,`, "guarantee: stated is (ε = 0.5, δ = 1e-05)-DP, and by the rest of the file it is (ε = 1, δ = 1e-05)-DP", ""},
		{"delta, in both places", plain, `"delta":0.00001`, `"delta":1e-9`, "guarantee: stated is (ε = 1, δ = 1e-09)-DP", ""},
		{"a larger epsilon", plain, `"epsilon":1,`, `"epsilon":2,`, "", "right (ε = 2, δ = 1e-05)-DP (ε = 1, "},
		{"less noise", plain, `"kind":"gaussian",(.*?)"mu":` + number, `"kind":"gaussian",$1"mu":0.9`, "guarantee: stated is (ε = 1, δ = 1e-05)-DP", ""},
		{"more noise", plain, `"kind":"gaussian",(.*?)"mu":` + number, `"kind":"gaussian",$1"mu":0.000001`, "", "that each release drew the noise that the ledger has"},
		{"a claim of groups", plain, `"rows":600`, `"group":2,"rows":600`, "guarantee: stated is (ε = 1, δ = 1e-05)-DP for groups of 2", ""},
		{"no claim", plain, `"epsilon":1,"delta":0.00001`, `"delta":0.00001`, "guarantee: stated is (ε = 0, δ = 1e-05)-DP", ""},
		{"n", plain, `"rows":600`, `"rows":60000`, "", "that it is 60000"},
		{"the unit", plain, `"of":"row"`, `"of":"person"`, "schema, persons: stated is not told apart", ""},
		{"neighbours", plain, `replace-one`, `add/remove`, "schema, neighbours: stated is replace-one, and by the rest of the file it is add/remove", ""},
		{"a range", plain, `\[20,69\]`, `[20,70]`, "", "that ranges, levels and thresholds are public knowledge"},
		{"persons' rows", persons, `"person_rows":` + number, `"person_rows":1`, "schema, persons: stated is at most", ""},
		{"less noise of an inference", found, `"kind":"gaussian",(.*?)"mu":` + number, `"kind":"gaussian",$1"mu":9`, "guarantee: stated is", ""},
		{"the budget of intervals", found, `"budget":"\(ε = 9`, `"budget":"(ε = 0.1`, "budget of the intervals: stated is (ε = 0.1", ""},
		{"a standard error", found, `"standard_error":` + number, `"standard_error":1`, "not what the stored law and the weights give", ""},
		{"an interval", found, `^(.*?)"low":` + number, `$1"low":-1000`, "intervals: stated is", ""},
		{"the covariance", found, `^(.*?)"covariance":\[\[` + number, `$1"covariance":[[1`, "intervals: stated is", ""},
	} {
		change := func(object string) string { return edit(t, object, c.matches, c.by) }
		if said, err := verified("-model", forged(t, c.model, false, change)); err == nil || !strings.Contains(err.Error(), "sum") || said != "" {
			t.Errorf("%s, by the old checksum: %v\n%s", c.name, err, said)
		}
		said, err := verified("-model", forged(t, c.model, true, change))
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) || c.wrong == "" && err != nil || !strings.Contains(said, c.says) {
			t.Errorf("%s, by a new checksum: %v\n%s", c.name, err, said)
		}
		if errors.Is(err, task.ErrUsage) {
			t.Errorf("%s: exit code 2", c.name)
		}
	}
}

// Noise of a seed is no guarantee against whoever knows it.
func TestVerifySaysWhoseNoise(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model.json")
	csvfit(t, "fit", "-data", people(t, 300), "-schema", schema(t, "rich", rich), "-epsilon", "1", "-o", model, "-insecure-noise-seed", "1")
	said, err := verified("-model", model)
	if err == nil || !strings.Contains(err.Error(), "guarantee, noise: stated is a caller's source") || !strings.Contains(said, "VOID against those who know the noise's seed\n") {
		t.Errorf("%v\n%s", err, said)
	}
}

// rewritten changes what a budget's file or its entries say, and makes their checksums anew.
func rewritten(t *testing.T, budget, matches, by string) {
	t.Helper()
	text, beside := read(t, budget), filepath.Join(budget+".d", "entries")
	_, state, _ := strings.Cut(text, `"budget": `)
	state = strings.TrimSuffix(state, "}\n")
	var lines []string
	for _, line := range strings.Split(strings.TrimSuffix(read(t, beside), "\n"), "\n") {
		_, object, _ := strings.Cut(line, " ")
		lines = append(lines, object)
	}
	before := state + strings.Join(lines, "\n")
	e := regexp.MustCompile(matches)
	state = e.ReplaceAllString(state, by)
	var out, digest string
	for i, object := range lines {
		lines[i] = e.ReplaceAllString(object, by)
		sum := sha256.Sum256([]byte(digest + lines[i]))
		digest = hex.EncodeToString(sum[:])
		out += digest + " " + lines[i] + "\n"
	}
	if state+strings.Join(lines, "\n") == before {
		t.Fatalf("there is no %s in %s", matches, before)
	}
	at := regexp.MustCompile(`"bytes": \d+,\s*"sha256": "[0-9a-f]+"`)
	state = at.ReplaceAllString(state, fmt.Sprintf(`"bytes": %d, "sha256": "%s"`, len(out), digest))
	sum := sha256.Sum256([]byte(state))
	whole := fmt.Sprintf("{\"dpglm_budget_version\": 2, \"sha256\": \"%x\",\n\"budget\": %s}\n", sum, state)
	if !json.Valid([]byte(whole)) {
		t.Fatalf("not JSON: %s", whole)
	}
	for path, text := range map[string]string{budget: whole, beside: out} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A budget is what its entries come to, those that were given back or interrupted among them, and
// tells which model was charged to it.
func TestVerifiesBudgets(t *testing.T) {
	data, facts := people(t, 300), schema(t, "rich", rich)
	budget, args := funded(t, data, facts, "-evaluate", "0.5")
	if said, err := verified("-budget", budget); err != nil || !strings.Contains(said, "nothing spent of (ε = 3, δ = 0.0001)-DP") {
		t.Errorf("%v\n%s", err, said)
	}
	model, other := args[len(args)-3], filepath.Join(t.TempDir(), "other.json")
	stopped := append(append([]string{}, args...), "-epsilon", "0.5", "-method", "noisygd", "-o", other)
	if err := run(stopsOnceBegun{t.Context(), budget}, stopped, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	csvfit(t, args...)
	list := entriesOf(t, budget)
	said, err := verified("-budget", budget, "-model", model)
	if err != nil || strings.Contains(said, "WRONG") || !strings.Contains(said, "charge right an entry of "+budget+" entry "+list[1].ID) {
		t.Errorf("%v\n%s", err, said)
	}
	if !strings.Contains(said, "unfinished: its fit runs, or goes on with -resume "+list[0].ID) || !strings.Contains(said, "(ε = 3, δ = 0.0001)-DP, unit: one row (replace-one), for all that is charged to it together") {
		t.Errorf("it doesn't say what is unfinished:\n%s", said)
	}
	csvfit(t, "fit", "-data", data, "-schema", facts, "-epsilon", "0.1", "-delta", "1e-5", "-o", other)
	if said, err := verified("-budget", budget, "-model", other); err == nil || !strings.Contains(err.Error(), "charge: stated is an entry of "+budget+", and by the rest of the file it is none") {
		t.Errorf("another model: %v\n%s", err, said)
	}
}

// What was given back isn't counted, and a model of it wasn't charged.
func TestVerifiesWhatWasGivenBack(t *testing.T) {
	data, facts := people(t, 300), schema(t, "rich", rich)
	for n := 0; ; n++ {
		budget, args := funded(t, data, facts)
		left := n
		if err := run(asked{t.Context(), &left}, args, io.Discard, io.Discard); err == nil {
			t.Fatal("never given back")
		}
		list := entriesOf(t, budget)
		if len(list) == 0 || list[0].GivenBack.IsZero() {
			continue
		}
		model := filepath.Join(t.TempDir(), "model.json")
		csvfit(t, "fit", "-data", data, "-schema", facts, "-epsilon", "1", "-delta", "1e-5", "-o", model)
		said, err := verified("-budget", budget, "-model", model)
		if err == nil || !strings.Contains(err.Error(), "entry "+list[0].ID+", which was given back") || strings.Contains(err.Error(), "-budget ") ||
			!strings.Contains(said, "sum of all that count") || !strings.Contains(said, "given back: interrupted before") || !strings.Contains(said, "can't have") {
			t.Errorf("%v\n%s", err, said)
		}
		return
	}
}

// What was changed in a budget is refused by its checksums. With new ones it doesn't add up.
func TestChangedBudgets(t *testing.T) {
	data, facts := people(t, 300), schema(t, "rich", rich)
	const number = `[-0-9.e]+`
	for _, c := range []struct{ name, matches, by, wrong string }{
		{"what was spent", `"spent_mu": ` + number, `"spent_mu": 0.001`, "what is left: stated is"},
		{"the total", `("epsilon": ?)3,`, `${1}4,`, "what is left: stated is"},
		{"an entry's noise", `"mu":` + number, `"mu":0.9`, "what is left: stated is"},
		{"an entry's ε", `"epsilon":1,`, `"epsilon":0.1,`, "stated is (ε = 0.1, δ = 1e-05)-DP, and by the rest of the file it is (ε = 1"},
		{"an entry that is said to be given back", `"kind":"begun",(.*?)"}`, `"kind":"given back",$1","reason":"none"}`, "what is left: stated is"},
	} {
		budget, args := funded(t, data, facts)
		csvfit(t, args...)
		if _, err := verified("-budget", budget); err != nil {
			t.Fatal(err)
		}
		rewritten(t, budget, c.matches, c.by)
		if said, err := verified("-budget", budget); err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(said, "WRONG") {
			t.Errorf("%s: %v\n%s", c.name, err, said)
		}
	}
	budget, args := funded(t, data, facts)
	csvfit(t, args...)
	for path, change := range map[string][2]string{budget: {`"epsilon": 3,`, `"epsilon": 4,`}, filepath.Join(budget+".d", "entries"): {`"epsilon":1,`, `"epsilon":2,`}} {
		was := read(t, path)
		if err := os.WriteFile(path, []byte(edit(t, was, change[0], change[1])), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := verified("-budget", budget); err == nil || !strings.Contains(err.Error(), "damaged, or changed by hand") || said != "" {
			t.Errorf("%s: %v\n%s", path, err, said)
		}
		if err := os.WriteFile(path, []byte(was), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVerifyArguments(t *testing.T) {
	dir, model := t.TempDir(), filepath.Join(t.TempDir(), "model.json")
	csvfit(t, "fit", "-data", people(t, 100), "-schema", schema(t, "rich", rich), "-epsilon", "1", "-o", model)
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"nothing", nil, 2, "-model, -report, -moments and -budget are missing"},
		{"no model", []string{"-model", filepath.Join(dir, "none.json")}, 1, "there is no such file"},
		{"no budget", []string{"-budget", filepath.Join(dir, "none.json")}, 1, "there is no such file"},
		{"a model as a budget", []string{"-budget", model}, 1, "this is a model; -budget wants what csvfit budget made"},
		{"a schema as a model", []string{"-model", schema(t, "rich", rich)}, 1, "this is a schema"},
		{"a model without its flag", []string{model}, 2, "did you mean -model"},
	} {
		checkExit(t, c.name, append([]string{"verify"}, c.args...), c.code, c.says)
	}
}

// Budgets of other kinds than csvfit's: pure ε, and μ.
func TestRecomputesOtherClaims(t *testing.T) {
	pure, err := mechanisms.Exponential{Epsilon: 0.5}.Ledger("choice")
	if err != nil {
		t.Fatal(err)
	}
	noise, err := mechanisms.Gaussian{Mu: 0.5}.Ledger("sum", 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ledger *dpglm.Ledger
		claim  mechanisms.Claim
		found  string
		holds  bool
	}{
		{pure, mechanisms.Claim{Epsilon: 0.5}, "within it at δ = 0", true},
		{pure, mechanisms.Claim{Epsilon: 0.49}, "more at δ = 0", false},
		{pure, mechanisms.Claim{Epsilon: 0.5, Group: 2}, "more at δ = 0", false},
		{noise, mechanisms.Claim{Mu: 1}, "1-GDP", true},
		{noise, mechanisms.Claim{Mu: 0.99}, "1-GDP", false},
		{noise, mechanisms.Claim{Mu: 2, Group: 2}, "2-GDP", true},
		{noise, mechanisms.Claim{Epsilon: 9}, "more at δ = 0", false},
	} {
		if found, holds, err := recomputed(c.ledger, c.claim); err != nil || found != c.found || holds != c.holds {
			t.Errorf("%+v: %s, %v (%v)", c.claim, found, holds, err)
		}
	}
}
