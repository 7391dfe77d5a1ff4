"""Compares hazard ratios by csvfit with a plain person-time Poisson fit, on five public sets.

    pip download --no-deps -d wheels lifelines==0.30.3 scikit-survival==0.28.0
    unzip -qo 'wheels/lifelines*' 'lifelines/datasets/*' -d sets
    unzip -qo 'wheels/scikit_survival*' 'sksurv/datasets/data/*' -d sets
    go build -o csvfit ./examples/csvfit
    python3 examples/csvfit/survival.py sets ./csvfit 1000000 1   # epsilon, and how many draws of noise

It needs numpy. At a large epsilon it prints how far coefficients are off, in standard errors; at others how
many intervals hold the plain estimate of the same persons.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

SHORTEST = 1e-4  # as table.Followup has it, of the narrowest period


def arff(path):
    names, rows, data = [], [], False
    for line in open(path):
        line = line.strip()
        if line.lower().startswith("@attribute"):
            names.append(line.split()[1].strip("'\""))
        elif line.lower().startswith("@data"):
            data = True
        elif data and line and not line.startswith("%"):
            rows.append([v.strip().strip("'\"") for v in line.split(",")])
    return names, rows


def plain(path):
    rows = list(csv.reader(open(path)))
    return rows[0], rows[1:]


# Of each set: its reader and file, the columns of the end and the event, the event's text, cuts, numbers with their ranges, and levels.
SETS = {
    "rossi": (plain, "lifelines/datasets/rossi.csv", "week", "arrest", "1", [0, 13, 26, 39, 52],
              {"fin": (0, 1), "age": (17, 45), "prio": (0, 18), "mar": (0, 1)}, {}),
    "gbsg2": (arff, "sksurv/datasets/data/GBSG2.arff", "time", "cens", "1", [0, 365, 730, 1095, 1460, 2700],
              {"age": (20, 80), "pnodes": (0, 51), "tsize": (0, 120)},
              {"horTh": ["no", "yes"], "menostat": ["Pre", "Post"], "tgrade": ["I", "II", "III"]}),
    "whas500": (arff, "sksurv/datasets/data/whas500.arff", "lenfol", "fstat", "1", [0, 30, 180, 365, 730, 2400],
                {"age": (30, 104), "hr": (35, 186), "bmi": (13, 45), "diasbp": (6, 198)},
                {"gender": ["0", "1"], "chf": ["0", "1"]}),
    "actg320": (arff, "sksurv/datasets/data/actg320.arff", "time", "censor", "1", [0, 90, 180, 270, 370],
                {"age": (15, 73), "cd4": (0, 348)}, {"tx": ["0", "1"], "sex": ["1", "2"]}),
    "flchain": (arff, "sksurv/datasets/data/flchain.arff", "futime", "death", "dead", [0, 730, 1460, 2190, 2920, 5220],
                {"age": (50, 101), "kappa": (0, 20.5), "lambda": (0, 27)}, {"sex": ["F", "M"], "mgus": ["no", "yes"]}),
}


def text(value):
    try:
        number = float(value)
    except ValueError:
        return value
    return str(int(number)) if number == int(number) else value


def written(folder, name, header, rows, end, event, happened, cuts, numbers, levels):
    """Writes the records and their schema."""
    columns = [{"name": n, "kind": "numeric", "range": list(r)} for n, r in numbers.items()]
    for n, l in levels.items():
        columns.append({"name": n, "kind": "categorical", "levels": l} if len(l) > 2 else
                       {"name": n, "kind": "binary", "positive": [l[1]], "negative": [l[0]]})
    others = sorted({r[header.index(event)] for r in rows} - {happened})
    columns.append({"name": event, "kind": "binary", "positive": [happened], "negative": others})
    schema, data = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".csv")
    json.dump({"version": 1, "label": event, "followup": {"end": end, "cuts": cuts}, "columns": columns}, open(schema, "w"))
    with open(data, "w") as f:
        csv.writer(f).writerows([header] + rows)
    return data, schema


def poisson(header, rows, end, event, happened, cuts, numbers, levels):
    """Coefficients of a person-time Poisson model without privacy, and their standard errors."""
    x, y, offset, least = [], [], [], SHORTEST * min(np.diff(cuts))
    for r in rows:
        value = dict(zip(header, r))
        base = [min(max(float(value[n]), lo), hi) for n, (lo, hi) in numbers.items()]
        for n, l in levels.items():
            base += [float(value[n] == v) for v in l[1:]]
        until = float(value[end])
        for k in range(len(cuts) - 1):
            time = min(until, cuts[k + 1]) - cuts[k]
            if time > 0:
                x.append(base + [float(k == j) for j in range(1, len(cuts) - 1)] + [1.0])
                y.append(float(value[event] == happened and until <= cuts[k + 1]))
                offset.append(np.log(max(time, least)))
    x, y, offset = np.array(x), np.array(y), np.array(offset)
    scale = np.abs(x).max(0)
    z, b = x / scale, np.zeros(x.shape[1])
    b[-1] = np.log(y.sum() / np.exp(offset).sum())
    for _ in range(100):
        mean = np.exp(z @ b + offset)
        information = (z * mean[:, None]).T @ z
        step = np.linalg.solve(information, z.T @ (y - mean))
        b += step
        if abs(step).max() < 1e-12:
            break
    return b / scale, np.sqrt(np.diag(np.linalg.inv(information))) / scale, int(y.sum())


def main():
    sets, program, epsilon, draws = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    for name, (read, path, end, event, happened, cuts, numbers, levels) in SETS.items():
        header, rows = read(os.path.join(sets, path))
        wanted = [end, event, *numbers, *levels]
        rows = [[text(r[header.index(c)]) for c in wanted] for r in rows]
        rows = [r for r in rows if "?" not in r and "" not in r]
        of = (wanted, rows, end, event, happened, cuts, numbers, levels)
        estimate, error, events = poisson(*of)
        off, held, known, missed = 0.0, 0, 0, []
        with tempfile.TemporaryDirectory() as folder:
            data, schema = written(folder, name, *of)
            for seed in range(1, draws + 1):
                out = subprocess.run([program, "fit", "-method", "infer", "-data", data, "-schema", schema, "-epsilon", epsilon,
                                      "-delta", "1e-6", "-json", "-insecure-noise-seed", str(seed)], capture_output=True, text=True, check=True)
                for c, b, se in zip(json.loads(out.stdout)["inference"]["coefficients"], estimate, error):
                    off = max(off, abs(c["estimate"] - b) / se)
                    if c.get("low") is not None:
                        known += 1
                        held += c["low"] <= b <= c["high"]
                        if not c["low"] <= b <= c["high"]:
                            missed.append(c["name"])
        print(f"{name}: {len(rows)} persons, {events} events; off by at most {off:.4f} standard errors; {held} of {known} intervals hold the plain estimate, not of {missed}")


main()
