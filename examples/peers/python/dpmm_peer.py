"""dpmm: rows made by MST, and scikit-learn's model of them."""

import numpy as np
import pandas as pd
from dpmm.pipelines import MSTPipeline
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

import split

BINS = [8, 16]  # of a number's range
STEPS = 1000  # of the estimation, the library's n_iters


def coded(v, low, high, bins):
    return np.clip(((v - low) / (high - low) * bins).astype(int), 0, bins - 1)


def middles(codes, low, high, bins):
    return low + (high - low) * (np.asarray(codes) + 0.5) / bins


def made(s, epsilon, bins):
    """Rows made from the split's, and their labels."""
    sizes = [levels or bins for levels in s.levels]
    frame = pd.DataFrame({f"x{j}": s.x[:, j].astype(int) if s.levels[j] else coded(s.x[:, j], -1, 1, bins)
                          for j in range(s.d)})
    values = {"binary": 2, "count": int(s.cap) + 1}.get(s.kind, 2 * bins)
    frame["y"] = s.y.astype(int) if s.kind != "numeric" else coded(s.y, -1, 1, values)
    domain = {f"x{j}": size for j, size in enumerate(sizes)} | {"y": values}
    p = MSTPipeline(epsilon=epsilon, delta=s.delta, disable_processing=True, n_jobs=1, gen_kwargs={"n_iters": STEPS})
    p.fit(frame, domain=domain, random_state=s.seed)
    rows = p.generate(n_records=s.n, random_state=s.seed)
    x = np.column_stack([rows[f"x{j}"] if s.levels[j] else middles(rows[f"x{j}"], -1, 1, bins) for j in range(s.d)])
    y = rows["y"].to_numpy() if s.kind != "numeric" else middles(rows["y"], -1, 1, values)
    return x.astype(float), y.astype(float)


def fit(s, epsilon, bins):
    x, y = made(s, epsilon, bins)
    m = {"binary": LogisticRegression(max_iter=1000), "count": PoissonRegressor(alpha=1e-6, max_iter=1000)}.get(
        s.kind, LinearRegression())
    m.fit(x, y)
    return m.coef_, m.intercept_


def main():
    s = split.read()
    for epsilon in s.epsilons:
        for bins in BINS:
            split.say(epsilon, s.delta, f"{bins} bins", lambda: fit(s, epsilon, bins))


main()
