package losses

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// No sensitivity rests on these methods, as docs/PRIVACY.md says.
var proposals = []string{"Name", "Link", "Validate", "Value", "Curvature"}

// These files check, encode, print or predict, and may call them.
var beside = []string{"check.go", "checkconstants.go", "curvature.go", "envelopejson.go", "link.go", "ordinalfractions.go", "register.go"}

// What else the package declares calls none of them, but for the methods themselves.
func TestSensitivitiesCallNoProposals(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	for _, file := range beside {
		if !slices.Contains(files, file) {
			t.Errorf("there is no %s", file)
		}
	}
	set, seen := token.NewFileSet(), map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || slices.Contains(beside, file) {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && slices.Contains(proposals, f.Name.Name) {
				seen[f.Name.Name] = true
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if s, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(proposals, s.Sel.Name) {
					t.Errorf("%s calls %s", set.Position(call.Pos()), s.Sel.Name)
				}
				return true
			})
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %v were found", seen)
	}
}
