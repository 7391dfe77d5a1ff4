package budgetfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// version is that of files which this package writes and reads.
const version = 2

// maxSize limits the budget's file, and each line of its entries.
const maxSize = 16 << 20

var errNoBudget = check.Fail(check.ErrModel, "budget file", nil, fmt.Sprintf("must be a regular file of at most %d bytes", maxSize))

// state is what the budget's file holds: the total, and all that Spend needs to know of the
// entries.
type state struct {
	Header  header                 `json:"header"`
	Lines   place                  `json:"lines"`
	Spent   int                    `json:"spent"`             // entries so far
	Account *mechanisms.Accountant `json:"account"`           // what all that count have taken
	Wait    []waiting              `json:"waiting,omitempty"` // those whose noise hasn't begun
}

// header is what stays as Create was told, and the first line of the entries.
type header struct {
	ID      string          `json:"id"` // drawn by Create: no other budget has it
	Created time.Time       `json:"created"`
	Data    string          `json:"data"`
	Unit    mechanisms.Unit `json:"unit"`
	Group   int             `json:"group"`
	Epsilon float64         `json:"epsilon"`
	Delta   float64         `json:"delta"`
}

// waiting is an entry of which no noise was drawn.
type waiting struct {
	ID     string            `json:"id"`
	Time   time.Time         `json:"time"`
	Charge mechanisms.Charge `json:"charge"`
}

// after is the state with another line.
func (s *state) after(l *line) (*state, error) {
	a, err := s.accountant()
	if err != nil {
		return nil, err
	}
	next := *s
	next.Account, next.Wait = a, slices.Clone(s.Wait)
	if l.Kind == lineSpent {
		c, err := a.Charge(l.Ledger)
		if err != nil {
			return nil, err
		}
		next.Spent++
		next.Wait = append(next.Wait, waiting{l.ID, l.Time, c})
		return &next, nil
	}
	i := s.waits(l.ID)
	next.Wait = slices.Delete(next.Wait, i, i+1)
	if l.Kind == lineGivenBack {
		return &next, a.GiveBack(s.Wait[i].Charge)
	}
	return &next, nil
}

// waits is the place of an entry among those that wait, -1 where it isn't there.
func (s *state) waits(id string) int {
	return slices.IndexFunc(s.Wait, func(w waiting) bool { return w.ID == id })
}

// accountant is a copy of the state's, which must be for the total.
func (s *state) accountant() (*mechanisms.Accountant, error) {
	h := s.Header
	if err := named(check.ErrModel, h.Data); err != nil {
		return nil, err
	}
	unit, group, epsilon, delta := s.Account.Total()
	if group < 1 || unit != h.Unit || group != h.Group || epsilon != h.Epsilon || delta != h.Delta {
		return nil, check.Fail(check.ErrModel, "account", nil, "must be for the total")
	}
	data, err := json.Marshal(s.Account)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	a := new(mechanisms.Accountant)
	return a, json.Unmarshal(data, a)
}

// of refuses other data.
func (s *state) of(data string) error {
	if data != s.Header.Data {
		return check.Fail(check.ErrConfig, "data", fmt.Sprintf("%q", data), fmt.Sprintf("must be those that the budget is for, %q", s.Header.Data))
	}
	return nil
}

// opening and closing are all of the file but the budget's JSON. The sum is that of the JSON
// as it stands, so that each byte of the file is checked.
const (
	opening = "{\"dpglm_budget_version\": %d, \"sha256\": \"%s\",\n\"budget\": "
	closing = "}\n"
)

func (s *state) encode() ([]byte, error) {
	budget, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return nil, err
	}
	data := slices.Concat(fmt.Appendf(nil, opening, version, sum(budget)), budget, []byte(closing))
	if len(data) > maxSize {
		return nil, check.Fail(check.ErrConfig, "budget file", len(data), fmt.Sprintf("bytes long must be at most %d: begin or give back the entries that wait", maxSize))
	}
	return data, nil
}

func sum(data ...[]byte) string {
	digest := sha256.New()
	for _, d := range data {
		digest.Write(d)
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// decode reads what encode wrote.
func decode(data []byte) (*state, error) {
	var of struct {
		Version int `json:"dpglm_budget_version"`
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return nil, fmt.Errorf("%w: not a budget, or a damaged one: %w", check.ErrModel, err)
	}
	if of.Version > version {
		return nil, check.Fail(check.ErrModel, "dpglm_budget_version", of.Version, fmt.Sprintf("must be %d: a later release of this library wrote it", version))
	}
	if of.Version != version {
		return nil, check.Fail(check.ErrModel, "dpglm_budget_version", of.Version, fmt.Sprintf("must be %d", version))
	}
	head := len(fmt.Sprintf(opening, version, sum()))
	if len(data) < head+len(closing) {
		return nil, errDamaged
	}
	budget := data[head : len(data)-len(closing)]
	if !bytes.Equal(data[:head], fmt.Appendf(nil, opening, version, sum(budget))) || string(data[len(data)-len(closing):]) != closing {
		return nil, errDamaged
	}
	s := new(state)
	if err := decodeStrictly(budget, s); err != nil {
		return nil, err
	}
	return s, s.check()
}

var errDamaged = check.Fail(check.ErrModel, "sha256", nil, "must be that of what is there: the file was damaged, or changed by hand")

// check refuses what no program of this package can have written.
func (s *state) check() error {
	bad := s.Account == nil || s.Lines.Count < 1 || s.Lines.Bytes < 1 || s.Spent < len(s.Wait)
	for i, w := range s.Wait {
		bad = bad || !isID(w.ID) || s.waits(w.ID) != i
	}
	if bad {
		return check.Fail(check.ErrModel, "budget", nil, "must count its lines and entries, and have no entry twice")
	}
	return nil
}

func decodeStrictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return check.Fail(check.ErrModel, "budget", nil, "must end after its object")
	}
	return nil
}

var idForm = regexp.MustCompile(`^[1-9][0-9]{0,18}-[0-9a-f]{16}$`)

// isID reports whether Spend may have returned it: so none is a path to elsewhere.
func isID(id string) bool { return idForm.MatchString(id) }

// named asks for a name of data.
func named(kind error, data string) error {
	if data == "" || len(data) > maxName || !utf8.ValidString(data) {
		return check.Fail(kind, "data", fmt.Sprintf("%q", data), fmt.Sprintf("must be a name of 1 to %d bytes of UTF-8", maxName))
	}
	return nil
}

const maxName = 1000
