"""Writes sets that come with scikit-learn as CSV, into a folder."""

import os
import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

for name, data in (("breast_cancer", load_breast_cancer()), ("diabetes", load_diabetes(scaled=False))):
    columns = [c.replace(" ", "_") for c in data.feature_names]
    np.savetxt(os.path.join(sys.argv[1], f"sklearn_{name}.csv"), np.column_stack([data.data, data.target]),
               fmt="%.10g", delimiter=",", header=",".join([*columns, "y"]), comments="")
