"""Privacy profiles of objective perturbation with output noise, to 30 digits.

    python3 objective.py > objective.csv      (mpmath 1.3.0)

Integrates E delta_obj(x - l), l ~ N(mu^2/2, mu^2), with delta_obj from its
definition E(1 - exp(x - d - M))+, M = nu^2/2 + nu|N(0,1)|, nu = 2*ratio, and its
lower convex hull in exp(x).
"""
from mpmath import mp, mpf, exp, log, ncdf, npdf, findroot, quad, sqrt

mp.dps = 30


def direct(x, nu, d):
    """E(1 - exp(x - d - M))+, the expectation over |N| > r taken term by term."""
    r = max(mpf(0), (x - d - nu**2 / 2) / nu)
    return 2 * ncdf(-r) - 2 * exp(x - d) * ncdf(-r - nu)


def corner(nu, d):
    """Where the line in exp(x) that touches the profile and its mirror image does."""
    def slope(x):  # of log((1 - delta)/(1 + e^x))
        r = (x - d - nu**2 / 2) / nu
        fall = 2 * exp(x - d) * ncdf(-r - nu)
        return fall / (1 - direct(x, nu, d)) - exp(x) / (1 + exp(x))
    lo = d + nu**2 / 2
    return findroot(slope, (lo, lo + 2 * nu), solver="anderson", tol=1e-25)


def hull(x, nu, d, c):
    if x < 0:
        return 1 - exp(x) + exp(x) * hull(-x, nu, d, c)
    if x >= c:
        return direct(x, nu, d)
    t = (1 - direct(c, nu, d)) / (1 + exp(c))
    return 1 - (1 + exp(x)) * t


def profile(x, nu, d, mu):
    c = corner(nu, d)
    f = lambda l: hull(x - l, nu, d, c) * npdf(l, mu**2 / 2, mu)
    # Where an integrand of two Gaussian factors is largest, with its width.
    width = nu * mu / sqrt(nu**2 + mu**2)
    peak = mu**2 / 2 + (x - d - nu**2 / 2 - mu**2 / 2) * mu**2 / (nu**2 + mu**2)
    points = {x - c, x, x + c}
    for centre, step in ((peak, width), (x - c, width), (mu**2 / 2, mu)):
        points |= {centre + k * step for k in range(-16, 17, 2)}
    lo, hi = min(points), max(points)
    return quad(f, [lo - 10 * mu] + sorted(points) + [hi + 10 * mu])


print("ratio,log_det,output_mu,epsilon,delta")
for ratio, d, mu, epsilons in (
    ("0.001", "0.002", "0.0003", ("0.01", "0.014")),
    ("0.02", "0.003", "0.01", ("0.01", "0.1", "0.3")),
    ("0.1", "0.15", "0.02", ("0.01", "0.1", "0.5", "1", "1.6")),
    ("0.1", "0", "0.3", ("0.1", "1", "2.5")),
    ("0.4", "0.05", "0.05", ("0.3", "1", "3", "6")),
    ("0.02", "0.5", "1", ("0.1", "3", "6")),
    ("1", "1.5", "0.3", ("1", "10", "16")),
    ("3", "0.3", "2", ("10", "40")),
):
    for x in epsilons:
        value = profile(mpf(x), 2 * mpf(ratio), mpf(d), mpf(mu))
        print(ratio, d, mu, x, mp.nstr(value, 17), sep=",")
