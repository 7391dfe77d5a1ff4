package task

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Set is a data file with its schema.
type Set struct {
	Name   string
	Source *Source
}

// Sets is a request for the data sets of folders.
type Sets struct {
	Program string
	Folders []string
	// Names are those wanted, all if there are none. NAME:LOSS is the set with that loss in the
	// place of its label's default.
	Names       []string
	HeldOut     float64
	Public      float64
	Turned      bool
	TakesLevels bool
}

const schemaEnding = ".schema.json"

// Find lists the sets, by folder and name. A set has a NAME.schema.json, and beside it
// NAME.csv.gz, NAME.csv, NAME.libsvm.gz or NAME.libsvm; where there is none, NAME_MORE.schema.json is
// another schema of NAME's file.
func (r Sets) Find(stderr io.Writer) ([]Set, error) {
	var found []Set
	for _, folder := range r.Folders {
		schemas, err := filepath.Glob(filepath.Join(folder, "*"+schemaEnding))
		if err != nil {
			return nil, err
		}
		for _, schema := range schemas {
			name := strings.TrimSuffix(filepath.Base(schema), schemaEnding)
			for _, wanted := range r.asked(name) {
				s, err := r.open(wanted, schema, stderr)
				if err != nil {
					return nil, err
				}
				if slices.ContainsFunc(found, func(f Set) bool { return f.Name == wanted }) {
					return nil, Usage("-data: two folders have a set %q", wanted)
				}
				found = append(found, s)
			}
		}
	}
	for _, name := range r.Names {
		if !slices.ContainsFunc(found, func(s Set) bool { return s.Name == name }) {
			return nil, Usage("-sets: %q has no schema in %s", name, strings.Join(r.Folders, ", "))
		}
	}
	if len(found) == 0 {
		return nil, Usage("-data %s: there is no NAME%s", strings.Join(r.Folders, ","), schemaEnding)
	}
	return found, nil
}

// asked are the wanted names of the set of a schema.
func (r Sets) asked(name string) []string {
	if len(r.Names) == 0 {
		return []string{name}
	}
	var all []string
	for _, wanted := range r.Names {
		if set, _, _ := strings.Cut(wanted, ":"); set == name {
			all = append(all, wanted)
		}
	}
	return all
}

func (r Sets) open(name, schema string, stderr io.Writer) (Set, error) {
	f := flag.NewFlagSet(r.Program, flag.ContinueOnError)
	s := Set{name, NewSource(f)}
	s.Source.Path = besideSchema(strings.TrimSuffix(schema, schemaEnding))
	if s.Source.Path == "" {
		return s, Usage("-data: %s has no data file beside it", schema)
	}
	_, s.Source.lossName, _ = strings.Cut(name, ":")
	s.Source.Schema, s.Source.HeldOut, s.Source.Public, s.Source.Turned, s.Source.TakesLevels = schema, r.HeldOut, r.Public, r.Turned, r.TakesLevels
	return s, s.Source.ResolveData(r.Program, stderr)
}

// besideSchema is the data file of a schema, of the longest name that is the schema's or begins it.
func besideSchema(stem string) string {
	for {
		for _, ending := range []string{".csv.gz", ".csv", ".libsvm.gz", ".libsvm"} {
			if _, err := os.Stat(stem + ending); err == nil {
				return stem + ending
			}
		}
		i := strings.LastIndexByte(filepath.Base(stem), '_')
		if i < 0 {
			return ""
		}
		stem = filepath.Join(filepath.Dir(stem), filepath.Base(stem)[:i])
	}
}
