package dpglm

import (
	"fmt"

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
	return allow, allow.Keep(e.Journal, identity, d.Shape().PersonRows == 0)
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
