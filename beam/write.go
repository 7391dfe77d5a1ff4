package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/table"
)

// Opener opens a file of a table, or fails as a Source does: of the columns that a schema doesn't need the
// fields may be empty. A source that has a method Close is closed.
type Opener func(path string, s table.Schema) (table.Source, error)

var (
	openers     = map[string]Opener{"csv": func(path string, s table.Schema) (table.Source, error) { return table.OpenCSVAs(path, s) }}
	openersLock sync.RWMutex
)

// RegisterSource makes known, by a name, how workers open the files of [Write]. "csv" is known, and is table.OpenCSVAs; package
// columnar of module table/columnar opens Parquet and Arrow files. A worker is told the name alone, so that the program, which is the
// workers' too, registers it before [Init], as in a package's init. Workers may open several files at once.
//
// An error of a source, which may quote values, comes back to the program that called Write, sealed as all is, and the file isn't tried
// again; but for one of the system or the network, as is any with a method Timeout (fs.PathError, net.Error): it is the runner's to log, and
// the file is tried again. A source mustn't log values, nor panic with any, itself.
//
// It fails where the name is empty or taken, or open is nil (dpglm.ErrConfig).
func RegisterSource(name string, open Opener) error {
	openersLock.Lock()
	defer openersLock.Unlock()
	switch {
	case name == "" || openers[name] != nil:
		return check.Fail(check.ErrConfig, "name of a source", name, "must be one that no other source was registered with, and not be empty")
	case open == nil:
		return check.Fail(check.ErrConfig, "source "+name, nil, "must not be nil")
	}
	openers[name] = open
	return nil
}

// opener is what was registered with a name.
func opener(name string) (Opener, error) {
	openersLock.RLock()
	defer openersLock.RUnlock()
	if openers[name] == nil {
		return nil, check.Fail(check.ErrConfig, "source", name, "must have been registered by RegisterSource in the program and its workers, before Init")
	}
	return openers[name], nil
}

// Write is table.Write of a table in many files by workers of a Beam runner, which read them by the source of a name (see
// [RegisterSource]), each some files: to people-00001.rows, people-00002.rows and so on for a path people.rows, which
// [OpenRows] opens by "people-*.rows". It returns their paths. The input files are those that table.Files finds by a pattern, or a list
// with commas; workers find them, and the path's directory, under the same paths, which have none of * ? [ and a comma. Each file has the rows of one input file, in the order of these;
// an input file without a row, or with none that fulfils the schema's conditions, has none, and a warning. So fits have the bits of all
// input files read in that order by one process.
//
// Rows that have persons, or are made by a Followup, are refused: a person may have rows in several files, and is known by a
// number that each file would give anew. Table.WriteParts writes these at once.
//
// # Errors
//
// Files appear under their names when all are complete, and after an error or a cancellation there is none. A program that is killed leaves
// the directory in which they are written, .people.rows- and a number, and if it was naming them, which takes a moment, some of them. None of such a name,
// whatever its number, may be there before (dpglm.ErrRowFile). Write fails as table.Write does, with the errors of all files that have one, each by the file's name and
// the place in it; where an option, the schema or the source's name breaks its rule, or there is no input file, before anything is run. A
// pipeline that fails is run again for the files that are missing, as [Options].Attempts says.
//
// # Privacy
//
// Rows lie in the path's directory, in the end and before, in files and a directory for their owner's eyes. Warnings are those of table.Table.Warnings, each
// once and after the names of its files; these and errors may quote values, are sealed on their way and are for the curator only.
//
// # Cost
//
// A file is read once by one worker, unless that fails, and none by this process. A worker holds, for each file that it reads, what table.Write
// does, and the names of all; this process the names and warnings. An input file is the least that a worker is given, and is told all names for, and its rows are a
// file that [OpenRows] keeps open: some hundreds of files suit it, of hundreds of megabytes.
func Write(ctx context.Context, path, source, files string, s table.Schema, o Options) (paths, warnings []string, err error) {
	if err := check.Given("context", ctx); err != nil {
		return nil, nil, err
	}
	if err := o.complete(); err != nil {
		return nil, nil, err
	}
	t, err := newTask(source, files, s)
	if err != nil {
		return nil, nil, err
	}
	if err := rowfile.FreeParts(path); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, nil, err
	}
	if t.Dir, err = filepath.Abs(dir); err == nil {
		paths, warnings, err = t.run(ctx, path, o)
	}
	if err = errors.Join(err, gone(dir)); err == nil {
		return paths, warnings, nil
	}
	for _, p := range paths {
		err = errors.Join(err, os.Remove(p))
	}
	return nil, nil, err
}

// gone removes a directory. Its name goes first, so that a worker that runs on can't write to it any more.
func gone(dir string) error {
	if other := dir + "-gone"; os.Rename(dir, other) == nil {
		dir = other
	}
	return os.RemoveAll(dir)
}

// task is what a worker is told of all files.
type task struct {
	Files  []string
	Source string
	Schema table.Schema
	Dir    string // where rows are written to
}

// newTask checks what is to be read.
func newTask(source, files string, s table.Schema) (*task, error) {
	if _, err := table.NewEncoder(s); err != nil {
		return nil, err
	}
	switch {
	case s.Followup != nil:
		return nil, check.Fail(check.ErrConfig, "Schema.Followup", nil, "must not be given: records are persons there, whose numbers files that are written apart would give twice; write them at once, by table.WriteParts")
	case s.Person != "":
		return nil, check.Fail(check.ErrConfig, "Schema.Person", s.Person, "must be empty: files that are written apart would number persons each by itself; write them at once, by table.WriteParts")
	}
	if _, err := opener(source); err != nil {
		return nil, err
	}
	list, err := table.Files(files)
	if err != nil {
		return nil, err
	}
	if len(list) > rowfile.MaxParts {
		return nil, check.Fail(check.ErrConfig, "number of files", len(list), fmt.Sprintf("must be at most %d, as their numbers have five digits", rowfile.MaxParts))
	}
	for k, name := range list {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, check.Fail(check.ErrConfig, name, nil, "must be a file; those of a directory are named by a pattern, such as people/*.csv")
		}
		if list[k], err = filepath.Abs(name); err != nil {
			return nil, err
		}
		if strings.ContainsAny(list[k], "*?[,") {
			return nil, check.Fail(check.ErrConfig, name, nil, "must have none of * ? [ and , in its path: where a worker doesn't find it, another file could be meant")
		}
	}
	return &task{Files: list, Source: source, Schema: s}, nil
}

// noRows is the warning of a file that gives none.
const noRows = `it has no row, or none that fulfils the schema's "where"`

// outcome is what became of an input file: its rows lie in the task's directory, or there are none and it says why.
type outcome struct {
	Warnings []string
	Fault    *fault
}

// run has workers write the rows of all files, and gives these their names.
func (t *task) run(ctx context.Context, path string, o Options) (paths, warnings []string, err error) {
	question, err := json.Marshal(t)
	if err != nil {
		return nil, nil, err
	}
	var all []outcome
	err = (&engine{o: o, writes: true}).Ask(ctx, question, len(t.Files), func(reply io.Reader) error {
		all = append(all, outcome{})
		return json.NewDecoder(reply).Decode(&all[len(all)-1])
	})
	if err != nil {
		return nil, nil, err
	}
	if warnings, err = t.told(all); err != nil {
		return nil, nil, err
	}
	for k, f := range all {
		if f.Fault != nil {
			continue
		}
		p := rowfile.PartPath(path, len(paths)+1)
		if err := rowfile.Name(t.rowsOf(k), p); err != nil {
			return paths, nil, err
		}
		paths = append(paths, p)
	}
	return paths, warnings, nil
}

// told are the warnings of all files, or their errors. That a file has no rows is a warning where another one has some.
func (t *task) told(all []outcome) (warnings []string, err error) {
	of := map[string][]string{} // the files that have a warning
	var faults []error
	empty := 0
	for k, f := range all {
		if f.Fault != nil && errors.Is(f.Fault, table.ErrNoRows) {
			f.Warnings = []string{noRows}
			empty++
		} else if f.Fault != nil {
			faults = append(faults, f.Fault)
		}
		for _, text := range f.Warnings {
			if of[text] == nil {
				warnings = append(warnings, text)
			}
			of[text] = append(of[text], t.Files[k])
		}
	}
	if faults == nil && empty == len(all) {
		return nil, all[0].Fault
	}
	for k, text := range warnings {
		names := of[text][0]
		if more := len(of[text]) - 1; more > 0 {
			names = fmt.Sprintf("%s and %d more", names, more)
		}
		warnings[k] = names + ": " + text
	}
	return warnings, errors.Join(faults...)
}

// rowsOf is where the rows of a file are, until they have their name.
func (t *task) rowsOf(k int) string { return filepath.Join(t.Dir, pieceFile(k)) }

// encoded is what a worker does for one file. It fails with what may pass by: what else is wrong with the
// file goes into the reply, which is sealed.
func encoded(ctx context.Context, question []byte, k int) ([]byte, error) {
	var t task
	if err := json.Unmarshal(question, &t); err != nil {
		return nil, err
	}
	var is outcome
	var err error
	if is.Warnings, err = t.write(ctx, k); err != nil {
		var passing interface {
			error
			Timeout() bool
		}
		switch {
		case ctx.Err() != nil:
			return nil, check.Cancelled(ctx)
		case errors.As(err, &passing):
			return nil, fmt.Errorf("%s: %w", t.Files[k], passing)
		}
		if !strings.HasPrefix(err.Error(), t.Files[k]) { // as of sources that don't name it
			err = fmt.Errorf("%s: %w", t.Files[k], err)
		}
		is.Fault = faultOf(err)
	}
	return json.Marshal(is)
}

// write writes the rows of a file, which have their name when they are complete. Another worker that does so writes the same.
func (t *task) write(ctx context.Context, k int) (warnings []string, err error) {
	open, err := opener(t.Source)
	if err != nil {
		return nil, err
	}
	src, err := open(t.Files[k], t.Schema)
	if err != nil {
		return nil, err
	}
	if c, ok := src.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	own := t.rowsOf(k) + "-" + unique()
	if warnings, err = table.Write(ctx, own, src, t.Schema); err != nil {
		return nil, err
	}
	return warnings, os.Rename(own, t.rowsOf(k))
}

// fault is an error that a worker sends: its text, and which of these kinds it is.
type fault struct {
	Text string
	Kind int // -1 for another one
}

var kinds = []error{table.ErrNoRows, table.ErrFile, table.ErrColumn, table.ErrValue, table.ErrSchema, check.ErrConfig, check.ErrRowFile}

func faultOf(err error) *fault {
	return &fault{err.Error(), slices.IndexFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })}
}

func (f *fault) Error() string { return f.Text }

func (f *fault) Unwrap() error {
	if f.Kind < 0 {
		return nil
	}
	return kinds[f.Kind]
}
