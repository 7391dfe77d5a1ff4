#!/usr/bin/env python3
"""Reference values of composed privacy profiles, by contour integration.

    python3 testdata/accounting/reference.py > testdata/accounting/reference.json

The privacy loss of a composition is a sum of independent losses L under P, so
its moment generating function M(s) = E e^{sL} is a product of closed forms. As
(1 - e^{-y})+ has the Laplace transform 1/(s(s+1)), for any c > 0

    delta(eps) = 1/(2 pi) * Integral M(c+it) e^{-(c+it) eps} / ((c+it)(c+it+1)) dt,

evaluated with mpmath at the saddle point c (trapezoidal rule, error below 1e-20). Nothing here is put on a grid, in
contrast to the library, which composes discretised distributions by FFT.
Where all losses are finitely many, delta is a sum over all outcomes instead.
Parallel parts enter through delta(eps) = E delta_par(eps - L), by quadrature.

Each record holds a ledger in the library's JSON form, delta, and the epsilon
that solves delta(epsilon) = delta, to about 12 digits.
"""
import functools
import itertools
import json

import mpmath as mp

mp.mp.dps = 30


def gaussian(mu, releases=1):
    return {"kind": "gaussian", "mu": mu, "releases": releases, "dim": 1}


def pure(eps, releases=1):
    return {"kind": "pure", "epsilon": eps, "releases": releases}


def bounded(eps, releases=1):
    return {"kind": "bounded-range", "epsilon": eps, "releases": releases}


def seq(*parts):
    return {"kind": "sequential", "parts": list(parts)}


def par(*parts):
    return {"kind": "parallel", "parts": list(parts)}


def log_mgf(part):
    k = part["releases"]
    if part["kind"] == "gaussian":
        v = mp.mpf(part["mu"]) ** 2 * k
        return lambda s: (s + s * s) * v / 2
    e = mp.mpf(part["epsilon"])
    if part["kind"] == "pure":
        return lambda s: k * mp.log((mp.exp(e + s * e) + mp.exp(-s * e)) / (1 + mp.exp(e)))
    # Density e^{(l-e)/2} / (2(1-e^{-e})) on [-e, e].
    return lambda s: k * mp.log(mp.exp(-e / 2) * mp.sinh((s + mp.mpf(1) / 2) * e)
                                / ((s + mp.mpf(1) / 2) * (1 - mp.exp(-e))))


def delta_contour(parts, eps):
    logs = [log_mgf(p) for p in parts]

    def exponent(s):
        return sum(f(s) for f in logs) - s * eps - mp.log(s) - mp.log(s + 1)

    # The saddle point on the real axis minimises the exponent.
    lo, hi = mp.mpf("1e-6"), mp.mpf("1e7")
    for _ in range(80):
        a, b = lo * (hi / lo) ** mp.mpf("0.382"), lo * (hi / lo) ** mp.mpf("0.618")
        if exponent(a) < exponent(b):
            hi = b
        else:
            lo = a
    c = (lo + hi) / 2
    top = exponent(c)
    # The trapezoidal rule of step h adds e^{jcP} delta(eps + jP), j != 0, with
    # P = 2 pi/h: below e^{-100} of the result for j = -1, and for j = 1 far out.
    spread = mp.sqrt(abs(mp.diff(exponent, c, 2)))
    period = (100 - 2 * min(top, 0)) / c + 60 * spread
    h = 2 * mp.pi / period
    value, quiet, k = mp.mpf(1) / 2, 0, 0
    while quiet < 30:
        k += 1
        # exp undoes the branch of the logarithms, whose multiples are integers.
        term = mp.re(mp.exp(exponent(mp.mpc(c, k * h)) - top))
        value += term
        quiet = quiet + 1 if abs(term) < mp.mpf(10) ** -22 * abs(value) else 0
    return mp.exp(top) * value * h / mp.pi


def delta_sum(parts, eps):
    """All parts pure: sum over how many of each part's losses are +eps."""
    total = mp.mpf(0)
    for ups in itertools.product(*(range(p["releases"] + 1) for p in parts)):
        mass, loss = mp.mpf(1), mp.mpf(0)
        for p, up in zip(parts, ups):
            e, k = mp.mpf(p["epsilon"]), p["releases"]
            mass *= mp.binomial(k, up) * mp.exp(e * up) / (1 + mp.exp(e)) ** k
            loss += e * (2 * up - k)
        if loss > eps:
            total += mass * (1 - mp.exp(eps - loss))
    return total


def delta_leaf(part, x):
    if x < 0:
        return 1 - mp.exp(x) + mp.exp(x) * delta_leaf(part, -x)
    if part["kind"] == "gaussian":
        mu = mp.mpf(part["mu"]) * mp.sqrt(part["releases"])
        return mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu)
    e = mp.mpf(part["epsilon"])
    if x >= e:
        return mp.mpf(0)
    if part["kind"] == "pure":
        return (mp.exp(e) - mp.exp(x)) / (1 + mp.exp(e))
    return (1 - mp.exp((x - e) / 2)) ** 2 / (1 - mp.exp(-e))


@functools.cache
def kinks(branches):
    """Where the maximum of the branches' profiles isn't smooth."""
    branches = json.loads(branches)
    found = [s * mp.mpf(b["epsilon"]) for b in branches if "epsilon" in b for s in (-1, 1)]
    xs = [mp.mpf(i) / 50 for i in range(-150, 151)]
    for a, b in itertools.combinations(branches, 2):
        g = lambda x: delta_leaf(a, x) - delta_leaf(b, x)
        for u, v in zip(xs, xs[1:]):
            if g(u) * g(v) < 0:
                found.append(mp.findroot(g, (u, v), solver="anderson", tol=1e-28))
    return found


def delta_parallel(leaf, branches, eps):
    """A Gaussian leaf followed by a parallel node of leaves."""
    mu = mp.mpf(leaf["mu"]) * mp.sqrt(leaf["releases"])
    m = mu * mu / 2
    lo, hi = eps - m - 16 * mu, eps - m + 16 * mu
    cuts = sorted([lo + (hi - lo) * i / 32 for i in range(33)] + [k for k in kinks(json.dumps(branches)) if lo < k < hi])
    f = lambda x: max(delta_leaf(b, x) for b in branches) * mp.npdf(eps - x, m, mu)
    return mp.quad(f, cuts, method="gauss-legendre", maxdegree=4)


def solve(f, delta):
    """Bisection to three digits, then the secant method on log delta."""
    f = functools.cache(f)
    lo, hi = mp.mpf(0), mp.mpf("0.01")
    while f(hi) > delta:
        lo, hi = hi, hi * 2
    while hi - lo > hi / 1000 or f(hi) == 0:
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if f(mid) > delta else (lo, mid)
    g = lambda e: mp.log(f(e) / delta)
    x, y = lo, hi
    while abs(g(y)) > mp.mpf(10) ** -12:
        x, y = y, y - g(y) * (y - x) / (g(y) - g(x))
        if not lo <= y <= hi:
            raise ArithmeticError("secant method left its bracket")
    return y


CASES = [
    (seq(gaussian(0.01, 500), pure(0.1)), delta_contour),
    (seq(gaussian(0.2), pure(0.5)), delta_contour),
    (seq(gaussian(0.002), pure(1.0)), delta_contour),
    (seq(gaussian(0.001, 4), pure(0.01)), delta_contour),
    (seq(gaussian(1.5), pure(5.0)), delta_contour),
    (seq(gaussian(2.0), pure(0.1, 30)), delta_contour),
    (seq(gaussian(0.237), bounded(0.5)), delta_contour),
    (seq(gaussian(0.5), bounded(2.0, 3)), delta_contour),
    (seq(gaussian(0.05), bounded(0.01, 1000)), delta_contour),
    (seq(gaussian(0.3, 7), pure(0.3), pure(0.7), pure(0.05, 20), bounded(0.2, 5), bounded(1.1), bounded(0.013, 300),
         pure(0.11, 3), pure(0.017), gaussian(0.1)), delta_contour),
    (bounded(0.1, 100), delta_contour),
    (bounded(0.02, 5000), delta_contour),
    (pure(0.1, 100), delta_sum),
    (pure(0.01, 1000), delta_sum),
    (seq(pure(0.3, 10), pure(0.71, 4), pure(0.02, 30)), delta_sum),
    (pure(3.0, 5), delta_sum),
    (seq(gaussian(0.3), par(gaussian(0.5), pure(0.4))), delta_parallel),
    (seq(gaussian(0.1), par(gaussian(0.2), pure(1.0), bounded(1.3))), delta_parallel),
]


def main():
    records = []
    for ledger, method in CASES:
        parts = ledger.get("parts", [ledger])
        if method is delta_parallel:
            f = lambda e: delta_parallel(parts[0], parts[1]["parts"], e)
            mp.mp.dps = 20
        else:
            f = lambda e: method(parts, e)
            mp.mp.dps = 30
        for delta in (1e-3, 1e-6, 1e-12):
            eps = solve(f, mp.mpf(delta))
            if eps > 0.005:
                records.append({"ledger": {"version": 1, **ledger}, "delta": delta, "epsilon": float(mp.nstr(eps, 17))})
    print("[\n" + ",\n".join(json.dumps(r) for r in records) + "\n]")


if __name__ == "__main__":
    main()
