package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
	"github.com/dpglm/dpglm/table"
)

// charge is a fit's entry in a budget's file, with the journal of what it has released. nil is
// that of a fit without a budget.
type charge struct {
	budget   *budgetfile.File
	path, id string
	journal  *budgetfile.Journal
	found    bool   // by -resume
	moves    bool   // persons are in other parts the next time
	seen     string // the file that tells the data; see see
}

// pay enters what a fit, and an evaluation with it, will release into the budget's file, or finds
// the entry that -resume names.
func (o *fitting) pay(ctx context.Context, planned *dpglm.Ledger) (c *charge, err error) {
	if o.file == "" {
		return nil, nil
	}
	facts := o.source.Facts()
	drawn := facts != nil && (facts.Person != "" || facts.AtMost > 0) // afresh in each run, into other parts
	c = &charge{path: o.file, id: o.resume, found: o.resume != "", moves: drawn && o.evaluated > 0}
	if c.budget, err = budgetfile.Open(o.file); err != nil {
		return nil, err
	}
	if total, err := c.budget.Total(); err == nil && total.Unit != planned.Unit() { // which Spend refuses, too
		return nil, task.Usage("-budget %s protects %v, and a fit by this schema %v: make a budget by csvfit budget -unit and -neighbours", o.file, total.Unit, planned.Unit())
	}
	data, err := fingerprint(ctx, o.source.Path)
	if of := o.source.FileFacts(); data != "" && of != nil && of.Followup != nil { // of which rows don't tell
		data += fmt.Sprintf("%x\n", sha256.Sum256([]byte(of.String())))
	}
	if err != nil {
		return nil, err
	}
	if c.found {
		if err := c.find(o.dataName, planned); err != nil {
			return nil, err
		}
	} else if c.id, err = c.budget.Spend(ctx, o.dataName, "fit of "+o.source.Path+" to "+o.output, planned); err != nil {
		return nil, errors.Join(err, c.giveBack(ctx))
	}
	if c.journal, err = c.budget.Journal(ctx, c.id); err == nil {
		err = c.see(data)
	}
	return c, c.settled(ctx, err)
}

// find looks for the entry, which must be one for what is planned now, of data of that name.
func (c *charge) find(data string, planned *dpglm.Ledger) error {
	total, err := c.budget.Total()
	if err != nil {
		return err
	}
	if data != total.Data {
		return task.Usage("-name %s must be the budget's, %s", data, total.Data)
	}
	list, err := c.budget.Entries()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(e budgetfile.Entry) bool { return e.ID == c.id })
	if at < 0 {
		return task.Usage("-resume %s is not in -budget %s: csvfit budget -file %s lists what is", c.id, c.path, c.path)
	}
	was, err := json.Marshal(list[at].Ledger)
	if err != nil {
		return err
	}
	if now, err := json.Marshal(planned); err != nil || !bytes.Equal(was, now) {
		return task.Usage("-resume %s is of a fit with another plan: its data, schema, method and budget must be given again as they were", c.id)
	}
	return nil
}

// see compares the data with those that the entry's fit began with. In other rows, or in the same
// in another order, a row could lie in another part than before, and count twice. What tells them
// is for the curator only, as the data are: with it, whoever knows all rows but one could try that
// one.
func (c *charge) see(data string) error {
	releases, err := c.budget.Releases(c.id)
	if err != nil {
		return err
	}
	c.seen = filepath.Join(filepath.Dir(releases), c.id+".data")
	if !c.journal.Begun() {
		return os.WriteFile(c.seen, []byte(data), 0o600)
	}
	was, err := os.ReadFile(c.seen)
	if err != nil || data == "" {
		return task.Usage("-resume %s: nothing tells whether -data is as it was", c.id)
	}
	if string(was) != data {
		return task.Usage("-resume %s is of a fit of other data: the file must be as it was, to the last byte", c.id)
	}
	return nil
}

// fingerprint tells a file from others; it is empty for what can't be read twice.
func fingerprint(ctx context.Context, path string) (string, error) {
	files, err := table.Files(path)
	if err != nil || path == task.StandardInput {
		return "", err
	}
	if len(files) > 1 {
		var all string
		for _, f := range files {
			one, err := fingerprint(ctx, f)
			if err != nil || one == "" {
				return "", err
			}
			all += one
		}
		return all, nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		switch _, err := io.CopyN(hash, f, 1<<22); {
		case err == io.EOF:
			return fmt.Sprintf("%x\n", hash.Sum(nil)), nil
		case err != nil:
			return "", err
		}
	}
}

// keep has an environment's releases kept in the part of the journal.
func (c *charge) keep(env *dpglm.Env, part string) *dpglm.Env {
	if c == nil {
		return env
	}
	kept := *env
	kept.Journal = c.journal.Part(part)
	return &kept
}

// settled ends the charge of a fit that has ended with an error or none: it is given back if there
// was no noise yet, and the error says so; else the error says how to go on.
func (c *charge) settled(ctx context.Context, err error) error {
	if c == nil || err == nil {
		return err
	}
	switch {
	case c.journal == nil && c.found: // another program may be at work on it
		return err
	case c.journal == nil || !c.journal.Begun():
		return errors.Join(err, c.giveBack(ctx))
	}
	c.journal.Close()
	if errors.Is(err, dpglm.ErrConfig) || errors.Is(err, task.ErrUsage) { // of -resume
		return fmt.Errorf("%w\nentry %s of -budget %s stays spent", err, c.id, c.path)
	}
	var stopped *dpglm.Interrupted
	if c.moves || errors.As(err, &stopped) && !stopped.Kept {
		return fmt.Errorf("%w\nentry %s of -budget %s is spent, and its fit can't be gone on with: nobody knows whether each person would be in the same part", err, c.id, c.path)
	}
	return fmt.Errorf("%w\nentry %s of -budget %s is spent; to go on from what was released, without spending more, give the same command with -resume %s", err, c.id, c.path, c.id)
}

// done removes the journal of a fit whose results are kept.
func (c *charge) done() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.journal.Remove(), c.forget())
}

// giveBack takes the entry out of the budget, also where ctx is cancelled, and says so.
func (c *charge) giveBack(ctx context.Context) error {
	if c.id == "" {
		return nil
	}
	reason := "failed before any noise was drawn"
	if ctx.Err() != nil {
		reason = "interrupted before any noise was drawn"
	}
	if err := c.budget.GiveBack(context.WithoutCancel(ctx), c.id, reason); err != nil {
		return fmt.Errorf("entry %s of -budget %s could not be given back, though no noise was drawn: %w", c.id, c.path, err)
	}
	var err error
	if c.journal != nil {
		err = c.journal.Remove()
	}
	return errors.Join(err, c.forget(), fmt.Errorf("nothing was released: entry %s of -budget %s was given back", c.id, c.path))
}

func (c *charge) forget() error {
	if err := os.Remove(c.seen); c.seen != "" && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkResume refuses what can't be resumed.
func (o *fitting) checkResume() error {
	switch {
	case o.resume == "":
		return nil
	case o.file == "":
		return task.Usage("-resume is for a fit that was charged to a budget: name it by -budget")
	case o.seeded:
		return task.Usage("-resume can't be given with -insecure-noise-seed: its noise would be that of the first releases again")
	case strings.TrimSpace(o.resume) != o.resume:
		return task.Usage("-resume %q must be an entry of the budget", o.resume)
	}
	return nil
}
