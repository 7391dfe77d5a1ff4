package main

import (
	"math"

	"github.com/dpglm/dpglm"
)

// The panels follow the columns of the paper's Table 1. X = Y = H = 1 and δ = 1e-6
// everywhere, Y being the label bound, so that the paper's ‖Y‖ is √½.
//
// A bound is a sum of a private and a non-private term, and measured slopes are those of
// the first only where it is the larger. For Noisy GD that is where the noise of a step
// is longer than its gradient, σ√d > √½: ranges are cut by that.
func panels() []panel {
	return []panel{
		smoothLow(), smoothHigh(), dimensions(),
		norms(), lipschitz(), ranks(),
		hardInstance(), constants(), noPrivacy(),
	}
}

// smoothLow: d = 16 is below the corner from nε = 500 on, k = (n/2s)^(2/3) being the library's
// dimension. At ε = ¼ noise is longer than gradients up to n = 410,000.
func smoothLow() panel {
	rows := curve{name: "Noisy GD, n varies, ε = ¼", slopes: []slope{exponent(500, 32000, -1)}}
	for n := 2000; n <= 128_000; n *= 2 {
		rows.points = append(rows.points, gd(float64(n)/4, n, 16, 1, 0.25))
	}
	// With n fixed the noise is s(ε, δ), which is not quite 1/ε. Above ε = ⅓ it is shorter
	// than a gradient.
	budgets := curve{name: "Noisy GD, ε varies, n = 32,000", slopes: []slope{
		{1000, 8000, -1, math.Log(noise(1./4)/noise(1./32)) / math.Log(8)},
	}}
	for i := range 7 {
		epsilon := math.Exp2(float64(i)/2 - 5)
		budgets.points = append(budgets.points, gd(32000*epsilon, 32000, 16, 1, epsilon))
	}
	return panel{"smooth-low", "Smooth, d = 16 < (nε)^⅔ (Theorem 1)", "nε", []curve{rows, budgets}}
}

// smoothHigh: d = 1024 is above the corner up to nε = 280,000. At n = 1000 the projection has
// k = 25, hardly too few for its error to be near B²/k.
func smoothHigh() panel {
	project := curve{name: "JL + Noisy GD", slopes: []slope{exponent(1000, 16000, -2./3)}}
	perturb := curve{name: "output perturbation", slopes: []slope{exponent(1000, 16000, -2./3)}}
	for i := range 9 {
		n := int(math.Round(1000 * math.Exp2(float64(i)/2)))
		project.points = append(project.points, jl(float64(n), n, 1024, 1, 1))
		perturb.points = append(perturb.points, output(float64(n), n, 1024, 1, 1))
	}
	return panel{"smooth-high", "Smooth, d = 1024 > (nε)^⅔ (Theorems 2, 3)", "nε", []curve{project, perturb}}
}

// dimensions: at n = 8,000 and ε = ½ the library's k is 63, from where on JL projects and
// its risk depends on d no more. Output perturbation's doesn't where d holds the worst
// instance, of 1/λ blocks. Noise is longer than gradients from d = 9 on. Theorem 1 holds
// for any d: above the corner Noisy GD goes on to rise, and is not the best any more.
func dimensions() panel {
	const n, epsilon = 8000, 0.5
	corner := float64(dimension(n, 1, epsilon))
	plain := curve{name: "Noisy GD", slopes: []slope{exponent(11, 512, 0.5)}}
	project := curve{name: "JL + Noisy GD", slopes: []slope{exponent(11, corner, 0.5), exponent(2*corner, 512, 0)}}
	perturb := curve{name: "output perturbation", slopes: []slope{exponent(2*corner, 512, 0)}}
	for i := 7; i <= 18; i++ {
		d := int(math.Round(math.Exp2(float64(i) / 2)))
		x := float64(d)
		plain.points = append(plain.points, gd(x, n, d, 1, epsilon))
		project.points = append(project.points, jl(x, n, d, 1, epsilon))
		perturb.points = append(perturb.points, output(x, n, d, 1, epsilon))
	}
	return panel{"dimension", "Smooth, nε = 4000: the bend at d = k", "d", []curve{plain, project, perturb}}
}

// norms: D(B), the largest distance of two gradients, is 2 for small B and grows like B for
// large, so that the bounds B·D for Noisy GD and B^(4/3)·D^(2/3) for output perturbation
// corner at B ≈ 1. Fits keep off the corner as far as d allows: 32 and 144 are below the k of
// the smallest B, and labels of 1 carry no norm above √d.
func norms() panel {
	distance := func(lo, hi float64) float64 { return math.Log(sensitivity(hi)/sensitivity(lo)) / math.Log(hi/lo) }
	const least, small, large, most = 1. / 16, 1. / 4, 4, 16
	root := math.Exp2(3.5) // 11.3
	low := curve{name: "Noisy GD, d = 32, n = 128,000, ε = ⅛", slopes: []slope{
		{least, small, 1, 1 + distance(least, small)},
	}}
	lowFar := curve{name: "Noisy GD, d = 144, n = 32,000, ε = 1", slopes: []slope{
		{large, root, 2, 1 + distance(large, root)},
	}}
	high := curve{name: "output perturbation, n = 64,000, ε = 1", slopes: []slope{
		{least, small, 4. / 3, 4./3 + 2./3*distance(least, small)},
		{large, most, 2, 4./3 + 2./3*distance(large, most)},
	}}
	for i := range 17 {
		b := math.Exp2(float64(i)/2 - 4)
		if b <= 1.01*small {
			low.points = append(low.points, gd(b, 128_000, 32, b, 1./8))
		}
		if b >= 2 && b <= 1.01*root {
			lowFar.points = append(lowFar.points, gd(b, 32000, 144, b, 1))
		}
		high.points = append(high.points, output(b, 64000, 2048, b, 1))
	}
	return panel{"norm", "Smooth: B below and above Y", "B", []curve{low, lowFar, high}}
}

// lipschitz: rank 32 stays below nε/2s, which is 84 at the smallest n, and the largest n of
// gradient descent is set by its steps, which grow with n².
func lipschitz() panel {
	low := curve{name: "Noisy GD, rank 32", slopes: []slope{exponent(700, 5700, -1)}}
	high := curve{name: "output perturbation, rank 256", slopes: []slope{exponent(1000, 32000, -0.5)}}
	for i := range 7 {
		n := int(math.Round(500 * math.Exp2(float64(i+1)/2)))
		low.points = append(low.points, rankGD(float64(n), n, 32, 32, 1))
	}
	for n := 1000; n <= 32000; n *= 2 {
		high.points = append(high.points, rankOutput(float64(n), n, 256, 256, 1))
	}
	return panel{"lipschitz", "Lipschitz (Theorems 5, 10)", "nε", []curve{low, high}}
}

// ranks: the corner is at rank nε/2s = 237, above which no margin is as large as the
// hardest one should be. Gradient descent is fitted well below, output perturbation anywhere.
func ranks() panel {
	const n, d = 2000, 512
	low := curve{name: "Noisy GD", slopes: []slope{exponent(4, 64, 0.5)}}
	high := curve{name: "output perturbation", slopes: []slope{exponent(4, 512, 0)}}
	for rank := 4; rank <= d; rank *= 2 {
		low.points = append(low.points, rankGD(float64(rank), n, d, rank, 1))
		high.points = append(high.points, rankOutput(float64(rank), n, d, rank, 1))
	}
	return panel{"rank", "Lipschitz, nε = 2000, d = 512", "rank", []curve{low, high}}
}

// hardInstance: what no algorithm can beat, and what two do on the very data sets of the
// proof. In d = 16 its p is below 1 from nε = 64 on, in d = 1024 it is 1 throughout.
func hardInstance() panel {
	low := curve{name: "Noisy GD, d = 16", slopes: []slope{exponent(1000, 16000, -1)}}
	lowBound := curve{name: "lower bound, d = 16"}
	high := curve{name: "output perturbation, d = 1024", slopes: []slope{exponent(1000, 16000, -2./3)}}
	highBound := curve{name: "lower bound, d = 1024"}
	for n := 1000; n <= 16000; n *= 2 {
		x := float64(n)
		low.points = append(low.points, onTheorem4(n, 16, descent(n, 16)))
		high.points = append(high.points, onTheorem4(n, 1024, dpglm.OutputPerturbationConfig{}))
		lowBound.points = append(lowBound.points, known(x, lowerBound(n, 16)))
		highBound.points = append(highBound.points, known(x, lowerBound(n, 1024)))
	}
	return panel{"lower-bound", "On the hard instance of Theorem 4", "nε", []curve{low, lowBound, high, highBound}}
}

// constants: the same algorithm and schedule with the paper's σ, and with the library's.
// d = 16 is below the corner from ε = 0.03 on, and up to ε = 0.48 noise is longer than
// gradients for both. The library's s(ε, δ) is not quite 1/ε.
func constants() panel {
	const n, d = 16000, 16
	const least, most = 1. / 16, 0.36
	ours := curve{name: "Noisy GD, exact calibration, diameter", slopes: []slope{
		{least, most, -1, math.Log(noise(most)/noise(least)) / math.Log(most/least)},
	}}
	theirs := curve{name: "Algorithm 1 as printed", slopes: []slope{exponent(least, most, -1)}}
	for i := range 15 {
		epsilon := math.Exp2(float64(i)/2 - 4)
		ours.points = append(ours.points, gd(epsilon, n, d, 1, epsilon))
		theirs.points = append(theirs.points, printed(n, d, 1, epsilon))
	}
	return panel{"constants", "Our constants and the paper's, n = 16,000, d = 16", "ε", []curve{ours, theirs}}
}

// noPrivacy: Corollary 1, ε → ∞, on samples of the population. The library's is run at
// a budget of 10⁶-GDP, whose noise is far below the sampling error; d holds the worst instance
// of the largest n.
func noPrivacy() panel {
	const d = 1024
	ours := curve{name: "Noisy GD, μ = 10⁶", slopes: []slope{exponent(250, 8000, -0.5)}}
	for n := 250; n <= 8000; n *= 2 {
		h := slowest(n, d, 1, 0)
		ours.points = append(ours.points, point{float64(n), around(n, d, 1, h, func(b blocks, seed uint64) (float64, error) {
			return learn(descent(n, d), sampled{b, seed}, b.problem(), dpglm.GDP(1e6), seed)
		})})
	}
	return panel{"no-privacy", "ε → ∞: gradient descent (Corollary 1)", "n", []curve{ours}}
}
