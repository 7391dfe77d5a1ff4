package tuning

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// docs/tuning.md has one row for each number of this package, with its value, and no others in tables
// that have values.
func TestTableIsWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "tuning.md"))
	if err != nil {
		t.Fatal(err)
	}
	numbers, rows, valued := constants(t), map[string]bool{}, false
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		name, value := strings.Trim(cells[1], " `"), strings.TrimSpace(cells[2])
		switch want, ok := numbers[name]; {
		case name == "number":
			valued = value == "value"
		case !valued || strings.HasPrefix(name, "---"):
		case !ok:
			t.Errorf("docs/tuning.md has a row of %s, which isn't a constant of internal/tuning", name)
		case rows[name]:
			t.Errorf("docs/tuning.md has two rows of %s", name)
		case value != want:
			t.Errorf("docs/tuning.md has %s = %s, which is %s", name, value, want)
		default:
			rows[name] = true
		}
		if valued && strings.Count(line, "|") != 7 {
			t.Errorf("docs/tuning.md: %s has another number of cells than 6", line)
		}
	}
	for name := range numbers {
		if !rows[name] {
			t.Errorf("docs/tuning.md has no row of %s", name)
		}
	}
	if len(numbers) < 150 {
		t.Errorf("%d constants were found", len(numbers))
	}
}

// constants are those of this package with their values as they are written; each says where it is from.
func constants(t *testing.T) map[string]string {
	t.Helper()
	set, values := token.NewFileSet(), map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				t.Errorf("%s has more than constants", name)
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				var value strings.Builder
				if len(v.Names) != 1 || len(v.Values) != 1 || printer.Fprint(&value, set, v.Values[0]) != nil {
					t.Fatalf("%s: %v isn't one constant with one value", name, v.Names)
				}
				values[v.Names[0].Name] = value.String()
				if doc := strings.ReplaceAll(v.Doc.Text(), "\n", " "); !strings.Contains(doc, "Tuned") && !strings.Contains(doc, "Origin not recorded") {
					t.Errorf("%s doesn't say where it is from", v.Names[0].Name)
				}
			}
		}
	}
	return values
}
