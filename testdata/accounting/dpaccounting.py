#!/usr/bin/env python3
"""Privacy curves of random compositions, by Google's dp-accounting.

    pip install dp-accounting==0.6.0
    python3 testdata/accounting/dpaccounting.py > testdata/accounting/dpaccounting.json
    python3 testdata/accounting/dpaccounting.py --check 5 testdata/accounting/dpaccounting.json

The first takes some minutes; the second computes so many records again, and fails if they
differ. A record has a ledger in the library's JSON form and, for each delta, epsilons
between which that of the composition lies, from privacy loss distributions that are
rounded down and up ("low", "high"); and for each epsilon such deltas ("least", "most").
The last ten are of two compositions on disjoint rows, of which each time the worse counts.

Gaussian and Laplace noise are dp-accounting's own. A release of pure epsilon-DP is the
worst one, randomised response of two outcomes. A bounded-range release is one of two
outcomes with the losses t and t - epsilon, for all of a composition at the same part
t/epsilon, of which the worst is taken: "low" is what such releases surely have, "high" no
bound on what others of bounded range have. Parameters are multiples of the grid's step, so
that two outcomes' losses aren't rounded.
"""
import argparse
import json
import logging
import math
import random
import sys

from dp_accounting.pld import privacy_loss_distribution as pld

logging.disable(logging.WARNING)  # rounding down is said to be coarser

STEP = 1e-4
DELTAS = (1e-4, 1e-7)
EPSILONS = (0.0, 0.1, 0.5, 1.5)
PARTS = (0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.97)


def compositions():
    """The ledgers, always the same ones."""
    r = random.Random(20261128)
    kinds = ("gaussian", "laplace", "pure", "bounded-range")
    for i in range(150):
        yield {"version": 1, **sequence(r, r.sample(kinds, r.randint(1, 3)) if i >= len(kinds) else (kinds[i],))}
    for _ in range(10):
        yield {"version": 1, "kind": "parallel", "parts": [sequence(r, r.sample(kinds, 2)) for _ in range(2)]}


def sequence(r, kinds):
    parts = []
    for kind in kinds:
        k = r.choice((1, 2, 5, 20, 60))
        size = math.exp(r.uniform(math.log(0.05), math.log(1.5))) / math.sqrt(k)
        size = max(round(size / STEP), 10) * STEP
        part = {"kind": kind, "releases": k}
        if kind == "gaussian":
            part.update(mu=round(size, 4), dim=1)
        else:
            part.update(epsilon=round(size, 4))
        parts.append(part)
    return {"kind": "sequential", "parts": parts}


def outcomes(loss0, loss1, up):
    """Two outcomes with these losses, one above 0 and one below, but for a billionth of a step, so
    that floats beside a step aren't rounded to the next one."""
    loss0, loss1 = (x + STEP * (-1e-9 if up else 1e-9) for x in (loss0, loss1))
    # p/q = e^loss0 and (1-p)/(1-q) = e^loss1.
    q = -math.expm1(loss1) / (math.exp(loss0) - math.exp(loss1))
    lower = {0: math.log(q), 1: math.log1p(-q)}
    upper = {0: math.log(q) + loss0, 1: math.log1p(-q) + loss1}
    return pld.from_two_probability_mass_functions(lower, upper, up, STEP)


def distribution(part, t, up):
    if part["kind"] == "gaussian":
        one = pld.from_gaussian_mechanism(1 / part["mu"], 1, up, STEP)
    elif part["kind"] == "laplace":
        one = pld.from_laplace_mechanism(1 / part["epsilon"], 1, up, STEP)
    elif part["kind"] == "pure":
        one = outcomes(part["epsilon"], -part["epsilon"], up)
    else:
        steps = round(part["epsilon"] / STEP)
        above = min(max(round(t * steps), 1), steps - 1)
        one = outcomes(above * STEP, (above - steps) * STEP, up)
    return one.self_compose(part["releases"])


def curve(parts, t, up):
    """Epsilons and deltas of a sequence."""
    whole = distribution(parts[0], t, up)
    for part in parts[1:]:
        whole = whole.compose(distribution(part, t, up))
    return [whole.get_epsilon_for_delta(delta) for delta in DELTAS] + [whole.get_delta_for_epsilon(epsilon) for epsilon in EPSILONS]


def record(ledger):
    sequences = ledger["parts"] if ledger["kind"] == "parallel" else [ledger]
    low, high = [], []
    for parts in (s["parts"] for s in sequences):
        ts = PARTS if any(p["kind"] == "bounded-range" for p in parts) else (0.5,)
        low += [curve(parts, t, False) for t in ts]
        high += [curve(parts, t, True) for t in ts]
    low, high = [max(v) for v in zip(*low)], [max(v) for v in zip(*high)]
    n = len(DELTAS)
    return {"ledger": ledger, "delta": DELTAS, "low": low[:n], "high": high[:n],
            "epsilon": EPSILONS, "least": low[n:], "most": high[n:]}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--check", type=int, default=0)
    p.add_argument("file", nargs="?")
    a = p.parse_args()
    if not a.check:
        print("[" + ",\n".join(json.dumps(record(l)) for l in compositions()) + "]")
        return
    with open(a.file) as f:
        kept = json.load(f)
    for i, ledger in zip(range(a.check), compositions()):
        now = record(ledger)
        if kept[i]["ledger"] != ledger:
            sys.exit(f"record {i} is of another composition")
        for name in ("low", "high", "least", "most"):
            for was, is_ in zip(kept[i][name], now[name], strict=True):
                if abs(was - is_) > (1e-6 * max(1, was) if name in ("low", "high") else 1e-6 * was + 1e-12):
                    sys.exit(f"record {i}: {name} is {is_}, and was {was}")
    print(f"{a.check} of {len(kept)} compositions are as they were")


if __name__ == "__main__":
    main()
