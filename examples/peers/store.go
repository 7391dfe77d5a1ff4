package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/examples/internal/lines"
	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// result is a line of a store: a model's figures on a split, or why there are none.
type result struct {
	Set      string             `json:"set"`
	Split    int                `json:"split"`
	Who      string             `json:"who"`
	Epsilon  float64            `json:"epsilon"`
	Delta    float64            `json:"delta"`
	Relation string             `json:"relation,omitempty"`
	Measure  string             `json:"measure,omitempty"`
	Loss     float64            `json:"loss"` // of Measure: log_loss, 1-r2 or deviance
	Figures  map[string]float64 `json:"figures,omitempty"`
	Config   string             `json:"config,omitempty"`
	Configs  int                `json:"configs,omitempty"` // that the best was chosen of
	CPU      float64            `json:"cpu"`               // seconds a fit, the median of Configs
	Peak     float64            `json:"peak"`              // MB of the process, with the data
	Refused  string             `json:"refused,omitempty"`
	settings
}

// score takes over a model's figures.
func (r *result) score(m []metrics.Metric) {
	r.Measure, r.Loss, r.Figures = m[0].Name, m[0].Value, map[string]float64{}
	if r.Measure == "r2" {
		r.Measure, r.Loss = "1-r2", 1-r.Loss
	}
	if math.IsNaN(r.Loss) || math.IsInf(r.Loss, 0) {
		r.Refused, r.Loss = fmt.Sprintf("the loss is %g", r.Loss), 0
		return
	}
	for _, v := range m {
		if v.Defined() && !math.IsInf(v.Value, 0) {
			r.Figures[v.Name] = v.Value
		}
	}
}

// store are the results of a file.
type store struct {
	settings
	all []result
	to  *lines.File[result]
}

// open reads a store to add to it.
func open(path string, s settings) (*store, error) {
	to, all, err := lines.Open[result](path)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.settings != s {
			return nil, errors.Join(fmt.Errorf("-store %s: the settings %+v of its results differ from %+v: name another file", path, r.settings, s), to.Close())
		}
	}
	return &store{s, all, to}, nil
}

func (s *store) add(r result) error {
	r.settings = s.settings
	s.all = append(s.all, r)
	return s.to.Add(r)
}

func (s *store) has(set string, split int, who string) bool {
	return slices.ContainsFunc(s.all, func(r result) bool { return r.Set == set && r.Split == split && r.Who == who })
}

// median is the lower one of two.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return v[(len(v)-1)/2]
}
