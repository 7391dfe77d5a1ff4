#!/usr/bin/env python3
"""Histograms of discrete Gaussian noise that OpenDP drew.

    pip install opendp==0.16.0 numpy
    python3 testdata/accounting/discretegaussian.py > testdata/accounting/discretegaussian.json
    python3 testdata/accounting/discretegaussian.py --check 200000 testdata/accounting/discretegaussian.json

The first draws 30 million integers of each scale, in about 20 minutes on one core; the second so
many of each, and fails if a chi-square test of homogeneity with the kept ones has a p-value below
10^-6, at one of the three scales. OpenDP takes its randomness from the system, so that no two
files are the same.

A record has the scale and the number of draws. counts[i] is how many lie in [low + i*width,
low + (i+1)*width), those further out in the first and the last cell, and residues[i] how many are
i modulo 8.
"""
import argparse
import json
import math
import sys

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")

# (scale, low, width, cells): out to 4 or 4.2 scales, beyond which 1 of 16,000 or 37,000 draws lies.
SCALES = ((1, -4, 1, 9), (17, -71, 1, 143), (1000, -4200, 50, 168))
DRAWS = 30_000_000
AT_ONCE = 200_000
RESIDUES = 8
LEAST_P = 1e-6


def histogram(scale, low, width, cells, draws):
    measure = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=int), float(scale))
    counts, residues = np.zeros(cells, dtype=np.int64), np.zeros(RESIDUES, dtype=np.int64)
    while draws > 0:
        y = np.array(measure([0] * min(draws, AT_ONCE)), dtype=np.int64)
        counts += np.bincount(np.clip((y - low) // width, 0, cells - 1), minlength=cells)
        residues += np.bincount(y % RESIDUES, minlength=RESIDUES)
        draws -= len(y)
    return {"scale": scale, "draws": int(counts.sum()), "low": low, "width": width,
            "counts": counts.tolist(), "residues": residues.tolist()}


def tail(x, k):
    """The probability that a chi-square variable of k degrees of freedom exceeds x, by Wilson
    and Hilferty's cube root, which is within some percent of it here."""
    z = ((x / k) ** (1 / 3) - (1 - 2 / (9 * k))) / math.sqrt(2 / (9 * k))
    return math.erfc(z / math.sqrt(2)) / 2


def homogeneity(a, b):
    """The p-value of two samples' counts, cells being joined until each expects five of both."""
    share_a, share_b = sum(a) / (sum(a) + sum(b)), sum(b) / (sum(a) + sum(b))
    least = 5 / min(share_a, share_b)
    x, cells, in_a, in_b, left = 0.0, 0, 0, 0, sum(a) + sum(b)
    for of_a, of_b in zip(a, b, strict=True):
        in_a, in_b, left = in_a + of_a, in_b + of_b, left - of_a - of_b
        if in_a + in_b < least or 0 < left < least:
            continue
        want_a, want_b = share_a * (in_a + in_b), share_b * (in_a + in_b)
        x += (in_a - want_a) ** 2 / want_a + (in_b - want_b) ** 2 / want_b
        cells, in_a, in_b = cells + 1, 0, 0
    return tail(x, cells - 1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--check", type=int, default=0)
    p.add_argument("file", nargs="?")
    a = p.parse_args()
    if not a.check:
        print("[" + ",\n".join(json.dumps(histogram(*s, DRAWS)) for s in SCALES) + "]")
        return
    with open(a.file) as f:
        kept = json.load(f)
    for s, was in zip(SCALES, kept, strict=True):
        now = histogram(*s, a.check)
        for name in ("scale", "low", "width"):
            if was[name] != now[name]:
                sys.exit(f"scale {s[0]}: {name} is {now[name]}, and was {was[name]}")
        for name in ("counts", "residues"):
            value = homogeneity(was[name], now[name])
            if not value >= LEAST_P:
                sys.exit(f"scale {s[0]}: the {name} of {a.check} draws differ from those kept, p = {value:.2g}")
    print(f"{a.check} draws of each of {len(kept)} scales are like those kept")


if __name__ == "__main__":
    main()
