package parties_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table/party"
)

// summed is an answer with the checksum of its integers, as docs/CLUSTER.md has it.
func summed(message []byte, answer []uint64, bits int) []uint64 {
	sum, last := uint64(0), len(answer)-1
	for j, v := range answer[:last] {
		of := sha256.Sum256(binary.LittleEndian.AppendUint64(slices.Clone(message), uint64(j)))
		sum += v * (binary.LittleEndian.Uint64(of[:]) | 1)
	}
	answer[last] = sum << (64 - bits) >> (64 - bits)
	return answer
}

// The integers of several parties, masked, add up to those of one that holds all rows, whatever
// the rows are and wherever they are cut.
func TestPartiesAddUp(t *testing.T) {
	const n = 3000
	for _, f := range given.Forms(n, 12)[:5] {
		for _, bits := range []int{32, 64} {
			one, all := given.Shared(t, f.X, f.Y)
			several, rows := given.Shared(t, f.X, f.Y, 1, 700, 2500)
			var sums [2][][]uint64
			for k, parties := range [][]*party.Party{one, several} {
				m := &given.Masked{Parties: parties, Bits: bits, R: rand.New(rand.NewPCG(1, 2))}
				recorded := recording{m, &sums[k]}
				d, err := dpglm.OpenParties(dpglm.Parties{Rows: [][]int{all, rows}[k], Columns: 12, Bits: bits}, f.Facts, recorded)
				if err != nil {
					t.Fatal(err)
				}
				// Without noise to speak of, for the same weights in all questions.
				if _, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5}, given.Seeded(1)); err != nil {
					t.Fatal(f.Name, err)
				}
			}
			if len(sums[0]) != 4 || len(sums[1]) != 4 { // of intake, at the start, and of two steps
				t.Fatalf("%d and %d sums", len(sums[0]), len(sums[1]))
			}
			for k := range sums[0] {
				a, b := sums[0][k], sums[1][k]
				if a[0] != 1 || b[0] != 4 || a[1] != n || b[1] != n || !slices.Equal(a[3:len(a)-1], b[3:len(b)-1]) {
					t.Errorf("%s, %d bits: %v of one party, %v of four", f.Name, bits, a, b)
				}
			}
		}
	}
}

// recording keeps the sums that an aggregator returns.
type recording struct {
	dpglm.Aggregator
	sums *[][]uint64
}

func (r recording) Sum(ctx context.Context, question []byte) ([]uint64, error) {
	sum, err := r.Aggregator.Sum(ctx, question)
	*r.sums = append(*r.sums, sum)
	return sum, err
}

// A fit on the rows of several parties is that on the same rows in memory, up to the rounding to
// integers.
func TestPartiesFit(t *testing.T) {
	for _, f := range given.Forms(3000, 12)[:5] {
		for _, c := range []struct {
			loss   losses.Loss
			config dpglm.NoisyGDConfig
		}{
			{losses.Logistic{}, dpglm.NoisyGDConfig{Steps: 20, Clip: 0.5}},
			{losses.Squared{}, dpglm.NoisyGDConfig{Steps: 200, Clip: dpglm.NoClip}},
			{losses.Hinge{}, dpglm.NoisyGDConfig{Steps: 10}},
			{losses.Poisson{}, dpglm.NoisyGDConfig{Steps: 10}},
		} {
			memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts)
			if err != nil {
				t.Fatal(err)
			}
			parties, rows := given.Shared(t, f.X, f.Y, 1200)
			d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 12}, f.Facts, &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2))})
			if err != nil {
				t.Fatal(err)
			}
			if d.Shape() != memory.Shape() {
				t.Errorf("%+v, want %+v", d.Shape(), memory.Shape())
			}
			p := dpglm.Problem{Loss: c.loss, Radius: 1}
			want, err := dpglm.NoisyGD(ctx, memory, p, dpglm.GDP(1), c.config, given.Seeded(1))
			if err != nil {
				t.Fatal(err)
			}
			got, err := dpglm.NoisyGD(ctx, d, p, dpglm.GDP(1), c.config, given.Seeded(1))
			if err != nil {
				t.Fatal(f.Name, c.loss.Name(), err)
			}
			for j, w := range want.Weights()[0] {
				if !(math.Abs(got.Weights()[0][j]-w) < 1e-9) {
					t.Fatalf("%s, %s: %v, want %v", f.Name, c.loss.Name(), got.Weights()[0], want.Weights()[0])
				}
			}
		}
	}
}

// Without a radius parties are asked for sums of gradients alone: neither for their labels' mean, in whose place steps begin at 0, nor of
// real labels for the mean of predictions.
func TestPartiesAreAskedForStepsAlone(t *testing.T) {
	x, y := given.Separable(900, 4, 1)
	var found [2][]float64
	for k, cuts := range [][]int{nil, {1, 700}} {
		parties, rows := given.Shared(t, x, y, cuts...)
		var sums [][]uint64
		d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 4}, dpglm.Bounds{Feature: 1, Label: 1, Intercept: true},
			recording{&given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2))}, &sums})
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Squared{}}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 3}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		if found[k] = m.Weights()[0]; len(sums) != 5 { // of intake, at the start, and of the steps
			t.Errorf("%d sums", len(sums))
		}
	}
	if !slices.Equal(found[0], found[1]) {
		t.Errorf("%v of one party, %v of three", found[0], found[1])
	}
}

// A sum is refused unless as many answers to this question were added, modulo this power of two,
// as there are parties, over as many rows, and unless the masks add up to 0.
func TestPartiesRefuse(t *testing.T) {
	x, y := given.Separable(900, 4, 1)
	bounds := dpglm.Bounds{Feature: 1, Label: 1}
	var before, others []uint64
	for name, spoil := range map[string]func(q []byte, a [][]uint64) [][]uint64{
		"reply: parties":  func(q []byte, a [][]uint64) [][]uint64 { return a[:1] },
		"reply: parties ": func(q []byte, a [][]uint64) [][]uint64 { return append(a, slices.Clone(a[0])) },
		"reply: rows":     func(q []byte, a [][]uint64) [][]uint64 { a[0][1]--; return a },
		"reply: integers": func(q []byte, a [][]uint64) [][]uint64 { return [][]uint64{a[0][:6], a[1][:6]} },
		"reply: question": func(q []byte, a [][]uint64) [][]uint64 {
			if before == nil {
				before = slices.Clone(a[0])
				return a
			}
			return [][]uint64{before, a[1]}
		},
		"reply: rows ": func(q []byte, a [][]uint64) [][]uint64 { // who has other rows than the driver thinks
			return [][]uint64{a[0], others}
		},
		"reply: checksum":   func(q []byte, a [][]uint64) [][]uint64 { a[0][4] ^= 1 << 20; return a },
		"reply: checksum ":  func(q []byte, a [][]uint64) [][]uint64 { a[1][7] ^= 1; return a },
		"reply: checksum  ": func(q []byte, a [][]uint64) [][]uint64 { a[0][3], a[1][5] = a[0][3]+1, a[1][5]-1; return a },
		"must be the one that was asked, of all parties": func(q []byte, a [][]uint64) [][]uint64 { a[0][2]++; return a },
	} {
		for _, good := range []int{0, 1, 2} { // so many sums come before
			before = nil
			parties, rows := given.Shared(t, x, y, 300)
			other, _ := given.Shared(t, x, y)
			asked := 0
			m := &given.Masked{Parties: parties, Bits: 40, R: rand.New(rand.NewPCG(1, 2)), Seen: func(q []byte, a [][]uint64) [][]uint64 {
				var err error
				if others, err = other[0].Answer(ctx, q); err != nil {
					t.Fatal(err)
				}
				if asked++; asked <= good {
					return a
				}
				return spoil(q, a)
			}}
			d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 4, Bits: 40}, bounds, m)
			if err != nil {
				t.Fatal(err)
			}
			model, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 3}, given.Seeded(1))
			var interrupted *dpglm.Interrupted
			spent := good > 1 || good == 1 && name == "reply: question" // noise follows the second question; this spoils the next one
			if model != nil || errors.As(err, &interrupted) != spent || !errors.Is(err, dpglm.ErrRowFile) || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
				t.Errorf("%s, after %d: %v", name, good, err)
			}
		}
	}
	parties, rows := given.Shared(t, x, y, 300)
	m := &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2))} // adds modulo 2^64
	d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 4, Bits: 40}, bounds, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dpglm.NoisyGD(ctx, d, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 3}, given.Seeded(1)); !errors.Is(err, dpglm.ErrRowFile) {
		t.Errorf("another modulus: %v", err)
	}
}

// All parties check their rows before anything is released: what is wrong with one party's ends a
// fit that has spent nothing, and no gradient is asked for.
func TestPartiesCheckRowsFirst(t *testing.T) {
	const n, d = 900, 4
	bounds := dpglm.Bounds{Feature: 1, Label: 1}
	for name, c := range map[string]struct {
		spoil func(x *mat.Dense, y []float64, rows []int)
		want  error
	}{
		"nothing":                        {func(*mat.Dense, []float64, []int) {}, nil},
		"a feature is no number":         {func(x *mat.Dense, _ []float64, _ []int) { x.Set(n-3, 1, math.NaN()) }, dpglm.ErrValue},
		"a label is infinite":            {func(_ *mat.Dense, y []float64, _ []int) { y[n-3] = math.Inf(1) }, dpglm.ErrValue},
		"a label is outside of the loss": {func(_ *mat.Dense, y []float64, _ []int) { y[n-3] = 0.5 }, dpglm.ErrLabel},
		"a party has other rows":         {func(_ *mat.Dense, _ []float64, rows []int) { rows[1]++ }, dpglm.ErrRowFile},
	} {
		x, y := given.Separable(n, d, 1)
		_, rows := given.Shared(t, x, y, 300)
		c.spoil(x, y, rows)
		parties, _ := given.Shared(t, x, y, 300)
		var asked []string
		m := &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2)), Seen: func(q []byte, a [][]uint64) [][]uint64 {
			of := "gradient"
			if strings.Contains(string(q), `"plan":{`) {
				if of = "intake"; !slices.Equal(a[1][3:3+d], make([]uint64, d)) {
					t.Errorf("%s: intake adds %v", name, a[1])
				}
			}
			asked = append(asked, of)
			return a
		}}
		data, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: d}, bounds, m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = dpglm.NoisyGD(ctx, data, logistic, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 2}, given.Seeded(1))
		var interrupted *dpglm.Interrupted
		if !errors.Is(err, c.want) || errors.As(err, &interrupted) {
			t.Errorf("%s: %v", name, err)
		}
		if c.want == nil && !slices.Equal(asked, []string{"intake", "gradient", "gradient", "gradient"}) || c.want != nil && slices.Contains(asked, "gradient") {
			t.Errorf("%s: asked were %s", name, asked)
		}
	}
}

// Whatever a party that lies adds, another party's row moves what is made of a sum by no more
// than it moves the sum, and the sum isn't refused for it: here label 0 or 1 of one row, where
// it matters to the sum which end of the range is near.
func TestPartiesFold(t *testing.T) {
	const bits, n = 24, 1000
	x := mat.NewDense(n, 1, nil)
	for i := range n {
		x.Set(i, 0, 1)
	}
	bounds := dpglm.Bounds{Feature: 1}
	for _, lie := range []uint64{0, 1<<22 - 100, 1 << 22, 1<<23 - 100, 1 << 23, 1<<23 + 100, 3 << 22, 1<<24 - 1} {
		var ends [2]float64
		for label := range ends {
			y := make([]float64, n)
			y[0] = float64(label)
			parties, rows := given.Shared(t, x, y, 1)
			m := &given.Masked{Parties: parties, Bits: bits, R: rand.New(rand.NewPCG(1, 2)), Seen: func(q []byte, a [][]uint64) [][]uint64 {
				a[1][3] = lie
				a[1] = summed(q, a[1], bits)
				return a
			}}
			d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 1, Bits: bits}, bounds, m)
			if err != nil {
				t.Fatal(err)
			}
			model, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Radius: 1}, dpglm.GDP(1e8), dpglm.NoisyGDConfig{Steps: 1, StepSize: 1e-3}, given.Seeded(1))
			if err != nil {
				t.Fatal(lie, err)
			}
			ends[label] = model.Weights()[0][0]
		}
		if apart := math.Abs(ends[0] - ends[1]); apart > 1.01e-3/n {
			t.Errorf("%d: one label moves the weight by %g", lie, apart)
		}
	}
}

// What parties aren't asked is refused before anything is spent, and so are facts that fit
// nobody's rows.
func TestPartiesAreForSums(t *testing.T) {
	x, y := given.Separable(900, 4, 1)
	parties, rows := given.Shared(t, x, y, 300)
	m := &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2))}
	bounds := dpglm.Bounds{Feature: 1, Label: 1}
	d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 4}, bounds, m)
	if err != nil {
		t.Fatal(err)
	}
	_, _, split := d.Split(0.5, 1)
	for name, err := range map[string]error{
		"JL":         given.Failure(dpglm.JL(ctx, d, logistic, dpglm.GDP(1), dpglm.JLConfig{K: 2}, nil)),
		"GridSearch": given.Failure(dpglm.GridSearch(ctx, d, logistic, dpglm.ApproxDP(1, 1e-6), dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}}, nil)),
		"pure":       given.Failure(dpglm.Auto(ctx, d, logistic, dpglm.PureDP(1), nil)),
		"boosting":   given.Failure(dpglm.Boost(ctx, d, logistic, dpglm.GDP(1), dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{Steps: 2}, Chunks: 2}, nil)),
		"objective":  given.Failure(dpglm.ObjectivePerturbation(ctx, d, logistic, dpglm.ApproxDP(1, 1e-6), dpglm.ObjectivePerturbationConfig{}, nil)),
		"output":     given.Failure(dpglm.OutputPerturbation(ctx, d, logistic, dpglm.PureDP(1), dpglm.OutputPerturbationConfig{}, nil)),
		"predictor":  given.Failure(dpglm.NewPredictor(ctx, d, logistic, dpglm.PureDP(5), dpglm.VoteConfig{Queries: 5}, nil)),
		"split":      split,
		"own loss":   given.Failure(dpglm.NoisyGD(ctx, d, dpglm.Problem{Radius: 1, Loss: losses.Custom{Label: "own", Domain: losses.Real, Phi: losses.Squared{}.Value, DPhi: losses.Squared{}.Deriv, Smoothness: 1, AtZero: func(b float64) float64 { return b * b / 2 }}}, dpglm.GDP(1), dpglm.NoisyGDConfig{}, nil)),
		"no bits":    given.Failure(dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 4, Bits: 65}, bounds, m)),
		"few bits":   given.Failure(dpglm.OpenParties(dpglm.Parties{Rows: []int{1 << 20}, Columns: 4, Bits: 31}, bounds, m)),
	} {
		var interrupted *dpglm.Interrupted
		if !errors.Is(err, dpglm.ErrConfig) || errors.As(err, &interrupted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, s := range map[string]dpglm.Parties{"no party": {Columns: 4}, "no rows": {Rows: []int{3, 0}, Columns: 4}, "no columns": {Rows: []int{3}}} {
		if _, err := dpglm.OpenParties(s, bounds, m); !errors.Is(err, dpglm.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 4}, bounds, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("no aggregator: %v", err)
	}
}

// messagesOf are a fit's messages, as a driver sends them.
func messagesOf(t *testing.T, parties []*party.Party, rows []int, facts dpglm.Facts, p dpglm.Problem, c dpglm.NoisyGDConfig) (messages []string) {
	t.Helper()
	m := &given.Masked{Parties: parties, Bits: 64, R: rand.New(rand.NewPCG(1, 2)), Seen: func(q []byte, a [][]uint64) [][]uint64 {
		messages = append(messages, string(q))
		return a
	}}
	d, err := dpglm.OpenParties(dpglm.Parties{Rows: rows, Columns: 2}, facts, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dpglm.NoisyGD(ctx, d, p, dpglm.GDP(1), c, given.Seeded(1)); err != nil {
		t.Fatal(err)
	}
	return messages
}

// with is a message whose plan, or question, has another value of a field.
func with(t *testing.T, message, part, field, value string) []byte {
	t.Helper()
	var all, of map[string]json.RawMessage
	if err := json.Unmarshal([]byte(message), &all); err != nil {
		t.Fatal(err)
	}
	if part == "" {
		of = all
	} else if err := json.Unmarshal(all[part], &of); err != nil {
		t.Fatal(err)
	}
	of[field] = json.RawMessage(value)
	raw, err := json.Marshal(of)
	if err == nil && part != "" {
		all[part] = raw
		raw, err = json.Marshal(all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A party answers what the protocol describes, and refuses all else by an error, after which it
// answers no more of the same fit, nor of another one.
func TestPartyRefuses(t *testing.T) {
	x, y := given.Separable(100, 2, 1)
	parties, rows := given.Shared(t, x, y)
	p := parties[0]
	messages := messagesOf(t, parties, rows, dpglm.Bounds{Feature: 1, Intercept: true}, logistic, dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5})
	plan, first, second := messages[0], messages[1], messages[2]
	answers := func(message string) {
		t.Helper()
		if _, err := p.Answer(ctx, []byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	ended := func(name, next string) {
		t.Helper()
		if a, err := p.Answer(ctx, []byte(next)); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("after %s the fit goes on: %v, %v", name, a, err)
		}
	}
	rowsOf := []string{`{}`, `{"Columns":3,"Bound":1,"Magnitude":1}`, `{"Columns":2,"Bound":-1,"Magnitude":1}`, `{"Columns":2,"Bound":1,"Magnitude":1,"Scale":[1]}`,
		`{"Columns":2,"Bound":1,"Magnitude":1,"Min":[]}`, `{"Columns":2,"Bound":1,"Magnitude":1,"Scale":[],"Shift":[],"Min":[],"Max":[]}`,
		`{"Columns":2,"Bound":1,"Magnitude":1,"Groups":[{"Name":"g","Columns":[7],"Names":["a"]}]}`}
	for of, fields := range map[string]map[string][]string{
		"": {"protocol": {`"dpglm parties 0"`, `3`}, "more": {"1"}, "question": {"{}"}},
		"plan": {"bits": {"65", "0", "-1"}, "rows": rowsOf, "loss": {`null`, `{"type":"Other"}`, `{"type":"Huber","fields":{"Kappa":-1}}`}, "clip": {"0", "-1"},
			"radius": {"0", "-1"}, "steps": {"0", "-3"}, "mu": {"0", "-1"}, "parties": {"[]", "[0]", "[2147483647,2]"}, "more": {"1"}},
	} {
		for field, values := range fields {
			for _, v := range values {
				answers(plan)
				if a, err := p.Answer(ctx, with(t, plan, of, field, v)); err == nil {
					t.Errorf("%s %s: %v", field, v, a)
				} else if errors.Is(err, dpglm.ErrConfig) {
					ended(field, first)
				}
			}
		}
	}
	for field, values := range map[string][]string{"plan": {`"x"`, "null"}, "number": {"0", "2", "-1"}, "step": {"0", "-1", "0.3", "1", `"x"`}, "bound": {"0", "1e300", "-1", "1"},
		"weights": {"[1]", "null", "[9e9,0,0]", "[1e308,1e308,0]"}, "clip": {"1"}, "loss": {"{}"}, "more": {"1"}} {
		for _, v := range values {
			answers(plan)
			if a, err := p.Answer(ctx, with(t, first, "question", field, v)); err == nil {
				t.Errorf("%s %s: %v", field, v, a)
			}
			ended(field, first)
		}
	}
	for _, q := range [][]byte{nil, []byte("{"), []byte("[]"), []byte(`{"protocol":"dpglm parties 1"}`)} {
		answers(plan)
		answers(first)
		if _, err := p.Answer(ctx, q); err == nil {
			t.Errorf("%q is answered", q)
		}
		ended(string(q), second)
	}
	other := with(t, first, "question", "weights", "[0,0,0.25]")
	answers(plan)
	answers(first)
	ended("its first question, at other weights", string(other)) // a question is answered once
	answers(plan)
	answers(first)
	answers(second)
	ended("all its questions", first)
	if text := fmt.Sprintf("%v %+v %#v", parties[0], parties[0], *parties[0]); strings.ContainsAny(text, "{") {
		t.Error(text)
	}
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y, dpglm.Weights{Of: y, Max: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := party.Open(path, given.AnyPlan); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("weights: %v", err)
	}
	if _, err := party.Open(path, nil); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("no agreement: %v", err)
	}
}

// A driver whose round has failed repeats its message: a plan, before its questions, and a question until
// the next one are answered by the same integers, without another agreement.
func TestPartiesRepeat(t *testing.T) {
	x, y := given.Separable(100, 2, 1)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	agreed := 0
	p, err := party.Open(path, func(party.Plan) error { agreed++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	messages := messagesOf(t, []*party.Party{p}, []int{100}, dpglm.Bounds{Feature: 1}, logistic, dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5})
	agreed = 0
	other, err := party.Open(path, func(party.Plan) error { agreed++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for k, m := range messages {
		first, err := other.Answer(ctx, []byte(m))
		if err != nil {
			t.Fatal(k, err)
		}
		for range 2 {
			if again, err := other.Answer(ctx, []byte(m)); err != nil || !slices.Equal(again, first) {
				t.Errorf("message %d: %v (%v), want %v", k, again, err, first)
			}
		}
	}
	if agreed != 1 {
		t.Errorf("agreed %d times", agreed)
	}
	if a, err := other.Answer(ctx, []byte(messages[1])); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("a question before the last one: %v, %v", a, err)
	}
}

// A driver that asks two questions about the hinge, in place of a learner's, learns how many rows
// one party has, which a column tells apart: at scores beyond the margin only rows of one label
// have a gradient, those of the other one at the opposite scores. A party refuses both, and
// is told of no plan that asks them.
func TestPartyRefusesWhoCounts(t *testing.T) {
	const n, own = 500, 137
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		y[i] = float64(i % 2)
		if i < own {
			x.Set(i, 1, 1)
		}
	}
	parties, rows := given.Shared(t, x, y, own)
	messages := messagesOf(t, parties, rows, dpglm.Bounds{Feature: 1, Intercept: true}, dpglm.Problem{Loss: losses.Hinge{}, Radius: 0.5}, dpglm.NoisyGDConfig{Steps: 2, Clip: dpglm.NoClip})
	for name, first := range map[string]bool{"before a plan": false, "of a plan": true} {
		if first {
			for _, p := range parties {
				if _, err := p.Answer(ctx, []byte(messages[0])); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, scores := range []string{"[0,4,0]", "[0,-4,0]"} {
			for _, p := range parties {
				if a, err := p.Answer(ctx, with(t, messages[1], "question", "weights", scores)); !errors.Is(err, dpglm.ErrConfig) {
					t.Errorf("%s, weights %s: %v, %v", name, scores, a, err)
				}
			}
		}
	}
}

// A party's rows are asked about as often as it agrees to, and what it isn't told is refused.
func TestPartiesAgree(t *testing.T) {
	x, y := given.Separable(400, 2, 1)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	var plans []party.Plan
	within := party.Within(1.5)
	p, err := party.Open(path, func(p party.Plan) error {
		plans = append(plans, p)
		return within(p)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d, err := dpglm.OpenParties(dpglm.Parties{Rows: []int{400}, Columns: 2}, dpglm.Bounds{Feature: 2, Intercept: true}, &given.Masked{Parties: []*party.Party{p}, Bits: 64, R: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	fit := func() error {
		_, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Hinge{}, Radius: 3}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 3, Clip: 0.5}, given.Seeded(1))
		return err
	}
	if err := fit(); err != nil {
		t.Fatal(err)
	}
	var interrupted *dpglm.Interrupted
	if err := fit(); err != nil {
		t.Error(err)
	}
	if err := fit(); !errors.Is(err, dpglm.ErrSpent) || errors.As(err, &interrupted) {
		t.Errorf("a third one: %v", err)
	}
	plan := plans[0]
	if _, hinge := plan.Loss.(losses.Hinge); !hinge || len(plans) != 3 || plan.Columns != 2 || plan.FeatureBound < 2 || !plan.Intercept || !slices.Equal(plan.Parties, []int{400}) ||
		plan.Clip != 0.5 || plan.Radius != 3 || plan.Steps != 3 || !(math.Abs(plan.Mu-1) < 1e-6) {
		t.Errorf("%d plans: %+v", len(plans), plan)
	}
}
