package attacks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/audit/given"
)

// published is what a computation gives to its caller: numbers, and the ledger.
type published struct {
	numbers []float64
	ledger  *dpglm.Ledger
}

// attack is a computation on two data sets that differ in the canary.
type attack struct {
	name string
	data [2]*dpglm.Dataset
	run  func(*dpglm.Dataset, *dpglm.Env) (published, error)
	pure float64 // the ε of a budget that has no μ
	// direct tells that what is published are the releases, or that their likelihood isn't known; slow that a run takes
	// as long as a hundred others, but for its releases; lengthy that these do, too.
	direct, slow, lengthy bool

	// What a run has shown, by begin.
	claimed  float64
	leaves   map[string]leaf // of the ledger
	releases int             // of a slow run
}

// unit is what the attack is measured in.
func (a *attack) unit() evidence.Unit {
	if a.pure > 0 {
		return evidence.Epsilon
	}
	return evidence.Mu
}

// begin makes a run whose ledger is that of all.
func (a *attack) begin(t *testing.T) {
	t.Helper()
	tape := &given.Tape{Words: given.Words{Seed: 1}}
	out, err := a.run(a.data[0], &dpglm.Env{NoiseForTests: tape})
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	if a.claimed = a.pure; a.pure == 0 {
		a.claimed = out.ledger.Mu()
	}
	if a.leaves = planned(t, out.ledger); a.slow {
		a.releases = len(tape.Heard)
	}
}

// publish runs the attack on one of the two data sets, for what is published.
func (a *attack) publish(t *testing.T, side int, seed uint64) []float64 {
	t.Helper()
	out, err := a.run(a.data[side], &dpglm.Env{NoiseForTests: &given.Words{Seed: seed}})
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	return out.numbers
}

// kept is a journal in memory: what was released, with its noise. It stops a run once so many releases are
// made, unless last is 0.
type kept struct {
	released [][]float64
	last     int
}

var errLast = errors.New("all releases are made")

func (k *kept) Records() ([][]byte, error) { return nil, nil }

func (k *kept) Append(record []byte) error {
	_, numbers, found := bytes.Cut(record, []byte("|"))
	if !found {
		return nil // the identity
	}
	var v []float64
	const digits = 16
	for ; len(numbers) >= digits; numbers = numbers[digits:] {
		bits, err := strconv.ParseUint(string(numbers[:digits]), 16, 64)
		if err != nil {
			return err
		}
		v = append(v, math.Float64frombits(bits))
	}
	if k.released = append(k.released, v); len(k.released) == k.last {
		return errLast
	}
	return nil
}

// round is one run, as its two adversaries see it.
type round struct {
	ratio   float64   // log-likelihood ratio of the first data set to the second, of all that was released
	numbers []float64 // that are published
	moved   float64   // Σ of twice the divergence of each release, on this run's way: μ² of Gaussian noise
	most    float64   // part of its declared sensitivity by which an answer moved, at most
	square  float64   // sum of the squares of the Gaussian noise, in units of the planned one
	count   int       // of them
}

// play runs the attack on one of the two data sets, and then on the other one with the same noise, each raw
// answer overwritten by the first run's. All that the two release is the same, so that the second run
// tells which raw answers the other data set would have given on this way: with them the likelihood of
// all that was released is known on either, however each question followed from earlier answers. The
// released numbers themselves are the journal's. Where a run is slow the two stop after their last
// release, and nothing is published.
func (a *attack) play(t *testing.T, side int, seed uint64) (r round) {
	t.Helper()
	var tapes [2]*given.Tape
	var released [][]float64
	for k, at := range []int{side, 1 - side} {
		tape, journal := &given.Tape{Words: given.Words{Seed: seed}}, &kept{last: a.releases}
		if k > 0 {
			tape.Overwrite = given.Replay(tapes[side].Heard)
		}
		out, err := a.run(a.data[at], &dpglm.Env{NoiseForTests: tape, Journal: journal})
		if err != nil && !errors.Is(err, errLast) {
			t.Fatalf("%s: %v", a.name, err)
		}
		if tapes[at] = tape; k == 0 {
			r, released = round{numbers: out.numbers}, journal.released
		}
	}
	own, first, second := tapes[side].Heard, tapes[0].Heard, tapes[1].Heard
	if len(first) != len(second) || len(released) != len(own) {
		t.Fatalf("%s: %d and %d releases on neighbours, %d in the journal", a.name, len(first), len(second), len(released))
	}
	for k, h := range own {
		r.most = max(r.most, first[k].Moved(second[k]))
		numbers, of := released[k], a.leaves[h.Label]
		switch {
		case h.Mu > 0: // of a pool
			of.Mu = h.Mu
			fallthrough
		case h.Mechanism == "gaussian":
			r.hear(h.L2/of.Mu, h.Values, first[k].Values, second[k].Values, numbers)
		case h.Mechanism == "ranking":
			r.choose(of.Epsilon, h.Each[0], side, first[k].Values, second[k].Values, int(numbers[0]))
		case h.Mechanism != "selection" || !slices.Equal(first[k].Values, second[k].Values):
			t.Fatalf("%s: release %d is %v, whose likelihood isn't known here", a.name, k, h)
		}
	}
	return r
}

// hear adds a release with Gaussian noise of so much.
func (r *round) hear(sd float64, own, first, second, released []float64) {
	for j, v := range released {
		a, b, noise := (v-first[j])/sd, (v-second[j])/sd, (v-own[j])/sd
		r.ratio += (b*b - a*a) / 2
		r.square += noise * noise
	}
	apart := floats.Distance(first, second, 2) / sd
	r.moved += apart * apart
	r.count += len(released)
}

// choose adds a choice of the exponential mechanism.
func (r *round) choose(epsilon, sensitivity float64, side int, first, second []float64, chosen int) {
	law := func(scores []float64) []float64 { // logarithms of probabilities
		p := make([]float64, len(scores))
		floats.AddScaled(p, -epsilon/2/sensitivity, scores)
		floats.AddConst(-floats.LogSumExp(p), p)
		return p
	}
	p, q := law(first), law(second)
	r.ratio += p[chosen] - q[chosen]
	if side == 1 {
		p, q = q, p
	}
	for i := range p {
		r.moved += 2 * math.Exp(p[i]) * (p[i] - q[i])
	}
}

// leaf is one of a ledger, as it is written.
type leaf struct {
	Label       string
	Mu, Epsilon float64
	Parts       []leaf
}

// planned are the leaves by label.
func planned(t *testing.T, l *dpglm.Ledger) map[string]leaf {
	t.Helper()
	text, err := json.Marshal(l)
	var root leaf
	if err == nil {
		err = json.Unmarshal(text, &root)
	}
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]leaf{}
	var walk func(n leaf)
	walk = func(n leaf) {
		if len(n.Parts) == 0 {
			found[n.Label] = n
		}
		for _, p := range n.Parts {
			walk(p)
		}
	}
	walk(root)
	return found
}
