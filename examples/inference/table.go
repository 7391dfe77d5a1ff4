package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// public is a table that is the population itself, in the units of its encoded features.
type public struct {
	title string
	all   *drawn
	label table.Kind
	held  dpglm.Schema // of the encoded features
	rows  int          // of the samples
}

// flat is a ridge that keeps coefficients finite of which rows tell nothing, and others as they
// are.
const flat = 1e-9

// readPublic reads a table.
func readPublic(path, schema string, warn io.Writer) (*public, error) {
	s, err := table.ReadSchemaFile(schema)
	if err != nil {
		return nil, err
	}
	if s.Person != "" {
		return nil, fmt.Errorf("-schema %s names persons, whose rows samples would tear apart", schema)
	}
	t, err := table.ReadCSVFile(path, s)
	if err != nil {
		return nil, err
	}
	for _, w := range t.Warnings() {
		fmt.Fprintln(warn, w)
	}
	all := &drawn{x: mat.DenseCopyOf(t.Matrix()), y: t.Labels(), ridge: flat}
	p := &public{title: filepath.Base(path), all: all, label: t.Label().Kind, held: encoded(t.Encoder()), rows: len(all.y)}
	p.title, _, _ = strings.Cut(p.title, ".")
	if t.Exposure() != nil {
		low, high := t.Encoder().Exposure()
		p.all.offsets = &dpglm.Offsets{Of: t.LogExposure(), Range: [2]float64{math.Log(low), math.Log(high)}}
	}
	return p, nil
}

// loss is the one for the table's kind of label.
func (p *public) loss() (losses.Loss, error) {
	switch p.label {
	case table.Binary:
		return losses.Logistic{}, nil
	case table.Numeric:
		return losses.Squared{}, nil
	case table.Count:
		return losses.Poisson{}, nil
	}
	return nil, fmt.Errorf("a label of kind %q has no loss here; it must be binary, numeric or a count", p.label)
}

func (p *public) name() string { return p.title }

// encoded are the public facts of encoded features.
func encoded(e *table.Encoder) dpglm.Schema {
	s := dpglm.Schema{Numeric: map[string][2]float64{}, OneHot: map[string][]string{}, LabelRange: e.Label().Range, Intercept: true}
	for _, f := range e.Features() {
		s.Columns = append(s.Columns, f.Name)
		if f.OneHot {
			s.OneHot[f.Group] = append(s.OneHot[f.Group], f.Name)
		} else {
			s.Numeric[f.Name] = [2]float64{-1, 1}
		}
	}
	return s
}

func (p *public) facts(losses.Loss) dpglm.Facts { return p.held }

func (p *public) largest() float64 { return p.held.LabelRange[1] }

func (p *public) sample(n int, _ losses.Loss, seed uint64) *drawn { return p.all.resampled(n, seed) }

// truth leaves out what samples can't tell: coefficients of columns in which fewer than 60 rows
// of them differ from most others, and of columns that add up to nothing.
func (p *public) truth(loss losses.Loss) ([]float64, error) {
	loss = capped(loss, p)
	f, err := fitExactly(p.all, loss)
	if err != nil {
		return nil, err
	}
	told := f.coefficients
	hidden, err := idle(sums(p.all, told, loss).hessian)
	if err != nil {
		return nil, err
	}
	for j := range told {
		if hidden[j] || j < len(told)-1 && float64(p.rows)*p.varied(j) < 60 {
			told[j] = math.NaN()
		}
	}
	return told, nil
}

// varied is the fraction of rows that differ from most others in a column.
func (p *public) varied(column int) float64 {
	counts, most := map[float64]int{}, 0
	for i := range p.all.y {
		v := p.all.x.At(i, column)
		counts[v]++
		most = max(most, counts[v])
	}
	return 1 - float64(most)/float64(len(p.all.y))
}

// idle tells which coefficients take part in directions in which a Hessian is flat, its columns
// being in units in which it is 1 along each.
func idle(hessian *mat.SymDense) ([]bool, error) {
	dim := hessian.SymmetricDim()
	hidden, scaled := make([]bool, dim), mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := i; j < dim; j++ {
			scaled.SetSym(i, j, hessian.At(i, j)/math.Sqrt(math.Max(hessian.At(i, i)*hessian.At(j, j), 1e-300)))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(scaled, true) {
		return nil, errNoFit
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	for k, value := range e.Values(nil) {
		for j := range dim {
			hidden[j] = hidden[j] || value < 1e-6 && math.Abs(vectors.At(j, k)) > 1e-3
		}
	}
	return hidden, nil
}
