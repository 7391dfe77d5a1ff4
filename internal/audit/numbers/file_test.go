package numbers_test

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

var write = flag.Bool("write", false, "write the files of testdata anew")

// tolerance is a relative one: processors round otherwise, by 1e-12 or so.
const tolerance = 1e-7

// rounding is the name of a list of numbers that show how this processor, this compiler and the libraries round.
const rounding = "rounding"

// rounded are sums, products and decompositions of arbitrary numbers, functions, and a product that a compiler may add to something
// unrounded.
func rounded() (list []float64) {
	const n, some = 23, 9
	x, y, a := make([]float64, n), make([]float64, n), mat.NewSymDense(n, nil)
	for i := range n {
		x[i], y[i] = 1/float64(3+i), math.Sqrt(float64(i)+0.3)
		list = append(list, floats.Dot(x[:i+1], y[:i+1]), floats.Norm(y[:i+1], 2), floats.Sum(y[:i+1]))
	}
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, math.Exp(-math.Abs(x[i]-x[j]))+x[i]*y[j])
		}
	}
	var e mat.EigenSym
	e.Factorize(a, true)
	var vectors, product, solved mat.Dense
	e.VectorsTo(&vectors)
	product.Mul(a, &vectors)
	if err := solved.Solve(a, &vectors); err != nil {
		panic(err)
	}
	list = append(list, e.Values(nil)...)
	list = append(list, product.RawRowView(1)...)
	list = append(list, solved.RawRowView(2)...)
	for k := range some {
		u, v := x[k], y[k]
		list = append(list, u*v+y[n-1-k], math.Exp(v), math.Exp(-v-7), math.Log(v), math.Log1p(u), math.Expm1(u), math.Erfc(v), math.Pow(v, u), math.Tanh(u), math.Sin(v), math.Gamma(v))
	}
	return list
}

// stored are the numbers of a file.
func stored(t *testing.T, file string) map[string][]float64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string][]float64{}
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		name, numbers, _ := strings.Cut(s.Text(), ": ")
		list := []float64{}
		for _, text := range strings.Fields(numbers) {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
		}
		all[strings.TrimSuffix(name, ":")] = list
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// stays holds numbers against those of a file: to the tolerance, or, where they are to be exact, to the bit if this machine
// rounds as the one did that wrote the file.
func stays(t *testing.T, name string, all map[string][]float64, exact bool) {
	t.Helper()
	file := "testdata/" + name + ".txt"
	if exact {
		all[rounding] = rounded()
	}
	if *write {
		var text strings.Builder
		digits := 10
		if exact {
			digits = -1
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&text, "%s:", name)
			for _, x := range all[name] {
				fmt.Fprintf(&text, " %s", strconv.FormatFloat(x, 'g', digits, 64))
			}
			text.WriteByte('\n')
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := stored(t, file)
	if exact && !slices.Equal(all[rounding], want[rounding]) {
		t.Logf("%s: this machine rounds otherwise than the one of the file, so numbers may differ by %g of themselves", name, tolerance)
		exact = false
		delete(all, rounding)
		delete(want, rounding)
	}
	if len(want) != len(all) || len(all) < 50 {
		t.Errorf("%s: %d runs, the file has %d", name, len(all), len(want))
	}
	for _, run := range slices.Sorted(maps.Keys(all)) {
		if len(all[run]) != len(want[run]) {
			t.Errorf("%s: %s: %d numbers, want %d", name, run, len(all[run]), len(want[run]))
			continue
		}
		for k, x := range all[run] {
			y := want[run][k]
			same := x == y || math.IsNaN(x) && math.IsNaN(y) || !exact && math.Abs(x-y) <= tolerance*math.Abs(y)+1e-12
			if !same {
				t.Errorf("%s: %s: number %d is %.17g, was %.17g", name, run, k, x, y)
				break
			}
		}
	}
}
