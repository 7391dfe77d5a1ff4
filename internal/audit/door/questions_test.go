package door_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// harmless are the results that a question may have: they can't be read, stand for
// rows, or hold public facts.
var harmless = []string{
	"release.Answer", "release.Minimand", "*release.Rows",
	"*curator.Data", "[]*curator.Data", "*curator.Sums", "curator.Point", "*curator.Ensemble", "*curator.ClassEnsemble", "*curator.Walk", "*curator.Framed", "*curator.Classes", "*curator.ClassFramed", "*curator.Coordinates", "*release.Ranking",
	"curator.Encoding", "curator.Facts", "*curator.File", "error",
}

// readable are the functions of the curator that return numbers or text, and why these
// don't come from rows.
var readable = map[string]string{
	"Columns":                "the shape of a matrix is public",
	"Scores":                 "the rows are the caller's queries and the weights were released",
	"File.Columns":           "the number of columns is public",
	"File.Schema":            "the schema is public",
	"Data.Stored":            "where the rows lie is public",
	"Data.Parties":           "who holds the rows is public",
	"Data.Ordered":           "whether a caller orders persons is public",
	"Unpack":                 "of moments that were released",
	"MeanSensitivity":        "of public bounds",
	"LabelRange":             "of a public bound",
	"LabelSteps":             "of a public bound",
	"WeightBound":            "of public bounds",
	"Sums.Len":               "the number of rows is public",
	"Sums.Curved":            "a property of the loss",
	"Sums.Dim":               "the number of columns is public",
	"Classes.Len":            "the number of rows is public",
	"Classes.Dim":            "the number of columns is public",
	"Framed.Dim":             "the number of columns is public",
	"Point.ScoreSensitivity": "a sensitivity, of public bounds",
	"Data.Len":               "the number of rows is public",
	"NewSparse":              "the matrix is the caller's own",
	"NewIdentity":            "of public bounds",
	"NewSchema":              "of a public schema",
	"ReadHere":               "who reads the rows is public",
	"FeaturesOf":             "where labels alone are private: see TestFeaturesAreForLabels",
	"Features.Sum":           "where labels alone are private: see TestFeaturesAreForLabels",
}

// TestQuestionsHaveAnswers lists what package curator exports. Whatever it returns is
// an answer, or can be said to be public; and what holds rows has no exported field
// and prints its shape, as fmt reads unexported fields too.
func TestQuestionsHaveAnswers(t *testing.T) {
	s := parsed(t, module+"/internal/curator")
	seen := map[string]bool{}
	for _, name := range s.pkg.Scope().Names() {
		o := s.pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		if f, ok := o.Type().(*types.Signature); ok { // a function, or a variable that is one
			seen[name] = true
			checkResults(t, name, f)
			continue
		}
		n, ok := types.Unalias(o.Type()).(*types.Named)
		if _, constant := o.(*types.Const); constant || !ok || n.Obj().Pkg() != s.pkg && name != "Framed" && name != "Question" {
			if _, variable := o.(*types.Var); variable {
				t.Errorf("curator.%s is a variable: it may hold a raw number", name)
			}
			continue
		}
		for m := range n.Methods() {
			if m.Exported() && m.Name() != "Format" {
				seen[name+"."+m.Name()] = true
				checkResults(t, name+"."+m.Name(), m.Signature())
			}
		}
		if fields, ok := n.Underlying().(*types.Struct); ok && name != "Facts" {
			for f := range fields.Fields() {
				if f.Exported() {
					t.Errorf("curator.%s has an exported field %s, by which raw numbers could be read", name, f.Name())
				}
			}
			if types.NewMethodSet(types.NewPointer(n)).Lookup(s.pkg, "Format") == nil {
				t.Errorf("curator.%s has no method Format: fmt would print what it holds", name)
			}
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d questions were found: %v", len(seen), seen)
	}
	for name := range readable {
		if !seen[name] {
			t.Errorf("curator.%s isn't there: the list must not allow more than there is", name)
		}
	}
}

func checkResults(t *testing.T, name string, f *types.Signature) {
	t.Helper()
	for r := range f.Results().Variables() {
		if g, ok := r.Type().(*types.Signature); ok { // a function that answers
			checkResults(t, name, g)
			continue
		}
		kind := strings.ReplaceAll(types.TypeString(r.Type(), (*types.Package).Name), " ", "")
		if !slices.Contains(harmless, kind) && readable[name] == "" {
			t.Errorf("curator.%s returns a %s, which can be read: questions return answers, and what is public must be listed here with the reason", name, kind)
		}
	}
	for p := range f.Params().Variables() { // what is called with raw numbers can keep them
		if g, ok := p.Type().Underlying().(*types.Signature); ok && !harmlessCallback(g) && name != "Features.Sum" {
			t.Errorf("curator.%s takes a function of type %v, which it could call with raw numbers", name, g)
		}
	}
}

// harmlessCallback reports whether a function takes counters, or a question: that has no
// exported field and no method but Format, as TestQuestionsHaveAnswers holds.
func harmlessCallback(f *types.Signature) bool {
	text := types.TypeString(f, func(p *types.Package) string { return p.Name() })
	return slices.Contains([]string{"func(done int, total int)", "func(done, total int)", "func(*curator.Question) error", "func(q *curator.Question) error"}, text)
}

// TestFeaturesAreForLabels holds that features as they are, without noise, are asked for by package labelsonly alone, and that
// this is called where a budget is for labels alone: where a plan's field labels says so, which is set from a budget. So are sensitivities
// that are a label's alone.
func TestFeaturesAreForLabels(t *testing.T) {
	only := module + "/internal/labelsonly"
	uses := map[string][]string{}
	for _, path := range listed(t, "{{if .GoFiles}}{{.ImportPath}}\n{{end}}", "./...") {
		s := parsed(t, path)
		s.inside(func(_ *ast.Ident, o types.Object, function string) {
			if name := used(o); o.Pkg() != nil && (name == "curator.FeaturesOf" || name == "questions.LabelAlone" || o.Pkg().Path() == only && (name == "labelsonly.Fit" || name == "labelsonly.FitClasses" || name == "labelsonly.Infer" || name == "labelsonly.InferClasses")) && o.Pkg() != s.pkg {
				uses[name] = append(uses[name], path+" "+function)
			}
		})
	}
	want := map[string][]string{
		"curator.FeaturesOf":      {only + " begin"},
		"questions.LabelAlone":    {only + " fit.ofClasses"},
		"labelsonly.Fit":          {module + " standardised.train"},
		"labelsonly.FitClasses":   {module + " standardised.trainClasses"},
		"labelsonly.Infer":        {module + " inference.train"},
		"labelsonly.InferClasses": {module + " standardised.inferClasses"},
	}
	for name, in := range want {
		if !slices.Equal(uses[name], in) {
			t.Errorf("%s is used in %v, and may be in %v only", name, uses[name], in)
		}
	}
	s := parsed(t, module)
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for i, to := range a.Lhs {
				if of, ok := to.(*ast.SelectorExpr); ok && of.Sel.Name == "labels" && strings.HasSuffix(s.info.TypeOf(of.X).String(), "standardised") {
					if and, ok := a.Rhs[i].(*ast.BinaryExpr); !ok || types.ExprString(and.X) != "b.labelsOnly" {
						t.Errorf("%s: labels is set from something else than a budget", s.at(a.Pos()))
					}
				}
			}
			return true
		})
	}
}

// TestAnswersCannotBeRead does the same for package release: what an Answer or a
// Minimand holds is not exported, and no
// function returns numbers but those that add noise.
func TestAnswersCannotBeRead(t *testing.T) {
	s := parsed(t, module+"/internal/release")
	noisy := map[string]string{
		"Allowance.AddNoise": "[]float64", "Allowance.Draw": "[]float64", "Allowance.Minimise": "[]float64", "Allowance.Select": "int", "Allowance.Vote": "bool",
		"Allowance.Choose": "int", "Allowance.Made": "int", "Allowance.Begun": "bool", "Rows.Parts": "[]string", "Allowance.Resumes": "bool", "Allowance.Releases": "int", "L1": "float64", "GaussianNormBound": "float64", "LaplaceNormBound": "float64", "Answer.Sensitivity": "float64", "Minimand.Slope": "float64", "Minimand.Curvature": "float64", // public counts and bounds
	}
	public := []string{"release.Answer", "release.Minimand", "*release.Ranking", "*release.Allowance", "*release.Schedule", "*release.Rows", "[]*release.Rows", "*mechanisms.Ledger", "error"}
	found := 0
	check := func(name string, f *types.Signature) {
		found++
		for r := range f.Results().Variables() {
			if kind := types.TypeString(r.Type(), (*types.Package).Name); !slices.Contains(public, kind) && noisy[name] != kind {
				t.Errorf("release.%s returns a %s: numbers leave by the mechanisms only, %v", name, kind, fmt.Sprint(noisy))
			}
		}
	}
	for _, name := range s.pkg.Scope().Names() {
		o := s.pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch typ := o.Type().(type) {
		case *types.Signature:
			check(name, typ)
		case *types.Named:
			if types.IsInterface(typ) {
				continue
			}
			for m := range typ.Methods() {
				if m.Exported() && m.Name() != "Format" {
					check(name+"."+m.Name(), m.Signature())
				}
			}
			if fields, ok := typ.Underlying().(*types.Struct); ok && name != "Event" {
				for f := range fields.Fields() {
					if f.Exported() {
						t.Errorf("release.%s has an exported field %s", name, f.Name())
					}
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d functions were found", found)
	}
}

// TestDoorDoesNotLook finds where package release touches what an Answer holds: it is
// counted and copied, never compared, so that nothing is refused, redrawn or stopped
// for a raw number, however seldom.
func TestDoorDoesNotLook(t *testing.T) {
	s, found := parsed(t, module+"/internal/release"), 0
	for _, file := range s.files {
		fine := map[ast.Node]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "len" || id.Name == "append") {
					for _, arg := range n.Args {
						fine[arg] = true
					}
				}
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					fine[left] = true
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "values" && named(s.info.TypeOf(n.X)) == "Answer" {
					if found++; !fine[n] {
						t.Errorf("%s: a raw answer's values are used other than to count or copy them", s.at(n.Pos()))
					}
				}
			}
			return true
		})
	}
	if found < 3 {
		t.Errorf("values of answers are used %d times only", found)
	}
}
