package door_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// What a reader has to hold in mind at once is limited, in every package but examples.
const (
	mostInCircle  = 8  // files that use one another's names, all of them
	mostFields    = 15 // of a struct, those of embedded ones counted; not of wire forms and configs
	mostMethods   = 25 // of a type, promoted ones counted
	mostLines     = 50 // of a function that isn't generated
	mostRootFiles = 45
	mostNames     = 117 // exported ones of the root, methods and fields aside
)

// TestHouse holds the limits.
func TestHouse(t *testing.T) {
	paths := listed(t, "{{if .GoFiles}}{{.ImportPath}}\n{{end}}", "./...")
	if len(paths) < 20 {
		t.Fatalf("only %d packages", len(paths))
	}
	for _, path := range paths {
		if strings.Contains(path, "/examples/") {
			continue
		}
		s := parsed(t, path)
		for _, c := range s.circles() {
			if len(c) > mostInCircle {
				t.Errorf("%s: %d files in a circle: %v", path, len(c), c)
			}
		}
		s.limitTypes(t)
		s.limitFunctions(t)
		if path == module {
			if len(s.files) > mostRootFiles {
				t.Errorf("the root has %d files", len(s.files))
			}
			names := slices.DeleteFunc(s.pkg.Scope().Names(), func(n string) bool { return !ast.IsExported(n) })
			if len(names) > mostNames {
				t.Errorf("the root exports %d names", len(names))
			}
		}
	}
}

func (s *source) file(p token.Pos) string { return filepath.Base(s.fset.Position(p).Filename) }

// circles are the sets of files each of which leads to all others of it, by the names it uses.
func (s *source) circles() (list [][]string) {
	g, ids, names := simple.NewDirectedGraph(), map[string]int64{}, []string{}
	id := func(name string) int64 {
		if _, ok := ids[name]; !ok {
			ids[name] = int64(len(names))
			names = append(names, name)
			g.AddNode(simple.Node(ids[name]))
		}
		return ids[name]
	}
	for use, of := range s.info.Uses {
		if of.Pkg() == s.pkg && of.Pos() != token.NoPos {
			if from, to := id(s.file(use.Pos())), id(s.file(of.Pos())); from != to {
				g.SetEdge(simple.Edge{F: simple.Node(from), T: simple.Node(to)})
			}
		}
	}
	for _, set := range topo.TarjanSCC(g) {
		var files []string
		for _, n := range set {
			files = append(files, names[n.ID()])
		}
		slices.Sort(files)
		list = append(list, files)
	}
	return list
}

func (s *source) limitTypes(t *testing.T) {
	scope := s.pkg.Scope()
	for _, name := range scope.Names() {
		of, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || of.IsAlias() {
			continue
		}
		if n := types.NewMethodSet(types.NewPointer(of.Type())).Len(); n > mostMethods {
			t.Errorf("%s.%s has %d methods", s.pkg.Path(), name, n)
		}
		if named, ok := of.Type().(*types.Named); ok {
			if names := shadows(named); len(names) > 0 {
				t.Errorf("%s.%s shadows %v of what it embeds", s.pkg.Path(), name, names)
			}
		}
		if st, ok := of.Type().Underlying().(*types.Struct); ok {
			if n := fieldsOf(st); n > mostFields && !wire(st) {
				t.Errorf("%s.%s has %d fields", s.pkg.Path(), name, n)
			}
		}
	}
}

// fieldsOf counts those of embedded structs in their place.
func fieldsOf(st *types.Struct) (n int) {
	for f := range st.Fields() {
		of := f.Type()
		if p, ok := of.(*types.Pointer); ok {
			of = p.Elem()
		}
		if inner, ok := of.Underlying().(*types.Struct); ok && f.Embedded() {
			n += fieldsOf(inner)
		} else {
			n++
		}
	}
	return n
}

// shadows are the names that a type has beside those that it gets from what it embeds: two
// meanings of one name. A method of the same signature is the embedded one, refined.
func shadows(of *types.Named) (list []string) {
	st, ok := of.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	own := map[string]types.Type{}
	for m := range of.Methods() {
		own[m.Name()] = m.Signature()
	}
	for f := range st.Fields() {
		own[f.Name()] = f.Type()
	}
	for f := range st.Fields() {
		_, isInterface := f.Type().Underlying().(*types.Interface)
		if !f.Embedded() || isInterface {
			continue
		}
		for name, t := range own {
			o, _, _ := types.LookupFieldOrMethod(f.Type(), true, of.Obj().Pkg(), name)
			if o == nil || name == f.Name() {
				continue
			}
			if _, isMethod := o.(*types.Func); !isMethod || !types.Identical(o.Type(), t) {
				list = append(list, name)
			}
		}
	}
	return list
}

// wire reports whether a struct is written as JSON, field by field: what is stored or configured.
// A field that isn't exported can't be written.
func wire(st *types.Struct) bool {
	written := 0
	for i := range st.NumFields() {
		_, ok := reflect.StructTag(st.Tag(i)).Lookup("json")
		if !ok && st.Field(i).Exported() && !st.Field(i).Embedded() {
			return false
		}
		if ok {
			written++
		}
	}
	return 2*written > st.NumFields()
}

func (s *source) limitFunctions(t *testing.T) {
	for _, f := range s.files {
		if ast.IsGenerated(f) {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1; n > mostLines {
					t.Errorf("%s.%s has %d lines", s.pkg.Path(), fn.Name.Name, n)
				}
			}
		}
	}
}
