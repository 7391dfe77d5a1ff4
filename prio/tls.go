package prio

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpglm/dpglm"
)

// Names that certificates have, one each, as their DNS name; a party's is PartyName's.
const (
	DriverName = "driver"
	LeaderName = "leader"
	HelperName = "helper"
)

// PartyName is the name of a party, counted from 1.
func PartyName(number int) string { return "party-" + strconv.Itoa(number) }

// partyOf is the index of the party of a name, and false for none.
func (s Setup) partyOf(name string) (int, bool) {
	text, ok := strings.CutPrefix(name, "party-")
	k, err := strconv.Atoi(text)
	return k - 1, ok && err == nil && k >= 1 && k <= len(s.Rows) && name == PartyName(k)
}

// Identity is who a program is, and whom it believes.
type Identity struct {
	// Certificate has one DNS name, which says who the program is; it is for servers and clients.
	Certificate tls.Certificate
	// Authorities sign the others' certificates.
	Authorities *x509.CertPool
}

// check fails (dpglm.ErrConfig) where something isn't given.
func (i Identity) check() error {
	if len(i.Certificate.Certificate) == 0 || i.Authorities == nil {
		return fmt.Errorf("%w: an identity must have a certificate and authorities", dpglm.ErrConfig)
	}
	return nil
}

// roleOf is the name of who asks, by its certificate, which is verified.
func roleOf(state *tls.ConnectionState) (string, error) {
	if state == nil || len(state.VerifiedChains) == 0 || len(state.PeerCertificates) == 0 {
		return "", errors.New("no certificate was verified")
	}
	names := state.PeerCertificates[0].DNSNames
	if len(names) != 1 {
		return "", errors.New("a certificate must have one name")
	}
	return names[0], nil
}

const (
	headerTime = 10 * time.Second
	readTime   = time.Minute
	idleTime   = 2 * time.Minute
	answerTime = 10 * time.Minute // for all of a request, as a party has a pass to make
)

// Server is an HTTP server of a handler of this package, with limits on time: start it by
// ListenAndServeTLS("", "").
func (i Identity) Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{i.Certificate},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: i.Authorities},
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
	}
}

// peer is another program.
type peer struct {
	name, url string
	client    *http.Client
}

// peer is one that has a name, at an address such as https://helper.example:8443.
func (i Identity) peer(name, url string) (*peer, error) {
	if !strings.HasPrefix(url, "https://") {
		return nil, fmt.Errorf("%w: the address of %s, %q, must begin with https://", dpglm.ErrConfig, name, url)
	}
	return &peer{name, strings.TrimSuffix(url, "/"), &http.Client{
		Timeout: answerTime,
		Transport: &http.Transport{ForceAttemptHTTP2: true, IdleConnTimeout: idleTime, TLSHandshakeTimeout: headerTime,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{i.Certificate}, RootCAs: i.Authorities, ServerName: name}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// post sends a body to a path, and returns the reply, up to a limit, and how many bytes were sent
// there and back and by the other for it.
func (p *peer) post(ctx context.Context, path string, body []byte, limit int64) (reply []byte, sent int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	a, err := p.client.Do(r)
	if err != nil {
		return nil, 0, fail(http.StatusBadGateway, "%s can't be reached: %w", p.name, err)
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		limit = mostError
	}
	reply, err = io.ReadAll(io.LimitReader(a.Body, limit+1))
	if err != nil {
		return nil, 0, fail(http.StatusBadGateway, "%s can't be heard: %w", p.name, err)
	}
	if a.StatusCode != http.StatusOK {
		text := strings.TrimSpace(string(reply[:min(len(reply), mostError)]))
		return nil, 0, fail(a.StatusCode, "%s: %s", p.name, text)
	}
	if int64(len(reply)) > limit {
		return nil, 0, fail(http.StatusBadGateway, "%s answers with more than %d bytes", p.name, limit)
	}
	by, _ := strconv.Atoi(a.Header.Get(sentHeader))
	return slices.Clip(reply), len(body) + len(reply) + max(by, 0), nil
}
