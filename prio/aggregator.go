package prio

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"sync"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"

	"github.com/dpglm/dpglm"
)

const (
	leaderIndex, helperIndex = 0, 1
	// mostOpen is how many rounds of a party are open at a time: a further report takes the place of the
	// first one.
	mostOpen = 4
	// nonceSize and publicSize are bytes of a report's nonce and public share.
	nonceSize, publicSize = 16, 64
	// keySize is the least of the aggregators' key.
	keySize = 32
	// elements of a share for each number of an integer's bits, 2 of the proof included, and bytes of one;
	// and what a body has beside shares, and beside those of each party.
	elementsPerBit, elementSize, besides = 5, 16, 4 << 10
)

// open is a round of which not all was done.
type open struct {
	reports [][]byte // of each party; nil for none
	shares  []byte   // the sum of shares, for the driver to fetch from the helper
}

// aggregator is a leader or a helper.
type aggregator struct {
	setup Setup
	index uint8
	key   []byte

	lock   sync.Mutex
	open   map[id]*open
	order  [][]id // of each party, the rounds that it has a report in
	closed map[id]bool
}

func newAggregator(s Setup, i Identity, index uint8, key []byte) (*aggregator, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := i.check(); err != nil {
		return nil, err
	}
	if len(key) < keySize {
		return nil, fmt.Errorf("%w: the aggregators' key has %d bytes, and must have at least %d", dpglm.ErrConfig, len(key), keySize)
	}
	return &aggregator{setup: s, index: index, key: key, open: map[id]*open{}, order: make([][]id, len(s.Rows)), closed: map[id]bool{}}, nil
}

// limit is how long a body with a share may be.
func (s Setup) limit() int64 {
	return int64(s.pieces()+s.Numbers)*mostBits*elementsPerBit*elementSize + besides
}

// isParty is for all parties.
func (s Setup) isParty(role string) bool {
	_, ok := s.partyOf(role)
	return ok
}

// NewLeader makes the leader's handler. The key, of 32 bytes or more, is the helper's, too, and
// unknown to parties: it makes what a proof is checked at, so that a party that knows it can make a false
// one. The address of the helper begins with https://.
func NewLeader(s Setup, i Identity, key []byte, helper string) (http.Handler, error) {
	a, err := newAggregator(s, i, leaderIndex, key)
	if err != nil {
		return nil, err
	}
	to, err := i.peer(HelperName, helper)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/here", s.here())
	mux.Handle("/report", route{s.isParty, s.limit(), a.report})
	mux.Handle("/collect", route{only(DriverName), besides, func(r *http.Request, _ string, body []byte) ([]byte, int, error) {
		return a.collect(r.Context(), to, body)
	}})
	return mux, nil
}

// NewHelper makes the helper's handler, with the leader's key.
func NewHelper(s Setup, i Identity, key []byte) (http.Handler, error) {
	a, err := newAggregator(s, i, helperIndex, key)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/here", s.here())
	mux.Handle("/report", route{s.isParty, s.limit(), a.report})
	mux.Handle("/prepare", route{only(LeaderName), s.limit() * int64(len(s.Rows)), a.prepare})
	mux.Handle("/share", route{only(DriverName), besides, a.share})
	return mux, nil
}

// report takes a party's report, once.
func (a *aggregator) report(_ *http.Request, role string, body []byte) ([]byte, int, error) {
	k, _ := a.setup.partyOf(role)
	fields, err := unpack(body, 4)
	if err != nil {
		return nil, 0, err
	}
	if len(fields[0]) != sha256.Size || len(fields[1]) != nonceSize || len(fields[2]) != publicSize {
		return nil, 0, errBody
	}
	of := id(fields[0])
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.closed[of] {
		return nil, 0, fail(http.StatusConflict, "the round is closed")
	}
	o := a.open[of]
	if o == nil {
		o = &open{reports: make([][]byte, len(a.setup.Rows))}
		a.open[of] = o
	}
	if o.reports[k] != nil {
		return nil, 0, fail(http.StatusConflict, "there is a report of %s in this round", role)
	}
	o.reports[k] = body
	if a.order[k] = append(a.order[k], of); len(a.order[k]) > mostOpen {
		a.forget(k, a.order[k][0])
		a.order[k] = a.order[k][1:]
	}
	return nil, 0, nil
}

// forget drops a party's report of a round, if that is open.
func (a *aggregator) forget(k int, of id) {
	o := a.open[of]
	if o == nil {
		return
	}
	o.reports[k] = nil
	for _, r := range o.reports {
		if r != nil {
			return
		}
	}
	if o.shares == nil {
		delete(a.open, of)
	}
}

// take closes a round, and returns its reports, one of each party.
func (a *aggregator) take(of id) (*open, [][]byte, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	o := a.open[of]
	switch {
	case a.closed[of]:
		return nil, nil, fail(http.StatusConflict, "the round is closed")
	case o == nil:
		return nil, nil, fail(http.StatusConflict, "there is no report in this round")
	}
	for k, r := range o.reports {
		if r == nil {
			return nil, nil, fail(http.StatusConflict, "there is no report of %s in this round", PartyName(k+1))
		}
	}
	reports := o.reports
	o.reports = make([][]byte, len(reports))
	a.closed[of] = true
	return o, reports, nil
}

// end forgets a round, but that it is closed.
func (a *aggregator) end(of id) {
	a.lock.Lock()
	defer a.lock.Unlock()
	delete(a.open, of)
}

// key of what all proofs of a round are checked at.
func (a *aggregator) verifyKey(of id) (key sumvec.VerifyKey) {
	m := hmac.New(sha256.New, a.key)
	m.Write(of[:])
	copy(key[:], m.Sum(nil))
	return key
}

// prepared is a report that is being checked.
type prepared struct {
	prio  *sumvec.SumVec
	state *sumvec.PrepState
	share *sumvec.PrepShare
}

// begin makes an aggregator's part of the check of a report.
func (a *aggregator) begin(k int, r round, report []byte) (p prepared, err error) {
	fields, err := unpack(report, 4)
	if err != nil {
		return p, err
	}
	if p.prio, err = a.setup.sumvec(k, r); err != nil {
		return p, err
	}
	params := p.prio.Params()
	var input sumvec.InputShare
	if err := input.New(&params, uint(a.index)).UnmarshalBinary(fields[3]); err != nil {
		return p, errBody
	}
	key, nonce := a.verifyKey(a.setup.id(r)), sumvec.Nonce(fields[1])
	p.state, p.share, err = p.prio.PrepInit(&key, &nonce, a.index, sumvec.PublicShare(fields[2]), input)
	return p, err
}

// finish checks a report with the other aggregator's part, and returns the share of its integers.
func (p prepared) finish(own uint8, other []byte) (*sumvec.OutShare, error) {
	params := p.prio.Params()
	var theirs sumvec.PrepShare
	if err := theirs.New(&params).UnmarshalBinary(other); err != nil {
		return nil, errBody
	}
	shares := []sumvec.PrepShare{*p.share, theirs}
	if own == helperIndex {
		shares[0], shares[1] = theirs, *p.share
	}
	message, err := p.prio.PrepSharesToPrep(shares)
	if err != nil {
		return nil, err
	}
	return p.prio.PrepNext(p.state, message)
}

// invalid is the error of a report that isn't valid: its party's integers are out of range, or a
// party or an aggregator has damaged it.
func invalid(k int) error {
	return fail(http.StatusUnprocessableEntity, "the report of %s isn't valid", PartyName(k+1))
}

// all begins the check of all reports, and returns the parts of it for the other.
func (a *aggregator) all(r round, reports [][]byte) (list []prepared, parts [][]byte, err error) {
	for k, report := range reports {
		p, err := a.begin(k, r, report)
		if err != nil {
			return nil, nil, invalid(k)
		}
		part, err := p.share.MarshalBinary()
		if err != nil {
			return nil, nil, invalid(k)
		}
		list, parts = append(list, p), append(parts, part)
	}
	return list, parts, nil
}

// sum finishes the check of all reports, with the other's parts, and adds up the shares.
func (a *aggregator) sum(list []prepared, others [][]byte) ([]byte, error) {
	total := list[0].prio.AggregateInit()
	for k, p := range list {
		share, err := p.finish(a.index, others[k])
		if err != nil {
			return nil, invalid(k)
		}
		list[0].prio.AggregateUpdate(&total, share)
	}
	return total.MarshalBinary()
}

// collect is the driver's request: to check a round with the helper, and to tell the sum of the leader's
// shares.
func (a *aggregator) collect(ctx context.Context, helper *peer, body []byte) ([]byte, int, error) {
	r, err := a.setup.unpackRound(body)
	if err != nil {
		return nil, 0, err
	}
	of := a.setup.id(r)
	_, reports, err := a.take(of)
	if err != nil {
		return nil, 0, err
	}
	defer a.end(of)
	list, parts, err := a.all(r, reports)
	if err != nil {
		return nil, 0, err
	}
	reply, sent, err := helper.post(ctx, "/prepare", pack(body, pack(parts...)), a.setup.limit()*int64(len(a.setup.Rows)))
	if err != nil {
		return nil, 0, err
	}
	others, err := unpack(reply, len(reports))
	if err != nil {
		return nil, 0, fail(http.StatusBadGateway, "%s: %w", HelperName, err)
	}
	sum, err := a.sum(list, others)
	return sum, sent, err
}

// prepare is the leader's request: to check a round with it, and to keep the sum of the helper's
// shares for the driver.
func (a *aggregator) prepare(_ *http.Request, _ string, body []byte) ([]byte, int, error) {
	fields, err := unpack(body, 2)
	if err != nil {
		return nil, 0, err
	}
	r, err := a.setup.unpackRound(fields[0])
	if err != nil {
		return nil, 0, err
	}
	others, err := unpack(fields[1], len(a.setup.Rows))
	if err != nil {
		return nil, 0, err
	}
	of := a.setup.id(r)
	o, reports, err := a.take(of)
	if err != nil {
		return nil, 0, err
	}
	list, parts, err := a.all(r, reports)
	var sum []byte
	if err == nil {
		sum, err = a.sum(list, others)
	}
	if err != nil {
		a.end(of)
		return nil, 0, err
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	o.shares = sum
	return pack(parts...), 0, nil
}

// share is the driver's request for the sum of the helper's shares of a round, once.
func (a *aggregator) share(_ *http.Request, _ string, body []byte) ([]byte, int, error) {
	r, err := a.setup.unpackRound(body)
	if err != nil {
		return nil, 0, err
	}
	of := a.setup.id(r)
	a.lock.Lock()
	defer a.lock.Unlock()
	o := a.open[of]
	if o == nil || o.shares == nil {
		return nil, 0, fail(http.StatusConflict, "the round has no sum to tell")
	}
	delete(a.open, of)
	return o.shares, 0, nil
}
