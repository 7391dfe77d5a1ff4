package main

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
)

// The panels follow the columns of the paper's Table 1. X = Y = H = 1 and δ = 1e-6
// everywhere, Y being the label bound, so that the paper's ‖Y‖ is √½.
func panels() []panel {
	return []panel{
		smoothLow(), smoothHigh(), dimensions(),
		norms(), lipschitz(), ranks(),
		hardInstance(), constants(), noPrivacy(),
	}
}

// around is the family of instances with curvatures around h, from ¼ to 8 times it.
// Where it is much flatter there is little to lose, where it is steeper the algorithm gets
// there and averages its noise out.
func around(n, d int, radius, h float64) []blocks {
	var all []blocks
	for _, factor := range []float64{0.25, 0.5, 1, 2, 4, 8} {
		if b, ok := worst(n, d, radius, h*factor); ok {
			all = append(all, b)
		}
	}
	return all
}

// gd is Algorithm 1 on the instances that are worst for it.
func gd(x float64, n, d int, radius, epsilon float64) point {
	p := point{x: x}
	for _, b := range around(n, d, radius, slowest(n, d, radius, stepNoise(n, radius, epsilon))) {
		p.family = append(p.family, func(seed uint64) (float64, error) {
			return learn(descent(n, d), b, b.problem(), dpglm.ApproxDP(epsilon, delta), seed)
		})
	}
	return p
}

// jl is Algorithm 2 around Algorithm 1, each run with a map of its own.
func jl(x float64, n, d int, radius, epsilon float64) point {
	p := point{x: x}
	k := min(d, dimension(n, radius, epsilon))
	for _, b := range around(n, d, radius, slowest(n, k, radius, stepNoise(n, radius, epsilon))) {
		p.family = append(p.family, func(seed uint64) (float64, error) {
			return learn(projected(seed), b, b.problem(), dpglm.ApproxDP(epsilon, delta), seed)
		})
	}
	return p
}

// output is Algorithm 3 with the λ of Theorem 3.
func output(x float64, n, d int, radius, epsilon float64) point {
	p := point{x: x}
	for _, b := range around(n, d, radius, regulariser(n, radius, epsilon)) {
		p.family = append(p.family, func(seed uint64) (float64, error) {
			return learn(dpglm.OutputPerturbationConfig{}, b, b.problem(), dpglm.ApproxDP(epsilon, delta), seed)
		})
	}
	return p
}

// smoothLow: d = 16 is below the bend from nε = 500 on, (n/(2s))^(2/3) being the library's
// k. At ε = ¼ the noise of a step is larger than its gradient up to n ≈ 140,000, from
// where on the non-private term takes over.
func smoothLow() panel {
	rows := curve{name: "Noisy GD, n varies, ε = ¼", slopes: []slope{{500, 32000, -1}}}
	for n := 2000; n <= 128_000; n *= 2 {
		rows.points = append(rows.points, gd(float64(n)/4, n, 16, 1, 0.25))
	}
	// With n fixed the noise is s(ε, δ), which is not quite 1/ε: its slope is -0.96 here.
	budgets := curve{name: "Noisy GD, ε varies, n = 32,000", slopes: []slope{{1000, 16000, -1}}}
	for i := range 5 {
		epsilon := math.Ldexp(1, i-5)
		budgets.points = append(budgets.points, gd(32000*epsilon, 32000, 16, 1, epsilon))
	}
	return panel{"smooth-low", "Smooth, d = 16 < (nε)^⅔ (Theorem 1)", "nε", []curve{rows, budgets}}
}

// smoothHigh: d = 1024 is above the bend up to nε = 64,000, where k would be 386. The first
// n is where the projection has k = 24, large enough for its error to be near B²/k.
func smoothHigh() panel {
	project := curve{name: "JL + Noisy GD", slopes: []slope{{1000, 16000, -2. / 3}}}
	perturb := curve{name: "output perturbation", slopes: []slope{{1000, 16000, -2. / 3}}}
	for n := 1000; n <= 16000; n *= 2 {
		project.points = append(project.points, jl(float64(n), n, 1024, 1, 1))
		perturb.points = append(perturb.points, output(float64(n), n, 1024, 1, 1))
	}
	return panel{"smooth-high", "Smooth, d = 1024 > (nε)^⅔ (Theorems 2, 3)", "nε", []curve{project, perturb}}
}

// dimensions: at n = 8,000 and ε = ½ the library's k is 62, from where on JL projects and
// its risk depends on d no more. Output perturbation's doesn't where d holds the worst
// instance, of 1/λ blocks. A step's noise is as large as its gradient from d = 8 on.
func dimensions() panel {
	const n, epsilon = 8000, 0.5
	bend := float64(dimension(n, 1, epsilon))
	plain := curve{name: "Noisy GD", slopes: []slope{{8, bend, 0.5}}}
	project := curve{name: "JL + Noisy GD", slopes: []slope{{2 * bend, 1024, 0}}}
	perturb := curve{name: "output perturbation", slopes: []slope{{2 * bend, 1024, 0}}}
	for d := 8; d <= 1024; d *= 2 {
		x := float64(d)
		plain.points = append(plain.points, gd(x, n, d, 1, epsilon))
		project.points = append(project.points, jl(x, n, d, 1, epsilon))
		perturb.points = append(perturb.points, output(x, n, d, 1, epsilon))
	}
	return panel{"dimension", "Smooth, nε = 4000: the bend at k = (nε/const)^⅔", "d", []curve{plain, project, perturb}}
}

// norms: G = 1 + B, so B·G, and for output perturbation B^(4/3)·G^(2/3), have the slopes 1
// and 4/3 far below B = 1, and 2 far above. Fits keep off the bend as far as d allows:
// 64 and 144 are below the bend of the smallest B, and labels of 1 carry no norm above √d.
func norms() panel {
	low := curve{name: "Noisy GD, d = 64, n = 128,000, ε = ¼", slopes: []slope{{1. / 16, 0.25, 1}}}
	lowFar := curve{name: "Noisy GD, d = 144, n = 32,000, ε = 1", slopes: []slope{{4, 8 * math.Sqrt2, 2}}}
	high := curve{name: "output perturbation, n = 64,000, ε = 1", slopes: []slope{{1. / 16, 0.25, 4. / 3}, {4, 16, 2}}}
	for i := range 17 {
		b := math.Exp2(float64(i)/2 - 4)
		if b <= 0.3 {
			low.points = append(low.points, gd(b, 128_000, 64, b, 0.25))
		}
		if b >= 2 && b <= 12 {
			lowFar.points = append(lowFar.points, gd(b, 32000, 144, b, 1))
		}
		high.points = append(high.points, output(b, 64000, 2048, b, 1))
	}
	return panel{"norm", "Smooth: B below and above Y", "B", []curve{low, lowFar, high}}
}

// margins are the families of divided votes, from ⅛ to 2 times the margin that takes just
// about all steps to get through.
func margins(n, d, rank int, radius, margin float64) []votes {
	var all []votes
	for _, factor := range []float64{0.125, 0.25, 0.5, 1, 2} {
		if v, ok := divided(n, d, rank, radius, margin*factor); ok {
			all = append(all, v)
		}
	}
	return all
}

// rankGD is Algorithm 1 for the absolute loss. Its steps take noise and gradients of
// the same size, and go B altogether: hardest is a margin at which the sum of gradients is
// as long as that of the noise, about 2s·rank/n.
func rankGD(x float64, n, d, rank int, epsilon float64) point {
	p := point{x: x}
	for _, v := range margins(n, d, rank, 1, 4*noise(epsilon)*float64(rank)/float64(n)) {
		p.family = append(p.family, func(seed uint64) (float64, error) {
			wide := dpglm.Problem{Loss: v.problem().Loss, Radius: 1000}
			return learn(rankDescent(n, rank, 1, epsilon), v, wide, dpglm.ApproxDP(epsilon, delta), seed)
		})
	}
	return p
}

// rankOutput is Algorithm 3 with the λ of Theorem 5: hardest is a margin at which the
// regulariser holds the weights half way, about λ√rank.
func rankOutput(x float64, n, d, rank int, epsilon float64) point {
	p := point{x: x}
	lambda := math.Sqrt(2 * math.Sqrt(2/math.Pi) * 2 * noise(epsilon) / float64(n))
	for _, v := range margins(n, d, rank, 1, 2*lambda*math.Sqrt(float64(rank))) {
		p.family = append(p.family, func(seed uint64) (float64, error) {
			c := dpglm.OutputPerturbationConfig{Lambda: lambda}
			return learn(c, v, v.problem(), dpglm.ApproxDP(epsilon, delta), seed)
		})
	}
	return p
}

// lipschitz: rank 32 stays below nε/2s, which is 84 at the smallest n, and the largest n of
// gradient descent is set by its steps, which grow with n².
func lipschitz() panel {
	low := curve{name: "Noisy GD, rank 32", slopes: []slope{{700, 5700, -1}}}
	high := curve{name: "output perturbation, rank 256", slopes: []slope{{1000, 32000, -0.5}}}
	for i := range 7 {
		n := int(math.Round(500 * math.Exp2(float64(i+1)/2)))
		low.points = append(low.points, rankGD(float64(n), n, 32, 32, 1))
	}
	for n := 1000; n <= 32000; n *= 2 {
		high.points = append(high.points, rankOutput(float64(n), n, 256, 256, 1))
	}
	return panel{"lipschitz", "Lipschitz (Theorems 5, 10)", "nε", []curve{low, high}}
}

// ranks: the bend is at rank nε/2s = 237, above which no margin is as large as the
// hardest one should be. Gradient descent is fitted well below, output perturbation anywhere.
func ranks() panel {
	const n, d = 2000, 512
	low := curve{name: "Noisy GD", slopes: []slope{{4, 64, 0.5}}}
	high := curve{name: "output perturbation", slopes: []slope{{4, 512, 0}}}
	for rank := 4; rank <= d; rank *= 2 {
		low.points = append(low.points, rankGD(float64(rank), n, d, rank, 1))
		high.points = append(high.points, rankOutput(float64(rank), n, d, rank, 1))
	}
	return panel{"rank", "Lipschitz, nε = 2000, d = 512", "rank", []curve{low, high}}
}

// hardInstance: what no algorithm can beat, and what two do on the very data sets of the
// proof. In d = 16 its p is below 1 from nε = 64 on, in d = 1024 it is 1 throughout.
func hardInstance() panel {
	low := curve{name: "Noisy GD, d = 16", slopes: []slope{{1000, 16000, -1}}}
	lowBound := curve{name: "lower bound, d = 16"}
	high := curve{name: "output perturbation, d = 1024", slopes: []slope{{1000, 16000, -2. / 3}}}
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

// onTheorem4 runs a learner on Theorem 4's data set at B = ε = 1.
func onTheorem4(n, d int, l dpglm.Learner) point {
	return point{float64(n), []trial{func(seed uint64) (float64, error) {
		b, ok := theorem4(n, d, 1, 1)
		if !ok {
			return 0, fmt.Errorf("no instance of Theorem 4 has %d rows in %d dimensions", n, d)
		}
		return learn(l, b, b.problem(), dpglm.ApproxDP(1, delta), seed)
	}}}
}

// lowerBound is that of Theorem 4's proof for (z − y)², halved, at B = ε = 1.
func lowerBound(n, d int) float64 {
	p := min(1, math.Pow(float64(d), 1.5)/float64(n))
	return math.Cbrt(p) / (2 * 128 * math.Pow(float64(n), 2.0/3))
}

// known is a point that needs no run.
func known(x, risk float64) point {
	return point{x, []trial{func(uint64) (float64, error) { return risk, nil }}}
}

// constants: the same algorithm and schedule with the paper's σ, and with the library's.
// Up to ε = 1 the noise is larger than the gradient for both.
func constants() panel {
	const n, d = 32000, 16
	ours := curve{name: "Noisy GD, exact calibration, diameter", slopes: []slope{{1. / 16, 0.5, -1}}}
	theirs := curve{name: "Algorithm 1 as printed", slopes: []slope{{1. / 16, 0.5, -1}}}
	for epsilon := 1. / 16; epsilon <= 8; epsilon *= 2 {
		ours.points = append(ours.points, gd(epsilon, n, d, 1, epsilon))
		sigma := (math.Sqrt2 + 2) * math.Sqrt(8*math.Log(1/delta)/n) / epsilon
		p := point{x: epsilon}
		for _, b := range around(n, d, 1, slowest(n, d, 1, sigma)) {
			p.family = append(p.family, func(seed uint64) (float64, error) { return paperDescent(b, epsilon, seed), nil })
		}
		theirs.points = append(theirs.points, p)
	}
	return panel{"constants", "Our constants and the paper's, n = 32,000, d = 16", "ε", []curve{ours, theirs}}
}

// noPrivacy: Corollary 1, ε → ∞, on samples of the population. The library's is run at
// a budget of 10⁶-GDP, whose noise is far below the sampling error; d holds the worst instance
// of the largest n.
func noPrivacy() panel {
	const d = 1024
	ours := curve{name: "Noisy GD, μ = 10⁶", slopes: []slope{{250, 8000, -0.5}}}
	for n := 250; n <= 8000; n *= 2 {
		p := point{x: float64(n)}
		for _, b := range around(n, d, 1, slowest(n, d, 1, 0)) {
			p.family = append(p.family, func(seed uint64) (float64, error) {
				return learn(descent(n, d), sampled{b, seed}, b.problem(), dpglm.GDP(1e6), seed)
			})
		}
		ours.points = append(ours.points, p)
	}
	return panel{"no-privacy", "ε → ∞: gradient descent (Corollary 1)", "n", []curve{ours}}
}
