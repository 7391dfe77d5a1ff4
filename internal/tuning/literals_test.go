package tuning

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// estimators are the files whose numbers have names.
var estimators = []string{
	"internal/estimate/*.go", "internal/infer/*.go", "internal/histogram/*.go", "internal/evaluate/*.go",
	"standardised.go", "auto.go", "frankwolfe.go", "start.go", "noisygd*.go",
}

// Estimators' numbers have names: outside of constants of a package, and of lists of numbers, of which
// there are no constants, they write 0, ½, 1 and 2 only. A number that was chosen by trying is in this
// package; one that follows from something may stand beside its use, with a comment that says from what.
func TestNumbersHaveNames(t *testing.T) {
	files := 0
	for _, pattern := range estimators {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		for _, name := range found {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			files++
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range unnamed(t, name, source) {
				t.Errorf("%s has no name: make it a constant, of internal/tuning if it was tuned", u)
			}
		}
	}
	if files < 50 {
		t.Errorf("%d files were read", files)
	}
}

// The check sees what it should, and no more.
func TestUnnamedNumbers(t *testing.T) {
	source := `package p

const named, half = 0.3, 1.0 / 2

var outside = 0.4

var list = []float64{0.3, 4}

func f(x float64) float64 {
	const local = 0.7
	y := 0 + 1.0*x + 2 + 0.5 - .5
	return y + -3*x + 1e1 + 0x10 + named + local
}
`
	got := strings.Join(unnamed(t, "p.go", []byte(source)), ", ")
	if want := "p.go:5: 0.4, p.go:10: 0.7, p.go:12: 3, p.go:12: 1e1, p.go:12: 0x10"; got != want {
		t.Errorf("%s, and should be %s", got, want)
	}
}

// unnamed are the places of numbers without a name, and these.
func unnamed(t *testing.T, name string, source []byte) (places []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && (g.Tok == token.CONST || g.Tok == token.VAR && isList(g)) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.INT && l.Kind != token.FLOAT {
				return true
			}
			switch v, err := strconv.ParseFloat(l.Value, 64); {
			case err != nil: // hexadecimal ones of no exponent, and others that have no place here
			case v == 0 || v == 0.5 || v == 1 || v == 2:
				return true
			}
			places = append(places, name+":"+strconv.Itoa(set.Position(l.Pos()).Line)+": "+l.Value)
			return true
		})
	}
	return places
}

// isList reports whether a declaration is of one list of numbers.
func isList(g *ast.GenDecl) bool {
	if len(g.Specs) != 1 {
		return false
	}
	v, ok := g.Specs[0].(*ast.ValueSpec)
	if !ok || len(v.Values) != 1 {
		return false
	}
	list, ok := v.Values[0].(*ast.CompositeLit)
	if !ok {
		return false
	}
	for _, e := range list.Elts {
		if _, number := e.(*ast.BasicLit); !number {
			return false
		}
	}
	return true
}
