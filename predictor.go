package dpglm

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rows"
	"github.com/dpglm/dpglm/mechanisms"
)

// Predictor keeps a model, or several, inside and answers queries about single
// rows privately [DF18]. It holds the budget of all answers, which is shared out
// among them when it is made, and refuses with ErrSpent after the last. NewVote,
// NewAverage, NewStable, NewDescent and NewThreshold make one. It is safe for
// concurrent use.
//
// # Privacy
//
// Replace-one. All answers together spend what Planned says, for queries chosen
// in any way, also from earlier answers [DF18, Definition 1.1]: each answer is a
// mechanism whose noise was fixed before there were data, and such mechanisms
// compose adaptively. Training releases nothing, and printing or marshalling a
// Predictor shows none of its models.
//
// A query costs an answer each time, also where it was asked before, since its
// noise is drawn anew. With the configuration's Cache, a query whose numbers are
// the same bits gets the stored answer again. That costs nothing, because it was
// released before, and works after the budget is spent too.
//
// The caller must keep the count of answers beyond the life of the program, see
// State. Two predictors on the same rows spend the budgets of both.
//
// # Parameters
//
// A query is a row of raw features, in the order of the training matrix, and is
// bounded as its rows were. A query that is refused costs nothing.
type Predictor struct {
	service
	encoding rows.Encoding
	src      mechanisms.Source
	seeded   bool

	lock     sync.Mutex
	answered int
	store    map[string]float64 // nil if answers are not kept
}

// service is what one kind of predictor consists of. All but value is planned
// before there are data.
type service struct {
	plan    string // all public facts, to know the predictor again by
	queries int
	cache   bool
	// ledger returns the entry of a number of answers.
	ledger func(answers int) (*Ledger, error)
	// value is a function of an encoded query. It holds the models. One training
	// row moves it by no more than release covers.
	value   func(u []float64) float64
	release func(value float64, src mechanisms.Source) (float64, error)
}

// affordable holds all answers together against the budget.
func (s *service) affordable(b Budget) error {
	total, err := s.ledger(s.queries)
	if err != nil {
		return err
	}
	return b.covers(total)
}

func newPredictor(d *Dataset, s service, env *Env) *Predictor {
	p := &Predictor{service: s, encoding: *d.table.Encoding(), src: env.noise(), seeded: env != nil && env.NoiseForTests != nil}
	if s.cache {
		p.store = map[string]float64{}
	}
	return p
}

// Answer answers a query. Its error is ErrSpent once the budget is spent, and
// about x or ctx otherwise.
func (p *Predictor) Answer(ctx context.Context, x []float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	u, err := p.encoding.Encode(x)
	if err != nil {
		return 0, err
	}
	value := p.value(u)
	p.lock.Lock()
	defer p.lock.Unlock()
	if answer, ok := p.store[bitsOf(x)]; ok {
		return answer, nil
	}
	if p.answered >= p.queries {
		return 0, check.Fail(ErrSpent, "answers", p.answered, "are all that the budget was planned for")
	}
	p.answered++
	answer, err := p.release(value, p.src)
	if err == nil && p.store != nil {
		p.store[bitsOf(x)] = answer
	}
	return answer, err
}

// bitsOf tells queries apart by their bits.
func bitsOf(x []float64) string {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return string(b)
}

// Planned returns the ledger of all answers that the budget was planned for.
func (p *Predictor) Planned() *Ledger { return p.entry(p.queries) }

// Spent returns the ledger of the answers so far, nil before the first.
func (p *Predictor) Spent() *Ledger { return p.entry(p.Answered()) }

// Answered returns the number of answers so far, those before a restart included.
func (p *Predictor) Answered() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.answered
}

func (p *Predictor) entry(answers int) *Ledger {
	if answers == 0 {
		return nil
	}
	l, err := p.ledger(answers)
	if err != nil { // not for a part of what was found affordable
		return nil
	}
	if p.seeded {
		l = l.WithCallerNoise()
	}
	return l
}

type predictorState struct {
	Plan     string `json:"plan"`
	Answered int    `json:"answered"`
}

// State returns what a predictor must remember over a restart: its count of
// answers and, to know it again, its public facts. It holds no answers, stored
// ones neither, and nothing else about the data.
//
// For the guarantee to survive any crash, an answer may leave the program only
// after a State from after it has been written to where it lasts. Whoever can
// write there can also reset the count: keep it where the data are kept.
func (p *Predictor) State() ([]byte, error) {
	return json.Marshal(predictorState{p.plan, p.Answered()})
}

// Restore takes up the count from a State of a predictor with the same public
// facts, configuration and budget; it refuses any other, and a predictor that has
// answered already. The noise is not continued but drawn from a fresh key.
func (p *Predictor) Restore(state []byte) error {
	var s predictorState
	if err := json.Unmarshal(state, &s); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	if s.Plan != p.plan {
		return check.Fail(ErrModel, "state", nil, "must be of a predictor with the same data shape, problem, budget and configuration")
	}
	if s.Answered < 0 || s.Answered > p.queries {
		return check.Fail(ErrModel, "state: answered", s.Answered, fmt.Sprintf("must lie between 0 and %d", p.queries))
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.answered > 0 {
		return check.Fail(ErrConfig, "state", nil, "must be restored before the first answer")
	}
	p.answered = s.Answered
	return nil
}

// facts writes down everything public that a predictor depends on.
func facts(kind string, config any, s Shape, p Problem, b Budget) string {
	return fmt.Sprintf("%s %+v; loss %s, radius %g; %v; data %+v", kind, config, p.Loss.Name(), p.Radius, b, s)
}

func checkQueries(param string, queries int) error {
	if queries < 1 {
		return check.Fail(ErrConfig, param, queries, "must be at least 1")
	}
	return nil
}

// votes calibrates k answers of a vote, which compose as bounded-range releases:
// under an (ε, δ) budget the best of the sum of all ε, of their Gaussian bound and
// of numerical composition, which the ledger evaluates too.
func (b Budget) votes(k int) (mechanisms.Vote, error) {
	if err := b.validate(); err != nil {
		return mechanisms.Vote{}, err
	}
	simple := b.epsilon / float64(k) * (1 - 1e-15)
	if b.pure {
		return mechanisms.Vote{Epsilon: simple}, nil
	}
	mu, err := b.gdp()
	if err != nil {
		return mechanisms.Vote{}, err
	}
	low := math.Max(simple, 2*mechanisms.PureEpsilonWithin(mu/math.Sqrt(float64(k))*(1-1e-11)))
	if b.mu != 0 {
		return mechanisms.Vote{Epsilon: low}, nil
	}
	together := func(epsilon float64) float64 {
		l, err := mechanisms.Vote{Epsilon: epsilon}.Ledger("", k)
		if err != nil {
			return math.Inf(1)
		}
		e, err := l.Epsilon(b.delta)
		if err != nil {
			return math.Inf(1)
		}
		return e
	}
	// The total grows a little faster than its share.
	for step := math.Pow(b.epsilon/together(low), 0.8); step > 1.003; {
		if total := together(low * step); total <= b.epsilon {
			low *= step
			step = math.Pow(b.epsilon/total, 0.8)
		} else {
			step = math.Sqrt(step)
		}
	}
	return mechanisms.Vote{Epsilon: low}, nil
}

// numbers calibrates noise for k answers that are numbers: discrete Laplace or,
// unless the budget is pure, Gaussian, whichever varies less.
func (b Budget) numbers(k int) (additive, error) {
	epsilon, err := b.share(k).pureEpsilon()
	if err != nil {
		return nil, err
	}
	l := laplace{mechanisms.Laplace{Epsilon: epsilon * (1 - 1e-15)}, 1}
	if b.pure {
		return l, nil
	}
	m, err := b.gaussian(k, 1)
	if g := (gaussian{m, 1}); err != nil || g.perSensitivity() < l.perSensitivity() {
		return g, err
	}
	return l, nil
}

// addTo releases one number of the given sensitivity.
func addTo(value, sensitivity float64, noise additive, src mechanisms.Source) (float64, error) {
	v := []float64{value}
	err := noise.release(v, sensitivity, src)
	return v[0], err
}

// scoreSensitivity bounds how far the computed score ⟨u, w⟩ of an encoded query u
// moves when w, of norm at most r, moves by at most delta: ‖u‖·delta, ‖u‖ exceeding
// the feature bound by rounding, and the error γ_d·‖u‖·r of either product.
func (s Shape) scoreSensitivity(r, delta float64) float64 {
	d := float64(s.Dim)
	x := s.FeatureBound * (1 + (d+16)*0x1p-52)
	return x * (delta*(1+1e-15) + 2.1*(d+2)*0x1p-53*r)
}
