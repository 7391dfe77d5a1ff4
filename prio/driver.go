package prio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/dpglm/dpglm"
)

// Round is what a round took, in public numbers.
type Round struct {
	Plan    bool
	Time    time.Duration
	Sent    int   // bytes of all bodies that programs sent each other for it
	Failure error // why there was no sum, and another round may follow
}

// Driver asks parties, and has leader and helper add up: a dpglm.Aggregator.
type Driver struct {
	// Patience is for how long a round that has failed, as a program couldn't be reached or a report is missing, is
	// tried again, with fresh shares of the same answers. What a party has refused isn't, nor a
	// report that isn't valid. 0 is not at all.
	Patience time.Duration
	// Observe, unless it is nil, is told each round.
	Observe func(Round)

	setup          Setup
	parties        []*peer
	leader, helper *peer
}

// NewDriver makes one, of the addresses of all others, which begin with https://.
func NewDriver(s Setup, i Identity, leader, helper string, parties []string) (*Driver, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := i.check(); err != nil {
		return nil, err
	}
	if len(parties) != len(s.Rows) {
		return nil, fmt.Errorf("%w: %d addresses must be those of %d parties", dpglm.ErrConfig, len(parties), len(s.Rows))
	}
	d := &Driver{setup: s}
	var err error
	for k, url := range parties {
		p, err := i.peer(PartyName(k+1), url)
		if err != nil {
			return nil, err
		}
		d.parties = append(d.parties, p)
	}
	if d.leader, err = i.peer(LeaderName, leader); err != nil {
		return nil, err
	}
	d.helper, err = i.peer(HelperName, helper)
	return d, err
}

// Parties is the setup in the form that dpglm.OpenParties takes, of rows with so many columns.
func (s Setup) Parties(columns int) dpglm.Parties {
	return dpglm.Parties{Rows: s.Rows, Columns: columns, Bits: s.Bits}
}

const firstPause, mostPause = 100 * time.Millisecond, 5 * time.Second

// Sum has all parties answer a message, and returns the sum of their answers, modulo 2^Bits. It is
// for the curator's eyes only. The error of a party whose budget doesn't allow a plan is
// dpglm.ErrSpent, of one that refuses a message dpglm.ErrConfig.
func (d *Driver) Sum(ctx context.Context, message []byte) ([]uint64, error) {
	begun, pause := time.Now(), firstPause
	for {
		at := time.Now()
		r, err := newRound(message)
		if err != nil {
			return nil, err
		}
		if err := d.setup.admits(r); err != nil {
			return nil, fmt.Errorf("%w: %w", dpglm.ErrConfig, err)
		}
		sum, sent, err := d.round(ctx, r, message)
		if d.Observe != nil {
			d.Observe(Round{r.Plan, time.Since(at), sent, err})
		}
		if err == nil || final(err) || time.Since(begun) >= d.Patience {
			return sum, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, mostPause)
	}
}

// final reports whether another round of the same message fails, too.
func final(err error) bool {
	f := failure{}
	if !errors.As(err, &f) {
		return true
	}
	return f.status != http.StatusConflict && f.status != http.StatusBadGateway && f.status != http.StatusServiceUnavailable
}

// round asks all once. A plan, which parties count as spent when they agree to it, is told to none
// unless all programs are there.
func (d *Driver) round(ctx context.Context, r round, message []byte) (sum []uint64, sent int, err error) {
	if r.Plan {
		if sent, err = all(ctx, append([]*peer{d.leader, d.helper}, d.parties...), "/here", d.setup.pack()); err != nil {
			return nil, sent, told(err)
		}
	}
	more, err := all(ctx, d.parties, "/ask", pack(r.pack(), message))
	if sent += more; err != nil {
		return nil, sent, told(err)
	}
	var shares [2][]byte
	for k, q := range []struct {
		of   *peer
		path string
	}{{d.leader, "/collect"}, {d.helper, "/share"}} {
		share, more, err := q.of.post(ctx, q.path, r.pack(), d.setup.limit())
		if sent += more; err != nil {
			return nil, sent, err
		}
		shares[k] = share
	}
	sum, err = d.setup.answer(message, r, shares)
	return sum, sent, err
}

// all sends programs a body at the same time. It waits for all: none is left with an answer under
// way. What another round doesn't mend is the first error to be told.
func all(ctx context.Context, of []*peer, path string, body []byte) (sent int, err error) {
	type result struct {
		sent int
		err  error
	}
	results := make([]chan result, len(of))
	for k, p := range of {
		results[k] = make(chan result, 1)
		go func() {
			_, sent, err := p.post(ctx, path, body, besides)
			results[k] <- result{sent, err}
		}()
	}
	for _, c := range results {
		r := <-c
		sent += r.sent
		if err == nil || r.err != nil && final(r.err) && !final(err) {
			err = r.err
		}
	}
	return sent, err
}

// told is an error of parties, as one of the library's.
func told(err error) error {
	f := failure{}
	switch {
	case errors.As(err, &f) && f.status == http.StatusPaymentRequired:
		return fmt.Errorf("%w: %w", dpglm.ErrSpent, err)
	case errors.As(err, &f) && f.status == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", dpglm.ErrConfig, err)
	}
	return err
}
