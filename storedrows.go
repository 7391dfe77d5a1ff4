package dpglm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/table"
)

// WriteRows writes the rows of x, n×d, and their labels to a file for [OpenRows], with the
// details of rows that [NewDataset] takes. It reads x row by row, so that a mat.Matrix which
// computes its elements needn't be kept anywhere: a dense one takes 8 bytes an element of the
// file, a [Sparse] one 12 an entry. The file appears under its name when it is complete; there
// must be none of that name before ([ErrRowFile]). A context that is cancelled stops it before
// the next row, and leaves no file. It holds private data, and is for its owner's eyes only.
// Values are checked when the file is opened. Persons keep their numbers up to ±2⁵³, so that several
// files can be opened as one.
//
// Tables are written by table.Write, which needs no matrix.
func WriteRows(ctx context.Context, path string, x mat.Matrix, y []float64, more ...RowDetail) error {
	if err := check.Given("context", ctx); err != nil {
		return err
	}
	x, _, err := raw(x)
	if err != nil {
		return err
	}
	d, err := detailed(more)
	if err != nil {
		return err
	}
	if d.owners.Coins != nil {
		return check.Fail(ErrConfig, "PersonOrder", nil, "must be given to OpenRows: a file has none")
	}
	return curator.WriteFile(ctx, path, x, y, d.owners, d.offsets, d.offsetRange[0], d.offsetRange[1])
}

// OpenRows makes a data set of a file that [WriteRows] or table.Write wrote. Its rows stay in
// the file, and each pass reads them there: answers, and so the noise and the models, are those
// of the same rows in memory, to the last bit.
//
// The path may be that of several files, as table.Files has it: "rows-*.rows", or with commas between
// them. They are one data set, of the rows of the first file, then those of the second, and so on.
// Their rows must have the same form and the same facts, and an error names the file that differs
// ([ErrRowFile]). Files of table.WriteParts are opened together, all of them and in their order. Where
// rows have persons other files than these must be of WriteRows, by the same numbers: a number is one person
// in all of them.
//
// For a file of WriteRows, facts are Bounds or a Schema; for one of table.Write nil, as these
// follow from the schema in the file. Like NewDataset, OpenRows reads all rows once and checks
// them, and fails as that does; and where there is no such file, none of rows ([ErrRowFile]), or a pattern
// that names none (table.ErrFile).
// The file is read through checksums: where it can't be read, or was changed since it was opened,
// the call that reads it fails, and no model comes of it; a ledger then says what was planned, as
// after any other interruption. [Dataset.Close] closes it. A context that is
// cancelled while rows are read for the first time stops that within a block.
//
// Memory is a few MiB for each processor and, for each row, 8 bytes; 16 if a row is longer
// than the bound; 8 more in coordinates of [StandardisedGD] and of what is made of it; 8 for
// each of offsets, a person and a weight. [Dataset.Split], [GridSearch], [Boost], persons and
// random projections read rows in another order, or other rows: they copy them to scratch
// files, which lie in the directory for temporary files (TMPDIR), are as private as the rows,
// and are gone when they are no longer used.
func OpenRows(ctx context.Context, path string, facts Facts, order ...PersonOrder) (*Dataset, error) {
	if err := check.Given("context", ctx); err != nil {
		return nil, err
	}
	coins, err := coinsOf(order)
	if err != nil {
		return nil, err
	}
	f, err := openFiles(path)
	if err != nil {
		return nil, err
	}
	return opened(f, facts, func(enc curator.Encoding, labelCentre, labelBound float64) (*curator.Data, error) {
		return f.Data(ctx, enc, labelCentre, labelBound, coins)
	})
}

// Engine has questions about rows answered by other processes, which read them. Its methods are
// given questions and replies in a form of their own: package beam, a module of its own, has
// one. What they carry is private, and for the curator's eyes only.
type Engine interface {
	// Ask has a question answered for each of so many pieces, numbered from 0, and calls take
	// with the replies, in the order of the pieces; take reads each to its end.
	Ask(ctx context.Context, question []byte, pieces int, take func(reply io.Reader) error) error
	// Pieces is how many pieces a pass over the rows is best cut into.
	Pieces() int
	// Scratch is a directory that workers and this process have under the same path, for copies
	// of rows in another order.
	Scratch() string
}

// openFiles opens the files that a path names.
func openFiles(path string) (*curator.File, error) {
	paths, err := table.Files(path)
	if err != nil {
		return nil, err
	}
	return curator.OpenFile(paths...)
}

// OpenRowsOn is [OpenRows] where workers of an engine read the rows: they must find the files
// under the same paths. The workers add up the same blocks, and so the answers, the noise and
// the models are again those of rows in memory, to the last bit. Noise is drawn here, whatever
// workers do, and a pass in which rows are missing or count twice is refused.
//
// Learners, inference, evaluation and predictors run on it as they do on rows in memory:
// projections are made inside each pass, and the candidates of a search share one. What reads
// rows in another order, or some of them, as [Dataset.Split], [GridSearch], [Boost] and persons
// do, has a worker copy these once to a file in the engine's Scratch, which all workers then
// read. [ThresholdConfig] has workers send the rows' one column and labels. Not to be had, and refused by an error, are [InferClasses],
// and a losses.Custom that isn't registered by losses.Register in the workers' program.
//
// Memory here is, beside a sum or two, 8 bytes for each row of an order to copy, and as many
// for each of persons and weights.
func OpenRowsOn(ctx context.Context, path string, facts Facts, e Engine, order ...PersonOrder) (*Dataset, error) {
	if err := check.Given("context", ctx); err != nil {
		return nil, err
	}
	coins, err := coinsOf(order)
	if err != nil {
		return nil, err
	}
	if err := check.Given("engine", e); err != nil {
		return nil, err
	}
	f, err := openFiles(path)
	if err != nil {
		return nil, err
	}
	return opened(f, facts, func(enc curator.Encoding, labelCentre, labelBound float64) (*curator.Data, error) {
		return f.Remote(ctx, enc, labelCentre, labelBound, coins, e)
	})
}

// opened is the data set of a file, which is closed where there is none.
func opened(f *curator.File, facts Facts, data func(curator.Encoding, float64, float64) (*curator.Data, error)) (*Dataset, error) {
	d, err := openRows(f, facts, data)
	if err != nil {
		f.Close()
		return nil, err
	}
	return d, nil
}

func openRows(f *curator.File, facts Facts, open func(curator.Encoding, float64, float64) (*curator.Data, error)) (*Dataset, error) {
	facts, err := factsOfFile(f, facts)
	if err != nil {
		return nil, err
	}
	centre, bound, err := facts.labels()
	if err != nil {
		return nil, err
	}
	enc, err := facts.encoding(f.Columns())
	if err != nil {
		return nil, err
	}
	data, err := open(enc, centre, bound)
	if err != nil {
		return nil, err
	}
	return &Dataset{data, facts}, nil
}

// factsOfFile are those given, or those of the file's schema.
func factsOfFile(f *curator.File, facts Facts) (Facts, error) {
	text := f.Schema()
	switch {
	case text == nil:
		return ownFacts(facts)
	case facts != nil:
		return nil, check.Fail(ErrConfig, "facts", fmt.Sprintf("%T", facts), "must be nil: they follow from the schema in the file")
	}
	var s table.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	e, err := table.NewEncoder(s)
	if err != nil {
		return nil, err
	}
	return newTableFacts(e), suitsExposure(s.AtRisk() != "", e.Label())
}

// Close closes the files that the rows lie in, and removes copies that workers made of them, after
// which calls that read the rows or parts of them fail. A data set in memory has none, and isn't
// changed.
func (d *Dataset) Close() error {
	if d == nil || d.data == nil {
		return nil
	}
	return d.data.Close()
}
