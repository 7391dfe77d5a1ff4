package persons_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// staysOf is a made-up file of 80 persons with two rows each, of whom one has the given id.
func staysOf(first string) string {
	r := rand.New(rand.NewPCG(3, 9))
	var b strings.Builder
	b.WriteString("who,home,age\n")
	for range 2 {
		for p := range 80 {
			who := fmt.Sprintf("m%02d", p)
			if p == 0 {
				who = first
			}
			fmt.Fprintf(&b, "%s,%s,%.3f\n", who, []string{"yes", "no"}[r.IntN(2)], 100*r.Float64())
		}
	}
	return b.String()
}

// staysSchema is its schema, in which persons may be stated.
func staysSchema(stated string) string {
	return `{"version":1,"label":"home","person":"who","max_rows":1,` + stated + `"columns":[{"name":"who","kind":"id"},
		{"name":"home","kind":"binary","positive":["yes"],"negative":["no"]},{"name":"age","kind":"numeric","range":[0,100]}]}`
}

// personRuns release something of persons, each in its way: whole, in parts of a split, in parts of
// a search, in an ensemble, one row of each.
var personRuns = map[string]func(t *testing.T, d *dpglm.Dataset, env *dpglm.Env) error{
	"Auto":                  fitOf(dpglm.AutoConfig{}),
	"NoisyGD":               fitOf(dpglm.NoisyGDConfig{Steps: 3}),
	"OutputPerturbation":    fitOf(dpglm.OutputPerturbationConfig{}),
	"ObjectivePerturbation": fitOf(dpglm.ObjectivePerturbationConfig{}),
	"FrankWolfe":            fitOf(dpglm.FrankWolfeConfig{}),
	"JL":                    fitOf(dpglm.JLConfig{}),
	"Boost":                 fitOf(dpglm.BoostConfig{Learner: dpglm.OutputPerturbationConfig{}, Chunks: 3}),
	"GridSearch":            fitOf(dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 2}, Radii: []float64{1, 4}}),
	"Infer": func(t *testing.T, d *dpglm.Dataset, env *dpglm.Env) error {
		_, err := dpglm.Infer(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(9), dpglm.InferConfig{}, env)
		return err
	},
	"Split, Evaluate": func(t *testing.T, d *dpglm.Dataset, env *dpglm.Env) error {
		train, held, err := d.Split(0.3, 5)
		if err != nil {
			return err
		}
		m, err := dpglm.Auto(t.Context(), train, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(9), env)
		if err != nil {
			return err
		}
		_, err = dpglm.Evaluate(t.Context(), held, m, dpglm.GDP(9), dpglm.EvaluateConfig{}, env)
		return err
	},
	"votes": func(t *testing.T, d *dpglm.Dataset, env *dpglm.Env) error {
		p, err := dpglm.NewPredictor(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(9), dpglm.VoteConfig{Queries: 2, Parts: 8}, env)
		if err != nil {
			return err
		}
		_, err = p.Answer(t.Context(), []float64{50})
		return err
	},
}

func fitOf(l dpglm.Learner) func(t *testing.T, d *dpglm.Dataset, env *dpglm.Env) error {
	return func(t *testing.T, d *dpglm.Dataset, env *dpglm.Env) error {
		plan, err := l.Plan(d.Shape(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(9))
		if err != nil {
			return err
		}
		_, err = plan.Run(t.Context(), d, env)
		return err
	}
}

// heardOf is what a run on a file's table says at the door, before noise.
func heardOf(t *testing.T, text, schema string, run func(t *testing.T, d *dpglm.Dataset, env *dpglm.Env) error) []given.Heard {
	t.Helper()
	d, err := dpglm.NewTableDataset(given.ReadTable(t, schema, text), given.Ordered(4))
	if err != nil {
		t.Fatal(err)
	}
	p := &given.Tape{Words: given.Words{Seed: 2}}
	if err := run(t, d, &dpglm.Env{NoiseForTests: p}); err != nil {
		t.Fatal(err)
	}
	return p.Heard
}

// Another id for a person, all else equal, changes no bit of any answer: in a file where the
// id would stand first by the alphabet and one where it would stand last.
func TestIDsMeanNothing(t *testing.T) {
	for name, run := range personRuns {
		alice, zoe := heardOf(t, staysOf("alice"), staysSchema(""), run), heardOf(t, staysOf("zoe"), staysSchema(""), run)
		if len(alice) == 0 || !slices.EqualFunc(alice, zoe, func(a, b given.Heard) bool { return a.Label == b.Label && slices.Equal(a.Values, b.Values) }) {
			t.Errorf("%s: answers differ where one person has another id", name)
		}
	}
}

// Two persons who become one, and one who becomes two, are a group of two: answers on the one
// file move by no more than twice their sensitivity from those on the other. Ledgers for such
// files are the same where the number of persons is stated.
func TestMergedPersonsAreAGroupOfTwo(t *testing.T) {
	text := staysOf("z1") + "z2,yes,100\nz2,yes,0\n"
	merged := strings.ReplaceAll(text, "z2", "z1")
	for name, run := range personRuns {
		if name == "ObjectivePerturbation" { // whose linear term is noise alone
			continue
		}
		two, one := heardOf(t, text, staysSchema(`"persons":90,`), run), heardOf(t, merged, staysSchema(`"persons":90,`), run)
		if two[0].L2 != one[0].L2 || len(two[0].Values) != len(one[0].Values) {
			t.Fatalf("%s: releases differ", name)
		}
		if moved := two[0].Moved(one[0]); moved > 2 { // later ones are asked at another place
			t.Errorf("%s: the first answer moves by %g of its sensitivity", name, moved)
		}
	}
}

// Where the number of persons isn't stated, ledgers say that it is public; where it is, they
// say nothing of how many occur.
func TestStatedPersonsAreNamed(t *testing.T) {
	for stated, c := range map[string]struct {
		n      int
		public bool
	}{"": {80, true}, `"persons":1234,`: {1234, false}} {
		d, err := dpglm.NewTableDataset(given.ReadTable(t, staysSchema(stated), staysOf("a")))
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.Auto(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(9), nil)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(m.Ledger())
		if strings.Contains(text, "how many persons have rows is public") != c.public || d.Shape().Rows != c.n || strings.Contains(text, "counts alike") {
			t.Errorf("%q: of %d persons\n%s", stated, d.Shape().Rows, text)
		}
		if m.Ledger().CallerNoise() {
			t.Error("a secret order is said to be the caller's")
		}
	}
	held := given.ReadTable(t, staysSchema(""), staysOf("a"))
	out, err := held.HoldOutPersons(0.3, mechanisms.NewSeededSource(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (*dpglm.Dataset, error){
		"order": func() (*dpglm.Dataset, error) {
			return dpglm.NewTableDataset(given.ReadTable(t, staysSchema(""), staysOf("a")), given.Ordered(1))
		},
		"part":             func() (*dpglm.Dataset, error) { return dpglm.NewTableDataset(held) },
		"part to score on": func() (*dpglm.Dataset, error) { return dpglm.NewTableDataset(out) },
	} {
		d, err := open()
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.Auto(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(9), nil)
		if err != nil || !m.Ledger().CallerNoise() {
			t.Errorf("nothing is said of a known %s: %v", name, err)
		}
	}
}
