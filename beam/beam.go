// Package beam fits models on rows that the workers of an Apache Beam runner read: on a
// cluster of Flink, Spark or Dataflow, or on Prism in this process.
//
// A data set of [OpenRows] gives the answers, the noise and the models of the same rows in
// memory, to the last bit, for almost all that dpglm can do: docs/CLUSTER.md says what is left.
// Each pass over the rows is a pipeline of its own, whose elements are pieces of the file, some
// blocks each. A worker adds up its blocks, one sum for each, and writes these to a file of a
// name that no other pass has; this process reads them back one by one, in the order of the
// blocks, adds them up, and draws all noise: a worker that runs again, or twice, makes the same
// file. Which pieces came, and how many rows they were, is checked in each pass.
//
// [Write] has workers read a table that lies in many files, each some of these, and write the rows that [OpenRows] opens.
//
// Programs call [Init] first of all, which turns those that a runner has started into
// workers; it reads the flags that Beam's runners define, after flag.Parse.
//
// # Privacy
//
// What a pass writes to Options.Temp is sealed with a key that this process makes for each pass, and which is in the pipeline that it sends to the
// runner: what a process that is killed leaves there can't be read by whoever hasn't seen the pipeline. A context that is cancelled cancels the job.
//
// Sums of rows without noise, and copies of rows in another order, travel between workers, the
// temporary directory and this process, as do weights between releases: runner, directory and
// whoever can read them are trusted as the owner of the rows is. What leaves is what a fit in
// memory releases.
package beam

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/worker"
)

func init() {
	register.DoFn3x1[context.Context, int, func(Sums), error](&answer{})
	register.DoFn2x1[context.Context, Sums, error](&keep{})
	register.Emitter1[Sums]()
	beam.RegisterType(reflect.TypeFor[Sums]())
	beam.RegisterCoder(reflect.TypeFor[Sums](), encode, decode)
}

// Options say where a pass runs.
type Options struct {
	// Runner runs a pipeline, such as prism.Execute, flink.Execute, spark.Execute or
	// dataflow.Execute of Beam's packages of these names, which take what else they need from
	// flags.
	Runner func(ctx context.Context, p *beam.Pipeline) (beam.PipelineResult, error)
	// Temp is a directory that workers can write and this process can read, as a path, or as a
	// URL of a file system of Beam's that the program imports and that can remove files, as its own
	// can. Passes leave nothing there, nor in the directory for temporary files.
	Temp string
	// Scratch is a directory that workers and this process have under the same path, for copies of
	// rows, which are private as the rows are: Dataset.Split, searches, boosting, persons and
	// Newton's method read rows in another order, or some of them. They are gone when they are no
	// longer used, or the data set is closed: close it before the program ends. Empty is Temp,
	// where that is a path.
	Scratch string
	// Attempts is how many pipelines in a row may fail without bringing a piece before a pass does, with 1 s, 2 s, 4 s … and a minute at most
	// between them; 0 is 4. A pass asks again for the pieces that are missing only, and costs no budget.
	Attempts int
	// Retrying, if given, is called before a pipeline is run again: why, and how many pieces of how many are there.
	Retrying func(err error, there, pieces int)
	// Pieces is how many elements a pass has: some for each core of all workers, and 256 at most;
	// 0 is 16. Write has one for each input file.
	Pieces int
}

// complete fills in what has a default, and checks what was given.
func (o *Options) complete() error {
	if o.Pieces == 0 {
		o.Pieces = 16
	}
	if o.Attempts == 0 {
		o.Attempts = 4
	}
	switch {
	case !beam.Initialized():
		return check.Fail(check.ErrConfig, "Init", nil, "must be called before")
	case o.Runner == nil:
		return check.Fail(check.ErrConfig, "Options.Runner", nil, "must be given, such as prism.Execute")
	case o.Temp == "":
		return check.Fail(check.ErrConfig, "Options.Temp", o.Temp, "must be a directory that workers write")
	case o.Attempts < 0:
		return check.Fail(check.ErrConfig, "Options.Attempts", o.Attempts, "must be 0 or more")
	case o.Pieces < 0:
		return check.Fail(check.ErrConfig, "Options.Pieces", o.Pieces, "must be 0 or more")
	}
	return nil
}

// OpenRows is dpglm.OpenRowsOn for workers of a Beam runner: they find the file, which
// dpglm.WriteRows or table.Write wrote, or several files, under the same path. It fails where [Init] wasn't called,
// an option is missing or breaks its rule, and as dpglm.OpenRows does. A pass that a runner
// fails is tried again, as Options.Attempts says, and then makes the call that needs it fail.
func OpenRows(ctx context.Context, path string, facts dpglm.Facts, o Options, order ...dpglm.PersonOrder) (*dpglm.Dataset, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if o.Scratch == "" && directory(o.Temp).local() {
		o.Scratch = o.Temp
	}
	if o.Scratch == "" {
		return nil, check.Fail(check.ErrConfig, "Options.Scratch", o.Scratch, "must be a directory that workers and this process share, as Temp is none")
	}
	return dpglm.OpenRowsOn(ctx, path, facts, &engine{o: o}, order...)
}

// engine runs a pipeline for each pass.
type engine struct {
	o      Options
	writes bool // rows of files, and answers no questions about rows
}

func (e *engine) Pieces() int { return e.o.Pieces }

func (e *engine) Scratch() string { return e.o.Scratch }

// Ask runs pipelines until all pieces are there, and reads what they wrote, in a directory of its own.
func (e *engine) Ask(ctx context.Context, question []byte, pieces int, take func(reply io.Reader) error) (err error) {
	dir, err := create(ctx, e.o.Temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.remove()) }()
	key := newKey()
	sealed, err := key.seal(question)
	if err != nil {
		return err
	}
	if err := dir.write(ctx, questionFile, sealed); err != nil {
		return err
	}
	if err := e.gather(ctx, place{dir, key}, pieces); err != nil {
		return err
	}
	for k := range pieces {
		if err := dir.open(ctx, pieceFile(k), func(r io.Reader) error { return key.opened(r, take) }); err != nil {
			return fmt.Errorf("piece %d of a pass: %w", k, err)
		}
	}
	return nil
}

// gather runs pipelines until all pieces are there: a pass is deterministic, so that what is missing may be asked for
// again, whatever the reason: rows that aren't there look like a disk that didn't answer. It gives up where so many pipelines in a row as
// Options.Attempts has bring no piece.
func (e *engine) gather(ctx context.Context, at place, pieces int) error {
	missing := make([]int, pieces)
	for k := range missing {
		missing[k] = k
	}
	wait := firstWait
	for failures := 0; ; {
		failed := e.run(ctx, at, missing)
		if ctx.Err() != nil {
			return cmp.Or(failed, check.Cancelled(ctx))
		}
		left, err := at.Dir.missing(ctx, pieces)
		switch {
		case err != nil:
			return errors.Join(failed, err)
		case len(left) == 0: // whatever the runner says
			return nil
		case failed == nil:
			failed = fmt.Errorf("a pass of the runner has ended without %d of its %d pieces", len(left), pieces)
		}
		if failures++; len(left) < len(missing) {
			failures, wait = 0, firstWait
		}
		if missing = left; failures >= e.o.Attempts {
			return failed
		}
		if e.o.Retrying != nil {
			e.o.Retrying(failed, pieces-len(left), pieces)
		}
		select {
		case <-ctx.Done():
			return check.Cancelled(ctx)
		case <-time.After(wait):
		}
		wait = min(2*wait, lastWait)
	}
}

// How long a pass waits before it is tried again, twice as long each time.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// run runs a pipeline for pieces.
func (e *engine) run(ctx context.Context, at place, pieces []int) error {
	p, scope := beam.NewPipelineWithRoot()
	each := beam.Reshuffle(scope, beam.CreateList(scope, pieces)) // to all workers
	sums := beam.ParDo(scope, &answer{at, e.writes}, each)
	// Prism waits for a stage that has results without computing, and for one that has none not.
	beam.ParDo0(scope, &keep{at.Dir}, beam.Reshuffle(scope, sums))
	var j job
	defer j.remove()
	if _, err := e.o.Runner(j.noting(ctx), p); err != nil {
		if stopped := check.Cancelled(ctx); stopped != nil {
			return errors.Join(stopped, j.cancel())
		}
		return fmt.Errorf("a pass of the runner: %w", err)
	}
	return nil
}

// Sums are those of one piece, raw: Beam has to know the type, and nobody else does.
type Sums struct {
	Piece int
	Reply []byte
}

func encode(s Sums) []byte {
	return append([]byte{byte(s.Piece), byte(s.Piece >> 8), byte(s.Piece >> 16), byte(s.Piece >> 24)}, s.Reply...)
}

func decode(b []byte) (Sums, error) {
	if len(b) < 4 {
		return Sums{}, io.ErrUnexpectedEOF
	}
	return Sums{int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24, b[4:]}, nil
}

// place is where a pass writes, and the key of what it writes. The key is in the pipeline, and in no file of the directory.
type place struct {
	Dir directory
	Key key
}

// answer answers the question in a directory for pieces.
type answer struct {
	At     place
	Writes bool
}

// ProcessElement answers for one piece, sealed.
func (a *answer) ProcessElement(ctx context.Context, piece int, emit func(Sums)) error {
	sealed, err := a.At.Dir.read(ctx, questionFile)
	if err != nil {
		return err
	}
	question, err := a.At.Key.open(sealed)
	if err != nil {
		return err
	}
	replies := worker.Reply
	if a.Writes {
		replies = encoded
	}
	reply, err := replies(ctx, question, piece)
	if err != nil {
		return err
	}
	if reply, err = a.At.Key.seal(reply); err != nil {
		return err
	}
	emit(Sums{piece, reply})
	return nil
}

// keep writes sums to a directory.
type keep struct{ Dir directory }

// ProcessElement writes those of one piece.
func (k *keep) ProcessElement(ctx context.Context, s Sums) error {
	return k.Dir.write(ctx, pieceFile(s.Piece), s.Reply)
}
