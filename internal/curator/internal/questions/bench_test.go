package questions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// benchmarkMB are the sizes of the benchmarks' matrices: in cache on a machine
// with a large one, and not.
var benchmarkMB = []int{80, 800}

// benchmarkData is mb megabytes of numbers below 0.1 in magnitude.
func benchmarkData(mb int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]float64, mb*1e6/8)
	for i := range data {
		data[i] = 0.2*r.Float64() - 0.1
	}
	return data
}

// The clipped gradient of the logistic loss, bytes as of the matrix alone.
func BenchmarkGradient(b *testing.B) {
	for _, mb := range benchmarkMB {
		data := benchmarkData(mb)
		for _, d := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("d=%d/MB=%d", d, mb), func(b *testing.B) {
				n := len(data) / d
				table, err := rows.NewTable(mat.NewDense(n, d, data), encoding.NewIdentity(d, 10, false))
				if err != nil {
					b.Fatal(err)
				}
				s, err := NewSums(table, make([]float64, n), 0, 0, losses.Logistic{})
				if err != nil {
					b.Fatal(err)
				}
				w, g := randomVector(rand.New(rand.NewPCG(3, 4)), d, 1), make([]float64, d)
				b.SetBytes(int64(8 * len(data)))
				for b.Loop() {
					if err := s.Gradient(ctx, g, w, 0.5); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The check and the norms of dense rows, as they are, with numeric ranges, and with
// ranges and one-hot groups.
func BenchmarkIntake(b *testing.B) {
	const n, d, levels = 100_000, 40, 5
	r := rand.New(rand.NewPCG(5, 6))
	names, numeric, half, groups := make([]string, d), map[string][2]float64{}, map[string][2]float64{}, map[string][]string{}
	for j := range names {
		names[j] = fmt.Sprint("c", j)
		numeric[names[j]] = [2]float64{-1, 1}
		if j < d/2 {
			half[names[j]] = numeric[names[j]]
		} else {
			g := fmt.Sprint("g", (j-d/2)/levels)
			groups[g] = append(groups[g], names[j])
		}
	}
	ranges, err := encoding.NewSchema(names, numeric, nil, true)
	if err != nil {
		b.Fatal(err)
	}
	mixed, err := encoding.NewSchema(names, half, groups, true)
	if err != nil {
		b.Fatal(err)
	}
	x := mat.NewDense(n, d, nil)
	for i := range n {
		row := x.RawRowView(i)
		for j := range d / 2 {
			row[j] = 0.2*r.Float64() - 0.1
		}
		for j := d / 2; j < d; j += levels {
			row[j+r.IntN(levels)] = 1
		}
	}
	for name, enc := range map[string]encoding.Encoding{"identity": encoding.NewIdentity(d, 10, false), "ranges": ranges, "one-hot": mixed} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(n * d * 8)
			for b.Loop() {
				if _, err := rows.NewTable(x, enc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Passes in a frame beside those that they are made of, on 48,842 rows of 6 numeric
// columns and 102 of one-hot groups.
func BenchmarkFramed(b *testing.B) {
	const n, d, numeric, levels = 48_842, 108, 6, 17
	r := rand.New(rand.NewPCG(7, 8))
	names, ranges, groups := make([]string, d), map[string][2]float64{}, map[string][]string{}
	for j := range names {
		names[j] = fmt.Sprint("c", j)
		if j < numeric {
			ranges[names[j]] = [2]float64{0, 100}
		} else {
			g := fmt.Sprint("g", (j-numeric)/levels)
			groups[g] = append(groups[g], names[j])
		}
	}
	enc, err := encoding.NewSchema(names, ranges, groups, true)
	if err != nil {
		b.Fatal(err)
	}
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		for j := range numeric {
			row[j] = 100 * r.Float64()
		}
		for j := numeric; j < d; j += levels {
			row[j+r.IntN(levels)] = 1
		}
		y[i] = float64(r.IntN(2))
	}
	table, err := rows.NewTable(x, enc)
	if err != nil {
		b.Fatal(err)
	}
	s, err := NewSums(table, y, 0, 0, losses.Logistic{})
	if err != nil {
		b.Fatal(err)
	}
	a := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			a.Set(i, j, r.NormFloat64())
		}
	}
	f := Frame{Centre: randomVector(r, d, 1), Matrix: a}
	framed, err := NewFramed(ctx, s, whole, f)
	if err != nil {
		b.Fatal(err)
	}
	one := Frame{Centre: f.Centre, Matrix: a.Slice(0, d, 0, 1).(*mat.Dense)}
	along, err := NewFramed(ctx, s, whole, one)
	if err != nil {
		b.Fatal(err)
	}
	u, g, w := randomVector(r, d, 1), make([]float64, d+1), randomVector(r, d+1, 1)
	for _, c := range []struct {
		name string
		pass func() error
	}{
		{"gradient of sums", func() error { return s.Gradient(ctx, g, w, 0.5) }},
		{"gradient", func() error {
			_, _, err := heard(framed.Gradient(ctx, u, 0.1, Slope{Clip: 4, Constant: 1, Apart: 1}))
			return err
		}},
		{"gradient norms", func() error {
			_, _, err := heard(framed.GradientNorms(ctx, []float64{2, 1}, u, 0.1, Slope{Clip: 4, Constant: 1}))
			return err
		}},
		{"moments of sums", func() error { _, err := momentsOf(ctx, table, nil); return err }},
		{"moments", func() error { _, _, err := heard(framed.Moments(ctx, 3)); return err }},
		{"frame", func() error { _, err := NewFramed(ctx, s, whole, f); return err }},
		{"one coordinate", func() error { _, err := NewFramed(ctx, s, whole, one); return err }},
		{"gradient, one coordinate", func() error {
			_, _, err := heard(along.Gradient(ctx, u[:1], 0.1, Slope{Clip: 4, Constant: 1, Apart: 1}))
			return err
		}},
		{"frame, no matrix", func() error { _, err := NewFramed(ctx, s, whole, Frame{Centre: f.Centre}); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.pass(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
