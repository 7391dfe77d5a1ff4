package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// node is a ledger as it is written.
type node struct {
	Kind     mechanisms.Kind `json:"kind"`
	Label    string          `json:"label"`
	Mu       float64         `json:"mu"`
	Epsilon  float64         `json:"epsilon"`
	Ratio    float64         `json:"ratio"`
	LogDet   float64         `json:"log_det"`
	Output   float64         `json:"output_epsilon"`
	Releases int             `json:"releases"`
	Dim      int             `json:"dim"`
	Parts    []*node         `json:"parts"`
}

// written returns the ledger of a result that marshals with one.
func written(t *testing.T, out any) *node {
	t.Helper()
	if list, ok := out.([]any); ok { // of SelectModel or a predictor
		out = map[string]any{"ledger": list[1]}
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Ledger *node
		Model  struct{ Ledger *node } // of an inference
	}
	err = json.Unmarshal(text, &m)
	if m.Ledger == nil {
		m.Ledger = m.Model.Ledger
	}
	if err != nil || m.Ledger == nil {
		t.Fatalf("no ledger in %s: %v", text, err)
	}
	return m.Ledger
}

// copies is how many sets of rows a node stands for, each with releases of its own.
var copies = regexp.MustCompile(`^each of (\d+) chunks`)

// leaves calls f with each leaf and its number of copies.
func (n *node) leaves(times int, f func(leaf *node, times int)) {
	if m := copies.FindStringSubmatch(n.Label); m != nil {
		k, _ := strconv.Atoi(m[1])
		times *= k
	}
	if len(n.Parts) == 0 {
		f(n, times)
	}
	for _, p := range n.Parts {
		p.leaves(times, f)
	}
}

// leafOf returns the leaf that a release is counted in.
func (n *node) leafOf(t *testing.T, h given.Heard) *node {
	t.Helper()
	var found *node
	n.leaves(1, func(leaf *node, _ int) {
		if leaf.Label == h.Label && (leaf.Dim == 0 || leaf.Dim == len(h.Values)) || h.Mu > 0 && leaf.Label == atMost+h.Label {
			found = leaf
		}
	})
	if found == nil {
		t.Fatalf("release %v isn't in the ledger", h)
	}
	return found
}

// atMost begins the label of a pool's leaf: it counts the most releases and the most
// numbers of each, and the μ of all of them.
const atMost = "at most, "

// mechanismsOf are what a ledger's leaf may stand for, release by release.
var mechanismsOf = map[mechanisms.Kind][][]string{
	mechanisms.KindGaussian:      {{"gaussian"}},
	mechanisms.KindPure:          {{"selection"}, {"vote"}},
	mechanisms.KindLaplace:       {{"laplace"}},
	mechanisms.KindBoundedRange:  {{"selection"}, {"vote"}, {"plurality"}, {"ranking"}},
	mechanisms.KindObjective:     {{"linear term", "minimiser"}},
	mechanisms.KindPureObjective: {{"linear term", "minimiser"}},
}

// TestReleasesAreTheLedgers counts what leaves the door against the ledger that the
// caller gets: the same labels, numbers, mechanisms and dimensions.
func TestReleasesAreTheLedgers(t *testing.T) {
	for i, c := range sample.Each(5, trials(t), learnerOf) {
		if c.stopAt > 0 {
			continue // the ledger says what was planned
		}
		r := c.first(t, uint64(i+1))
		heardOf, planned := map[string]int{}, map[string]int{}
		for _, h := range r.Tape.Heard {
			if h.Mu == 0 {
				heardOf[fmt.Sprintf("%s of %d numbers", h, len(h.Values))]++
			}
		}
		ledger := written(t, r.Result)
		ledger.leaves(1, func(leaf *node, times int) {
			if strings.HasPrefix(leaf.Label, atMost) {
				poolKeepsTo(t, r.Tape, c.name, leaf, ledger.alike(leaf), times)
				return
			}
			for _, names := range mechanismsOf[leaf.Kind] {
				for _, name := range names {
					key := given.Heard{Label: leaf.Label, Mechanism: name}.String()
					dims := leaf.Dim
					for _, h := range r.Tape.Heard { // pure leaves don't know it
						if dims == 0 && h.String() == key {
							dims = len(h.Values)
						}
					}
					if dims > 0 {
						planned[fmt.Sprintf("%s of %d numbers", key, dims)] += leaf.Releases * times
					}
				}
			}
		})
		for key, n := range planned {
			if heardOf[key] != n {
				t.Errorf("%s: release %s: the ledger counts %d, and %d left", c.name, key, n, heardOf[key])
			}
		}
		for key, n := range heardOf {
			if planned[key] == 0 {
				t.Errorf("%s: release %s left %d times and isn't in the ledger:\n%v", c.name, key, n, r.Out)
			}
		}
	}
}

// alike is how many leaves are the same as one: pools of several models in sequence.
func (n *node) alike(one *node) (count int) {
	n.leaves(1, func(leaf *node, _ int) {
		if leaf.Label == one.Label && leaf.Releases == one.Releases && leaf.Mu == one.Mu {
			count++
		}
	})
	return count
}

// poolKeepsTo holds the releases of so many pools in sequence against their leaf of the
// ledger, for each set of rows: there are no more, none of more numbers, and their μ² add up
// to no more. Less than 0.9 of μ² would be a waste. Each counts as used what it takes of the pool's, as
// what would take more than is left is refused by that.
func poolKeepsTo(t *testing.T, p *given.Tape, name string, leaf *node, pools, sets int) {
	t.Helper()
	planned := pools * leaf.Releases
	most := float64(planned) * leaf.Mu * leaf.Mu
	releases, squares, drawn := map[int]int{}, map[int]float64{}, map[int]float64{}
	for _, h := range p.Heard {
		if h.Mu == 0 {
			continue
		}
		if h.Mechanism != "gaussian" || atMost+h.Label != leaf.Label || len(h.Values) > leaf.Dim {
			t.Errorf("%s: release %v of %d numbers isn't in %+v", name, h, len(h.Values), leaf)
		}
		releases[h.Rows]++
		squares[h.Rows] += h.Mu * h.Mu
		used := h.Drawn - drawn[h.Rows]
		if used <= 0 { // of the next pool
			used = h.Drawn
		}
		drawn[h.Rows] = h.Drawn
		if of := h.Mu * h.Mu * float64(pools) / most; math.Abs(used-of) > 1e-9 {
			t.Errorf("%s: release %v takes %.12g of its pool's μ², and %.12g counts as used", name, h, of, used)
		}
	}
	if len(releases) != sets {
		t.Errorf("%s: pools on %d sets of rows, the ledger has %d", name, len(releases), sets)
	}
	for rows, n := range releases {
		if share := squares[rows] / most; n > planned || share > 1 || share < 0.9 {
			t.Errorf("%s: %d releases take %.12g of μ², the ledger counts %d", name, n, share, planned)
		}
	}
}

// once runs a trial on usual rows.
func (c *trial) once(t *testing.T, seed uint64) given.Ran {
	t.Helper()
	r := c.play(t, c.design.base(seed), seed, nil)
	if r.Err != nil && c.stopAt == 0 {
		t.Fatalf("%s: after %d releases: %v", c.name, len(r.Tape.Heard), r.Err)
	}
	return r
}

// firsts are runs that more than one test looks at, and none changes.
var firsts = map[string]given.Ran{}

// first is a trial's run with a seed, which is made once.
func (c *trial) first(t *testing.T, seed uint64) given.Ran {
	t.Helper()
	key := fmt.Sprint(c.name, ", ", seed)
	if _, ok := firsts[key]; !ok {
		firsts[key] = c.once(t, seed)
	}
	return firsts[key]
}

// noised is what a release of h adds to its values, drawn from src by the mechanism
// that the ledger's leaf says; nil for selections.
func noised(t *testing.T, leaf *node, h given.Heard, src mechanisms.Source) []float64 {
	t.Helper()
	v, err := make([]float64, len(h.Values)), error(nil)
	switch pure := leaf.Kind == mechanisms.KindPureObjective; {
	case pure && h.Mechanism == "linear term":
		err = mechanisms.Laplace{Epsilon: leaf.Epsilon}.Release(v, v, release.L1(2*h.L2, len(v)), src)
	case pure:
		err = mechanisms.Laplace{Epsilon: leaf.Output}.Release(v, v, release.L1(h.L2, len(v)), src)
	case h.Mu > 0:
		err = mechanisms.Gaussian{Mu: h.Mu}.Release(v, v, h.L2, src)
	case h.Mechanism == "gaussian" || h.Mechanism == "minimiser":
		err = mechanisms.Gaussian{Mu: leaf.Mu}.Release(v, v, h.L2, src)
	case h.Mechanism == "linear term":
		err = mechanisms.Gaussian{Mu: leaf.Ratio}.Release(v, v, h.L2, src)
	case h.Mechanism == "laplace":
		err = mechanisms.Laplace{Epsilon: leaf.Epsilon}.Release(v, v, release.L1(h.L2, len(v)), src)
	default:
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNoiseIsTheLedgers draws the noise of each release again, by the mechanism that
// the ledger names and from the place in the source where the release found it. Then
//
//   - each release begins where the one before has ended: noise comes from this source
//     alone, once, and nothing else draws from it;
//   - no coordinate, the intercept's included, has the noise of another one or none;
//   - a second run with other noise, whose raw answers are overwritten by the first
//     one's released values less its own noise, ends with the same weights: what is
//     released is raw answer plus this noise, in every coordinate.
func TestNoiseIsTheLedgers(t *testing.T) {
	for i, c := range sample.Each(5, trials(t), learnerOf) {
		first := c.first(t, uint64(i+1))
		if c.stopAt > 0 || len(first.Tape.Heard) == 0 {
			continue
		}
		ledger, drawn := written(t, first.Result), uint64(0)
		released, seen := make([][]float64, len(first.Tape.Heard)), map[float64]bool{}
		selects := false
		for k, h := range first.Tape.Heard {
			src := &given.Words{Seed: first.Tape.Seed, Drawn: h.Noise}
			if h.Mechanism == "linear term" { // it is shown after the draw
				src.Drawn = drawn
			}
			if src.Drawn != drawn {
				t.Fatalf("%s: release %d, %v, begins at word %d of the noise, not at %d, where the one before ends: words were used for something else, or twice", c.name, k, h, src.Drawn, drawn)
			}
			noise := noised(t, ledger.leafOf(t, h), h, src)
			if drawn = src.Drawn; noise == nil {
				selects = true
				drawn = first.Tape.Drawn
				if k+1 < len(first.Tape.Heard) {
					drawn = first.Tape.Heard[k+1].Noise
				}
				continue
			}
			for j, v := range noise {
				if v == 0 || seen[v] {
					t.Errorf("%s: release %d, %v: coordinate %d has no noise, or that of another one", c.name, k, h, j)
				}
				seen[v] = true
			}
			if released[k] = noise; h.Mechanism == "linear term" {
				if !slices.Equal(noise, h.Values) {
					t.Errorf("%s: release %d, %v, isn't the noise that the ledger counts", c.name, k, h)
				}
				clear(noise)
			}
			floats.Add(released[k], h.Values)
		}
		if drawn != first.Tape.Drawn {
			t.Errorf("%s: the last release ends at word %d of the noise, and %d were drawn", c.name, drawn, first.Tape.Drawn)
		}
		if selects {
			continue // with other noise another model is chosen
		}
		c.moved(t, first, ledger, released)
	}
}

// moved is the second run of TestNoiseIsTheLedgers.
func (c *trial) moved(t *testing.T, first given.Ran, ledger *node, released [][]float64) {
	t.Helper()
	var p *given.Tape
	p = &given.Tape{Words: given.Words{Seed: first.Tape.Seed + 1000}, Overwrite: func(k int, e *release.Event) {
		h := p.Heard[k]
		copy(e.Values, released[k])
		if h.Mechanism != "linear term" {
			at := p.Words
			floats.Sub(e.Values, noised(t, ledger.leafOf(t, h), h, &at))
		}
	}}
	d, err := c.design.base(first.Tape.Seed).dataset(c.design)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.run(context.Background(), d, &dpglm.Env{NoiseForTests: p})
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	want, got := numbers(first.Result), numbers(out)
	if far := floats.Distance(want, got, 2); !(far <= 1e-6*floats.Norm(want, 2)) {
		t.Errorf("%s: a run whose raw answers plus noise are those of another run ends at %v instead of %v: what is released is not the raw answer plus the ledger's noise in each coordinate", c.name, got, want)
	}
}

// numbers are a model's weights, of all classes, moments, an inference's estimates with their standard errors
// where these are finite, or a predictor's answers.
func numbers(result any) []float64 {
	switch r := result.(type) {
	case *dpglm.Model:
		return slices.Concat(r.Weights()...)
	case *dpglm.Inference:
		var list []float64
		for _, c := range r.Coefficients() {
			list = append(list, c.Estimate)
			if !c.Undetermined() {
				list = append(list, c.StandardError)
			}
		}
		return list
	case *dpglm.Moments:
		var written struct{ Second, Fourth [][]float64 }
		if text, err := json.Marshal(r); err != nil || json.Unmarshal(text, &written) != nil {
			return nil
		}
		return slices.Concat(slices.Concat(written.Second...), slices.Concat(written.Fourth...))
	case *dpglm.ClassInference:
		list := slices.Concat(r.Model().Weights()...)
		for _, class := range r.Model().Levels() {
			if of, err := r.Of(class); err == nil { // but for the reference
				list = append(list, numbers(of)...)
			}
		}
		return list
	}
	return result.([]any)[0].([]float64)
}

// TestNoiseHasItsLaw measures over many seeds the noise in each released coordinate,
// the intercept's included, where the weights are what is released. Sums of squares
// are held against the quantiles of χ² at α = 1e-6 for each coordinate; for
// Laplace's law, whose squares vary by 5 instead of 2, likewise.
func TestNoiseHasItsLaw(t *testing.T) {
	const runs = 2000
	for _, l := range []learned{
		{"OutputPerturbation, GDP", 24, dpglm.OutputPerturbationConfig{Lambda: 1}, losses.Logistic{}, 1, dpglm.GDP(1), nil, nil},
		{"OutputPerturbation, pure", 24, dpglm.OutputPerturbationConfig{Lambda: 1}, losses.Logistic{}, 1, dpglm.PureDP(1), nil, nil},
		{"ObjectivePerturbation", 24, dpglm.ObjectivePerturbationConfig{Lambda: 50}, losses.Squared{}, 0, dpglm.GDP(2), nil, nil},
		{"ObjectivePerturbation, pure", 24, dpglm.ObjectivePerturbationConfig{Lambda: 50}, losses.Logistic{}, 5, dpglm.PureDP(2), nil, nil},
		{"NoisyGD", 24, dpglm.NoisyGDConfig{Steps: 1, StepSize: 1e-3, Output: dpglm.LastIterate}, losses.Logistic{}, 1e6, dpglm.GDP(1), nil, nil},
		{"JL", 24, dpglm.JLConfig{K: 3, Learner: dpglm.OutputPerturbationConfig{Lambda: 1}}, losses.Logistic{}, 1, dpglm.GDP(1), nil, nil},
	} {
		c := l.on(t, "dense, intercept", designs(l.n, l.loss.Labels())["dense, intercept"])
		squares := map[string][]float64{}
		for seed := range uint64(runs) {
			r := c.once(t, seed+1)
			ledger := written(t, r.Result)
			for _, h := range r.Tape.Heard {
				leaf := ledger.leafOf(t, h)
				noise, sd := r.Result.(*dpglm.Model).Weights()[0], h.L2/leaf.Mu
				switch pure := leaf.Kind == mechanisms.KindPureObjective; {
				case pure && h.Mechanism == "linear term":
					noise, sd = slices.Clone(h.Values), math.Sqrt2*release.L1(2*h.L2, len(h.Values))/leaf.Epsilon
				case pure:
					sd = math.Sqrt2 * release.L1(h.L2, len(h.Values)) / leaf.Output
					floats.Sub(noise, h.Values)
				case h.Mechanism == "linear term":
					noise, sd = slices.Clone(h.Values), h.L2/leaf.Ratio
				case h.Mechanism == "laplace":
					sd = math.Sqrt2 * release.L1(h.L2, len(h.Values)) / leaf.Epsilon
					fallthrough
				default:
					if l.name == "NoisyGD" {
						floats.Scale(-float64(l.n)/1e-3, noise)
					}
					floats.Sub(noise, h.Values)
				}
				key := h.String()
				if squares[key] == nil {
					squares[key] = make([]float64, len(noise))
				}
				for j, v := range noise {
					squares[key][j] += v / sd * (v / sd)
				}
			}
		}
		for key, sums := range squares {
			kurtosis := 2.0
			if strings.Contains(key, "laplace") {
				kurtosis = 5
			}
			for j, s := range sums {
				// A normal quantile at α = 1e-6, two-sided, with room for the skewness.
				if z := (s - runs) / math.Sqrt(kurtosis*runs); math.Abs(z) > 4.9*1.1 {
					t.Errorf("%s: release %s: coordinate %d of %d has noise of %.3f times the planned standard deviation", l.name, key, j, len(sums), math.Sqrt(s/runs))
				}
			}
		}
	}
}
