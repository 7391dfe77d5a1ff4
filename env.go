package dpglm

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/mechanisms"
)

// Env carries what is neither data nor parameters. nil is a valid Env: noise
// from a fresh cryptographic source, silence, and no journal.
type Env struct {
	// NoiseForTests replaces the cryptographic source of the privacy noise, for
	// reproducible tests and experiments. The model's ledger then says that the
	// guarantee depends on the secrecy of this source.
	NoiseForTests mechanisms.Source
	// Progress, if set, is called after each step with public counters only: every Learner
	// calls it at least once, the last time with done = total, but where it returns the
	// constant model.
	Progress func(done, total int)
	// Journal, if set, keeps each release, so that a run that stops can go on later. Predictors
	// have a State in its place, and refuse one.
	Journal Journal
}

// callerNoise reports whether noise is the caller's.
func (e *Env) callerNoise() bool { return e != nil && e.NoiseForTests != nil }

func (e *Env) noise() mechanisms.Source {
	if e.callerNoise() {
		return e.NoiseForTests
	}
	return mechanisms.NewSecureSource()
}

func (e *Env) progress(done, total int) {
	if e != nil && e.Progress != nil {
		e.Progress(done, total)
	}
}

// mark says in a ledger where the noise, or the order of persons, was the caller's.
func (e *Env) mark(l *Ledger, d *Dataset) *Ledger {
	if e.callerNoise() || d.data.Ordered() {
		return l.WithCallerNoise()
	}
	return l
}

// allow returns the right to make a schedule's releases from d, which a journal, if there is
// one, goes on with. ledger and of, what is computed by which configuration, tell the run from
// others.
func (e *Env) allow(schedule *release.Schedule, d *Dataset, ledger *Ledger, of ...any) (*release.Allowance, error) {
	allow := schedule.Allow(d.data.Rows(), e.noise())
	if e == nil || e.Journal == nil {
		return allow, nil
	}
	identity, err := d.identity(ledger, of)
	if err != nil {
		return nil, err
	}
	s := d.Shape() // a secret order is drawn afresh
	return allow, allow.Keep(e.Journal, identity, s.PersonRows == 0 && !s.AddRemove)
}

// without refuses a journal where releases aren't a run's.
func (e *Env) without(what string) error {
	if e == nil || e.Journal == nil {
		return nil
	}
	return check.Fail(ErrConfig, "Env.Journal", fmt.Sprintf("%T", e.Journal), "must be nil for "+what)
}

// stopped is the error of a run that an error ended: that error, if no noise was drawn.
func stopped(allow *release.Allowance, ledger *Ledger, err error) error {
	if !allow.Begun() {
		return err
	}
	made, planned := allow.Releases()
	return &Interrupted{Ledger: ledger, Err: err, Made: made, Planned: planned, Kept: allow.Resumes()}
}

// Journal keeps what a run releases, one record for each release and one before the first,
// so that a run which stops can go on later from there: the same call with the same journal
// makes the releases again as they are there, without new noise, and then the others. It costs
// no more than one run does. Each pass over the rows is made again. A budgetfile.Journal is one,
// in a file beside the budget that the run was charged to.
//
// # Privacy
//
// Replace-one. Both runs together are one run of the plan. A release is in the journal before
// the learner sees it, and what a run drew and didn't record is forgotten with it, unseen, and
// drawn afresh: the ledger is the plan's, once. Records hold released numbers, which the
// guarantee covers; no noise, no linear term of [ObjectivePerturbation] and nothing else
// that is secret. So a journal that is complete may be published. That of a run that hasn't ended
// is for the curator only: its last record may be torn, and is then cut off and drawn again.
//
// What the caller must see to:
//
//   - The rows are those of the run that stopped, and in the same order. For learners without
//     disjoint parts any order will do; with them, as in [GridSearch], [Boost] and after
//     [Dataset.Split], rows in another order would come to lie in other parts, and cost what all
//     of these cost together. (Another split, or part, is refused.) Nothing here compares the rows: a fingerprint of them, in a journal
//     that may be published, would tell whoever knows all rows but one what that one is. (csvfit
//     compares its file's, which it keeps with the data and not in the journal.) With [Persons],
//     whose order is secret and drawn afresh, such runs are refused once something was released.
//   - A journal belongs to one run: two programs that go on with copies of it draw two releases
//     where the ledger counts one.
//   - Parties of [OpenParties] agree to the plan once more, and count it once more as spent.
//   - Env.NoiseForTests, where there is one, goes on where it was, or noise is used twice.
type Journal interface {
	// Records returns all records that were appended, the earliest first.
	Records() ([][]byte, error)
	// Append adds a record, and returns once it will be there after a crash. The first call
	// comes before any noise is drawn, and if it fails none is.
	Append(record []byte) error
}

// identity names a run on d by a hash of public facts.
func (d *Dataset) identity(ledger *Ledger, of []any) (string, error) {
	var facts any = d.facts
	if t, ok := facts.(tableFacts); ok {
		facts = t.encoder.Schema()
	}
	text, err := json.Marshal([]any{d.Shape(), facts, d.data.Rows().Parts(), ledger})
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	hash.Write(text)
	for _, v := range of {
		if text, err = json.Marshal(v); err != nil { // a number that isn't finite, or a function
			text = nil
		}
		fmt.Fprintf(hash, "\n%T %s", v, text)
	}
	return fmt.Sprintf("dpglm %s run %x", Version, hash.Sum(nil)), nil
}

// additive is planned noise for vectors of known L2 sensitivity.
type additive interface {
	// perSensitivity is the standard deviation in each coordinate for each unit
	// of sensitivity.
	perSensitivity() float64
	// check refuses a sensitivity that a release would refuse.
	check(sensitivity float64) error
	schedule(label string, releases int) (*release.Schedule, error)
}

type gaussian struct {
	mechanisms.Gaussian
	dim int
}

func (g gaussian) perSensitivity() float64 { return 1 / g.Mu }

func (g gaussian) check(sensitivity float64) error {
	_, err := g.Sigma(sensitivity, g.dim)
	return err
}

func (g gaussian) schedule(label string, releases int) (*release.Schedule, error) {
	return release.Gaussian(label, g.Mu, releases, g.dim)
}

// laplace is discrete Laplace noise for the L1 sensitivity that follows from L2.
type laplace struct {
	mechanisms.Laplace
	dim int
}

func (l laplace) perSensitivity() float64 { return math.Sqrt(2*float64(l.dim)) / l.Epsilon }

func (l laplace) check(sensitivity float64) error {
	_, err := l.Scale(release.L1(sensitivity, l.dim), l.dim)
	return err
}

func (l laplace) schedule(label string, releases int) (*release.Schedule, error) {
	return release.Laplace(label, l.Epsilon, releases, l.dim)
}
