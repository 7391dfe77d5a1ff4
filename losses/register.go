package losses

import (
	"sync"

	"github.com/dpglm/dpglm/internal/check"
)

// registered is a Custom loss that Register made known.
type registered struct{ Custom }

var (
	known     = map[string]Loss{}
	knownLock sync.RWMutex
)

// Register makes a user's own loss known by its Label, for rows that other processes read: workers of an engine, and parties. These
// are told the label alone, and must have registered a loss of that label, which they take in its place; a program whose workers run
// it, too, registers its losses before all else, as in a package's init. It returns the loss to train with. The guarantee rests on the
// functions that have the label where the rows are, and on what they state where the noise is calibrated: they must be the same.
//
// It fails for a loss that isn't complete ([Custom.Validate]), and for a label that is taken.
func Register(l Custom) (Loss, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	knownLock.Lock()
	defer knownLock.Unlock()
	if known[l.Label] != nil {
		return nil, check.Fail(check.ErrConfig, "Custom.Label", l.Label, "must be one that no other loss was registered with")
	}
	known[l.Label] = registered{l}
	return known[l.Label], nil
}

// Registered is the loss that was registered with a label; false for none.
func Registered(label string) (Loss, bool) {
	knownLock.RLock()
	defer knownLock.RUnlock()
	l, ok := known[label]
	return l, ok
}

// LabelOf is the label of a loss that [Register] returned; false for others.
func LabelOf(l Loss) (string, bool) {
	r, ok := l.(registered)
	return r.Label, ok
}
