package budgetfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// A line of the entries is the sum of itself and of all lines before it, and JSON.
//
// place is where lines end.
type place struct {
	Count  int    `json:"count"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the last line
}

// line is what happened to an entry.
type line struct {
	Kind   string             `json:"kind"`
	ID     string             `json:"id"`
	Time   time.Time          `json:"time"`
	Label  string             `json:"label,omitempty"`
	Ledger *mechanisms.Ledger `json:"ledger,omitempty"`
	Reason string             `json:"reason,omitempty"`
}

const (
	lineSpent     = "spent"
	lineBegun     = "begun"
	lineGivenBack = "given back"
)

// written returns the bytes of a line that follows, and where they end.
func (p place) written(of any) ([]byte, place, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return nil, p, err
	}
	p.SHA256 = sum([]byte(p.SHA256), text)
	data := fmt.Appendf(nil, "%s %s\n", p.SHA256, text)
	if len(data) > maxSize {
		return nil, p, check.Fail(check.ErrConfig, "entry", len(data), fmt.Sprintf("bytes long must be at most %d", maxSize))
	}
	return data, place{p.Count + 1, p.Bytes + int64(len(data)), p.SHA256}, nil
}

// read returns the JSON of the line that follows, and where the line ends. It fails for a
// damaged line, and for one that doesn't end.
func (p place) read(r *bufio.Reader) ([]byte, place, error) {
	var whole []byte
	for {
		part, err := r.ReadSlice('\n')
		whole = append(whole, part...)
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull || len(whole) > maxSize {
			return nil, p, errDamaged
		}
	}
	digest, text, found := bytes.Cut(whole[:len(whole)-1], []byte(" "))
	next := place{p.Count + 1, p.Bytes + int64(len(whole)), sum([]byte(p.SHA256), text)}
	if !found || next.SHA256 != string(digest) {
		return nil, p, errDamaged
	}
	return text, next, nil
}

// Entry is what was spent at a time, and what became of it.
type Entry struct {
	ID     string             // as Spend returned it
	Time   time.Time          // when, by the clock of who spent
	Label  string             // what for, as Spend was told
	Ledger *mechanisms.Ledger // what was planned

	Begun     time.Time // when its noise began; zero if it hasn't
	GivenBack time.Time // when it was given back; zero if it wasn't
	Reason    string    // why it was given back
}

// entries reads all lines of a state, and checks them.
func (s *state) entries(from io.ReaderAt) ([]Entry, error) {
	var end place
	r := bufio.NewReader(io.NewSectionReader(from, 0, s.Lines.Bytes))
	text, end, err := end.read(r)
	if err != nil {
		return nil, err
	}
	var h header
	if err := decodeStrictly(text, &h); err != nil {
		return nil, err
	}
	list, at := []Entry{}, map[string]int{}
	for end.Bytes < s.Lines.Bytes {
		if text, end, err = end.read(r); err != nil {
			return nil, err
		}
		var l line
		if err := decodeStrictly(text, &l); err != nil {
			return nil, err
		}
		if list, err = followed(list, at, &l); err != nil {
			return nil, err
		}
	}
	if end != s.Lines || h != s.Header || len(list) != s.Spent {
		return nil, errDamaged
	}
	return list, nil
}

// followed adds what a line says to the entries before it.
func followed(list []Entry, at map[string]int, l *line) ([]Entry, error) {
	i, known := at[l.ID]
	var e *Entry
	if known {
		e = &list[i]
	}
	switch {
	case l.Kind == lineSpent && !known && l.Ledger != nil && isID(l.ID):
		at[l.ID] = len(list)
		return append(list, Entry{ID: l.ID, Time: l.Time, Label: l.Label, Ledger: l.Ledger}), nil
	case l.Kind == lineBegun && known && e.Begun.IsZero() && e.GivenBack.IsZero():
		e.Begun = l.Time
		return list, nil
	case l.Kind == lineGivenBack && known && e.Begun.IsZero() && e.GivenBack.IsZero():
		e.GivenBack, e.Reason = l.Time, l.Reason
		return list, nil
	}
	return nil, check.Fail(check.ErrModel, "line", l.Kind, "must follow from those before it")
}
