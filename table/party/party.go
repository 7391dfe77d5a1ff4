// Package party is the side of a party that holds some of the rows of a data set and keeps them:
// it answers a driver's questions (dpglm.OpenParties) with sums over its rows, as bounded
// integers, for a protocol of secure aggregation to mask and to add up, modulo a power of two.
//
// It is the language that both sides speak, not such a protocol: docs/CLUSTER.md has the bytes,
// and module github.com/dpglm/dpglm/prio one that speaks it.
//
// # Privacy
//
// An answer is a sum over the party's rows without noise: it must reach nobody unmasked. Who
// adds up sees masked answers, and the driver the sum over all parties' rows, to which it adds
// the noise that its ledger says. Any party, and all but one of them together, learn of the others'
// rows what the released weights say, which the guarantee covers; the driver, who draws the
// noise, is trusted with the sum, and to draw it. A party that answers wrongly spoils the model,
// and nobody's privacy: each row of another party still moves what the driver makes of the sum by
// no more than the noise is for.
//
// A party answers a fit that it has agreed to, and nothing else. Facts, loss, the number of questions and what they spend are in the plan,
// which a driver tells first, and clip and the ball of the weights where all of them are sums of gradients; a question has its
// number, and weights or any sum that is asked. The first message that isn't of a plan, or
// its next question, or the last one once more, is refused, and ends all fits of the party.
//
// That isn't enough against a driver who chooses weights within the ball to learn of some rows, or coordinates and edges in a fit of any
// sums, or who asks each party something else: exact sums at two points may be one party's number of rows. Where
// the driver isn't trusted, masks must be made of the message's hash, so that they cancel
// only where all parties answer the same, and the aggregator must be one that adds noise. Whoever
// adds up is trusted to add each party's answer once.
package party

import (
	"context"
	"fmt"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/worker"
	"github.com/dpglm/dpglm/losses"
)

// Plan is what all questions of a fit have in common: public numbers.
type Plan struct {
	Columns      int
	FeatureBound float64     // on rows' norms
	Intercept    bool        // whether rows have the constant feature
	Loss         losses.Loss // whose gradients are added
	LabelCentre  float64     // of labels' range
	LabelBound   float64     // half its width
	Parties      []int       // how many rows each has
	Clip         float64     // of gradients; +Inf for none
	Radius       float64     // of the ball that weights lie in; 0 for none
	Steps        int         // questions, at most
	Mu           float64     // all of them are so much Gaussian-DP, for a row

	// Where labels are classes, from 0 up to Classes − 1, a plan is for one of them against the
	// rest: labels are 1 for rows of Class and 0 for others. A fit of K classes has K plans, each
	// with a Mu of its own, which compose in sequence: together they are √(Σ Mu²)-GDP. Classes
	// is 0 where labels are taken as they are, and Class then, too.
	Classes int
	Class   int

	// Numbers, where it isn't 0, has the fit's questions be any sums over rows that learners ask: histograms, moments,
	// gradients at weights of the driver's choice. There are Steps of them at most, of so many numbers at most. Loss and labels' range are those by
	// which labels are checked: a question has its own, and no row adds more than it says. Clip is
	// +Inf and Radius 0 then, and Classes may be there without one of them: Class is 0.
	Numbers int
}

// Within agrees to plans as long as all of them together are mu-GDP for a row: as long as
// Σ Mu² ≤ mu². It counts a plan when it agrees to it, whatever it asks: a party that answers sums of gradients alone refuses plans with
// Numbers before. The count lives as long as what is returned: a process that starts anew counts from 0. What lasts
// is a budget file, or the keeper of package prio.
func Within(mu float64) func(Plan) error {
	var lock sync.Mutex
	spent := 0.0
	return func(p Plan) error {
		if err := check.Mu(mu); err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		more := spent + float64(p.Mu*p.Mu)
		if !(more <= float64(mu*mu)*(1+1e-12)) {
			return check.Fail(check.ErrSpent, "μ of the plan", p.Mu, fmt.Sprintf("must leave all plans together within %g", mu))
		}
		spent = more
		return nil
	}
}

// Party is one that holds rows, in a file that dpglm.WriteRows wrote. It is safe
// for concurrent use.
type Party struct{ of *worker.Party }

// Open opens a party's file. Before a fit its plan goes to agree, such as [Within], which refuses
// it by an error; rows are checked and measured before, when the first plan comes. A file whose
// rows have persons, weights or offsets, or whose number of rows is secret, is refused.
func Open(path string, agree func(Plan) error) (*Party, error) { return open(path, agree, nil) }

// OpenKept is Open of a party whose fits go on after it was closed, or was killed, and is opened
// again: what it must know of them is in keep. Plans go to agree first.
func OpenKept(path string, agree func(Plan) error, keep Keeper) (*Party, error) {
	if err := check.Given("keeper", keep); err != nil {
		return nil, err
	}
	return open(path, agree, kept{keep})
}

func open(path string, agree func(Plan) error, keep worker.Keeper) (*Party, error) {
	if agree == nil {
		return nil, check.Fail(check.ErrConfig, "agree", nil, "must not be nil: it says which plans the party answers")
	}
	s, err := worker.OpenParty(path, func(t worker.Terms) error { return agree(Plan(t)) }, keep)
	if err != nil {
		return nil, err
	}
	return &Party{s}, nil
}

// Keeper keeps what a party must know of its fits after a restart, on a disk: package prio has one
// in a budget's file. A fit and a question have names, the SHA-256 of their messages in
// hexadecimal digits. A keeper belongs to one party, which calls it for one message at a time.
type Keeper interface {
	// Begin keeps a plan that was agreed to, and counts what it spends, before the party
	// answers it. An error refuses the plan.
	Begin(ctx context.Context, fit string, message []byte, p Plan) error
	// Asked keeps the next question of a fit, of this number from 1, before the party answers it. It
	// fails for a number that isn't the next.
	Asked(ctx context.Context, fit string, number int, question string) error
	// End keeps that a fit doesn't go on, as something was refused.
	End(ctx context.Context, fit string) error
	// Resume returns the message of a fit's plan and the names of its questions so far; nil for a
	// fit that wasn't begun, or was ended.
	Resume(ctx context.Context, fit string) (message []byte, questions []string, err error)
}

// kept is a Keeper of plans in the curator's form.
type kept struct{ Keeper }

func (k kept) Begin(ctx context.Context, fit string, message []byte, t worker.Terms) error {
	return k.Keeper.Begin(ctx, fit, message, Plan(t))
}

// Answer answers a driver's message, the plan of a fit or its next question, with integers from 0
// to 2^bits − 1, bits being what the plan says. They depend on the rows and the messages alone: on
// no order of rows, nor on how many goroutines or parties add. What isn't the next question of a plan
// that the party has agreed to is refused (dpglm.ErrConfig), and then no fit goes on: each
// further one needs a plan, and the party's agreement. A plan that was agreed to, and the last question of
// a fit, are answered again, by the same integers and without another agreement, for a driver whose
// round has failed.
//
// Each row adds integers whose norm is at most the question's bound: numbers of its gradient, or of what else it adds,
// in steps of the question's, rounded towards zero. Errors about rows are for the party's eyes
// only, as those of dpglm.NewDataset are.
func (p *Party) Answer(ctx context.Context, message []byte) ([]uint64, error) {
	switch {
	case p == nil || p.of == nil:
		return nil, check.Fail(check.ErrConfig, "party", nil, "must be made by Open")
	case ctx == nil:
		return nil, check.Fail(check.ErrConfig, "context", nil, "must not be nil")
	}
	return p.of.Answer(ctx, message)
}

// Close closes the file.
func (p *Party) Close() error {
	if p == nil || p.of == nil {
		return nil
	}
	return p.of.Close()
}

// Format prints what it is, whatever the verb: fmt would print the rows.
func (p Party) Format(f fmt.State, _ rune) { fmt.Fprint(f, "party.Party") }

// Add adds a party's answer to a sum, integer by integer, modulo 2^bits, as an aggregator does
// with masked ones. It fails where they have different lengths, and for bits beyond 1 to 64.
func Add(sum, answer []uint64, bits int) error {
	switch {
	case bits < 1 || bits > 64:
		return check.Fail(check.ErrConfig, "bits", bits, "must lie between 1 and 64")
	case len(sum) != len(answer):
		return check.Fail(check.ErrShape, "answer", len(answer), fmt.Sprintf("must be %d integers, as the sum", len(sum)))
	}
	for j, v := range answer {
		sum[j] = (sum[j] + v) << (64 - bits) >> (64 - bits)
	}
	return nil
}

// Message is what whoever adds answers up must know of a driver's message: public numbers.
type Message struct {
	Plan  bool    // of a plan, to which parties answer with a sum of 0
	Dim   int     // how many numbers a sum has: an answer has 4 more
	Bound float64 // on what a row adds to each of them, up or down, in steps; 0 for a plan
}

// Read tells what a driver's message asks for, or fails (dpglm.ErrConfig).
func Read(message []byte) (Message, error) {
	of, err := worker.ReadMessage(message)
	return Message(of), err
}

// SetChecksum sets the last integer of an answer to a message, or of a sum of such, to the checksum
// of those before: for a protocol that adds the others up alone, and sees by itself that nothing
// is damaged. It fails as Add does, and for an answer without a sum.
func SetChecksum(message []byte, answer []uint64, bits int) error {
	switch {
	case bits < 1 || bits > 64:
		return check.Fail(check.ErrConfig, "bits", bits, "must lie between 1 and 64")
	case len(answer) <= 4:
		return check.Fail(check.ErrShape, "answer", len(answer), "must be more than 4 integers")
	}
	worker.SetChecksum(message, answer, bits)
	return nil
}
