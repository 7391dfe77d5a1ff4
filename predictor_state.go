package dpglm

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/mechanisms"
)

// predictorFacts is everything public that a predictor depends on, with defaults
// replaced by their values: stored states know it again by these names.
type predictorFacts struct {
	Kind    string `json:"kind"`
	Queries int    `json:"queries"`

	// What is planned for one answer.
	AnswerEpsilon float64 `json:"answer_epsilon,omitempty"`
	AnswerMu      float64 `json:"answer_mu,omitempty"`

	// What is trained, as far as the kind has it.
	Parts    int     `json:"parts,omitempty"`
	Seed     uint64  `json:"seed,omitempty"`
	Lambda   float64 `json:"lambda,omitempty"`
	Steps    int     `json:"steps,omitempty"`
	StepSize float64 `json:"step_size,omitempty"`
	Limit    int     `json:"limit,omitempty"`

	Loss    string  `json:"loss,omitempty"`
	Classes int     `json:"classes,omitempty"`
	Radius  float64 `json:"radius,omitempty"`

	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Mu      float64 `json:"mu,omitempty"`
	Group   int     `json:"group,omitempty"`

	Unit         mechanisms.Unit `json:"unit"`
	Rows         int             `json:"rows"`
	Weights      int             `json:"weights"`
	Intercept    bool            `json:"intercept,omitempty"`
	FeatureBound float64         `json:"feature_bound"`
	LabelCentre  float64         `json:"label_centre,omitempty"`
	LabelBound   float64         `json:"label_bound,omitempty"`
	PersonRows   int             `json:"person_rows,omitempty"`
	EachRow      bool            `json:"each_row,omitempty"`
	PersonsOccur bool            `json:"persons_occur,omitempty"`
	Weighted     bool            `json:"weighted,omitempty"`
	OffsetRange  [2]float64      `json:"offset_range,omitzero"`
}

// of fills in what the caller asked for.
func (f predictorFacts) of(s Shape, p Problem, b Budget) predictorFacts {
	f.Unit = b.unit(s)
	if p.Loss != nil {
		f.Loss, f.Classes, f.Radius = p.Loss.Name(), p.Classes, p.Radius
	}
	f.Epsilon, f.Delta, f.Mu = b.epsilon, b.delta, b.mu
	if b.group > 1 {
		f.Group = b.group
	}
	f.Rows, f.Weights, f.Intercept, f.FeatureBound = s.Rows, s.Dim, s.Intercept, s.FeatureBound
	f.LabelCentre, f.LabelBound = s.LabelCentre, s.LabelBound
	f.PersonRows, f.EachRow, f.PersonsOccur, f.Weighted, f.OffsetRange = s.PersonRows, s.EachRow, s.PersonsOccur, s.Weighted, s.OffsetRange
	return f
}

// with fills in the noise of an answer.
func (f predictorFacts) with(noise additive) predictorFacts {
	switch m := noise.(type) {
	case gaussian:
		f.AnswerMu = m.Mu
	case laplace:
		f.AnswerEpsilon = m.Epsilon
	}
	return f
}

// stateVersion is the version of states that this package writes and reads.
const stateVersion = 1

// predictorState has pointers to what a state must not leave out.
type predictorState struct {
	Version     int            `json:"version"`
	Predictor   predictorFacts `json:"predictor"`
	Answered    *int           `json:"answered"`
	CallerNoise *bool          `json:"caller_noise"`
}

// State returns what a predictor must remember over a restart: its count of
// answers, whether noise was the caller's ([Env]) and, to know it again, its public
// facts. It holds no answers, stored ones neither, and nothing else about the
// data. It is JSON with a version, and with a checksum as [Model.MarshalJSON] has one.
//
// For the guarantee to survive any crash, an answer may leave the program only
// after a State from after it has been written to where it lasts. Whoever can
// write there can also reset the count: keep it where the data are kept.
func (p *Predictor) State() ([]byte, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	made := p.allow.Made()
	return sealed.Marshal(predictorState{stateVersion, p.facts, &made, &p.callerNoise})
}

// Restore takes up the count from a State of a predictor with the same public
// facts, configuration and budget, and what it says about the noise; it refuses any
// other, one whose checksum doesn't fit, and a predictor that has answered already. The noise is not continued but
// drawn from a fresh key.
func (p *Predictor) Restore(state []byte) error {
	if err := p.usable(); err != nil {
		return err
	}
	s, err := decodeState(state)
	if err != nil {
		return err
	}
	if s.Predictor != p.facts {
		return check.Fail(ErrModel, "state", nil, "must be of a predictor with the same data shape, problem, budget and configuration")
	}
	if *s.Answered < 0 || *s.Answered > p.facts.Queries {
		return check.Fail(ErrModel, "state: answered", *s.Answered, fmt.Sprintf("must lie between 0 and %d", p.facts.Queries))
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.allow.Made() > 0 {
		return check.Fail(ErrConfig, "state", nil, "must be restored before the first answer")
	}
	p.callerNoise = p.callerNoise || *s.CallerNoise
	return p.allow.Skip(*s.Answered)
}

// decodeState reads a state, of which it knows every field.
func decodeState(state []byte) (*predictorState, error) {
	state, err := unsealed(state)
	if err != nil {
		return nil, err
	}
	s := new(predictorState)
	if err := sealed.Decode(state, s); err != nil {
		return nil, ofModel(err)
	}
	if s.Version != stateVersion {
		return nil, check.Fail(ErrModel, "state: version", s.Version, fmt.Sprintf("must be %d", stateVersion))
	}
	if s.Answered == nil || s.CallerNoise == nil {
		return nil, check.Fail(ErrModel, "state: answered, caller_noise", nil, "must not be missing")
	}
	return s, nil
}
