package main

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// put writes a file of a made-up folder.
func put(t *testing.T, text string, path ...string) {
	t.Helper()
	to := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// packed is an element of a MATLAB file.
func packed(tag uint32, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, tag)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, (tagBytes-len(data)%tagBytes)%tagBytes)...)
}

// matText is a file of named arrays, whose values are what at has, as doubles, or as bytes if they are small; each is compressed if
// it is said to be. A name of four letters or fewer is packed into its tag.
func matText(compressed, small bool, at func(name string, place int) float64, dims []int32, names ...string) string {
	text := append(make([]byte, headerBytes-4), 0, 1, 'I', 'M')
	for _, name := range names {
		var sizes, values []byte
		size := 1
		for _, n := range dims {
			sizes = binary.LittleEndian.AppendUint32(sizes, uint32(n))
			size *= int(n)
		}
		tag := uint32(tagDouble)
		for i := range size {
			if small {
				tag, values = tagUint8, append(values, byte(at(name, i)))
			} else {
				values = binary.LittleEndian.AppendUint64(values, math.Float64bits(at(name, i)))
			}
		}
		called := packed(tagInt8, []byte(name))
		if len(name) <= smallBytes {
			called = append(binary.LittleEndian.AppendUint32(nil, tagInt8|uint32(len(name))<<16), name...)
			called = append(called, make([]byte, tagBytes-len(called))...)
		}
		body := slices.Concat(packed(tagUint32, []byte{6, 0, 0, 0, 0, 0, 0, 0}), packed(tagInt32, sizes), called, packed(tag, values))
		e := packed(tagMatrix, body)
		if compressed {
			var b bytes.Buffer
			w := zlib.NewWriter(&b)
			w.Write(e)
			w.Close()
			e = binary.LittleEndian.AppendUint32(nil, tagCompressed)
			e = append(binary.LittleEndian.AppendUint32(e, uint32(b.Len())), b.Bytes()...)
		}
		text = append(text, e...)
	}
	return string(text)
}

// AdaSSP's errors, which grow with the places of ε and of the set, and their deviations in the made-up results, and all other methods'.
const madeError, madeDeviation, otherError = 0.5, 0.1, 0.25

// fill makes a folder of all papers, each with a set or two of few rows.
func fill(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	r := rand.New(mechanisms.NewSeededSource(3))
	const rows = 400
	uci := filepath.Join(folder, "optimal_dp_linear_regression")
	put(t, matText(true, false, func(name string, place int) float64 {
		switch {
		case name == "results_std":
			return madeDeviation
		case place%11 == uciMethods["AdaSSP"]:
			return madeError + 0.01*float64(place/11%10) + 0.001*float64(place/110)
		}
		return otherError
	}, []int32{11, 10, 29}, "results_err", "results_std"), uci, "code", "exp_results.mat")
	var airfoil, coded, held, survey strings.Builder
	header := "AGEP,MAR,SEX,ESR\n"
	coded.WriteString(header)
	held.WriteString(header)
	survey.WriteString("log_wage,educ_years,female\n")
	for i := range rows {
		a, b := r.NormFloat64(), r.NormFloat64()
		fmt.Fprintf(&airfoil, "%g\t%g\t%g\r\n", a, b, a-b)
		age, mar, sex, yes := r.IntN(10), r.IntN(3), r.IntN(2), 0
		if age+r.IntN(5) > 6 {
			yes = 1
		}
		to := &coded
		if i%4 == 0 {
			to = &held
		}
		fmt.Fprintf(to, "%d,%d,%d,%d\n", age, mar, sex, yes)
		for range 5 {
			years, woman := 8+r.IntN(13), r.IntN(2)
			fmt.Fprintf(&survey, "%g,%d,%d\n", 9+0.1*float64(years)-0.3*float64(woman)+0.1*r.NormFloat64(), years, woman)
		}
	}
	put(t, airfoil.String(), uci, "data", "airfoil", "airfoil_self_noise.dat.txt")
	put(t, matText(false, true, func(_ string, place int) float64 { return float64(place * place % 251) }, []int32{60, 3}, "data"), uci, "data", "pol", "pol_all.mat")
	ss := filepath.Join(folder, "DD-SSP")
	put(t, coded.String(), ss, "data", "ACSemployment_train.csv")
	put(t, held.String(), ss, "data", "ACSemployment_test.csv")
	put(t, `{"AGEP": 10, "MAR": 3, "SEX": 2, "ESR": 2}`, ss, "hd-datasets-master", "clean", "ACSemployment-domain.json")
	for seed, auc := range []float64{0.6, 0.7} {
		put(t, fmt.Sprintf(",dataset,method,auc,experiment_n,seed,n_limit,param,epsilon,delta\n0,ACSemployment,aim_ss,%g,0,%d,50000,,2.0,1e-05\n1,ACSemployment,aim_ss,0.5,0,%d,50000,,1.0,1e-05\n", auc, seed, seed),
			ss, "ACSemployment_logreg", fmt.Sprintf("of_%d.csv", seed))
	}
	second := filepath.Join(folder, "Second-Order-Private-Optimization-NeurIPS2023", "src")
	var sparse strings.Builder
	for i := range rows {
		fmt.Fprintf(&sparse, "%d 1:%d 3:%d\n", 2*(i%2)-1, i%2+r.IntN(3), r.IntN(5))
	}
	put(t, sparse.String(), second, "datasets_directory", "data", "a1a")
	put(t, `{"acc-best": 0.5, "DPGD": {"loss_avg": [0.9, 0.8], "loss_std": [0.1, 0.01], "acc_avg": [1, 1]}}`, second, "results", "gd_a1a_dataset_3.0_DP_100.txt")
	wage := filepath.Join(folder, "dp-statsmodels")
	put(t, survey.String(), wage, "data", "cps_asec_2024_wages.csv")
	put(t, "10: SEInflationResult(10, 300, -0.67, 1.94),\n100: SEInflationResult(100, 37, 0.09, 0.04),\n", wage, "dp_statsmodels", "paper_results.py")
	return folder
}

// The program runs all papers of a made-up folder, prints theirs as the files have them, and has nothing left to do the second time.
func TestPage(t *testing.T) {
	folder := fill(t)
	store := filepath.Join(t.TempDir(), "s.jsonl")
	run := func() string {
		var out, messages bytes.Buffer
		if err := command(context.Background(), []string{"-data", folder, "-store", store, "-repetitions", "2"}, &out, &messages); err != nil {
			t.Fatal(err, messages.String())
		}
		if !strings.Contains(messages.String(), "3droad is left out") {
			t.Errorf("the messages don't tell of a set that isn't there: %s", messages.String())
		}
		return out.String()
	}
	first := run()
	for _, want := range []string{
		`\| airfoil \| 400 × 2 \| 1 \| 0\.\d+ ± 0\.\d*[1-9] \| 0\.\d+ ± \S+ \| 0\.561 ± 0\.03 \| 0\.25 ± 0\.03 \|`,
		`\| pol \| 60 × 2 \| 1 \| [^|]+\| [^|]+\| 0\.578 ± `,
		`\| ACSemployment \| 300 × 4 \| 2 \| 0\.\d+ ± \S+ \| 0\.[0-3]\d+ ± \S+ \| 0\.[0-3]\d+ ± \S+ \| 0\.35 ± 0\.05 \| – \|`,
		`\| a1a \| 400 × 4 \| 3 \| 0\.\d+ ± \S+ \| \d.* \| – \| – \| – \| – \| 0\.8 ± 0\.01 \| – \|`,
		`\| cps_asec_2024_wages \| 2000 × 2 \| 10 \| \S.*\| 300 \|`,
		`\| cps_asec_2024_wages \| 2000 × 2 \| 1 \| .*\| – \|`,
		`\| cps_asec_2024_wages \| 2000 × 2 \| 100 \| (0\.9|1\.?0?)\d* ± [^|]+\| (0\.9|1\.?0?)\d* ± [^|]+\| 37 \|`,
		`- adassp, gas: there is no batch1\.dat`,
		`- ddssp, adult: there is no adult-domain\.json`,
		`\| AdaSSP \| add-or-remove \| add-or-remove \|.* \| \d/\d/\d \(\d\) \|\n`,
	} {
		if !regexp.MustCompile(want).MatchString(first) {
			t.Errorf("the page lacks %s:\n%s", want, first)
		}
	}
	before, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	if second := run(); second != first {
		t.Error("a second run's page differs")
	}
	if after, _ := os.ReadFile(store); !bytes.Equal(before, after) {
		t.Error("a second run added to the store")
	}
	if err := command(context.Background(), []string{"-data", folder, "-store", store, "-seed", "2"}, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
		t.Error("a store of another seed is taken")
	}
}

// With a large budget the model is the one without privacy: of rows of length 1 whose labels are a linear function but for that, its error
// on rows held out is far below the constant's, and folds are a partition.
func TestFoldTrains(t *testing.T) {
	b, err := openUCI(filepath.Join(fill(t), "optimal_dp_linear_regression"), "airfoil")
	if err != nil {
		t.Fatal(err)
	}
	constants := 0.0
	for part := range b.parts {
		at := turn{part: part, promise: promise{1000, 1e-6, added}, seed: 5, coin: uint64(part)}
		out, err := b.fit(context.Background(), at)
		if err != nil {
			t.Fatal(err)
		}
		if !(out.loss < 0.4*out.constant) {
			t.Errorf("part %d: the error %g isn't far below the constant's, %g", part, out.loss, out.constant)
		}
		constants += out.constant / float64(b.parts)
	}
	x, y, err := sources[1].read(filepath.Join(fill(t), "optimal_dp_linear_regression", "data", "airfoil"))
	if err != nil {
		t.Fatal(err)
	}
	if want := floats.Dot(y, y) / float64(len(y)); math.Abs(constants-want) > 1e-12 {
		t.Errorf("the constant's error is %g over all folds, and %g over all rows", constants, want)
	}
	for i := range y {
		if norm := floats.Norm(x.RawRowView(i), 2); math.Abs(norm-1) > 1e-12 {
			t.Fatalf("row %d has length %g", i, norm)
		}
	}
	if most := floats.Norm(y, math.Inf(1)); most != 1 {
		t.Errorf("the largest label is %g", most)
	}
}

// Each row is held out by one fold, and trained on by the others.
func TestDivided(t *testing.T) {
	const n = 23
	var held []int
	for part := range folds {
		in, out := divided(n, part, 9)
		all := slices.Sorted(slices.Values(slices.Concat(in, out)))
		if len(all) != n || len(slices.Compact(all)) != n {
			t.Errorf("part %d: %v and %v aren't all rows, once", part, in, out)
		}
		held = append(held, out...)
	}
	slices.Sort(held)
	if len(held) != n || len(slices.Compact(held)) != n {
		t.Errorf("held out are %v", held)
	}
}

// A budget is for the neighbours that its name has.
func TestBudget(t *testing.T) {
	for relation, want := range map[string]dpglm.Budget{replaced: dpglm.ApproxDP(1, 1e-6), added: dpglm.ApproxDP(1, 1e-6).AddRemove(), shifted: dpglm.ApproxDP(1, 1e-6).AddRemove()} {
		if got := (promise{1, 1e-6, relation}).budget(); got != want {
			t.Errorf("%s: %v", relation, got)
		}
	}
}

// Columns are left out, and labels taken, as the paper's scripts have it; short rows are filled up.
func TestDivide(t *testing.T) {
	rows := [][]float64{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11}}
	for _, c := range []struct {
		source source
		x      []float64
		y      []float64
	}{
		{source{label: -1}, []float64{1, 2, 3, 4, 5, 7, 8, 9, 10, 11}, []float64{6, 0}},
		{source{label: -2}, []float64{1, 2, 3, 4, 6, 7, 8, 9, 10, 0}, []float64{5, 11}},
		{source{first: 1, cut: 2, label: 0}, []float64{3, 4, 9, 10}, []float64{2, 8}},
		{source{drop: []int{4}, label: 4}, []float64{1, 2, 3, 4, 7, 8, 9, 10}, []float64{6, 0}},
		{source{label: 0, log: true, plus: 1}, []float64{2, 3, 4, 5, 6, 8, 9, 10, 11, 0}, []float64{math.Log(2), math.Log(8)}},
	} {
		x, y := c.source.divide(rows)
		if !slices.Equal(x.RawMatrix().Data, c.x) || !slices.Equal(y, c.y) {
			t.Errorf("%+v: %v and %v", c.source, x.RawMatrix().Data, y)
		}
	}
	if got := gasFields("1;10.5 1:2.5 2:3.5"); !slices.Equal(got, []string{"10.5", "2.5", "3.5"}) || gasFields("2;10.5 1:2.5") != nil {
		t.Errorf("the fields of gas 1 are %q", got)
	}
}

// Arrays are read with the first index moving fastest, compressed or not, of bytes or doubles; what is cut off is an error.
func TestReadMAT(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		for _, small := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "a.mat")
			text := matText(compressed, small, func(_ string, place int) float64 { return float64(place) }, []int32{2, 3}, "ab", "longer")
			put(t, text, path)
			all, err := readMAT(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"ab", "longer"} {
				a := all[name]
				if !slices.Equal(a.dims, []int{2, 3}) || a.at(1, 2) != 5 || a.at(0, 1) != 2 {
					t.Errorf("%s is %v", name, a)
				}
			}
			for _, cut := range []int{50, headerBytes + 3, len(text) - 9} {
				put(t, text[:cut], path)
				if got, err := readMAT(path); err == nil {
					t.Errorf("of %d bytes, %d are read without an error, as %v", len(text), cut, got)
				}
			}
		}
	}
}

// Codes of levels have a column each but the first, and other codes are numbers.
func TestEncode(t *testing.T) {
	s := coded{"made", "y", []string{"b"}}
	names, domain := []string{"a", "b", "y", "c"}, map[string]int{"a": 5, "b": 3, "y": 2, "c": 2}
	facts, err := s.facts(names, domain)
	if err != nil {
		t.Fatal(err)
	}
	x, y := s.encode(names, domain, facts, [][]float64{{4, 2, 1, 0}, {0, 0, 0, 1}})
	if !slices.Equal(facts.Columns, []string{"a", "b_1", "b_2", "c"}) || facts.Numeric["a"] != [2]float64{0, 4} ||
		!slices.Equal(x.RawMatrix().Data, []float64{4, 0, 1, 0, 0, 0, 0, 1}) || !slices.Equal(y, []float64{1, 0}) {
		t.Errorf("%v: %v, %v", facts, x.RawMatrix().Data, y)
	}
	delete(domain, "c")
	if _, err := s.facts(names, domain); err == nil {
		t.Error("a column without a domain is taken")
	}
}

// The least loss is that of the labels' entropy where rows say nothing, and no private model is below it.
func TestLeastLogistic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	put(t, "-1 2:7\n1 2:7\n-1 2:7\n", path)
	x, y, err := libsvm(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := leastLogistic(standardise(x), y)
	want := -(math.Log(1./3) + 2*math.Log(2./3)) / 3
	if err != nil || math.Abs(got-want) > 1e-6 {
		t.Errorf("the least loss is %g (%v), not %g", got, err, want)
	}
	b, err := openNewton(filepath.Join(fill(t), "Second-Order-Private-Optimization-NeurIPS2023"), "a1a")
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.fit(context.Background(), turn{promise: promise{1000, squareOfRows, added}, coin: 1})
	if err != nil || !(out.loss > 0 && out.loss < 0.01) {
		t.Errorf("the excess at a large budget is %g (%v)", out.loss, err)
	}
	for _, text := range []string{"", "1 0:3\n", "1 2:x\n", "x 1:2\n"} {
		put(t, text, path)
		if _, _, err := libsvm(path); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// The models that are said to have an intercept have one: by the same noise they are others.
func TestIntercept(t *testing.T) {
	b, err := openCoded(filepath.Join(fill(t), "DD-SSP"), "ACSemployment")
	if err != nil {
		t.Fatal(err)
	}
	same := true
	for coin := range uint64(3) {
		var losses []float64
		for _, relation := range []string{added, shifted} {
			out, err := b.fit(context.Background(), turn{promise: promise{4, 1e-5, relation}, coin: coin})
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, out.loss)
		}
		same = same && losses[0] == losses[1]
	}
	if same {
		t.Error("an intercept makes no difference")
	}
}

// A loss is told as a loss.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		ours, theirs figure
		v            int
		known        bool
	}{
		{figure{1, 0.1, 10}, figure{0.5, 0.1, 10}, 1, true},
		{figure{0.5, 0.1, 10}, figure{1, 0.1, 10}, -1, true},
		{figure{0.7, 0.1, 10}, figure{0.5, 0.1, 10}, 0, true},
		{figure{0.75, 0.1, 10}, figure{0.5, 0, 0}, 1, true},
		{figure{1, 0.1, 10}, figure{0.5, math.NaN(), 1}, 0, false},
		{figure{1, math.NaN(), 1}, figure{0.5, 0.1, 10}, 0, false},
	} {
		if v, _, known := verdict(c.ours, c.theirs); v != c.v || known != c.known {
			t.Errorf("%v against %v is %d, %t", c.ours, c.theirs, v, known)
		}
	}
}

// What is lost is named, and so is what a larger budget makes worse; a cell of another promise or another set isn't.
func TestWhatIsLost(t *testing.T) {
	q := adassp()
	p := page{o: &options{papers: []paper{q}, repetitions: 2}, s: new(store)}
	for set, loss := range map[string]float64{"airfoil": 0.3, "pol": 0.1} {
		b := &bench{theirs: func(m string, _ float64) (figure, bool) { return figure{0.2, 0.001, folds}, m == "AdaSSP" }}
		p.found = append(p.found, entry{q, set, b})
		for i, epsilon := range []float64{1, 2} {
			for repetition, noise := range []float64{-0.001, 0.001} {
				rise := float64(i) * (loss - 0.1) // none of pol's
				p.s.all = append(p.s.all, result{Paper: q.name, Set: set, Epsilon: epsilon, Relation: added, Repetition: repetition, Losses: []float64{loss + rise + noise}, Constants: []float64{0.25}})
			}
		}
	}
	var b strings.Builder
	p.verdicts(&b)
	for _, want := range []string{
		"| AdaSSP | add-or-remove | add-or-remove | – | – | – | – | – | – | 1/0/1 (1) | 1/0/1 (1) | – | – |\n",
		"| constant 0 | – | add-or-remove | – | – | – | – | – | – | 1/0/1 (1) | 1/0/1 (1) | – | – |\n",
		"- AdaSSP, ε = 1: airfoil by 0.1 ± 0.001\n",
		"- constant 0, ε = 2: airfoil by 0.25 ± 0.001\n",
		"- airfoil, add-or-remove: 0.3 ± 0.001 at ε = 1, 0.5 ± 0.001 at ε = 2\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "- pol") || strings.Contains(b.String(), "; pol") {
		t.Errorf("pol is named:\n%s", b.String())
	}
}

// The command line is refused where it says too little.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"-data", "x", "-repetitions", "1"}, {"-data", "x", "-papers", "none"}} {
		if _, err := parse(args, new(bytes.Buffer)); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// Models follow from the seeds to the last digit, where the order of rows is drawn, too.
func TestTurnsAreReproducible(t *testing.T) {
	const n, d = 2000, 16
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, math.Sin(float64(1+i*(j+2)))/4)
		}
		y[i] = x.At(i, 0) - x.At(i, 1)*x.At(i, 2)
	}
	for _, relation := range []string{replaced, added} {
		before := []float64(nil)
		for coin := range uint64(20) { // of another order some half of the fits have other digits
			var twice [2][]float64
			for k := range twice {
				var err error
				if twice[k], err = (turn{promise: promise{4, 1e-6, relation}, coin: coin}).scores(t.Context(), x, y, dpglm.Bounds{Feature: 1, Label: 1}, losses.Squared{}, x); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(twice[0], twice[1]) || slices.Equal(twice[0], before) {
				t.Errorf("%s, seed %d: %v and %v, after %v", relation, coin, twice[0][:2], twice[1][:2], before)
			}
			before = twice[0]
		}
	}
}
