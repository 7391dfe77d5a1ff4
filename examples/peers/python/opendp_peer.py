"""OpenDP: linear regression after Theil and Sen by two private medians, of one feature."""

import opendp.prelude as dp

import split

CANDIDATES = [100, 400]  # of the medians
MOST = 1e7  # of the scale

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")


def regression(measure, scale, candidates):
    return dp.sklearn.linear_model.LinearRegression(
        measure, x_bounds=[(-1.0, 1.0)], y_bounds=(-1.0, 1.0), scale=scale, candidates_count=candidates)


def spent(scale, delta):
    """The ε of a scale, for adding or removing a row, by the library's own maps."""
    if delta == 0:
        return regression(dp.max_divergence(), scale, 2).measurement.map(1)
    m = regression(dp.zero_concentrated_divergence(), scale, 2).measurement
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(m), delta).map(1)[0]


def scale_of(epsilon, delta):
    """The least scale, within a thousandth, that spends at most ε."""
    low, high = 1e-3, MOST
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        if spent(middle, delta) > epsilon:
            low = middle
        else:
            high = middle
    return high


def fit(s, column, measure, scale, candidates):
    m = regression(measure, scale, candidates).fit(s.x[:, [column]], s.y)
    weights = [0.0] * s.d
    weights[column] = m.coef_[0]
    return weights, m.intercept_


def main():
    s = split.read()
    if s.kind != "numeric":
        return
    for epsilon in s.epsilons:
        for delta, measure in ((0, dp.max_divergence()), (s.delta, dp.zero_concentrated_divergence())):
            scale = scale_of(epsilon, delta)
            for column in range(s.d):
                for candidates in CANDIDATES:
                    split.say(epsilon, delta, f"feature {column}, {candidates} candidates",
                              lambda: fit(s, column, measure, scale, candidates))


main()
