package main

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/examples/internal/lines"
	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// result is a line of a store: a repetition of a set's models under a promise.
type result struct {
	Paper      string  `json:"paper"`
	Set        string  `json:"set"`
	Rows       int     `json:"rows"`
	Columns    int     `json:"columns"`
	Repetition int     `json:"repetition"`
	Epsilon    float64 `json:"epsilon"`
	Relation   string  `json:"relation"`
	// Losses are of the repetition's parts, and Constants and Estimates, if there are any, too.
	Losses    []float64 `json:"losses,omitempty"`
	Constants []float64 `json:"constants,omitempty"`
	Estimates []float64 `json:"estimates,omitempty"`
	// Refused says why there is no loss.
	Refused string `json:"refused,omitempty"`
	Seed    uint64 `json:"seed"`
}

// cell is a set of a paper under an ε.
type cell struct {
	paper, set string
	epsilon    float64
}

func (r result) cell() cell { return cell{r.Paper, r.Set, r.Epsilon} }

// store are the results of a file.
type store struct {
	all []result
	to  *lines.File[result]
}

// open reads a store to add to it.
func open(path string, seed uint64) (*store, error) {
	to, all, err := lines.Open[result](path)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Seed != seed {
			return nil, errors.Join(fmt.Errorf("-store %s: the seed %d of its results is not -seed %d: name another file", path, r.Seed, seed), to.Close())
		}
	}
	return &store{all, to}, nil
}

func (s *store) add(r result) error {
	s.all = append(s.all, r)
	return s.to.Add(r)
}

func (s *store) has(c cell, relation string, repetition int) bool {
	return slices.ContainsFunc(s.all, func(r result) bool {
		return r.cell() == c && r.Relation == relation && r.Repetition == repetition
	})
}

// figure is the mean of repetitions' means, with their standard error; refusals don't count.
func (s *store) figure(c cell, relation string) (figure, bool) {
	return s.summary(c, relation, func(r result) []float64 { return r.Losses })
}

// aboveConstant is the figure of losses less those of the constant on the same rows.
func (s *store) aboveConstant(c cell, relation string) (figure, bool) {
	return s.summary(c, relation, func(r result) []float64 {
		if r.Constants == nil {
			return nil
		}
		return floats.SubTo(make([]float64, len(r.Losses)), r.Losses, r.Constants)
	})
}

func (s *store) summary(c cell, relation string, of func(result) []float64) (figure, bool) {
	var v []float64
	for _, r := range s.all {
		if r.cell() == c && r.Relation == relation && r.Refused == "" {
			if parts := of(r); len(parts) > 0 {
				mean, _ := metrics.Summary(parts)
				v = append(v, mean)
			}
		}
	}
	if len(v) == 0 {
		return figure{}, false
	}
	mean, e := metrics.Summary(v)
	return figure{mean, e, len(v)}, true
}
