package task

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// Source is what flags say about a data file, the public facts about it, and the loss.
type Source struct {
	Path   string
	Schema string // the file
	Loss   losses.Loss
	// HeldOut is the fraction of the rows to score on, a flag of the program's.
	HeldOut float64
	// Public is the fraction of the rest that is public, in experiments.
	Public float64
	// Turned has the labels of public rows be turned around, in experiments.
	Turned bool
	// Coins order persons in experiments; nil stands for secret ones.
	Coins mechanisms.Source
	// TakesLevels is for a program to set, before, that can do labels of several levels.
	TakesLevels bool
	// Classes is, once resolved, how many levels the label has where no loss of one score was
	// named: Loss is that of one against the rest.
	Classes int

	lossName string
	facts    *table.Schema // of rows
	file     *table.Schema // of records, which rows are made of
	libsvm   *table.LIBSVM // instead of facts

	program string
	stderr  io.Writer
	noted   bool // what is odd about the data
}

// NewSource adds the flags for a file, its schema and the loss to f.
func NewSource(f *flag.FlagSet) *Source {
	s := NewFacts(f)
	f.StringVar(&s.Path, "data", "", "data `file`"+Several+".csv, .tsv, .txt or .libsvm, or any of them with .gz")
	return s
}

// NewFacts adds the flags for a schema and the loss only.
func NewFacts(f *flag.FlagSet) *Source {
	s := new(Source)
	f.StringVar(&s.Schema, "schema", "", "JSON `file` with public facts about the columns; see package table")
	f.StringVar(&s.lossName, "loss", "", "`name` of the loss: "+known(lossTable)+
		"; gamma takes amounts below 0.01 for 0.01, huber is linear beyond an error of 1, negbinomial has the dispersion 1, quantile is that of order 0.9, ordinal has the thresholds of the shares in the schema or, without any, estimates them, smoothedhinge has the width 0.5 (default: by the kind of the label, logistic, poisson or squared; that of softmax for levels)")
	return s
}

// Resolve reads the schema, chooses the loss and finds contradictions, for the program
// of that name. What there is to say about the data will go to stderr.
func (s *Source) Resolve(program string, stderr io.Writer) error {
	s.program, s.stderr = program, stderr
	if s.Schema == "" {
		return Usage("-schema is missing: name a file that says what is publicly known of the columns (csvfit init writes one to fill in)")
	}
	if err := Exists("schema", s.Schema); err != nil {
		return err
	}
	if err := s.readFacts(); err != nil {
		if IsModel(s.Schema) {
			return fmt.Errorf("-schema %s: this is a model; -schema wants the file that says what is publicly known of the columns (csvfit init writes one to fill in)", s.Schema)
		}
		return err
	}
	label := s.label()
	if label.Kind == table.Categorical {
		return s.resolveLevels(label)
	}
	if s.lossName == "" {
		s.lossName = map[table.Kind]string{table.Binary: "logistic", table.Count: "poisson", table.Numeric: "squared"}[label.Kind]
	}
	loss, err := lookUp(lossTable, "loss", s.lossName)
	if err != nil {
		return err
	}
	s.Loss = loss
	return s.suits(label)
}

// ResolveData is Resolve for a source with a data file.
func (s *Source) ResolveData(program string, stderr io.Writer) error {
	if s.Path == "" {
		return Usage("-data is missing or empty: name a data file")
	}
	if err := DataExist("data", s.Path); err != nil {
		return err
	}
	return s.Resolve(program, stderr)
}

// DataExist refuses a flag's files of data that aren't there, or have no name that says of what they are. "-" is standard input.
func DataExist(flag, path string) error {
	if path == StandardInput {
		return nil
	}
	files, err := table.Files(path)
	if err != nil {
		return err
	}
	for _, f := range files {
		if libsvm, err := isLIBSVM(flag, f); err != nil {
			return err
		} else if (libsvm || strings.HasSuffix(f, RowsEnding) != strings.HasSuffix(files[0], RowsEnding)) && len(files) > 1 {
			return Usage("-%s %s: only files with columns, or only files of rows, can be read together, and %s isn't like the others", flag, path, f)
		}
		if err := Exists(flag, f); err != nil {
			return err
		}
	}
	return nil
}

// StandardInput is the name of a file that stands for it: a CSV.
const StandardInput = "-"

// Called is the path of data in messages.
func Called(path string) string {
	if path == StandardInput {
		return "standard input"
	}
	return path
}

// Several says how a flag names data beside one file.
const Several = ", or several as a.csv,b.csv or \"claims/*.csv\", or - for a CSV from standard input: "

// IsModel reports whether a file is a model, or should be one.
func IsModel(path string) bool {
	var file struct {
		Format string `json:"format"`
	}
	return of(path, &file) && strings.HasPrefix(file.Format, "dpglm")
}

// IsSchema reports whether a file is a schema, of columns or of a LIBSVM file.
func IsSchema(path string) bool {
	var file struct {
		Format  string          `json:"format"`
		Label   json.RawMessage `json:"label"`
		Columns json.RawMessage `json:"columns"`
		Bound   float64         `json:"bound"`
	}
	return of(path, &file) && file.Format == "" && file.Label != nil && (file.Columns != nil || file.Bound > 0)
}

// of reads a JSON file.
func of(path string, v any) bool {
	text, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(text, v) == nil
}

// RowsEnding is that of the names of files which table.Write wrote.
const RowsEnding = ".rows"

// IsRows reports whether a path, as that of data, names files of rows, by the ending of their names.
func IsRows(path string) bool {
	if files, err := table.Files(path); err == nil {
		path = files[0]
	}
	return strings.HasSuffix(path, RowsEnding)
}

// HasColumns refuses files of rows, which are a flag's, for what needs the file that these were made of.
func HasColumns(flag, path string) error {
	if IsRows(path) {
		return Usage("-%s %s is a file of rows, which only csvfit fit -data takes: name the file that it was made of", flag, path)
	}
	return nil
}

// IsLIBSVM tells the two formats of -data apart, by the ending of the file's name.
func IsLIBSVM(path string) (bool, error) { return isLIBSVM("data", path) }

func isLIBSVM(flag, path string) (bool, error) {
	if path == StandardInput {
		return false, nil
	}
	files, err := table.Files(path)
	if err != nil {
		return false, err
	}
	path = files[0]
	name := strings.TrimSuffix(path, ".gz")
	if name != path && strings.HasSuffix(name, RowsEnding) {
		return false, Usage("-%s %q: a file of rows can't be read compressed: unpack it, and name the file that ends in %s", flag, path, RowsEnding)
	}
	for _, ending := range []string{".csv", ".tsv", ".txt", RowsEnding} {
		if strings.HasSuffix(name, ending) {
			return false, nil
		}
	}
	if strings.HasSuffix(name, ".libsvm") {
		return true, nil
	}
	for ending, program := range map[string]string{".zst": "zstd", ".xz": "xz", ".bz2": "bzip2"} {
		if strings.HasSuffix(path, ending) {
			return false, Usage("-%[1]s %[2]s is compressed by %[3]s, which isn't read: decompress it, %[3]s -dc %[2]s | csvfit … -%[1]s -", flag, path, program)
		}
	}
	for ending, reader := range map[string]string{".parquet": "columnar.ReadParquetFile", ".arrow": "columnar.ReadArrowFile", ".feather": "columnar.ReadArrowFile"} {
		if strings.HasSuffix(path, ending) {
			return false, Usage("-%s %s: a file that ends in %s isn't read: export the table as CSV, or read it in Go by %s of module table/columnar", flag, path, ending, reader)
		}
	}
	return false, Usage("-%s %q must end in .csv, .tsv, .txt or .libsvm, or in one of them and .gz, or in %s", flag, path, RowsEnding)
}

func (s *Source) readFacts() error {
	libsvm := false
	if s.Path != "" {
		libsvm, _ = IsLIBSVM(s.Path)
	}
	if !libsvm {
		schema, err := table.ReadSchemaFile(s.Schema)
		if err == nil && schema.AtRisk() != "" && schema.LabelColumn().Kind != table.Count {
			role := "exposure"
			if schema.Offset != "" {
				role = "offset"
			}
			err = fmt.Errorf(`%s: %w: %q is %q, and is for labels of kind "count"; leave it out, so that the column is a feature, or make the column ignored`, s.Schema, table.ErrSchema, role, schema.AtRisk())
		}
		rows := schema
		if err == nil {
			rows = schema.Episodes()
		}
		s.facts, s.file = &rows, &schema
		return err
	}
	text, err := os.ReadFile(s.Schema)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	s.libsvm = new(table.LIBSVM)
	if err := d.Decode(s.libsvm); err != nil {
		return fmt.Errorf(`%s: %w: the schema of a LIBSVM file is {"features": …, "bound": …, "label": {"kind": …}}: %w`, s.Schema, table.ErrSchema, err)
	}
	if err := s.libsvm.Validate(); err != nil {
		return fmt.Errorf("%s: %w", s.Schema, err)
	}
	return nil
}

// Facts returns the schema of a file with columns, nil for LIBSVM.
func (s *Source) Facts() *table.Schema { return s.facts }

// FileFacts is the schema as it is in its file: of records, of which rows may be made by its Followup.
func (s *Source) FileFacts() *table.Schema { return s.file }

// Levels are the label's, nil if it hasn't several.
func (s *Source) Levels() []string {
	if label := s.label(); label.Kind == table.Categorical {
		return label.Levels
	}
	return nil
}

func (s *Source) label() table.Column {
	if s.libsvm != nil {
		return s.libsvm.Label
	}
	return s.facts.LabelColumn()
}

// suits refuses a loss that is not for the label, before the data are read.
func (s *Source) suits(label table.Column) error {
	binary := s.Loss.Labels() == losses.Binary
	_, ordinal := s.Loss.(losses.Ordinal)
	if of := s.FileFacts(); of != nil && of.Followup != nil && s.Loss.Labels() != losses.Count {
		return Usage(`-loss %s is for tables without "followup": hazards are fitted by poisson, the default; leave -loss out`, s.lossName)
	}
	switch {
	case ordinal:
		return Usage(`-loss ordinal is for a label of levels that ascend, and %q is %s: leave out -loss, or declare the label as categorical with its "levels" and "ordered": true`, label.Name, label.Kind)
	case s.Loss.Labels() == losses.Amount && label.Kind == table.Numeric && label.Range[0] != 0:
		return Usage(`-loss %s is for amounts, whose range begins at 0, and that of %q at %g: declare it so, or leave out -loss`, s.lossName, label.Name, label.Range[0])
	case binary == (label.Kind == table.Binary) && (s.Loss.Labels() != losses.Count || label.Kind == table.Count):
		return nil
	case binary:
		return Usage(`-loss %s is for a label of the kind binary, and %q is %s: leave out -loss, or declare the label as binary with "positive" and "negative", or "above"`, s.lossName, label.Name, label.Kind)
	case label.Kind == table.Binary:
		return Usage(`-loss %s is for a label that is a number, and %q is binary: leave out -loss, or declare the label as numeric with its "range"`, s.lossName, label.Name)
	}
	return Usage(`-loss %s is for a label of the kind count, and %q is %s: leave out -loss, or declare the label as count with its "cap"`, s.lossName, label.Name, label.Kind)
}

// Load reads the data file and, for the first time, says what is odd about it.
func (s *Source) Load(ctx context.Context) (*table.Table, error) {
	progress.Doing(ctx, "reading the data")
	t, err := Await(ctx, s.read)
	if err != nil || s.noted {
		return t, err
	}
	s.noted = true
	for _, w := range t.Warnings() {
		s.note("%s", w)
	}
	if s.facts != nil && s.facts.Person != "" {
		s.note("the guarantee is for a person (%q) with all rows, of which at most %d count", s.facts.Person, s.facts.MaxRows)
	}
	return t, nil
}

func (s *Source) read() (*table.Table, error) {
	if err := HasColumns("data", s.Path); err != nil {
		return nil, err
	}
	if s.libsvm != nil {
		return table.ReadLIBSVMFile(s.Path, *s.libsvm)
	}
	return table.ReadCSVFile(s.Path, *s.file)
}

// note writes a line about the data to standard error.
func (s *Source) note(format string, args ...any) {
	fmt.Fprintf(s.stderr, s.program+": "+format+"\n", args...)
}
