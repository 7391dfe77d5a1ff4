package budgetfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

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
	Header header             `json:"header"`
	Lines  place              `json:"lines"`
	Spent  int                `json:"spent"`             // entries so far
	Begun  *mechanisms.Ledger `json:"begun,omitempty"`   // the sum of those whose noise has begun, condensed
	Wait   []waiting          `json:"waiting,omitempty"` // those whose noise hasn't
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
	ID     string             `json:"id"`
	Time   time.Time          `json:"time"`
	Ledger *mechanisms.Ledger `json:"ledger"` // condensed
}

// after is the state with another line.
func (s *state) after(l *line) (*state, error) {
	next := *s
	next.Wait = slices.Clone(s.Wait)
	if l.Kind == lineSpent {
		condensed, err := l.Ledger.Condensed()
		if err != nil {
			return nil, err
		}
		next.Spent++
		next.Wait = append(next.Wait, waiting{l.ID, l.Time, condensed})
	} else {
		i := s.waits(l.ID)
		next.Wait = slices.Delete(next.Wait, i, i+1)
		if l.Kind == lineBegun {
			var err error
			if next.Begun, err = condensed(s.Begun, s.Wait[i:i+1]); err != nil {
				return nil, err
			}
		}
	}
	_, err := next.sum() // or else it couldn't be read again
	return &next, err
}

// waits is the place of an entry among those that wait, -1 where it isn't there.
func (s *state) waits(id string) int {
	return slices.IndexFunc(s.Wait, func(w waiting) bool { return w.ID == id })
}

// sum is the ledger of all that counts, nil where there is nothing.
func (s *state) sum() (*mechanisms.Ledger, error) { return condensed(s.Begun, s.Wait) }

func condensed(begun *mechanisms.Ledger, wait []waiting) (*mechanisms.Ledger, error) {
	var ledgers []*mechanisms.Ledger
	if begun != nil {
		ledgers = append(ledgers, begun)
	}
	for _, w := range wait {
		ledgers = append(ledgers, w.Ledger)
	}
	if len(ledgers) == 0 {
		return nil, nil
	}
	all, err := mechanisms.Sequential("", ledgers...)
	if err != nil {
		return nil, err
	}
	if all, err = all.Condensed(); err != nil {
		return nil, err
	}
	_, err = mechanisms.Sequential("spent", all) // as an accountant does
	return all, err
}

// accountant returns one that has spent all that counts. It is nil for a budget that is
// spent to the last digit, where the sum may be above the total by rounding: nothing fits
// any more. A sum further above is refused.
func (s *state) accountant() (*mechanisms.Accountant, error) {
	h := s.Header
	if err := named(check.ErrModel, h.Data); err != nil {
		return nil, err
	}
	a, err := mechanisms.NewGroupAccountant(h.Unit, h.Group, h.Epsilon, h.Delta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	sum, err := s.sum()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	if sum == nil {
		return a, nil
	}
	switch err := a.Spend(sum); {
	case errors.Is(err, check.ErrBudget) && sum.GroupWithin(h.Group, h.Epsilon*rounding, h.Delta*rounding):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	return a, nil
}

// rounding is by how much a sum may differ when it is composed in another order, or by
// another processor; where composing is numerical that is far more than the last digits.
const rounding = 1.001

// takes refuses a ledger of other data, and one that doesn't fit beside what was spent.
func (s *state) takes(data, label string, l *mechanisms.Ledger) error {
	if data != s.Header.Data {
		return check.Fail(check.ErrConfig, "data", fmt.Sprintf("%q", data), fmt.Sprintf("must be those that the budget is for, %q", s.Header.Data))
	}
	a, err := s.accountant()
	switch {
	case err != nil:
		return err
	case a == nil:
		return check.Fail(check.ErrBudget, "ledger", label, "must not be spent: nothing is left of the total")
	}
	return a.Spend(l)
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
	bad := s.Lines.Count < 1 || s.Lines.Bytes < 1 || s.Spent < len(s.Wait)
	for i, w := range s.Wait {
		bad = bad || !isID(w.ID) || w.Ledger == nil || s.waits(w.ID) != i
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
