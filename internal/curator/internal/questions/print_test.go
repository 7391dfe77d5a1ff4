package questions

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/losses"
)

// secret is a number that no printout may hold, nor digits of, in any base.
const secret = 123456789

// Whatever holds raw rows or labels prints its shape only, by every verb, as a pointer,
// as a copy, and within other values.
func TestPrintsItsShapeOnly(t *testing.T) {
	x := mat.NewDense(5, 3, nil)
	y := make([]float64, 5)
	for i := range y {
		y[i] = secret
		for j := range 3 {
			x.Set(i, j, secret)
		}
	}
	sparse, err := rows.NewSparse(2, 3, []int{0, 1, 2}, []int{1, 2}, []float64{secret, secret})
	if err != nil {
		t.Fatal(err)
	}
	dense := sumsOf(t, x, y, secret, encoding.NewIdentity(3, 1e12, true), losses.Squared{})
	thin := sumsOf(t, sparse, y[:2], secret, encoding.NewIdentity(3, 1e12, false), losses.Squared{})
	projected, err := rows.Project(ctx, dense.t, sketch.NewGaussian(2, 3, 1), 1e12)
	if err != nil {
		t.Fatal(err)
	}
	q, asked := quadratic(t, dense), Question{s: dense, raw: []float64{secret}}
	for _, c := range []struct {
		v    any
		want string
	}{
		{dense.t, "table of 5 rows and 3 columns"}, {*dense.t, "table of 5 rows and 3 columns"},
		{thin.t, "table of 2 rows and 3 columns"}, {dense.t.Pick([]int{1, 1}), "table of 2 rows and 3 columns"},
		{projected, "table of 5 rows and 2 columns"}, {dense.t.Rebound(1, 1), "table of 5 rows and 3 columns"},
		{dense, "sums over a table of 5 rows and 3 columns"}, {*dense, "sums over a table of 5 rows and 3 columns"},
		{dense.Every(2), "sums over a table of 3 rows and 3 columns"},
		{sparse, "2×3 sparse matrix"}, {*sparse, "2×3 sparse matrix"}, {sparse.T(), "2×3 sparse matrix"},
		{q, "quadratic sums of 4 weights"}, {*q, "quadratic sums of 4 weights"},
		{asked, "Question to a table of 5 rows and 3 columns"}, {&asked, "Question to a table of 5 rows and 3 columns"},
		{[]*Sums{dense}, "sums over"}, {map[string]rows.Sparse{"a": *sparse}, "2×3 sparse matrix"},
		{struct{ X mat.Matrix }{sparse}, "2×3 sparse matrix"}, {&struct{ T rows.Table }{*dense.t}, "table of 5 rows"},
		{rows.Part{Table: dense.t, Labels: y}, "table of 5 rows"}, {&rows.Part{Table: dense.t, Offsets: y}, "table of 5 rows"},
		{&frameNorms{length: y}, "norms of 5 rows"}, {new(rows.Table), "table of 0 rows"}, {new(Sums), "sums over no rows"}, {new(rows.Sparse), "0×0"}, {new(Quadratic), "0 weights"},
		{(*rows.Table)(nil), "nil"}, {(*Sums)(nil), "nil"}, {(*rows.Sparse)(nil), "nil"},
	} {
		texts := map[string]string{"Println": fmt.Sprintln(c.v), "Errorf": fmt.Errorf("x: %w %v", errors.New("y"), c.v).Error(), "slog": logged(c.v)}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "%b", "%o", "%e", "%g", "%6.2f"} {
			texts[verb] = fmt.Sprintf(verb, c.v)
		}
		for verb, text := range texts {
			if strings.Contains(text, "234") || strings.Contains(text, "1.23") || strings.Contains(strings.ToLower(text), "75bcd15") {
				t.Errorf("%T, %s: holds data: %.200s", c.v, verb, text)
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("%T, %s: %.200q doesn't say %q", c.v, verb, text, c.want)
			}
		}
	}
}

// logged is what slog writes of a value. The record has no time: a clock's digits may be
// any, those of the secret, too.
func logged(v any) string {
	var text strings.Builder
	handler := slog.NewTextHandler(&text, nil)
	record := slog.Record{Message: "x"}
	record.Add("v", v)
	handler.Handle(ctx, record)
	return text.String()
}
