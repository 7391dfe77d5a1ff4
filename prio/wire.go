package prio

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// pack puts fields behind each other, each after its length.
func pack(fields ...[]byte) (body []byte) {
	for _, f := range fields {
		body = binary.LittleEndian.AppendUint32(body, uint32(len(f)))
		body = append(body, f...)
	}
	return body
}

// errBody is of a body that has another form, or is cut.
var errBody = errors.New("the body must have the fields of this request, and all of them")

// unpack takes a body of so many fields apart.
func unpack(body []byte, fields int) (list [][]byte, err error) {
	for range fields {
		if len(body) < 4 {
			return nil, errBody
		}
		size := binary.LittleEndian.Uint32(body)
		if body = body[4:]; uint64(size) > uint64(len(body)) {
			return nil, errBody
		}
		list, body = append(list, body[:size]), body[size:]
	}
	if len(body) > 0 {
		return nil, errBody
	}
	return list, nil
}

func (r round) pack() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // no number is infinite, after admits
	}
	return text
}

func (s Setup) unpackRound(text []byte) (r round, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, errBody
	}
	return r, s.admits(r)
}

// failure is an error with the HTTP status by which it is told.
type failure struct {
	status int
	error
}

func (f failure) Unwrap() error { return f.error }

func fail(status int, format string, values ...any) error {
	return failure{status, fmt.Errorf(format, values...)}
}

// sentHeader says how many bytes were sent for a request to others.
const sentHeader = "Dpglm-Sent"

const (
	mostMessage = 64 << 20 // bytes of a driver's message
	mostError   = 1 << 10  // of an error's text
)

// route is a handler of one request, which those that may make it are named by.
type route struct {
	of    func(role string) bool
	limit int64
	do    func(r *http.Request, role string, body []byte) (reply []byte, sent int, err error)
}

// only is for one role.
func only(name string) func(string) bool { return func(role string) bool { return role == name } }

// ServeHTTP reads a body up to the limit, from whom it may come.
func (h route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	role, err := roleOf(r.TLS)
	switch {
	case err != nil || !h.of(role):
		http.Error(w, "the certificate's name isn't one that may ask for this", http.StatusForbidden)
		return
	case r.Method != http.MethodPost:
		http.Error(w, "the method must be POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.limit))
	if err != nil {
		http.Error(w, "the body is too long, or was cut", http.StatusRequestEntityTooLarge)
		return
	}
	reply, sent, err := h.do(r, role, body)
	if err != nil {
		status := http.StatusBadRequest
		if f := (failure{}); errors.As(err, &f) {
			status = f.status
		}
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set(sentHeader, strconv.Itoa(sent))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(reply)
}

// here tells the driver that a program is there, and has this setup.
func (s Setup) here() route {
	return route{only(DriverName), besides, func(_ *http.Request, _ string, body []byte) ([]byte, int, error) {
		if !bytes.Equal(body, s.pack()) {
			return nil, 0, fail(http.StatusUnprocessableEntity, "the setup is another one")
		}
		return nil, 0, nil
	}}
}

// pack is the setup's SHA-256.
func (s Setup) pack() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // it has integers only
	}
	sum := sha256.Sum256(text)
	return sum[:]
}
