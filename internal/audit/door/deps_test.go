package door_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Whoever imports the library gets the standard library, gonum, x/exp and x/sys,
// and nothing that only the examples need.
func TestLibraryDependencies(t *testing.T) {
	const module = "github.com/dpglm/dpglm"
	packages := []string{}
	for _, path := range goList(t, "./...") {
		if !strings.HasPrefix(path, module+"/examples/") {
			packages = append(packages, path)
		}
	}
	if len(packages) < 4 {
		t.Fatalf("found only %q", packages)
	}
	deps := goList(t, append([]string{"-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, packages...)...)
	if len(deps) <= len(packages) {
		t.Fatalf("found only %q", deps)
	}
	for _, path := range deps {
		if !under(path, module) && !under(path, "gonum.org/v1/gonum") && !under(path, "golang.org/x/exp") && !under(path, "golang.org/x/sys") || under(path, module+"/examples") {
			t.Errorf("the library depends on %s", path)
		}
	}
}

// What only the examples need is not among the module's requirements either: they do
// without it, or are modules of their own.
func TestModuleRequirements(t *testing.T) {
	got := goList(t, "-m", "-f", "{{if not (or .Indirect .Main)}}{{.Path}}{{end}}", "all")
	if want := []string{"golang.org/x/exp", "golang.org/x/sys", "gonum.org/v1/gonum"}; !slices.Equal(got, want) {
		t.Errorf("the module requires %q, want %q", got, want)
	}
}

// The examples that are there to be copied import nothing that another module can't.
func TestExamplesToCopy(t *testing.T) {
	const examples = "github.com/dpglm/dpglm/examples/"
	for _, name := range []string{"quickstart", "persons", "serve"} {
		imports := goList(t, "-f", "{{join .Imports \"\\n\"}}", "./examples/"+name)
		if len(imports) == 0 {
			t.Fatalf("%s imports nothing", name)
		}
		for _, path := range imports {
			if strings.Contains(path, "/internal/") || strings.HasPrefix(path, examples) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go tool")
	}
	out, err := exec.Command(tool, append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
	}
	return strings.Fields(string(out))
}
