"""What the programs of all peers share: a split that Go wrote, and the line of JSON for each model.

facts.json states n, d, kind (binary, numeric or count), norm (the largest norm of a row without
the intercept), cap (of counts), levels (2 for a feature that is 0 or 1, else 0), epsilons, delta
and seed, which are all public. x.bin and y.bin are float64, little-endian, row after row: features
in [-1, 1], and labels in [-1, 1] (numeric), 0 or 1 (binary), or 0 to cap (count). The rows to
score on are not here.
"""

import json
import os
import resource
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")


class Split:
    def __init__(self, folder):
        with open(os.path.join(folder, "facts.json")) as f:
            self.__dict__.update(json.load(f))
        self.x = np.fromfile(os.path.join(folder, "x.bin"), "<f8").reshape(self.n, self.d)
        self.y = np.fromfile(os.path.join(folder, "y.bin"), "<f8")


def read():
    return Split(sys.argv[1])


def say(epsilon, delta, config, fit):
    """Prints the weights and intercept that fit returns, or why it has none."""
    begun = time.process_time()
    line = {"epsilon": epsilon, "delta": delta, "config": config}
    try:
        weights, intercept = fit()
        line["weights"] = [float(w) for w in np.ravel(weights)]
        line["intercept"] = float(np.ravel(intercept)[0])
        if not np.isfinite(line["weights"] + [line["intercept"]]).all():
            raise ValueError("weights that are not finite")
    except Exception as e:
        line.pop("weights", None)
        line.pop("intercept", None)
        line["refused"] = f"{type(e).__name__}: {e}".splitlines()[0][:200]
    line["cpu"] = time.process_time() - begun
    megabyte = 1 << 20 if sys.platform == "darwin" else 1 << 10  # in ru_maxrss's unit
    line["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / megabyte
    print(json.dumps(line), flush=True)
