package budgetfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// version is that of files which this package writes and reads.
const version = 1

// envelope is the file: the sum is that of the budget's JSON without white space, so that
// no damage passes for another budget.
type envelope struct {
	Version int             `json:"dpglm_budget_version"`
	SHA256  string          `json:"sha256"`
	Budget  json.RawMessage `json:"budget"`
}

// contents is a total and what was spent of it.
type contents struct {
	Rows    int     `json:"rows"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Entries []entry `json:"entries"`
}

type entry struct {
	Time   time.Time          `json:"time"`
	Label  string             `json:"label"`
	Ledger *mechanisms.Ledger `json:"ledger"`
}

func (c *contents) encode() ([]byte, error) {
	if c.Entries == nil {
		c.Entries = []entry{}
	}
	budget, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(envelope{version, sum(budget), budget}, "", "  ")
	if len(data) >= maxSize {
		return nil, check.Fail(check.ErrConfig, "budget file", len(data), fmt.Sprintf("bytes long must stay below %d: use shorter labels, or another file for a part of the budget", maxSize))
	}
	return append(data, '\n'), err
}

func sum(budget []byte) string {
	digest := sha256.Sum256(budget)
	return hex.EncodeToString(digest[:])
}

// decode reads what encode wrote.
func decode(data []byte) (*contents, error) {
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
	var e envelope
	if err := decodeStrictly(data, &e); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, e.Budget); err != nil {
		return nil, fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	if e.SHA256 != sum(compact.Bytes()) {
		return nil, check.Fail(check.ErrModel, "sha256", e.SHA256, "must be that of the budget: the file was damaged, or changed by hand")
	}
	c := new(contents)
	if err := decodeStrictly(e.Budget, c); err != nil {
		return nil, err
	}
	return c, nil
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

// accountant returns one that has spent the entries, all at once. It refuses a file that
// holds more than its total.
func (c *contents) accountant() (*mechanisms.Accountant, error) {
	a, err := mechanisms.NewGroupAccountant(c.Rows, c.Epsilon, c.Delta)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	if len(c.Entries) == 0 {
		return a, nil
	}
	all, err := c.sum()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	if err := a.Spend(all); err != nil {
		return nil, fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	return a, nil
}

// sum is the ledger of all entries, within the limits of a ledger's tree.
func (c *contents) sum() (*mechanisms.Ledger, error) {
	ledgers := make([]*mechanisms.Ledger, len(c.Entries))
	for i, e := range c.Entries {
		ledgers[i] = e.Ledger
	}
	all, err := mechanisms.Sequential("entries", ledgers...)
	if err != nil {
		return nil, err
	}
	_, err = mechanisms.Sequential("spent", all) // as an accountant does
	return all, err
}
