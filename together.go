package dpglm

import (
	"errors"
	"iter"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
)

// trainee is a plan in training, which goes on from one question to the next.
type trainee struct {
	next func() (*curator.Question, bool)
	stop func()
	made *fitted
	err  error
}

// begin makes a trainee, which has not begun before it is asked for its first question.
func (p *Plan) begin(r *run, d *curator.Data, allow *release.Allowance) *trainee {
	t := &trainee{}
	t.next, t.stop = iter.Pull(func(yield func(*curator.Question) bool) {
		of := *r
		of.ask = func(q *curator.Question) error {
			if !yield(q) {
				return errStopped
			}
			return nil
		}
		t.made, t.err = p.inside(&of, d, allow)
	})
	return t
}

// errStopped ends a trainee when another one failed.
var errStopped = errors.New("training stopped")

// together trains plans on the same rows, each with its allowance, and returns what they
// make. They take turns: each goes on to its next question for a sum over rows, and when
// all have asked theirs, these are answered, in one reading where the rows are the same. So
// one runs at a time, and noise is drawn in an order that depends on the plans alone. An
// error ends them all. It calls finished when one has ended.
func together(r *run, plans []*Plan, d *curator.Data, allow []*release.Allowance, finished func()) ([]*fitted, error) {
	trainees, made := make([]*trainee, len(plans)), make([]*fitted, len(plans))
	for i, p := range plans {
		trainees[i] = p.begin(r, d, allow[i])
		defer trainees[i].stop()
	}
	for left := len(plans); left > 0; {
		var questions []*curator.Question
		for i, t := range trainees {
			if made[i] != nil {
				continue
			}
			if q, asks := t.next(); asks {
				questions = append(questions, q)
				continue
			}
			if t.err != nil {
				return nil, t.err
			}
			made[i] = t.made
			left--
			finished()
		}
		if err := curator.Answer(r.ctx, questions); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// mostHeld is how many numbers for each row plans that train together may hold at once,
// beside labels, of which they have the same.
const mostHeld = 24

// batches cuts plans into those that train together, as lists of their places: on the same
// rows or the same projection of them. Plans of which others can't answer questions train
// alone, as they may hold many numbers.
func batches(plans []*Plan) (all [][]int) {
	var held []int
	for i, p := range plans {
		b := 0
		for ; b < len(all); b++ {
			if first := plans[all[b][0]]; p.asks.joint > 0 && first.asks.joint > 0 && first.asks.projects == p.asks.projects && held[b]+p.asks.holds <= mostHeld {
				break
			}
		}
		if b == len(all) {
			all, held = append(all, nil), append(held, 0)
		}
		all[b], held[b] = append(all[b], i), held[b]+p.asks.holds
	}
	return all
}

// passes bounds those of plans that are trained in batches; 0 where one has no bound.
func passes(plans []*Plan) int {
	total := 0
	for _, batch := range batches(plans) {
		most := 0
		for _, i := range batch {
			if plans[i].Passes == 0 {
				return 0
			}
			most = max(most, plans[i].asks.joint)
			total += plans[i].Passes - plans[i].asks.joint
		}
		total += most
	}
	return total
}
