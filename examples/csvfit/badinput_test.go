package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each bad input gives a message on stderr that says where it is wrong, nothing on stdout,
// and exit code 1, or 2 where the command line is to blame.
func TestBadInput(t *testing.T) {
	file := func(text string) string { return write(t, "a.csv", text) }
	good := file("a,town,y\n1,york,1\n2,leeds,0\n3,york,0\n4,york,0\n5,york,0\n")
	facts := func(label string) string {
		return write(t, "s.json", `{"version": 1, "label": "y", "columns": [{"name": "a", "kind": "numeric", "range": [0, 9]}, {"name": "y", `+label+`}]}`)
	}
	binary := facts(`"kind": "binary", "positive": ["1"], "negative": ["0"]`)
	fit := func(data, schema string, more ...string) []string {
		return append([]string{"fit", "-test", "0.4", "-epsilon", "1", "-data", data, "-schema", schema}, more...)
	}
	read := func(text string) []string { return fit(file(text), binary) }
	broken := func(schema string) []string { return fit(good, write(t, "s.json", schema)) }
	model := filepath.Join(t.TempDir(), "model.json")
	csvfit(t, "fit", "-data", good, "-schema", binary, "-epsilon", "1", "-o", model)
	rows := filepath.Join(t.TempDir(), "good.rows")
	csvfit(t, "store", "-data", good, "-schema", binary, "-o", rows)
	dir, empty, hazard := t.TempDir(), file(""), write(t, "h.json", followup)
	unread := file("a,y\nnone,1\n") // what is wrong with it isn't said where it isn't read
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"duplicate columns", read("a,a,y\n1,2,1\n"), 1, `"a"`},
		{"ragged", read("a,y\n1,1\n2\n"), 1, "line 3: it has 1 fields"},
		{"not a number", read("a,y\n1,1\nx,0\n"), 1, `line 3, column "a": "x"`},
		{"currency", read("a,y\n$12.5,1\n"), 1, "write 12.5"},
		{"NaN", read("a,y\n1,1\n1e400,0\n"), 1, `line 3, column "a"`},
		{"label not binary", read("a,y\n1,1\n2,7\n"), 1, `line 3, column "y": "7"`},
		{"missing label", read("a,b\n1,1\n"), 1, `"y"`},
		{"no rows", read("a,y\n"), 1, "no row"},
		{"empty", read(""), 1, "empty"},
		{"one row", read("a,y\n1,1\n"), 2, "-test"},
		{"count", fit(file("a,y\n1,-3\n"), facts(`"kind": "count", "cap": 5`)), 1, `"-3"`},
		{"wrong gzip", fit(writeRaw(t, "a.csv.gz", []byte("a,y\n1,1\n")), binary), 1, "gzip"},
		{"missing file", fit(filepath.Join(dir, "none.csv"), binary), 1, "-data " + filepath.Join(dir, "none.csv") + ": there is no such file"},
		{"missing directory", append(fit(good, binary), "-o", filepath.Join(dir, "none", "m.json")), 1, "there is no directory " + filepath.Join(dir, "none")},
		{"hazards of one row each", append(fit(good, hazard), "-method", "objpert", "-o", filepath.Join(dir, "h.json")), 2, "one row of each person"},
		{"hazards by another loss", append(fit(good, hazard), "-loss", "logistic", "-o", filepath.Join(dir, "h.json")), 2, "fitted by poisson"},
		{"unknown ending", fit("a.xlsx", binary), 2, ".libsvm"},
		{"Parquet", fit("a.parquet", binary), 2, "export the table as CSV, or read it in Go by columnar.ReadParquetFile"},
		{"Arrow", []string{"init", "-data", "a.arrow"}, 2, "export the table as CSV, or read it in Go by columnar.ReadArrowFile"},
		{"init of rows", []string{"init", "-data", rows}, 2, "is a file of rows, which only csvfit fit -data takes: name the file that it was made of"},
		{"predict of rows", []string{"predict", "-model", model, "-data", rows}, 2, "is a file of rows, which only csvfit fit"},
		{"observe of rows", []string{"observe", "-schema", binary, "-data", rows}, 2, "is a file of rows, which only csvfit fit"},
		{"check of rows", []string{"check", "-schema", binary, "-data", rows}, 2, "is a file of rows, which only csvfit fit"},
		{"rows of rows", []string{"store", "-schema", binary, "-data", rows, "-o", filepath.Join(dir, "a.rows")}, 2, "is a file of rows, which only csvfit fit"},
		{"moments of rows", []string{"moments", "-schema", binary, "-data", rows, "-epsilon", "1", "-o", filepath.Join(dir, "m.json")}, 2, "is a file of rows, which only csvfit fit"},
		{"standard input as public rows, too", fit("-", binary, "-public", "-"), 2, "-public - is the file of -data"},
		{"public rows that aren't there", fit(good, binary, "-public", filepath.Join(dir, "none.csv")), 1, "-public " + filepath.Join(dir, "none.csv") + ": there is no such file"},
		{"public rows of an unknown ending", fit(good, binary, "-public", "a.xlsx"), 2, `-public "a.xlsx" must end in`},
		{"public rows that are compressed", fit(good, binary, "-public", "a.csv.zst"), 2, "-public a.csv.zst is compressed by zstd, which isn't read"},
		{"public rows that are stored", fit(good, binary, "-public", rows), 2, "-public " + rows + " is a file of rows, which only csvfit fit"},
		{"rows of another name", []string{"init", "-data", write(t, "rows.csv", "dpglmrow\x01\x00\x00\x00")}, 1, "rows.csv: it is a file of rows"},

		{"index 0", fit(write(t, "a.libsvm", "1 0:1\n"), write(t, "l.json", `{"features": 2, "bound": 1, "label": {"kind": "binary", "positive": ["1"], "negative": ["0"]}}`)), 1, "line 1"},
		{"table's schema for LIBSVM", fit(write(t, "a.libsvm", "1 1:1\n"), binary), 1, `"features"`},

		{"missing schema", fit(good, filepath.Join(dir, "none.json")), 1, "-schema " + filepath.Join(dir, "none.json") + ": there is no such file"},
		{"empty schema", broken(""), 1, "empty"},
		{"to fill in", broken(`{"version": 1, "label": "y", "columns": [{"name": "a", "kind": "FILL IN"}, {"name": "y", "kind": "binary", "above": 0}]}`), 1, "filled in"},
		{"two ones", fit(file("t=a,t=b,y\n1,0,1\n1,1,0\n"), write(t, "s.json", `{"version": 1, "label": "y", "columns": [{"name": "t", "kind": "onehot", "levels": ["a", "b"]}, {"name": "y", "kind": "binary", "above": 0}]}`)), 1, `line 3, column "t=b": it is 1, and so is column "t=a"`},
		{"long range", fit(good, facts(`"kind": "numeric", "range": [0, 1, 2]`)), 1, "[0, 1, 2]"},
		{"short range", fit(good, facts(`"kind": "numeric", "range": [18]`)), 1, "[18]"},
		{"repeated key", broken(`{"version": 1, "label": "y", "label": "a", "columns": []}`), 1, "repeated"},
		{"unknown key", broken(`{"version": 1, "lable": "y", "columns": []}`), 1, `did you mean "label"`},
		{"exposure", broken(`{"version": 1, "label": "y", "exposure": "a", "columns": [{"name": "a", "kind": "numeric", "range": [1, 9]}, {"name": "town", "kind": "categorical", "levels": ["york", "leeds"]}, {"name": "y", "kind": "binary", "above": 0}]}`), 1, `"exposure" is "a"`},

		{"no command", nil, 2, "init, plan, fit"},
		{"another program", []string{"serve"}, 2, `"serve" is not a command (did you mean the program examples/serve?)`},
		{"unknown command", []string{"train"}, 2, `"train" is not a command (did you mean fit?); there are init`},
		{"unknown command that is far", []string{"frobnicate"}, 2, `"frobnicate" is not a command; there are init`},
		{"no data", []string{"fit", "-epsilon", "1", "-o", "m"}, 2, "-data is missing"},
		{"data without a name", fit("", binary), 2, "-data is missing or empty"},
		{"standard input and more", fit("-,"+good, binary), 1, "standard input, which isn't read beside other files"},
		{"standard input twice", fit("-,-", binary), 1, "nor twice"},
		{"init of no name", []string{"init", "-data="}, 2, "-data is missing or empty"},
		{"init of a comma too many", []string{"init", "-data", good + ","}, 1, "a name is missing beside a comma"},
		{"no schema", []string{"fit", "-epsilon", "1", "-o", "m", "-data", good}, 2, "csvfit init"},
		{"no epsilon", []string{"fit", "-o", "m", "-data", good, "-schema", binary}, 2, "-epsilon is missing"},
		{"no output", []string{"fit", "-epsilon", "1", "-data", good, "-schema", binary}, 2, "-o is missing"},
		{"output is there", fit(good, binary, "-o", model), 1, "exists already"},
		{"no directory", fit(good, binary, "-o", filepath.Join(dir, "none", "m.json")), 1, "none"},
		{"epsilon 0", fit(good, binary, "-epsilon", "0"), 2, "-epsilon 0 must be a number above 0; usual are 0.1 to 10"},
		{"epsilon NaN", fit(good, binary, "-epsilon", "nan"), 2, "-epsilon NaN"},
		{"delta 0", fit(good, binary, "-delta", "0"), 2, "-delta"},
		{"delta 1", fit(unread, binary, "-delta", "1"), 2, "-delta 1 must lie strictly between 0 and 1"},
		{"delta NaN", fit(unread, binary, "-delta", "nan"), 2, "-delta NaN"},
		{"epsilon beyond the library's", fit(good, binary, "-epsilon", "1e300"), 1, "-epsilon 1e+300: dpglm: privacy budget: mu = "},
		{"no group", fit(good, binary, "-group", "0"), 2, "-group 0 must be at least 1"},
		{"group in both parts", fit(good, binary, "-group", "20", "-evaluate", "0.4", "-method", "objpert", "-delta", "1e-5"), 1, "-group 20: a group with rows in the fit and in the evaluation"},
		{"huge group", fit(good, binary, "-group", "2000000000"), 1, "rows of a group = 2000000000"},
		{"radius", fit(good, binary, "-radius", "-1", "-method", "noisygd"), 1, "Radius"},
		{"radius of no effect", fit(unread, binary, "-radius", "2", "-method", "infer"), 2, "-radius 2 is for methods that hold the weights to it, and -method infer doesn't"},
		{"radius of no effect by default", fit(unread, binary, "-radius", "3"), 2, "-method auto doesn't: leave it out"},
		{"radius of no effect, planned", []string{"plan", "-schema", binary, "-rows", "900", "-epsilon", "1", "-radius", "2"}, 2, "-method auto doesn't: leave it out"},
		{"unknown loss", fit(good, binary, "-loss", "cubic"), 2, "poisson, probit, quantile"},
		{"loss of numbers", fit(good, binary, "-loss", "squared"), 2, `"y" is binary: leave out -loss`},
		{"unknown method", fit(good, binary, "-method", "magic"), 2, "noisygd"},
		{"test share", fit(good, binary, "-test", "1"), 2, "-test 1"},
		{"a mean without a page", fit(good, binary, "-mean", "0.3"), 2, "-mean is for -report"},
		{"a mean that is none", fit(unread, binary, "-mean", "7", "-report", filepath.Join(dir, "none.html")), 2, "-mean 7 must lie between 0 and 1"},
		{"a mean of zero", fit(unread, binary, "-mean", "0", "-report", filepath.Join(dir, "none.html")), 2, "-mean 0 must lie between 0 and 1"},
		{"a mean beyond numbers", fit(unread, facts(`"kind": "numeric", "range": [2, 5]`), "-mean", "1.5", "-report", filepath.Join(dir, "none.html")), 2, "-mean 1.5 must lie between 2 and 5"},
		{"a mean beyond counts", fit(unread, facts(`"kind": "count", "cap": 5`), "-mean", "6", "-report", filepath.Join(dir, "none.html")), 2, "-mean 6 must lie between 0 and 5"},
		{"evaluated share", fit(good, binary, "-evaluate", "1"), 2, "-evaluate 1"},
		{"no evaluated share", fit(good, binary, "-evaluate", "0"), 2, "-evaluate 0 must lie strictly between 0 and 1"},
		{"evaluated rows", fit(good, binary, "-evaluate", "0.9"), 1, "-evaluate 0.9"},
		{"report is there", fit(good, binary, "-report", model), 1, "-report " + model + " exists already"},
		{"no directory for a report", fit(good, binary, "-report", filepath.Join(dir, "none", "r.html")), 1, "-report"},
		{"inference for a kink", fit(good, binary, "-loss", "hinge", "-method", "infer"), 1, "Squared, Logistic, Probit, Poisson"},
		{"unknown flag", fit(good, binary, "-x"), 2, "-x is not a flag; -h lists all"},
		{"misspelled flag", fit(good, binary, "-epsilom", "1"), 2, "-epsilom is not a flag (did you mean -epsilon?); -h lists all"},
		{"not a number for a flag", fit(good, binary, "-epsilon", "one: \"1\""), 2, `-epsilon one: "1": must be a number, such as 1`},
		{"not a whole number", fit(good, binary, "-group", "1.5"), 2, "-group 1.5: must be a whole number, such as 1"},
		{"a negative seed", fit(good, binary, "-seed", "-1"), 2, "-seed -1: must be a whole number that is not negative"},
		{"not yes or no", fit(good, binary, "-json=maybe"), 2, "-json maybe: must be left out, true or false"},
		{"a flag without its value", fit(good, binary, "-delta"), 2, "-delta must be followed by its value"},
		{"stray argument", fit(good, binary, "file"), 2, `"file" is not a flag`},
		{"a file without its flag", []string{"fit", good, "-schema", binary}, 2, "did you mean -data " + good},
		{"a schema without its flag", []string{"fit", binary, "-epsilon", "1"}, 2, "did you mean -schema " + binary},
		{"a model without its flag", []string{"show", model}, 2, "did you mean -model " + model},
		{"a flag without its dash", fit(good, binary, "epsilon", "1"), 2, "did you mean -epsilon?"},

		{"plan without rows", []string{"plan", "-schema", binary, "-epsilon", "1"}, 2, "-rows is missing"},
		{"plan no rows", []string{"plan", "-schema", binary, "-epsilon", "1", "-rows", "0"}, 2, "-rows 0"},
		{"plan with a target and ε", []string{"plan", "-schema", binary, "-rows", "100", "-epsilon", "1", "-width", "2"}, 2, "leave out -epsilon"},
		{"plan with two targets and ε", []string{"plan", "-schema", binary, "-rows", "100", "-epsilon", "1", "-excess", ".1", "-lost", ".1"}, 2, "-excess and -lost look for an ε: leave out -epsilon"},
		{"plan of one row", []string{"plan", "-schema", binary, "-rows", "1", "-epsilon", "1"}, 2, "-delta is missing: the default, n to the power -1.5, is 1 where n is 1"},
		{"plan a target of one row", []string{"plan", "-schema", binary, "-rows", "1", "-width", "2"}, 2, "-delta is missing"},
		{"plan one row held in", []string{"plan", "-schema", binary, "-rows", "2", "-epsilon", "1", "-evaluate", "0.5"}, 2, "-delta is missing"},
		{"plan with a target and a table", []string{"plan", "-schema", binary, "-rows", "100", "-expect", "-lost", "0.1"}, 2, "leave one of them out"},
		{"plan narrow", []string{"plan", "-schema", binary, "-rows", "100", "-width", "1"}, 2, "-width 1 must be above 1"},
		{"plan no excess", []string{"plan", "-schema", binary, "-rows", "100", "-excess", "-1"}, 2, "-excess -1"},
		{"plan all lost", []string{"plan", "-schema", binary, "-rows", "100", "-lost", "1"}, 2, "-lost 1"},
		{"plan intervals of auto", []string{"plan", "-schema", binary, "-rows", "100", "-width", "2", "-method", "auto"}, 2, "auto has no intervals"},
		{"plan a mean alone", []string{"plan", "-schema", binary, "-rows", "100", "-epsilon", "1", "-mean", "0.1"}, 2, "-mean is for a forecast"},
		{"plan an evaluation of all", []string{"plan", "-schema", binary, "-rows", "100", "-epsilon", "1", "-evaluate", "1"}, 2, "-evaluate 1 must lie strictly between 0 and 1"},
		{"plan an evaluation of too few", []string{"plan", "-schema", binary, "-rows", "2", "-epsilon", "1", "-evaluate", "0.6"}, 2, "-evaluate 0.6 leaves none of -rows 2"},
		{"plan an evaluation and a target", []string{"plan", "-schema", binary, "-rows", "100", "-width", "2", "-evaluate", "0.2"}, 2, "-evaluate takes one"},
		{"plan an evaluation of a group", []string{"plan", "-schema", binary, "-rows", "100", "-epsilon", "1", "-delta", "1e-5", "-group", "20", "-evaluate", "0.4", "-method", "objpert"}, 1, "-group 20: a group with rows"},
		{"plan an odd mean", []string{"plan", "-schema", binary, "-rows", "100", "-epsilon", "1", "-expect", "-mean", "2"}, 2, "-mean 2 must lie between 0 and 1"},
		{"compare nothing", []string{"compare", "-data", good, "-schema", binary, "-epsilon", "1", "-methods", "auto,magic"}, 2, `"magic"`},
		{"compare all", []string{"compare", "-data", good, "-schema", binary, "-epsilon", "1", "-test", "1"}, 2, "-test 1"},
		{"init without data", []string{"init"}, 2, "-data is missing"},
		{"init of LIBSVM", []string{"init", "-data", "a.libsvm"}, 2, "names no columns"},
		{"init over a schema", []string{"init", "-data", good, "-o", binary}, 1, "exists already"},
		{"no model", []string{"show"}, 2, "-model is missing"},
		{"missing model", []string{"show", "-model", filepath.Join(dir, "none.json")}, 1, "-model " + filepath.Join(dir, "none.json") + ": there is no such file"},
		{"directory", []string{"show", "-model", dir}, 1, "it is a directory"},
		{"missing budget to show", []string{"budget", "-file", filepath.Join(dir, "none.json")}, 1, "-file " + filepath.Join(dir, "none.json") + ": there is no such file"},
		{"missing budget", fit(good, binary, "-budget", filepath.Join(dir, "none.json")), 1, "-budget " + filepath.Join(dir, "none.json") + ": there is no such file"},
		{"not a model", []string{"show", "-model", write(t, "m.json", `{"format": "x"}`)}, 1, `must be one of ["dpglm model"`},
		{"a schema as a model", []string{"show", "-model", binary}, 1, "this is a schema; -model wants what csvfit fit -o wrote"},
		{"a model as a schema", fit(good, model), 1, "this is a model; -schema wants"},
		{"a table as a model", []string{"predict", "-data", good, "-model", good}, 1, "-model " + good + ": this is no model; -model wants what csvfit fit -o wrote (invalid character"},
		{"a list as a model", []string{"show", "-model", write(t, "m.json", "[1]")}, 1, "this is no model"},
		{"model cut short", []string{"show", "-model", write(t, "m.json", `{"format": "dpglm`)}, 1, "m.json: it ends too early"},
		{"newer model", []string{"show", "-model", write(t, "m.json", `{"format": "dpglm model", "version": 2}`)}, 1, "version = 2 is not known"},
		{"predict of an empty file", []string{"predict", "-model", model, "-data", empty}, 1, "csvfit: " + empty + ": it is empty"},
		{"predict nothing", []string{"predict", "-model", model}, 2, "-data is missing"},
		{"predict of no name", []string{"predict", "-model", model, "-data", ""}, 2, "-data is missing or empty"},
		{"predict of a comma too many", []string{"predict", "-model", model, "-data", good + ","}, 1, good + ",: a name is missing beside a comma"},
		{"predict of standard input and more", []string{"predict", "-model", model, "-data", "-," + good}, 1, "standard input, which isn't read beside other files"},
		{"predict intervals of another method", []string{"predict", "-model", model, "-data", good, "-interval"}, 2, "model.json has none; fit it by -method infer"},
		{"predict without a column", []string{"predict", "-model", model, "-data", file("b\n1\n")}, 1, `"a" is not in the header`},
		{"predict a bad field", []string{"predict", "-model", model, "-data", file("a\n1\n2\nx\n"), "-o", filepath.Join(dir, "p.csv")}, 1, `line 4, column "a": "x"`},
		{"predict a missing value", []string{"predict", "-model", model, "-data", file("a\n1\nNA\n")}, 1, "fit again"},
		{"predict again", []string{"predict", "-model", model, "-data", file("a,class\n1,1\n")}, 1, `"class"`},
		{"predict LIBSVM", []string{"predict", "-model", model, "-data", write(t, "a.libsvm", "1 1:1\n")}, 2, "other format"},
	} {
		checkExit(t, c.name, c.args, c.code, c.says)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func checkExit(t *testing.T, name string, args []string, code int, says string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	program := exec.Command(os.Args[0], args...)
	program.Env = append(os.Environ(), asProgram+"=1")
	program.Stdout, program.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := program.Run(); !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Errorf("%s: %v, want exit code %d: %s", name, err, code, &stderr)
	}
	if stdout.Len() > 0 || !strings.Contains(stderr.String(), "csvfit: ") || !strings.Contains(stderr.String(), says) {
		t.Errorf("%s: stdout %q, stderr %q, want %q", name, &stdout, &stderr, says)
	}
}

// Help that was asked for goes to standard output, for less and grep.
func TestHelpIsNoError(t *testing.T) {
	for command, want := range map[string]string{"-h": "predict for the rows", "fit": "any of them with .gz, or of rows, .rows, by csvfit store", "predict": "-model",
		"init": "unless the schema lists others in \"missing\": [...] before \"columns\",\n  NA, N/A, n/a, #N/A, <NA>, NaN, nan, NULL, null, None\n"} {
		args := []string{command, "-h"}
		program := exec.Command(os.Args[0], args...)
		program.Env = append(os.Environ(), asProgram+"=1")
		if out, err := program.Output(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}
