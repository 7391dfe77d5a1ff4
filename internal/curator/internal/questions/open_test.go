package questions

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// broken is a matrix with one method that panics.
type broken struct {
	mat.Matrix
	method string
}

func (x broken) Dims() (int, int) {
	if x.method == "Dims" {
		panic("a secret")
	}
	return 3000, 2
}

func (x broken) At(i, _ int) float64 {
	if x.method == "At" && i == 2000 {
		panic("a secret")
	}
	return 1
}

// brokenDoer panics in DoRowNonZero, or names another row.
type brokenDoer struct{ broken }

func (x brokenDoer) DoRowNonZero(i int, f func(i, j int, v float64)) {
	switch x.method {
	case "DoRowNonZero":
		panic("a secret")
	case "astray":
		f(i+1, 0, 1)
	}
}

// Whatever is wrong with a matrix is an error that says what, without what a panic said.
func TestBrokenMatrix(t *testing.T) {
	short := new(mat.Dense)
	short.SetRawMatrix(blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: make([]float64, 7)})
	narrow := new(mat.Dense)
	narrow.SetRawMatrix(blas64.General{Rows: 4, Cols: 2, Stride: 1, Data: make([]float64, 8)})
	for name, c := range map[string]struct {
		x    mat.Matrix
		want error
		says string
	}{
		"nil":                 {nil, check.ErrConfig, "must not be nil"},
		"nil *Dense":          {(*mat.Dense)(nil), check.ErrConfig, "(*mat.Dense)(nil)"},
		"nil *Sparse":         {(*rows.Sparse)(nil), check.ErrConfig, "(*rows.Sparse)(nil)"},
		"nil *BandDense":      {(*mat.BandDense)(nil), check.ErrConfig, "(*mat.BandDense)(nil)"},
		"nil *VecDense":       {(*mat.VecDense)(nil), check.ErrConfig, "(*mat.VecDense)(nil)"},
		"embeds nil":          {overriding{}, check.ErrConfig, "Dims of the matrix"},
		"transpose of none":   {mat.Transpose{}, check.ErrConfig, "Dims of the matrix"},
		"empty *Dense":        {new(mat.Dense), check.ErrShape, "0×0"},
		"empty *Sparse":       {new(rows.Sparse), check.ErrShape, "0×0"},
		"short data":          {short, check.ErrShape, "4×2"},
		"short stride":        {narrow, check.ErrShape, "4×2"},
		"Dims panics":         {broken{method: "Dims"}, check.ErrConfig, "Dims of the matrix"},
		"At panics":           {broken{method: "At"}, check.ErrConfig, "At of the matrix"},
		"DoRowNonZero panics": {brokenDoer{broken{method: "DoRowNonZero"}}, check.ErrConfig, "DoRowNonZero of the matrix"},
		"another row":         {brokenDoer{broken{method: "astray"}}, check.ErrShape, "row 0"},
	} {
		table, err := rows.NewTable(c.x, encoding.NewIdentity(2, 1, false))
		if table != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats what the panic said: %v", name, err)
		}
	}
}

// overriding embeds gonum's dense matrix, and has another At.
type overriding struct{ *mat.Dense }

func (x overriding) At(i, j int) float64 { return -x.Dense.At(i, j) }

// overridingBand embeds a band matrix, and has another At.
type overridingBand struct{ *mat.BandDense }

func (x overridingBand) At(i, j int) float64 { return 1 + x.BandDense.At(i, j) }

// overridingTwice embeds a type that embeds one.
type overridingTwice struct{ held }
type held struct{ mat.TriDense }

func (x *overridingTwice) At(i, j int) float64 { return 3 - x.held.At(i, j) }

// overridingSparse embeds our own.
type overridingSparse struct{ *rows.Sparse }

func (x overridingSparse) At(i, j int) float64 { return 2 + x.Sparse.At(i, j) }

// A matrix is what its At says, whatever it embeds.
func TestMatrixIsWhatItsAtSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 40
	x := randomMatrix(r, n, n, 1)
	band := mat.NewBandDense(n, n, 1, 2, nil)
	tri := mat.NewTriDense(n, mat.Upper, nil)
	for i := range n {
		for j := i; j < min(i+3, n); j++ {
			band.SetBand(i, j, r.NormFloat64())
			tri.SetTri(i, j, r.NormFloat64())
		}
	}
	for _, m := range []mat.Matrix{x, x.T(), overriding{x}, &overriding{x}, band, tri, overridingBand{band},
		&overridingTwice{held{*tri}}, overridingSparse{sparsify(t, r, mat.DenseCopyOf(x), 0.2)}, mat.NewDiagDense(n, nil),
		randomMatrix(r, n, 1, 1).ColView(0), mat.NewSymDense(n, nil)} {
		name := fmt.Sprintf("%T", m)
		_, d := m.Dims()
		table, err := rows.NewTable(m, encoding.NewIdentity(d, 1e3, false))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, row := range features(t, table) {
			for j, got := range row {
				if got != m.At(i, j) {
					t.Fatalf("%s: element (%d, %d) is taken for %g, At says %g", name, i, j, got, m.At(i, j))
				}
			}
		}
	}
}

// features are the bounded rows of a table, with the constant, one by one.
func features(t *testing.T, table *rows.Table) [][]float64 {
	t.Helper()
	u, buf := make([][]float64, table.Len()), table.Acquire().Buf
	for b := range table.Layout.Blocks {
		table.Layout.EachTile(b, func(lo, hi int) {
			tile := table.Src.Tile(lo, hi, buf)
			for i := lo; i < hi; i++ {
				u[i] = make([]float64, table.Enc.Dim())
				table.Encode(u[i], tile, lo, i-lo)
			}
		})
	}
	return u
}

// A third-party matrix that declares its nonzeros is read as sparse.
type declaring struct{ x *mat.BandDense }

func (m declaring) Dims() (int, int)                                { return m.x.Dims() }
func (m declaring) At(i, j int) float64                             { return m.x.At(i, j) }
func (m declaring) T() mat.Matrix                                   { return mat.Transpose{Matrix: m} }
func (m declaring) DoRowNonZero(i int, f func(i, j int, v float64)) { m.x.DoRowNonZero(i, f) }

func TestDeclaredNonZeros(t *testing.T) {
	band := mat.NewBandDense(5, 5, 1, 1, nil)
	for _, m := range []mat.Matrix{declaring{band}, &declaring{band}, band, mat.NewTriDense(5, mat.Lower, nil)} {
		table, err := rows.NewTable(m, encoding.NewIdentity(5, 1, false))
		if err != nil || !table.IsSparse() {
			t.Errorf("%T is not read as sparse (%v)", m, err)
		}
	}
}

func TestLabelsForEachRow(t *testing.T) {
	table, err := rows.NewTable(mat.NewDense(3, 1, nil), encoding.NewIdentity(1, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 2, 4} {
		if _, err := NewSums(table, make([]float64, n), 0, 0, losses.Logistic{}); !errors.Is(err, check.ErrShape) {
			t.Errorf("%d labels for 3 rows give %v", n, err)
		}
	}
}
