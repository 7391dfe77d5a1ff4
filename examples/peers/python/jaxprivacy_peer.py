"""JAX-Privacy: gradient descent with clipped gradients, of a loss written by hand."""

import functools
import json
import os
import sys

import dp_accounting
import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy import batch_selection, clipping, noise_addition
from jax_privacy.experimental import accounting

import split

SCHEDULES = [(1.0, 30), (0.1, 300)]  # share of the rows in a batch, steps
CLIPS = [0.1, 0.5, 2.0]
RATES = [0.1, 0.3, 1.0, 3.0]
PADDING = 6  # standard deviations of a batch's size


def loss_of(kind, clip):
    """The loss of one row at (w, b), over the clip: clipped to 1 then, as the library takes no traced clip."""
    def loss(params, x, y):
        z = x @ params[0] + params[1]
        if kind == "binary":
            return jnp.sum(jax.nn.softplus(z) - y * z) / clip
        if kind == "count":
            return jnp.sum(jnp.exp(jnp.minimum(z, 20)) - y * z) / clip
        return jnp.sum((z - y) ** 2) / 2 / clip
    return loss


@functools.partial(jax.jit, static_argnames=("kind", "whole"))
def descend(x, y, batches, padding, clip, rate, sigma, size, key, kind, whole):
    gradient = clipping.clipped_grad(loss_of(kind, clip), l2_clip_norm=1.0, batch_argnums=(1, 2))
    privatizer = noise_addition.gaussian_privatizer(stddev=1.0, prng_key=key)

    def step(state, batch):
        params, noise = state
        rows, padded = batch
        data = (x, y) if whole else (x[rows], y[rows])
        g = gradient(params, *data, is_padding_example=padded)
        g, noise = privatizer.update(jax.tree.map(lambda v: v / sigma, g), noise, params)
        return (jax.tree.map(lambda p, v: p - rate * sigma * clip / size * v, params, g), noise), None

    params = (jnp.zeros(x.shape[1]), jnp.zeros(()))
    (params, _), _ = jax.lax.scan(step, (params, privatizer.init(params)), (batches, padding))
    return params


def sigma_of(epsilon, delta, share, steps):
    """The noise that the library's accountant asks for, kept beside it: it takes seconds to find."""
    path = os.path.join(sys.prefix, "sigmas.json")
    kept = {}
    if os.path.exists(path):
        with open(path) as f:
            kept = json.load(f)
    name = f"{epsilon} {delta} {share} {steps}"
    if name not in kept:
        kept[name] = calibrated(epsilon, delta, share, steps)
        with open(path, "w") as f:
            json.dump(kept, f)
    return kept[name]


def calibrated(epsilon, delta, share, steps):
    return dp_accounting.calibrate_dp_mechanism(
        lambda: dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE),
        lambda sigma: accounting.dpsgd_event(sigma, steps, sampling_prob=share),
        epsilon, delta, bracket_interval=dp_accounting.LowerEndpointAndGuess(0.3, 5.0), tol=1e-3)


def batches_of(s, share, steps):
    """Rows of each step, padded to one length, and which are padding."""
    if share == 1:  # all rows, which step doesn't look up
        return np.zeros((steps, 1), np.int32), np.zeros((steps, s.n), bool)
    most = int(s.n * share + PADDING * (s.n * share * (1 - share)) ** 0.5) + 1
    sampling = batch_selection.CyclicPoissonSampling(
        sampling_prob=share, iterations=steps, partition_type=batch_selection.PartitionType.INDEPENDENT)
    rows, padding = np.zeros((steps, most), np.int32), np.ones((steps, most), bool)
    for i, batch in enumerate(sampling.batch_iterator(s.n, rng=s.seed)):
        rows[i, :len(batch)], padding[i, :len(batch)] = batch, False
    return rows, padding


def main():
    s = split.read()
    x, y = jnp.asarray(s.x, jnp.float32), jnp.asarray(s.y, jnp.float32)
    for share, steps in SCHEDULES:
        rows, padding = batches_of(s, share, steps)
        rows, padding = jnp.asarray(rows), jnp.asarray(padding)
        size = s.n * share
        for epsilon in s.epsilons:
            sigma = sigma_of(epsilon, s.delta, share, steps)
            for i, (clip, rate) in enumerate((c, r) for c in CLIPS for r in RATES):
                key = jax.random.key(s.seed + 1000 * i)
                split.say(epsilon, s.delta, f"batches of {share:g}·n, {steps} steps, clip {clip:g}, rate {rate:g}",
                          lambda: descend(x, y, rows, padding, clip, rate, sigma, size, key, kind=s.kind, whole=share == 1))


main()
