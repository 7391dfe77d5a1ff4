package dpglm_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/dpglm/dpglm"

// source is a package's files, type-checked, without tests.
type source struct {
	fset  *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  types.Info
}

// parsed type-checks a package of the module from its files, and what it imports from
// what the compiler exports of it.
func parsed(t *testing.T, path string) *source {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go tool")
	}
	list := func(format string, args ...string) []string {
		out, err := exec.Command(tool, append([]string{"list", "-f", format}, args...)...).Output()
		if err != nil {
			t.Fatalf("go list %v: %v", args, err)
		}
		return strings.Fields(string(out))
	}
	exports := map[string]string{}
	for _, line := range list("{{if .Export}}{{.ImportPath}}={{.Export}}{{end}}", "-export", "-deps", path) {
		name, file, _ := strings.Cut(line, "=")
		exports[name] = file
	}
	s := &source{fset: token.NewFileSet()}
	dir := list("{{.Dir}}", path)[0]
	for _, name := range list(`{{range .GoFiles}}{{.}} {{end}}`, path) {
		f, err := parser.ParseFile(s.fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	if len(s.files) == 0 {
		t.Fatalf("no files in %s", path)
	}
	config := types.Config{Importer: importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	s.info = types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if s.pkg, err = config.Check(path, s.fset, s.files, &s.info); err != nil {
		t.Fatal(err)
	}
	return s
}

// at is a position, by file and line.
func (s *source) at(p token.Pos) string {
	pos := s.fset.Position(p)
	return fmt.Sprintf("%s:%d", filepath.Base(pos.Filename), pos.Line)
}

// used is an object's name as in release.Allowance.AddNoise.
func used(o types.Object) string {
	name := o.Name()
	if f, ok := o.(*types.Func); ok {
		if r := f.Type().(*types.Signature).Recv(); r != nil {
			name = named(r.Type()) + "." + name
		}
	}
	return o.Pkg().Name() + "." + name
}

func named(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return t.String()
}

func TestPrintUses(t *testing.T) {
	s := parsed(t, module)
	seen := map[string]string{}
	for id, o := range s.info.Uses {
		if o.Pkg() != nil && o.Pkg() != s.pkg && strings.HasPrefix(o.Pkg().Path(), module) {
			if v, ok := o.(*types.Var); ok && v.IsField() {
				seen[used(o)+" (field)"] = s.at(id.Pos())
			} else {
				seen[used(o)] = s.at(id.Pos())
			}
		}
	}
	for k, v := range seen {
		fmt.Println("USE", k, v)
	}
	for _, f := range s.files {
		for _, i := range f.Imports {
			fmt.Println("IMP", i.Path.Value)
		}
	}
}
