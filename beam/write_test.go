package beam_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	beamgo "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/table"
)

// patients have a schema with a condition, and a column that isn't needed.
const patients = `{"version": 1, "label": "again", "weight": "counts", "where": [{"column": "age", "from": 18}],
	"columns": [{"name": "again", "kind": "binary", "positive": ["yes"], "negative": ["no"]}, {"name": "age", "kind": "numeric", "range": [0, 90]},
		{"name": "ward", "kind": "categorical", "levels": ["a", "b", "c"]}, {"name": "counts", "kind": "numeric", "range": [0, 4]}]}`

func parsed(t *testing.T, text string) table.Schema {
	t.Helper()
	s, err := table.ParseSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// patientsIn writes CSV files of so many patients each, the last of them gzipped, and returns what names them all. Of the second file none is 18.
func patientsIn(t *testing.T, sizes ...int) (pattern string) {
	t.Helper()
	dir, i := t.TempDir(), 0
	for k, n := range sizes {
		var text bytes.Buffer
		fmt.Fprintln(&text, "age,notes,ward,again,counts")
		for range n {
			i++
			age := i * 7919 % 97
			if k == 1 {
				age %= 18
			}
			fmt.Fprintf(&text, "%d,note %d,%s,%s,%d\n", age, i, []string{"a", "b", "c"}[i*31%7%3], []string{"yes", "no"}[i*i%11%2], i%6)
		}
		name := fmt.Sprintf("part-%d.csv", k)
		if k == len(sizes)-1 {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			w.Write(text.Bytes())
			w.Close()
			text, name = packed, name+".gz"
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "*.csv*")
}

// holds reads all rows of files.
func holds(t *testing.T, paths ...string) (f *rowfile.File, all rowfile.Chunk) {
	t.Helper()
	f, err := rowfile.Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Reader().Read(&all, 0, f.Rows); err != nil {
		t.Fatal(err)
	}
	return f, all
}

// atOnce is a file that one process writes of the same input files.
func atOnce(t *testing.T, files string, s table.Schema) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.rows")
	if _, err := table.WriteCSVFile(ctx, path, files, s); err != nil {
		t.Fatal(err)
	}
	return path
}

// same fails where files haven't the rows of one that was written at once, in the same order, or another schema.
func same(t *testing.T, paths []string, whole string) {
	t.Helper()
	f, got := holds(t, paths...)
	g, want := holds(t, whole)
	if f.Rows != g.Rows || !slices.Equal(got.Values, want.Values) || !slices.Equal(got.Labels, want.Labels) || !slices.EqualFunc(got.Beside, want.Beside, slices.Equal) || !bytes.Equal(f.Schema, g.Schema) {
		t.Errorf("%d rows in %d files aren't the %d that one process writes", f.Rows, len(paths), g.Rows)
	}
}

// What workers write has the bits of what one process writes, by the condition, with the weights, and in the order of the files, of which
// one gives no rows; and so has a model, whoever reads.
func TestSameBitsOfTables(t *testing.T) {
	s, files := parsed(t, patients), patientsIn(t, 3000, 50, 2, 7000, 400)
	dir, temp := t.TempDir(), t.TempDir()
	o := beam.Options{Runner: execute, Temp: temp, Pieces: 3, Attempts: 2}
	paths, warnings, err := beam.Write(ctx, filepath.Join(dir, "people.rows"), "csv", files, s, o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for k := range 4 {
		names = append(names, filepath.Join(dir, fmt.Sprintf("people-%05d.rows", k+1)))
	}
	if there, _ := filepath.Glob(filepath.Join(dir, "*")); !slices.Equal(paths, names) || !slices.Equal(there, names) {
		t.Errorf("%q, and there are %q", paths, there)
	}
	nothingLeft(t, temp)
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
	part := strings.TrimSuffix(files, "*.csv*") + "part-"
	want := []string{part + `0.csv and 3 more: columns that the schema doesn't mention are left out: "notes"`, part + `1.csv: it has no row, or none that fulfils the schema's "where"`}
	if len(warnings) < 5 || !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, part+"4.csv.gz: ") }) {
		t.Errorf("only %q", warnings)
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(warnings)))); n != len(warnings) {
		t.Errorf("%d of %d warnings repeat others: %q", len(warnings)-n, len(warnings), warnings)
	}
	for _, w := range want {
		if !slices.Contains(warnings, w) {
			t.Errorf("%q isn't among %q", w, warnings)
		}
	}
	whole := atOnce(t, files, s)
	same(t, paths, whole)
	memory, err := dpglm.OpenRows(ctx, whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	remote, err := beam.OpenRows(ctx, filepath.Join(dir, "people-*.rows"), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	alike(t, "Auto", memory, remote)
}

// breaks are what sources of the tests do when a file is opened, by the file's name without its directory.
var (
	breaks     = map[string]func() error{}
	breaksLock sync.Mutex
)

func init() {
	err := beam.RegisterSource("breaking", func(path string, s table.Schema) (table.Source, error) {
		breaksLock.Lock()
		do := breaks[filepath.Base(path)]
		breaksLock.Unlock()
		if do != nil {
			if err := do(); err != nil {
				return nil, err
			}
		}
		return table.OpenCSVAs(path, s)
	})
	if err != nil {
		panic(err)
	}
}

// breaking has a file of the source "breaking" do something when it is opened.
func breaking(t *testing.T, name string, do func() error) {
	breaksLock.Lock()
	defer breaksLock.Unlock()
	breaks[name] = do
	t.Cleanup(func() {
		breaksLock.Lock()
		defer breaksLock.Unlock()
		delete(breaks, name)
	})
}

// said is what is logged.
type said struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.text.Write(p)
}

// Files with a bad record and damaged ones are errors that name them and the place, after one pipeline, and so is one that a source refuses; nothing is there then, and
// no value was logged.
func TestWriteOfFilesThatAreWrong(t *testing.T) {
	onPrism(t)
	s, files := parsed(t, patients), patientsIn(t, 300, 50, 20, 400)
	dir := filepath.Dir(files)
	bad := filepath.Join(dir, "part-0.csv")
	text, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("\n46,note 7,"), []byte("\nsecret,note 7,"), 1) // the eighth line
	packed, err := os.ReadFile(filepath.Join(dir, "part-3.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(bad, text, 0o600), os.WriteFile(filepath.Join(dir, "part-3.csv.gz"), packed[:len(packed)/2], 0o600)); err != nil {
		t.Fatal(err)
	}
	breaking(t, "part-2.csv", func() error { return errors.New("no key for my secret") })
	s.Where = nil // by which a secret isn't a patient
	var log said
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(slog.New(slog.DiscardHandler))
	to, temp, runs := t.TempDir(), t.TempDir(), 0
	o := beam.Options{Temp: temp, Runner: func(ctx context.Context, p *beamgo.Pipeline) (beamgo.PipelineResult, error) {
		runs++
		return execute(ctx, p)
	}}
	paths, warnings, err := beam.Write(ctx, filepath.Join(to, "people.rows"), "breaking", files, s, o)
	if paths != nil || warnings != nil || !errors.Is(err, table.ErrValue) || !errors.Is(err, table.ErrFile) || errors.Is(err, table.ErrNoRows) || runs != 1 {
		t.Errorf("%v, %v, %v after %d pipelines", paths, warnings, err, runs)
	}
	for _, part := range []string{bad + `: line 8, column "age": "secret"`, filepath.Join(dir, "part-2.csv") + ": no key for my secret", filepath.Join(dir, "part-3.csv.gz") + ": the gzip file is damaged"} {
		if strings.Count(fmt.Sprint(err), part) != 1 {
			t.Errorf("%q isn't in %v", part, err)
		}
	}
	nothingLeft(t, to)
	nothingLeft(t, temp)
	if log.lock.Lock(); log.text.Len() == 0 || strings.Contains(log.text.String(), "secret") {
		t.Errorf("logged: %.2000s", log.text.String())
	}
	log.lock.Unlock()
	// Without rows in any file there is nothing to write.
	if _, _, err := beam.Write(ctx, filepath.Join(to, "people.rows"), "csv", filepath.Join(dir, "part-1.csv"), parsed(t, patients), o); !errors.Is(err, table.ErrNoRows) || !errors.Is(err, table.ErrFile) {
		t.Errorf("no rows: %v", err)
	}
	nothingLeft(t, to)
}

// A worker that fails once, by an error of the system or by its end, is tried again, as is a pass that loses what came of files that were written: these are
// written twice, and are there once; until the last is complete none has its name.
func TestWriteSurvives(t *testing.T) {
	onPrism(t)
	s, files := parsed(t, patients), patientsIn(t, 3000, 50, 2, 2000)
	to, temp := t.TempDir(), t.TempDir()
	named := func() {
		if names, _ := filepath.Glob(filepath.Join(to, "people-*")); len(names) > 0 {
			t.Errorf("%q before all are complete", names)
		}
	}
	var opened, first atomic.Int32
	breaking(t, "part-0.csv", func() error { first.Add(1); return nil })
	breaking(t, "part-2.csv", func() error {
		switch named(); opened.Add(1) {
		case 1:
			return fmt.Errorf("a secret: %w", &fs.PathError{Op: "read", Path: "part-2.csv", Err: syscall.EIO})
		case 2:
			panic("the end of a worker")
		}
		return nil
	})
	var again []error
	lost := false
	o := beam.Options{Temp: temp, Attempts: 3, Retrying: func(err error, _, _ int) { named(); again = append(again, err) }}
	o.Runner = func(ctx context.Context, p *beamgo.Pipeline) (beamgo.PipelineResult, error) {
		r, err := execute(ctx, p)
		named()
		if err == nil && !lost {
			lost = true
			replies, _ := filepath.Glob(filepath.Join(temp, "dpglm-*", "00000[02]"))
			for _, name := range replies {
				os.Remove(name)
			}
			return nil, errors.New("a worker is lost")
		}
		return r, err
	}
	paths, _, err := beam.Write(ctx, filepath.Join(to, "people.rows"), "breaking", files, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(again) != 3 || !strings.Contains(again[0].Error(), strings.TrimSuffix(files, "*.csv*")+"part-2.csv: read part-2.csv") || strings.Contains(again[0].Error(), "secret") || opened.Load() < 4 || first.Load() < 2 {
		t.Errorf("opened %d and %d times, after %q", first.Load(), opened.Load(), again)
	}
	if there, _ := filepath.Glob(filepath.Join(to, "*")); !slices.Equal(there, paths) || len(paths) != 3 {
		t.Errorf("%q, and there are %q", paths, there)
	}
	nothingLeft(t, temp)
	same(t, paths, atOnce(t, files, s))
}

// A cancellation leaves nothing, nor does a file that gets a name before all have one.
func TestWriteThatEnds(t *testing.T) {
	onPrism(t)
	s, files := parsed(t, patients), patientsIn(t, 3000, 50, 2000)
	to, temp := t.TempDir(), t.TempDir()
	during, stop := context.WithCancel(ctx)
	breaking(t, "part-0.csv", func() error { stop(); return nil })
	if paths, _, err := beam.Write(during, filepath.Join(to, "people.rows"), "breaking", files, s, beam.Options{Runner: execute, Temp: temp}); paths != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", paths, err)
	}
	nothingLeft(t, to)
	nothingLeft(t, temp)
	other := filepath.Join(to, "people-00002.rows")
	breaking(t, "part-0.csv", func() error { return os.WriteFile(other, nil, 0o600) })
	if paths, _, err := beam.Write(ctx, filepath.Join(to, "people.rows"), "breaking", files, s, beam.Options{Runner: execute, Temp: temp}); paths != nil || !errors.Is(err, dpglm.ErrRowFile) {
		t.Errorf("%v, %v", paths, err)
	}
	if there, _ := filepath.Glob(filepath.Join(to, "*")); !slices.Equal(there, []string{other}) {
		t.Errorf("left: %q", there)
	}
	nothingLeft(t, temp)
}

// What can't be written is refused before anything is run.
func TestWriteRefuses(t *testing.T) {
	onPrism(t)
	s, files := parsed(t, patients), patientsIn(t, 10, 10)
	temp := t.TempDir()
	o := beam.Options{Temp: temp, Runner: func(context.Context, *beamgo.Pipeline) (beamgo.PipelineResult, error) {
		t.Error("it is run")
		return nil, nil
	}}
	persons, times := s, s
	persons.Person, persons.MaxRows = "who", 2
	persons.Columns = append(slices.Clone(s.Columns), table.Column{Name: "who", Kind: table.ID})
	times.Weight = ""
	times.Followup = &table.Followup{End: "until", Cuts: []float64{0, 1}}
	noRunner, noTemp := beam.Options{Temp: temp}, o
	noTemp.Temp = ""
	alike := filepath.Join(t.TempDir(), "people[1].csv")
	if err := os.WriteFile(alike, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		source, files string
		s             table.Schema
		o             beam.Options
		there         string // beside
		kind          error
		rule          string
	}{
		"persons":      {"csv", files, persons, o, "", dpglm.ErrConfig, "Schema.Person = who must be empty"},
		"times":        {"csv", files, times, o, "", dpglm.ErrConfig, "Schema.Followup must not be given"},
		"schema":       {"csv", files, table.Schema{}, o, "", table.ErrSchema, ""},
		"source":       {"parquet", files, s, o, "", dpglm.ErrConfig, "must have been registered"},
		"pattern":      {"csv", filepath.Join(temp, "*.csv"), s, o, "", table.ErrFile, "no such file"},
		"no file":      {"csv", filepath.Join(temp, "x.csv"), s, o, "", fs.ErrNotExist, ""},
		"input":        {"csv", "-", s, o, "", fs.ErrNotExist, ""},
		"like others":  {"csv", alike, s, o, "", dpglm.ErrConfig, "must have none of"},
		"directory":    {"csv", filepath.Dir(files), s, o, "", dpglm.ErrConfig, "must be a file"},
		"runner":       {"csv", files, s, noRunner, "", dpglm.ErrConfig, "Options.Runner"},
		"temp":         {"csv", files, s, noTemp, "", dpglm.ErrConfig, "Options.Temp"},
		"first target": {"csv", files, s, o, "people-00001.rows", dpglm.ErrRowFile, "must not exist yet"},
		"any target":   {"csv", files, s, o, "people-00777.rows", dpglm.ErrRowFile, "people-00777.rows must not exist yet"},
	} {
		to := t.TempDir()
		if c.there != "" {
			if err := os.WriteFile(filepath.Join(to, c.there), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		paths, _, err := beam.Write(ctx, filepath.Join(to, "people.rows"), c.source, c.files, c.s, c.o)
		if paths != nil || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.rule) {
			t.Errorf("%s: %v", name, err)
		}
		if c.there != "" {
			os.Remove(filepath.Join(to, c.there))
		}
		nothingLeft(t, to)
	}
	var none context.Context
	if _, _, err := beam.Write(none, "x.rows", "csv", files, s, o); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("no context: %v", err)
	}
	open := func(string, table.Schema) (table.Source, error) { return nil, nil }
	for name, of := range map[string]beam.Opener{"": open, "csv": open, "none": nil} {
		if err := beam.RegisterSource(name, of); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("source %q: %v", name, err)
		}
	}
	nothingLeft(t, temp)
}
