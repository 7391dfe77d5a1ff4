package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// folds is the number of parts of a cross-validation.
const folds = 10

// source is where a set's rows are and which column is the label, as its generatedata_*.m has it.
type source struct {
	set   string
	files []string
	first int   // columns that are left out at the front
	cut   int   // and at the end
	drop  []int // columns that are left out, after these
	label int   // column, from the end where it is negative, after that
	log   bool  // the label's logarithm
	plus  float64
}

// sources are those of the results file, in its order, which is that of MATLAB's dir.
var sources = []source{
	{set: "3droad", files: []string{"3D_spatial_network.txt"}, label: -1},
	{set: "airfoil", files: []string{"airfoil_self_noise.dat.txt"}, label: -1},
	{set: "autompg", files: []string{"auto-mpg.txt"}},
	{set: "autos", files: []string{"imports-85.data.txt"}, label: -1, log: true},
	{set: "bike", files: []string{"hour.csv"}, first: 1, label: -1, log: true},
	{set: "breastcancer", files: []string{"wpbc.data.txt"}, label: 2, cut: 1},
	{set: "concrete", files: []string{"Concrete_Data.txt"}, label: -1},
	{set: "concreteslump", files: []string{"slump_test.data.txt"}, cut: 3, label: -1},
	{set: "elevators", files: []string{"elevators.data", "elevators.test"}, label: -1, log: true},
	{set: "energy", files: []string{"energy.txt"}, cut: 1, label: -1},
	{set: "fertility", files: []string{"fertility_Diagnosis.txt"}, label: -2},
	{set: "forest", files: []string{"forestfires.csv"}, label: -1, log: true, plus: 1},
	{set: "gas", files: []string{"batch1.dat", "batch2.dat", "batch3.dat", "batch4.dat", "batch5.dat", "batch6.dat", "batch7.dat", "batch8.dat", "batch9.dat", "batch10.dat"}, log: true, plus: 1},
	{set: "housing", files: []string{"housing.txt"}, label: -1},
	{set: "kin40k", files: []string{"kin40k_all.mat"}, label: -1},
	{set: "machine", files: []string{"machine.data.txt"}, cut: 1, label: -1, log: true},
	{set: "parkinsons", files: []string{"parkinsons.txt"}, drop: []int{4}, label: 4},
	{set: "pendulum", files: []string{"pendulum_all.mat"}, label: -1},
	{set: "pol", files: []string{"pol_all.mat"}, label: -1},
	{set: "protein", files: []string{"CASP.csv"}, log: true, plus: 1},
	{set: "pumadyn32nm", files: []string{"pumadyn32nm_all.mat"}, label: -1},
	{set: "servo", files: []string{"servo.data.txt"}, label: -1, log: true},
	{set: "skillcraft", files: []string{"SkillCraft.txt"}, label: 12, log: true},
	{set: "sml", files: []string{"sml.txt"}, label: 11},
	{set: "solar", files: []string{"flare.data2.txt"}, label: -1},
	{set: "stock", files: []string{"stock.txt"}, label: 3},
	{set: "tamielectric", files: []string{"eb.arff"}, drop: []int{3}, label: 1},
	{set: "wine", files: []string{"winequality-red.csv"}, label: -2},
	{set: "yacht", files: []string{"yacht_hydrodynamics.data.txt"}, label: -1, log: true},
}

// uciEpsilons are those of the results file, in its order.
var uciEpsilons = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}

// uciMethods are the places of methods in the results file.
var uciMethods = map[string]int{constant: 0, "not private": 1, "SSP": 2, "ObjPert": 3, "OPS": 4, "AdaOPS": 5, "AdaSSP": 6}

func adassp() paper {
	p := paper{
		name: "adassp", title: "AdaSSP, AdaOPS: Wang, *Revisiting differentially private linear regression*, UAI 2018",
		repository: "yuxiangw/optimal_dp_linear_regression", commit: "a14dbe5", measure: "mean squared error", falls: true, delta: 1e-6,
		epsilons: uciEpsilons, shown: []float64{0.1, 1},
		relations: []string{replaced, added},
		protocol: "Columns are standardised over all rows, without privacy, rows scaled to length 1, labels centred and divided by the largest, as its exp_uci.m does: " +
			"that rows have length 1 and labels lie in [−1, 1] is what is public. Models have no intercept. Errors are those of a cross-validation of ten folds. Theirs are those of its exp_results.mat, " +
			"with the standard deviation of ten folds over √10 as the standard error, which counts how folds differ, too; ours are of other folds, drawn anew in each repetition, with the standard error of repetitions, and predictions are held to [−1, 1], as the library's are. " +
			"AdaSSP and AdaOPS are for one row more or less, as a remark in its ObjPert.m has it. Their noise is by bounds that ask for more than exact accounting does: part of what they lose is that. The constant 0 is compared with on our own folds.",
		methods: []method{{"AdaSSP", added, true}, {"AdaOPS", added, true}, {"SSP", added, false}, {"ObjPert", added, false}, {"OPS", added, false}, {constant, "", false}, {"not private", "", false}},
		open:    openUCI,
	}
	for _, s := range sources {
		p.sets = append(p.sets, s.set)
	}
	return p
}

func openUCI(folder, set string) (*bench, error) {
	i := slices.IndexFunc(sources, func(s source) bool { return s.set == set })
	x, y, err := sources[i].read(filepath.Join(folder, "data", set))
	if err != nil {
		return nil, err
	}
	results, err := readMAT(filepath.Join(folder, "code", "exp_results.mat"))
	if err != nil {
		return nil, err
	}
	means, deviations := results["results_err"], results["results_std"]
	if !slices.Equal(means.dims, deviations.dims) || len(means.dims) != 3 || means.dims[1] != len(uciEpsilons) || means.dims[2] != len(sources) {
		return nil, fmt.Errorf("exp_results.mat has arrays of %v and %v, not methods × %d × %d", means.dims, deviations.dims, len(uciEpsilons), len(sources))
	}
	n, d := x.Dims()
	return &bench{rows: n, columns: d, parts: folds,
		fit: func(ctx context.Context, t turn) (outcome, error) { return fold(ctx, t, x, y) },
		theirs: func(m string, epsilon float64) (figure, bool) {
			k, ok := uciMethods[m]
			j := slices.Index(uciEpsilons, epsilon)
			if !ok || j < 0 {
				return figure{}, false
			}
			return figure{means.at(k, j, i), deviations.at(k, j, i) / math.Sqrt(folds), folds}, true
		}}, nil
}

// fold trains on nine tenths of the rows, and has the mean squared error on the others.
func fold(ctx context.Context, t turn, x *mat.Dense, y []float64) (outcome, error) {
	in, out := divided(len(y), t.part, t.seed)
	train, labels := rowsOf(x, y, in)
	held, want := rowsOf(x, y, out)
	z, err := t.scores(ctx, train, labels, dpglm.Bounds{Feature: 1, Label: 1}, losses.Squared{}, held)
	if err != nil {
		return outcome{}, err
	}
	metrics.Hold(z, [2]float64{-1, 1})
	floats.Sub(z, want)
	return outcome{loss: floats.Dot(z, z) / float64(len(z)), constant: floats.Dot(want, want) / float64(len(want))}, nil
}

// divided are the rows to train on and those held out, a tenth by a public seed.
func divided(n, part int, seed uint64) (in, out []int) {
	for place, row := range rand.New(mechanisms.NewSeededSource(seed)).Perm(n) {
		if place%folds == part {
			out = append(out, row)
		} else {
			in = append(in, row)
		}
	}
	return in, out
}

// read reads a set, and prepares it as the paper does.
func (s source) read(folder string) (*mat.Dense, []float64, error) {
	var rows [][]float64
	for _, f := range s.files {
		more, err := s.records(filepath.Join(folder, f))
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, more...)
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("%s: %s has no rows", s.set, folder)
	}
	x, y := s.divide(rows)
	prepare(x, y)
	return x, y, nil
}

// records reads numbers between commas or blanks, a line each, which ends by any of the systems' marks. A row that is shorter than
// others is filled up by zeros, as by csvread.
func (s source) records(path string) ([][]float64, error) {
	if strings.HasSuffix(path, ".mat") {
		return matRecords(path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows [][]float64
	for i, line := range strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' }) {
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		if len(fields) == 0 {
			continue
		}
		if s.set == "gas" {
			if fields = gasFields(line); fields == nil {
				continue
			}
		}
		row := make([]float64, len(fields))
		for j, f := range fields {
			if row[j], err = strconv.ParseFloat(f, 64); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", path, i+1, err)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// gasFields are the concentration and the sensors of a line of gas 1, and nil of another gas.
func gasFields(line string) []string {
	all := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ':' || r == ';' })
	if all[0] != "1" {
		return nil
	}
	var fields []string
	for j := 1; j < len(all); j += 2 {
		fields = append(fields, all[j])
	}
	return fields
}

func matRecords(path string) ([][]float64, error) {
	all, err := readMAT(path)
	if err != nil {
		return nil, err
	}
	m, err := all["data"].matrix()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	n, _ := m.Dims()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = m.RawRowView(i)
	}
	return rows, nil
}

// divide takes out the columns that the paper leaves out, and the label.
func (s source) divide(rows [][]float64) (*mat.Dense, []float64) {
	width := 0
	for _, r := range rows {
		width = max(width, len(r))
	}
	var x []float64
	y := make([]float64, len(rows))
	for i, r := range rows {
		r = append(slices.Clone(r), make([]float64, width-len(r))...)[s.first : width-s.cut]
		for _, j := range s.drop {
			r = slices.Delete(r, j, j+1)
		}
		label := s.label
		if label < 0 {
			label += len(r)
		}
		y[i] = r[label]
		if s.log {
			y[i] = math.Log(y[i] + s.plus)
		}
		x = append(x, slices.Delete(r, label, label+1)...)
	}
	return mat.NewDense(len(rows), len(x)/len(rows), x), y
}

// prepare standardises columns, scales rows to length 1, and centres labels and divides them by the largest.
func prepare(x *mat.Dense, y []float64) {
	n, d := x.Dims()
	column := make([]float64, n)
	for j := range d {
		mat.Col(column, j, x)
		mean, deviation := stat.MeanStdDev(column, nil)
		if !(deviation > 0) {
			deviation = 1
		}
		for i, v := range column {
			x.Set(i, j, (v-mean)/deviation)
		}
	}
	for i := range n {
		if row := x.RawRowView(i); floats.Norm(row, 2) > 0 {
			floats.Scale(1/floats.Norm(row, 2), row)
		}
	}
	floats.AddConst(-stat.Mean(y, nil), y)
	floats.Scale(1/floats.Norm(y, math.Inf(1)), y)
}
