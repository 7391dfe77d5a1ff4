package prio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudflare/circl/vdaf/prio3/arith/fp128"
	"github.com/cloudflare/circl/vdaf/prio3/sumvec"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table/party"
)

// asked is a question about 3 weights, of a fit that parties have agreed to and answer next.
func asked(t *testing.T, s Setup, of []*party.Party) []byte {
	t.Helper()
	r := &recording{Aggregator: stopping{pool{of, s.Bits}}}
	if _, err := train(t, r, s, 2, dpglm.NoisyGDConfig{Steps: 3, Clip: 0.5}); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return r.messages[1]
}

var errStop = errors.New("no further")

// stopping answers a plan, and no question.
type stopping struct{ dpglm.Aggregator }

func (s stopping) Sum(ctx context.Context, message []byte) ([]uint64, error) {
	if m, err := party.Read(message); err != nil || !m.Plan {
		return nil, errors.Join(errStop, err)
	}
	return s.Aggregator.Sum(ctx, message)
}

// pair are a leader and a helper that aren't served.
func pair(t *testing.T, s Setup) (list [2]*aggregator) {
	t.Helper()
	i := newAuthority(t).identity(t, LeaderName)
	for k := range list {
		a, err := newAggregator(s, i, uint8(k), make([]byte, keySize))
		if err != nil {
			t.Fatal(err)
		}
		list[k] = a
	}
	return list
}

// checked is what both make of reports, by party: an error where either refuses one.
func checked(of [2]*aggregator, r round, reports [][2][]byte) (sums [2][]byte, err error) {
	var list [2][]prepared
	var parts [2][][]byte
	for k, a := range of {
		var mine [][]byte
		for _, report := range reports {
			mine = append(mine, report[k])
		}
		if list[k], parts[k], err = a.all(r, mine); err != nil {
			return sums, err
		}
	}
	var failed [2]error
	for k, a := range of {
		sums[k], failed[k] = a.sum(list[k], parts[1-k])
	}
	if (failed[0] == nil) != (failed[1] == nil) {
		return sums, errors.New("one refuses, and the other doesn't")
	}
	return sums, failed[0]
}

// question is a made-up round of a question, and an answer to it.
func question(s Setup, dim int, bound float64, values ...int64) (round, []uint64) {
	r := round{Dim: dim, Bound: bound}
	answer := make([]uint64, headLen+dim+tailLen)
	answer[0], answer[1] = 1, uint64(s.Rows[0])
	for j, v := range values {
		answer[headLen+j] = s.modulo(uint64(v))
	}
	return r, answer
}

// What an aggregator gets of a party doesn't tell what the answer was: of two answers that are as far
// apart as can be, each of the 16 values of each 4 bits of a share's first elements is as likely for one as
// for the other, and all are alike. χ² of 15 degrees of freedom exceeds 70 with a probability of 4e-9, and there
// are 2·8·2 of them. It fails where shares are drawn from the same seeds.
func TestSharesAreRandom(t *testing.T) {
	const draws, most = 2000, 70
	s := Setup{Rows: []int{1}, Bits: 64, Numbers: 1}
	for _, value := range []int64{1 << 30, -(1 << 30)} {
		r, answer := question(s, 1, 1<<30, value)
		for k := range 2 {
			var counts [8][16]float64
			for range draws {
				reports, err := s.split(0, r, answer)
				if err != nil {
					t.Fatal(err)
				}
				fields, err := unpack(reports[k], 4)
				if err != nil {
					t.Fatal(err)
				}
				for j := range counts {
					b := fields[3][j/2*elementSize] // the lowest byte of an element, or one of a seed
					counts[j][b>>(4*(j%2))&15]++
				}
				if k == 1 && len(fields[3]) != 64 {
					t.Fatalf("the helper gets %d bytes, and must get seeds only", len(fields[3]))
				}
			}
			for j, of := range counts {
				chi := 0.0
				for _, c := range of {
					chi += math.Pow(c-draws/16, 2) / (draws / 16)
				}
				if chi > most {
					t.Errorf("answer %d, aggregator %d, 4 bits %d: χ² = %g", value, k, j, chi)
				}
			}
		}
	}
}

// A party whose integers lie beyond their range is refused by both aggregators: here by an
// element of the share that stands for 2 or −1 instead of 0 or 1, which nobody sees.
func TestBeyondRangeIsRefused(t *testing.T) {
	s := Setup{Rows: []int{7, 9}, Bits: 40, Numbers: 2}
	r, answer := question(s, 2, 1e6, 6_999_999, -7_000_000)
	honest := func() (list [][2][]byte) {
		for k := range s.Rows {
			reports, err := s.split(k, r, answer)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, reports)
		}
		return list
	}
	if _, err := checked(pair(t, s), r, honest()); err != nil {
		t.Fatal("honest reports: ", err)
	}
	width := s.width(0, r)
	for _, at := range []int{0, width - 1, s.length(r)*width - 1} {
		reports := honest()
		fields, err := unpack(reports[0][0], 4)
		if err != nil {
			t.Fatal(err)
		}
		// 2 more than the bit that is there is 2 or 3.
		b := fields[3][at*elementSize:][:elementSize]
		v, err := vector(b, 1)
		if err != nil {
			t.Fatal(err)
		}
		var one fp128.Fp
		one.SetOne()
		v[0].AddAssign(&one)
		v[0].AddAssign(&one)
		moved, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		copy(b, moved)
		if _, err := checked(pair(t, s), r, reports); err == nil || !strings.Contains(err.Error(), "party-1") {
			t.Errorf("element %d: %v", at, err)
		}
	}
	for _, v := range []int64{1 << (width - 1), -1<<(width-1) - 1} {
		_, answer := question(s, 2, 1e6, v, 0)
		if _, err := s.split(0, r, answer); err == nil {
			t.Errorf("%d is shared", v)
		}
	}
	if most := math.Ldexp(1, width-1); !(most > 7e6 && most <= 2*7e6) {
		t.Errorf("sums of 7 rows of 1e6 may be up to %g", most)
	}
}

// A report is valid in its own round, as its own party's, and with the same setup, and nowhere else.
func TestReportsDontMix(t *testing.T) {
	s := Setup{Rows: []int{5, 5}, Bits: 40, Numbers: 2}
	r, answer := question(s, 2, 1000, 1, 2)
	var reports [][2][]byte
	for k := range s.Rows {
		of, err := s.split(k, r, answer)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, of)
	}
	if _, err := checked(pair(t, s), r, reports); err != nil {
		t.Fatal(err)
	}
	attempt, message, bound, other := r, r, r, s
	attempt.Attempt[3], message.Message[3], bound.Bound, other.Rows = 1, 1, 1001, []int{5, 6}
	for name, c := range map[string]struct {
		s       Setup
		r       round
		reports [][2][]byte
	}{
		"another attempt": {s, attempt, reports}, "another message": {s, message, reports}, "another bound": {s, bound, reports}, "another setup": {other, r, reports},
		"another party's": {s, r, [][2][]byte{reports[1], reports[0]}}, "a party's twice": {s, r, [][2][]byte{reports[0], reports[0]}},
		"shares of two reports": {s, r, [][2][]byte{{reports[0][0], reports[1][1]}, reports[1]}},
	} {
		if _, err := checked(pair(t, c.s), c.r, c.reports); err == nil {
			t.Errorf("%s: is valid", name)
		}
	}
	// With another key, too, whoever knows one of them.
	of := pair(t, s)
	of[1].key = append([]byte{1}, of[1].key...)
	if _, err := checked(of, r, reports); err == nil {
		t.Error("another key: is valid")
	}
}

// A helper that changes its part of the check has reports refused, and the round ends without a sum. One
// that adds something to its sum, or tells any sum, isn't caught where it leaves alone what everybody knows, as
// Prio promises a right sum of honest aggregators only: the model is another one, and no error tells
// of rows.
func TestLyingHelper(t *testing.T) {
	const d = 2
	x, y := people(400, d, 2)
	for name, c := range map[string]struct {
		path  string
		at    int // of a byte, from the end
		fails bool
	}{"its part of a proof": {"/prepare", 40, true}, "its part of the randomness": {"/prepare", 1, true}, "its sum, of what all know": {"/share", 10 * elementSize, true}, "its sum, of rows": {"/share", elementSize - 6, false}} {
		parties, rows := share(t, x, y, 100)
		s := Setup{Rows: rows, Bits: 64, Numbers: d + 1}
		var asked atomic.Int64
		lie := func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != c.path || asked.Add(1) == 1 { // the plan is left alone
					h.ServeHTTP(w, r)
					return
				}
				got := httptest.NewRecorder()
				h.ServeHTTP(got, r)
				body := got.Body.Bytes()
				body[len(body)-c.at] ^= 1
				w.Write(body)
			})
		}
		f := federate(t, s, parties, hooks{helper: lie})
		got, err := train(t, f.driver, s, d, dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5})
		if (err != nil) != c.fails {
			t.Errorf("%s: %v (%v)", name, got, err)
		}
		want, err := train(t, pool{parties, 64}, s, d, dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		if !c.fails && slices.Equal(got, want) {
			t.Errorf("%s: nothing was changed", name)
		}
	}
}

// Whatever an aggregator adds to its sum, no error depends on rows, and a row moves a coordinate
// by no more than it moves the sum: here sums that are one apart, at the ends of all ranges.
func TestShiftsTellNothing(t *testing.T) {
	s := Setup{Rows: []int{100}, Bits: 40, Numbers: 1}
	of := asked(t, Setup{Rows: []int{400}, Bits: 40, Numbers: 3}, first(t))
	r := round{Dim: 1, Bound: 1e6}
	top := int64(1) << (s.Bits - 2)
	half := new(big.Int).Rsh(order, 1)
	zero := new(big.Int).Lsh(big.NewInt(1), uint(s.width(0, r)-1))
	for _, base := range []*big.Int{new(big.Int), big.NewInt(top), big.NewInt(-top), half, new(big.Int).Neg(half), new(big.Int).Sub(half, big.NewInt(top)), new(big.Int).Neg(zero), new(big.Int).Lsh(big.NewInt(1), 64)} {
		var last *int64
		for shift := int64(-3); shift <= 3; shift++ {
			sum := new(big.Int).Add(base, big.NewInt(shift))
			sum.Mod(sum.Add(sum, zero), order)
			shares := [2][]byte{make([]byte, s.length(r)*elementSize), make([]byte, s.length(r)*elementSize)}
			b := sum.FillBytes(make([]byte, elementSize))
			slices.Reverse(b)
			copy(shares[0][len(shares[0])-elementSize:], b)
			answer, err := s.answer(of, r, shares)
			if err != nil {
				t.Fatalf("%v, %d: %v", base, shift, err)
			}
			unused := mostBits - s.Bits
			got := int64(answer[headLen]<<unused) >> unused
			if got < -top || got > top {
				t.Errorf("%v, %d: %d", base, shift, got)
			}
			if last != nil && (got-*last > 1 || got-*last < -1) {
				t.Errorf("%v, %d: from %d to %d", base, shift, *last, got)
			}
			if base.Sign() == 0 && got != shift {
				t.Errorf("%d is read as %d", shift, got)
			}
			last = &got
		}
	}
}

// first is a party of 400 rows.
func first(t *testing.T) []*party.Party {
	t.Helper()
	x, y := people(400, 2, 2)
	parties, _ := share(t, x, y)
	return parties
}

// post sends a body as somebody, and returns the status; 0 where there is no connection.
func post(t *testing.T, i Identity, name, url, path string, body []byte) int {
	t.Helper()
	p, err := i.peer(name, url)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.client.Do(r)
	if err != nil {
		return 0
	}
	defer a.Body.Close()
	io.Copy(io.Discard, a.Body)
	return a.StatusCode
}

// Each request is for those that make it, by certificates of the same authority, with one name.
func TestCertificates(t *testing.T) {
	parties := first(t)
	s := Setup{Rows: []int{400}, Bits: 64, Numbers: 3}
	f := federate(t, s, parties, hooks{})
	stranger := newAuthority(t)
	for of, may := range map[string]map[string]bool{
		"leader /report": {PartyName(1): true}, "leader /collect": {DriverName: true},
		"helper /report": {PartyName(1): true}, "helper /prepare": {LeaderName: true}, "helper /share": {DriverName: true},
		"party-1 /ask": {DriverName: true}, "party-1 /here": {DriverName: true}, "leader /here": {DriverName: true}, "helper /here": {DriverName: true},
	} {
		name, path, _ := strings.Cut(of, " ")
		url := map[string]string{LeaderName: f.leader, HelperName: f.helper, PartyName(1): f.parties[0]}[name]
		for _, who := range []string{DriverName, LeaderName, HelperName, PartyName(1), PartyName(2), "party-01", "party-0", "nobody"} {
			want := http.StatusForbidden
			if may[who] {
				want = http.StatusBadRequest // as the body is empty
			}
			if may[who] && path == "/here" {
				want = http.StatusUnprocessableEntity
			}
			if got := post(t, f.identity(t, who), name, url, path, nil); got != want {
				t.Errorf("%s as %s: %d, want %d", of, who, got, want)
			}
			if got := post(t, f.identity(t, who, "another"), name, url, path, nil); got != http.StatusForbidden {
				t.Errorf("%s as %s and another: %d", of, who, got)
			}
			i := f.identity(t, who)
			i.Certificate = stranger.identity(t, who).Certificate
			if got := post(t, i, name, url, path, nil); got != 0 {
				t.Errorf("%s as %s, of another authority: %d", of, who, got)
			}
			i.Certificate.Certificate, i.Certificate.PrivateKey = nil, nil
			if got := post(t, i, name, url, path, nil); got != 0 {
				t.Errorf("%s without a certificate: %d", of, got)
			}
		}
		// A server that isn't who was asked for isn't talked to.
		if got := post(t, f.identity(t, DriverName), "another", url, path, nil); got != 0 {
			t.Errorf("%s under another name: %d", of, got)
		}
	}
}

// A party has one report in a round, which is taken before the round is closed.
func TestSecondReportIsRefused(t *testing.T) {
	parties := first(t)
	s := Setup{Rows: []int{400}, Bits: 64, Numbers: 3}
	f := federate(t, s, parties, hooks{})
	r, answer := question(s, 3, 1000, 1, 2, 3)
	i, driver := f.identity(t, PartyName(1)), f.identity(t, DriverName)
	var all [3][2][]byte
	for k := range all {
		var err error
		if all[k], err = s.split(0, r, answer); err != nil {
			t.Fatal(err)
		}
	}
	send := func(reports [2][]byte) (leader, helper int) {
		return post(t, i, LeaderName, f.leader, "/report", reports[0]), post(t, i, HelperName, f.helper, "/report", reports[1])
	}
	if a, b := send(all[0]); a != http.StatusOK || b != http.StatusOK {
		t.Fatal(a, b)
	}
	for name, reports := range map[string][2][]byte{"the same": all[0], "another": all[1]} {
		if a, b := send(reports); a != http.StatusConflict || b != http.StatusConflict {
			t.Errorf("%s report: %d and %d", name, a, b)
		}
	}
	if got := post(t, driver, HelperName, f.helper, "/share", r.pack()); got != http.StatusConflict {
		t.Errorf("a sum before all is checked: %d", got)
	}
	for _, want := range []int{http.StatusOK, http.StatusConflict} {
		if got := post(t, driver, LeaderName, f.leader, "/collect", r.pack()); got != want {
			t.Errorf("collected: %d, want %d", got, want)
		}
	}
	if a, b := send(all[2]); a != http.StatusConflict || b != http.StatusConflict {
		t.Errorf("a report after the round was closed: %d and %d", a, b)
	}
	for _, want := range []int{http.StatusOK, http.StatusConflict} {
		if got := post(t, driver, HelperName, f.helper, "/share", r.pack()); got != want {
			t.Errorf("the helper's sum: %d, want %d", got, want)
		}
	}
}

// A party's rounds beyond the last few are forgotten: it can't fill the memory.
func TestOpenRoundsAreFew(t *testing.T) {
	s := Setup{Rows: []int{400, 10}, Bits: 64, Numbers: 3}
	a := pair(t, s)[leaderIndex]
	for k := range uint64(100) {
		var of id
		binary.LittleEndian.PutUint64(of[:], k)
		if _, _, err := a.report(nil, PartyName(1), pack(of[:], make([]byte, nonceSize), make([]byte, publicSize), nil)); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.open) != mostOpen || len(a.order[0]) != mostOpen {
		t.Errorf("%d rounds are open, and %d of the party", len(a.open), len(a.order[0]))
	}
}

// Bodies that are cut, longer or damaged are refused by the client's error, whatever the cut, and leave
// nothing behind: the round goes on.
func TestTruncatedBodies(t *testing.T) {
	parties := first(t)
	s := Setup{Rows: []int{400}, Bits: 64, Numbers: 3}
	message := asked(t, s, parties)
	f := federate(t, s, parties, hooks{})
	r, err := newRound(message)
	if err != nil {
		t.Fatal(err)
	}
	_, answer := question(s, r.Dim, r.Bound)
	reports, err := s.split(0, r, answer)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		as, to, url, path string
		body              []byte
	}{
		{DriverName, PartyName(1), f.parties[0], "/ask", pack(r.pack(), message)}, {PartyName(1), LeaderName, f.leader, "/report", reports[0]}, {PartyName(1), HelperName, f.helper, "/report", reports[1]},
		{DriverName, LeaderName, f.leader, "/collect", r.pack()}, {LeaderName, HelperName, f.helper, "/prepare", pack(r.pack(), pack(reports[0]))}, {DriverName, HelperName, f.helper, "/share", r.pack()},
	} {
		i := f.identity(t, c.as)
		for _, cut := range []int{0, 1, 3, 4, 5, len(c.body) / 3, len(c.body) / 2, len(c.body) - 1, len(c.body) + 1} {
			body := slices.Clone(c.body)
			if cut > len(body) {
				body = append(body, 'x')
			}
			if got := post(t, i, c.to, c.url, c.path, body[:min(cut, len(body))]); got != http.StatusBadRequest {
				t.Errorf("%s, %d of %d bytes: %d", c.path, cut, len(c.body), got)
			}
		}
		long := make([]byte, max(s.limit()+1, 2*besides))
		if c.path == "/ask" {
			continue // 64 MB are too many for a test
		}
		if got := post(t, i, c.to, c.url, c.path, long); got != http.StatusRequestEntityTooLarge {
			t.Errorf("%s, %d bytes: %d", c.path, len(long), got)
		}
	}
	// A report of the right fields whose share is cut is taken, and refused when it is checked.
	fields, err := unpack(reports[1], 4)
	if err != nil {
		t.Fatal(err)
	}
	i := f.identity(t, PartyName(1))
	if a, b := post(t, i, LeaderName, f.leader, "/report", reports[0]), post(t, i, HelperName, f.helper, "/report", pack(fields[0], fields[1], fields[2], fields[3][1:])); a != http.StatusOK || b != http.StatusOK {
		t.Fatal(a, b)
	}
	if got := post(t, f.identity(t, DriverName), LeaderName, f.leader, "/collect", r.pack()); got != http.StatusUnprocessableEntity {
		t.Errorf("a share that is cut: %d", got)
	}
	if sum, err := f.driver.Sum(ctx, message); err != nil || sum[0] != 1 {
		t.Errorf("the message's next round: %v (%v)", sum, err)
	}
}

// The chunk length's proof is the shortest: no other length has a shorter one.
func TestChunk(t *testing.T) {
	for _, c := range [][2]int{{1, 16}, {3, 16}, {10, 55}, {60, 40}} {
		length := func(chunk int) uint {
			p, err := sumvec.New(2, uint(c[0]), uint(c[1]), uint(chunk), nil)
			if err != nil {
				t.Fatal(err)
			}
			params := p.Params()
			return params.ProofLength()
		}
		got := length(chunk(c[0] * c[1]))
		for n := 1; n <= c[0]*c[1]; n++ {
			if of := length(n); of < got {
				t.Errorf("%v: %d elements in chunks of %d, and %d of %d", c, got, chunk(c[0]*c[1]), of, n)
			}
		}
	}
}

// lying is a party that says something else than its rows do.
type lying struct {
	Answerer
	of int64 // in place of each coordinate
}

func (l lying) Answer(ctx context.Context, message []byte) ([]uint64, error) {
	answer, err := l.Answerer.Answer(ctx, message)
	if m, e := party.Read(message); err == nil && e == nil && !m.Plan {
		for j := range m.Dim {
			answer[headLen+j] = uint64(l.of)
		}
	}
	return answer, err
}

// A party that lies within its range is added as any other, without an error, and a coordinate is what
// it says beside the others', within what all rows could add up to. Beyond its range it is refused, by its own program, as nothing of it would be valid.
func TestPartyLies(t *testing.T) {
	x, y := people(400, 2, 2)
	parties, rows := share(t, x, y, 100)
	s := Setup{Rows: rows, Bits: 64, Numbers: 3}
	for name, c := range map[string]struct {
		of    func(half int64) int64
		fails bool
	}{"most": {func(half int64) int64 { return half - 1 }, false}, "least": {func(half int64) int64 { return -half }, false}, "more": {func(half int64) int64 { return half }, true}} {
		message := asked(t, s, parties)
		m, err := party.Read(message)
		if err != nil {
			t.Fatal(err)
		}

		lie := c.of(int64(1) << (s.width(1, round{Dim: 3, Bound: m.Bound}) - 1))
		f := federate(t, s, parties, hooks{party: func(k int, a Answerer) Answerer {
			if k == 1 {
				return lying{a, lie}
			}
			return a
		}})
		sum, err := f.driver.Sum(ctx, message)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v (%v)", name, sum, err)
		}
		if err != nil {
			continue
		}
		honest, err := parties[0].Answer(ctx, message)
		if err != nil {
			t.Fatal(err)
		}
		for j := headLen; j < headLen+3; j++ {
			want := max(min(int64(honest[j])+lie, 1<<62), -1<<62) // where a sum of honest parties ends
			if int64(sum[j]) != want {
				t.Errorf("%s: coordinate %d is %d, want %d", name, j, int64(sum[j]), want)
			}
		}
	}
}
