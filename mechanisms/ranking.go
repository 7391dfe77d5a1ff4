package mechanisms

import (
	"container/heap"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Ranking holds whole-numbered scores of many candidates, of which a few change between
// one selection and the next. A selection by it has the law of [Exponential], and takes
// time that doesn't grow with the number of candidates.
//
// Candidates lie in levels: level l has those with scores from l·unit up to (l+1)·unit,
// where a candidate's probability is proportional to exp(−score/unit). One is proposed
// with a probability proportional to an integer at least as large as 2^32·e^−m, m being
// its level's distance from the best one, and accepted with the rest of the probability
// that it is due; from the 20th level on, all are proposed alike. Between one and six
// proposals are needed on average for up to 10⁸ candidates, and up to fifteen beyond.
//
// It is not safe for concurrent use.
type Ranking struct {
	unit   int64
	scores []int64
	place  []int32 // of each candidate in its level
	levels map[int64][]int32
	open   levelHeap // levels, each once, some of which may be empty
	known  map[int64]bool
}

const (
	// rankedLevels are the levels whose candidates are proposed by themselves.
	rankedLevels = 20
	// maxScore holds scores to what differences of int64 allow.
	maxScore = 1 << 61
	// maxCandidates keeps the proposals' weights below 2^64.
	maxCandidates = 1<<31 - 1
)

// Rank returns the ranking of candidates by scores that are to be small, which one row
// moves by at most the sensitivity, in any direction. It keeps the slice. It fails for an ε
// below 1e-6, no score or more than 2^31 − 1, and a sensitivity of 0 or above 2^36.
//
// # Privacy
//
// Replace-one. Each selection is Epsilon-DP and Epsilon-bounded-range, as [Exponential]'s
// are, and by the same proof: unit ≥ 2·sensitivity/ε, and the sampler's only randomness
// are uniform integers and exact coins. Which candidate is proposed, and how many times,
// doesn't count: given that one is accepted, it is candidate i with a probability
// proportional to the product of the probabilities of being proposed, a/Σ, and of being
// accepted, 2^32·e^(−x)/a, in which the integer a cancels. Scores beyond ±2^61 are held
// to that, which brings no two further apart.
func (m Exponential) Rank(scores []int64, sensitivity uint64) (*Ranking, error) {
	if err := selectionEpsilon(m.Epsilon); err != nil {
		return nil, err
	}
	if len(scores) == 0 || len(scores) > maxCandidates {
		return nil, check.Fail(check.ErrShape, "len(scores)", len(scores), "must lie between 1 and 2^31 - 1")
	}
	if sensitivity == 0 || sensitivity > 1<<36 {
		return nil, check.Fail(check.ErrConfig, "sensitivity", sensitivity, "must lie between 1 and 2^36")
	}
	r := &Ranking{
		unit: int64(selectionUnit(sensitivity, m.Epsilon)), scores: scores, place: make([]int32, len(scores)),
		levels: map[int64][]int32{}, known: map[int64]bool{},
	}
	for i, s := range scores {
		scores[i] = heldScore(s)
		r.enter(i)
	}
	return r, nil
}

// Selections returns the entry of so many selections. It fails for an ε out of range, and for
// none.
func (m Exponential) Selections(label string, releases int) (*Ledger, error) {
	return selectionLedger(KindBoundedRange, label, m.Epsilon, releases)
}

// Len is the number of candidates.
func (r *Ranking) Len() int { return len(r.scores) }

// Set gives the i-th candidate, from 0, another score, in time that doesn't grow with their
// number. It panics where there is none.
func (r *Ranking) Set(i int, score int64) {
	score = heldScore(score)
	from, to := r.level(r.scores[i]), r.level(score)
	if from == to {
		r.scores[i] = score
		return
	}
	members := r.levels[from]
	last := members[len(members)-1]
	members[r.place[i]], r.place[last] = last, r.place[i]
	r.levels[from] = members[:len(members)-1]
	r.scores[i] = score
	r.enter(i)
}

// enter puts a candidate in the level of its score.
func (r *Ranking) enter(i int) {
	l := r.level(r.scores[i])
	if !r.known[l] {
		r.known[l] = true
		heap.Push(&r.open, l)
	}
	r.place[i] = int32(len(r.levels[l]))
	r.levels[l] = append(r.levels[l], int32(i))
}

// level is ⌊score/unit⌋.
func (r *Ranking) level(score int64) int64 {
	l := score / r.unit
	if score%r.unit < 0 {
		l--
	}
	return l
}

func heldScore(s int64) int64 { return min(max(s, -maxScore), maxScore) }

// best is the smallest level with a candidate. It forgets empty ones below.
func (r *Ranking) best() int64 {
	for len(r.levels[r.open[0]]) == 0 {
		l := heap.Pop(&r.open).(int64)
		delete(r.levels, l)
		delete(r.known, l)
	}
	return r.open[0]
}

// Select returns the index of a chosen candidate, of a ranking that Rank made. It fails for
// another one, for a nil source, and for one that isn't random.
func (r *Ranking) Select(src Source) (int, error) {
	if len(r.scores) == 0 {
		return 0, check.Fail(check.ErrConfig, "ranking", nil, "must be made by Rank")
	}
	// Of six proposals one is accepted on average, or more: more than 5000 are made with
	// probability below (5/6)^5000 < 2^-1000, of a few words each.
	random, err := newWords(src, 60_000)
	if err != nil {
		return 0, err
	}
	i := r.draw(random)
	if err := random.spent(nil); err != nil {
		return 0, err
	}
	return i, nil
}

func (r *Ranking) draw(src *words) int {
	best := r.best()
	var weights [rankedLevels + 1]uint64
	var total uint64
	for m := range weights {
		count := len(r.scores) // of all, of which those of lower levels are rejected
		if m < rankedLevels {
			count = len(r.levels[best+int64(m)])
		}
		weights[m] = uint64(count) * proposed(m)
		total += weights[m]
	}
	for {
		at, m := uniform(total, src), 0
		for at >= weights[m] {
			at -= weights[m]
			m++
		}
		var i int
		if m < rankedLevels {
			i = int(r.levels[best+int64(m)][at/proposed(m)])
		} else if i = int(at / proposed(m)); r.level(r.scores[i]) < best+rankedLevels {
			continue
		}
		rest := at % proposed(m)
		gap := exponent{num: uint64(r.scores[i] - best*r.unit), den: uint64(r.unit)}
		if gap.num == 0 { // exp(0) = 1, of which above knows nothing
			if rest < 1<<32 {
				return i
			}
			continue
		}
		if gap.above(rest, 32, src) {
			return i
		}
	}
}

// proposed is an integer above 2^32·e^−m, by which a candidate is proposed whose level
// is m above the best.
func proposed(m int) uint64 { return uint64(0x1p32*math.Exp(-float64(m))) + 1 }

// levelHeap is a heap of levels, the smallest first.
type levelHeap []int64

func (h levelHeap) Len() int           { return len(h) }
func (h levelHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h levelHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *levelHeap) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *levelHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Format prints the number of candidates, whatever the verb: fmt would print the scores.
func (r *Ranking) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "mechanisms.Ranking of %d candidates", len(r.scores))
}
