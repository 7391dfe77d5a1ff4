package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/examples/internal/baseline"
)

// idx is a file of bytes of given sizes.
func idx(values []byte, sizes ...uint32) []byte {
	out := []byte{0, 0, 8, byte(len(sizes))}
	for _, s := range sizes {
		out = binary.BigEndian.AppendUint32(out, s)
	}
	return append(out, values...)
}

func TestParseIDX(t *testing.T) {
	values, sizes, err := parseIDX(bytes.NewReader(idx([]byte{1, 2, 3, 4, 5, 6}, 3, 2)))
	if err != nil || !slices.Equal(values, []byte{1, 2, 3, 4, 5, 6}) || !slices.Equal(sizes, []int{3, 2}) {
		t.Errorf("%v of sizes %v (%v)", values, sizes, err)
	}
	good := idx([]byte{1, 2}, 2)
	for name, bad := range map[string][]byte{
		"empty": nil, "no sizes": good[:6], "floats": append([]byte{0, 0, 13, 1}, good[4:]...), "no dimension": {0, 0, 8, 0},
		"short": good[:9], "long": append(slices.Clone(good), 3), "huge": idx(nil, 1<<31, 1<<31), "overflow": idx(nil, 1<<31, 1<<31, 1<<31, 1<<31),
	} {
		if values, _, err := parseIDX(bytes.NewReader(bad)); err == nil {
			t.Errorf("%s: read as %v", name, values)
		}
	}
}

// Without noise to speak of and without clipping the descent reaches the multinomial
// loss's minimum, where each class's mean probability is its rate.
func TestDescents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	train := blobs(400, r)
	models := descents(train, 3, 1e9, []setting{{400, 100, 1}, {400, 0.05, 1}}, r)
	p := models[0].Probabilities(baseline.Dense{Dense: train.x})
	for k := range 3 {
		var mean, rate float64
		for i, c := range train.y {
			mean += p.At(i, k)
			if int(c) == k {
				rate++
			}
		}
		if !(math.Abs(mean-rate) < 0.02*400) {
			t.Errorf("class %d has probability %.1f in all of %.0f rows", k, mean, rate)
		}
	}
	var free, held score
	free.add(p, train.y)
	held.add(models[1].Probabilities(baseline.Dense{Dense: train.x}), train.y)
	if !(free.right > 0.7 && free.loss < held.loss-0.05) {
		t.Errorf("%+v, with a small clip %+v", free, held)
	}
}

// blobs are rows around three points.
func blobs(n int, r *rand.Rand) *rows {
	b := &rows{mat.NewDense(n, 2, nil), make([]float64, n)}
	for i := range n {
		k := r.IntN(3)
		b.y[i] = float64(k)
		b.x.SetRow(i, []float64{float64(k%2) + 0.4*r.NormFloat64(), float64(k/2) + 0.4*r.NormFloat64()})
	}
	return b
}

// A gradient is as long as the clip, or shorter.
func TestClipped(t *testing.T) {
	for _, clip := range []float64{0.1, 10} {
		z := []float64{1, 2, 3}
		clipped(z, 1, 2, clip)
		long := 2 * floats.Norm(z, 2)
		if !(long <= clip*(1+1e-12)) || clip == 0.1 && !(long > 0.0999) || !(math.Abs(floats.Sum(z)) < 1e-12) || z[1] > 0 {
			t.Errorf("a gradient of length %g by a clip of %g: %v", long, clip, z)
		}
	}
}

// The comparison runs on images, and says what it is of.
func TestRunOnImages(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	for part, n := range map[string]int{"train": 300, "t10k": 60} {
		pixels, labels := make([]byte, 4*n), make([]byte, n)
		for i := range n {
			labels[i] = byte(r.IntN(3))
			for j := range 4 {
				pixels[4*i+j] = byte(r.IntN(60))
			}
			pixels[4*i+int(labels[i])] += 150
		}
		for name, text := range map[string][]byte{
			"-images-idx3-ubyte.gz": idx(pixels, uint32(n), 2, 2), "-labels-idx1-ubyte.gz": idx(labels, uint32(n)),
		} {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write(text); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, part+name), packed.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	if err := run(&out, "", dir, 200, "100", 1, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"200 rows × 4 features, 3 classes", "on 60 other rows", "1.0000, "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	for name, bad := range map[string]func() error{
		"no directory": func() error { return run(&out, "", filepath.Join(dir, "none"), 0, "1", 1, true) },
		"no file":      func() error { return run(&out, filepath.Join(dir, "none"), "", 0, "1", 1, true) },
		"many rows":    func() error { return run(&out, "", dir, 301, "1", 1, true) },
		"no repeats":   func() error { return run(&out, "", dir, 0, "1", 0, true) },
		"no number":    func() error { return run(&out, "", dir, 10, "one", 1, true) },
		"no budget":    func() error { return run(&out, "", dir, 10, "-1", 1, true) },
	} {
		if bad() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The survey's wages fall into four bands.
func TestSurvey(t *testing.T) {
	c, err := survey("../../testdata/cps1988.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]float64, c.classes)
	for _, y := range c.train.y {
		counts[int(y)]++
	}
	if len(counts) != 4 || floats.Min(counts) < 2000 || len(c.train.y)+len(c.test.y) != 28155 {
		t.Errorf("%v rows of classes", counts)
	}
}
