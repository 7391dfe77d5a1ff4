package accounting

// Objective describes releases of noisily perturbed minimisers. What its numbers
// mean, and the proof of the profile, is in the comment of
// mechanisms.ObjectivePerturbation.
type Objective struct {
	Ratio    float64 // a: the bound on a row's gradient norm over the standard deviation of b
	LogDet   float64 // d = log(1 + HX²/λ)
	OutputMu float64 // μ of the output noise of one release
	Dim      int
	Releases int
}

// Profile returns the releases' profile. Two vectors are on grids: the output, and b,
// of which the value that leads to a given θ̂ moves by at most 2a·σ.
func (o Objective) Profile() *Sequence {
	g, b := noise(o.OutputMu, o.Releases, o.Dim), noise(2*o.Ratio, o.Releases, o.Dim)
	g.coordinates, g.moved = g.coordinates+b.coordinates, g.moved+b.moved
	return newSequence(g, part{newObjective(o.Ratio, o.LogDet), int64(o.Releases)})
}
