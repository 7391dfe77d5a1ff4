package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
)

// coded is a set whose columns are codes from 0, some of them of levels; its domain file has each column's number of codes.
type coded struct {
	set, label string
	levels     []string
}

// codedSets are the paper's for logistic regression, with the target of its main_log.py and the levels of its utils.py.
var codedSets = []coded{
	{"adult", "income>50K", []string{"workclass", "education", "marital-status", "occupation", "relationship", "race", "native-country"}},
	{"ACSemployment", "ESR", []string{"MAR", "RELP", "CIT", "MIL", "ANC", "RAC1P"}},
	{"ACSmobility", "MIG", []string{"MAR", "CIT", "MIL", "ANC", "RELP", "RAC1P", "GCL", "COW", "ESR"}},
	{"ACSincome", "PINCP", []string{"COW", "MAR", "RELP", "RAC1P"}},
	{"ACSPublicCoverage", "PUBCOV", []string{"MAR", "ESP", "CIT", "MIG", "MIL", "ANC", "ESR", "FER", "RAC1P"}},
}

// mostCoded is the number of rows that the paper trains on at most.
const mostCoded = 50_000

func ddssp() paper {
	p := paper{
		name: "ddssp", title: "DD-SSP: Ferrando and Sheldon, *Private regression via data-dependent sufficient statistic perturbation*, TMLR 8/2025",
		repository: "ceciliaferrando/DD-SSP", commit: "6fefc35", measure: "1 − AUC", falls: true, delta: 1e-5, epsilons: []float64{0.05, 0.1, 0.2, 0.5, 1, 2},
		relations: []string{replaced, added, shifted},
		protocol: "Logistic regression without an intercept on the repository's files: its rows to train on, and its 1000 to score. Numbers of codes are public, as its domain files have them; " +
			"levels have a column each but the first, other codes are scaled to [−1, 1]. Its figures are drawn, not printed, so **theirs were run by us** with the repository's `main_log.py` and versions of packages, seed by seed; `penalty=None` stands for 'none', which its scikit-learn refuses, and private_pgm for private_pgm_local, which isn't there. " +
			"DD-SSP and AIM-Synth are for one row more or less, ObjPert as it is there for one in place of another. Ours are shown with an intercept, too, which is another model than theirs. All are scored on the same 1000 rows: standard errors are those of runs, not of rows.",
		methods: []method{{"DD-SSP", added, true}, {"AIM-Synth", added, false}, {"ObjPert", replaced, false}, {"not private", "", false}},
		open:    openCoded,
	}
	for _, s := range codedSets {
		p.sets = append(p.sets, s.set)
	}
	return p
}

// codedMethods are the names in the results of main_log.py.
var codedMethods = map[string]string{"DD-SSP": "aim_ss", "AIM-Synth": "aim", "ObjPert": "genobjpert", "not private": "public"}

func openCoded(folder, set string) (*bench, error) {
	s := codedSets[slices.IndexFunc(codedSets, func(s coded) bool { return s.set == set })]
	domain, err := s.domain(folder)
	if err != nil {
		return nil, err
	}
	names, rows, err := table(filepath.Join(folder, "data", set+"_train.csv"))
	if err != nil {
		return nil, err
	}
	heldNames, held, err := table(filepath.Join(folder, "data", set+"_test.csv"))
	if err != nil {
		return nil, err
	}
	if !slices.Equal(names, heldNames) || !slices.Contains(names, s.label) {
		return nil, fmt.Errorf("%s: the columns %q and %q must be the same, with %q", set, names, heldNames, s.label)
	}
	facts, err := s.facts(names, domain)
	if err != nil {
		return nil, err
	}
	x, y := s.encode(names, domain, facts, rows[:min(len(rows), mostCoded)])
	test, want := s.encode(names, domain, facts, held)
	results, err := runs(folder, set)
	if err != nil {
		return nil, err
	}
	return &bench{rows: len(rows), columns: len(facts.Columns), parts: 1,
		fit: func(ctx context.Context, t turn) (outcome, error) {
			known := facts
			known.Intercept = t.relation == shifted
			z, err := t.scores(ctx, x, y, known, losses.Logistic{}, test)
			if err != nil {
				return outcome{}, err
			}
			return outcome{loss: 1 - metrics.AUC(z, want)}, nil
		},
		theirs: func(m string, epsilon float64) (figure, bool) { return results.figure(codedMethods[m], epsilon) },
	}, nil
}

// domain is each column's number of codes: of the paper's repository or, where that lacks it, of the one that it names as its origin.
func (s coded) domain(folder string) (map[string]int, error) {
	own := filepath.Join(folder, "hd-datasets-master", "clean", s.set+"-domain.json")
	text, err := os.ReadFile(own)
	if os.IsNotExist(err) {
		text, err = os.ReadFile(filepath.Join(folder, "..", "hd-datasets", "clean", s.set+"-domain.json"))
	}
	if err != nil {
		return nil, err
	}
	var d map[string]int
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", own, err)
	}
	return d, nil
}

// facts are those that the domain gives. A column of two codes is a number, as the paper has it.
func (s coded) facts(names []string, domain map[string]int) (dpglm.Schema, error) {
	f := dpglm.Schema{Numeric: map[string][2]float64{}, OneHot: map[string][]string{}}
	for _, name := range names {
		n := domain[name]
		switch {
		case n < 2:
			return f, fmt.Errorf("%s: the domain has %d codes of %q, and must have two or more", s.set, n, name)
		case name == s.label:
		case slices.Contains(s.levels, name):
			for code := 1; code < n; code++ {
				f.OneHot[name] = append(f.OneHot[name], fmt.Sprintf("%s_%d", name, code))
			}
			f.Columns = append(f.Columns, f.OneHot[name]...)
		default:
			f.Columns = append(f.Columns, name)
			f.Numeric[name] = [2]float64{0, float64(n - 1)}
		}
	}
	return f, nil
}

// encode has the columns of the facts; the library scales numbers to [−1, 1] itself.
func (s coded) encode(names []string, domain map[string]int, facts dpglm.Schema, rows [][]float64) (*mat.Dense, []float64) {
	x, y := mat.NewDense(len(rows), len(facts.Columns), nil), make([]float64, len(rows))
	for i, r := range rows {
		at := 0
		for j, name := range names {
			switch {
			case name == s.label:
				y[i] = r[j]
			case facts.OneHot[name] != nil:
				if code := int(r[j]); code > 0 && code < domain[name] {
					x.Set(i, at+code-1, 1)
				}
				at += domain[name] - 1
			default:
				x.Set(i, at, r[j])
				at++
			}
		}
	}
	return x, y
}

// table reads numbers below a header.
func table(path string) (names []string, rows [][]float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) < 2 {
		return nil, nil, fmt.Errorf("%s has no rows", path)
	}
	for i, r := range records[1:] {
		row := make([]float64, len(r))
		for j, text := range r {
			if row[j], err = strconv.ParseFloat(text, 64); err != nil {
				return nil, nil, fmt.Errorf("%s: row %d: %w", path, i+1, err)
			}
		}
		rows = append(rows, row)
	}
	return records[0], rows, nil
}

// run is one of main_log.py.
type run struct {
	method, trial, seed string
	epsilon             float64
}

type runResults map[run]float64

// runs are the results that main_log.py has left in its folder, none where it was not run.
func runs(folder, set string) (runResults, error) {
	paths, err := filepath.Glob(filepath.Join(folder, set+"_logreg", "*.csv"))
	if err != nil {
		return nil, err
	}
	all := runResults{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		records, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		place := map[string]int{}
		for i, record := range records {
			if i == 0 {
				for j, name := range record {
					place[name] = j
				}
				continue
			}
			epsilon, bad := strconv.ParseFloat(record[place["epsilon"]], 64)
			auc, wrong := strconv.ParseFloat(record[place["auc"]], 64)
			if bad != nil || wrong != nil {
				return nil, fmt.Errorf("%s: row %d has no ε or AUC", path, i)
			}
			all[run{record[place["method"]], record[place["experiment_n"]], record[place["seed"]], epsilon}] = auc
		}
	}
	return all, nil
}

func (r runResults) figure(method string, epsilon float64) (figure, bool) {
	var v []float64
	for k, auc := range r {
		if k.method == method && k.epsilon == epsilon {
			v = append(v, 1-auc)
		}
	}
	slices.Sort(v)
	switch len(v) {
	case 0:
		return figure{}, false
	case 1:
		return figure{v[0], math.NaN(), 1}, true
	}
	mean, e := metrics.Summary(v)
	return figure{mean, e, len(v)}, true
}
