package prio

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	randv2 "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table/party"
)

var ctx = context.Background()

// authority signs certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{}
	a.certificate, a.key = a.sign(t)
	return a
}

// sign makes a certificate of so many names, or that of the authority for none.
func (a *authority) sign(t *testing.T, names ...string) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: names, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	by, key := a.certificate, a.key
	if len(names) == 0 {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.ExtKeyUsage = true, true, x509.KeyUsageCertSign, nil
		by, key = c, own
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, by, &own.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	return c, own
}

// identity is one with these names.
func (a *authority) identity(t *testing.T, names ...string) Identity {
	t.Helper()
	c, key := a.sign(t, names...)
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return Identity{tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key}, pool}
}

// listen serves a handler until the test ends.
func listen(t *testing.T, i Identity, h http.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.Config = i.Server(h)
	s.TLS = i.Server(h).TLSConfig
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail, as they should
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// federation is all programs, in this one.
type federation struct {
	*authority
	setup          Setup
	driver         *Driver
	leader, helper string
	parties        []string
	key            []byte
}

// hooks change what programs do; nil for nothing.
type hooks struct {
	helper func(http.Handler) http.Handler
	party  func(k int, a Answerer) Answerer
}

func federate(t *testing.T, s Setup, of []*party.Party, h hooks) *federation {
	t.Helper()
	f := &federation{authority: newAuthority(t), setup: s, key: make([]byte, keySize)}
	rand.Read(f.key)
	must := func(h http.Handler, err error) http.Handler {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	i := f.identity(t, HelperName)
	helper := must(NewHelper(s, i, f.key))
	if h.helper != nil {
		helper = h.helper(helper)
	}
	f.helper = listen(t, i, helper)
	i = f.identity(t, LeaderName)
	f.leader = listen(t, i, must(NewLeader(s, i, f.key, f.helper)))
	for k, p := range of {
		var a Answerer = p
		if h.party != nil {
			a = h.party(k, p)
		}
		i = f.identity(t, PartyName(k+1))
		f.parties = append(f.parties, listen(t, i, must(NewParty(s, i, k+1, a, f.leader, f.helper, func(err error) { t.Log("party", k+1, err) }))))
	}
	var err error
	if f.driver, err = NewDriver(s, f.identity(t, DriverName), f.leader, f.helper, f.parties); err != nil {
		t.Fatal(err)
	}
	return f
}

// people are made-up rows, of labels from 0 up to classes − 1.
func people(n, d, classes int) (*mat.Dense, []float64) {
	r := randv2.New(randv2.NewPCG(3, 4))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range y {
		for j := range d {
			x.Set(i, j, r.NormFloat64()/2)
		}
		y[i] = float64(r.IntN(classes))
	}
	return x, y
}

// share writes rows to files, cut behind each of the given numbers, and opens them as parties.
func share(t *testing.T, x *mat.Dense, y []float64, cuts ...int) (list []*party.Party, rows []int) {
	t.Helper()
	n, lo := len(y), 0
	for k, hi := range append(cuts, n) {
		path := filepath.Join(t.TempDir(), fmt.Sprint(k, ".rows"))
		_, d := x.Dims()
		if err := dpglm.WriteRows(ctx, path, x.Slice(lo, hi, 0, d), y[lo:hi]); err != nil {
			t.Fatal(err)
		}
		p, err := party.Open(path, func(party.Plan) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		list, rows, lo = append(list, p), append(rows, hi-lo), hi
	}
	return list, rows
}

// pool adds answers up in this process, as docs/CLUSTER.md has it.
type pool struct {
	parties []*party.Party
	bits    int
}

func (p pool) Sum(ctx context.Context, message []byte) ([]uint64, error) {
	var sum []uint64
	for _, of := range p.parties {
		a, err := of.Answer(ctx, message)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = make([]uint64, len(a))
		}
		if err := party.Add(sum, a, p.bits); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// recording keeps messages and sums.
type recording struct {
	dpglm.Aggregator
	messages [][]byte
	sums     [][]uint64
}

func (r *recording) Sum(ctx context.Context, message []byte) ([]uint64, error) {
	sum, err := r.Aggregator.Sum(ctx, message)
	r.messages, r.sums = append(r.messages, message), append(r.sums, sum)
	return sum, err
}

func seeded() *dpglm.Env { return &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)} }

// train fits on an aggregator's rows.
func train(t *testing.T, a dpglm.Aggregator, s Setup, d int, c dpglm.NoisyGDConfig) ([]float64, error) {
	t.Helper()
	data, err := dpglm.OpenParties(s.Parties(d), dpglm.Bounds{Feature: 1, Intercept: true}, a)
	if err != nil {
		t.Fatal(err)
	}
	model, err := dpglm.NoisyGD(ctx, data, dpglm.Problem{Loss: losses.Logistic{}, Radius: 3}, dpglm.GDP(1), c, seeded())
	if err != nil {
		return nil, err
	}
	return model.Weights()[0], nil
}

// What leader and helper add up is what one adds up who sees all answers, integer by integer, and so is
// the model that comes of it: with or without a clip, of one party or several, at any width.
func TestSameBits(t *testing.T) {
	const n, d = 900, 4
	x, y := people(n, d, 2)
	for _, c := range []struct {
		cuts []int
		bits int
		clip float64
	}{{nil, 64, 0.5}, {[]int{300}, 64, dpglm.NoClip}, {[]int{1, 300, 899}, 40, 0.5}, {[]int{450}, 24, 0.5}} {
		parties, rows := share(t, x, y, c.cuts...)
		s := Setup{Rows: rows, Bits: c.bits, Numbers: d + 1}
		f := federate(t, s, parties, hooks{})
		ours, seen := &recording{Aggregator: f.driver}, &recording{Aggregator: pool{parties, c.bits}}
		config := dpglm.NoisyGDConfig{Steps: 3, Clip: c.clip}
		got, err := train(t, ours, s, d, config)
		if err != nil {
			t.Fatal(err)
		}
		want, err := train(t, seen, s, d, config)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, %d bits: %v, want %v", rows, c.bits, got, want)
		}
		for k := range seen.sums {
			// The fit's name is drawn: what is made of it are the mark and the checksum.
			a, b := ours.sums[k], seen.sums[k]
			if len(a) != len(b) || a[0] != b[0] || a[1] != b[1] || !slices.Equal(a[headLen:len(a)-1], b[headLen:len(b)-1]) {
				t.Errorf("%v, %d bits, sum %d: %v, want %v", rows, c.bits, k, a, b)
			}
		}
	}
}

// The classes of a fit against the rest are fits each, all of which parties agree to first.
func TestClassesSameBits(t *testing.T) {
	const n, d, classes = 600, 3, 3
	x, y := people(n, d, classes)
	parties, rows := share(t, x, y, 250)
	s := Setup{Rows: rows, Bits: 64, Numbers: d}
	var models [2][][]float64
	for k, a := range []dpglm.Aggregator{federate(t, s, parties, hooks{}).driver, pool{parties, 64}} {
		data, err := dpglm.OpenParties(s.Parties(d), dpglm.Bounds{Feature: 1, Label: classes - 1}, a)
		if err != nil {
			t.Fatal(err)
		}
		c := dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5}}
		model, err := dpglm.OneAgainstRest(ctx, data, dpglm.Problem{Loss: losses.Logistic{}, Radius: 3, Classes: classes}, dpglm.GDP(1), c, seeded())
		if err != nil {
			t.Fatal(err)
		}
		models[k] = model.Weights()
	}
	if !slices.EqualFunc(models[0], models[1], slices.Equal) || len(models[0]) != classes {
		t.Errorf("%v, want %v", models[0], models[1])
	}
}

// hanging doesn't answer before it is given up.
type hanging struct{ asked, left chan struct{} }

func (h hanging) Answer(ctx context.Context, _ []byte) ([]uint64, error) {
	close(h.asked)
	<-ctx.Done()
	close(h.left)
	return nil, ctx.Err()
}

// A driver that is cancelled returns, and parties stop, too.
func TestCancelled(t *testing.T) {
	x, y := people(400, 2, 2)
	parties, rows := share(t, x, y)
	s := Setup{Rows: rows, Bits: 64, Numbers: 3}
	h := hanging{make(chan struct{}), make(chan struct{})}
	f := federate(t, s, parties, hooks{party: func(int, Answerer) Answerer { return h }})
	f.driver.Patience = time.Hour
	cancelled, cancel := context.WithCancel(ctx)
	go func() {
		<-h.asked
		cancel()
	}()
	if _, err := f.driver.Sum(cancelled, asked(t, s, parties)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-h.left
}

// What can't be a setup, an identity or an address is refused (dpglm.ErrConfig) by all, and so is a message that
// isn't one, or that the setup hasn't room for.
func TestRefused(t *testing.T) {
	good, i := Setup{Rows: []int{400}, Bits: 64, Numbers: 3}, newAuthority(t).identity(t, DriverName)
	url, key := []string{"https://127.0.0.1:1"}, make([]byte, keySize)
	log := func(error) {}
	answers := hanging{}
	for name, make := range map[string]func() error{
		"no rows":   func() error { _, err := NewHelper(Setup{Bits: 64, Numbers: 3}, i, key); return err },
		"rows":      func() error { _, err := NewHelper(Setup{Rows: []int{0}, Bits: 64, Numbers: 3}, i, key); return err },
		"bits":      func() error { _, err := NewHelper(Setup{Rows: []int{1}, Bits: 65, Numbers: 3}, i, key); return err },
		"weights":   func() error { _, err := NewDriver(Setup{Rows: []int{1}, Bits: 64}, i, url[0], url[0], url); return err },
		"key":       func() error { _, err := NewLeader(good, i, key[1:], url[0]); return err },
		"identity":  func() error { _, err := NewHelper(good, Identity{}, key); return err },
		"parties":   func() error { _, err := NewDriver(good, i, url[0], url[0], nil); return err },
		"http":      func() error { _, err := NewLeader(good, i, key, "http://127.0.0.1:1"); return err },
		"party 2":   func() error { _, err := NewParty(good, i, 2, answers, url[0], url[0], log); return err },
		"nobody":    func() error { _, err := NewParty(good, i, 1, nil, url[0], url[0], log); return err },
		"no log":    func() error { _, err := NewParty(good, i, 1, answers, url[0], url[0], nil); return err },
		"no budget": func() error { _, err := Keep(nil, "ours"); return err },
		"message": func() error {
			d, _ := NewDriver(good, i, url[0], url[0], url)
			_, err := d.Sum(ctx, []byte("{}"))
			return err
		},
		"weights asked": func() error {
			d, _ := NewDriver(good, i, url[0], url[0], url)
			_, err := d.Sum(ctx, []byte(`{"protocol":"dpglm parties 1","question":{"bound":1,"weights":[0,0,0,0]}}`))
			return err
		},
		"bound asked": func() error {
			d, _ := NewDriver(good, i, url[0], url[0], url)
			_, err := d.Sum(ctx, []byte(`{"protocol":"dpglm parties 1","question":{"bound":1e17,"weights":[0]}}`))
			return err
		},
	} {
		if err := make(); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Learners that ask for any sums find the same through leader and helper as of one who sees all answers, where the setup has room for
// the numbers of their widest sum; where it hasn't, the plan is refused, and no party has agreed to anything.
func TestAnySums(t *testing.T) {
	const n, d, numbers = 300, 2, 200
	x, y := people(n, d, 2)
	for _, bits := range []int{24, 64} {
		for _, room := range []int{numbers, d + 1} {
			parties, rows := share(t, x, y, 100)
			s := Setup{Rows: rows, Bits: bits, Numbers: room}
			var asked atomic.Int64
			f := federate(t, s, parties, hooks{party: func(_ int, a Answerer) Answerer { return counting{a, &asked} }})
			var weights [2][]float64
			var errs [2]error
			for k, a := range []dpglm.Aggregator{f.driver, pool{parties, bits}} {
				data, err := dpglm.OpenParties(s.Parties(d), dpglm.Bounds{Feature: 1, Intercept: true}, a)
				if err != nil {
					t.Fatal(err)
				}
				model, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(1), seeded())
				if errs[k] = err; err == nil {
					weights[k] = model.Weights()[0]
				}
			}
			switch {
			case errs[1] != nil:
				t.Fatal(errs[1])
			case room < numbers && (!errors.Is(errs[0], dpglm.ErrConfig) || asked.Load() > 0):
				t.Errorf("%d bits, room for %d: %v after %d messages", bits, room, errs[0], asked.Load())
			case room == numbers && (errs[0] != nil || !slices.Equal(weights[0], weights[1])):
				t.Errorf("%d bits: %v, want %v (%v)", bits, weights[0], weights[1], errs[0])
			}
		}
	}
}

// counting counts the messages that a party is told.
type counting struct {
	Answerer
	asked *atomic.Int64
}

func (c counting) Answer(ctx context.Context, message []byte) ([]uint64, error) {
	c.asked.Add(1)
	return c.Answerer.Answer(ctx, message)
}
