package rows

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/sketch"
)

// Step makes rows of others: it has each count alike, if it has a number of rows, and else projects them, if it has a map,
// and scales those that are longer down to a bound. Each depends on its own row only.
type Step struct {
	ByRows   int // the most rows that a person may have: see [blocks.Persons.ByRows]; 0 for none
	Bound    float64
	Constant float64      // without a map; with one it is that of a new encoding
	Map      *sketch.Spec // nil for none
}

// EncodingAfter is the encoding of the rows that steps make.
func EncodingAfter(e encoding.Encoding, steps []Step) encoding.Encoding {
	for _, s := range steps {
		if s.ByRows > 0 {
			continue
		}
		if s.Map != nil {
			e = encoding.NewIdentity(s.Map.K, s.Bound, e.Intercept)
		} else {
			e = e.Rebound(s.Bound, s.Constant)
		}
	}
	return e
}

// CheckSteps refuses steps whose maps aren't of so many columns to no more: what a worker is sent may be damaged, and a map has room for
// all its numbers.
func CheckSteps(columns int, steps []Step) error {
	for _, s := range steps {
		if s.ByRows > 0 || s.Map == nil {
			continue
		}
		if err := s.fits(columns); err != nil {
			return err
		}
		columns = s.Map.K
	}
	return nil
}

// fits refuses a map that isn't of so many columns, before it is made.
func (s Step) fits(columns int) error {
	if s.Map.D != columns || s.Map.K < 1 || s.Map.K > columns {
		return check.Fail(check.ErrConfig, "map", fmt.Sprintf("%d of %d columns", s.Map.K, s.Map.D), fmt.Sprintf("must be of the rows' %d columns, to no more", columns))
	}
	return nil
}

// projections are those that this process made last.
var projections Cache[sketch.Map]

// of makes rows of those of a part in memory.
func (s Step) of(p *Table) (*Table, error) {
	if s.ByRows > 0 {
		if p.Persons == nil { // of rows that are but measured
			return p, nil
		}
		of := *p
		o := *p.Persons
		o.Most = s.ByRows
		of.Persons = o.ByRows()
		of.Layout.Persons = of.Persons
		return &of, nil
	}
	if s.Map == nil {
		return p.Rebound(s.Bound, s.Constant), nil
	}
	if err := s.fits(p.Enc.Columns); err != nil {
		return nil, err
	}
	phi, err := projections.Get(context.Background(), fmt.Sprint(*s.Map), 4, s.Map.Map)
	if err != nil {
		return nil, err
	}
	n, k, images := len(p.Length), s.Map.K, projected{p, phi}
	data := make([]float64, n*k)
	for lo := 0; lo < n; lo += p.Layout.TileRows {
		hi := min(lo+p.Layout.TileRows, n)
		images.Tile(lo, hi, data[lo*k:hi*k])
	}
	of, err := NewOfSource(DenseSource{M: blas64.General{Rows: n, Cols: k, Stride: k, Data: data}}, n, encoding.NewIdentity(k, s.Bound, p.Enc.Intercept))
	if err != nil {
		return nil, err
	}
	of.Persons, of.Layout = p.Persons, p.Layout
	return of, nil
}
