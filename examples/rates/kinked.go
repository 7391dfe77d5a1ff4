package main

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// votes is a data set for the absolute loss |⟨w, x⟩ − y| at X = G = 1: rank blocks of
// rows e_j whose labels are B/√rank for most and −B/√rank for the others. It is that of the
// paper's Theorem 6 with the votes' margins in place of the Beta law's. Its minimiser is
// B/√rank in each coordinate, however small the margin, which is the slope of the loss
// on the way there: a slow start for gradient descent, and for a regulariser a reason to
// stay.
type votes struct {
	n, d   int
	rank   int
	rows   int // of a block
	most   int // of them with a positive label
	radius float64
}

// divided is the instance whose votes have the margin (2·most − rows)/rows near the given.
func divided(n, d, rank int, radius, margin float64) (votes, bool) {
	v := votes{n: n, d: d, rank: rank, rows: n / rank, radius: radius}
	v.most = int(math.Round(float64(v.rows) * (1 + margin) / 2))
	return v, rank <= d && v.most <= v.rows && 2*v.most > v.rows
}

func (v votes) end() float64 { return v.radius / math.Sqrt(float64(v.rank)) }

func (v votes) data() (*dpglm.Dataset, error) {
	y := make([]float64, v.n)
	for i := range v.rank * v.rows {
		y[i] = v.end()
		if i%v.rows >= v.most {
			y[i] = -v.end()
		}
	}
	return basisRows(v.n, v.d, v.rank, v.rows, y)
}

func (v votes) problem() dpglm.Problem {
	return dpglm.Problem{Loss: losses.Absolute{}, Radius: v.radius}
}

// excess is L(w) − L(w*).
func (v votes) excess(w []float64) float64 {
	c, most, rest := v.end(), float64(v.most), float64(v.rows-v.most)
	sum := 0.0
	for _, z := range w[:v.rank] {
		sum += most*math.Abs(z-c) + rest*(math.Abs(z+c)-2*c)
	}
	return sum / float64(v.n)
}

func (v votes) String() string {
	return fmt.Sprintf("%d blocks of %d rows, %d of them positive", v.rank, v.rows, v.most)
}
