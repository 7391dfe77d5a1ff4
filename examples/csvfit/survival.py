"""Compares hazard ratios by csvfit with a plain person-time Poisson fit, and with Cox's, on five public sets.

    pip download --no-deps -d wheels lifelines==0.30.3 scikit-survival==0.28.0
    unzip -qo 'wheels/lifelines*' 'lifelines/datasets/*' -d sets
    unzip -qo 'wheels/scikit_survival*' 'sksurv/datasets/data/*' -d sets
    go build -o csvfit ./examples/csvfit
    python3 examples/csvfit/survival.py sets ./csvfit 1000000 1   # epsilon, and how many draws of noise
    python3 examples/csvfit/survival.py sets ./csvfit cox 10      # the same draws beside Cox's ratios

It needs numpy, and for Cox's lifelines. At a large epsilon it prints how far coefficients are off, in standard
errors; at others how many intervals hold the plain estimate of the same persons. "cox" prints a table of ratios by
lifelines' CoxPHFitter, without privacy, and by csvfit at two epsilons, the first draw's, with – where one isn't determined; then
how far all draws are from Cox's, and how many intervals hold his. Coefficients of numbers are per unit, of columns held to their ranges.
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


def sets(folder):
    """The sets' names and records: those of which nothing is missing, with the columns that are needed."""
    for name, (read, path, end, event, happened, cuts, numbers, levels) in SETS.items():
        header, rows = read(os.path.join(folder, path))
        wanted = [end, event, *numbers, *levels]
        rows = [[text(r[header.index(c)]) for c in wanted] for r in rows]
        rows = [r for r in rows if "?" not in r and "" not in r]
        yield name, (wanted, rows, end, event, happened, cuts, numbers, levels)


def fitted(program, folder, name, of, epsilon, seed):
    """The coefficients by csvfit, with their intervals."""
    data, schema = written(folder, name, *of)
    out = subprocess.run([program, "fit", "-method", "infer", "-data", data, "-schema", schema, "-epsilon", epsilon,
                          "-delta", "1e-6", "-json", "-insecure-noise-seed", str(seed)], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["inference"]["coefficients"]


def beside_poisson(folder, program, epsilon, draws):
    for name, of in sets(folder):
        estimate, error, events = poisson(*of)
        off, held, known, missed = 0.0, 0, 0, []
        with tempfile.TemporaryDirectory() as scratch:
            for seed in range(1, draws + 1):
                for c, b, se in zip(fitted(program, scratch, name, of, epsilon, seed), estimate, error):
                    off = max(off, abs(c["estimate"] - b) / se)
                    if c.get("low") is not None:
                        known += 1
                        held += c["low"] <= b <= c["high"]
                        if not c["low"] <= b <= c["high"]:
                            missed.append(c["name"])
        print(f"{name}: {len(of[1])} persons, {events} events; off by at most {off:.4f} standard errors; {held} of {known} intervals hold the plain estimate, not of {missed}")


def cox(header, rows, end, event, happened, cuts, numbers, levels):
    """Cox's coefficients by lifelines, with Efron's ties, their standard errors and intervals; follow-up ends at the last cut."""
    import pandas
    from lifelines import CoxPHFitter
    frame = {"time": [], "event": []}
    for r in rows:
        value = dict(zip(header, r))
        until = float(value[end])
        frame["time"].append(min(until, cuts[-1]))
        frame["event"].append(int(value[event] == happened and until <= cuts[-1]))
        for n, (lo, hi) in numbers.items():
            frame.setdefault(n, []).append(min(max(float(value[n]), lo), hi))
        for n, l in levels.items():
            for v in l[1:]:
                frame.setdefault(f"{n}={v}", []).append(int(value[n] == v))
    found = CoxPHFitter().fit(pandas.DataFrame(frame), "time", "event", fit_options={"step_size": 0.5}).summary  # longer ones diverge on flchain
    return {n: (found.loc[n, "coef"], found.loc[n, "se(coef)"], found.loc[n, "coef lower 95%"], found.loc[n, "coef upper 95%"]) for n in found.index}


def ratio(b, low=None, high=None):
    return "–" if low is None else f"{np.exp(b):.3f} [{np.exp(low):.3f}, {np.exp(high):.3f}]"


def beside_cox(folder, program, draws):
    epsilons = ["1000000", "4"]
    print("| set | column | Cox | ε = 10⁶ | ε = 4 |", "|---|---|---|---|---|", sep="\n")
    summaries = []
    for name, of in sets(folder):
        truth, lines, summary = cox(*of), {}, []
        for epsilon in epsilons:
            off, held, known, largest = [], 0, 0, 0.0
            with tempfile.TemporaryDirectory() as scratch:
                for seed in range(1, draws + 1):
                    for c, (column, (b, se, low, high)) in zip(fitted(program, scratch, name, of, epsilon, seed), truth.items()):
                        if c["name"] != column:
                            raise ValueError(f"{name}: {c['name']} is not {column}")
                        if seed == 1:
                            lines.setdefault(column, [ratio(b, low, high)]).append(ratio(c["estimate"], c.get("low"), c.get("high")))
                        if c.get("low") is None:
                            continue
                        known += 1
                        held += c["low"] <= b <= c["high"]
                        off.append((c["estimate"] - b) / se)
            far = f", {held} of which hold Cox's; these coefficients are a root mean square of {np.sqrt(np.mean(np.square(off))):.2f} and at most {np.abs(off).max():.2f} of his standard errors away" if off else ""
            summary.append(f"at ε = {epsilon} {known} of {draws * len(truth)} coefficients have an interval{far}")
        for column, cells in lines.items():
            print(f"| {name} | {column} |", " | ".join(cells), "|")
        summaries.append(f"{name}: {len(of[1])} persons; " + "; ".join(summary))
    print("", *summaries, sep="\n")


def main():
    folder, program, epsilon, draws = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    if epsilon == "cox":
        beside_cox(folder, program, draws)
    else:
        beside_poisson(folder, program, epsilon, draws)


main()
