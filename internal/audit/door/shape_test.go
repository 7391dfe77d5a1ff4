package door_test

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// TestDoorPlans finds every place that makes a plan.
func TestDoorPlans(t *testing.T) {
	s := parsed(t, module)
	makers, found := map[string]string{"Plan": "newPlan", "PredictorPlan": "newPredictorPlan"}, 0
	for _, file := range s.files {
		for _, decl := range file.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				var made ast.Expr
				switch n := n.(type) {
				case *ast.CompositeLit:
					made = n
				case *ast.CallExpr: // new(Plan)
					if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "new" {
						made = n.Args[0]
					}
				}
				if made == nil {
					return true
				}
				if maker, ok := makers[named(s.info.TypeOf(made))]; ok {
					found++
					if f, ok := decl.(*ast.FuncDecl); !ok || f.Name.Name != maker {
						t.Errorf("%s makes a %s: only %s may, which holds the ledger against the budget", s.at(made.Pos()), named(s.info.TypeOf(made)), maker)
					}
				}
				return true
			})
		}
	}
	if found < len(makers) {
		t.Errorf("only %d places that make plans were found", found)
	}
}

// TestDoorFields lists the fields of what a caller gets, or hands back: the types that
// outlive a run have no room for a number that was computed from rows.
func TestDoorFields(t *testing.T) {
	s := parsed(t, module)
	for name, want := range map[string]string{
		"Dataset": "data *curator.Data, facts dpglm.Facts",
		// library is a constant of the program that trained, and what a response has is the loss's.
		"Model":    "weights [][]float64, facts dpglm.Facts, columns int, response dpglm.response, offset float64, ledger *dpglm.Ledger, library string",
		"response": "loss string, labels losses.Labels, link losses.Link, thresholds []float64, classes int",
	} {
		fields := s.pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		var got []string
		for f := range fields.Fields() {
			got = append(got, f.Name()+" "+types.TypeString(f.Type(), (*types.Package).Name))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s has the fields\n%s, want\n%s: a field more needs a reason why it holds nothing from rows but what was released", name, strings.Join(got, ", "), want)
		}
	}
}

// matrices are the functions that take one: private rows come in by NewDataset, other
// matrices are the caller's queries or were released.
var matrices = []string{"NewDataset", "WriteRows", "raw", "queries", "Model.Scores", "Model.Predict", "Model.Probabilities", "Model.Means", "Model.MeansAt", "meansOf", "Inference.Means", "scoreErrors",
	"predictLevels",
	"newton", "noisy.towards", "beyondMean"} // of Hessians that were released

func TestDoorMatrices(t *testing.T) {
	found := 0
	for path := range mayUse {
		if path == module+"/internal/labelsonly" { // whose matrices are of public features, or were released
			continue
		}
		s := parsed(t, path)
		for _, o := range s.info.Defs {
			f, ok := o.(*types.Func)
			if !ok || f.Pkg() == nil {
				continue
			}
			for p := range f.Signature().Params().Variables() {
				if !strings.Contains(types.TypeString(p.Type(), (*types.Package).Name), "mat.") {
					continue
				}
				found++
				if _, name, _ := strings.Cut(used(f), "."); !slices.Contains(matrices, name) {
					t.Errorf("%s: %s takes a matrix: private rows come in by NewDataset only", s.at(f.Pos()), name)
				}
			}
		}
	}
	if found < len(matrices) {
		t.Errorf("only %d functions that take matrices were found", found)
	}
}

// Engines have matrices, of released numbers: nobody hands them one.
func TestDoorMatricesOfEngines(t *testing.T) {
	found := 0
	for path := range mayUse {
		if path == module {
			continue
		}
		s := parsed(t, path)
		for _, o := range s.info.Defs {
			f, ok := o.(*types.Func)
			if !ok || !f.Exported() {
				continue
			}
			found++
			for p := range f.Signature().Params().Variables() {
				if strings.Contains(types.TypeString(p.Type(), (*types.Package).Name), "mat.") {
					t.Errorf("%s: %s takes a matrix: engines ask the curator", s.at(f.Pos()), f.Name())
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d functions were found", found)
	}
}

// TestDoorIn follows the rows and labels that NewDataset and WriteRows are given: they go to
// the curator, and nothing else is done with them.
func TestDoorIn(t *testing.T) {
	s, found := parsed(t, module), 0
	for _, file := range s.files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name != "NewDataset" && f.Name.Name != "WriteRows" {
				continue
			}
			private, name := map[types.Object]bool{}, f.Name.Name
			for _, field := range f.Type.Params.List {
				for _, id := range field.Names {
					if id.Name == "x" || id.Name == "y" {
						private[s.info.Defs[id]] = true
					}
				}
			}
			passed := map[*ast.Ident]bool{}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					var callee types.Object
					switch fun := n.Fun.(type) {
					case *ast.Ident:
						callee = s.info.Uses[fun]
					case *ast.SelectorExpr:
						callee = s.info.Uses[fun.Sel]
					}
					for _, arg := range n.Args {
						if id, ok := arg.(*ast.Ident); ok && callee != nil && callee.Pkg() != nil && slices.Contains([]string{"dpglm.raw", "curator.Open", "curator.WriteFile"}, used(callee)) {
							passed[id] = true
						}
					}
				case *ast.AssignStmt:
					for _, left := range n.Lhs {
						if id, ok := left.(*ast.Ident); ok {
							passed[id] = true // x, columns, err = raw(x)
						}
					}
				}
				return true
			})
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && private[s.info.Uses[id]] {
					if found++; !passed[id] {
						t.Errorf("%s: %s uses %s other than as an argument of raw, curator.Open or curator.WriteFile", s.at(id.Pos()), name, id.Name)
					}
				}
				return true
			})
		}
	}
	if found < 6 {
		t.Errorf("rows and labels are used %d times only", found)
	}
}

// TestDoorTables follows what a table gives of its rows: it goes to NewDataset, and
// nothing else is done with it but to ask whether it is there.
func TestDoorTables(t *testing.T) {
	s, found := parsed(t, module), 0
	public := []string{"Table.Encoder", "Table.Bound", "Table.Label", "Table.PersonCount", "Table.AtMost", "Table.CallersCoins"}
	for _, file := range s.files {
		fine := map[ast.Node]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if id, ok := n.Y.(*ast.Ident); ok && id.Name == "nil" {
					fine[n.X] = true
				}
			case *ast.KeyValueExpr: // of a detail of rows
				if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Of" {
					fine[n.Value] = true
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "NewDataset" {
					for _, arg := range n.Args {
						fine[arg] = true
					}
				}
				fun, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || s.info.Selections[fun] == nil || named(s.info.Selections[fun].Recv()) != "Table" {
					return true
				}
				if found++; !fine[n] && !slices.Contains(public, "Table."+fun.Sel.Name) {
					t.Errorf("%s: what Table.%s returns is used other than as an argument of NewDataset", s.at(n.Pos()), fun.Sel.Name)
				}
			}
			return true
		})
	}
	if found < 5 {
		t.Errorf("only %d calls of a table's methods were found", found)
	}
}

// TestDoorDetails follows persons, weights and offsets: they are handed on to the curator,
// and nothing else is done with them but to ask whether they are there.
func TestDoorDetails(t *testing.T) {
	s, found := parsed(t, module), 0
	raw := []string{"Persons.Of", "Weights.Of", "Offsets.Of", "Owners.Persons", "Owners.Weights", "details.offsets"}
	for _, file := range s.files {
		fine := map[ast.Node]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if id, ok := n.Y.(*ast.Ident); ok && id.Name == "nil" {
					fine[n.X] = true
				}
			case *ast.AssignStmt: // details of one kind
				for k := range n.Lhs {
					if to, ok := n.Lhs[k].(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
						fine[to], fine[n.Rhs[k]] = true, true
					}
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Persons", "Weights"}, id.Name) {
					fine[n.Value] = true
				}
			case *ast.CallExpr:
				if fun, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Own", "Shift", "WriteFile"}, fun.Sel.Name) {
					for _, arg := range n.Args {
						fine[arg] = true
					}
				}
			case *ast.SelectorExpr:
				of := s.info.Selections[n]
				if of == nil || !slices.Contains(raw, named(of.Recv())+"."+n.Sel.Name) {
					return true
				}
				if found++; !fine[n] {
					t.Errorf("%s: %s is used other than to be handed on", s.at(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
	if found < 12 {
		t.Errorf("only %d uses were found", found)
	}
}

// TestDoorCallbacks finds what code of the root package or an engine the curator could call with raw
// numbers: there is none. Losses, maps and sources of noise are made elsewhere, and
// functions that are handed to the curator or to the door take counters, or questions.
func TestDoorCallbacks(t *testing.T) {
	// Methods of the interfaces that raw numbers are given to: losses.Loss,
	// sketch.Map, mechanisms.Source, release.Recorder.
	given, kinds := []string{"Deriv", "Value", "Apply", "Uint64", "Record"}, 0
	asked := 0
	for path := range mayUse {
		s := parsed(t, path)
		kinds += kindsWithout(t, s, given)
		asked += callsWithout(t, s)
	}
	if kinds < 50 || asked < 60 {
		t.Errorf("only %d types, and %d calls of the curator and the door, were found", kinds, asked)
	}
}

// kindsWithout counts the types of a package that have none of the methods.
func kindsWithout(t *testing.T, s *source, given []string) (kinds int) {
	t.Helper()
	for _, name := range s.pkg.Scope().Names() {
		o, ok := s.pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || types.IsInterface(o.Type()) {
			continue
		}
		kinds++
		set := types.NewMethodSet(types.NewPointer(o.Type()))
		for _, method := range given {
			if set.Lookup(s.pkg, method) != nil {
				t.Errorf("%s: %s has a method %s, by which it could be given raw numbers", s.at(o.Pos()), name, method)
			}
		}
	}
	return kinds
}

// callsWithout counts the calls of the curator and the door that hand them no function that takes
// numbers.
func callsWithout(t *testing.T, s *source) (asked int) {
	t.Helper()
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			var callee types.Object
			if fun, ok := call.Fun.(*ast.SelectorExpr); ok {
				callee = s.info.Uses[fun.Sel]
			}
			if callee == nil || callee.Pkg() == nil || !strings.HasSuffix(callee.Pkg().Path(), "internal/curator") && !strings.HasSuffix(callee.Pkg().Path(), "internal/release") {
				return true
			}
			asked++
			for _, arg := range call.Args {
				if f, ok := s.info.TypeOf(arg).Underlying().(*types.Signature); ok && !harmlessCallback(f) && used(callee) != "curator.Features.Sum" { // see TestFeaturesAreForLabels
					t.Errorf("%s: a function of type %v is handed to %s, which could call it with raw numbers", s.at(arg.Pos()), f, used(callee))
				}
			}
			return true
		})
	}
	return asked
}
