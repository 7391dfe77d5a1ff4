package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/examples/internal/page"
)

var commandHash = regexp.MustCompile(`data-fact="command">[0-9a-f]{64}<`)

// reported fits with a budget and a page, an entry and a model, and returns the command and its directory.
func reported(t *testing.T, facts string, args ...string) (dir string, command []string, stdout string) {
	t.Helper()
	dir = t.TempDir()
	budget := filepath.Join(dir, "budget.json")
	csvfit(t, "budget", "-file", budget, "-name", "people", "-epsilon", "4", "-delta", "1e-4")
	command = append([]string{"fit", "-data", people(t, 600), "-schema", facts, "-epsilon", "1", "-delta", "1e-5", "-budget", budget, "-name", "people", "-json",
		"-o", filepath.Join(dir, "model.json"), "-report", filepath.Join(dir, "page.html"), "-registry", filepath.Join(dir, "entry.json")}, args...)
	stdout, _ = csvfit(t, command...)
	return dir, command, stdout
}

// A page states what it was made by and of, and JSON the same: of the command the hash alone.
func TestPagesSayWhereTheyAreFrom(t *testing.T) {
	facts := schema(t, "rich", rich)
	dir, command, stdout := reported(t, facts)
	f, err := os.Open(filepath.Join(dir, "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stated, err := page.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	entry := entriesOf(t, filepath.Join(dir, "budget.json"))[0]
	want := map[string]string{
		"protects": "one row (replace-one)", "data": "people.csv.gz", "program": "v0.1.0", "commit": "0123abcd, changed", "date": day(entry.Time), "entry": entry.ID,
		"total":   "(ε = 4, δ = 0.0001)-DP, unit: one row (replace-one)",
		"schema":  fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, facts)))),
		"command": fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(command, "\n")+"\n"))),
	}
	for name, value := range want {
		if stated[name] != value {
			t.Errorf("%s is %q, want %q", name, stated[name], value)
		}
	}
	var out struct {
		Review page.Review `json:"review"`
	}
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatal(err)
	}
	r := out.Review
	if r.Schema != want["schema"] || r.Command != want["command"] || r.Account.Left != stated["left"] || r.Commit != want["commit"] || len(r.Checks) < 20 || len(r.Trust) < 5 || len(r.Choices) < 5 {
		t.Errorf("JSON has %+v", r)
	}
	text := read(t, filepath.Join(dir, "page.html")) + read(t, filepath.Join(dir, "entry.json"))
	for _, secret := range []string{dir, filepath.Base(facts)} {
		if strings.Contains(text, secret) {
			t.Errorf("a path of the command, %s, is told", secret)
		}
	}
	if a, b := commandSum("fit", "-a", "1"), commandSum("fit", "-resume", "x", "-a", "1", "--resume=y"); a != b || a == commandSum("fit", "-a", "2") {
		t.Error("-resume changes the command's hash, or nothing does")
	}
}

// A page is held against its own ledger, the schema, the model and the budget; what was changed on it
// is found.
func TestVerifiesPages(t *testing.T) {
	facts := schema(t, "rich", rich)
	dir, _, _ := reported(t, facts)
	path := filepath.Join(dir, "page.html")
	whole := read(t, path)
	others := []string{"-schema", facts, "-model", filepath.Join(dir, "model.json"), "-budget", filepath.Join(dir, "budget.json")}
	csvfit(t, "fit", "-data", people(t, 600), "-schema", facts, "-epsilon", "1", "-delta", "1e-5", "-budget", others[5], "-name", "people", "-o", filepath.Join(dir, "later.json"))
	said, err := verified(append(others, "-report", path)...)
	if err != nil || strings.Contains(said, "WRONG") {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, want := range []string{"protected right", "ε, as shown right", "schema, SHA-256 right", "report right", "budget's total right", "left after the fit right", "date right"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if said, err := verified("-report", path); err != nil || !strings.Contains(said, "give that by -schema") {
		t.Errorf("%v\n%s", err, said)
	}
	for _, c := range []struct{ matches, by, wrong string }{
		{`data-fact="ε">[^<]*`, `data-fact="ε">0.1`, "ε, as shown"},
		{`data-fact="δ">[^<]*`, `data-fact="δ">0`, "δ, as shown"},
		{`data-fact="protects">one row`, `data-fact="protects">one person`, "protected"},
		{`data-fact="schema">..`, `data-fact="schema">zz`, "schema, SHA-256"},
		{`data-fact="total">\(ε = 4`, `data-fact="total">(ε = 5`, "budget's total"},
		{`data-fact="left">`, `data-fact="left">2`, "left after the fit"},
		{`data-fact="entry">`, `data-fact="entry">x`, "entry"},
		{`data-fact="date">2`, `data-fact="date">1`, "date"},
		{`&#34;mu&#34;:[0-9.e-]+`, `&#34;mu&#34;:9`, "guarantee"},
		{`&#34;mu&#34;:[0-9.e-]+`, `&#34;mu&#34;:0.001`, "charge"},
	} {
		changed := write(t, "changed.html", edit(t, whole, c.matches, c.by))
		if _, err := verified(append(others, "-report", changed)...); err == nil || !strings.Contains(err.Error(), c.wrong+": stated is") {
			t.Errorf("%s: %v", c.by, err)
		}
	}
	for _, other := range []string{others[3], write(t, "cut.html", whole[:len(whole)/2]), write(t, "other.html", "<p>no page</p>")} {
		if _, err := verified("-report", other); err == nil || !strings.Contains(err.Error(), "no page that csvfit fit -report wrote") {
			t.Errorf("%s: %v", other, err)
		}
	}
	if _, err := verified("-model", others[3], "-schema", facts); err == nil || !strings.Contains(err.Error(), "is for -report") {
		t.Error(err)
	}
}

// The draft of an entry is the one that is kept, to the byte, with the fields that the registry
// requires, and tells of -test.
func TestRegistryEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "entry.json")
	facts := schema(t, "rich", rich)
	csvfit(t, "fit", "-data", people(t, 600), "-schema", facts, "-epsilon", "1", "-delta", "1e-5", "-method", "infer", "-test", "0.2", "-insecure-noise-seed", "1", "-registry", path)
	const kept = "testdata/entry.json"
	text := []byte(read(t, path))
	if os.Getenv("CSVFIT_WRITE") != "" {
		if err := os.WriteFile(kept, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, kept); !bytes.Equal(text, []byte(want)) {
		t.Errorf("the entry is\n%s\nwant (CSVFIT_WRITE=1 writes it)\n%s", text, want)
	}
	var entry struct {
		Deployment struct {
			Basic, Implementation map[string]any
		}
	}
	if err := json.Unmarshal(text, &entry); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region", "publication_date"} {
		if entry.Deployment.Basic[name] == nil {
			t.Errorf("the entry lacks %s", name)
		}
	}
	if said := fmt.Sprint(entry.Deployment.Implementation); !strings.Contains(said, "isn’t accounted for") {
		t.Errorf("the entry doesn't tell of -test: %s", said)
	}
}
