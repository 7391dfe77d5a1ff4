package task

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// refused is what package flag says of a value.
var refused = regexp.MustCompile(`^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([^:]+): `)

// explain says what would do in the place of what flags refused.
func explain(f *flag.FlagSet, err error) error {
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return Usage("-%s is not a flag%s; -h lists all", name, question(f, name))
	}
	if m := refused.FindStringSubmatch(err.Error()); m != nil {
		value, bad := strconv.Unquote(m[1])
		if known := f.Lookup(m[2]); known != nil && bad == nil {
			return Usage("-%s %s: must be %s", m[2], value, wanted(known))
		}
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag needs an argument: -"); ok {
		return Usage("-%s must be followed by its value; -h says what it is", name)
	}
	return usage{err}
}

// question asks for the flag that was meant, if one is near.
func question(f *flag.FlagSet, name string) string {
	var names []string
	f.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if n := nearest(name, names); n != "" {
		return fmt.Sprintf(" (did you mean -%s?)", n)
	}
	return ""
}

// repeated refuses -data that is given twice, as other programs take several files: package flag takes the last one alone.
func repeated(f *flag.FlagSet, args []string) error {
	given := 0
	for i := 0; i < len(args)-f.NArg(); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		known := f.Lookup(name)
		if known == nil { // --, which ends flags
			break
		}
		if name == "data" {
			given++
		}
		if of, ok := known.Value.(interface{ IsBoolFlag() bool }); !joined && !(ok && of.IsBoolFlag()) {
			i++ // its value
		}
	}
	if given > 1 {
		return Usage("-data is given twice; several files are one value: a.csv,b.csv or 'claims/*.csv'")
	}
	return nil
}

// wanted is what values a flag has.
func wanted(f *flag.Flag) string {
	if g, ok := f.Value.(flag.Getter); ok {
		switch g.Get().(type) {
		case float64:
			return "a number, such as 1"
		case int:
			return "a whole number, such as 1"
		case uint64:
			return "a whole number that is not negative, such as 1"
		case bool:
			return "left out, true or false: -" + f.Name + "=true"
		}
	}
	return "another value"
}

// stray says what an argument may be that belongs to no flag: a file's name most often.
func stray(f *flag.FlagSet, arg string) error {
	candidates := []string{"schema", "model"}
	switch {
	case IsModel(arg):
		candidates = []string{"model"}
	case !strings.HasSuffix(arg, ".json"):
		candidates = []string{"data"}
	}
	if _, err := os.Stat(arg); err == nil || strings.HasSuffix(arg, ".json") || strings.HasSuffix(arg, ".csv") || strings.HasSuffix(arg, ".gz") {
		if i := slices.IndexFunc(candidates, func(name string) bool { return f.Lookup(name) != nil }); i >= 0 {
			return Usage("%q is not a flag (did you mean -%s %s?)", arg, candidates[i], arg)
		}
	}
	if question(f, arg) != "" {
		return Usage("%q is not a flag%s", arg, question(f, arg))
	}
	return Usage("%q is not a flag, which begin with -; -h lists them", arg)
}

// absent is the error of a flag that names no file.
type absent struct{ flag, path string }

func (e absent) Error() string { return fmt.Sprintf("-%s %s: there is no such file", e.flag, e.path) }

func (absent) Unwrap() error { return fs.ErrNotExist }

// Exists refuses the name of a file to read that isn't there, or is a directory.
func Exists(flag, path string) error {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return absent{flag, path}
	case err == nil && info.IsDir():
		return fmt.Errorf("-%s %s: it is a directory; name a file", flag, path)
	}
	return nil
}
