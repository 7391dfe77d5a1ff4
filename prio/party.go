package prio

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table/party"
)

// Answerer answers a driver's message, as *party.Party does.
type Answerer interface {
	Answer(ctx context.Context, message []byte) ([]uint64, error)
}

var _ Answerer = (*party.Party)(nil)

// sharing is a party that sends its shares to the aggregators.
type sharing struct {
	setup          Setup
	index          int
	of             Answerer
	leader, helper *peer
	log            func(error)
}

// NewParty makes the handler of a party, of this number from 1. It answers the driver's messages, and
// sends the shares of each answer to leader and helper, whose addresses begin with https://. The
// driver is told that a message was refused, or that the budget doesn't allow it; why else the party
// couldn't answer, which may be about rows, goes to log, for the party's eyes only.
func NewParty(s Setup, i Identity, number int, of Answerer, leader, helper string, log func(error)) (http.Handler, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := i.check(); err != nil {
		return nil, err
	}
	if number < 1 || number > len(s.Rows) || of == nil || log == nil {
		return nil, fmt.Errorf("%w: party %d must be one of %d, who answers and has a log", dpglm.ErrConfig, number, len(s.Rows))
	}
	p := &sharing{setup: s, index: number - 1, of: of, log: log}
	var err error
	if p.leader, err = i.peer(LeaderName, leader); err != nil {
		return nil, err
	}
	if p.helper, err = i.peer(HelperName, helper); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/here", s.here())
	mux.Handle("/ask", route{only(DriverName), mostMessage, p.ask})
	return mux, nil
}

// ask answers a message, by shares.
func (p *sharing) ask(r *http.Request, _ string, body []byte) ([]byte, int, error) {
	fields, err := unpack(body, 2)
	if err != nil {
		return nil, 0, err
	}
	of, err := p.setup.unpackRound(fields[0])
	if err != nil {
		return nil, 0, err
	}
	message := fields[1]
	if !of.isOf(message) {
		return nil, 0, fail(http.StatusUnprocessableEntity, "the message must be that of the round")
	}
	answer, err := p.of.Answer(r.Context(), message)
	switch {
	case errors.Is(err, dpglm.ErrSpent):
		p.log(err)
		return nil, 0, fail(http.StatusPaymentRequired, "the party's budget doesn't allow the plan")
	case errors.Is(err, dpglm.ErrConfig):
		p.log(err)
		return nil, 0, fail(http.StatusUnprocessableEntity, "the party refuses the message")
	case r.Context().Err() != nil:
		return nil, 0, fail(http.StatusServiceUnavailable, "the request was given up")
	case err != nil:
		p.log(err)
		return nil, 0, fail(http.StatusInternalServerError, "the party can't answer, and its log says why")
	}
	reports, err := p.setup.split(p.index, of, answer)
	if err != nil {
		p.log(err)
		return nil, 0, fail(http.StatusInternalServerError, "the party can't share its answer, and its log says why")
	}
	sent, err := p.send(r.Context(), reports)
	return nil, sent, err
}

// split splits an answer into the reports for leader and helper.
func (s Setup) split(k int, r round, answer []uint64) (reports [2][]byte, err error) {
	measured, err := s.measure(k, r, answer)
	if err != nil {
		return reports, err
	}
	prio, err := s.sumvec(k, r)
	if err != nil {
		return reports, err
	}
	params := prio.Params()
	var nonce sumvec.Nonce
	seeds := make([]byte, params.RandSize())
	rand.Read(nonce[:]) // never fails
	rand.Read(seeds)
	public, shares, err := prio.Shard(measured, &nonce, seeds)
	if err != nil {
		return reports, err
	}
	of := s.id(r)
	for j := range reports {
		share, err := shares[j].MarshalBinary()
		if err != nil {
			return reports, err
		}
		reports[j] = pack(of[:], nonce[:], public, share)
	}
	return reports, nil
}

// send sends both reports at the same time.
func (p *sharing) send(ctx context.Context, reports [2][]byte) (sent int, err error) {
	type result struct {
		sent int
		err  error
	}
	results := make(chan result, len(reports))
	for j, to := range []*peer{p.leader, p.helper} {
		go func() {
			_, sent, err := to.post(ctx, "/report", reports[j], besides)
			results <- result{sent, err}
		}()
	}
	for range reports {
		r := <-results
		sent += r.sent
		err = errors.Join(err, r.err)
	}
	return sent, err
}
