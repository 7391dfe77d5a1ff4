"""diffprivlib: linear and logistic regression, both of pure ε."""

import numpy as np
from diffprivlib.models import LinearRegression, LogisticRegression

import split

CS = [1e-4, 1e-3, 1e-2, 1e-1, 1]  # of logistic regression; small ones regularise more


def logistic(s, epsilon, c):
    m = LogisticRegression(epsilon=epsilon, data_norm=s.norm, C=c, max_iter=1000, random_state=s.seed)
    m.fit(s.x, s.y)
    return m.coef_, m.intercept_


def linear(s, epsilon, intercept):
    ends = (-1.0, 1.0)
    if intercept:
        m = LinearRegression(epsilon=epsilon, bounds_X=ends, bounds_y=ends, random_state=s.seed)
        m.fit(s.x, s.y)
        return m.coef_, m.intercept_
    m = LinearRegression(epsilon=epsilon, bounds_X=ends, bounds_y=ends, fit_intercept=False, random_state=s.seed)
    m.fit(np.hstack([s.x, np.ones((s.n, 1))]), s.y)
    return m.coef_[:-1], m.coef_[-1]


def main():
    s = split.read()
    for epsilon in s.epsilons:
        if s.kind == "binary":
            for c in CS:
                split.say(epsilon, 0, f"C={c:g}", lambda: logistic(s, epsilon, c))
        elif s.kind == "numeric":
            for own in (True, False):
                split.say(epsilon, 0, f"fit_intercept={own}", lambda: linear(s, epsilon, own))


main()
