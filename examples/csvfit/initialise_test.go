package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/table"
)

// Where a codebook says all that is needed, nothing is left to fill in, and the schema can be planned with.
func TestCodebookFillsASchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schema.json")
	_, said := csvfit(t, "init", "-data", "../../testdata/cps1988.csv.gz", "-codebook", "cps1988.codebook.csv", "-o", path)
	if !strings.Contains(said, "leave none that was taken from the rows") {
		t.Errorf("init says %q", said)
	}
	s, err := table.ReadSchemaFile(path)
	if err != nil || s.Label != "wage" || len(s.Columns) != 7 || strings.Join(s.Columns[4].Positive, "") != "yes" {
		t.Fatalf("%v\n%s", err, s)
	}
	csvfit(t, "plan", "-schema", path, "-rows", "28155", "-epsilon", "1")
}

// The header tells the encoding and, by semicolons, the decimal comma; flags give roles. No value of a row shows.
func TestInitReadsTheHeaderOnly(t *testing.T) {
	data := write(t, "a.csv", "Gr\xf6\xdfe;birth_date;who;w;lt;n\n4711,5;1970-01-01;secret;2;0;1\n")
	shown, said := csvfit(t, "init", "-data", data, "-label", "n", "-person", "who", "-weight", "w", "-offset", "lt")
	for _, want := range []string{`"encoding": "windows-1252"`, `"decimal": ","`, `"Größe"`, `{"name": "birth_date", "kind": "date", "origin": "FILL IN`, `"label": "n"`, `"person": "who"`, `"max_rows": "FILL IN`, `"weight": "w"`, `"offset": "lt"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("lacks %s:\n%s", want, shown)
		}
	}
	if !strings.Contains(said, "not UTF-8, and read as windows-1252") || !strings.Contains(said, "semicolons") || !strings.Contains(said, "init -h says what") || strings.Count(said, "\n") > 3 {
		t.Errorf("init says %q", said)
	}
	if all := shown + said; strings.Contains(all, "4711") || strings.Contains(all, "secret") || strings.Contains(all, "1970") {
		t.Errorf("a value shows:\n%s", all)
	}
	path := write(t, "schema.json", shown)
	var out, warnings bytes.Buffer
	err := run(context.Background(), []string{"plan", "-schema", path, "-rows", "100", "-epsilon", "1"}, &out, &warnings)
	if err == nil || strings.Count(err.Error(), "still to be filled in") != strings.Count(shown, "FILL IN") {
		t.Errorf("planned unfinished: %v\n%s", err, shown)
	}
	shown, _ = csvfit(t, "init", "-data", data, "-start", "w", "-end", "lt")
	if !strings.Contains(shown, `"followup": {"start": "w", "end": "lt", "cuts": ["FILL IN`) {
		t.Error(shown)
	}
}

func TestInitRefuses(t *testing.T) {
	data := write(t, "a.csv", "age,n\n1,1\n")
	for want, more := range map[string][]string{
		"-codebook nobody.csv: there is no such file":               {"-codebook", "nobody.csv"},
		`line 1: its header has no column name`:                     {"-codebook", data},
		`"weight", which is to be the weight, is not in the header`: {"-weight", "weight"},
		`"age" is to be person and offset; a column has one role`:   {"-person", "age", "-offset", "age"},
		"line 1: not XML": {"-codebook", write(t, "book.xml", "<codeBook>")},
		"is compressed by zstd, which isn't read: decompress it, zstd -dc ": {"-data", write(t, "a.csv.zst", "x")},
	} {
		var out, warnings bytes.Buffer
		if more[0] != "-data" { // which is given once
			more = append(more, "-data", data)
		}
		if err := run(context.Background(), append([]string{"init"}, more...), &out, &warnings); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%v: %v, which doesn't say %q", more, err, want)
		}
	}
}

// What a schema can have is told by -h, on standard output, and not at each call.
func TestInitExplainsWhereAsked(t *testing.T) {
	var out, said bytes.Buffer
	if err := run(t.Context(), []string{"init", "-h"}, &out, &said); !errors.Is(err, flag.ErrHelp) || said.Len() > 0 {
		t.Errorf("%v, and says %q", err, &said)
	}
	for _, want := range []string{"FILL IN", `"interactions"`, `"followup"`, `"range": [18, 100]`, `"max_rows": 5`, `"missing": "indicator"`, "fold_case", "before \"columns\",\n  NA, ", "-codebook"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("-h lacks %q:\n%s", want, &out)
		}
	}
}

// The help of each command that reads data says that they may be several files, by a pattern too, or standard input.
func TestHelpSaysWhatDataMayBe(t *testing.T) {
	for _, command := range []string{"init", "fit", "predict", "compare", "moments", "observe", "check", "store"} {
		var out bytes.Buffer
		if err := run(t.Context(), []string{command, "-h"}, &out, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), `a.csv,b.csv or "claims/*.csv", or - for a CSV from standard input`) {
			t.Errorf("%s: %v\n%s", command, err, &out)
		}
	}
}
