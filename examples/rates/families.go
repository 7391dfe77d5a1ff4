package main

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm"
)

// around is the family of instances with curvatures around h, from ¼ to 8 times it.
// Where it is much flatter there is little to lose, where it is steeper the algorithm gets
// there and averages its noise out.
func around(n, d int, radius, h float64, run func(b blocks, seed uint64) (float64, error)) []member {
	var all []member
	for _, factor := range []float64{0.25, 0.5, 1, 2, 4, 8} {
		if b, ok := worst(n, d, radius, h*factor); ok {
			all = append(all, member{factor, func(seed uint64) (float64, error) { return run(b, seed) }})
		}
	}
	return all
}

// gd is Algorithm 1 on instances around those that it just doesn't get through.
func gd(x float64, n, d int, radius, epsilon float64) point {
	h := slowest(n, d, radius, stepNoise(n, radius, epsilon))
	return point{x, around(n, d, radius, h, func(b blocks, seed uint64) (float64, error) {
		return learn(descent(n, d), b, b.problem(), dpglm.ApproxDP(epsilon, delta), seed)
	})}
}

// printed is the same for Algorithm 1 with the paper's σ.
func printed(n, d int, radius, epsilon float64) point {
	h := slowest(n, d, radius, paperNoise(n, radius, epsilon))
	return point{epsilon, around(n, d, radius, h, func(b blocks, seed uint64) (float64, error) {
		return paperDescent(b, epsilon, seed), nil
	})}
}

// jl is Algorithm 2 around Algorithm 1, each run with a map of its own.
func jl(x float64, n, d int, radius, epsilon float64) point {
	k := min(d, dimension(n, radius, epsilon))
	h := slowest(n, k, radius, stepNoise(n, radius, epsilon))
	return point{x, around(n, d, radius, h, func(b blocks, seed uint64) (float64, error) {
		return learn(projected(seed), b, b.problem(), dpglm.ApproxDP(epsilon, delta), seed)
	})}
}

// output is Algorithm 3 with the λ of Theorem 3, around a curvature of λ.
func output(x float64, n, d int, radius, epsilon float64) point {
	return point{x, around(n, d, radius, regulariser(n, radius, epsilon), func(b blocks, seed uint64) (float64, error) {
		return learn(dpglm.OutputPerturbationConfig{}, b, b.problem(), dpglm.ApproxDP(epsilon, delta), seed)
	})}
}

// margins is the family of divided votes, from ⅛ to 2 times a margin, at B = 1.
func margins(n, d, rank int, margin float64, run func(v votes, seed uint64) (float64, error)) []member {
	var all []member
	for _, factor := range []float64{0.125, 0.25, 0.5, 1, 2} {
		if v, ok := divided(n, d, rank, 1, margin*factor); ok {
			all = append(all, member{factor, func(seed uint64) (float64, error) { return run(v, seed) }})
		}
	}
	return all
}

// rankGD is Algorithm 1 for the absolute loss. Its steps take noise and gradients of
// the same size, and go B altogether: hardest is a margin at which the sum of gradients is
// as long as that of the noise, about 2s·rank/n.
func rankGD(x float64, n, d, rank int, epsilon float64) point {
	margin := 4 * noise(epsilon) * float64(rank) / float64(n)
	return point{x, margins(n, d, rank, margin, func(v votes, seed uint64) (float64, error) {
		wide := dpglm.Problem{Loss: v.problem().Loss, Radius: 1000}
		return learn(rankDescent(n, rank, 1, epsilon), v, wide, dpglm.ApproxDP(epsilon, delta), seed)
	})}
}

// rankOutput is Algorithm 3 with the λ of Theorem 5: hardest is a margin at which the
// regulariser holds the weights half way, about λ√rank.
func rankOutput(x float64, n, d, rank int, epsilon float64) point {
	lambda := math.Sqrt(2 * math.Sqrt(2/math.Pi) * 2 * noise(epsilon) / float64(n))
	return point{x, margins(n, d, rank, 2*lambda*math.Sqrt(float64(rank)), func(v votes, seed uint64) (float64, error) {
		c := dpglm.OutputPerturbationConfig{Lambda: lambda}
		return learn(c, v, v.problem(), dpglm.ApproxDP(epsilon, delta), seed)
	})}
}

// onTheorem4 runs a learner on Theorem 4's data set at B = ε = 1.
func onTheorem4(n, d int, l dpglm.Learner) point {
	return point{float64(n), []member{{1, func(seed uint64) (float64, error) {
		b, ok := theorem4(n, d, 1, 1)
		if !ok {
			return 0, fmt.Errorf("no instance of Theorem 4 has %d rows in %d dimensions", n, d)
		}
		return learn(l, b, b.problem(), dpglm.ApproxDP(1, delta), seed)
	}}}}
}

// lowerBound is that of Theorem 4's proof for (z − y)², halved, at B = ε = 1.
func lowerBound(n, d int) float64 {
	p := min(1, math.Pow(float64(d), 1.5)/float64(n))
	return math.Cbrt(p) / (2 * 128 * math.Pow(float64(n), 2.0/3))
}

// known is a point that needs no run.
func known(x, risk float64) point {
	return point{x, []member{{1, func(uint64) (float64, error) { return risk, nil }}}}
}
