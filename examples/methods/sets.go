package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/task"
)

// set is a data file with its schema.
type set struct {
	name   string
	source *task.Source
}

// find lists the sets of the folder, by name.
func (o *options) find(stderr io.Writer) ([]set, error) {
	schemas, err := filepath.Glob(filepath.Join(o.folder, "*.schema.json"))
	if err != nil {
		return nil, err
	}
	wanted := strings.Split(o.sets, ",")
	var found []set
	for _, schema := range schemas {
		name := strings.TrimSuffix(filepath.Base(schema), ".schema.json")
		if o.sets != "" && !slices.Contains(wanted, name) {
			continue
		}
		f := flag.NewFlagSet("methods", flag.ContinueOnError)
		s := set{name, task.NewSource(f)}
		for _, ending := range []string{".csv.gz", ".csv", ".libsvm.gz", ".libsvm"} {
			path := strings.TrimSuffix(schema, ".schema.json") + ending
			if _, err := os.Stat(path); err == nil {
				s.source.Path = path
			}
		}
		if s.source.Path == "" {
			return nil, task.Usage("-data %s: %s.schema.json has no data file beside it", o.folder, name)
		}
		s.source.Schema, s.source.HeldOut = schema, o.held
		if err := s.source.ResolveData("methods", stderr); err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	if len(found) == 0 {
		return nil, task.Usage("-data %s: there is no NAME.schema.json of a set asked for", o.folder)
	}
	return found, nil
}
