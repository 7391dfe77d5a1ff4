package questions

import (
	"slices"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/mechanisms"
)

// whole stands for the rows of all tables here.
var whole = release.NewRows()

// listener is a source that sees an answer before its noise.
type listener struct {
	mechanisms.Source
	heard *release.Event
}

func (l listener) Record(e *release.Event) {
	*l.heard = *e
	l.heard.Values = slices.Clone(e.Values)
}

// any vector of up to a million numbers, once.
var anyVector, errAnyVector = release.Pool("any", 1, 1, 1<<20)

// heard is what the door says of an answer: its numbers and their declared sensitivity.
// The error is that of the question.
func heard(x release.Answer, err error) ([]float64, float64, error) {
	if errAnyVector != nil {
		return nil, 0, errAnyVector
	}
	l := listener{mechanisms.NewSeededSource(1), new(release.Event)}
	anyVector.Anew().Allow(whole, l).Draw(1, x) // refuses what no noise covers, which tests find in the numbers
	return l.heard.Values, l.heard.L2, err
}
