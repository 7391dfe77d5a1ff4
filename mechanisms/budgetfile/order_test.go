package budgetfile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// calls are the names that a function of a file calls, in the order in which they are
// written, which for these functions is that in which they run.
func calls(t *testing.T, file, function string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch of := call.Fun.(type) {
			case *ast.Ident:
				names = append(names, of.Name)
			case *ast.SelectorExpr:
				names = append(names, of.Sel.Name)
			}
			return true
		})
	}
	return names
}

// A program that is killed leaves all that it wrote to the system, so no such test shows
// what a crash of the machine leaves. Hence this one reads the source: data are synced
// before the file gets its name, the directory after that, and Spend ends with both.
func TestSpentEntriesReachTheDisk(t *testing.T) {
	for _, c := range []struct {
		file, function string
		order          []string
	}{
		{"store.go", "writeThrough", []string{"OpenFile", "Write", "Chmod", "Sync", "Close"}},
		{"store.go", "write", []string{"encode", "mode", "Remove", "writeThrough", "Rename", "syncDirectory"}},
		{"os_unix.go", "syncDirectory", []string{"Open", "Sync", "Close"}},
		{"file.go", "Spend", []string{"lock", "unlock", "read", "accountant", "Spend", "write"}},
	} {
		names := calls(t, c.file, c.function)
		for _, name := range c.order {
			at := slices.Index(names, name)
			if at < 0 {
				t.Errorf("%s: no call of %s where it belongs, after the earlier ones of %v", c.function, name, c.order)
				break
			}
			names = names[at+1:]
		}
	}
}
