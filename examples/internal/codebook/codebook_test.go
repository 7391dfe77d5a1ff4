package codebook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/table"
)

const (
	asCSV = "Variable;Type;Label;Min;Max;Levels;Role\n" +
		"age;integer;Age in years;18;100;;\n" +
		"sex;factor;;;;1 = male| 2 = female;\n" +
		"entered;date;;2020-01-01;2024-12-31;;\n" +
		"claims;count;;0;20;;label\n" +
		"years;numeric;;0.1;1;;exposure\n" +
		"policy;character;;;;;person\n" +
		"remark;;What was said;;;;\n"
	asDDI = `<?xml version="1.0" encoding="UTF-8"?>
<codeBook xmlns="ddi:codebook:2_5" version="2.5"><stdyDscr/><dataDscr>
<var ID="V1" name="age" intrvl="contin"><valrng><range UNITS="REAL" min="18" max="100"/></valrng><invalrng><item VALUE="-99"/><item VALUE="40"/></invalrng>
 <sumStat type="min">19</sumStat><varFormat type="numeric"/></var>
<var ID="V2" name="sex"><labl>Sex of
 the person</labl><catgry><catValu>1</catValu><labl>male</labl><catStat type="freq">812</catStat></catgry><catgry><catValu> 2 </catValu></catgry><catgry missing="Y"><catValu>9</catValu></catgry><varFormat type="numeric"/></var>
<var ID="V3" name="w" wgt="wgt"><varFormat type="numeric"/></var>
<var ID="V4" name="remark"><labl>What was said</labl></var>
</dataDscr></codeBook>`
	asPackage = `{"name":"survey","resources":[{"name":"other","path":"other.csv","schema":{"fields":[{"name":"x"}]}},
{"name":"people","path":"people.csv","schema":{"missingValues":["","-"],"fields":[
 {"name":"age","type":"integer","constraints":{"minimum":18,"maximum":100}},
 {"name":"pay","type":"number","decimalChar":",","groupChar":".","constraints":{"minimum":0,"maximum":"5000"}},
 {"name":"sex","type":"string","constraints":{"enum":["m","f"]}},
 {"name":"code","type":"integer","constraints":{"enum":[1,2,3]}},
 {"name":"born","type":"date","format":"%d.%m.%Y","constraints":{"minimum":"1900-01-01","maximum":"2020-12-31"}},
 {"name":"ok","type":"boolean","trueValues":["ja"],"falseValues":["nein"]},
 {"name":"member","type":"boolean"},
 {"name":"place","type":"geopoint"},
 {"name":"remark","type":"any","title":"What was said"}]}}]}`
	asR = `c(age = "numeric", sex = "factor", ` + "`a b`" + ` = "Date", ok = "logical")
# the questionnaire's
list(age = NULL, sex = c("m", "f\"é"), ` + "`a b`" + ` = NULL, ok = NULL)
`
)

// schemaOf is what a codebook makes of a header.
func schemaOf(t *testing.T, text, header string, roles map[string]string) (table.Schema, []string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Read(path, "data/people.csv")
	if err != nil {
		return table.Schema{}, nil, err
	}
	s, err := table.Init(strings.Split(header, ","))
	if err != nil {
		t.Fatal(err)
	}
	notes, err := Fill(&s, b, roles)
	return s, notes, err
}

// Each form becomes the lines of a schema that it speaks of, and what it doesn't hold is marked.
func TestForms(t *testing.T) {
	for name, c := range map[string]struct {
		text, header string
		has, lacks   []string
	}{
		"CSV": {asCSV, "POLICY,age,sex,entered,years,claims,remark,else", []string{
			`"label": "claims"`, `"person": "POLICY"`, `"max_rows": "FILL IN`, `"exposure": "years"`, `{"name": "POLICY", "kind": "id"}`,
			`{"name": "age", "kind": "numeric", "range": [18, 100]}`, `{"name": "sex", "kind": "categorical", "levels": ["1", "2"]}`,
			`{"name": "entered", "kind": "date", "origin": "2020-01-01", "from": "2020-01-01", "to": "2024-12-31"}`, `{"name": "claims", "kind": "count", "cap": 20}`,
			`{"name": "years", "kind": "numeric", "range": [0.1, 1]}`, `"name": "remark", "kind": "FILL IN: numeric, count, categorical, binary, date, id or ignored (What was said)"`}, []string{`"missing"`}},
		"DDI": {asDDI, "age,sex,w,remark", []string{
			`{"name": "age", "kind": "numeric", "range": [18, 100]}`, `{"name": "sex", "kind": "categorical", "levels": ["1", "2"]}`, `"weight": "w"`, `"-99"`, `"9"`, `"NA"`,
			`{"name": "w", "kind": "numeric", "range": ["FILL IN`, `(What was said)`}, []string{`"40"`, "812", "19"}},
		"package": {asPackage, "age,pay,sex,code,born,ok,member,place,remark", []string{
			`"decimal": ","`, `"missing": ["-"]`, `{"name": "age", "kind": "numeric", "range": [18, 100]}`, `{"name": "pay", "kind": "numeric", "range": [0, 5000], "thousands": "."}`,
			`"sex", "kind": "categorical", "levels": ["m", "f"]`, `"code", "kind": "categorical", "levels": ["1", "2", "3"]`, `"to": "2020-12-31", "layouts": ["02.01.2006"]`,
			`"positive": ["ja"], "negative": ["nein"]`, `"positive": ["true", "True", "TRUE", "1"]`, `{"name": "place", "kind": "ignored"}`, `(What was said)`}, nil},
		"Table Schema":    {`{"fields":[{"name":"age","type":"integer"}]}`, "age", []string{`"range": ["FILL IN`}, nil},
		"R":               {asR, "age,sex,a b,ok", []string{`{"name": "age", "kind": "numeric", "range": ["FILL IN`, `"levels": ["m", "f\"é"]`, `"a b", "kind": "date", "origin": "FILL IN`, `"positive": ["TRUE"], "negative": ["FALSE"]`}, nil},
		"R, more classes": {`list(when = c("POSIXct", "POSIXt"), grade = c("ordered", "factor"))`, "when,grade", []string{`"when", "kind": "date"`, `"grade", "kind": "categorical", "levels": ["FILL IN`}, nil},
		"R, structure":    {`structure(list("integer", "character"), .Names = c("a", "b"))`, "a,b", []string{`"a", "kind": "numeric"`, `"b", "kind": "categorical"`}, nil},
	} {
		s, notes, err := schemaOf(t, c.text, c.header, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, part := range c.has {
			if !strings.Contains(s.String(), part) {
				t.Errorf("%s lacks %s:\n%s", name, part, s)
			}
		}
		for _, part := range c.lacks {
			if strings.Contains(s.String(), part) {
				t.Errorf("%s has %s:\n%s", name, part, s)
			}
		}
		if all := strings.Join(notes, "\n"); !strings.Contains(all, "leave none that was taken from the rows") {
			t.Errorf("%s: notes %q", name, all)
		}
		if _, err := table.ParseSchema([]byte(s.String())); !errors.Is(err, table.ErrSchema) || !strings.Contains(err.Error(), "still to be filled in") && !strings.Contains(err.Error(), "label") {
			t.Errorf("%s is read unfinished: %v", name, err)
		}
	}
}

// Roles that are given go before the codebook's, and columns become what their role asks for.
func TestRoles(t *testing.T) {
	s, _, err := schemaOf(t, asDDI, "age,sex,w,remark,in,out,who", map[string]string{"label": "sex", "weight": "age", "start": "in", "end": "out", "person": "who"})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"label": "sex"`, `"weight": "age"`, `"person": "who"`, `"positive": ["2"], "negative": ["1"]`, `"followup": {"start": "in", "end": "out", "cuts": ["FILL IN`,
		`{"name": "in", "kind": "ignored"}`, `{"name": "who", "kind": "id"}`} {
		if !strings.Contains(s.String(), part) {
			t.Errorf("lacks %s:\n%s", part, s)
		}
	}
	s, _, err = schemaOf(t, strings.NewReplacer("claims;count", "claims;integer", "exposure", "").Replace(asCSV), "age,claims,lt", map[string]string{"offset": "lt"})
	if err != nil || !strings.Contains(s.String(), `"offset": "lt"`) || !strings.Contains(s.String(), `{"name": "claims", "kind": "count", "cap": 20}`) {
		t.Errorf("an offset: %v\n%s", err, s)
	}
	for want, roles := range map[string]map[string]string{
		`"nobody", which is to be the person, is not in the header`: {"person": "nobody"},
		`"age" is to be weight and exposure; a column has one role`: {"weight": "age", "exposure": "age"},
		`"in" is when times at risk start, and none is when they`:   {"start": "in"},
	} {
		if _, _, err := schemaOf(t, asDDI, "age,in", roles); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", roles, err)
		}
	}
}

// Names in another case are found where one alone is so.
func TestNamesInAnotherCase(t *testing.T) {
	s, _, err := schemaOf(t, "name,type\nAge,numeric\nAGE,date\nPay,numeric\n", "age,PAY", nil)
	if err != nil || s.Columns[0].Kind != table.Numeric || s.Columns[1].Kind != table.Numeric || !strings.Contains(s.String(), `"name": "PAY"`) {
		t.Errorf("%v\n%s", err, s)
	}
	if s, _, err = schemaOf(t, "variable,name,kind,type\nother,q1,date,numeric\n", "q1,other", nil); err != nil || s.Columns[0].Kind != table.Numeric {
		t.Errorf("of two columns with names, and two with types: %v\n%s", err, s)
	}
	s, notes, err := schemaOf(t, "name,type\nx,numeric\n", "age,town", nil)
	if err != nil || len(notes) == 0 || !strings.Contains(notes[0], "no column of the header") || !strings.Contains(string(s.Columns[1].Kind), "FILL IN") {
		t.Errorf("%q %v", notes, err)
	}
}

// Broken codebooks are refused, with the place.
func TestBrokenCodebooks(t *testing.T) {
	ddi := func(vars string) string { return "<codeBook><dataDscr>\n" + vars + "\n</dataDscr></codeBook>" }
	fields := func(list string) string { return "{\"fields\":[\n" + list + "]}" }
	for _, c := range []struct{ name, text, says string }{
		{"empty", " \n", "it is empty"},
		{"spreadsheet", "PK\x03\x04abc", "export it as CSV"},
		{"UTF-16", "n\x00a\x00m\x00e\x00", "zero bytes"},
		{"Latin-1", "name,label\nage,ok\nsex,M\xe4nner\n", "line 3 is not UTF-8"},
		{"no name", "type,min\nnumeric,3\n", "line 1: its header has no column name, variable, column, field; it has type, min"},
		{"header alone", "name,type\n", "describes no variable"},
		{"short line", "name,type,min\nage,numeric\n", "line 2: it has 2 fields where the header has 3"},
		{"open quote", "name,label\nage,\"open\n", "line 2"},
		{"unknown type", "name,type\nage,numeric\npay,money\n", `line 3: variable "pay" has the type "money"`},
		{"bound", "name,type,min,max\nage,numeric,young,100\n", `line 2: variable "age" has the bound "young"`},
		{"infinite bound", "name,min,max\nage,-Inf,100\n", `has the bound "-Inf"`},
		{"bounds swapped", "name,min,max\nage,100,18\n", `variable 1, "age": goes from 100 to 18`},
		{"day and number", "name,min,max\nd,2020-01-01,7\n", `a number and a day`},
		{"days swapped", "name,min,max\nd,2021-01-01,2020-01-01\n", `goes from 2021-01-01 to 2020-01-01`},
		{"twice", "name\nage\nage\n", `variable 2, "age": is described twice`},
		{"nameless", "name,type\nage,numeric\n,numeric\n", `variable 2, "": has no name`},
		{"empty level", "name,levels\nsex,m||f\n", `has an empty level, no. 2`},
		{"level twice", "name,levels\nsex,m|f|m\n", `has the level "m" twice`},
		{"role", "name,role\nage,treatment\n", `has the role "treatment"; it must be one of label, person`},
		{"roles", "name,role\na,weight\nb,weight\n", `variable 2, "b": has the role weight, as "a" has`},
		{"XML cut short", "<codeBook>\n<dataDscr>\n<var name=\"a\">", "line 3: not XML"},
		{"XML, not DDI", "<?xml version=\"1.0\"?>\n<html></html>", `the root "html"`},
		{"XML, Latin-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><codeBook/>", "it is ISO-8859-1; save it as UTF-8"},
		{"XML, an entity", "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n<codeBook><dataDscr><var name=\"a\"><labl>&x;</labl></var></dataDscr></codeBook>", "line 2: not XML"},
		{"DDI without variables", ddi(""), "describes no variable"},
		{"DDI, no name", ddi(`<var ID="V1"/>`), `variable 1, "": has no name`},
		{"DDI, bound", ddi(`<var name="a"><valrng><range min="low" max="3"/></valrng></var>`), `variable "a" has the bound "low"`},
		{"DDI, two weights", ddi(`<var name="a" wgt="wgt"/><var name="b" wgt="wgt"/>`), `"b": has the role weight, as "a" has`},
		{"JSON cut short", fields(`{"name":"a"},`), "line 2: not JSON"},
		{"JSON, other", `{"version":1}`, `neither "resources"`},
		{"JSON, a list", `[1]`, "must be another kind of value"},
		{"JSON, kind", fields(`{"name":7}`), "line 2: fields.name is a number"},
		{"JSON, no constraint", fields(`{"name":"a","constraints":{"minimum":true}}`), `has the bound "true"`},
		{"package, other files", `{"resources":[{"name":"a","path":"a.csv"},{"name":"b","path":["b.csv"]}]}`, "a, b, and none is people.csv"},
		{"package, a link", `{"resources":[{"name":"a","schema":"schema.json"}]}`, `resource 1, "a", has no "schema" that is an object`},
		{"package, in a resource", `{"resources":[{"name":"a","schema":{"fields":[{"name":7}]}}]}`, `resource 1, "a": line 1: fields.name`},
		{"R, open", `c(age = "numeric"`, "line 1: a comma or a parenthesis is missing"},
		{"R, open text", "c(age = \"numeric\",\nsex = \"fac)", "line 2: a quote isn't closed"},
		{"R, numbers", `c(age = 3)`, `a text in quotes was expected`},
		{"R, unnamed", `c(age = "numeric", "factor")`, "a value has no name"},
		{"R, no names", `c("numeric", "factor")`, "describes no variable"},
		{"R, class", `c(age = "sfc_POINT")`, `variable "age" has the class "sfc_POINT"`},
		{"R, no class", `c(age = NULL)`, `variable "age" has the class ""`},
		{"R, a text alone", `structure("numeric", names = "age")`, "there are 1 names of 0 values"},
		{"R, levels of none", "c(age = \"numeric\")\nlist(sex = c(\"m\", \"f\"))", `variable "sex" has levels and no class`},
		{"R, more", "c(age = \"numeric\")\nlist()\nx <- 3", "line 3: something follows"},
		{"R, deep", strings.Repeat("c(", 100), "nests too deeply"},
		{"R, backslash", `c(age = "\q")`, "a backslash begins what is no character"},
		{"R, nothing before =", `c(= "numeric")`, "a name is missing before ="},
	} {
		if _, _, err := schemaOf(t, c.text, "age", nil); !errors.Is(err, ErrCodebook) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, which doesn't say %q", c.name, err, c.says)
		}
	}
}

// No text makes it panic.
func FuzzParse(f *testing.F) {
	for _, text := range []string{asCSV, asDDI, asPackage, asR, `structure(list(), names = character(0))`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := parse(text, "people.csv")
		if err != nil || b.check() != nil {
			return
		}
		var header []string
		for _, v := range b.Variables {
			header = append(header, v.Name)
		}
		s, err := table.Init(header)
		if err != nil {
			return
		}
		if _, err := Fill(&s, b, nil); err == nil {
			_ = s.String()
		}
	})
}
