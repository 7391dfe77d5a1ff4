package door_test

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
	"slices"
	"strings"
	"sync"
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

// What the go command lists of each package, once: files of what the compiler exports of it, and those of its source.
// Packages that were read are kept, and so is what they import.
var (
	exports  = map[string]string{}
	goFiles  = map[string][]string{}
	sources  = map[string]*source{}
	files    = token.NewFileSet()
	imported = importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	exported sync.Once
)

// parsed type-checks a package of the module from its files, and what it imports from
// what the compiler exports of it.
func parsed(t *testing.T, path string) *source {
	t.Helper()
	exported.Do(func() {
		for _, line := range listed(t, "{{$d := .Dir}}{{if .Export}}{{.ImportPath}}\t{{.Export}}{{if not .Standard}}{{range .GoFiles}}\t{{$d}}/{{.}}{{end}}{{end}}\n{{end}}", "-export", "-deps", "./...") {
			parts := strings.Split(line, "\t")
			exports[parts[0]], goFiles[parts[0]] = parts[1], parts[2:]
		}
	})
	if s := sources[path]; s != nil {
		return s
	}
	s := &source{fset: files}
	for _, name := range goFiles[path] {
		f, err := parser.ParseFile(s.fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	if len(s.files) == 0 {
		t.Fatalf("no files in %s", path)
	}
	config := types.Config{Importer: imported}
	s.info = types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	var err error
	if s.pkg, err = config.Check(path, s.fset, s.files, &s.info); err != nil {
		t.Fatal(err)
	}
	sources[path] = s
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

// named is the name of a type or of what it points to.
func named(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name()
	}
	return t.String()
}

// inside calls f with each identifier that stands for an object of another package, and
// with the function that it stands in.
func (s *source) inside(f func(id *ast.Ident, o types.Object, function string)) {
	for _, file := range s.files {
		for _, decl := range file.Decls {
			function := "no function"
			if d, ok := decl.(*ast.FuncDecl); ok {
				function = d.Name.Name
				if d.Recv != nil {
					function = named(s.info.TypeOf(d.Recv.List[0].Type)) + "." + function
				}
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && s.info.Uses[id] != nil && s.info.Uses[id].Pkg() != nil {
					f(id, s.info.Uses[id], function)
				}
				return true
			})
		}
	}
}

// mayUse are, for each package that asks of rows, those with numbers that were computed from
// rows, or that draw noise, and all that it may use of them. What is missing here is what could
// read a raw answer, make an answer with another sensitivity, or release outside of a
// schedule. Engines can but draw from what they are allowed.
var mayUse = map[string]map[string][]string{
	module: rootUses,
	module + "/internal/estimate": {
		module + "/internal/release": {"Answer", "Answer.Sensitivity", "Allowance", "Allowance.Draw"},
		module + "/mechanisms":       {},
	},
	module + "/internal/frankwolfe": {
		module + "/internal/release": {"Allowance", "Allowance.Part", "Allowance.Choose"},
		module + "/mechanisms":       {"Exponential"},
	},
	module + "/internal/ordinal": {
		module + "/internal/release": {},
		module + "/mechanisms":       {},
	},
	module + "/internal/infer": {
		module + "/internal/release": {},
		module + "/mechanisms":       {},
	},
	module + "/internal/labelsonly": {
		module + "/internal/release": {},
		module + "/mechanisms":       {},
	},
	module + "/internal/evaluate": {
		module + "/internal/release": {"Answer", "Allowance", "Allowance.Draw"},
		module + "/mechanisms":       {},
	},
}

var rootUses = map[string][]string{
	module + "/internal/release": {
		"Answer", "Answer.WithConstant",
		"Rows.Parts", "Schedule", "Schedule.Ledger", "Schedule.Anew", "Schedule.Allow", "Selector", "L1",
		"Gaussian", "Laplace", "Vote", "Plurality", "Selection", "Objective", "PureObjective", "GaussianNormBound", "LaplaceNormBound", "Pool", "Rankings", "Sequential", "Parallel", "Replicated", "Woven",
		"Allowance", "Allowance.Part", "Allowance.On", "Allowance.Skip", "Allowance.Made",
		"Allowance.Keep", "Allowance.Begun", "Allowance.Releases", "Allowance.Resumes",
		"Allowance.AddNoise", "Allowance.Select", "Allowance.Vote", "Allowance.Minimise",
	},
	module + "/mechanisms": {
		"Ledger", "Ledger.GroupEpsilon", "Ledger.GroupMu", "Ledger.Mu", "Ledger.GroupWithin", "Ledger.Claim", "Ledger.WithCallerNoise", "Ledger.WithClaim", "Claim", "Ledger.Unit", "Ledger.WithUnit", "Unit", "Unit.AddRemove", "AddRemove", "OneRow", "OnePerson", "OneLabel",
		"Gaussian", "Gaussian.Ledger", "Gaussian.Sigma", "Laplace", "Laplace.Scale", "Vote", "Vote.Ledger",
		"Exponential", "GeneralizedExponential", "NoisyMax", "PermuteAndFlip", "ObjectivePerturbation", "PureObjectivePerturbation",
		"CalibrateGaussian", "GaussianMu",
		"Source", "NewSecureSource",
	},
}

// onlyIn are the functions that alone may use something.
var onlyIn = map[string]struct {
	functions []string
	why       string
}{
	"mechanisms.NewSecureSource":        {[]string{"Env.noise"}, "noise has one source in a run"},
	"mechanisms.Ledger.WithCallerNoise": {[]string{"Env.mark", "Predictor.mark"}, "a ledger says where its noise came from"},
	"release.Schedule.Allow":            {[]string{"Env.allow", "PredictorPlan.Run"}, "a schedule that is allowed twice releases twice what its ledger counts"},
	"release.Schedule.Anew":             {[]string{"Plan.observed", "PredictorPlan.Run"}, "a run has a schedule of its own, and a ledger that counts it"},
	"release.Allowance.Skip":            {[]string{"Predictor.Restore"}, "only what an earlier program released is skipped"},
}

// TestDoorHoldsTheRoot holds what the root package and the engines use of others against the
// lists above: none has a number that was computed from rows and has not passed a mechanism.
func TestDoorHoldsTheRoot(t *testing.T) {
	only := map[string]bool{}
	for path, uses := range mayUse {
		s, seen := parsed(t, path), map[string]bool{}
		s.inside(func(id *ast.Ident, o types.Object, function string) {
			name := used(o)
			if allowed, ok := uses[o.Pkg().Path()]; ok {
				field, _ := o.(*types.Var)
				parameter := field != nil && field.IsField() && o.Pkg().Path() == module+"/mechanisms"
				_, bare, _ := strings.Cut(name, ".")
				seen[o.Pkg().Path()+"."+bare] = true
				if !parameter && !slices.Contains(allowed, bare) {
					t.Errorf("%s: %s uses %s, which isn't among what package %s may use: raw answers leave by allowances only (what can't read one, make one or draw noise may be added to mayUse)", s.at(id.Pos()), function, name, s.pkg.Name())
				}
			}
			if in, ok := onlyIn[name]; ok {
				only[name] = true
				if path != module || !slices.Contains(in.functions, function) {
					t.Errorf("%s: %s uses %s, which only %v may: %s", s.at(id.Pos()), function, name, in.functions, in.why)
				}
			}
		})
		for of, allowed := range uses {
			for _, bare := range allowed {
				if !seen[of+"."+bare] {
					t.Errorf("%s.%s is used nowhere in %s: the list must not allow more than there is, nor this test look past it", of, bare, path)
				}
			}
		}
	}
	for name := range onlyIn {
		if !only[name] {
			t.Errorf("%s is used nowhere: this test looks past it", name)
		}
	}
}

// imports are all that the packages between rows and noise may import beside the module's
// own and gonum. None of them prints, logs, dials, reads clocks, looks under the
// compiler's hood or draws randomness of its own; curator's random order is public,
// from mechanisms' seeded source.
var imports = map[string][]string{
	module:                          {"bytes", "cmp", "context", "crypto/sha256", "encoding/binary", "encoding/json", "errors", "fmt", "io", "iter", "maps", "math", "slices", "sort", "strings", "sync", "unicode/utf8"},
	module + "/internal/estimate":   {"context", "errors", "math", "slices"},
	module + "/internal/frankwolfe": {"math", "slices"},
	module + "/internal/ordinal":    {"math"},
	module + "/internal/infer":      {"errors", "math", "slices"},
	module + "/internal/labelsonly": {"context", "math", "slices"},
	module + "/internal/evaluate":   {"context", "fmt", "math", "math/rand/v2", "slices", "sort"},
	module + "/internal/tuning":     {},
	module + "/internal/release":    {"context", "errors", "fmt", "math", "slices", "sync", "sync/atomic"},
	module + "/internal/curator":    {"cmp", "context", "errors", "fmt", "math", "math/rand/v2", "reflect", "slices", "sort", "sync"},
}

// importers are the only packages that may import those that hold raw numbers.
var importers = map[string][]string{
	module + "/internal/curator": {module, module + "/internal/estimate", module + "/internal/frankwolfe", module + "/internal/infer", module + "/internal/labelsonly", module + "/internal/evaluate"},
	module + "/internal/release": {module, module + "/internal/estimate", module + "/internal/frankwolfe", module + "/internal/evaluate", module + "/internal/curator", module + "/internal/curator/internal/questions", given},
}

// given is what the audits share: it hears raw numbers, and only tests import it.
const given = module + "/internal/audit/given"

// below lists what a package must not import, directly or not: whoever reads it needs
// not read those.
var below = map[string][]string{
	module + "/internal/accounting": {module, module + "/mechanisms", module + "/internal/release", module + "/internal/curator"},
	module + "/mechanisms":          {module, module + "/internal/release", module + "/internal/curator"},
	module + "/internal/release":    {module, module + "/internal/curator"},
	module + "/internal/curator":    {module, module + "/internal/estimate"},
	module + "/internal/estimate":   {module, module + "/internal/infer", module + "/internal/frankwolfe", module + "/internal/ordinal"},
	module + "/internal/infer":      {module, module + "/internal/labelsonly"},
	module + "/internal/labelsonly": {module},
	module + "/internal/evaluate":   {module, module + "/internal/estimate", module + "/internal/infer"},
	module + "/internal/histogram":  {module, module + "/mechanisms", module + "/internal/release", module + "/internal/curator"},
}

func TestDoorImports(t *testing.T) {
	for path, allowed := range imports {
		s := parsed(t, path)
		for _, f := range s.files {
			for _, i := range f.Imports {
				name := strings.Trim(i.Path.Value, `"`)
				if !slices.Contains(allowed, name) && !under(name, module) && !under(name, "gonum.org/v1/gonum") {
					t.Errorf("%s imports %s, which isn't among what package %s may: raw numbers leave by the door only", s.at(i.Pos()), name, s.pkg.Name())
				}
			}
			for _, g := range f.Comments {
				if strings.Contains(g.Text(), "go:linkname") || strings.Contains(g.List[0].Text, "go:linkname") {
					t.Errorf("%s: go:linkname reaches what isn't exported", s.at(g.Pos()))
				}
			}
		}
	}
	for _, line := range listed(t, "{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}\n{{end}}", "./...") {
		if from, to, _ := strings.Cut(line, " "); to == module+"/internal/curator/worker" && from != module+"/table/party" && from != given {
			t.Errorf("%s imports %s, which only packages beam and party may: it returns raw sums", from, to)
		}
	}
	found := map[string]bool{}
	for _, line := range listed(t, "{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}\n{{end}}", "./...") {
		from, to, _ := strings.Cut(line, " ")
		if under(to, module+"/internal/audit") && !under(from, module+"/internal/audit") {
			t.Errorf("%s imports %s, which only tests may", from, to)
		}
		if allowed, ok := importers[to]; ok {
			found[to] = true
			// Programs may measure what no learner may use.
			if !slices.Contains(allowed, from) && !under(from, module+"/examples") {
				t.Errorf("%s imports %s, which only %v may", from, to, allowed)
			}
		}
	}
	if len(found) != len(importers) {
		t.Fatalf("imports of %v only were found", found)
	}
	for path, high := range below {
		for _, dep := range listed(t, "{{.ImportPath}}\n", "-deps", path) {
			if slices.Contains(high, dep) {
				t.Errorf("%s depends on %s: what is below must be readable alone", path, dep)
			}
		}
	}
}

// listed are the lines of go list.
func listed(t *testing.T, format string, args ...string) []string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go tool")
	}
	out, err := exec.Command(tool, append([]string{"list", "-f", format}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}
