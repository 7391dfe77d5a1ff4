package questions

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/losses"
)

// A loss that falls below zero is scored as 0 under a finite cap, which the
// sensitivity of the sum assumes, and as it is in the plain objective.
func TestLossesClipsBelowZero(t *testing.T) {
	table, err := rows.NewTable(mat.NewDense(2, 1, []float64{1, -1}), encoding.NewIdentity(1, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	loss := losses.Extended{Inner: losses.Logistic{}, Limit: 1}
	sums, err := NewSums(table, []float64{1, 1}, 0, 0, loss)
	if err != nil {
		t.Fatal(err)
	}
	got, w := make([]float64, 3), [][]float64{{20}, {20}, {20}}
	if err := sums.Losses(context.Background(), got, w, []float64{2, 100, math.Inf(1)}); err != nil {
		t.Fatal(err)
	}
	up, down := loss.Value(-20, 1), loss.Value(20, 1)
	if want := [3]float64{2, up, up + down}; down >= 0 || [3]float64(got) != want {
		t.Errorf("%g, want %g", got, want)
	}
}

// The norm that a clip goes by is no less than the exact one where a row's raw terms
// cancel, so that no gradient is longer than the clip, however small that is.
func TestClipHoldsWhereRowsCancel(t *testing.T) {
	const d, clip = 2, 1e-14
	r := rand.New(rand.NewPCG(41, 42))
	for _, lo := range []float64{0, 3, 1000, 1e5} {
		ranges := map[string][2]float64{"a": {lo, lo + 0.7}, "b": {-lo - 0.7, -lo}}
		enc, err := encoding.NewSchema([]string{"a", "b"}, ranges, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			row, exact := make([]float64, d), make([]precise, d)
			for j := range row {
				row[j] = -enc.Shift[j] / enc.Scale[j]
				for range r.IntN(100) {
					row[j] = math.Nextafter(row[j], math.Inf(1-2*r.IntN(2)))
				}
				exact[j] = number(enc.Scale[j]).times(number(row[j])).plus(number(enc.Shift[j]))
			}
			table, err := rows.NewTable(mat.NewDense(1, d, row), enc)
			if err != nil {
				t.Fatal(err)
			}
			length, _ := preciseNorm(exact).Float64()
			for _, table := range []*rows.Table{table, table.Rebound(0.1, 0)} {
				c := []float64{1}
				kernel.Clip(c, table.Norm, clip)
				if got := c[0] * length; got > clip*(1+1e-14) {
					t.Fatalf("range from %g: a gradient of norm %g, clip %g", lo, got, clip)
				}
			}
		}
	}
}

// Labels become what the loss's constants are for: ±1, within [−Y, Y], or within
// [0, Y]; nothing else is let in.
func TestLabelsMeetTheDomain(t *testing.T) {
	const bound = 1.5
	for _, c := range []struct {
		kind    losses.Labels
		y, want float64
		ok      bool
	}{
		{losses.Binary, 1, 1, true}, {losses.Binary, 0, -1, true}, {losses.Binary, -1, -1, true},
		{losses.Binary, 2, 0, false}, {losses.Binary, 0.5, 0, false}, {losses.Binary, -0.5, 0, false}, {losses.Binary, -2, 0, false},
		{losses.Real, 7, bound, true}, {losses.Real, -7, -bound, true}, {losses.Real, -1.2, -1.2, true},
		{losses.Count, 7, bound, true}, {losses.Count, 0, 0, true}, {losses.Count, 1.2, 1.2, true}, {losses.Count, -1e-9, 0, false}, {losses.Count, -1, 0, false},
	} {
		if got, ok := rows.MapLabel(c.kind, c.y, 0, bound); ok != c.ok || ok && got != c.want {
			t.Errorf("%s label %g: %g (%v), want %g (%v)", c.kind, c.y, got, ok, c.want, c.ok)
		}
	}
}

// A row that is a little longer than the bound is brought to it as well, in a table and
// as a query, and one on it stays.
func TestRowsBarelyBeyondTheBound(t *testing.T) {
	const bound = 1.3
	enc := encoding.NewIdentity(3, bound, false)
	room := bound * (1 + enc.Slack())
	for _, excess := range []float64{-1e-9, 0, 1e-12, 1e-9, 1e-5, 1e-2} {
		row := []float64{0.48 * bound * (1 + excess), 0.6 * bound * (1 + excess), 0.64 * bound * (1 + excess)}
		u, err := enc.Encode(row)
		if err != nil {
			t.Fatal(err)
		}
		table, err := rows.NewTable(mat.NewDense(1, 3, row), enc)
		if err != nil {
			t.Fatal(err)
		}
		encoded := make([]float64, 3)
		table.Encode(encoded, table.Src.Tile(0, 1, table.Acquire().Buf), 0, 0)
		want := bound * min(1, 1+excess)
		for name, v := range map[string][]float64{"query": u, "row": encoded} {
			if norm := enc.Norm(v); norm > room || norm < want*(1-1e-12) {
				t.Errorf("%s, %g beyond the bound: norm %.17g, want %.17g", name, excess, norm, want)
			}
		}
		if table.Length[0] > room || table.Norm[0] > room {
			t.Errorf("%g beyond the bound: the row counts as %.17g and %.17g long", excess, table.Length[0], table.Norm[0])
		}
	}
}
