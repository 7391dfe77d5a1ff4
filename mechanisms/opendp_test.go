package mechanisms

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

var longAudit = flag.Bool("audit", false, "compare noise with other programs' by 10⁸ draws in place of 10⁶")

// histogram is a record of discretegaussian.json, which discretegaussian.py describes.
type histogram struct {
	Scale, Draws, Low, Width int64
	Counts, Residues         []float64
}

// like is of draws of ours, in the same cells.
func (h *histogram) like(g discreteGaussian, draws int64) *histogram {
	own := &histogram{h.Scale, draws, h.Low, h.Width, make([]float64, len(h.Counts)), make([]float64, len(h.Residues))}
	src, last := unlimited(NewSeededSource(uint64(h.Scale))), int64(len(h.Counts)-1)
	n := int64(len(h.Residues))
	for range draws {
		y := g.draw(src)
		own.Counts[min(max((y-h.Low)/h.Width, 0), last)]++
		own.Residues[(y%n+n)%n]++
	}
	return own
}

// unlikely is the p-value of two samples' counts, if both are of one law, by the chi-square test of homogeneity.
// Cells are joined until each expects five of both samples.
func unlikely(a, b []float64) float64 {
	const fewest = 5
	shareA, shareB := floats.Sum(a)/(floats.Sum(a)+floats.Sum(b)), floats.Sum(b)/(floats.Sum(a)+floats.Sum(b))
	var x, cells, inA, inB float64
	for i := range a {
		inA, inB = inA+a[i], inB+b[i]
		wantA, wantB := shareA*(inA+inB), shareB*(inA+inB)
		left := floats.Sum(a[i+1:]) + floats.Sum(b[i+1:])
		if least := fewest / min(shareA, shareB); inA+inB < least || i < len(a)-1 && left < least {
			continue // the last cell takes what would be too few for one more
		}
		x += (inA-wantA)*(inA-wantA)/wantA + (inB-wantB)*(inB-wantB)/wantB
		cells, inA, inB = cells+1, 0, 0
	}
	return distuv.ChiSquared{K: cells - 1}.Survival(x)
}

// spread is the mean of the squares of the cells' middles, in squares of the scale, and its variance.
func (h *histogram) spread() (mean, variance float64) {
	var fourth float64
	for i, count := range h.Counts {
		middle := float64(h.Low+int64(i)*h.Width) + float64(h.Width-1)/2
		square := middle * middle / float64(h.Scale*h.Scale)
		mean += count * square / float64(h.Draws)
		fourth += count * square * square / float64(h.Draws)
	}
	return mean, (fourth - mean*mean) / float64(h.Draws)
}

// tails are the draws of 4 scales or more, and the others.
func (h *histogram) tails() []float64 {
	var beyond float64
	for i, count := range h.Counts {
		if low := h.Low + int64(i)*h.Width; low >= 4*h.Scale || low+h.Width-1 <= -4*h.Scale {
			beyond += count
		}
	}
	return []float64{beyond, float64(h.Draws) - beyond}
}

// Noise has OpenDP's law: two samples' cells, residues modulo 8, which tell low bits, mean squares and tails, of
// three scales. A right sampler fails one of the twelve comparisons with a probability of 12·alpha; the seed is fixed.
// By 10⁶ draws fail a scale that is off by half a percent, a tail that ends at 4 scales, and a hundredth of the odd draws made
// even; by 10⁸ a scale that is off by .1 %.
func TestDiscreteGaussianIsOpenDPs(t *testing.T) {
	data, err := os.ReadFile("../testdata/accounting/discretegaussian.json")
	if err != nil {
		t.Fatal(err)
	}
	var records []*histogram
	if err := json.Unmarshal(data, &records); err != nil {
		t.Fatal(err)
	}
	if len(records) != 3 {
		t.Fatalf("%d records", len(records))
	}
	draws := int64(1e6)
	if *longAudit {
		draws = 1e8
	}
	for _, h := range records {
		if float64(h.Draws) != floats.Sum(h.Counts) || float64(h.Draws) != floats.Sum(h.Residues) || h.Draws < 1e7 {
			t.Fatalf("scale %d: %d draws, %g in cells, %g by residues", h.Scale, h.Draws, floats.Sum(h.Counts), floats.Sum(h.Residues))
		}
		own := h.like(newDiscreteGaussian(uint64(h.Scale)), draws)
		theirs, theirVariance := h.spread()
		ours, ourVariance := own.spread()
		z := (ours - theirs) / math.Sqrt(theirVariance+ourVariance)
		p := map[string]float64{"cells": unlikely(own.Counts, h.Counts), "residues": unlikely(own.Residues, h.Residues), "tails": unlikely(own.tails(), h.tails()),
			"mean squares": 2 * distuv.UnitNormal.Survival(math.Abs(z))}
		t.Logf("scale %d: %v", h.Scale, p)
		for name, v := range p {
			if !(v >= alpha) {
				t.Errorf("scale %d: the %s of %d draws differ from those of OpenDP's %d, p = %.2g", h.Scale, name, draws, h.Draws, v)
			}
		}
	}
}
